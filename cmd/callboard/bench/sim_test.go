package bench

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func simValues(stage string) Values {
	v := Values{}
	for _, p := range simulation().Parameters {
		v[p.Name] = p.Default
	}
	v["robots"], v["time"], v["stage"] = 4, 100*time.Millisecond, stage
	return v
}

func TestSimulation(t *testing.T) {
	got := map[string]float64{}
	err := runSimulation(context.Background(), simValues("none"), func(r Result) { got[r.Metric] = r.Value })
	if err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{simulatedWall, simulatedProcessor, stepTime, inReach, peakMemory} {
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
	if theirs < 1 || theirs > 1000 { // what the start takes is taken off, as it happens to be
		t.Errorf("the stand-in simulates %v s/s, expected about 100", theirs)
	}
	if ratio, want := got["callboard / Stage, "+crowd], got[crowd]/theirs; ratio < 0.999*want || ratio > 1.001*want {
		t.Errorf("a ratio of %v, expected %v", ratio, want)
	}
}
