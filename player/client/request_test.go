package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

var sim0 = addr(player.InterfaceSimulation, 0)

// holdSimulation makes the fake keep requests to simulation:0 for the test.
func holdSimulation(held chan player.Message) func(*fake) {
	return func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			if m.Interf == player.InterfaceSimulation && m.Type == player.Request {
				held <- m
				return true
			}
			return false
		}
	}
}

func poseOf(name string, x float64) *iface.SimulationPose2DReq {
	return &iface.SimulationPose2DReq{Name: iface.CString(name), Pose: iface.Pose2D{Px: x}}
}

// result is what a request in a goroutine of its own gave.
type result struct {
	name string
	x    float64
	err  error
}

func getPose(r *running, name string, results chan<- result) {
	var resp iface.SimulationPose2DReq
	err := r.Request(context.Background(), sim0, iface.ReqSimulationGetPose2D, poseOf(name, 0), &resp)
	results <- result{iface.GoString(resp.Name), resp.Pose.Px, err}
}

// Several requests may wait at a time; answers belong to them in order,
// whatever their seq says.
func TestRequestsInOrder(t *testing.T) {
	held := make(chan player.Message, 10)
	one(t, client.Config{}, []player.Addr{laser0}, holdSimulation(held), func(t *testing.T, f *fake, r *running) {
		var results [3]chan result
		for i := range results {
			results[i] = make(chan result, 1)
			go getPose(r, fmt.Sprint("m", i), results[i])
			synctest.Wait() // so that they are sent in this order
		}
		other := make(chan error, 1)
		go func() {
			other <- r.Request(context.Background(), sim0, iface.ReqSimulationSetPose2D, poseOf("m9", 0), nil)
		}()
		synctest.Wait()
		var m [4]player.Message
		for i := range m {
			m[i] = <-held
			m[i].Seq = uint32(100 - i)
		}
		f.ack(m[3], nil) // another subtype overtakes
		if err := <-other; err != nil {
			t.Errorf("set: %v", err)
		}
		f.ack(m[0], poseOf("m0", 0))
		f.nack(m[1], poseOf("m1", 1)) // a NACK with a body
		f.ack(m[2], poseOf("m2", 2))
		for i, want := range []float64{0, -1, 2} {
			got := <-results[i]
			if want < 0 {
				var nack *client.NackError
				if !errors.As(got.err, &nack) || len(nack.Body) == 0 || !strings.Contains(got.err.Error(), "refused request 1 to simulation:0") {
					t.Errorf("request %d: error %v, expected a NackError with the body", i, got.err)
				}
				continue
			}
			if diff := cmp.Diff(result{name: fmt.Sprint("m", i), x: want}, got, cmp.AllowUnexported(result{})); diff != "" {
				t.Errorf("request %d (-want +got):\n%s", i, diff)
			}
		}
		if c := r.Counters(); c.Unsolicited != 0 || c.Nacks != 1 {
			t.Errorf("counters %+v, expected nothing unsolicited and 1 NACK", c)
		}
	})
}

func TestRequestErrors(t *testing.T) {
	held := make(chan player.Message, 10)
	one(t, client.Config{}, []player.Addr{laser0}, holdSimulation(held), func(t *testing.T, f *fake, r *running) {
		ctx := context.Background()
		for _, test := range []struct {
			name string
			err  error
		}{
			{"DEV", r.Request(ctx, self, player.PlayerDev, &iface.DeviceReq{}, nil)},
			{"DATA", r.Request(ctx, self, player.PlayerData, nil, nil)},
			{"DATAMODE", r.Request(ctx, self, player.PlayerDatamode, nil, nil)},
			{"DRIVERINFO without body", r.Request(ctx, self, player.PlayerDriverinfo, nil, nil)},
			{"ADD_REPLACE_RULE without body", r.Request(ctx, self, player.PlayerAddReplaceRule, nil, nil)},
			{"CAPABILITIES", r.Request(ctx, laser0, iface.ReqCapabilities, &iface.CapabilitiesReq{Type: 2, Subtype: 1}, nil)},
			{"time of Stage", r.Request(ctx, sim0, iface.ReqSimulationGetProperty, &iface.SimulationPropertyReq{Prop: iface.CString("time")}, nil)},
			{"command to player", r.Send(ctx, self, 1, nil)},
		} {
			if !errors.Is(test.err, client.ErrForbidden) {
				t.Errorf("%s: error %v, expected ErrForbidden", test.name, test.err)
			}
		}
		if err := r.Request(ctx, laser0, iface.ReqLaserGetGeom, &iface.LaserConfig{}, nil); err == nil || !strings.Contains(err.Error(), "*iface.LaserConfig is not its body") {
			t.Errorf("error %v, expected that the body is wrong", err)
		}
		var geom iface.SonarGeom
		if err := r.Request(ctx, laser0, iface.ReqLaserGetGeom, nil, &geom); err == nil || !strings.Contains(err.Error(), "a *iface.SonarGeom is not the answer to laser REQ GET_GEOM") {
			t.Errorf("error %v, expected that the answer is another", err)
		}
		if err := r.Request(ctx, laser0, iface.ReqLaserGetGeom, nil, geom); err == nil {
			t.Error("an answer was decoded into a value")
		}
		var raw iface.Raw
		if err := r.Request(ctx, laser0, iface.ReqLaserGetGeom, nil, &raw); err != nil || len(raw.Body) != 72 {
			t.Errorf("%d bytes, error %v, expected the answer's 72", len(raw.Body), err)
		}
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := r.Request(soon, sim0, 1, poseOf("x", 0), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, expected that ctx ended", err)
		}
		lost := make(chan error, 1)
		go func() { lost <- r.Request(ctx, sim0, 1, poseOf("y", 0), nil) }()
		synctest.Wait()
		f.conn.Close()
		if err := <-lost; !errors.Is(err, client.ErrAway) {
			t.Errorf("error %v, expected ErrAway: the session ended", err)
		}
		if err := r.Request(ctx, sim0, 1, poseOf("z", 0), nil); !errors.Is(err, client.ErrAway) {
			t.Errorf("error %v, expected ErrAway: there is no session", err)
		}
		if err := r.Send(ctx, robot0, 1, &iface.Position2DCmdVel{}); !errors.Is(err, client.ErrAway) || !strings.Contains(err.Error(), "command 1 to position2d:0 of fake:6665") {
			t.Errorf("error %v, expected ErrAway and what was being done", err)
		}
	})
}

