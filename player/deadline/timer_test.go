package deadline

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimer: a timer takes its time, in two halves; what has stopped it does
// nothing any more.
func TestTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		passed := make(chan time.Duration, 1)
		AfterFunc(5*time.Second, func() { passed <- time.Since(began) })
		if took := <-passed; took != 5*time.Second {
			t.Errorf("it took %v, expected 5 s", took)
		}
		for _, when := range []time.Duration{0, time.Second, 3 * time.Second} {
			stopped := AfterFunc(4*time.Second, func() { t.Error("what was stopped goes on") })
			time.Sleep(when)
			if !stopped.Stop() || stopped.Stop() {
				t.Errorf("stopped after %v: expected that this was in time, once", when)
			}
		}
		time.Sleep(time.Minute)
	})
}

// TestContext: a context ends as its time does, with its cause, or as its parent
// does.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, end := context.WithCancel(context.Background())
		began := time.Now()
		ctx, cancel := Context(parent, 3*time.Second)
		defer cancel()
		<-ctx.Done()
		if took, cause := time.Since(began), context.Cause(ctx); took != 3*time.Second || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("it ended after %v: %v", took, cause)
		}
		other, cancel := Context(parent, 3*time.Second)
		defer cancel()
		end()
		if cause := context.Cause(other); !errors.Is(cause, context.Canceled) {
			t.Errorf("its parent has ended: %v", cause)
		}
	})
}
