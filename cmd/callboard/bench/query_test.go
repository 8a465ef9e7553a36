package bench

import (
	"os"
	"slices"
	"testing"
)

// A run reports all figures, and leaves nothing behind.
func TestQueryFigures(t *testing.T) {
	dir := t.TempDir()
	var got []string
	err := queryBench().Run(t.Context(), Values{"size": 1, "rounds": 1, "seed": 1, "plain": true, "dir": dir}, func(r Result) {
		if r.Unit == "" || !(r.Value > 0) {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Case+": "+r.Metric+", "+r.Unit)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"bulk: plain, MB/s", "bulk: 1 core, times plain, 1", "other: 2 cores, times plain, 1", "other: matches, 1"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
