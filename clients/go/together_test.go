package callboard

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"
)

// counting is a connection that counts its writes.
type counting struct {
	net.Conn
	writes [][]byte
	err    error
	by     []time.Time // deadlines
}

func (c *counting) SetWriteDeadline(by time.Time) error {
	c.by = append(c.by, by)
	return nil
}

func (c *counting) Write(b []byte) (int, error) {
	c.writes = append(c.writes, bytes.Clone(b))
	return len(b), c.err
}

// TestTogether: what is written between begin and end goes out together, in order, and
// what is too large for that behind what was written before; an error is told.
func TestTogether(t *testing.T) {
	to := &counting{}
	c := newTogether(to)
	write := func(text string) {
		if n, err := c.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatalf("%d, %v", n, err)
		}
	}
	write("alone")
	c.begin()
	write("a")
	write("b")
	if len(to.writes) != 1 {
		t.Fatalf("%q is written before end", to.writes[1:])
	}
	if err := c.end(); err != nil {
		t.Fatal(err)
	}
	write("alone")
	large := string(make([]byte, maxTogether+1))
	c.begin()
	write("before")
	write(large)
	write("behind")
	c.end()
	c.begin()
	if c.end(); len(to.writes) != 6 {
		t.Errorf("%d writes, expected 6", len(to.writes))
	}
	for i, want := range []string{"alone", "ab", "alone", "before", large, "behind"} {
		if string(to.writes[i]) != want {
			t.Errorf("write %d is %.20q, expected %.20q", i, to.writes[i], want)
		}
	}
	c.begin()
	c.SetWriteDeadline(time.Unix(2, 0))
	write("x")
	if n := len(to.by); !to.by[n-1].IsZero() {
		t.Errorf("the deadline %v is set before it is written", to.by[n-1])
	}
	if c.end(); !to.by[len(to.by)-1].Equal(time.Unix(2, 0)) {
		t.Errorf("it is written by %v, expected the deadline that was set last", to.by[len(to.by)-1])
	}
	to.err = errors.New("lost")
	c.begin()
	write("x")
	if err := c.end(); !errors.Is(err, to.err) {
		t.Errorf("%v, expected %v", err, to.err)
	}
}
