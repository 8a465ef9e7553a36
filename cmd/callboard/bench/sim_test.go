package bench

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

func simValues(stage string) Values {
	v := Values{}
	for _, p := range simulation().Parameters {
		v[p.Name] = p.Default
	}
	v["robots"], v["time"], v["turns"], v["stage"] = 4, 100*time.Millisecond, 1, stage
	return v
}

func TestSimulation(t *testing.T) {
	got := map[string]float64{}
	err := runSimulation(context.Background(), simValues("none"), func(r Result) { got[r.Metric] = r.Value })
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{simulatedWall, simulatedProcessor, stepTime, threads, inReach, peakMemory} {
		if got[metric] <= 0 && !(runtime.GOOS == "windows" && metric != simulatedWall) {
			t.Errorf("%s: %v", metric, got[metric])
		}
	}
}

// TestBesideStage runs a stand-in that takes a hundredth of the time that it
// is to simulate: real Stage is not to be had here.
func TestBesideStage(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	stage := filepath.Join(t.TempDir(), "stage")
	script := "#!/bin/sh\nexec sleep \"$(awk '/^quit_time/ { print $2 / 100 }' \"$2\")\"\n"
	if err := os.WriteFile(stage, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	err := runSimulation(context.Background(), simValues(stage), func(r Result) { got[r.Case+": "+r.Metric] = r.Value })
	if err != nil {
		t.Fatal(err)
	}
	const crowd = "4 robots, 180 samples, 2 m apart: " + simulatedWall
	theirs := got["Stage, "+crowd]
	if theirs < 1 { // what the start takes is taken off, as it happens to be: on a busy machine all
		t.Errorf("the stand-in simulates %v s/s, expected about 100", theirs)
	}
	if ratio, want := got["callboard / Stage, "+crowd], got[crowd]/theirs; ratio < 0.999*want || ratio > 1.001*want {
		t.Errorf("a ratio of %v, expected %v", ratio, want)
	}
}

// TestMedians: of several turns the middle one counts, each figure for itself.
func TestMedians(t *testing.T) {
	var m medians
	for _, turn := range [][2]float64{{3, 10}, {1, 30}, {2, 20}} {
		m.add(Result{Case: "a", Metric: "x", Value: turn[0], Unit: "s"})
		m.add(Result{Case: "b", Metric: "x", Value: turn[1], Unit: "s"})
	}
	var got []Result
	m.report(func(r Result) { got = append(got, r) })
	want := []Result{{Case: "a", Metric: "x", Value: 2, Unit: "s"}, {Case: "b", Metric: "x", Value: 20, Unit: "s"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
}
