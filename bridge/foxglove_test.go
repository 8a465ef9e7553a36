package bridge_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/push/ros"

	"github.com/gorilla/websocket"
)

// viewer is a program that speaks Foxglove's protocol.
type viewer struct {
	*dialectProgram
	channels map[string]map[string]any // advertised, by topic
	services map[string]float64        // ids, by name
	taken    map[string]int            // topics that were subscribed to
}

func watching(t testing.TB, b *bridge.Bridge, path string, header http.Header) *viewer {
	t.Helper()
	v := &viewer{speak(t, b, path, header, "foxglove.websocket.v1", "foxglove.sdk.v1"), map[string]map[string]any{}, map[string]float64{}, map[string]int{}}
	if v.Subprotocol() != "foxglove.sdk.v1" {
		t.Fatalf("the subprotocol is %q", v.Subprotocol())
	}
	_, text, err := v.ReadMessage()
	if err != nil || !strings.Contains(string(text), `"op":"serverInfo"`) {
		t.Fatalf("the first message is %s (%v)", text, err)
	}
	return v
}

// note notes what is advertised in a message.
func (v *viewer) note(text []byte) {
	var m struct {
		Op       string
		Channels []map[string]any
		Services []map[string]any
	}
	_ = json.Unmarshal(text, &m) // binary ones are not noted
	for _, ch := range m.Channels {
		v.channels[ch["topic"].(string)] = ch
	}
	for _, s := range m.Services {
		v.services[s["name"].(string)] = s["id"].(float64)
	}
}

// advertised waits until a topic is.
func (v *viewer) advertised(topic string) map[string]any {
	v.t.Helper()
	if v.channels[topic] == nil {
		v.hears("the channel "+topic, func(_ bool, text []byte) bool {
			v.note(text)
			return v.channels[topic] != nil
		})
	}
	return v.channels[topic]
}

