package overlay

import (
	"testing"

	"callboard/subscribe/protocol"
)

// A subscribed that waits for the registry says how many robots matched when its
// set came into force, though the sets of other subscriptions did so meanwhile.
func TestCountsStay(t *testing.T) {
	b := newBroker(t, Config{ID: "b1", Registry: "b2"})
	now := 10 * Instant(Second)
	step := func(in Input) { now++; b.Step(now, in) }
	from := func(m Message) {
		step(&FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{m}})
	}
	registry := func(m *Sources) { from(&RoutedMessage{From: "b2", To: "b1", Hops: 1, Body: m}) }
	step(&Start{})
	step(&Advertise{Robot: "r1"})
	step(&LinkUp{Neighbour: "b2", Session: 1})
	from(&LinkState{Broker: "b2", Number: 1, Neighbours: []BrokerID{"b1"}})
	registry(&Sources{})
	step(&Hello{Conn: 1, Client: "c"})
	b.Outputs()
	for _, id := range []string{"x", "y"} {
		step(&Subscribe{Conn: 1, Subscription: &Subscription{Subscription: protocol.Subscription{ID: id, Condition: "laser.min < 1"}}})
		for _, o := range b.Outputs() {
			if in, ok := o.(*Install); ok {
				step(&Installed{Handle: in.Handle, Set: in.Set, Robots: map[string]int{id: 1}})
			}
		}
	}
	s := b.edge.order[0]
	registry(&Sources{Clients: []ClientSources{{Client: s.client, Session: s.birth, Hash: s.hash, Version: 1}}})
	robots := map[string]int{}
	for _, o := range b.Outputs() {
		if send, ok := o.(*Send); ok {
			if m, ok := send.Message.(*protocol.Subscribed); ok {
				robots[m.ID] = m.Robots
			}
		}
	}
	if len(robots) != 2 || robots["x"] != 1 || robots["y"] != 1 {
		t.Errorf("subscribed tells of robots %v, expected 1 for x and y each", robots)
	}
}
