package sim

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHuge: a robot drives among a million boxes at the cost of those around
// it. It runs only with CALLBOARD_HUGE set (make soak).
func TestHuge(t *testing.T) {
	if os.Getenv("CALLBOARD_HUGE") == "" {
		t.Skip("CALLBOARD_HUGE is not set")
	}
	var b strings.Builder
	b.WriteString("define b model ( size [ 0.5 0.5 1 ] )\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "b ( pose [ %d %d 0 0 ] )\n", 2*(i%1000), 2*(i/1000))
	}
	b.WriteString("position ( name \"r\" pose [ 1001 1001 0 30 ] ranger ( sensor ( samples 180 fov 180 range [ 0 8 ] ) ) )\n")
	file := parseText(t, b.String())
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	w, err := New(Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	made := time.Since(begin)
	runtime.GC()
	runtime.ReadMemStats(&after)
	ws := NewWanderers(w, 1)
	begin = time.Now()
	const steps = 10000
	for range steps {
		ws.Drive()
		w.Step()
	}
	t.Logf("made in %v, %.0f MB; %v a step", made.Round(time.Millisecond), float64(after.HeapAlloc-before.HeapAlloc)/1e6, time.Since(begin)/steps)
	if w.Find("r").Global() == w.Find("r").Spec().Pose {
		t.Error("the robot has not moved")
	}
}
