package overlay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/subscribe/protocol"
)

// ownedBroker is a broker with the robots r1 and x1, whose clients have tokens.
type ownedBroker struct {
	t       *testing.T
	b       *Broker
	now     Instant
	records []Record
	sent    []Output // since the last call of said
	reading int
}

func newOwned(t *testing.T, records []Record) *ownedBroker {
	o := &ownedBroker{t: t, b: newBroker(t, Config{ID: "b1"}), now: 10 * Instant(Second)}
	if records != nil {
		o.now += 10 * Instant(Second)
		o.step(&Restore{Records: records})
		o.records = slices.Clone(records)
	}
	o.step(&Start{})
	for _, robot := range []string{"r1", "x1"} {
		o.step(&Advertise{Robot: robot})
		o.step(&RobotState{Robot: robot, State: protocol.RobotUp, Since: o.now})
	}
	return o
}

func (o *ownedBroker) step(in Input) {
	o.now += 1000
	o.b.Step(o.now, in)
	for _, r := range o.b.Records() {
		o.records = append(o.records, keepRecord(r))
	}
	var installs []*Install
	for _, out := range slices.Clone(o.b.Outputs()) {
		if i, ok := out.(*Install); ok {
			installs = append(installs, i)
		}
		o.sent = append(o.sent, out)
	}
	for _, i := range installs {
		o.step(&Installed{Handle: i.Handle, Set: i.Set})
	}
}

// hello says hello for a client of a token that may see the robots.
func (o *ownedBroker) hello(conn Conn, owner, client, session string, nums map[string]uint64, robots ...string) {
	h := &Hello{Conn: conn, Client: client, Owner: owner, Session: session, Num: nums, Allowed: robots}
	if len(robots) > 0 {
		h.Subscriptions = []*Subscription{{Subscription: protocol.Subscription{ID: "a", Condition: "true"}, Allowed: robots}}
	}
	o.step(h)
}

// read has a reading of a robot match all sets that name it.
func (o *ownedBroker) read(robot string) {
	o.reading++
	m := &Matched{Reading: &Reading{Robot: robot, Interface: "laser", Time: float64(o.reading), JSON: []byte("{}")}}
	for _, e := range o.b.source.entries {
		m.Hits = append(m.Hits, Hit{Handle: e.handle, Set: e.set, Names: []protocol.Matched{{ID: "a"}}})
	}
	o.step(m)
}

// said returns what a connection was told since the last call, in short.
func (o *ownedBroker) said(conn Conn) (all []string) {
	for _, out := range o.sent {
		switch m := out.(type) {
		case *Notify:
			if m.Conn == conn {
				all = append(all, fmt.Sprintf("#%d %s skipped %d", m.Seq, m.Reading.Robot, m.Skipped))
			}
		case *Close:
			if m.Conn == conn {
				all = append(all, "closed "+string(m.Code))
			}
		case *Send:
			if m.Conn != conn {
				continue
			}
			switch m := m.Message.(type) {
			case *protocol.Error:
				all = append(all, "error "+string(m.Code))
			case *protocol.Robot:
				all = append(all, m.Robot+" "+m.State)
			case *protocol.Welcome:
				all = append(all, "welcome "+m.Client)
			case *protocol.Gap:
				all = append(all, "gap")
			}
		}
	}
	o.sent = nil
	return all
}

func (o *ownedBroker) expect(conn Conn, want ...string) {
	o.t.Helper()
	if diff := cmp.Diff(want, o.said(conn)); diff != "" {
		o.t.Errorf("connection %d (-want +got):\n%s", conn, diff)
	}
}

func (o *ownedBroker) session(conn Conn) string {
	info, _ := o.b.Client(conn)
	return info.Session
}

