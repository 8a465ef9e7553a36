package client_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// FuzzServerStream has a server say anything, its banner included: the session
// survives or ends, what is handed over are whole messages of devices that are
// open, and what the client says meanwhile crashes no real server.
func FuzzServerStream(f *testing.F) {
	files, err := filepath.Glob("../../testdata/captures/*.s2c.bin")
	if err != nil || len(files) == 0 {
		f.Fatalf("no captures: %v", err)
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && len(b) < 8000 {
			f.Add(b, uint8(len(b)%2))
		}
	}
	f.Add(banner(), uint8(0))
	f.Add(banner()[:20], uint8(1))
	f.Add([]byte("SSH-2.0-OpenSSH_9.2p1\r\n"), uint8(0))
	f.Fuzz(func(t *testing.T, stream []byte, mode uint8) {
		near, far := net.Pipe()
		said := make(chan struct{})
		go func() {
			defer close(said)
			fk := newFake(t, far)
			go func() {
				for {
					m, err := readMessage(far)
					if err != nil {
						return
					}
					fk.check(m)
				}
			}()
			far.SetWriteDeadline(time.Now().Add(10 * time.Second))
			far.Write(stream)
			far.Close()
		}()
		c, err := client.New(client.Config{
			Address: "fuzz:1", Mode: 1 + mode%2, Handler: &whole{t: t}, BackoffMin: time.Hour, BackoffMax: time.Hour,
			Open: func(a player.Addr) bool { return a.Index < 8 },
			Dial: func(context.Context, string) (net.Conn, error) { return near, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		done := make(chan struct{})
		go func() { _ = c.Run(ctx); close(done) }() // its context ends it
		<-said
		cancel()
		<-done
		near.Close()
	})
}

// whole is a handler that checks what it is handed.
type whole struct{ t *testing.T }

func (w *whole) Up([]client.Device)    {}
func (w *whole) Changed(client.Device) {}
func (w *whole) Message(h player.Header, payload any) {
	if h.Type != player.Data || payload == nil && h.Size > 0 {
		w.t.Errorf("%s came with a %T", h, payload)
	}
	if m, ok := iface.Lookup(h.Interf, h.Type, h.Subtype); ok && !m.Empty() {
		if _, err := m.Append(nil, payload); err != nil {
			w.t.Errorf("%s: %v", h, err)
		}
	}
}
func (w *whole) Round()          {}
func (w *whole) Overflow(uint64) {}
func (w *whole) Down(error)      {}
