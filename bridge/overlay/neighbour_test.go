package overlay

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/subscribe/protocol"
)

// TestStrangeMessages: whatever a neighbour says, the broker goes on.
func TestStrangeMessages(t *testing.T) {
	for _, mode := range []Mode{ModeOne, ModeEvery} {
		t.Run(string(mode), func(t *testing.T) { testStrangeMessages(t, mode) })
	}
}

func testStrangeMessages(t *testing.T, mode Mode) {
	b, err := New(Config{ID: "b1", Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	b.Step(1e6, &Start{})
	b.Step(1e6, &LinkUp{Neighbour: "b2", Session: 1})
	attachment := uint64(1)
	b.Step(1e6, &Hello{Conn: 1, Client: "c", Attachment: &attachment, Subscriptions: []*Subscription{{Subscription: protocol.Subscription{ID: "a"}}}})
	b.Step(1e6, &Advertise{Robot: "r"})
	keys := []Key{{}, {Client: "c", Source: "b1"}, {Client: "c", Source: "b2", Stamp: 5}}
	for _, r := range b.Routes() {
		keys = append(keys, r.Key)
	}
	reading := func() *Reading { return &Reading{Robot: "r", JSON: []byte("{}")} }
	for round := range 3 {
		for _, k := range keys {
			for _, attachment := range []uint64{0, 1, 2} {
				e := Epoch{Attachment: attachment, Edge: "b2", Revision: uint64(round)}
				b.Step(1e6, &FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{
					nil,
					&SubscribeMessage{Key: k, Epoch: e, Set: &SetChange{Whole: true, Put: []Member{{}}}},
					&SubscribeMessage{Key: k, Epoch: e, Path: []BrokerID{"b1", "b3"}, Set: &SetChange{Drop: []string{"x"}}, Missing: &Missing{From: 9, To: 3}},
					&SubscribeMessage{Key: k, Epoch: e, Path: []BrokerID{"b1"}, Set: &SetChange{Whole: true}},
					&RefreshMessage{Key: k, Epoch: e, Num: 1 << 60},
					&HeadMessage{Key: k, Last: 1 << 60},
					&NotifyMessage{}, &NotifyMessage{Reading: reading(), Hits: []KeyHit{{Key: k, Seq: 1 << 60}, {Key: k, Seq: 1}}},
					&ReplayMessage{Key: k, Last: true, Items: []Item{{}, {Kind: ItemNotification, From: 1, To: 1}, {Kind: ItemGap, From: 5, To: 2}, {Kind: ItemPassed, From: 1, To: 1 << 60}}},
					&FetchMessage{Key: k, Epoch: e},
					&EventMessage{Key: k}, &EventMessage{Key: k, Error: &protocol.Error{}, Counts: []RobotCount{{ID: "a"}}},
					&BrokenMessage{Key: k}, &BrokenMessage{Key: k, Link: &LinkState{}},
					&LinkState{}, &LinkState{Broker: "b1", Number: 1 << 40}, &LinkState{Broker: "b2", Number: 1, Neighbours: []BrokerID{"b1", "b1"}},
					&LinkState{Broker: "b2", Number: 2, Neighbours: []BrokerID{"b1"}, Costs: []Cost{0}}, &LinkState{Broker: "b2", Number: 3, Neighbours: []BrokerID{"b1"}, Costs: []Cost{1 << 63}},
					&LinkState{Broker: "b2", Number: 4, Neighbours: []BrokerID{"b1", "b3"}, Costs: []Cost{4}},
					&RoutedMessage{}, &RoutedMessage{To: "b1"}, &RoutedMessage{To: "b1", From: "b2", Body: &Lookup{Clients: []ClientLookup{{Client: "c", Whole: true, Wants: []Want{{Robots: []string{"["}}}}}}},
					&RoutedMessage{To: "b1", From: "b2", Body: &Register{Whole: true, Robots: []Advertisement{{}}}},
					&RoutedMessage{To: "b1", From: "b2", Body: &Watch{Version: 1 << 63}}, &RoutedMessage{To: "b1", From: "b9", Body: &Watch{}},
					&RoutedMessage{To: "b1", From: k.Source, Body: &Robots{Version: 1, Whole: true, Robots: []Availability{{Robot: "r"}, {Robot: "r", Up: true}}}},
					&RoutedMessage{To: "b1", From: k.Source, Body: &Robots{From: 7, Version: 3, Robots: []Availability{{}}}},
					&RoutedMessage{To: "b1", From: "b2", Body: &Told{Client: k.Client, Session: k.Session, Seen: []SeenSource{{}}, Away: []AwayRobot{{}}}},
					&RoutedMessage{To: "b1", From: "b1", Body: &Sources{Clients: []ClientSources{{Client: "c", Sources: []SourceBroker{{}, {Broker: "b1"}, {Broker: "b2", Stamp: 5}}}}}},
					&RoutedMessage{To: "b1", From: "b9", Body: &Call{Registry: true, Robot: "r"}},
					&RoutedMessage{To: "b1", From: "b9", Body: &CallAnswer{Number: 7, Code: protocol.NotFound}},
					&GoneMessage{Key: k, Stamp: Stamp(round)},
					&BulletinMessage{}, &BulletinMessage{Broker: "b1", Version: 1 << 40}, &BulletinMessage{Broker: "b9", From: 7, Version: 3},
					&BulletinMessage{
						Broker: k.Source, Version: uint64(round+1) + attachment, Age: -1 << 62, Robots: []Advertisement{{}, {Robot: "r"}, {Robot: "r", Claimed: -1}}, Withdrawn: []string{"x", "r"},
						States: []Availability{{Robot: "r"}, {Robot: "r", Up: true}}, Forgotten: []string{"r"}, Clients: []ClientPlace{{}, {Client: "c", Attachment: attachment}, {Client: "a\x00c"}}, Left: []string{"c", "d"},
					},
					&KnownMessage{}, &KnownMessage{All: true, Brokers: []KnownBulletin{{}, {Broker: "b1", Version: 1 << 41}, {Broker: "b2", Version: 1}, {Broker: "b2"}}},
				}})
				b.Outputs()
				check(t, b)
				for h := range b.source.entries {
					b.Step(1e6, &Installed{Handle: h, Set: 1 << 62})
					b.Step(1e6, &Matched{Reading: reading(), Hits: []Hit{{Handle: h, Set: 1, Names: []protocol.Matched{{ID: "a"}}}}})
				}
				check(t, b)
				if round > 0 {
					b.Step(1e6, &FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{&UnsubscribeMessage{Key: k}}})
				}
				check(t, b)
			}
		}
		b.Step(Instant(round+2)*1e6, &Tick{})
		check(t, b)
	}
}

