package bench

import (
	"context"
	"testing"
	"time"
)

func TestReplaying(t *testing.T) {
	got := map[string]float64{}
	err := runReplaying(context.Background(), Values{"time": 300 * time.Millisecond, "rate": 100, "size": 1, "seed": 1},
		func(r Result) { got[r.Case+": "+r.Metric] = r.Value })
	if err != nil {
		t.Fatal(err)
	}
	for _, positive := range []string{
		"real speed, 100 messages a second: " + spacingMedian, "real speed, 100 messages a second: " + latenessP99,
		"as fast as possible: " + replayRate, "beside a slow client: " + replayBytes,
	} {
		if got[positive] <= 0 {
			t.Errorf("%s is %v", positive, got[positive])
		}
	}
	for _, none := range []string{"as fast as possible: " + replayLost, "beside a slow client: " + replayLost} {
		if lost, measured := got[none]; !measured || lost != 0 {
			t.Errorf("%s is %v, expected 0", none, lost)
		}
	}
}
