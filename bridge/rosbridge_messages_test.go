package bridge_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/png"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

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
		{`{"op":"advertise_action","id":"e","action":"/mine","type":"std_srvs/Empty"}`, `by services here`},
		{`{"op":"send_action_goal","id":"e"}`, `by services here`},
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