// subscribe subscribes to a topic and returns its next message.
func (v *viewer) subscribe(id int, topic string) ros.Message {
	v.t.Helper()
	ch := v.advertised(topic)
	v.say(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%v}]}`, id, ch["id"]))
	m, err := ros.Lookup(ch["schemaName"].(string)).FromROS1(v.data(id))
	if err != nil {
		v.t.Fatalf("%s: %v", topic, err)
	}
	return m
}

// data returns the next message of a subscription.
func (v *viewer) data(id int) []byte {
	v.t.Helper()
	head := binary.LittleEndian.AppendUint32([]byte{1}, uint32(id))
	return v.hears(fmt.Sprint("data of subscription ", id), func(binary bool, m []byte) bool {
		v.note(m)
		return binary && bytes.HasPrefix(m, head)
	})[13:]
}

// call calls a service and returns the payload of the response.
func (v *viewer) call(name, encoding, payload string) string {
	v.t.Helper()
	v.hears("service "+name, func(_ bool, text []byte) bool {
		v.note(text)
		return v.services[name] != 0
	})
	return v.callAgain(name, encoding, payload)
}

func (v *viewer) callAgain(name, encoding, payload string) string {
	v.t.Helper()
	b := binary.LittleEndian.AppendUint32([]byte{2}, uint32(v.services[name]))
	b = binary.LittleEndian.AppendUint32(b, 77)
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(encoding))), encoding...)
	v.send(append(b, payload...))
	answer := v.hears("response of "+name, func(isBinary bool, m []byte) bool {
		v.note(m)
		return isBinary && m[0] == 3 && binary.LittleEndian.Uint32(m[5:]) == 77 || bytes.Contains(m, []byte("serviceCallFailure"))
	})
	if answer[0] != 3 {
		return string(answer)
	}
	return string(answer[13+len(encoding):])
}

func (v *viewer) send(b []byte) {
	v.t.Helper()
	if err := v.WriteMessage(websocket.BinaryMessage, b); err != nil {
		v.t.Fatal(err)
	}
}

// TestFoxgloveChannels: what there is is advertised with schemas that its messages
// are read by.
func TestFoxgloveChannels(t *testing.T) {
	b := simulated(t, nil, "r0")
	v := watching(t, b, "/foxglove", nil)
	scan := v.subscribe(0, "/base_scan")
	if ranges := scan.At("ranges").([]any); len(ranges) != 9 || !near(ranges[4], 2.8) || scan.Text("header", "frame_id") != "base_laser_link" {
		t.Errorf("the scan is %v", scan)
	}
	if odom := v.subscribe(1, "/odom"); odom.Text("child_frame_id") != "base_footprint" {
		t.Errorf("the odometry is %v", odom)
	}
	if grid := v.subscribe(2, "/map"); len(grid.At("data").([]any)) != int(grid.Float("info", "width")*grid.Float("info", "height")) || grid.Text("header", "frame_id") != "map" {
		t.Errorf("the map is %v", grid.At("info"))
	}
	if truth := v.subscribe(3, "/base_pose_ground_truth"); truth.Text("header", "frame_id") != "odom" {
		t.Errorf("the ground truth is %v", truth)
	}
	v.subscribe(4, "/tf")
	for topic, ch := range v.channels {
		if kind := ros.Lookup(ch["schemaName"].(string)); kind == nil || ch["schema"] != kind.Text() || ch["encoding"] != "ros1" {
			t.Errorf("%s: %v", topic, ch)
		}
	}
	if v.channels["/cmd_vel"] != nil {
		t.Error("/cmd_vel is a channel")
	}
	v.say(`{"op":"unsubscribe","subscriptionIds":[0,1,2,3]}`)
	v.say(`{"op":"getParameters","parameterNames":[],"id":"get-all-params"}`)
	m := v.hearsText("parameterValues")
	if m["id"] != "get-all-params" || fmt.Sprint(m["parameters"]) != "[map[name:/use_sim_time value:true] map[name:/callboard/robots value:[r0]]]" {
		t.Errorf("parameters: %v", m)
	}
	v.say(`{"op":"subscribeConnectionGraph"}`)
	graph := v.hearsText("connectionGraphUpdate")
	if text := fmt.Sprint(graph); !strings.Contains(text, "map[name:/cmd_vel subscriberIds:[/r0]]") || !strings.Contains(text, "map[name:/base_scan publisherIds:[/r0]]") {
		t.Errorf("the graph: %v", graph)
	}
	if text := v.callAgain("/motors", "json", `{"data":true}`); text != `{"success":true,"message":"the motors are on"}` {
		t.Errorf("motors in json: %s", text)
	}
	if text := v.callAgain("/motors", "ros1", "\x00"); text != "\x01\x12\x00\x00\x00the motors are off" {
		t.Errorf("motors in ros1: %q", text)
	}
	_, _, err := (&websocket.Dialer{Subprotocols: []string{"other"}}).Dial("ws"+strings.TrimPrefix(b.URL(), "http")+"/foxglove", nil)
	if err == nil {
		t.Error("a program without its subprotocol was let in")
	}
}

// TestFoxgloveDrives: Teleop drives, and the robot stops when it says nothing more.
func TestFoxgloveDrives(t *testing.T) {
	b := simulated(t, nil, "r0")
	v := watching(t, b, "/foxglove", nil)
	v.subscribe(0, "/odom")
	speed := func(want float64) {
		t.Helper()
		for {
			odom, err := ros.Lookup("nav_msgs/Odometry").FromROS1(v.data(0))
			if err != nil {
				t.Fatal(err)
			}
			if odom.Float("twist", "twist", "linear", "x") == want {
				return
			}
		}
	}
	v.say(`{"op":"advertise","channels":[{"id":1,"topic":"/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"},{"id":2,"topic":"/cmd_vel","encoding":"ros1","schemaName":"geometry_msgs/msg/Twist"}]}`)
	v.send([]byte("\x01\x01\x00\x00\x00" + `{"linear":{"x":0.25,"y":0,"z":0},"angular":{"x":0,"y":0,"z":0}}`))
	speed(0.25)
	speed(0)
	twist := binary.LittleEndian.AppendUint64([]byte("\x01\x02\x00\x00\x00"), math.Float64bits(0.5))
	v.send(append(twist, make([]byte, 40)...))
	speed(0.5)
	v.say(`{"op":"unadvertise","channelIds":[2]}`)
	speed(0)
}

// TestFoxgloveConditions: a service makes a condition a channel.
func TestFoxgloveConditions(t *testing.T) {
	b := simulated(t, nil, "r0", "r1")
	v := watching(t, b, "/foxglove", nil)
	for i, topic := range []string{"/r0/odom", "/r1/odom"} { // both are there then
		v.subscribe(8+i, topic)
	}
	v.say(`{"op":"unsubscribe","subscriptionIds":[8,9]}`)
	answer := v.callAgain("/callboard/subscribe", "json", `{"id":"seen","condition":"fiducial.count > 0","select":{"n":"fiducial.count"},"trigger":"change"}`)
	if answer != `{"ok":true,"robots":2,"topic":"/callboard/condition/seen"}` {
		t.Errorf("got %s", answer)
	}
	ch := v.advertised("/callboard/condition/seen")
	if ch["encoding"] != "json" || !strings.HasPrefix(ch["schemaName"].(string), "callboard.condition.seen") || !json.Valid([]byte(ch["schema"].(string))) {
		t.Errorf("the channel is %v", ch)
	}
	v.say(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":5,"channelId":%v}]}`, ch["id"]))
	var told map[string]any
	if text := v.data(5); json.Unmarshal(text, &told) != nil || told["state"] != true || fmt.Sprint(told["values"]) != "map[n:1]" {
		t.Errorf("got %s", text)
	}
	for payload, want := range map[string]string{
		`{"id":"bad","condition":"laser.mim < 1"}`:  `"column":7`,
		`{"id":"seen","condition":"laser.min < 1"}`: `in use`,
		`{"id":"a b","condition":"laser.min < 1"}`:  `id: expected`,
		`{"id":"c"}`: `condition: missing`,
		`{"id":"t","condition":"true","trigger":"x"}`: `trigger`,
		`5`: `not understood`,
	} {
		if answer := v.callAgain("/callboard/subscribe", "json", payload); !strings.Contains(answer, want) || !strings.Contains(answer, `"ok":false`) {
			t.Errorf("%s: %s, expected %s", payload, answer, want)
		}
	}
	if answer := v.callAgain("/callboard/unsubscribe", "json", `{"id":"seen"}`); answer != `{"ok":true}` {
		t.Errorf("got %s", answer)
	}
	v.say(`{"op":"advertise","channels":[{"id":3,"topic":"/callboard/subscribe","encoding":"json","schemaName":"x"}]}`)
	v.send([]byte("\x01\x03\x00\x00\x00" + `{"id":"near","condition":"laser.min < 100"}`))
	v.advertised("/callboard/condition/near")
}

