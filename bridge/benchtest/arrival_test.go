package benchtest

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// What the reader waited after a message had arrived is not in its time.
func TestArrived(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := DialStamped(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peer, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	const busy = 50 * time.Millisecond
	for stamped, round := 0, 0; stamped < 3; round++ {
		before := time.Now()
		if _, err := peer.Write([]byte("reading")); err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		for time.Since(after) < busy {
		}
		if _, err := io.ReadFull(conn, make([]byte, 7)); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		arrived := Arrived(conn, now)
		if runtime.GOOS != "linux" {
			if !arrived.Equal(now) {
				t.Errorf("arrived at %v, expected now, %v", arrived, now)
			}
			stamped++
			continue
		}
		if arrived.Equal(now) && round < 100 {
			continue // the kernel begins to stamp a while after it was asked to
		}
		stamped++
		// Two clocks are compared: a millisecond more than they differ.
		if arrived.Before(before.Add(-time.Millisecond)) || arrived.After(after.Add(busy/2)) {
			t.Errorf("written from %v to %v, arrived at %v", before, after, arrived)
		}
	}
	peer.Close()
	if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}
