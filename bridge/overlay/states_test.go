package overlay

import (
	"fmt"
	"testing"

	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// TestStatesAfterAKill: what a key was given as true is known from what is
// stored, acknowledged or not. A broker that begins gives that it is false, once,
// since no robot is up; but not of a subscription that has ended or begun anew.
func TestStatesAfterAKill(t *testing.T) {
	var records []Record
	var b *Broker
	now := Instant(10 * Second)
	var told []string
	var step func(in Input)
	step = func(in Input) {
		now += 1000
		b.Step(now, in)
		var answers []Input
		records = append(records, copyRecords(b.Records())...)
		for _, out := range b.Outputs() {
			switch o := out.(type) {
			case *Install:
				answers = append(answers, &Installed{Handle: o.Handle, Set: o.Set})
			case *Notify:
				for _, n := range o.Subscriptions {
					told = append(told, fmt.Sprintf("#%d %s of %s=%v", o.Seq, n.ID, o.Reading.Robot, *n.State))
				}
			}
		}
		for _, answer := range answers {
			step(answer)
		}
	}
	begin := func() {
		b = newBroker(t, Config{ID: "b1"})
		now += Instant(Second)
		b.Step(now, &Restore{Records: copyRecords(records)})
		step(&Start{})
		for _, robot := range []string{"r1", "r2"} {
			step(&Advertise{Robot: robot})
			step(&RobotState{Robot: robot, State: protocol.RobotUp, Since: now})
		}
	}
	change := func(id, condition string) *Subscription {
		return &Subscription{Subscription: protocol.Subscription{ID: id, Condition: condition, Trigger: protocol.TriggerChange}}
	}
	state := func(robot string, seq float64, is bool, ids ...string) {
		e := b.source.entries[1]
		hit := Hit{Handle: e.handle, Set: e.set}
		for _, id := range ids {
			hit.Names = append(hit.Names, protocol.Matched{ID: id, State: &is})
		}
		step(&Matched{Reading: &Reading{Robot: robot, Interface: "laser", Time: seq, JSON: []byte("{}")}, Hits: []Hit{hit}})
	}
	begin()
	step(&Hello{Conn: 1, Client: "c", Subscriptions: []*Subscription{change("a", "x"), change("b", "x"), change("c", "x")}})
	session, word := b.edge.order[0].birth.String(), b.edge.order[0].local.word
	state("r1", 1, true, "a", "b", "c")
	state("r2", 2, true, "a")
	state("r2", 3, false, "a")
	step(&Ack{Conn: 1, Source: word, Num: 3})
	step(&Unsubscribe{Conn: 1, ID: "b"})
	step(&Update{Conn: 1, Subscription: change("c", "y")})
	told = nil
	for range 2 { // the second time nothing is true any more
		begin()
	}
	step(&Hello{Conn: 2, Client: "c", Session: session, Num: map[string]uint64{word: 3}, Subscriptions: []*Subscription{change("a", "x"), change("c", "y")}})
	if want := []string{"#4 a of r1=false"}; !cmp.Equal(told, want) {
		t.Errorf("told %q, expected %q", told, want)
	}
}
