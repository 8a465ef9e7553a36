package overlay

import (
	"slices"
	"testing"

	"callboard/subscribe/protocol"
)

// TestStoredTimes restores what waits for an absent client under a clock that was
// set back or forward meanwhile: it neither goes at once nor stays for good.
func TestStoredTimes(t *testing.T) {
	const hour = 3600 * Instant(Second)
	keep := Instant(600 * Second)
	b, hits := busy(t, 1, "", Config{})
	b.Step(10*hour, &Disconnected{Conn: 1})
	var stored []Record
	b.Step(10*hour, &Hello{Conn: 2, Client: "c00000", Subscriptions: []*Subscription{{Subscription: protocol.Subscription{ID: "a", Condition: "true"}}}})
	stored = append(stored, b.Records()...)
	b.Outputs()
	for h, e := range b.source.entries {
		b.Step(10*hour, &Installed{Handle: h, Set: e.set, Robots: map[string]int{}})
		hits = []Hit{{Handle: h, Set: e.set, Names: []protocol.Matched{{ID: "a"}}}}
	}
	b.Outputs()
	b.Step(10*hour, &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", JSON: []byte("{}")}, Hits: hits})
	for _, r := range b.Records() {
		if g, ok := r.(*GivenRecord); ok {
			kept := *g
			stored = append(stored, &kept)
		}
	}
	for _, now := range []Instant{hour, 10 * hour, 1000 * hour} {
		again, err := New(Config{ID: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		own := slices.Clone(stored)
		for i, r := range own {
			if g, ok := r.(*GivenRecord); ok {
				own[i] = &GivenRecord{At: g.At, Hits: g.Hits, Reading: &Reading{Robot: g.Reading.Robot, Interface: g.Reading.Interface, JSON: g.Reading.JSON}}
			}
		}
		again.Step(now, &Restore{Records: own})
		again.Step(now, &Start{})
		waiting := func() int { return again.Stats().Waiting }
		again.Step(now+2*Instant(Second), &Tick{})
		if n := waiting(); n != 1 {
			t.Errorf("the clock says %d s: %d notifications wait after 2 s, expected the one", now/Instant(Second), n)
		}
		again.Step(now+keep+2*Instant(Second), &Tick{})
		if n := waiting(); n != 0 {
			t.Errorf("the clock says %d s: %d notifications wait after the time that an inbox keeps them", now/Instant(Second), n)
		}
	}
}
