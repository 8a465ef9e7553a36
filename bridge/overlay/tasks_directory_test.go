package overlay

import (
	"fmt"
	"slices"
	"testing"

	"callboard/subscribe/protocol"
)

// TestDoubled: that two brokers declare a queue is reported once, and again when it was
// not so meanwhile.
func TestDoubled(t *testing.T) {
	b := newBroker(t, Config{ID: "b1", Neighbours: true, Queues: []QueueConfig{{Name: "docks"}, {Name: "own"}}})
	now := 10 * Instant(Second)
	b.Step(now, &Start{})
	b.Step(now, &LinkUp{Neighbour: "b2", Session: 1})
	var got []string
	for number, queues := range [][]QueueAd{
		{}, {{Name: "docks", Since: 1}}, {{Name: "docks", Declared: true, Since: 1}}, {{Name: "docks", Declared: true, Since: 1}, {Name: "x", Declared: true}},
		{}, {{Name: "docks", Declared: true, Since: now + 1}},
	} {
		b.Step(now, &FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{
			&LinkState{Broker: "b2", Number: uint64(number + 1), Neighbours: []BrokerID{"b1"}}, &QueuesMessage{Broker: "b2", Number: uint64(number + 1), Queues: queues},
		}})
		for _, o := range b.Outputs() {
			if d, is := o.(*QueueDoubled); is {
				got = append(got, fmt.Sprintf("%d: %s at %s, tasks go to %s", number, d.Queue, d.Rival, d.Holder))
			}
		}
	}
	if want := []string{"2: docks at b2, tasks go to b2", "5: docks at b2, tasks go to b1"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestAlone: a broker that begins and is alone does not say at once that nobody has a
// queue, and knows after its first link who declares it.
func TestAlone(t *testing.T) {
	for _, of := range []struct {
		linked  int  // after how many periods; 0: never
		declare bool // what the neighbour says
		want    string
	}{
		{0, false, "unavailable after 12"},
		{5, false, "unavailable after 7"},
		{5, true, "asked after 5"},
	} {
		b := newBroker(t, Config{ID: "b1", Neighbours: true})
		now := 10 * Instant(Second)
		b.Step(now, &Start{})
		attachment := uint64(1)
		b.Step(now, &Hello{Conn: 1, Client: "c", Attachment: &attachment})
		b.Step(now, &RequestTask{Conn: 1, ID: "r", Queue: "docks", Key: "k", TTL: 3600 * Second})
		got := ""
		look := func(period int) {
			for _, o := range b.Outputs() {
				switch o := o.(type) {
				case *Send:
					if r, is := o.Message.(*protocol.Reply); is && got == "" {
						got = fmt.Sprintf("%s after %d", r.Error.Code, period)
					}
				case *Frame:
					for _, m := range o.Messages {
						if r, is := m.(*RoutedMessage); is && got == "" {
							if _, is := r.Body.(*TaskRequest); is {
								got = fmt.Sprintf("asked after %d", period)
							}
						}
					}
				}
			}
		}
		for period := range 20 {
			if period > 0 {
				now += Instant(Second)
				b.Step(now, &Tick{})
				look(period)
			}
			if of.linked > 0 && period == of.linked {
				b.Step(now, &LinkUp{Neighbour: "b2", Session: 1})
				look(period)
				frame := &FrameReceived{Neighbour: "b2", Session: 1, Messages: []Message{&LinkState{Broker: "b2", Number: 1, Neighbours: []BrokerID{"b1"}}}}
				if of.declare {
					frame.Messages = append(frame.Messages, &QueuesMessage{Broker: "b2", Number: 1, Queues: []QueueAd{{Name: "docks", Declared: true, Since: 1}}})
				}
				b.Step(now, frame)
				look(period)
			}
		}
		if got != of.want {
			t.Errorf("linked after %d, declared %v: %q, expected %q", of.linked, of.declare, got, of.want)
		}
	}
}
