package bridge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"callboard/bridge/config"

	"github.com/gorilla/websocket"
)

// answer calls a service and returns what comes of it.
func (p *dialectProgram) answer(service, args string) (values any, ok bool) {
	p.t.Helper()
	p.say(fmt.Sprintf(`{"op":"call_service","id":"asked","service":%q,"args":%s}`, service, args))
	m := p.hearsText(`"service_response"`, `"asked"`)
	return m["values"], m["result"] == true
}

// message subscribes to a topic, and returns its first message.
func (p *dialectProgram) message(topic, kind string) map[string]any {
	p.t.Helper()
	p.say(fmt.Sprintf(`{"op":"subscribe","id":"one","topic":%q,"type":%q}`, topic, kind))
	m := p.hearsText(`"publish"`, fmt.Sprintf(`"topic":%q`, topic))
	p.say(fmt.Sprintf(`{"op":"unsubscribe","id":"one","topic":%q}`, topic))
	return m["msg"].(map[string]any)
}

// knows waits until robots are there, with their names in the topics.
func (p *dialectProgram) knows(robots ...string) {
	p.t.Helper()
	for _, robot := range robots {
		p.message("/"+robot+"/odom", "nav_msgs/Odometry")
	}
}

// near reports whether a number is as it should be.
func near(v any, want float64) bool {
	f, ok := v.(float64)
	return ok && math.Abs(f-want) < 0.06
}

// TestRosbridgeTopics: a robot's readings come on the topics of stage_ros, also to
// a program that was there before the robot.
func TestRosbridgeTopics(t *testing.T) {
	b := simulated(t, nil, "r0")
	p := speak(t, b, "/rosbridge", nil)
	scan := p.message("/base_scan", "sensor_msgs/LaserScan")
	if ranges := scan["ranges"].([]any); len(ranges) != 9 || !near(ranges[4], 2.8) || !near(ranges[0], 8) || !near(scan["angle_increment"], math.Pi/8) ||
		at(scan, "header", "frame_id") != "base_laser_link" {
		t.Errorf("the scan is %v", scan)
	}
	if odom := p.message("/odom", "nav_msgs/msg/Odometry"); odom["child_frame_id"] != "base_footprint" || at(odom, "header", "frame_id") != "odom" {
		t.Errorf("the odometry is %v", odom)
	}
	tf := p.message("tf", "tf2_msgs/TFMessage")["transforms"].([]any)
	frames := map[string]string{}
	for _, one := range tf {
		frames[at(one, "child_frame_id").(string)] = at(one, "header", "frame_id").(string)
		laser := at(one, "child_frame_id") == "base_laser_link" // on top of the robot, as with stage_ros
		if laser && !(near(at(one, "transform", "translation", "x"), 0.1) && at(one, "transform", "translation", "z").(float64) > 0.29) {
			t.Errorf("the scanner is at %v", one)
		}
	}
	if fmt.Sprint(frames) != "map[base_footprint:odom base_laser_link:base_link base_link:base_footprint odom:map]" {
		t.Errorf("the frames are %v", frames)
	}
	if truth := p.message("/base_pose_ground_truth", "nav_msgs/Odometry"); at(truth, "header", "frame_id") != "odom" || truth["child_frame_id"] != "" {
		t.Errorf("the ground truth is %v", truth)
	}
	marks := p.message("/fiducials", "fiducial_msgs/FiducialTransformArray")["transforms"].([]any)
	if len(marks) != 1 || at(marks[0], "fiducial_id") != 5.0 || !near(at(marks[0], "transform", "translation", "x"), 3) {
		t.Errorf("the marks are %v", marks)
	}
	grid := p.message("/map", "nav_msgs/OccupancyGrid")
	if len(grid["data"].([]any)) != int(at(grid, "info", "width").(float64)*at(grid, "info", "height").(float64)) || !near(at(grid, "info", "resolution"), 0.05) {
		t.Errorf("the map is %v", grid["info"])
	}
	again, ok := p.answer("static_map", "{}")
	if !ok || fmt.Sprint(at(again, "map", "data")) != fmt.Sprint(grid["data"]) {
		t.Errorf("the service gives another map: %.200v", again)
	}
	if cloud := p.message("/sonar_points", "sensor_msgs/PointCloud2"); !near(cloud["point_step"], 12) {
		t.Errorf("the points are %v", cloud)
	}
}

