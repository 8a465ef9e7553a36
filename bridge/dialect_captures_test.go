package bridge_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callboard/bridge/push/ros"
)

// dialectCaptures are recordings of real programs with real servers of the two
// dialects. They are not in this repository.
const dialectCaptures = "../../shared/dialects/captures"

// line is a line of one: a message, or what became of a connection.
type line struct {
	Conn            int
	Dir, Kind, Data string
	Base64          string
	object          map[string]any // of a text
}

func capture(t *testing.T, name string) []line {
	t.Helper()
	f, err := os.Open(filepath.Join(dialectCaptures, name+".jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the captures are not here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []line
	s := bufio.NewScanner(f)
	s.Buffer(nil, 8<<20)
	for s.Scan() {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		_ = json.Unmarshal([]byte(l.Data), &l.object) // notes, and what programs do wrong, are none
		all = append(all, l)
	}
	return all
}

// shape returns what kind of value it is, and its parts are: numbers are alike,
// null is one; of lists the first element counts.
func shape(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&b, "%s:%s ", name, shape(v[name]))
		}
		return "{" + b.String() + "}"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[" + shape(v[0]) + "]"
	case string:
		return "text"
	case bool:
		return "bool"
	}
	return "number"
}

// alike reports whether two values are of one shape; a list without elements is
// like any.
func alike(a, b any) bool {
	x, listX := a.([]any)
	y, listY := b.([]any)
	if listX && listY {
		return len(x) == 0 || len(y) == 0 || alike(x[0], y[0])
	}
	m, objectX := a.(map[string]any)
	n, objectY := b.(map[string]any)
	if objectX != objectY {
		return false
	}
	if !objectX {
		return shape(a) == shape(b)
	}
	for name := range m {
		if _, there := n[name]; !there || !alike(m[name], n[name]) {
			return false
		}
	}
	return len(m) == len(n)
}

// TestRosbridgeCaptures: what real programs say is answered as the real servers
// answer it: with the same fields of the same kinds, under the same names and ids.
func TestRosbridgeCaptures(t *testing.T) {
	for name, robots := range map[string][]string{
		"rosbridge-rosapi": {"r0"}, "rosbridge-rosapi-roslib1": {"r0"}, "rosbridge-subscribe": {"r0"}, "rosbridge-services": {"r0"},
		"rosbridge-fragments": {"r0"}, "rosbridge-extensions": {"r0"}, "rosbridge-roslibpy": {"r0"}, "rosbridge-reconnect": {"r0"},
		"rosbridge-ros3d": {"r0"}, "rosbridge-lichtblick": {"r0"}, "rosbridge-compression": {"r0"},
		"rosbridge-stage-ros-one-robot": {"r0"}, "rosbridge-stage-ros-four-robots": {"r0", "r1", "r2", "r3"},
	} {
		t.Run(name, func(t *testing.T) {
			lines := capture(t, name)
			t.Parallel()
			b := simulated(t, nil, robots...)
			first := speak(t, b, "/rosbridge", nil)
			first.knows(robots...)
			replay := &rosReplay{t: t, programs: map[int]*dialectProgram{}, answers: map[string]map[string]any{}, told: map[string]bool{}}
			values, _ := first.answer("/rosapi/topics", "{}")
			for _, topic := range at(values, "topics").([]any) {
				replay.topics = append(replay.topics, topic.(string))
			}
			services, _ := first.answer("/rosapi/services", "{}")
			for _, service := range at(services, "services").([]any) {
				replay.services = append(replay.services, service.(string))
			}
			for i := range lines {
				l := &lines[i]
				switch {
				case l.Kind == "open" && l.Dir == "c2s":
					replay.programs[l.Conn] = speak(t, b, "/rosbridge", nil)
				case l.Dir == "c2s" && l.Kind == "text":
					replay.says(l)
				case l.Dir == "s2c":
					replay.hears(l)
				}
			}
			if replay.compared == 0 {
				t.Error("nothing was compared")
			}
			t.Logf("%d answers compared", replay.compared)
		})
	}
}

// rosReplay says what a program has said, and hears what it has heard.
type rosReplay struct {
	t                *testing.T
	programs         map[int]*dialectProgram
	topics, services []string
	answers          map[string]map[string]any
	told             map[string]bool // topics of which a message was compared since the program spoke last
	compared         int
}

func (r *rosReplay) says(l *line) {
	p := r.programs[l.Conn]
	p.say(l.Data)
	clear(r.told)
	if topic, ok := l.object["topic"].(string); ok && l.object["condition"] != nil {
		r.told[topic] = true // the real server knows no conditions
	}
}

// knows reports whether there is a topic or service of the name here, as those of
// stage_ros are called.
func knows(all []string, name string) bool {
	name = "/" + strings.TrimPrefix(name, "/")
	return slices.Contains(all, name) || slices.Contains(all, strings.Replace(name, "/robot_", "/r", 1))
}

// others are services that answer otherwise here: nobody changes parameters, and
// what is listed is another robot's.
var others = []string{"set_param", "delete_param", "get_param", "has_param", "search_param", "service_type", "service_node", "service_host", "topic_type"}

