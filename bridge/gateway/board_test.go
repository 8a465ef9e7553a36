package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge/attach"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// asked is a broker that notes what it is asked, and takes every condition but
// "wrong".
type asked struct {
	attach.Broker
	mu    sync.Mutex
	out   attach.Outbox
	calls chan string
}

func (a *asked) Connect(out attach.Outbox, _ string) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.out = out
	return 7
}

func (a *asked) outbox() attach.Outbox {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out
}

func (a *asked) note(what string, v any) {
	text, _ := json.Marshal(v)
	a.calls <- what + " " + string(text)
}

func (a *asked) Hello(_ context.Context, _ uint64, _ protocol.Hello, g attach.Grant) error {
	a.note("hello", g)
	return nil
}

func (a *asked) Subscribe(_ context.Context, _ uint64, m protocol.Subscribe) error {
	a.note("subscribe", m.Subscription)
	switch m.Condition {
	case "wrong":
		return &protocol.Problem{Code: protocol.BadCondition, Message: "no"}
	case "late":
		a.outbox().Send(&protocol.Error{ID: m.ID, Code: protocol.TooCostly, Message: "no"})
	default:
		a.outbox().Send(&protocol.Subscribed{ID: m.ID})
	}
	return nil
}

func (a *asked) Unsubscribe(_ context.Context, _ uint64, m protocol.Unsubscribe) error {
	a.note("unsubscribe", m.ID)
	return nil
}

func (a *asked) Ack(_ context.Context, _ uint64, m protocol.Ack) error {
	a.note("ack", m)
	return nil
}

func (a *asked) Disconnect(uint64, attach.Ending) { a.note("disconnect", nil) }

func (a *asked) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-a.calls:
		if got != want {
			t.Fatalf("the broker was told\n%s, expected\n%s", got, want)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("the broker was not told %s", want)
	}
}

// talk is a program's connection.
type talk struct {
	t  *testing.T
	nc net.Conn
}