// A client id and its session are the token's that began them: another one's hello
// is forbidden whatever it knows, changes nothing, and tells nothing; after a
// restart too.
func TestAnotherTokensClientID(t *testing.T) {
	o := newOwned(t, nil)
	o.hello(1, "lab", "c", "", nil, "r*")
	o.expect(1, "welcome c")
	session, source := o.session(1), o.b.Source()
	o.read("r1")
	o.expect(1, "#1 r1 skipped 0")
	intrude := func(conn Conn) {
		t.Helper()
		o.hello(conn, "driver", "c", "", nil)
		o.hello(conn+1, "driver", "c", session, map[string]uint64{source: 0}, "x*")
		_, birth := cutOwnerMark(session)
		o.hello(conn+2, "driver", "c", birth, map[string]uint64{source: 0}, "*")
		sent := o.sent
		for i := range Conn(3) {
			o.sent = sent
			o.expect(conn+i, "error forbidden", "closed forbidden")
		}
	}
	intrude(2)
	o.read("r1")
	o.expect(1, "#2 r1 skipped 0")
	o.step(&Disconnected{Conn: 1})
	intrude(5) // while its owner is away
	o.read("r1")

	o = newOwned(t, o.records)
	intrude(10)
	o.hello(20, "lab", "c", session, map[string]uint64{source: 1}, "r*")
	o.expect(20, "welcome c", "r1 away", "r1 up", "#2 r1 skipped 0", "#3 r1 skipped 0")

	// What the session is called is of no use to another token's client.
	o.hello(29, "driver", "d", session, map[string]uint64{source: 1}, "x*")
	o.expect(29, "error forbidden", "closed forbidden")
	_, birth := cutOwnerMark(session)
	o.hello(30, "driver", "d", birth, map[string]uint64{source: 1}, "x*")
	o.expect(30, "welcome d", "gap")
	if infos := o.b.Clients(); len(infos) != 2 || infos[0].Owner+infos[0].Client != "driverd" || infos[1].Owner+infos[1].Client != "labc" {
		t.Errorf("clients: %+v", infos)
	}
}

// What waits is delivered by the rights that the token has now: what it may not see
// any more is passed over, robots' events too; one that may not subscribe any more
// sees nothing.
func TestRightsAtDelivery(t *testing.T) {
	o := newOwned(t, nil)
	o.hello(1, "lab", "c", "", nil, "*")
	session, source := o.session(1), o.b.Source()
	o.read("r1")
	o.step(&Ack{Conn: 1, Source: source, Num: 1})
	o.step(&Disconnected{Conn: 1})
	for _, robot := range []string{"r1", "x1", "r1", "r1", "x1", "r1"} {
		o.read(robot)
		o.step(&RobotState{Robot: robot, State: protocol.RobotAway, Since: o.now})
		o.step(&RobotState{Robot: robot, State: protocol.RobotUp, Since: o.now})
	}
	o.sent = nil
	o.hello(2, "lab", "c", session, map[string]uint64{source: 1}, "x*")
	o.expect(2, "welcome c", "x1 away", "x1 up", "#3 x1 skipped 1", "#6 x1 skipped 2")
	o.step(&RobotState{Robot: "r1", State: protocol.RobotAway, Since: o.now})
	o.read("x1")
	o.expect(2, "#8 x1 skipped 1")
	o.step(&Disconnected{Conn: 2})

	o = newOwned(t, o.records)
	o.sent = nil
	o.hello(3, "lab", "c", session, map[string]uint64{source: 1}, "r*") // those that it had before
	o.expect(3, "welcome c", "r1 away", "r1 up")
	o.step(&Disconnected{Conn: 3})
	o.step(&Hello{Conn: 4, Client: "c", Owner: "lab", Session: session, Num: map[string]uint64{source: 1}, Allowed: []string{}})
	o.read("x1")
	o.expect(4, "welcome c")
}

// The word of a client tells its token and id.
func TestClientOf(t *testing.T) {
	for _, tt := range []struct{ word, owner, id string }{
		{clientWord("", "c"), "", "c"},
		{clientWord("lab", "c"), "lab", "c"},
		{clientWord("", ownerEnd+"7@b1"), "", ""},
		{clientWord("lab", ownerEnd+"7@b1"), "lab", ""},
	} {
		if owner, id := ClientOf(tt.word); owner != tt.owner || id != tt.id {
			t.Errorf("%q: %q, %q", tt.word, owner, id)
		}
	}
}

// TestIDsBeforeTheFirstLink: a client that came to the registry's broker before
// that had any neighbour has its id when the first neighbour's client asks for it.
func TestIDsBeforeTheFirstLink(t *testing.T) {
	o := newOwned(t, nil)
	o.hello(1, "lab", "c", "", nil, "*")
	o.step(&LinkUp{Neighbour: "b2", Session: 1})
	o.sent = nil
	asked := ClientLookup{Client: clientWord("other", "c"), New: true, Claims: true, Began: o.now, Whole: true}
	o.step(&FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{
		&LinkState{Broker: "b2", Number: 1, Neighbours: []BrokerID{"b1"}},
		&RoutedMessage{From: "b2", To: "b1", Hops: 1, Body: &Lookup{Clients: []ClientLookup{asked}}},
	}})
	for _, out := range o.sent {
		frame, is := out.(*Frame)
		if !is {
			continue
		}
		for _, m := range frame.Messages {
			if routed, is := m.(*RoutedMessage); is {
				if sources, is := routed.Body.(*Sources); is && sources.Clients[0].Forbidden {
					return
				}
			}
		}
	}
	t.Errorf("another token's client gets the id: %+v", o.sent)
}
