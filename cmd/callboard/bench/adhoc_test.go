package bench

import (
	"context"
	"testing"
	"time"
)

// TestAdhoc: figures come of brokers that move, and those that are wrong are refused.
func TestAdhoc(t *testing.T) {
	v := Values{"brokers": 6, "degree": 3.0, "life": 10 * time.Second, "wants": 2, "rate": 5.0, "bytes": 1000, "delay": 5 * time.Millisecond, "notifications": 700, "seed": 1}
	got := map[string]float64{}
	if err := runAdhoc(context.Background(), v, func(r Result) { got[r.Metric] = r.Value }); err != nil {
		t.Fatal(err)
	}
	for _, metric := range []string{"notifications", "simulated", "degree", "life of links", "live, p50", "steady, p99 against the oracle", "stretch", "control", "flooding"} {
		if got[metric] <= 0 {
			t.Errorf("%s is %v", metric, got[metric])
		}
	}
	for name, wrong := range map[string]any{"brokers": 1, "wants": 0, "rate": 0.0, "delay": time.Duration(0), "degree": -1.0} {
		bad := Values{}
		for k, value := range v {
			bad[k] = value
		}
		bad[name] = wrong
		if err := runAdhoc(context.Background(), bad, func(Result) {}); err == nil {
			t.Errorf("%s may be %v", name, wrong)
		}
	}
}