func (r *rosReplay) hears(l *line) {
	r.t.Helper()
	switch l.object["op"] {
	case "service_response":
		service, id := l.object["service"].(string), l.object["id"]
		whole := "/" + strings.TrimPrefix(service, "/")
		if !knows(r.services, service) || slices.ContainsFunc(others, func(o string) bool { return strings.HasSuffix(service, o) }) {
			return
		}
		got := r.answerTo(l.Conn, id)
		r.compared++
		if got["service"] != service || got["result"] != l.object["result"] || shape(id) != shape(got["id"]) {
			r.t.Errorf("got %.300v, expected %.300v", got, l.object)
		}
		if l.object["result"] == true && !alike(got["values"], l.object["values"]) && whole != "/static_map" {
			r.t.Errorf("%s: the values are %.300s, expected %.300s", service, shape(got["values"]), shape(l.object["values"]))
		}
	case "publish":
		topic := l.object["topic"].(string)
		bare, _, _ := strings.Cut(topic, "?")
		if r.told[topic] || !knows(r.topics, bare) || !strings.HasPrefix(topic, "/") || bare == "/rosout" {
			return
		}
		r.told[topic] = true
		got := r.programs[l.Conn].hearsText(`"op":"publish"`, fmt.Sprintf(`"topic":%q`, topic))
		r.compared++
		if !alike(got["msg"], l.object["msg"]) {
			r.t.Errorf("%s: %.400s, expected %.400s", topic, shape(got["msg"]), shape(l.object["msg"]))
		}
	}
}

// answerTo returns the answer to a call of a program. The real servers answer in
// another order.
func (r *rosReplay) answerTo(conn int, id any) map[string]any {
	r.t.Helper()
	key := fmt.Sprint(conn, " ", id)
	if r.answers[key] == nil {
		whole := ""
		r.programs[conn].hears("the answer to "+key, func(binary bool, text []byte) bool {
			var m map[string]any
			if binary || json.Unmarshal(text, &m) != nil {
				return false
			}
			if m["op"] == "fragment" {
				whole += m["data"].(string)
				if m["num"] != m["total"].(float64)-1 {
					return false
				}
				m = nil
				_ = json.Unmarshal([]byte(whole), &m)
				whole = ""
			}
			if m["op"] == "service_response" {
				r.answers[fmt.Sprint(conn, " ", m["id"])] = m
			}
			return r.answers[key] != nil
		})
	}
	answer := r.answers[key]
	delete(r.answers, key)
	return answer
}

// TestFoxgloveCaptures: what real programs say in Foxglove's protocol is taken, and
// what they subscribe to comes.
func TestFoxgloveCaptures(t *testing.T) {
	for _, name := range []string{"foxglove-bridge", "foxglove-lichtblick", "foxglove-lichtblick-json"} {
		t.Run(name, func(t *testing.T) {
			lines := capture(t, name)
			t.Parallel()
			b := simulated(t, nil, "r0")
			theirs := map[string]string{} // topics by number there
			programs := map[int]*viewer{}
			compared := 0
			for i := range lines {
				l := &lines[i]
				v := programs[l.Conn]
				switch {
				case l.Kind == "open" && l.Dir == "c2s":
					v = watching(t, b, "/foxglove", nil)
					v.advertised("/odom")
					programs[l.Conn] = v
				case l.Dir == "s2c" && l.object["op"] == "advertise":
					for _, ch := range l.object["channels"].([]any) {
						theirs[fmt.Sprint(at(ch, "id"))] = strings.TrimPrefix(at(ch, "topic").(string), "/robot_0")
					}
				case l.Dir == "c2s" && l.object["op"] == "subscribe":
					subs, _ := l.object["subscriptions"].([]any)
					for _, sub := range subs {
						topic := theirs[fmt.Sprint(at(sub, "channelId"))]
						ch := v.channels[topic]
						if ch == nil {
							continue
						}
						id := int(at(sub, "id").(float64))
						v.say(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":%d,"channelId":%v}]}`, id, ch["id"]))
						if v.twice(id, topic) {
							continue
						}
						if _, err := ros.Lookup(ch["schemaName"].(string)).FromROS1(v.data(id)); err != nil {
							t.Errorf("%s: %v", topic, err)
						}
						compared++
					}
				case l.Dir == "c2s" && l.Kind == "text":
					v.say(l.Data)
				case l.Dir == "c2s" && l.Kind == "binary":
					b, err := base64.StdEncoding.DecodeString(l.Base64)
					if err != nil {
						t.Fatal(err)
					}
					if len(b) == 0 || b[0] == 1 {
						v.send(b)
					}
				case l.Dir == "s2c" && l.object["op"] == "parameterValues" && l.object["id"] == "get-all-params":
					if got := v.hearsText(`"parameterValues"`); got["id"] != "get-all-params" {
						t.Errorf("got %v", got)
					}
					compared++
				}
			}
			if compared == 0 {
				t.Error("nothing was compared")
			}
		})
	}
}

// twice reports whether a topic is subscribed to already: then a status says so.
func (v *viewer) twice(id int, topic string) bool {
	before, there := v.taken[topic]
	v.taken[topic] = id
	return there && before != id
}
