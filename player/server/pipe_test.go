package server_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player/server"
)

// pipe returns both ends of a connection in memory.
func pipe(t *testing.T, buffer int) (near, far net.Conn) {
	t.Helper()
	l := server.NewPipeListener("x", buffer)
	near, err := l.Dial(context.Background(), "ignored:1")
	if err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close(); l.Close() })
	return near, far
}

func TestPipeCarriesAllBytesInOrder(t *testing.T) {
	for _, buffer := range []int{1, 7, 4096, 0} {
		near, far := pipe(t, buffer)
		rng := rand.New(rand.NewPCG(1, uint64(buffer)))
		sent := make([]byte, 50_000)
		for i := range sent {
			sent[i] = byte(rng.Uint32())
		}
		go func() {
			for b := sent; len(b) > 0; {
				n := min(len(b), 1+rng.IntN(3000))
				near.Write(b[:n])
				b = b[n:]
			}
			near.(interface{ CloseWrite() error }).CloseWrite()
		}()
		got, err := io.ReadAll(far)
		if err != nil || !bytes.Equal(got, sent) {
			t.Errorf("buffer %d: read %d bytes, %v, expected the %d sent", buffer, len(got), err, len(sent))
		}
		if _, err := far.Write([]byte("b")); err != nil {
			t.Errorf("the other direction: %v", err)
		}
	}
}

func TestPipeWriteReturnsBeforeItIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a busy machine may be later than any deadline
		near, far := pipe(t, 8)
		if n, err := near.Write([]byte("12345678")); n != 8 || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
		near.SetWriteDeadline(time.Now().Add(time.Millisecond))
		if n, err := near.Write([]byte("9")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d more, %v, expected 0 and a passed deadline", n, err)
		}
		b := make([]byte, 3)
		io.ReadFull(far, b)
		near.SetWriteDeadline(time.Time{})
		near.SetWriteDeadline(time.Now().Add(time.Millisecond))
		if n, err := near.Write([]byte("9abcd")); n != 3 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d of 5 into room for 3, %v", n, err)
		}
	})
}

func TestPipeDeadlinesWakeAndCanBeMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pipe(t, 8)
		var timeout net.Error
		before := time.Now()
		far.SetReadDeadline(before.Add(time.Hour))
		go func() {
			<-time.After(time.Minute)
			far.SetReadDeadline(before.Add(2 * time.Minute))
		}()
		if _, err := far.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(before) != 2*time.Minute {
			t.Errorf("read ended after %v with %v, expected a time-out after 2 min", time.Since(before), err)
		}
		far.SetDeadline(time.Time{})
		near.Write([]byte("x"))
		if _, err := far.Read(make([]byte, 1)); err != nil {
			t.Errorf("without a deadline: %v", err)
		}
	})
}

func TestPipeClose(t *testing.T) {
	near, far := pipe(t, 0)
	near.Write([]byte("last words"))
	near.Close()
	if got, err := io.ReadAll(far); string(got) != "last words" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := far.Write([]byte("x")); err == nil {
		t.Error("a write to a closed peer works")
	}
	if _, err := near.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read of a closed connection: %v", err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write to a closed connection: %v", err)
	}
}

func TestPipeCloseWakesReadersAndWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := pipe(t, 4)
		errs := make(chan error, 2)
		go func() { _, err := near.Read(make([]byte, 1)); errs <- err }()
		go func() { _, err := near.Write(make([]byte, 100)); errs <- err }()
		synctest.Wait()
		far.Close()
		for range 2 {
			if err := <-errs; err == nil {
				t.Error("no error although the peer has closed")
			}
		}
	})
}

func TestPipeListenerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := server.NewPipeListener("r0", 0)
		if l.Addr().Network() != "pipe" || l.Addr().String() != "r0" {
			t.Errorf("address %s %s", l.Addr().Network(), l.Addr())
		}
		waiting, err := l.Dial(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if _, err := waiting.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a connection that nobody accepted: %v, expected EOF", err)
		}
		if _, err := l.Dial(context.Background(), ""); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Dial: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept: %v", err)
		}
	})
}

func TestPipeDialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := server.NewPipeListener("r0", 0)
		defer l.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		var err error
		for n := 0; err == nil && n < 1000; n++ {
			_, err = l.Dial(ctx, "")
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Dial: %v, expected the context's end", err)
		}
	})
}
