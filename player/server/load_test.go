//go:build unix

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/listener"
	"callboard/player/server"
)

func TestMain(m *testing.M) {
	if rate, err := strconv.Atoi(os.Getenv(serveEnv)); err == nil {
		if err := serveScans(rate); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func Test1AFreePortBecomesTheRobot(t *testing.T) {
	r := tcp(t, nil)
	c := r.dial()
	h, answer := c.access(position, player.AccessOpen)
	port := uint32(r.server.Addr().(*net.TCPAddr).Port)
	if answer.Addr.Robot != port || h.Robot != port {
		t.Errorf("robot %d, expected the port %d", h.Robot, port)
	}
	if got := h.Append(nil)[:4]; !bytes.Equal(got, []byte{1, 0, 0, 0x7f}) {
		t.Errorf("host is %x on the wire, expected 0100007f", got)
	}
}

// Hundreds of clients on a real port: each gets every reading once, in order.
func TestHundredsOfClients(t *testing.T) {
	const clients, readings = 300, 20
	r := tcp(t, nil)
	var opened, done sync.WaitGroup
	opened.Add(clients)
	for range clients {
		done.Go(func() {
			c := r.dial()
			c.open(position)
			opened.Done()
			var want []float64
			for i := range readings {
				want = append(want, float64(i))
			}
			c.expectTimes(want...)
			c.close(position)
		})
	}
	opened.Wait()
	for i := range readings {
		r.driver.at(float64(i))
	}
	done.Wait()
	if s := r.server.Stats(); s.Published != readings || s.Accepted != clients || s.QueueFull != 0 {
		t.Errorf("counted %+v, expected %d published to %d clients, nothing dropped", s, readings, clients)
	}
}

// A client that reads nothing loses readings; the one beside it none.
func TestASlowClientHurtsNobody(t *testing.T) {
	inBubble(t, func(cfg *server.Config) {
		cfg.QueueLength = 8
	}, func(t *testing.T, r *rig) {
		slow, quick := r.client(), r.client()
		slow.open(laser)
		quick.open(laser)
		scan := &iface.LaserData{Ranges: make([]float32, 1000)}
		const readings = 1000
		for i := range readings {
			r.driver.pub.Publish(laser, 1, float64(i), scan)
			if m := quick.next(); m.Timestamp != float64(i) {
				t.Fatalf("reading of %v, expected %d", m.Timestamp, i)
			}
		}
		s := r.server.Stats()
		if s.QueueFull < readings/2 || s.QueueFull > readings {
			t.Errorf("%d readings dropped, expected most of %d", s.QueueFull, readings)
		}
		if s.Clients != 2 || s.Stalled != 0 {
			t.Errorf("%d clients, %d stalled, expected 2 and 0", s.Clients, s.Stalled)
		}
	})
}

// The deadline measures progress: a client that reads slowly but reads stays,
// one that reads nothing goes.
func TestOnlyAStalledClientIsDisconnected(t *testing.T) {
	for _, reads := range []bool{true, false} {
		inBubble(t, func(cfg *server.Config) {
			cfg.WriteTimeout = 10 * time.Second
		}, func(t *testing.T, r *rig) {
			c := r.client()
			c.open(laser)
			r.driver.pub.PublishBody(laser, 1, 0, make([]byte, 1<<20)) // more than the pipe holds
			for range 30 {
				<-time.After(5 * time.Second)
				if reads {
					c.bytes(1000)
				}
			}
			s := r.server.Stats()
			if gone := s.Clients == 0; gone == reads || s.Stalled != uint64(1-s.Clients) {
				t.Errorf("reading %v: %d clients, %d stalled", reads, s.Clients, s.Stalled)
			}
		})
	}
}

// A client that floods requests and reads no answers is not read any further.
func TestAFloodOfRequestsIsNotReadFurther(t *testing.T) {
	for _, answered := range []bool{true, false} {
		inBubble(t, func(cfg *server.Config) {
			cfg.WriteTimeout = time.Hour
			cfg.AnswerTimeout = time.Hour
		}, func(t *testing.T, r *rig) {
			if !answered {
				r.driver.answer = func(*server.Call) {}
			}
			other := r.client()
			c := r.client()
			flood := bytes.Repeat(encode(t, player.Header{Addr: position, Type: player.Request, Subtype: getGeom}, nil), 100_000)
			go c.nc.Write(flood)
			synctest.Wait()
			in := r.server.Stats().MessagesIn
			if in == 0 || in > 10_000 {
				t.Errorf("answered %v: %d messages read, expected some thousand at most", answered, in)
			}
			r.driver.answer = nil
			other.refused(position, getGeom, nil)
			c.nc.Close()
		})
	}
}

// Clients without a device give way to new ones, the longest silent first;
// those that have one stay, and if all have, the new one is refused.
func TestSilentClientsGiveWay(t *testing.T) {
	limit := listener.New(listener.Limits{Connections: 8, Reserve: 3})
	inBubble(t, func(cfg *server.Config) { cfg.Limit = limit }, func(t *testing.T, r *rig) {
		reader, asker := r.client(), r.client()
		reader.open(position)
		for range 100 {
			r.client()
			asker.refused(position, getGeom, nil) // who asks is not silent
		}
		r.driver.at(1)
		reader.expectTimes(1)
		if s := limit.Stats(); s.Open != 5 || s.GaveWay != 102-5 || s.Refused != 0 {
			t.Errorf("of one address: %+v, expected 5 open, 97 that gave way", s)
		}
		for range 3 {
			r.client().open(position)
		}
		asker.open(position)
		r.raw().ended()
		if s := limit.Stats(); s.Open != 5 || s.Refused != 1 {
			t.Errorf("all have devices open: %+v, expected that one was refused", s)
		}
		asker.close(position)
		late := r.client()
		late.open(laser)
		asker.ended()
		r.driver.at(2)
		reader.expectTimes(2)
	})
}

// shaky is a listener that fails a few times before each connection.
type shaky struct {
	net.Listener
	fails atomic.Int32
}

func (l *shaky) Accept() (net.Conn, error) {
	if l.fails.Add(1)%4 != 0 {
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

func TestAFailingListenerIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := server.NewPipeListener("r0", 0)
		r := start(t, func(cfg *server.Config) { cfg.Listener = &shaky{Listener: pipe} })
		r.pipe = pipe
		r.client()
		r.client()
	})
}

func TestAClosedListenerEndsTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := server.NewPipeListener("r0", 0)
		s, err := server.New(server.Config{Listener: pipe})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- s.Run(context.Background()) }()
		synctest.Wait()
		pipe.Close()
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Run: %v, expected an error that the listener is closed", err)
		}
	})
}

