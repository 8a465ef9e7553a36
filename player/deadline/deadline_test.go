package deadline

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// late is a connection as a process finds it that stood still until its deadline
// had passed: the first read or write fails, whatever has arrived.
type late struct {
	net.Conn
	reads, writes int // that fail
}

func (l *late) Read(b []byte) (int, error) {
	if l.reads > 0 {
		l.reads--
		return 0, os.ErrDeadlineExceeded
	}
	return l.Conn.Read(b)
}

func (l *late) Write(b []byte) (int, error) {
	if l.writes > 0 {
		l.writes--
		return 0, os.ErrDeadlineExceeded
	}
	return l.Conn.Write(b)
}

// TestArrived: what has arrived is read, and what there is room for is written,
// though the deadline has passed, in its first half or in its last.
func TestArrived(t *testing.T) {
	for parts := range 3 {
		synctest.Test(t, func(t *testing.T) {
			a, b := net.Pipe()
			defer a.Close()
			defer b.Close()
			c := New(&late{Conn: a, reads: parts, writes: parts})
			c.SetDeadline(time.Now().Add(time.Second))
			go b.Write([]byte("ping"))
			buf := make([]byte, 10)
			if n, err := c.Read(buf); string(buf[:n]) != "ping" || err != nil {
				t.Errorf("after %d parts: read %q, %v", parts, buf[:n], err)
			}
			go io.ReadFull(b, make([]byte, 4))
			if n, err := c.Write([]byte("pong")); n != 4 || err != nil {
				t.Errorf("after %d parts: wrote %d, %v", parts, n, err)
			}
		})
	}
}

// TestSilence: a peer that says nothing has its time, and no more; time that
// was given up is not given again.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		c := New(a)
		for _, f := range []func([]byte) (int, error){c.Read, c.Write} {
			began := time.Now()
			c.SetDeadline(began.Add(3 * time.Second))
			if _, err := f(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 3*time.Second {
				t.Errorf("it took %v", took)
			}
			began = time.Now()
			if _, err := f(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 0 {
				t.Errorf("once more: %v after %v", err, time.Since(began))
			}
		}
	})
}

// TestTrickle: what comes meanwhile does not prolong a deadline.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		var writer sync.WaitGroup
		defer writer.Wait()
		defer b.Close()
		writer.Go(func() {
			for range 100 {
				if _, err := b.Write([]byte{1}); err != nil {
					return
				}
				<-ticks.C
			}
		})
		c, began := New(a), time.Now()
		c.SetReadDeadline(began.Add(3 * time.Second))
		for {
			if _, err := c.Read(make([]byte, 1)); err != nil {
				break
			}
		}
		if took := time.Since(began); took < 3*time.Second || took > 3*time.Second+200*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestInterrupt: a deadline in the past ends what is under way, at once.
func TestInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer a.Close()
		defer b.Close()
		c, began := New(a), time.Now()
		c.SetReadDeadline(began.Add(time.Hour))
		time.AfterFunc(time.Second, func() { c.SetReadDeadline(time.Unix(1, 0)) })
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
