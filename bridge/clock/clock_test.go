package clock

import (
	"testing"
	"time"
)

// TestClock takes times without the wall clock's part where it can: a time of the
// present process is what has passed since the clock began.
func TestClock(t *testing.T) {
	before := time.Now()
	c := New()
	if !c.Started() || (Clock{}).Started() {
		t.Error("a clock that was not made says that it was, or the other way round")
	}
	for _, d := range []time.Duration{0, time.Microsecond, time.Hour, -time.Hour} {
		at := c.began.Add(d)
		if got := c.MicroAt(at) - c.began.UnixMicro(); got != d.Microseconds() {
			t.Errorf("%v after the start is %d µs after it", d, got)
		}
		if got := c.Time(c.MicroAt(at)).Sub(at); got > 0 || got <= -time.Microsecond {
			t.Errorf("%v after the start and back: %v off", d, got)
		}
	}
	if now := c.Now(); now.Sub(before) < 0 || time.Since(now) < 0 {
		t.Errorf("now is %v, which is not between %v and %v", now, before, time.Now())
	}
	if last := c.Micro(); c.Micro() < last {
		t.Error("it ran back")
	}
}
