package bridge_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
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
		if at(one, "child_frame_id") == "base_laser_link" && !near(at(one, "transform", "translation", "x"), 0.1) {
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
	for topic, frame := range map[string]string{"/r2/base_scan": "r2/base_laser_link", "robot_1/base_scan": "r2/base_laser_link", "/robot_2/base_scan": "r10/base_laser_link"} {
		p.message("/r10/odom", "nav_msgs/Odometry") // all are known then
		if got := at(p.message(topic, "sensor_msgs/LaserScan"), "header", "frame_id"); got != frame {
			t.Errorf("%s is in frame %v, expected %s", topic, got, frame)
		}
	}
	if nodes, _ := p.answer("/rosapi/nodes", "{}"); fmt.Sprint(nodes) != "map[nodes:[/callboard /r0 /r2 /r10]]" {
		t.Errorf("the nodes are %v", nodes)
	}
	if details, _ := p.answer("/rosapi/node_details", `{"node":"r2"}`); fmt.Sprint(at(details, "subscribing"), at(details, "services")) != "[/r2/cmd_vel] [/r2/motors]" {
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

// TestRosbridgeConditions: what matches comes, on the robot's topic or on one of
// the condition's own, and mistakes are told with their place.
func TestRosbridgeConditions(t *testing.T) {
	b := simulated(t, nil, "r0", "r1")
	p := speak(t, b, "/rosbridge", nil)
	p.message("/r1/odom", "nav_msgs/Odometry")
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
	all.message("/r1/odom", "nav_msgs/Odometry")
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

// TestRosbridgeErrors: what a program does wrong is told with the id of its
// message, where real servers are silent; where programs expect silence, there is.
func TestRosbridgeErrors(t *testing.T) {
	b := simulated(t, nil, "r0")
	p := speak(t, b, "/rosbridge", nil)
	p.message("/odom", "nav_msgs/Odometry")
	for _, tt := range []struct{ text, want string }{
		{`{"op":"fly","id":"e"}`, `unknown op`},
		{`{"id":"e"}`, `op: missing`},
		{`{"op":"subscribe","id":"e"}`, `topic: missing`},
		{`{"op":"subscribe","id":"e","topic":5}`, `topic: 5; expected a text`},
		{`{"op":"subscribe","id":"e","topic":"/nowhere"}`, `is not there`},
		{`{"op":"subscribe","id":"e","topic":"/odom","type":"no_such/Type"}`, `is not known`},
		{`{"op":"subscribe","id":"e","topic":"/odom","type":"std_msgs/String"}`, `is nav_msgs/Odometry`},
		{`{"op":"subscribe","id":"e","topic":"/odom","throttle_rate":"x"}`, `throttle_rate: "x"; expected a number`},
		{`{"op":"advertise","id":"e","topic":"/cmd_vel","type":"std_msgs/String"}`, `is geometry_msgs/Twist`},
		{`{"op":"publish","id":"e","topic":"/cmd_vel","msg":{"speed":1}}`, `speed: unknown field`},
		{`{"op":"publish","id":"e","topic":"/cmd_vel","msg":{"linear":{"x":1e400}}}`, `expected a number`},
		{`{"op":"publish","id":"e","topic":"/odom","msg":{}}`, `nothing here takes`},
		{`{"op":"advertise_service","id":"e","service":"/mine","type":"std_srvs/Empty"}`, `cannot serve`},
		{`{"op":"send_action_goal","id":"e"}`, `cannot serve`},
		{`{"op":"fragment","id":"e","num":0,"data":"{"}`, `total`},
		{`{"op":"set_level","id":"e","level":"loud"}`, `loud`},
	} {
		p.say(tt.text)
		m := p.hearsText("status")
		if text, _ := m["msg"].(string); !strings.Contains(text, tt.want) || m["id"] != "e" || m["level"] != "error" {
			t.Errorf("%s: %v, expected %q", tt.text, m, tt.want)
		}
	}
	for _, text := range []string{`5`, `[1]`, `{"op":`, ``, `{"op":"call_service","service":"a"}{}`, `null`} {
		p.say(text)
		if m := p.hearsText("status"); m["id"] != nil || !strings.Contains(m["msg"].(string), "expected one JSON object") {
			t.Errorf("%s: %v", text, m)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{`"service":"/no_such"`, `Service /no_such does not exist`},
		{`"service":"motors","args":{"on":1}`, `on: unknown field`},
		{`"service":"/rosapi/set_param","args":{"name":"a","value":"1"}`, `cannot be changed`},
		{`"service":"/rosapi/message_details","args":{"type":"no_such/Type"}`, `is not known`},
	} {
		p.say(`{"op":"call_service","id":7,` + tt.args + `}`)
		m := p.hearsText("service_response")
		if text, _ := m["values"].(string); m["result"] != false || m["id"] != 7.0 || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %v, expected %q", tt.args, m, tt.want)
		}
	}
	// The first that is heard after all this is the answer to the call.
	for _, text := range []string{
		`{"op":"unsubscribe","topic":"/never"}`, `{"op":"unadvertise","topic":"/never"}`, `{"op":"service_response","service":"/x","id":"y","result":true}`,
		`{"op":"unadvertise_service","service":"/x"}`, `{"op":"advertise","topic":"/clicked_point","type":"geometry_msgs/PointStamped"}`,
		`{"op":"subscribe","topic":"/later","type":"std_msgs/String"}`, `{"op":"subscribe","topic":"/cmd_vel","type":null,"throttle_rate":null}`,
		`{"op":"set_level","level":"none"}`, `{"op":"fly"}`,
	} {
		p.say(text)
	}
	if err := p.WriteMessage(websocket.BinaryMessage, []byte(`{"op":"call_service","id":null,"service":"/rosapi/get_time"}`)); err != nil {
		t.Fatal(err)
	}
	_, text, err := p.ReadMessage()
	if err != nil || !strings.HasPrefix(string(text), `{"op":"service_response","service":"/rosapi/get_time","values":{"time":{"nsecs":`) || strings.Contains(string(text), `"id"`) {
		t.Errorf("%s %v", text, err)
	}
}

// TestRosbridgeEncodings: a message comes as it was asked for.
func TestRosbridgeEncodings(t *testing.T) {
	b := simulated(t, nil, "r0")
	p := speak(t, b, "/rosbridge", nil)
	p.message("/odom", "nav_msgs/Odometry")
	binary := func(b bool, _ []byte) bool { return b }
	p.say(`{"op":"subscribe","id":"a","topic":"/base_scan","compression":"cbor"}`)
	if m := p.hears("cbor", binary); !bytes.HasPrefix(m, []byte("\xa3\x62op\x67publish\x65topic\x6a/base_scan\x63msg\xaa\x66header")) || !bytes.Contains(m, []byte("\x66ranges\xd8\x55\x58\x24")) {
		t.Errorf("cbor: %q", m)
	}
	p.say(`{"op":"subscribe","id":"b","topic":"/base_scan","compression":"cbor-raw"}`)
	if m := p.hears("cbor-raw", func(b bool, m []byte) bool {
		return b && bytes.Contains(m, []byte("nsecs")) && bytes.Contains(m, []byte("bytes\x58"))
	}); !bytes.Contains(m, []byte("\x0f\x00\x00\x00base_laser_link")) {
		t.Errorf("cbor-raw: %q", m)
	}
	p.say(`{"op":"unsubscribe","id":"b","topic":"/base_scan"}`)
	p.say(`{"op":"unsubscribe","id":"a","topic":"/base_scan"}`)
	p.say(`{"op":"subscribe","topic":"/base_scan","compression":"png"}`)
	m := p.hearsText(`"op":"png"`)
	data, err := base64.StdEncoding.DecodeString(m["data"].(string))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, g, b, _ := picture.At(x, y).RGBA()
			text = append(text, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	var inner map[string]any
	if err := json.Unmarshal(text, &inner); err != nil || inner["topic"] != "/base_scan" {
		t.Errorf("%s %v", text, err)
	}
	p.say(`{"op":"unsubscribe","topic":"/base_scan"}`)
	p.say(`{"op":"call_service","id":"f","service":"/rosapi/topics","fragment_size":200}`)
	whole := ""
	for num := 0; ; num++ {
		part := p.hearsText(`"fragment"`)
		id, named := part["id"].(string)
		if !named || id == "" || part["num"] != float64(num) || len(part["data"].(string)) > 200 {
			t.Fatalf("fragment %d: %v", num, part)
		}
		whole += part["data"].(string)
		if part["num"] == part["total"].(float64)-1 {
			break
		}
	}
	if err := json.Unmarshal([]byte(whole), &inner); err != nil || inner["id"] != "f" {
		t.Errorf("%s: %v", whole, err)
	}
	for _, part := range []string{`"num":1,"total":2,"data":"\"/rosapi/get_time\"}"`, `"num":0,"total":2,"data":"{\"op\":\"call_service\",\"id\":\"g\",\"service\":"`} {
		p.say(`{"op":"fragment","id":"x",` + part + `}`)
	}
	p.hearsText(`"service_response"`, `"id":"g"`)
}

// TestRosbridgeTransforms: tf2_web_republisher, as an action and as a service,
// tells where frames are, and again when they have moved.
func TestRosbridgeTransforms(t *testing.T) {
	b := simulated(t, nil, "r0")
	p := speak(t, b, "/rosbridge", nil)
	p.message("/odom", "nav_msgs/Odometry")
	p.say(`{"op":"advertise","topic":"/tf2_web_republisher/goal","type":"tf2_web_republisher/TFSubscriptionActionGoal"}`)
	p.say(`{"op":"subscribe","topic":"/tf2_web_republisher/feedback","type":"tf2_web_republisher/TFSubscriptionActionFeedback"}`)
	p.say(`{"op":"publish","topic":"/tf2_web_republisher/goal","msg":{"goal_id":{"stamp":{"secs":0,"nsecs":0},"id":"goal_1"},` +
		`"goal":{"source_frames":["/base_laser_link","nowhere"],"target_frame":"/map","angular_thres":0.01,"trans_thres":0.01,"rate":10}}}`)
	m := p.hearsText("feedback", "goal_1")
	transforms := at(m, "msg", "feedback", "transforms").([]any)
	if len(transforms) != 1 || at(transforms[0], "child_frame_id") != "/base_laser_link" || at(transforms[0], "header", "frame_id") != "/map" ||
		!near(at(transforms[0], "transform", "translation", "x"), 0.1) {
		t.Errorf("got %v", m)
	}
	values, ok := p.answer("/republish_tfs", `{"source_frames":["base_link"],"target_frame":"base_laser_link","rate":0}`)
	topic, _ := at(values, "topic_name").(string)
	if !ok || topic == "" {
		t.Fatalf("got %v", values)
	}
	p.say(fmt.Sprintf(`{"op":"subscribe","topic":%q,"type":"tf2_web_republisher/TFArray"}`, topic))
	p.say(`{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0.5}}}`)
	for {
		m := p.hearsText("feedback", "goal_1")
		if x, ok := at(at(m, "msg", "feedback", "transforms").([]any)[0], "transform", "translation", "x").(float64); ok && x > 0.2 {
			break
		}
	}
	p.say(`{"op":"publish","topic":"/tf2_web_republisher/cancel","msg":{"id":"goal_1"}}`)
	p.say(`{"op":"publish","id":"bad","topic":"/tf2_web_republisher/goal","msg":{"goal":{"rate":-1}}}`)
	p.hearsText("status", "bad", "expected at most")
}
