package foxglove

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"callboard/bridge/attach"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

func TestChoose(t *testing.T) {
	d := New(rosgraph.New(rosgraph.Config{Broker: robots{}}), "x", 10)
	for _, tt := range []struct {
		offered []string
		want    string
		ok      bool
	}{
		{[]string{"foxglove.websocket.v1", "foxglove.sdk.v1"}, "foxglove.sdk.v1", true},
		{[]string{"foxglove.websocket.v1"}, "foxglove.websocket.v1", true},
		{[]string{"callboard.v1"}, "", false},
		{nil, "", false},
	} {
		if got, ok := d.Choose(tt.offered); got != tt.want || ok != tt.ok {
			t.Errorf("%v: %q %v, expected %q %v", tt.offered, got, ok, tt.want, tt.ok)
		}
	}
	if a, b := d.id("channel /a"), d.id("channel /b"); a == b || d.id("channel /a") != a || d.id("") == d.id("") {
		t.Error("a channel's id is not its own for good")
	}
}

// nobody is a connection whose broker takes everything.
type nobody struct{ sent []any }

func (n *nobody) Hello(context.Context, protocol.Hello) {}
func (n *nobody) Known() bool                           { return true }
func (n *nobody) Grant() attach.Grant                   { return attach.Grant{Subscribe: true, Command: true} }
func (n *nobody) Subscribe(_ context.Context, m protocol.Subscribe) error {
	n.Send(&protocol.Subscribed{ID: m.ID, Robots: 1})
	return nil
}
func (n *nobody) Update(context.Context, protocol.Update) error           { return nil }
func (n *nobody) Unsubscribe(context.Context, protocol.Unsubscribe) error { return nil }
func (n *nobody) Ack(context.Context, protocol.Ack) error                 { return nil }
func (n *nobody) Command(_ context.Context, _ protocol.Command, answer attach.Answer) error {
	answer(nil, nil)
	return nil
}
func (n *nobody) List(context.Context, protocol.List, attach.Answer) error { return nil }
func (n *nobody) Task(context.Context, any) error                          { return nil }
func (n *nobody) Send(m any)                                               { n.sent = append(n.sent, m) }
func (n *nobody) Close(protocol.Code, string)                              {}

// robots is a broker with one robot.
type robots struct{ attach.Broker }

func (robots) List(context.Context, string, attach.Grant) (any, error) {
	return json.RawMessage(`[{"robot":"r0","state":"up","devices":[{"interface":"laser","index":0},{"interface":"position2d","index":0}]}]`), nil
}

func (robots) Command(context.Context, attach.Grant, protocol.Command) (any, error) {
	return map[string]float64{"x": 1, "y": 2, "yaw": 3}, nil
}

// page takes what is written.
type page struct {
	b      []byte
	binary bool
}

func (p *page) Begin(binary bool) []byte {
	p.binary = binary
	return nil
}
func (p *page) End(b []byte)                   { p.b = b }
func (p *page) EndWith(b, shared, tail []byte) { p.b = append(append(b, shared...), tail...) }

// FuzzReceive: whatever a client sends, several messages one after the other,
// nothing panics, what is answered as text is JSON, and calls end.
func FuzzReceive(f *testing.F) {
	for _, text := range []string{
		"{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":0,\"channelId\":1},{\"id\":0,\"channelId\":2}]}\n{\"op\":\"unsubscribe\",\"subscriptionIds\":[0]}",
		"{\"op\":\"advertise\",\"channels\":[{\"id\":1,\"topic\":\"/cmd_vel\",\"encoding\":\"json\",\"schemaName\":\"geometry_msgs/Twist\"}]}\n\x01\x01\x00\x00\x00{}\n{\"op\":\"unadvertise\",\"channelIds\":[1]}",
		"{\"op\":\"subscribeConnectionGraph\"}\n{\"op\":\"getParameters\",\"parameterNames\":[]}\n{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[]}",
		"\x02\x09\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00json{\"id\":\"a\",\"condition\":\"true\"}",
		"\x02\x08\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00ros1\x01", "\x01", "{", "",
	} {
		f.Add([]byte(text))
	}
	dialect := New(rosgraph.New(rosgraph.Config{Broker: robots{}}), "x", 100)
	f.Fuzz(func(t *testing.T, script []byte) {
		n := &nobody{}
		s := dialect.Attach(t.Context(), n, "")
		var p page
		flush := func() {
			for len(n.sent) > 0 {
				m := n.sent[0]
				n.sent = n.sent[1:]
				p.b = nil
				s.Send(&p, m)
				if p.b != nil && !p.binary && !json.Valid(p.b) {
					t.Errorf("%q", p.b)
				}
			}
		}
		flush()
		for text := range bytes.SplitSeq(script, []byte("\n")) {
			if err := s.Receive(t.Context(), len(text) > 0 && text[0] < ' ', text); err != nil {
				t.Fatal(err)
			}
			flush()
		}
		s.Notify(&p, &protocol.Notify{Robot: "r0", Interface: "laser", Subscriptions: []protocol.Matched{{ID: "s1"}, {ID: "s2"}}})
		if calls := s.(*client).calls; calls != 0 {
			t.Errorf("%d calls are under way", calls)
		}
		s.End()
	})
}
