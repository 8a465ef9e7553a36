package overlaytest

import (
	"slices"
	"testing"

	"callboard/bridge/overlay"
)

// TestField: of robots that wander with their brokers nothing is lost, doubled or out of
// order, and a seed runs the same way twice.
func TestField(t *testing.T) {
	for _, w := range []Field{
		{Brokers: 8, Degree: 2, Life: 10 * overlay.Second, Seed: 1},
		{Brokers: 20, Degree: 4, Life: 30 * overlay.Second, Seed: 2},
		{Brokers: 20, Degree: 8, Life: 3 * overlay.Second, Seed: 3},
	} {
		w.Wants, w.Interval, w.Reading, w.Hop, w.Until = 3, overlay.Second/5, 1167, 5*overlay.Duration(1000), 2000
		r, err := Wander(w)
		if err != nil {
			t.Errorf("%+v: %v", w, err)
			continue
		}
		if len(r.Live) == 0 || len(r.Steady) == 0 || r.Links == 0 || r.Control == 0 || r.Flooding == 0 || r.Gaps > 0 {
			t.Errorf("%+v: %d live, %d steady, %d links, %d gaps", w, len(r.Live), len(r.Steady), r.Links, r.Gaps)
		}
		if w.Brokers > 8 {
			continue
		}
		if again, err := Wander(w); err != nil || again.Data != r.Data || again.LinkStates != r.LinkStates || !slices.Equal(again.Live, r.Live) {
			t.Errorf("%+v runs another way the second time (%v)", w, err)
		}
	}
}
