package bench

import (
	"os/exec"
	"testing"
	"time"

	"callboard/bridge/benchtest"
)

// TestStandby: a pair is measured, and what it says is of a pair that has lost nothing.
func TestStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	standbyCommand = func(config string) (*exec.Cmd, error) { return benchtest.Command(config), nil }
	v := Values{}
	for _, p := range standby().Parameters {
		v[p.Name] = p.Default
	}
	v["cases"], v["runs"], v["rate"], v["heartbeat"] = "kill,switch", 1, 50, 200*time.Millisecond
	got := map[string]float64{}
	if err := runStandby(t.Context(), v, func(r Result) { got[r.Case+" "+r.Metric] = r.Value }); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kill", "switch"} {
		if got[name+" gap max"] <= 0 || got[name+" readings"] < 4 || got[name+" lost"]+got[name+" doubled"] > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
