package overlay

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestPaths: the path to each broker is the cheapest, and of several the one with the
// lowest ids, whatever links cost; so the path of each broker on it is the rest of it.
func TestPaths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "brokers")
		id := func(i int) BrokerID { return BrokerID(fmt.Sprintf("b%d", i)) }
		costs := map[[2]int]Cost{}
		for i := range n {
			for j := range i {
				if c := rapid.SampledFrom([]Cost{0, 0, 4, 4, 5, 8}).Draw(t, "cost"); c > 0 {
					costs[[2]int{i, j}], costs[[2]int{j, i}] = c, c
				}
			}
		}
		made := func(self int) *network {
			b, err := New(Config{ID: id(self)})
			if err != nil {
				t.Fatal(err)
			}
			b.Step(1e6, &Start{})
			for i := range n {
				s := &LinkState{Broker: id(i), Number: 1}
				for j := range n {
					if c := costs[[2]int{i, j}]; c > 0 {
						s.Neighbours, s.Costs = append(s.Neighbours, id(j)), append(s.Costs, c)
					}
				}
				b.network.keepState(s)
			}
			return b.network
		}
		var best []int
		least := Cost(0)
		var try func(path []int, cost Cost, to int)
		try = func(path []int, cost Cost, to int) {
			at := path[len(path)-1]
			if at == to {
				if best == nil || cost < least || cost == least && slices.Compare(path, best) < 0 {
					best, least = slices.Clone(path), cost
				}
				return
			}
			for next := range n {
				if c := costs[[2]int{at, next}]; c > 0 && !slices.Contains(path, next) {
					try(append(slices.Clip(path), next), cost+c, to)
				}
			}
		}
		first := made(0)
		for to := range n {
			best = nil
			try([]int{0}, 0, to)
			var want []BrokerID
			for _, i := range best {
				want = append(want, id(i))
			}
			got := first.path(id(to))
			if !slices.Equal(got, want) {
				t.Fatalf("the path to %s is %v; expected %v", id(to), got, want)
			}
			if len(best) > 1 {
				if rest := made(best[1]).path(id(to)); !slices.Equal(rest, got[1:]) {
					t.Fatalf("the path is %v, but that of %s is %v", got, got[1], rest)
				}
			}
		}
	})
}
