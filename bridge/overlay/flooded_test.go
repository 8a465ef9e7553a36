package overlay

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"callboard/subscribe/protocol"
)

// flooding is two neighbours with a registry at every broker. What one sends arrives
// at once.
type flooding struct {
	t       *testing.T
	now     Instant
	brokers map[BrokerID]*Broker
	session uint64
	heard   map[BrokerID][]Message // by each, in the last step
}

func (f *flooding) start(id BrokerID) {
	b, err := New(Config{ID: id, Mode: ModeEvery})
	if err != nil {
		f.t.Fatal(err)
	}
	f.brokers[id] = b
	f.step(id, &Start{})
}

func (f *flooding) step(id BrokerID, in Input) {
	b := f.brokers[id]
	b.Step(f.now, in)
	for _, out := range slices.Clone(b.Outputs()) {
		o, is := out.(*Frame)
		if !is {
			continue
		}
		for _, to := range o.To {
			f.heard[to.Neighbour] = append(f.heard[to.Neighbour], o.Messages...)
			f.step(to.Neighbour, &FrameReceived{Neighbour: id, Session: to.Session, Messages: o.Messages})
		}
	}
}

func (f *flooding) link() {
	f.session++
	for _, e := range [][2]BrokerID{{"b1", "b2"}, {"b2", "b1"}} { // the first one's frames come before the other is up
		f.brokers[e[0]].Step(f.now, &LinkUp{Neighbour: e[1], Session: f.session})
	}
	for _, e := range [][2]BrokerID{{"b1", "b2"}, {"b2", "b1"}} {
		for _, out := range slices.Clone(f.brokers[e[0]].Outputs()) {
			if o, is := out.(*Frame); is {
				f.step(e[1], &FrameReceived{Neighbour: e[0], Session: f.session, Messages: o.Messages})
			}
		}
	}
}

// TestClockSetBack: a broker whose clock was set back while it was down is heard.
func TestClockSetBack(t *testing.T) {
	f := &flooding{t: t, now: 1000 * Instant(Second), brokers: map[BrokerID]*Broker{}, heard: map[BrokerID][]Message{}}
	f.start("b1")
	f.start("b2")
	f.step("b1", &Advertise{Robot: "r1"})
	f.link()
	if at, _ := f.brokers["b2"].Reader("r1"); at != "b1" {
		t.Fatalf("r1 is %q's", at)
	}
	f.step("b2", &LinkDown{Neighbour: "b1", Session: f.session})
	f.now = 500 * Instant(Second)
	f.start("b1")
	f.step("b1", &Advertise{Robot: "r2"})
	f.link()
	if at, _ := f.brokers["b2"].Reader("r2"); at != "b1" {
		t.Errorf("r2 is %q's: b2 takes what b1 says for older than what it said before", at)
	}
	if at, _ := f.brokers["b2"].Reader("r1"); at != "" {
		t.Errorf("r1 is still %q's", at)
	}
}

// TestManyChangesTogether: what changes of many robots or clients within a quarter of
// a period goes in one message.
func TestManyChangesTogether(t *testing.T) {
	f := &flooding{t: t, now: 1000 * Instant(Second), brokers: map[BrokerID]*Broker{}, heard: map[BrokerID][]Message{}}
	f.start("b1")
	f.start("b2")
	f.link()
	for i := range 2 * fewClients {
		f.step("b1", &Hello{Conn: Conn(i + 1), Client: string(rune('a'+i%26)) + string(rune('a'+i/26))})
		f.step("b1", &Advertise{Robot: "r" + string(rune('a'+i%26)) + string(rune('a'+i/26))})
	}
	f.now = f.brokers["b1"].Deadline()
	f.step("b1", &Tick{})
	f.heard["b2"] = nil
	f.now++
	for i := range 10 {
		f.step("b1", &Hello{Conn: Conn(1000 + i), Client: "late" + string(rune('a'+i))})
		f.step("b1", &RobotState{Robot: "raa", State: []string{protocol.RobotUp, protocol.RobotAway}[i%2], Since: f.now})
	}
	if n := len(f.heard["b2"]); n > 0 {
		t.Errorf("%d messages at once", n)
	}
	due := f.brokers["b1"].Deadline()
	if wait := due - f.now; wait <= 0 || wait > Instant(Second)/4 {
		t.Fatalf("they are due in %d µs", wait)
	}
	f.now = due
	f.step("b1", &Tick{})
	bulletins, clients := 0, 0
	for _, m := range f.heard["b2"] {
		if m, is := m.(*BulletinMessage); is {
			bulletins++
			clients += len(m.Clients)
		}
	}
	if bulletins != 1 || clients != 10 {
		t.Errorf("%d bulletins of %d clients; expected one of 10", bulletins, clients)
	}
}

