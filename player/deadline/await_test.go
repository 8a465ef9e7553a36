package deadline

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestAwait: it returns for what came before, for what comes, for the peer's end and
// for a deadline, and takes nothing of what Read then returns.
func TestAwait(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	peer, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	c := New(accepted)
	await := func(what string) (string, error) {
		t.Helper()
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Await()
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatalf("it waits on: %s", what)
		}
		b := make([]byte, 1)
		n, err := c.Read(b)
		return string(b[:n]), err
	}
	peer.Write([]byte("ab"))
	for _, want := range []string{"a", "b"} {
		if got, err := await("what is there"); got != want || err != nil {
			t.Errorf("read %q, %v; expected %q", got, err, want)
		}
	}
	writing := time.AfterFunc(20*time.Millisecond, func() { peer.Write([]byte("c")) })
	defer writing.Stop()
	if got, err := await("what comes"); got != "c" || err != nil {
		t.Errorf("read %q, %v; expected c", got, err)
	}
	c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	began := time.Now()
	if got, err := await("a deadline"); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) < 50*time.Millisecond {
		t.Errorf("read %q, %v after %v", got, err, time.Since(began))
	}
	c.SetReadDeadline(time.Time{})
	ending := time.AfterFunc(20*time.Millisecond, func() { peer.Close() })
	defer ending.Stop()
	if got, err := await("the end"); !errors.Is(err, io.EOF) {
		t.Errorf("read %q, %v; expected the end", got, err)
	}
}
