package sim

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// TestNoiseLikeStage: over 10,000 scans the mean and the deviation of each
// sample are those of real Stage, for each kind of noise and all together, and
// as many of the rays hit.
func TestNoiseLikeStage(t *testing.T) {
	const scans = 10_000
	type sums struct{ first, second, hits float64 }
	w := load(t, "testdata/stage-noise", "noise.world")
	r := w.Find("r.ranger:0")
	r.Subscribe()
	sensors := r.Ranger().Sensors()
	got := make([][]sums, len(sensors))
	for range scans {
		w.Step()
		for i := range sensors {
			if got[i] == nil {
				got[i] = make([]sums, sensors[i].Samples)
			}
			for j, v := range r.Ranger().Ranges(i) {
				s := &got[i][j]
				s.first += v
				s.second += v * v
				if v != sensors[i].MaxRange {
					s.hits++
				}
			}
		}
	}
	table, err := os.ReadFile("testdata/stage-noise/noise.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		var i, j int
		var mean, deviation, hits float64
		if n, _ := fmt.Sscan(line, &i, &j, &mean, &deviation, &hits); n != 5 {
			continue // the heading
		}
		s := got[i][j]
		m := s.first / scans
		d := math.Sqrt(math.Max(0, s.second/scans-m*m))
		t.Logf("sensor %d, sample %d: mean %.4f, Stage's %.4f; deviation %.4f, %.4f; hits %.4f, %.4f", i, j, m, mean, d, deviation, s.hits/scans, hits)
		// Five deviations of what two runs differ by, and 4 % for the deviation.
		if math.Abs(m-mean) > 5*deviation*math.Sqrt(2.0/scans)+1e-5 || math.Abs(d-deviation) > 0.04*deviation+1e-5 || math.Abs(s.hits/scans-hits) > 0.03 {
			t.Errorf("sensor %d, sample %d: mean %.5f and deviation %.5f of %.4f hits, Stage has %.5f and %.5f of %.4f", i, j, m, d, s.hits/scans, mean, deviation, hits)
		}
	}
}