// TestBulletins: whatever bulletins say, in whatever order, what is known fits together,
// and of two brokers that have heard the same each has the same.
func TestBulletins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{ID: "b0", Mode: ModeEvery, Inbox: Limits{Keep: 20 * Second}}
		b, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		now := 1000 * Instant(Second)
		step := func(in Input) {
			b.Step(now, in)
			b.Outputs()
			check(t, b)
		}
		step(&Start{})
		neighbours := []BrokerID{"b1", "b2"}
		for _, id := range neighbours {
			step(&LinkUp{Neighbour: id, Session: 1})
		}
		names := rapid.SampledFrom([]string{"r1", "r2", "r3"})
		clients := rapid.SampledFrom([]string{"c", "lab\x00c", "lab\x00d", "lib\x00c"})
		conn := Conn(0)
		for range 40 {
			now += Instant(rapid.Int64Range(0, int64(3*Second)).Draw(t, "time"))
			switch rapid.SampledFrom([]string{"bulletin", "bulletin", "bulletin", "link", "advertise", "withdraw", "hello", "tick"}).Draw(t, "what") {
			case "bulletin":
				m := &BulletinMessage{
					Broker: rapid.SampledFrom([]BrokerID{"b0", "b1", "b2", "b3"}).Draw(t, "broker"), Stamp: 1,
					From: rapid.Uint64Range(0, 4).Draw(t, "from"), Version: rapid.Uint64Range(0, 6).Draw(t, "version"),
					StatesVersion: rapid.Uint64Range(0, 6).Draw(t, "states"), Age: Duration(rapid.Int64Range(-1, int64(30*Second)).Draw(t, "age")),
				}
				for _, name := range rapid.SliceOfN(names, 0, 2).Draw(t, "robots") {
					m.Robots = append(m.Robots, Advertisement{Robot: name, Claimed: Instant(rapid.Int64Range(0, 3).Draw(t, "claimed"))})
					m.States = append(m.States, Availability{Robot: name, Up: true, Changed: m.StatesVersion})
				}
				for _, client := range rapid.SliceOfN(clients, 0, 2).Draw(t, "clients") {
					m.Clients = append(m.Clients, ClientPlace{Client: client, Attachment: rapid.Uint64Range(0, 4).Draw(t, "attachment"), Began: now})
				}
				m.Withdrawn, m.Forgotten = rapid.SliceOfN(names, 0, 1).Draw(t, "withdrawn"), rapid.SliceOfN(names, 0, 1).Draw(t, "forgotten")
				m.Left = rapid.SliceOfN(clients, 0, 1).Draw(t, "left")
				step(&FrameReceived{Neighbour: rapid.SampledFrom(neighbours).Draw(t, "neighbour"), Session: 1, Messages: []Message{m}})
			case "link":
				step(&FrameReceived{Neighbour: "b1", Session: 1, Messages: []Message{&LinkState{
					Broker: rapid.SampledFrom([]BrokerID{"b1", "b2", "b3"}).Draw(t, "broker"), Number: uint64(now), Neighbours: []BrokerID{"b0", "b1", "b2", "b3"},
				}}})
			case "advertise":
				step(&Advertise{Robot: names.Draw(t, "robot")})
			case "withdraw":
				step(&Withdraw{Robot: names.Draw(t, "robot")})
			case "hello":
				owner, id := ClientOf(clients.Draw(t, "client"))
				conn++
				step(&Hello{Conn: conn, Client: id, Owner: owner, Subscriptions: []*Subscription{{Subscription: protocol.Subscription{ID: "a", Condition: "true"}}}})
			case "tick":
				step(&Tick{})
			}
		}
		// A newcomer is told all, and then knows as much.
		other, err := New(Config{ID: "b1", Mode: ModeEvery})
		if err != nil {
			t.Fatal(err)
		}
		other.Step(now, &Start{})
		other.Step(now, &LinkUp{Neighbour: "b0", Session: 2})
		step(&LinkDown{Neighbour: "b1", Session: 1})
		b.Step(now, &LinkUp{Neighbour: "b1", Session: 2})
		b.Step(now, &FrameReceived{Neighbour: "b1", Session: 2, Messages: []Message{&KnownMessage{All: true}}})
		for _, out := range b.Outputs() {
			if f, is := out.(*Frame); is && f.To[0].Neighbour == "b1" {
				other.Step(now, &FrameReceived{Neighbour: "b0", Session: 2, Messages: f.Messages})
			}
		}
		check(t, other)
		for _, name := range []string{"r1", "r2", "r3"} {
			here, _ := b.Reader(name)
			there, _ := other.Reader(name)
			if here != there && here != "b1" { // which the newcomer is itself
				t.Fatalf("%s is %q's here and %q's there", name, here, there)
			}
		}
	})
}