// TestFetchInACircle: routes of an old attachment can lead in a circle where late
// subscribes have made them. A fetch comes by twice then, and its answers
// come back the other way (R3).
func TestFetchInACircle(t *testing.T) {
	b, err := New(Config{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	step := func(from BrokerID, m Message) (said []string) {
		b.Outputs()
		b.Step(1e6, &FrameReceived{Neighbour: from, Session: 1, Messages: []Message{m}})
		for _, out := range b.Outputs() {
			f, ok := out.(*Frame)
			if !ok {
				continue
			}
			for _, m := range f.Messages {
				switch m := m.(type) {
				case *FetchMessage:
					said = append(said, "fetch to "+string(f.To[0].Neighbour))
				case *ReplayMessage:
					said = append(said, fmt.Sprintf("replay to %s, last %t", f.To[0].Neighbour, m.Last))
				}
			}
		}
		return said
	}
	b.Step(1e6, &Start{})
	b.Step(1e6, &LinkUp{Neighbour: "down", Session: 1})
	b.Step(1e6, &LinkUp{Neighbour: "up", Session: 1})
	k := Key{Client: "c", Source: "source", Stamp: 1}
	subscribe := func(revision uint64) *SubscribeMessage {
		return &SubscribeMessage{Key: k, Epoch: Epoch{Attachment: 1, Edge: "e", Revision: revision}, Path: []BrokerID{"b", "up", "source"}}
	}
	fetch := &FetchMessage{Key: k, Epoch: Epoch{Attachment: 2, Edge: "f"}, ID: FetchID{Broker: "up", Number: 1}}
	last := &ReplayMessage{Key: k, ID: fetch.ID, Last: true}
	for i, s := range []struct {
		from BrokerID
		m    Message
		says []string
	}{
		{"down", subscribe(1), nil},
		{"up", fetch, []string{"fetch to down"}},
		{"down", subscribe(2), nil}, // late
		{"down", fetch, []string{"fetch to down"}},
		{"down", last, []string{"replay to down, last true"}},
		{"down", last, []string{"replay to up, last true"}},
	} {
		if diff := cmp.Diff(s.says, step(s.from, s.m)); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
	if fetches, _, _ := b.Left(); fetches != 0 {
		t.Errorf("%d fetches are left", fetches)
	}
}

// TestTheSameToSeveralIsOneFrame: a link state goes to all neighbours in one frame;
// who is told more gets one of its own.
func TestTheSameToSeveralIsOneFrame(t *testing.T) {
	b, err := New(Config{ID: "b"})
	if err != nil {
		t.Fatal(err)
	}
	b.Step(1e6, &Start{})
	for _, id := range []BrokerID{"n1", "n2", "n3"} {
		b.Outputs()
		b.Step(2e6, &LinkUp{Neighbour: id, Session: 7})
	}
	to := func() (all [][]BrokerID) {
		for _, out := range b.Outputs() {
			if f, ok := out.(*Frame); ok {
				var ids []BrokerID
				for _, l := range f.To {
					if ids = append(ids, l.Neighbour); l.Session != 7 {
						t.Errorf("over session %d of %s; expected 7", l.Session, l.Neighbour)
					}
				}
				all = append(all, ids)
			}
		}
		return all
	}
	b.Outputs()
	b.Step(3e6, &FrameReceived{Neighbour: "n2", Session: 7, Messages: []Message{&LinkState{Broker: "x", Number: 1, Neighbours: []BrokerID{"n2"}}}})
	if diff := cmp.Diff([][]BrokerID{{"n1", "n3"}}, to()); diff != "" {
		t.Errorf("a state that n2 told: %s", diff)
	}
	b.Step(4e6, &LinkUp{Neighbour: "n4", Session: 7})
	if diff := cmp.Diff([][]BrokerID{{"n1", "n2", "n3"}, {"n4"}}, to()); diff != "" {
		t.Errorf("n4 comes, and is told all states: %s", diff)
	}
}

// TestForeign: an edge behind a neighbour that was linked with another broker of
// this id asks for a key. The key ends, though no number is too high; the one that
// follows goes on.
func TestForeign(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		source, err := New(Config{ID: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		edge, err := New(Config{ID: "b2", Registry: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		brokers := map[BrokerID]*Broker{"b1": source, "b2": edge}
		now, session := Instant(1e6), uint64(1)
		var told []string // the client
		var ways []func() // frames under way
		var step func(id BrokerID, in Input)
		step = func(id BrokerID, in Input) {
			b := brokers[id]
			b.Step(now, in)
			outs := append([]Output(nil), b.Outputs()...)
			for _, out := range outs {
				switch o := out.(type) {
				case *Frame:
					ways = append(ways, func() {
						step(o.To[0].Neighbour, &FrameReceived{Neighbour: id, Session: o.To[0].Session, Messages: o.Messages})
					})
				case *Install:
					step(id, &Installed{Handle: o.Handle, Set: o.Set})
				case *Send:
					if gap, is := o.Message.(*protocol.Gap); is {
						told = append(told, "gap, next "+gap.Next)
					}
				case *Notify:
					told = append(told, fmt.Sprintf("#%d of %s", o.Seq, o.Source))
				}
			}
		}
		publish := func() {
			for _, e := range source.source.entries {
				step("b1", &Matched{Reading: &Reading{Robot: "r", JSON: []byte("{}")}, Hits: []Hit{{Handle: e.handle, Set: e.set, Names: []protocol.Matched{{ID: "a"}}}}})
			}
		}
		tick := func(times int) {
			for range times {
				now += Instant(Second)
				step("b1", &Tick{})
				step("b2", &Tick{})
				for len(ways) > 0 {
					next := ways[0]
					ways = ways[1:]
					next()
				}
			}
		}
		link := func(foreign bool) {
			step("b1", &LinkUp{Neighbour: "b2", Session: session, Foreign: foreign})
			step("b2", &LinkUp{Neighbour: "b1", Session: session})
			tick(6)
		}
		step("b1", &Start{})
		step("b2", &Start{})
		step("b1", &Advertise{Robot: "r"})
		link(false)
		step("b2", &Hello{Conn: 1, Client: "c", Subscriptions: []*Subscription{{Subscription: protocol.Subscription{ID: "a", Condition: "true"}}}})
		tick(6)
		publish()
		tick(1)
		step("b1", &LinkDown{Neighbour: "b2", Session: session})
		step("b2", &LinkDown{Neighbour: "b1", Session: session})
		session++
		now += 10 * Instant(Second) // routes have run out
		step("b1", &Tick{})
		step("b2", &Tick{})
		link(foreign)
		publish()
		tick(1)
		session++
		link(false)
		publish()
		tick(1)
		gaps := 0
		for _, what := range told {
			if what[0] == 'g' {
				gaps++
			}
		}
		if want := map[bool]int{true: 1}[foreign]; gaps != want || len(told) != 3+want {
			t.Errorf("foreign %t: the client was told %q", foreign, told)
		}
	}
}
