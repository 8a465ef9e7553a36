package bench

import (
	"context"
	"strings"
	"testing"
)

// TestMulticast: each case delivers all, and says how fast.
func TestMulticast(t *testing.T) {
	cases := map[string]bool{}
	v := Values{"deliveries": 500, "bytes": 256, "seed": 1}
	err := runMulticast(context.Background(), v, func(r Result) {
		cases[r.Case] = true
		switch {
		case r.Metric == "deliveries" && r.Value < 400, r.Metric == "bytes for each message" && r.Value < 256, r.Metric == "delay, p50" && (r.Value < 0.1 || r.Value > 1):
			t.Errorf("%+v", r)
		}
	})
	if err != nil || len(cases) != len(multicastCases()) {
		t.Errorf("%d cases, %v", len(cases), err)
	}
	if err := runMulticast(context.Background(), Values{"deliveries": 1, "bytes": 1, "seed": 1}, nil); err == nil || !strings.Contains(err.Error(), "--deliveries is 1, expected at least 100") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := runMulticast(ctx, v, func(Result) {}); err == nil {
		t.Error("it does not stop")
	}
}
