package main

import (
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	for want, c := range map[string]struct {
		done, all int64
		took      time.Duration
	}{
		"25 % of 4.0GB, 500MB/s, 6s left": {1e9, 4e9, 2 * time.Second},
		"1.5MB, 3.0MB/s":                  {1_500_000, 0, 500 * time.Millisecond},
		"0 % of 10.0kB, 0B/s":             {0, 10_000, time.Second},
	} {
		if got := progressText(c.done, c.all, c.took); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