// Opening, closing, publishing, leaving, all at once: for the race detector,
// and no device stays open.
func TestEverythingAtOnce(t *testing.T) {
	r := tcp(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var publishing, clients sync.WaitGroup
	for range 2 {
		publishing.Go(func() {
			for i := 0.0; ctx.Err() == nil; i++ {
				r.driver.at(i)
				r.driver.pub.Publish(laser, 1, i, &iface.LaserData{Ranges: make([]float32, 10)})
			}
		})
	}
	for i := range 20 {
		clients.Go(func() {
			for range 10 {
				nc, err := net.Dial("tcp", r.server.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				var b []byte
				for _, a := range []player.Addr{position, laser, laser} {
					b = append(b, encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDev}, &iface.DeviceReq{Addr: a, Access: player.AccessOpen})...)
				}
				b = append(b, encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDatamode}, &iface.DeviceDatamodeReq{Mode: uint8(1 + i%2)})...)
				b = append(b, encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerAddReplaceRule}, &iface.AddReplaceRuleReq{Interf: -1, Index: -1, Type: 1, Subtype: -1, Replace: int32(i % 3)})...)
				b = append(b, encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDev}, &iface.DeviceReq{Addr: laser, Access: player.AccessClose})...)
				b = append(b, encode(t, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDevlist}, nil)...)
				nc.Write(b)
				io.CopyN(io.Discard, nc, 500)
				nc.Close()
			}
		})
	}
	clients.Wait()
	cancel()
	publishing.Wait()
	deadline := time.After(20 * time.Second)
	for r.server.Stats().Clients > 0 {
		select {
		case <-deadline:
			t.Fatal("clients are left")
		case <-time.After(time.Millisecond):
		}
	}
	if r.driver.pub.Opened(position) || r.driver.pub.Opened(laser) {
		t.Error("a device is still open")
	}
}
