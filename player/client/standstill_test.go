package client_test

import (
	"context"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/server"
)

// standing is a connection that finds itself late: its process stood still while
// it read.
type standing struct {
	net.Conn
	still atomic.Int64 // ns for which it is to stand still
}

func (s *standing) Read(b []byte) (int, error) {
	if d := s.still.Swap(0); d > 0 {
		time.Sleep(time.Duration(d))
		return 0, os.ErrDeadlineExceeded
	}
	return s.Conn.Read(b)
}

// A process that stood still reads what has arrived before it calls a server
// dead, a request unanswered or a device silent.
func TestStandstill(t *testing.T) {
	for _, test := range []struct{ sends, asked bool }{{true, true}, {false, true}, {false, false}} {
		synctest.Test(t, func(t *testing.T) {
			var f *fake
			var conn *standing
			e := newEvents()
			cfg := client.Config{Handler: e, Relay: relay{e}, Silent: func(a player.Addr, _ bool) { t.Errorf("%s fell silent", a) }}
			buffered := server.NewPipeListener("fake", 0) // as a socket is
			defer buffered.Close()
			cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
				near, err := buffered.Dial(ctx, address)
				if err != nil {
					return nil, err
				}
				far, err := buffered.Accept()
				if err != nil {
					return nil, err
				}
				f = newFake(t, far, laser0, robot0)
				go func() {
					defer far.Close()
					f.serve()
				}()
				conn = &standing{Conn: near}
				return conn, nil
			}
			r := start(t, cfg)
			synctest.Wait()
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for i := 0; test.sends; i++ {
					select {
					case <-stop:
						return
					case <-time.After(time.Second / 10):
						f.data(laser0, iface.DataLaserScan, float64(i)/10, laserScan(1))
						f.data(robot0, iface.DataPosition2DState, float64(i)/10, &iface.Position2DData{})
					}
				}
			}()
			time.Sleep(9*time.Second + 500*time.Millisecond) // without data a sign of life was asked for
			answered := make(chan error, 1)
			if !test.asked {
				answered <- nil
			} else if err := r.Pass(player.Header{Addr: robot0, Type: player.Request, Subtype: iface.ReqPosition2DGetGeom}, nil,
				func(_ player.Header, _ []byte, err error) { answered <- err }); err != nil {
				t.Fatal(err)
			}
			conn.still.Store(int64(50 * time.Second))
			_ = conn.SetReadDeadline(time.Unix(1, 0)) // the next read is the one that stands still
			time.Sleep(time.Minute)
			if err := <-answered; err != nil {
				t.Errorf("%+v: a request: %v", test, err)
			}
			if all := r.events.all(); slices.Contains(all, "down") {
				t.Errorf("%+v: the session has ended: %v", test, r.events.lastDown())
			}
			close(stop)
			<-done
			r.stop(t)
			synctest.Wait()
		})
	}
}
