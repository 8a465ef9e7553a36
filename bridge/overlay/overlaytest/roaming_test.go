package overlaytest

import (
	"testing"

	"callboard/bridge/overlay"
)

// TestRoaming: whatever share of the clients moves, and however far, nothing is
// lost, the source is never asked again, the messages are the least there can
// be, and a hand-over takes hardly more than one round trip.
func TestRoaming(t *testing.T) {
	const hop = 10 * overlay.Second / 1000
	for name, w := range map[string]Roaming{
		"few":    {Share: 0.1, Hop: hop, Interval: hop},
		"many":   {Share: 1, Hop: hop, Interval: hop / 2},
		"far":    {Share: 0.5, Distance: 5, Hop: hop, Interval: hop},
		"absent": {Share: 0.2, Away: 3 * overlay.Second, Hop: hop, Interval: hop},
	} {
		t.Run(name, func(t *testing.T) {
			w.Brokers, w.Clients, w.Until, w.Seed = 6, 8, 20_000, 1
			r, err := Roam(w)
			if err != nil {
				t.Fatal(err)
			}
			if r.Renewals+r.Resent > 0 || r.Gaps > 0 || r.Moves < 10 {
				t.Errorf("%d moves, %d renewals, %d sent again, %d gaps", r.Moves, r.Renewals, r.Resent, r.Gaps)
			}
			if r.Cost != r.Optimum {
				t.Errorf("moves cost %+v, at best it is %+v", r.Cost, r.Optimum)
			}
			for i, trips := range r.Trips {
				if trips > 3 { // what the next reading lets wait is in it
					t.Errorf("hand-over %d took %.1f round trips of its path", i, trips)
					break
				}
			}
			t.Logf("%d moves, cost %+v, at best %+v, high water %d, %d hand-overs", r.Moves, r.Cost, r.Optimum, r.HighWater, len(r.Trips))
		})
	}
}