// TestFoxgloveErrors: mistakes are told by a status, and the connection goes on.
func TestFoxgloveErrors(t *testing.T) {
	b := simulated(t, nil, "r0")
	v := watching(t, b, "/foxglove", nil)
	id := v.advertised("/odom")["id"]
	v.say(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":%v}]}`, id))
	for _, tt := range []struct {
		message string
		level   float64
		want    string
	}{
		{`{"op":"subscribe","subscriptions":[{"id":2,"channelId":99999}]}`, 1, "Channel 99999 is not available"},
		{fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":2,"channelId":%v}]}`, id), 1, "already subscribed to channel"},
		{fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":%v}]}`, v.advertised("/map")["id"]), 2, "already used"},
		{`{"op":"unsubscribe","subscriptionIds":[77]}`, 1, "77 did not exist"},
		{`{"op":"dance"}`, 2, "Unknown operation"},
		{`{nonsense`, 2, "not understood"},
		{`{}`, 2, "without op"},
		{`[1]`, 2, "not understood"},
		{`{"op":"subscribe"}`, 2, "without subscriptions"},
		{`{"op":"subscribe","subscriptions":[{}]}`, 2, "without id"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/x","encoding":"cdr","schemaName":"std_msgs/String"}]}`, 2, "Unsupported encoding"},
		{`{"op":"advertise","channels":[{"id":1,"topic":"/cmd_vel","encoding":"json","schemaName":"std_msgs/String"}]}`, 2, "takes geometry_msgs/Twist"},
		{`{"op":"setParameters","parameters":[{"name":"/x","value":1}]}`, 2, "cannot be changed"},
		{`{"op":"fetchAsset","uri":"file:///etc/passwd","requestId":1}`, 2, "no assets"},
		{"\x09\x01\x02", 2, "opcode 9"},
		{"\x01", 2, "message length 1"},
		{"\x02\x01\x00\x00\x00\x01\x00\x00\x00\xff\xff\xff\xff", 2, "message length 13"},
		{"\x01\x07\x00\x00\x00\x01", 2, "not advertised"},
	} {
		if tt.message[0] < ' ' {
			v.send([]byte(tt.message))
		} else {
			v.say(tt.message)
		}
		if m := v.hearsText(`"op":"status"`); m["level"] != tt.level || !strings.Contains(m["message"].(string), tt.want) {
			t.Errorf("%q: %v, expected %d %q", tt.message, m, int(tt.level), tt.want)
		}
	}
	v.send(nil)
	v.hearsText("empty binary")
	v.send([]byte("\x02\x0f\x27\x00\x00\x03\x00\x00\x00\x04\x00\x00\x00json"))
	if m := v.hearsText("serviceCallFailure"); m["serviceId"] != 9999.0 || m["callId"] != 3.0 {
		t.Errorf("got %v", m)
	}
	// What Lichtblick does of itself is no mistake; what nobody takes is told once.
	v.say(`{"op":"advertise","channels":[{"id":2,"topic":"/move_base_simple/goal","encoding":"json","schemaName":"geometry_msgs/PoseStamped"}]}`)
	v.say(`{"op":"unadvertise","channelIds":[2,42]}`)
	v.say(`{"op":"getParameters","parameterNames":["/nope"],"id":"g"}`)
	if m := v.hearsText(`"op"`); m["op"] != "parameterValues" || fmt.Sprint(m["parameters"]) != "[]" {
		t.Errorf("got %v", m)
	}
}

// TestFoxgloveRights: what a token does not allow is not there.
func TestFoxgloveRights(t *testing.T) {
	b := simulated(t, func(c *config.Config) {
		c.Tokens = []config.Token{{Name: "guest", Secret: "one", Robots: []string{"r0"}, May: []string{"subscribe"}}}
	}, "r0", "r1")
	v := watching(t, b, "/foxglove?token=one", nil)
	v.subscribe(0, "/r0/odom")
	for topic := range v.channels {
		if strings.Contains(topic, "r1") {
			t.Errorf("%s is advertised", topic)
		}
	}
	v.say(`{"op":"advertise","channels":[{"id":1,"topic":"/r0/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`)
	v.send([]byte("\x01\x01\x00\x00\x00{}"))
	v.hearsText("status", "does not allow command")
	d := websocket.Dialer{Subprotocols: []string{"foxglove.sdk.v1"}}
	ws, _, err := d.Dial("ws"+strings.TrimPrefix(b.URL(), "http")+"/foxglove", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	for {
		if _, _, err = ws.ReadMessage(); err != nil {
			break
		}
	}
	if !websocket.IsCloseError(err, 4401) {
		t.Errorf("without a token: %v", err)
	}
}
