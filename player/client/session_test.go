package client_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func laserScan(ranges ...float32) *iface.LaserData {
	return &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: ranges}
}

// one runs a client against one fake in a bubble: prepare sets the fake up,
// check looks, after which all ends.
func one(t *testing.T, cfg client.Config, devices []player.Addr, prepare func(*fake), check func(t *testing.T, f *fake, r *running)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var f *fake
		cfg.Dial = pipes(func(conn net.Conn) {
			defer conn.Close()
			n := newFake(t, conn, devices...)
			if prepare != nil {
				prepare(n)
			}
			f = n
			n.serve()
		})
		r := start(t, cfg)
		synctest.Wait()
		check(t, f, r)
		r.stop(t)
		synctest.Wait()
	})
}

func expectEvents(t *testing.T, r *running, want ...string) {
	t.Helper()
	synctest.Wait()
	if diff := cmp.Diff(want, r.events.all()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestPullSession(t *testing.T) {
	devices := []player.Addr{robot0, ranger0, sonar0, laser0, laser0, addr(player.InterfacePlayer, 0)}
	one(t, client.Config{Mode: player.Pull}, devices, nil, func(t *testing.T, f *fake, r *running) {
		f.data(laser0, iface.DataLaserScan, 1, laserScan(1, 2))
		f.data(robot0, iface.DataPosition2DState, 1.5, &iface.Position2DData{})
		f.synch()
		f.data(laser0, iface.DataLaserScan, 2, laserScan(3))
		f.overflow(5)
		expectEvents(t, r,
			"up position2d:0 ranger:0 sonar:0 laser:0",
			"DATA 1 of laser:0 at 1", "DATA 1 of position2d:0 at 1.5", "round",
			"DATA 1 of laser:0 at 2", "overflow 5", "round")
		want := []client.Device{
			{Addr: robot0, Driver: "fake", Geometry: &player.Geometry{Size: player.Size{W: 0.4, L: 0.5}}},
			{Addr: ranger0, Driver: "fake", Geometry: &player.Geometry{Elements: []player.Pose{{X: 0.7}}, ElementSizes: []player.Size{{W: 1}}},
				Config: &player.RangerConfig{MinAngle: -1, MaxAngle: 1, MaxRange: 8}},
			{Addr: sonar0, Driver: "fake", Geometry: &player.Geometry{Elements: []player.Pose{{Yaw: 1}, {Yaw: 2}}}},
			{Addr: laser0, Driver: "fake", Geometry: &player.Geometry{Pose: player.Pose{X: 0.1}, Size: player.Size{W: 0.2, L: 0.3}}},
		}
		if diff := cmp.Diff(want, r.events.ups[0]); diff != "" {
			t.Errorf("devices (-want +got):\n%s", diff)
		}
		if n := f.count(player.InterfacePlayer, player.Request, player.PlayerDev); n != 4 {
			t.Errorf("%d DEV requests, expected 4: a device opened twice sends twice", n)
		}
		if n := f.count(player.InterfacePlayer, player.Request, player.PlayerData); n != 3 {
			t.Errorf("%d DATA requests, expected 3: one at first and one after each round", n)
		}
		got := r.Counters()
		want2 := client.Counters{Connects: 1, Bytes: got.Bytes, Messages: got.Messages, Readings: 3, Rounds: 2, Overflows: 1, Lost: 5, Requests: 13, Nacks: 2} // laser and sonar are asked whether they are twins
		if diff := cmp.Diff(want2, got); diff != "" {
			t.Errorf("counters (-want +got):\n%s", diff)
		}
	})
}

func TestPushSession(t *testing.T) {
	one(t, client.Config{Mode: player.Push}, []player.Addr{laser0}, nil, func(t *testing.T, f *fake, r *running) {
		for i := range 3 {
			f.data(laser0, iface.DataLaserScan, float64(i), laserScan(1))
			time.Sleep(60 * time.Millisecond) // no pause of 100 ms
		}
		expectEvents(t, r, "up laser:0", "DATA 1 of laser:0 at 0", "DATA 1 of laser:0 at 1", "DATA 1 of laser:0 at 2")
		time.Sleep(41 * time.Millisecond)
		synctest.Wait()
		if got := r.events.all(); got[len(got)-1] != "round" || len(got) != 5 {
			t.Errorf("events %q, expected a round at the end after 100 ms of silence", got)
		}
		f.synch() // nobody has asked for a round
		time.Sleep(time.Second)
		synctest.Wait()
		if got := r.events.all(); len(got) != 5 || r.Counters().Unsolicited != 1 {
			t.Errorf("events %q, %d unsolicited, expected one round only and the SYNCH as unsolicited", got, r.Counters().Unsolicited)
		}
		var mode iface.DeviceDatamodeReq
		f.decode(f.got[0], &mode)
		if mode.Mode != player.Push || f.count(player.InterfacePlayer, player.Request, player.PlayerData) != 0 {
			t.Errorf("mode %d was asked for, and %d rounds", mode.Mode, f.count(player.InterfacePlayer, player.Request, player.PlayerData))
		}
	})
}

// A handler that holds nothing back is told of no pause, and nothing wakes
// for one.
func TestPushWithoutHolding(t *testing.T) {
	holding := false
	cfg := client.Config{Mode: player.Push, Holding: func() bool { return holding }}
	one(t, cfg, []player.Addr{laser0}, nil, func(t *testing.T, f *fake, r *running) {
		f.data(laser0, iface.DataLaserScan, 1, laserScan(1))
		time.Sleep(time.Second)
		expectEvents(t, r, "up laser:0", "DATA 1 of laser:0 at 1")
		holding = true
		f.data(laser0, iface.DataLaserScan, 2, laserScan(1))
		synctest.Wait()
		holding = false
		f.data(laser0, iface.DataLaserScan, 3, laserScan(1))
		time.Sleep(101 * time.Millisecond)
		expectEvents(t, r, "up laser:0", "DATA 1 of laser:0 at 1", "DATA 1 of laser:0 at 2", "DATA 1 of laser:0 at 3", "round")
	})
}

// Readings that come before Up are kept, in order, also those of a device
// whose opening is not answered yet.
// A device that does not tell its geometry holds Up back only so long, is
// asked again, and is told of by Changed when it does. One that answers late is heard.
// Geometry comes in DATA messages, too: by itself and with ranger scans.
// A device that cannot be opened does not stop the others, and is tried again.
// An unanswered request to open is not repeated: it may yet be served.
// What a server should not send is counted and skipped; the stream stays in step.
func TestOddMessages(t *testing.T) {
	one(t, client.Config{Mode: player.Pull}, []player.Addr{laser0}, nil, func(t *testing.T, f *fake, r *running) {
		head := player.Header{Addr: laser0, Type: player.Data, Subtype: iface.DataLaserScan}
		f.send(player.Header{Addr: laser0, Type: player.Ack, Subtype: 1}, laserAt)
		f.send(player.Header{Addr: self, Type: player.Nack, Subtype: player.PlayerAuth}, nil)
		f.send(head, &iface.Raw{Body: []byte{1, 2, 3, 4}})          // too short
		f.send(head, &iface.Raw{Body: make([]byte, 1000)})          // too long: trailing bytes are ignored
		f.send(player.Header{Addr: robot0, Type: player.Data}, nil) // not open
		f.send(player.Header{Addr: laser0, Type: player.Command, Subtype: 1}, nil)
		f.send(player.Header{Addr: laser0, Type: 99, Subtype: 1}, nil)
		f.synch()
		f.synch() // twice for one round: the second is of the next
		head.Timestamp = 7
		f.send(head, laserScan(1))
		head.Subtype = 77 // not in the table
		f.send(head, &iface.Raw{Body: []byte{5}})
		expectEvents(t, r, "up laser:0", "DATA 1 of laser:0 at 0", "round", "round", "DATA 1 of laser:0 at 7", "DATA 77 of laser:0 at 7")
		c := r.Counters()
		if c.Unsolicited != 2 || c.Undecodable != 1 || c.Stray != 1 || c.Unexpected != 2 {
			t.Errorf("counters %+v, expected 2 unsolicited, 1 undecodable, 1 stray, 2 unexpected", c)
		}
	})
}

// Devices of interfaces that the table does not know deliver bytes as they are.
func TestUnknownInterface(t *testing.T) {
	odd := addr(200, 3)
	events := newEvents()
	events.show = func(h player.Header, payload any) string {
		return fmt.Sprintf("%s %x", h, payload.(*iface.Raw).Body)
	}
	cfg := client.Config{Handler: events, Open: func(a player.Addr) bool { return a.Interf != player.InterfaceLaser }}
	one(t, cfg, []player.Addr{laser0, addr(player.InterfacePlayer, 0), odd}, nil, func(t *testing.T, f *fake, r *running) {
		f.data(odd, 9, 1, &iface.Raw{Body: []byte{1, 2, 3, 4}})
		expectEvents(t, r, "up 200:3", "DATA 9 of 200:3 01020304")
	})
}

// Faults end the session with an error that says what was wrong; the client
// comes back.
func TestFaults(t *testing.T) {
	scan, err := iface.AppendMessage(nil, player.Header{Addr: laser0, Type: player.Data, Subtype: 1}, laserScan(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	huge := func(size uint32) []byte {
		return player.Header{Addr: laser0, Type: player.Data, Subtype: 1, Size: size}.Append(nil)
	}
	for _, test := range []struct {
		name   string
		banner []byte
		then   []byte // after Up
		hangUp bool
		want   string
	}{
		{name: "HTTP server", banner: []byte("HTTP/1.1 400 Bad Request\r\n"), want: `not a Player server: it begins with "HTTP/1.1 400 Bad Request\r\n", expected "Player v."`},
		{name: "one wrong byte", banner: []byte("P2"), want: `begins with "P2"`},
		{name: "silent", want: `0 of the 32 bytes of Player's banner in time, expected "Player v."`},
		{name: "half a banner", banner: []byte("Player v.3"), want: "10 of the 32 bytes of Player's banner in time"},
		{name: "half a banner, closed", banner: []byte("Player v.3"), hangUp: true, want: "after 10 of the 32 bytes of Player's banner: EOF"},
		{name: "closed", banner: banner(), hangUp: true, want: "the server closed the connection: EOF"},
		{name: "cut in the body", banner: banner(), then: scan[:50], hangUp: true, want: "closed the connection 50 bytes into a message"},
		{name: "cut in the header", banner: banner(), then: scan[:5], hangUp: true, want: "closed the connection 5 bytes into a message"},
		{name: "2^31", banner: banner(), then: huge(1 << 31), want: "DATA 1 of laser:0 announces a body of 2147483648 bytes, the limit is 33554392"},
		{name: "just too large", banner: banner(), then: huge(player.MaxBody + 1), want: "announces a body of 33554393 bytes"},
		{name: "garbage", banner: banner(), then: []byte(strings.Repeat("garbage ", 20)), want: "announces a body of"},
		{name: "stalls in a message", banner: banner(), then: scan[:50], want: "the server stopped 50 bytes into a message and was silent for 10s"},
		{name: "falls silent", banner: banner(), then: scan, want: "the server was silent for 10s and did not answer a request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := client.Config{Mode: player.Pull, BackoffMin: time.Second, Dial: pipes(func(conn net.Conn) {
					defer conn.Close()
					if len(test.banner) < player.BannerSize {
						_, _ = conn.Write(test.banner)
						if !test.hangUp {
							_, _ = io.Copy(io.Discard, conn)
						}
						return
					}
					f := newFake(t, conn, laser0)
					f.on = func(f *fake, m player.Message) bool {
						if m.Interf != player.InterfacePlayer || m.Subtype != player.PlayerData {
							return f.count(player.InterfacePlayer, player.Request, player.PlayerData) > 0
						}
						f.ack(m, nil)
						f.write(test.then)
						if test.hangUp {
							f.conn.Close()
						}
						return true
					}
					f.serve()
				})}
				r := start(t, cfg)
				time.Sleep(12 * time.Second)
				synctest.Wait()
				if err := r.events.lastDown(); err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("ended with %v, expected %q in it", err, test.want)
				}
				if r.Counters().Connects < 2 {
					t.Error("the client has not come back")
				}
				r.stop(t)
				synctest.Wait()
			})
		})
	}
}

