package bench

import (
	"context"
	"slices"
	"testing"
)

// All methods find the same subscriptions, about as many as wanted.
func TestMatchMethodsAgree(t *testing.T) {
	for _, kind := range matchKinds {
		t.Run(kind, func(t *testing.T) {
			const n, selectivity = 3000, 0.01
			r := matchRun{kind: kind, selectivity: selectivity, n: n}
			texts := newMatchTexts(kind, selectivity, n)
			m, err := r.fill(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := newPlainMatch(t.Context(), texts, n, plainTime)
			if err != nil || plain.n != n {
				t.Fatal(plain.n, err)
			}
			indexed, floor := newIndexedMatch(m, texts), newFloorMatch(texts, n)
			readings := texts.readings(50)
			sum := 0
			for i := range readings {
				x := &readings[i]
				want := plain.scan(x)
				sum += want
				if got := indexed.match(x); got != want {
					t.Errorf("reading %d: the matcher finds %d, plain expr %d", i, got, want)
				}
				if got := plain.ofRobot(x); got != want {
					t.Errorf("reading %d: by robot %d, all %d", i, got, want)
				}
				if got := floor.match(x); got != want && kind != "mixed" && kind != "residue" {
					t.Errorf("reading %d: the floor finds %d, plain expr %d", i, got, want)
				}
			}
			if share := float64(sum) / float64(len(readings)*n); share < selectivity/4 || share > selectivity*4 {
				t.Errorf("a reading matches %v of the subscriptions, expected about %v", share, selectivity)
			}
		})
	}
}

// A run reports all figures under the case's name.
func TestMatchFigures(t *testing.T) {
	var metrics []string
	values := Values{"subscriptions": 200, "workload": "two predicates", "selectivity": 0.001}
	err := match().Run(context.Background(), values, func(r Result) {
		if r.Case != "two predicates, selectivity 0.001" || r.Unit == "" || r.Value < 0 {
			t.Errorf("%+v", r)
		}
		metrics = append(metrics, r.Metric)
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"subscriptions", "bytes", "install", "remove", "matches", "indexed", "floor", "robot-hash", "scan"}
	if !slices.Equal(metrics, want) {
		t.Errorf("%v, expected %v", metrics, want)
	}
	for _, wrong := range []Values{
		{"subscriptions": 1, "workload": "two", "selectivity": 0.001},
		{"subscriptions": -1, "workload": "mixed", "selectivity": 0.001},
		{"subscriptions": 1, "workload": "mixed", "selectivity": 1.0},
	} {
		if err := match().Run(context.Background(), wrong, func(Result) {}); err == nil {
			t.Errorf("%v: accepted", wrong)
		}
	}
}
