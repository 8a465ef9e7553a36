package rosbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/rosgraph"
	"callboard/player"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// at 10 Hz has a stream take numbered messages of a source at 10 Hz, and returns
// those that are sent, and when (ms).
func at10Hz(s *stream, n int) (sent []int, times []int64) {
	start := time.Unix(1000, 0)
	var due time.Time // when what waits is to go
	tick := func(now time.Time) {
		for !due.IsZero() && !now.Before(due) {
			q, ok, wait := s.due(due)
			if ok {
				sent, times = append(sent, int(q.body[0])), append(times, due.Sub(start).Milliseconds())
			}
			if wait == 0 {
				due = time.Time{}
				return
			}
			due = due.Add(wait)
		}
	}
	for i := range n {
		now := start.Add(time.Duration(i) * 100 * time.Millisecond)
		tick(now)
		send, wait := s.take(queued{body: []byte{byte(i)}}, now)
		if send {
			sent, times = append(sent, i), append(times, now.Sub(start).Milliseconds())
		}
		if wait > 0 {
			due = now.Add(wait)
		}
	}
	return sent, times
}

// TestThrottle: as the real server does it: without queue what comes too early is
// dropped, with one the oldest of the newest goes in time.
func TestThrottle(t *testing.T) {
	for _, tt := range []struct {
		throttle time.Duration
		queue    int
		want     []int
	}{
		{400 * time.Millisecond, 0, []int{0, 4, 8, 12}},
		{300 * time.Millisecond, 3, []int{0, 1, 4, 7, 10}}, // in the capture 27 28 30 34 37 40
		{300 * time.Millisecond, 1, []int{0, 3, 6, 9, 12}},
		{50 * time.Millisecond, 0, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
	} {
		s := &stream{settings: settings{throttle: tt.throttle, queue: tt.queue}, held: new(int)}
		got, times := at10Hz(s, 13)
		if tt.queue == 3 { // late by up to three periods, but each later than the one before, by the period
			if len(got) < 4 || got[0] != 0 {
				t.Errorf("%+v: %v", tt, got)
			}
			for i := 1; i < len(got); i++ {
				if got[i] <= got[i-1] || times[i]-times[i-1] < 300 || times[i]-int64(got[i])*100 > 900 {
					t.Errorf("%+v: %v at %v", tt, got, times)
				}
			}
			continue
		}
		if tt.queue == 1 {
			for i := 1; i < len(got); i++ {
				if times[i]-times[i-1] < 300 || times[i]-int64(got[i])*100 > 300 {
					t.Errorf("%+v: %v at %v", tt, got, times)
				}
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt, diff)
		}
	}
}

// TestMerge: of several subscriptions of a topic the least throttle, queue and
// fragment count, and the strongest compression; without one of them, the rest's.
func TestMerge(t *testing.T) {
	s := &stream{held: new(int), subs: map[string]*subscription{
		"a": {settings: settings{throttle: 500, compression: png, fragment: 0, queue: 5}},
		"b": {settings: settings{throttle: 250, compression: cbor, fragment: 300, queue: 2}},
	}}
	s.settle()
	if want := (settings{throttle: 250, queue: 2, fragment: 300, compression: cbor}); s.settings != want {
		t.Errorf("got %+v, expected %+v", s.settings, want)
	}
	delete(s.subs, "b")
	s.settle()
	if want := (settings{throttle: 500, queue: 5, compression: png}); s.settings != want {
		t.Errorf("got %+v, expected %+v", s.settings, want)
	}
}

// TestHeld: however many messages may wait, they take no more than their share of
// memory, and the newest waits.
func TestHeld(t *testing.T) {
	s, now := &stream{settings: settings{throttle: time.Hour, queue: maxQueue}, held: new(int)}, time.Unix(1000, 0)
	for i := range 100 {
		s.take(queued{body: make([]byte, 100_000+i)}, now)
	}
	if newest := s.queued[len(s.queued)-1]; *s.held > maxHeld || len(newest.body) != 100_099 {
		t.Errorf("%d bytes wait, the newest has %d", *s.held, len(newest.body))
	}
	for len(s.queued) > 0 {
		s.due(now)
	}
	if *s.held != 0 {
		t.Errorf("%d bytes are counted, and none wait", *s.held)
	}
}

// TestBounds: what a client calls its things is bounded.
func TestBounds(t *testing.T) {
	n := &nobody{grant: attach.Grant{Subscribe: true, Command: true}}
	s := New(rosgraph.New(rosgraph.Config{Broker: robots{}}), 100_000).Attach(t.Context(), n, "")
	say := func(format string, args ...any) string {
		t.Helper()
		n.sent = nil
		if err := s.Receive(t.Context(), false, fmt.Appendf(nil, format, args...)); err != nil {
			t.Fatal(err)
		}
		for _, m := range n.sent {
			if m, ok := m.(*said); ok {
				return string(m.text)
			}
		}
		return ""
	}
	long := strings.Repeat("x", 400)
	for what, format := range map[string]string{
		"subscriptions":  `{"op":"subscribe","id":"%s%d","topic":"/a/%[2]d","type":"std_msgs/String"}`,
		"advertisements": `{"op":"advertise","id":"%s%d","topic":"/a","type":"std_msgs/String"}`,
		"goals":          `{"op":"publish","topic":"/tf2_web_republisher/goal","msg":{"goal_id":{"id":"%s%d"}}}`,
	} {
		refused := 0
		for i := range 3000 {
			if answer := say(format, long, i); answer != "" {
				refused++
			}
		}
		if refused == 0 || refused == 3000 {
			t.Errorf("%d of 3000 %s were refused", refused, what)
		}
	}
	for _, format := range []string{
		`{"op":"subscribe","id":"%s","topic":"/odom"}`, `{"op":"advertise","id":"%s","topic":"/b","type":"std_msgs/String"}`,
		`{"op":"publish","topic":"/tf2_web_republisher/goal","msg":{"goal":{"target_frame":"%s"}}}`, `{"op":"subscribe","topic":"/%s%[1]s%[1]s%[1]s%[1]s"}`,
	} {
		if answer := say(format, strings.Repeat("y", 1000)); !strings.Contains(answer, "expected") {
			t.Errorf("%s: %q", format, answer)
		}
	}
	if answer := say(`{"op":"unsubscribe","topic":"/a/1"}`); answer != "" {
		t.Errorf("got %s", answer)
	}
	if answer := say(`{"op":"subscribe","id":"again","topic":"/a/1","type":"std_msgs/String"}`); answer != "" {
		t.Errorf("after one went there is no room: %s", answer)
	}
	s.End()
}

func TestFragments(t *testing.T) {
	now := time.Unix(1000, 0)
	text := strings.Repeat("héllo wörld ", 50)
	var f fragments
	var parts []struct {
		ID         string
		Data       string
		Num, Total int
	}
	split([]byte(text), 130, "x", func(b []byte) {
		var p struct {
			ID         string
			Data       string
			Num, Total int
		}
		if err := json.Unmarshal(b, &p); err != nil || len([]rune(p.Data)) > 130 {
			t.Fatalf("%s: %v", b, err)
		}
		parts = append(parts, p)
	})
	for i := len(parts) - 1; i >= 0; i-- {
		whole, err := f.add(parts[i].ID, parts[i].Num, parts[i].Total, parts[i].Data, now)
		if err != nil || (whole != nil) != (i == 0) || whole != nil && string(whole) != text {
			t.Fatalf("fragment %d: %q %v", i, whole, err)
		}
	}
	if len(f.sets) != 0 {
		t.Errorf("%d sets are left", len(f.sets))
	}
	for _, bad := range [][2]int{{0, 0}, {-1, 2}, {2, 2}, {0, maxFragments + 1}} {
		if _, err := f.add("bad", bad[0], bad[1], "x", now); err == nil {
			t.Errorf("fragment %d of %d was taken", bad[0], bad[1])
		}
	}
	for i := range maxFragmentSets {
		if _, err := f.add(string(rune('a'+i)), 0, 2, "x", now); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.add("one more", 0, 2, "x", now); err == nil {
		t.Error("too many sets are taken")
	}
	if _, err := f.add("later", 0, 2, "x", now.Add(fragmentTime+time.Second)); err != nil || len(f.sets) != 1 {
		t.Errorf("old sets stay: %d, %v", len(f.sets), err)
	}
	if _, err := f.add("later", 1, 2, strings.Repeat("x", protocol.MaxMessage+1), now.Add(fragmentTime+time.Second)); err == nil {
		t.Error("a message too large was taken")
	}
}

func TestPlacements(t *testing.T) {
	a := placed(player.Pose{X: 1, Y: 2, Yaw: math.Pi / 2})
	b := placed(player.Pose{X: 3, Z: 1, Roll: 0.3, Yaw: 0.2})
	if got := a.then(placement{translation: [3]float64{1}, rotation: [4]float64{3: 1}}).translation; math.Hypot(got[0]-1, got[1]-3) > 1e-9 {
		t.Errorf("1 m ahead is %v", got)
	}
	back := b.inverse().then(b)
	if back.distance(placement{}) > 1e-9 || back.angle(placement{rotation: [4]float64{3: 1}}) > 1e-6 {
		t.Errorf("there and back is %+v", back)
	}
	if angle := a.angle(placed(player.Pose{Yaw: math.Pi/2 + 0.1})); math.Abs(angle-0.1) > 1e-9 {
		t.Errorf("the angle is %v", angle)
	}
}

// nobody is a connection whose broker takes everything.
type nobody struct {
	grant attach.Grant
	sent  []any
}

func (n *nobody) Hello(context.Context, protocol.Hello)                          {}
func (n *nobody) Known() bool                                                    { return true }
func (n *nobody) Grant() attach.Grant                                            { return n.grant }
func (n *nobody) Subscribe(context.Context, protocol.Subscribe) error            { return nil }
func (n *nobody) Update(context.Context, protocol.Update) error                  { return nil }
func (n *nobody) Unsubscribe(context.Context, protocol.Unsubscribe) error        { return nil }
func (n *nobody) Ack(context.Context, protocol.Ack) error                        { return nil }
func (n *nobody) Command(context.Context, protocol.Command, attach.Answer) error { return nil }
func (n *nobody) List(context.Context, protocol.List, attach.Answer) error       { return nil }
func (n *nobody) Task(context.Context, any) error                                { return nil }
func (n *nobody) Send(m any)                                                     { n.sent = append(n.sent, m) }
func (n *nobody) Close(protocol.Code, string)                                    {}
func (n *nobody) Connect(attach.Outbox, string) uint64                           { return 1 }

// robots is a broker with one robot.
type robots struct{ attach.Broker }

func (robots) List(context.Context, string, attach.Grant) (any, error) {
	return json.RawMessage(`[{"robot":"r0","state":"up","world":"w","devices":[{"interface":"laser","index":0},{"interface":"position2d","index":0},{"interface":"power","index":0}]}]`), nil
}

func (robots) Command(context.Context, attach.Grant, protocol.Command) (any, error) {
	return map[string]float64{"x": 1, "y": 2, "yaw": 3}, nil
}

// page takes what is written.
type page struct{ b []byte }

func (p *page) Begin(bool) []byte              { return nil }
func (p *page) End(b []byte)                   { p.b = b }
func (p *page) EndWith(b, shared, tail []byte) { p.b = append(append(b, shared...), tail...) }

// FuzzReceive: whatever a client sends, several messages one after the other,
// nothing panics, and what is answered is JSON.
func FuzzReceive(f *testing.F) {
	for _, text := range []string{
		`{"op":"subscribe","id":"a","topic":"/base_scan","throttle_rate":100,"queue_length":2,"compression":"cbor"}` + "\n" + `{"op":"unsubscribe","topic":"/base_scan"}`,
		`{"op":"advertise","topic":"/cmd_vel","type":"geometry_msgs/Twist"}` + "\n" + `{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":1}}}` + "\n" + `{"op":"unadvertise","topic":"/cmd_vel"}`,
		`{"op":"call_service","id":1,"service":"rosapi/topics_and_raw_types","fragment_size":1}`,
		`{"op":"call_service","service":"/rosapi/message_details","args":["sensor_msgs/LaserScan"]}`,
		`{"op":"fragment","id":"x","num":0,"total":1,"data":"{\"op\":\"fragment\"}"}`,
		`{"op":"subscribe","topic":"/callboard/condition/a?condition=true&for=1s","robots":["*"]}`,
		`{"op":"publish","topic":"/tf2_web_republisher/goal","msg":{"goal_id":{"id":"g"},"goal":{"source_frames":["a"],"target_frame":"b"}}}`,
		`{"op":"subscribe","topic":"/map","compression":"png","fragment_size":200}`,
		`{"op":"auth","mac":"x"}`, `5`, `{"op":null}`,
	} {
		f.Add([]byte(text))
	}
	graph := rosgraph.New(rosgraph.Config{Broker: robots{}})
	dialect := New(graph, 100)
	f.Fuzz(func(t *testing.T, script []byte) {
		n := &nobody{grant: attach.Grant{Subscribe: true, Command: true}}
		s := dialect.Attach(t.Context(), n, "")
		for text := range bytes.SplitSeq(script, []byte("\n")) {
			if err := s.Receive(t.Context(), false, text); err != nil {
				t.Fatal(err)
			}
		}
		var p page
		s.Notify(&p, &protocol.Notify{Robot: "r0", Interface: "power", Subscriptions: []protocol.Matched{{ID: "s1"}, {ID: republishing}}})
		for _, m := range n.sent {
			p.b = nil
			s.Send(&p, m)
			if _, text := m.(*said); text && !json.Valid(p.b) {
				t.Errorf("%q", p.b)
			}
		}
		s.End()
	})
}

// TestEvents: what becomes of robots, and what is lost, is told on the topics that
// are for that; a loss as a status too, with the number.
func TestEvents(t *testing.T) {
	n := &nobody{grant: attach.Grant{Subscribe: true}}
	s := New(rosgraph.New(rosgraph.Config{Broker: robots{}}), 100).Attach(t.Context(), n, "")
	for _, topic := range []string{"/rosout", "/callboard/status"} {
		if err := s.Receive(t.Context(), false, []byte(`{"op":"subscribe","topic":"`+topic+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	to := uint64(9)
	for _, tt := range []struct {
		m    any
		want []string
	}{
		{&protocol.Robot{Robot: "r0", State: protocol.RobotAway}, []string{`"msg":"robot r0 is away"`, `\"state\":\"away\"`}},
		{&protocol.Gap{Source: "b1", From: 5, To: &to, Why: "too slow"}, []string{`"op":"status","level":"error","msg":"5 readings were dropped: too slow"`, `"msg":"5 readings were dropped: too slow"`, `\"from\":5`}},
	} {
		var p book
		s.Send(&p, tt.m)
		slices.Sort(p.all)
		for _, want := range tt.want {
			if !slices.ContainsFunc(p.all, func(text string) bool { return strings.Contains(text, want) }) {
				t.Errorf("%q, expected %s", p.all, want)
			}
		}
		if len(p.all) != len(tt.want) {
			t.Errorf("%q, expected %d messages", p.all, len(tt.want))
		}
	}
	s.End()
}

// book keeps all that is written.
type book struct{ all []string }

func (b *book) Begin(bool) []byte { return nil }
func (b *book) End(text []byte)   { b.all = append(b.all, string(text)) }
func (b *book) EndWith(text, shared, tail []byte) {
	b.End(append(append(text, shared...), tail...))
}