// TestRosbridgeNames: of several robots the topics have their names; those of
// stage_ros are understood, too, and answers are spelt as the program spells.
func TestRosbridgeNames(t *testing.T) {
	b := simulated(t, nil, "r0", "r10", "r2")
	p := speak(t, b, "/rosbridge", nil)
	p.knows("r0", "r2", "r10")
	for topic, frame := range map[string]string{"/r2/base_scan": "r2/base_laser_link", "robot_1/base_scan": "r2/base_laser_link", "/robot_2/base_scan": "r10/base_laser_link"} {
		if got := at(p.message(topic, "sensor_msgs/LaserScan"), "header", "frame_id"); got != frame {
			t.Errorf("%s is in frame %v, expected %s", topic, got, frame)
		}
	}
	if nodes, _ := p.answer("/rosapi/nodes", "{}"); fmt.Sprint(nodes) != "map[nodes:[/callboard /r0 /r2 /r10]]" {
		t.Errorf("the nodes are %v", nodes)
	}
	if details, _ := p.answer("/rosapi/node_details", `{"node":"r2"}`); fmt.Sprint(at(details, "subscribing"), at(details, "services")) != "[/r2/cmd_vel /r2/move_base_simple/goal] [/r2/motors]" {
		t.Errorf("r2 is %v", details)
	}
}

// speed waits until a robot goes so fast.
func (p *dialectProgram) speed(topic string, want float64) {
	p.t.Helper()
	p.hears(fmt.Sprintf("%s at %v m/s", topic, want), func(_ bool, text []byte) bool {
		var m map[string]any
		return json.Unmarshal(text, &m) == nil && m["topic"] == topic && at(m, "msg", "twist", "twist", "linear", "x") == want
	})
}

// TestRosbridgeDrives: a robot goes as it is told, and stops when its program says
// nothing more, takes its topic back, or goes away.
func TestRosbridgeDrives(t *testing.T) {
	b := simulated(t, nil, "r0")
	watcher := speak(t, b, "/rosbridge", nil)
	watcher.message("/odom", "nav_msgs/Odometry")
	watcher.say(`{"op":"subscribe","topic":"/odom"}`)
	p := speak(t, b, "/rosbridge", nil)
	const faster = `{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":%v}}}`
	p.say(`{"op":"advertise","topic":"/cmd_vel","type":"geometry_msgs/Twist","id":"a"}`)
	began := time.Now()
	p.say(fmt.Sprintf(faster, 0.25))
	watcher.speed("/odom", 0.25)
	watcher.speed("/odom", 0) // nothing more was said
	if took := time.Since(began); took < 1400*time.Millisecond || took > 10*time.Second {
		t.Errorf("the robot stopped after %v, expected 1.5 s", took)
	}
	p.say(fmt.Sprintf(faster, 0.5))
	watcher.speed("/odom", 0.5)
	p.say(`{"op":"unadvertise","topic":"/cmd_vel","id":"a"}`)
	watcher.speed("/odom", 0)
	p.say(`{"op":"advertise","topic":"/cmd_vel","type":"geometry_msgs/TwistStamped","id":"a"}`)
	p.say(`{"op":"publish","topic":"/cmd_vel","msg":{"twist":{"linear":{"x":0.75}}}}`)
	watcher.speed("/odom", 0.75)
	p.Close()
	watcher.speed("/odom", 0)
	if values, ok := watcher.answer("/motors", `{"data":true}`); !ok || at(values, "success") != true {
		t.Errorf("the motors: %v", values)
	}
	if values, ok := watcher.answer("/reset_positions", `{}`); !ok || fmt.Sprint(values) != "map[]" {
		t.Errorf("reset_positions: %v", values)
	}
	if truth := watcher.message("/base_pose_ground_truth", "nav_msgs/Odometry"); !near(at(truth, "pose", "pose", "position", "x"), 0) {
		t.Errorf("after reset_positions the robot is at %v", at(truth, "pose", "pose"))
	}
}