func (p *talk) send(raw []byte) {
	p.t.Helper()
	if _, err := p.nc.Write(raw); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next message as it is on the wire.
func (p *talk) read() []byte {
	p.t.Helper()
	_ = p.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	head := make([]byte, player.HeaderSize)
	read := func(b []byte) {
		for n := 0; n < len(b); {
			m, err := p.nc.Read(b[n:])
			if err != nil {
				p.t.Fatal(err)
			}
			n += m
		}
	}
	read(head)
	h, err := player.ParseHeader(head)
	if err != nil {
		p.t.Fatal(err)
	}
	body := make([]byte, h.Size)
	read(body)
	return append(head, body...)
}

func startBoard(t *testing.T) (*asked, func() *talk) {
	t.Helper()
	broker := &asked{calls: make(chan string, 100)}
	g, err := New(Config{Listen: "127.0.0.1:0", Broker: broker, Players: []Player{{Address: "x", Robots: []Robot{{Name: "r0"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return broker, func() *talk {
		nc, err := net.Dial("tcp", g.Ports()[0].Address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		p := &talk{t, nc}
		banner := make([]byte, player.BannerSize)
		for n := 0; n < len(banner); {
			m, err := nc.Read(banner[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += m
		}
		return p
	}
}

// golden returns the messages of the real libplayerc and server of a subtype.
func golden(t *testing.T, c *playertest.Capture, client bool, typ player.Type, subtype uint8) [][]byte {
	t.Helper()
	raw := c.S2C[player.BannerSize:]
	if client {
		raw = c.C2S
	}
	all, err := player.SplitMessages(raw)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, m := range all {
		if m.Interf == player.InterfaceBlackboard && m.Type == typ && m.Subtype == subtype {
			out = append(out, append(m.Header.Append(nil), m.Body...))
		}
	}
	return out
}

// with returns a message with another entry.
func with(t *testing.T, raw []byte, e *iface.BlackboardEntry) []byte {
	t.Helper()
	h, err := player.ParseHeader(raw)
	if err != nil {
		t.Fatal(err)
	}
	out, err := iface.AppendMessage(nil, h, e)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func openBoard(p *talk) {
	p.t.Helper()
	open, err := iface.AppendMessage(nil, player.Header{Addr: player.Addr{Interf: player.InterfacePlayer}, Type: player.Request, Subtype: player.PlayerDev},
		&iface.DeviceReq{Addr: boardAddr, Access: player.AccessOpen})
	if err != nil {
		p.t.Fatal(err)
	}
	p.send(open)
	p.read()
}

// TestConditionOfAProgram: what the real libplayerc sends, but for group and key,
// subscribes to a condition, and what it gets is what the real server sends, but
// for what the entry says.
func TestConditionOfAProgram(t *testing.T) {
	capture, err := playertest.Load("../../testdata/captures", "h_blackboard")
	if err != nil {
		t.Fatal(err)
	}
	broker, attachProgram := startBoard(t)
	p := attachProgram()
	openBoard(p)
	const condition = "laser.min < 1 and prev.position.x > 0"
	request := golden(t, capture, true, player.Request, iface.ReqBlackboardSubscribeToKey)[0]
	p.send(with(t, request, &iface.BlackboardEntry{Key: condition + "\x00", Group: "callboard\x00"}))
	broker.expect(t, `hello {"Token":"","Robots":null,"Subscribe":true,"Command":false,"Queues":null,"Serve":false,"Request":false}`)
	broker.expect(t, `subscribe {"id":"k1","condition":"laser.min \u003c 1 and prev.position.x \u003e 0","robots":["r0"],"trigger":"rising","select":{"laser.min":"laser.min","prev.position.x":"prev.position.x"}}`)
	entry := iface.BlackboardEntry{Key: condition + "\x00", Group: "callboard\x00", Type: 2, Subtype: 1, Data: []byte{0}}
	same := func(got, like []byte, e *iface.BlackboardEntry) {
		t.Helper()
		want := with(t, like, e)
		for _, b := range [][]byte{got, want} { // whose it is, when, and which number
			clear(b[0:8])
			clear(b[24:36])
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got\n%x, expected\n%x", got, want)
		}
	}
	same(p.read(), golden(t, capture, false, player.Ack, iface.ReqBlackboardSubscribeToKey)[0], &entry)

	broker.outbox().Notify(protocol.Notify{Source: "b1", Seq: 5, Robot: "r0", Time: 12.25, Subscriptions: []protocol.Matched{{ID: "k1", Values: json.RawMessage(`{"laser.min":0.5}`)}}}, time.Time{})
	entry.Data = []byte(`{"robot":"r0","time":12.25,"values":{"laser.min":0.5}}` + "\x00")
	entry.TimestampSec, entry.TimestampUsec = 12, 250_000
	update := p.read()
	if h, _ := player.ParseHeader(update); h.Timestamp != 12.25 {
		t.Errorf("the update is of %v", h.Timestamp)
	}
	same(update, golden(t, capture, false, player.Data, iface.DataBlackboardUpdate)[0], &entry)
	broker.expect(t, `ack {"op":"ack","source":"b1","num":5}`)

	p.send(with(t, golden(t, capture, true, player.Request, iface.ReqBlackboardGetEntry)[0], &iface.BlackboardEntry{Key: condition + "\x00", Group: "callboard\x00"}))
	same(p.read(), golden(t, capture, false, player.Ack, iface.ReqBlackboardGetEntry)[0], &entry)
	p.send(with(t, golden(t, capture, true, player.Request, iface.ReqBlackboardUnsubscribeFromKey)[0], &iface.BlackboardEntry{Key: condition + "\x00", Group: "callboard\x00"}))
	if h, _ := player.ParseHeader(p.read()); h.Type != player.Ack {
		t.Errorf("got %s", h)
	}
	broker.expect(t, `unsubscribe "k1"`)
}

// TestProgramsConditionsAreTheirOwn: an update goes to who has asked for it; what a
// program wanted is forgotten when it goes; what is wrong is refused.
func TestProgramsConditionsAreTheirOwn(t *testing.T) {
	broker, attachProgram := startBoard(t)
	a, b := attachProgram(), attachProgram()
	ask := func(p *talk, subtype uint8, group, key string) player.Type {
		t.Helper()
		raw, err := iface.AppendMessage(nil, player.Header{Addr: boardAddr, Type: player.Request, Subtype: subtype}, &iface.BlackboardEntry{Key: key + "\x00", Group: group + "\x00"})
		if err != nil {
			t.Fatal(err)
		}
		p.send(raw)
		h, err := player.ParseHeader(p.read())
		if err != nil || h.Subtype != subtype {
			t.Fatalf("%s %v", h, err)
		}
		return h.Type
	}
	openBoard(a)
	openBoard(b)
	for _, tt := range []struct {
		p          *talk
		subtype    uint8
		group, key string
		want       player.Type
	}{
		{a, iface.ReqBlackboardSubscribeToKey, "callboard", "true", player.Ack},
		{a, iface.ReqBlackboardSubscribeToKey, "callboard", "true", player.Ack}, // again
		{b, iface.ReqBlackboardSubscribeToKey, "callboard", "false", player.Ack},
		{b, iface.ReqBlackboardSubscribeToKey, "callboard", "wrong", player.Nack},
		{b, iface.ReqBlackboardSubscribeToKey, "callboard", "late", player.Nack},
		{b, iface.ReqBlackboardSubscribeToKey, "other", "true", player.Nack},
		{b, iface.ReqBlackboardSetEntry, "callboard", "true", player.Nack},
		{b, iface.ReqBlackboardGetEntry, "callboard", "true", player.Ack}, // it is a's
	} {
		if got := ask(tt.p, tt.subtype, tt.group, tt.key); got != tt.want {
			t.Errorf("%d %s %s: %s, expected %s", tt.subtype, tt.group, tt.key, got, tt.want)
		}
	}
	for _, want := range []string{"hello", "subscribe", "subscribe", "subscribe", "subscribe"} {
		if got := <-broker.calls; !strings.HasPrefix(got, want) {
			t.Fatalf("the broker was told %s, expected %s", got, want)
		}
	}
	for i, id := range []string{"k1", "k2"} {
		broker.outbox().NotifySoon(protocol.Notify{Source: "b1", Seq: uint64(i + 1), Robot: "r0", Subscriptions: []protocol.Matched{{ID: id}}, Reading: json.RawMessage(`{}`)}, time.Time{})
	}
	for want, p := range map[string]*talk{"true": a, "false": b} {
		var e iface.BlackboardEntry
		if err := iface.Decode(p.read()[player.HeaderSize:], &e); err != nil || iface.GoString(e.Key) != want {
			t.Errorf("got %q (%v), expected %q", e.Key, err, want)
		}
	}
	a.nc.Close()
	for got := ""; got != `unsubscribe "k1"`; {
		select {
		case got = <-broker.calls:
		case <-time.After(20 * time.Second):
			t.Fatal("a's condition is not forgotten")
		}
	}
	broker.outbox().Close(protocol.Overloaded, "too slow") // what b wants is asked for again
	var got []string
	for len(got) < 3 {
		select {
		case call := <-broker.calls:
			word, _, _ := strings.Cut(call, " ")
			if word != "ack" {
				got = append(got, word)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("told %v", got)
		}
	}
	if !slices.Equal(got, []string{"disconnect", "hello", "subscribe"}) {
		t.Errorf("told %v", got)
	}
}

func TestNamedIn(t *testing.T) {
	for condition, want := range map[string]map[string]string{
		"laser.min < 1 and position.x > prev.position.x": {"laser.min": "laser.min", "position.x": "position.x", "prev.position.x": "prev.position.x"},
		"laser.ranges[0] < 1":                            nil,
		"distance(1, 2) < 3":                             nil,
		"laser.none < 1":                                 nil,
	} {
		if diff := cmp.Diff(want, namedIn(condition)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", condition, diff)
		}
	}
}
