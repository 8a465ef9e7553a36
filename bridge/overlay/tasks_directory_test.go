package overlay

import (
	"fmt"
	"testing"

	"callboard/subscribe/protocol"
)

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
