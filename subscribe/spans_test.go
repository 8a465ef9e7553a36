package subscribe

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A set of spans finds what a search through all of them finds, each version
// for itself.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			spans spans[int]
			want  map[span]int
		}
		number := rapid.OneOf(rapid.Map(rapid.IntRange(-5, 5), func(i int) float64 { return float64(i) }),
			rapid.SampledFrom([]float64{math.Inf(-1), math.Inf(1), 0.5, -0.5}), rapid.Float64Range(-10, 10))
		versions := []version{{want: map[span]int{}}}
		for step := range rapid.IntRange(1, 6).Draw(t, "steps") {
			last := versions[len(versions)-1]
			next := version{last.spans, map[span]int{}}
			for k, v := range last.want {
				next.want[k] = v
			}
			edit := uint64(0)
			if rapid.Bool().Draw(t, "edit") {
				edit = uint64(step + 1)
			}
			for range rapid.SampledFrom([]int{1, 30, 300}).Draw(t, "changes") {
				k := span{number.Draw(t, "lo"), number.Draw(t, "hi"), uint64(rapid.IntRange(0, 3).Draw(t, "number"))}
				if (step%2 == 1 || rapid.IntRange(0, 9).Draw(t, "take") == 0) && len(next.want) > 0 {
					all := sortedSpans(next.want)
					k = all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]
					next.spans = next.spans.without(k)
					delete(next.want, k)
					continue
				}
				v := rapid.Int().Draw(t, "item")
				next.spans, next.want[k] = next.spans.with(edit, k, v), v
			}
			versions = append(versions, next)
		}
		x := number.Draw(t, "x")
		for _, v := range versions {
			var want, all []int
			for k, item := range v.want {
				all = append(all, item)
				if k.lo <= x && x <= k.hi {
					want = append(want, item)
				}
				if got, ok := v.spans.get(k); !ok || got != item {
					t.Fatalf("%v: %d, %v; expected %d", k, got, ok, item)
				}
			}
			same(t, v.spans.appendAt(nil, x), want)
			same(t, v.spans.appendAll(nil), all)
			if v.spans.empty() != (len(v.want) == 0) {
				t.Fatalf("empty: %v of %d", v.spans.empty(), len(v.want))
			}
			missing := span{number.Draw(t, "lo"), 77, 77}
			if _, ok := v.spans.get(missing); ok || len(v.spans.without(missing).appendAll(nil)) != len(v.want) {
				t.Fatalf("%v is there", missing)
			}
		}
	})
}

func sortedSpans(m map[span]int) []span {
	var all []span
	for k := range m {
		all = append(all, k)
	}
	slices.SortFunc(all, span.compare)
	return all
}

func same(t *rapid.T, got, want []int) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got %v, expected %v", got, want)
	}
}
