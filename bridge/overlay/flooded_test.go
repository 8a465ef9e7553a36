package overlay

import (
	"slices"
	"testing"

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
