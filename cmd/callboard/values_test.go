package main

import (
	"testing"
	"time"
)

func TestSeconds(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"20": 20 * time.Second, "0.5": 500 * time.Millisecond, "20s": 20 * time.Second, "1m30s": 90 * time.Second,
		"0": 0, "100ms": 100 * time.Millisecond, "1e-3": time.Millisecond, "2h": 2 * time.Hour, "+3": 3 * time.Second,
	} {
		s := seconds()
		if err := s.Set(text); err != nil || s.v != want {
			t.Errorf("%s: %s, %v; expected %s", text, s.v, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "-1s", "NaN", "inf", "1e300", "20 s", "1d", "0x", "9999999h"} {
		s := seconds()
		if err := s.Set(text); err == nil {
			t.Errorf("%q was taken as %s", text, s.v)
		}
	}
}

func TestCountAndSpeed(t *testing.T) {
	for _, text := range []string{"0", "-1", "1.5", "x", "", "99999999999999999999"} {
		if count().Set(text) == nil {
			t.Errorf("count %q was taken", text)
		}
	}
	n := count()
	if err := n.Set("10_000"); err != nil || n.v != 10000 {
		t.Errorf("%d, %v", n.v, err)
	}
	for text, want := range map[string]float64{"max": 0, "1": 1, "0.5": 0.5, "100": 100} {
		s := speed()
		if err := s.Set(text); err != nil || s.v != want || s.String() != text || s.or(7) != want {
			t.Errorf("speed %s: %+v, %v", text, s, err)
		}
	}
	for _, text := range []string{"0", "-1", "NaN", "inf", "fast", "", "Max"} {
		if speed().Set(text) == nil {
			t.Errorf("speed %q was taken", text)
		}
	}
	if got := speed().or(7); got != 7 {
		t.Errorf("speed of the world: %v", got)
	}
}