// A command is with the kernel when Send returns, and arrives even if Run is
// ended at once, the server is slow to read it and much is unread: the
// connection is not reset, which real servers look for before they read.
func TestLastCommandArrives(t *testing.T) {
	commands := make(chan player.Message, 10)
	read := make(chan struct{})
	ended := make(chan error, 1)
	var reset atomic.Bool
	address := listen(t, func(conn net.Conn) {
		scans := laserBatch(t, 10)
		var sending sync.WaitGroup
		f := newFake(t, conn, laser0, robot0)
		f.on = func(f *fake, m player.Message) bool {
			if m.Type != player.Command {
				return false
			}
			commands <- m
			if len(commands) == 1 {
				sending.Go(func() { // readings without end: some are unread when the client leaves
					for {
						if _, err := conn.Write(scans); err != nil {
							reset.Store(true)
							return
						}
					}
				})
				<-read
			}
			return true
		}
		f.serve()
		ended <- f.end
		conn.Close()
		sending.Wait()
	})
	h := &tally{up: make(chan struct{})}
	r := start(t, client.Config{Address: address, Handler: h})
	<-h.up
	cmd := &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5}, State: 1}
	for range 2 {
		if err := r.Send(context.Background(), robot0, iface.CmdPosition2DVel, cmd); err != nil {
			t.Fatal(err)
		}
	}
	r.cancel()
	select {
	case err := <-r.done:
		t.Error("the client left before the server had read its commands")
		r.done <- err
	case <-time.After(100 * time.Millisecond):
		if reset.Load() {
			t.Error("the client hung up before the server had read its commands")
		}
	}
	close(read)
	for range 2 {
		m := <-commands
		var got iface.Position2DCmdVel
		if err := iface.Decode(m.Body, &got); err != nil || got != *cmd || m.Addr.Robot != port {
			t.Errorf("got %+v of %+v, %v, expected %+v", got, m.Header, err, cmd)
		}
	}
	r.stop(t)
	if err := <-ended; !errors.Is(err, io.EOF) {
		t.Errorf("the server saw the end as %v, expected EOF", err)
	}
}

// A server that does not read makes requests fail, not wait for ever, and
// ends the session.
func TestServerDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopReading := make(chan struct{})
		cfg := client.Config{Mode: player.Push, RequestTimeout: time.Second, BackoffMin: time.Hour, BackoffMax: time.Hour,
			Dial: pipes(func(conn net.Conn) {
				defer conn.Close()
				f := newFake(t, conn, robot0)
				f.on = func(f *fake, m player.Message) bool {
					if m.Type == player.Command {
						<-stopReading
					}
					return false
				}
				f.serve()
			})}
		r := start(t, cfg)
		synctest.Wait()
		ctx := context.Background()
		if err := r.Send(ctx, robot0, 1, &iface.Position2DCmdVel{}); err != nil {
			t.Fatalf("the first command: %v", err)
		}
		stuck := make(chan error, 2)
		go func() { stuck <- r.Send(ctx, robot0, 1, &iface.Position2DCmdVel{}) }()
		synctest.Wait()
		big := &iface.Raw{Body: make([]byte, 1<<20)}
		go func() { stuck <- r.Send(ctx, robot0, 99, big) }()
		synctest.Wait()
		if err := r.Send(ctx, robot0, 1, &iface.Position2DCmdVel{}); !errors.Is(err, client.ErrBusy) {
			t.Errorf("error %v, expected ErrBusy", err)
		}
		for range 2 {
			if err := <-stuck; err == nil {
				t.Error("a command that was not written has no error")
			}
		}
		synctest.Wait()
		if err := r.events.lastDown(); err == nil || !strings.Contains(err.Error(), "write:") {
			t.Errorf("the session ended with %v, expected that writing failed", err)
		}
		close(stopReading)
		r.stop(t)
		synctest.Wait()
	})
}

func TestConfigIsChecked(t *testing.T) {
	handler := newEvents()
	for _, test := range []struct {
		cfg  client.Config
		want string
	}{
		{client.Config{Handler: handler}, "Address is empty, expected host:port"},
		{client.Config{Address: "x:1"}, "no Handler for x:1"},
		{client.Config{Address: "x:1", Handler: handler, Mode: 3}, "Mode is 3, expected 1 (push) or 2 (pull)"},
		{client.Config{Address: "x:1", Handler: handler, Idle: -1}, "Idle is -1ns, expected a time above 0"},
		{client.Config{Address: "x:1", Handler: handler, BackoffMin: time.Minute}, "BackoffMax 15s is below BackoffMin 1m0s"},
	} {
		if _, err := client.New(test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, expected %q in it", err, test.want)
		}
	}
	c, err := client.New(client.Config{Address: "x:1", Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
	if err := c.Run(ctx); err == nil || !strings.Contains(err.Error(), "called twice") {
		t.Errorf("Run again returned %v, expected an error", err)
	}
}
