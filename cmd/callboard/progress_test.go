package main

import (
	"testing"
	"time"
)

func TestBytesText(t *testing.T) {
	for want, c := range map[string]struct {
		done, all int64
		took      time.Duration
	}{
		"25 % of 4.0GB, 500MB/s, 6s left": {1e9, 4e9, 2 * time.Second},
		"1.5MB, 3.0MB/s":                  {1_500_000, 0, 500 * time.Millisecond},
		"0 % of 10.0kB, 0B/s":             {0, 10_000, time.Second},
	} {
		if got := bytesText(c.done, c.all, c.took); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestSimulatedText(t *testing.T) {
	for want, c := range map[string]struct{ done, all, took time.Duration }{
		"25 % of 1h0m0s simulated, 450 times real time, 6s left":             {15 * time.Minute, time.Hour, 2 * time.Second},
		"0 % of 1m0s simulated, 0 times real time":                           {0, time.Minute, time.Second},
		"1m40s simulated, 33.3 times real time":                              {100 * time.Second, 0, 3 * time.Second},
		"0 % of 1h0m0s simulated, 1e-09 times real time, 277777h46m40s left": {time.Nanosecond, time.Hour, time.Second},
	} {
		if got := simulatedText(c.done, c.all, c.took); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
