package worldfile

import (
	"testing"
	"time"
)

// TestWorldSettings: what the properties of the top level mean beside what real
// Stage makes of them. With a speedup of 0 or less Stage's window goes as fast as
// it can; a world whose robots are served goes on in real time.
func TestWorldSettings(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for _, test := range []struct {
		text           string
		speed          float64
		quit, interval time.Duration
		resolution     float64
		warning        bool
	}{
		{"", 1, 0, 100 * ms, 0.02, false},
		{"speedup 3", 3, 0, 100 * ms, 0.02, false},
		{"speedup 0.25", 0.25, 0, 100 * ms, 0.02, false},
		{"speedup 0\nquit_time 3600", 1, 3600 * s, 100 * ms, 0.02, true},
		{"speedup -1.000 # as fast as possible\nquit_time 180", 1, 180 * s, 100 * ms, 0.02, true},
		{"speedup \"fast\"", 1, 0, 100 * ms, 0.02, true},
		{"interval_real 100\ninterval_sim 20", 0.2, 0, 20 * ms, 0.02, false},
		{"interval_real 20", 5, 0, 100 * ms, 0.02, false},
		{"interval_real 0", 1, 0, 100 * ms, 0.02, true},
		{"interval_real 1", 1, 0, 100 * ms, 0.02, true},
		{"interval_real 0\nspeedup 2", 2, 0, 100 * ms, 0.02, true},
		{"speedup 8\ninterval_real 100", 8, 0, 100 * ms, 0.02, true},
		{"quit_time 0", 1, 0, 100 * ms, 0.02, false},
		{"quit_time -5", 1, 0, 100 * ms, 0.02, false},
		{"quit_time 0.25", 1, 250 * ms, 100 * ms, 0.02, false},
		{"quit_time 99999999999", 1, 0, 100 * ms, 0.02, false},
		{"interval_sim 33.3333", 1, 0, 33333300, 0.02, false},
		{"unit_length \"cm\"\nresolution 0.05", 1, 0, 100 * ms, 0.05, false},
		{"threads 0\npaused 1\nshow_clock 1\nconfirm_on_quit 0", 1, 0, 100 * ms, 0.02, false},
	} {
		w, problems := Load(files(map[string]string{"a.world": test.text}), "a.world")
		if w == nil {
			t.Errorf("%q: %v", test.text, problems)
			continue
		}
		if w.Speed != test.speed || w.QuitTime != test.quit || w.Interval != test.interval || w.Resolution != test.resolution {
			t.Errorf("%q: speed %v, quits after %v, steps of %v, cells of %v; expected %v, %v, %v, %v", test.text,
				w.Speed, w.QuitTime, w.Interval, w.Resolution, test.speed, test.quit, test.interval, test.resolution)
		}
		if warned := len(problems) > 0; warned != test.warning {
			t.Errorf("%q: %v, expected a warning: %v", test.text, problems, test.warning)
		}
	}
	// With these real Stage stands still or ends.
	for _, text := range []string{"interval_sim 0", "interval_sim -100", "resolution 0", "resolution -1"} {
		if w, _ := Load(files(map[string]string{"a.world": text}), "a.world"); w != nil {
			t.Errorf("%q loads", text)
		}
	}
}
