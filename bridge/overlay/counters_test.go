package overlay

import (
	"math"
	"testing"

	"callboard/subscribe/protocol"
)

// TestCountersCannotBeExhausted: no message and no record brings a counter so
// near its end that one cannot count on. What is refused changes nothing.
func TestCountersCannotBeExhausted(t *testing.T) {
	const now = Instant(1_800_000_000_000_000)
	begin := func(records ...Record) *Broker {
		b, err := New(Config{ID: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		b.Step(now, &Restore{Records: records})
		b.Step(now, &Start{})
		b.Step(now, &Advertise{Robot: "r0"})
		b.Step(now, &LinkUp{Neighbour: "b2", Session: 1})
		b.Outputs()
		return b
	}
	// attachOnce says hello without an attachment, and returns the one it was given.
	attachOnce := func(b *Broker, conn Conn) uint64 {
		b.Outputs()
		b.Step(now+Instant(conn), &Hello{Conn: conn, Client: "c", Subscriptions: []*Subscription{{Subscription: protocol.Subscription{ID: "a", Condition: "true"}}}})
		for _, out := range b.Outputs() {
			if s, ok := out.(*Send); ok {
				if w, ok := s.Message.(*protocol.Welcome); ok {
					return w.Attachment
				}
			}
		}
		t.Fatal("no welcome")
		return 0
	}
	const most = 1<<53 - 1
	good := func(what string, b *Broker) {
		t.Helper()
		got := attachOnce(b, 100)
		if got == 0 || got > most-1_000_000 || b.source.stamp <= 0 || uint64(b.source.stamp) > most {
			t.Errorf("after %s: attachment %d, stamp %d", what, got, b.source.stamp)
		}
		for s := range b.edge.sessions {
			if e := b.edge.sessions[s].epoch; e.Revision > most || e.Attachment > most {
				t.Errorf("after %s: epoch %v", what, e)
			}
		}
	}
	for _, n := range []uint64{1<<52 + uint64(now), 1<<52 + uint64(now) + 1_000_000, most, 1 << 60, math.MaxInt64, math.MaxUint64} {
		taken := n <= 1<<52+uint64(now)
		b := begin()
		b.Step(now, &Hello{Conn: 1, Client: "c", Attachment: &n})
		if (b.edge.conns[1] != nil) != taken {
			t.Errorf("attachment %d: taken %v, expected %v", n, !taken, taken)
		}
		good("an attachment", b)

		session := Session{Attachment: n, Edge: "b9", Revision: n}
		b = begin()
		b.Step(now, &Hello{Conn: 1, Client: "c", Session: session.String(), Num: map[string]uint64{}})
		b.Step(now, &Hello{Conn: 2, Client: "d", Session: "1.1.b9", Num: map[string]uint64{"b1.7": n}})
		b.Step(now, &Hello{Conn: 3, Client: "e", Session: "1.1.b9", Num: map[string]uint64{SourceWord("b1", Stamp(n&math.MaxInt64)): 1}})
		b.Step(now, &Hello{Conn: 4, Client: "f", Session: "1.1.b9", Num: map[string]uint64{"b2.7": n}})
		good("a session, nums and stamps", b)

		b = begin()
		attachOnce(b, 50)
		key := Key{Client: "c", Session: b.edge.sessions["c"].birth, Source: "b1", Stamp: Stamp(n & math.MaxInt64)}
		mine := b.edge.sessions["c"].local.key
		huge := Epoch{Attachment: n, Edge: "b2", Revision: n}
		body := func(m RegistryMessage) Message { return &RoutedMessage{From: "b2", To: "b1", Hops: 9, Body: m} }
		for _, m := range []Message{
			&SubscribeMessage{Key: key, Epoch: huge, Num: n, Known: n, Path: []BrokerID{"b1"}, Set: &SetChange{Whole: true}, Missing: &Missing{From: n, To: n}},
			&SubscribeMessage{Key: mine, Epoch: huge, Num: n, Known: n, Path: []BrokerID{"b1"}, Set: &SetChange{Whole: true}},
			&RefreshMessage{Key: mine, Epoch: huge, Num: n, Known: n}, &FetchMessage{Key: mine, Epoch: huge, Num: n},
			&HeadMessage{Key: mine, Last: n}, &GoneMessage{Key: mine, Stamp: Stamp(n & math.MaxInt64)}, &UnsubscribeMessage{Key: key},
			&NotifyMessage{Reading: &Reading{Robot: "r"}, Hits: []KeyHit{{Key: mine, Seq: n, Attachment: n, Revision: n}}},
			&ReplayMessage{Key: mine, Items: []Item{{Kind: ItemGap, From: n, To: n}, {Kind: ItemPassed, From: 1, To: n}}},
			&EventMessage{Key: mine}, &EventMessage{Key: mine, Set: huge}, &LinkState{Broker: "b1", Number: n}, &BrokenMessage{Key: mine, Link: &LinkState{Broker: "b1", Number: n}},
			body(&Register{Stamp: Stamp(n & math.MaxInt64), Version: n, Refusals: n}), body(&RegisterAgain{Version: n}), body(&Refusals{Version: n}),
			body(&Lookup{Clients: []ClientLookup{{Client: "c", Session: session, Attachment: n, Version: n}}}),
			body(&Sources{Clients: []ClientSources{{Client: "c", Session: b.edge.sessions["c"].birth, Version: n, Newest: huge, Sources: []SourceBroker{{"b2", Stamp(n & math.MaxInt64)}}}}}),
			body(&Watch{Version: n}), body(&Watch{Again: []StateAgain{{Key: mine, ID: "a", Since: huge}}}), body(&Robots{From: n, Version: n, Robots: []Availability{{Robot: "r", Changed: n, Gone: n, Dropped: n}}}),
			body(&Told{Client: "c", Session: session, Attachment: n, Seen: []SeenSource{{"b2", n, n}}, Awaited: []SeenSource{{"b2", n, n}}, Begun: []Begun{{"a", huge}}}),
		} {
			b.Step(now, &FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{m}})
		}
		good("messages of a neighbour", b)
		if own := b.network.topology.states["b1"].Number; own > most {
			t.Errorf("after a link state of %d the broker's own is %d", n, own)
		}

		b = begin(&StampRecord{Stamp: Stamp(n & math.MaxInt64)},
			&SessionRecord{Client: "c", Session: session, Epoch: huge},
			&SessionRecord{Client: "d", Session: Session{Attachment: 1, Edge: "b1"}, Epoch: Epoch{Attachment: 1, Edge: "b1", Revision: 1}},
			&SubscriptionRecord{Client: "d", Born: n, Subscription: &Subscription{Subscription: protocol.Subscription{ID: "a", Condition: "true"}}},
			&EntryRecord{Handle: 1, Key: key, Epoch: huge, Set: n, Next: n, Num: n, Own: true}, &AckedRecord{Handle: 1, Num: n})
		good("records", b)
	}
}