// TestRosbridgeGoals: a robot goes where a goal is, though the program has gone.
func TestRosbridgeGoals(t *testing.T) {
	b := simulated(t, nil, "r0")
	watcher := speak(t, b, "/rosbridge", nil)
	watcher.message("/odom", "nav_msgs/Odometry")
	p := speak(t, b, "/rosbridge", nil)
	p.say(`{"op":"publish","id":"g","topic":"/goal_pose","msg":{"header":{"frame_id":"base_link"},"pose":{"orientation":{"w":1}}}}`)
	if m := p.hearsText(`"status"`); m["id"] != "g" || !strings.Contains(m["msg"].(string), "expected map or odom") {
		t.Errorf("a goal in the robot's own frame: %v", m)
	}
	p.say(`{"op":"advertise","topic":"/move_base_simple/goal","type":"geometry_msgs/PoseStamped"}`)
	p.say(`{"op":"publish","topic":"/move_base_simple/goal","msg":{"header":{"frame_id":"map"},"pose":{"position":{"x":1,"y":0.5},"orientation":{"w":1}}}}`)
	p.say(`{"op":"unadvertise","topic":"/move_base_simple/goal"}`)
	p.say(`{"op":"call_service","id":"last","service":"/rosapi/topics"}`)
	p.hearsText("service_response", "last")
	p.Close()
	watcher.say(`{"op":"subscribe","topic":"/odom"}`)
	watcher.hears("the robot at its goal", func(_ bool, text []byte) bool {
		var m map[string]any
		at := func(name string) any { return at(m, "msg", "pose", "pose", "position", name) }
		return json.Unmarshal(text, &m) == nil && m["topic"] == "/odom" && near(at("x"), 1) && near(at("y"), 0.5)
	})
}

// TestRosbridgeClock: programs live in the time of the simulation that all robots are
// in.
func TestRosbridgeClock(t *testing.T) {
	b := simulated(t, nil, "r0", "r1")
	p := speak(t, b, "/rosbridge", nil)
	p.knows("r0", "r1")
	p.say(`{"op":"subscribe","topic":"/clock"}`)
	last := -1.0
	for range 10 {
		m := p.hearsText("publish", "/clock")
		now := at(m, "msg", "clock", "secs").(float64) + at(m, "msg", "clock", "nsecs").(float64)/1e9
		if !(now > last && now < 1e6) {
			t.Fatalf("the clock is %v after %v", now, last)
		}
		last = now
	}
	if v, _ := p.answer("/rosapi/get_param", `{"name":"/use_sim_time"}`); at(v, "value") != "true" {
		t.Errorf("use_sim_time is %v", v)
	}
}

// TestRosbridgeConditions: what matches comes, on the robot's topic or on one of
// the condition's own, and mistakes are told with their place.
func TestRosbridgeConditions(t *testing.T) {
	b := simulated(t, nil, "r0", "r1")
	p := speak(t, b, "/rosbridge", nil)
	p.knows("r0", "r1")
	p.say(`{"op":"subscribe","id":"far","topic":"/r0/base_scan","condition":"laser.min > 100"}`)
	p.say(`{"op":"subscribe","id":"near","topic":"/r0/base_scan?condition=laser.min%20%3C%203%20and%20position.x%20%3C%201&trigger=rising"}`)
	p.say(`{"op":"subscribe","id":"c","topic":"/callboard/condition/seen","condition":"fiducial.count > 0","robots":["r*"],"select":{"n":"fiducial.count"},"trigger":"change"}`)
	seen := map[any]bool{}
	for len(seen) < 2 {
		m := p.hearsText("/callboard/condition/seen")
		var told map[string]any
		if err := json.Unmarshal([]byte(at(m, "msg", "data").(string)), &told); err != nil {
			t.Fatal(err)
		}
		if subscriptions := fmt.Sprint(told["subscriptions"]); subscriptions != "[map[id:seen state:true values:map[n:1]]]" || told["reading"] != nil {
			t.Errorf("told %v", told)
		}
		seen[told["robot"]] = true
	}
	p.say(`{"op":"unsubscribe","topic":"/callboard/condition/seen"}`)
	// A rising condition holds once; the scan that it came with is whole.
	p.say(`{"op":"subscribe","id":"again","topic":"/r0/base_scan?condition=laser.min<3&trigger=rising"}`)
	if m := p.hearsText("publish", "/r0/base_scan?condition=laser.min<3"); len(at(m, "msg", "ranges").([]any)) != 9 {
		t.Errorf("got %v", m)
	}
	for _, tt := range []struct{ text, want string }{
		{`{"op":"subscribe","id":"x","topic":"/r0/base_scan","condition":"laser.mim < 1"}`, "did you mean `min`"},
		{`{"op":"subscribe","id":"x","topic":"/callboard/condition/x"}`, "needs a condition"},
		{`{"op":"subscribe","id":"x","topic":"/tf","condition":"laser.min < 1"}`, "has no readings"},
		{`{"op":"subscribe","id":"x","topic":"/r0/odom","condition":"true","select":{"x":"position.x"}}`, "select go with topics"},
		{`{"op":"subscribe","id":"x","topic":"/r0/odom","condition":"true","trigger":"sometimes"}`, "sometimes"},
		{`{"op":"subscribe","id":"x","topic":"/r0/odom","condition":5}`, "condition: 5"},
		{`{"op":"subscribe","id":"x","topic":"/r0/odom?every=2"}`, "option every"},
		{`{"op":"subscribe","id":"x","topic":"/r0/odom","condition":"true","for":"soon"}`, "for:"},
	} {
		p.say(tt.text)
		m := p.hearsText(`"status"`)
		if text, _ := m["msg"].(string); !strings.Contains(text, tt.want) || m["id"] != "x" || m["level"] != "error" {
			t.Errorf("%s: %v, expected %q", tt.text, m, tt.want)
		}
		if strings.Contains(tt.text, "mim") && fmt.Sprint(m["position"]) != "map[column:7 line:1]" {
			t.Errorf("the mistake is at %v", m["position"])
		}
	}
}