// A silent server that answers when asked for a sign of life is let be; one
// that sends a message byte by byte, too.
func TestWatch(t *testing.T) {
	one(t, client.Config{Mode: player.Pull}, []player.Addr{laser0}, nil, func(t *testing.T, f *fake, r *running) {
		time.Sleep(62 * time.Second)
		synctest.Wait()
		scan, err := iface.AppendMessage(nil, player.Header{Addr: laser0, Type: player.Data, Subtype: 1}, laserScan(1))
		if err != nil {
			t.Fatal(err)
		}
		lists := f.count(player.InterfacePlayer, player.Request, player.PlayerDevlist)
		for _, b := range scan {
			f.write([]byte{b})
			time.Sleep(4 * time.Second)
		}
		expectEvents(t, r, "up laser:0", "DATA 1 of laser:0 at 0")
		if more := f.count(player.InterfacePlayer, player.Request, player.PlayerDevlist); lists != 1+12 || more != lists {
			t.Errorf("%d, then %d device lists were asked for, expected one at first, 12 in a minute of silence and none with bytes coming", lists, more)
		}
	})
}

// Pauses between attempts double up to their limit and begin anew after a
// session that stood for long.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		stand := time.Duration(0)
		cfg := client.Config{BackoffMin: time.Second, BackoffMax: 5 * time.Second, Jitter: func() float64 { return 0.5 },
			Dial: pipes(func(conn net.Conn) {
				at = append(at, time.Since(begin).Round(time.Millisecond))
				if len(at) == 5 {
					stand = time.Minute
				} else {
					stand = 0
				}
				f := newFake(t, conn)
				if stand > 0 {
					time.AfterFunc(stand, func() { conn.Close() })
					f.serve()
				}
				conn.Close()
			})}
		r := start(t, cfg)
		time.Sleep(80 * time.Second)
		r.stop(t)
		want := []time.Duration{0, 750, 2250, 5250, 9000, 9000 + 60000 + 750, 69750 + 1500, 71250 + 3000, 74250 + 3750, 78000 + 3750}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(at, want[:len(at)]) || len(at) < 9 {
			t.Errorf("attempts at %v, expected %v", at, want)
		}
	})
}

// Not all of a large server's devices are asked at once.
// Answers that do not belong to the requests end the session.
// A driver that the answer to DEV does not name is asked for.
// Readings that come while geometry is waited for are not kept without limit:
// then Up comes without it.
