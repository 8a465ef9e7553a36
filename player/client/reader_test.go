package client

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
)

// The buffer grows with what comes, not with what is announced, and is given
// back some time after a large message.
func TestReaderBuffer(t *testing.T) {
	const size = 4 << 20
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		r := newReader(near)
		deadline := time.Now().Add(time.Hour)
		head := player.Header{Addr: player.Addr{Interf: 200}, Type: player.Data, Size: size}
		go func() { _, _ = far.Write(append(head.Append(nil), make([]byte, 1000)...)) }()
		for r.partial() < 1040 {
			if _, err := r.fill(deadline, new(atomic.Bool)); err != nil {
				t.Fatal(err)
			}
			if _, _, ok, err := r.next(); ok || err != nil {
				t.Fatalf("%v, %v: a message after %d of its bytes", ok, err, r.partial())
			}
		}
		if len(r.buf) > 2*readSize {
			t.Errorf("1040 bytes of a message of 4 MiB took a buffer of %d", len(r.buf))
		}
		go func() { _, _ = far.Write(make([]byte, size-1000)) }()
		for {
			if _, err := r.fill(deadline, new(atomic.Bool)); err != nil {
				t.Fatal(err)
			}
			h, body, ok, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				if h != head || len(body) != size {
					t.Errorf("got %v with %d bytes", h, len(body))
				}
				break
			}
		}
		if len(r.buf) > 4*size {
			t.Errorf("a message of 4 MiB took a buffer of %d", len(r.buf))
		}
		r.trim(time.Now())
		if len(r.buf) < size {
			t.Error("the buffer was given back at once")
		}
		go func() { _, _ = far.Write([]byte{1, 2, 3}) }()
		if _, err := r.fill(deadline, new(atomic.Bool)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		r.trim(time.Now())
		if len(r.buf) != readSize || string(r.buf[r.r:r.w]) != "\x01\x02\x03" {
			t.Errorf("a buffer of %d with %x is left, expected %d with 010203", len(r.buf), r.buf[r.r:r.w], readSize)
		}
	})
}

// The end of a session's context is seen also when it comes before the
// banner's deadline is set.
func TestBannerAfterTheEnd(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newReader(near).banner(ctx, time.Now().Add(time.Hour)); err != context.Canceled {
		t.Errorf("error %v, expected that the context has ended", err)
	}
}

func TestBannerVersion(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() { _, _ = far.Write([]byte("Player v.3.1.1-dev" + strings.Repeat("\x00", 14))) }()
	if v, err := newReader(near).banner(t.Context(), time.Now().Add(time.Hour)); err != nil || v != "3.1.1-dev" {
		t.Errorf("version %q, %v, expected 3.1.1-dev", v, err)
	}
}