// TestRosbridgeRights: a program sees and drives what its token allows, however it
// shows it.
func TestRosbridgeRights(t *testing.T) {
	b := simulated(t, func(c *config.Config) {
		c.Tokens = []config.Token{
			{Name: "lab", Secret: "all", May: []string{"subscribe", "command"}},
			{Name: "guest", Secret: "one", Robots: []string{"r0"}, May: []string{"subscribe"}},
		}
	}, "r0", "r1")
	secret := func(s string) http.Header { return http.Header{"Authorization": {"Bearer " + s}} }
	all := speak(t, b, "/rosbridge", secret("all"))
	all.knows("r0", "r1")
	password := http.Header{}
	r, _ := http.NewRequest("GET", "/", nil)
	r.SetBasicAuth("", "one")
	password.Set("Authorization", r.Header.Get("Authorization"))
	byAuth := speak(t, b, "/rosbridge", nil)
	byAuth.say(`{"op":"call_service","id":1,"service":"/rosapi/topics"}`)
	if m := byAuth.hearsText("status"); m["id"] != 1.0 || !strings.Contains(m["msg"].(string), "before the token is known") {
		t.Errorf("without a token: %v", m)
	}
	byAuth.say(`{"op":"auth","mac":"one","client":"","dest":"","rand":"","t":0,"level":"","end":0}`)
	for way, p := range map[string]*dialectProgram{
		"header": speak(t, b, "/rosbridge", secret("one")), "password": speak(t, b, "/rosbridge", password),
		"address": speak(t, b, "/rosbridge?token=one", nil), "auth": byAuth,
	} {
		topics, _ := p.answer("/rosapi/topics", "{}")
		if text := fmt.Sprint(topics); !strings.Contains(text, "/r0/odom") || strings.Contains(text, "r1") {
			t.Errorf("by %s: %v", way, topics)
		}
		p.say(`{"op":"subscribe","id":"other","topic":"/r1/odom"}`)
		if m := p.hearsText("status"); m["id"] != "other" {
			t.Errorf("by %s: %v", way, m)
		}
		p.say(`{"op":"publish","id":"drive","topic":"/r0/cmd_vel","msg":{}}`)
		if m := p.hearsText("status"); !strings.Contains(m["msg"].(string), "does not allow command") {
			t.Errorf("by %s: %v", way, m)
		}
		p.say(`{"op":"subscribe","topic":"/callboard/condition/any","condition":"position.x < 100"}`)
		p.say(`{"op":"subscribe","topic":"/tf"}`)
		for range 6 {
			if m := p.hearsText("publish"); strings.Contains(fmt.Sprint(m), "r1") {
				t.Errorf("by %s: %v", way, m)
			}
		}
	}
	bad := speak(t, b, "/rosbridge", nil)
	bad.say(`{"op":"auth","mac":"none"}`)
	bad.hearsText("status", "not known")
	if _, _, err := bad.ReadMessage(); !websocket.IsCloseError(err, 4401) {
		t.Errorf("a wrong token: %v", err)
	}
}
