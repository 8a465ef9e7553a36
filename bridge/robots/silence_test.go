package robots_test

import (
	"context"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/bridge/metric"
	"callboard/bridge/metric/metrictest"
	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/subscribe"

	"github.com/google/go-cmp/cmp"
)

// stage is a base that sends poses ten times a second and falls silent as Stage's
// models do: whoever closes position2d:1 silences it for all, until it is opened
// again.
type stage struct {
	base
	pub    server.Publisher
	silent atomic.Bool
	wakes  bool // when it is opened again
}

func (s *stage) Attach(pub server.Publisher) { s.pub = pub }

func (s *stage) Open(a player.Addr) error {
	if a.Index == 1 && s.wakes {
		s.silent.Store(false)
	}
	return nil
}

func (s *stage) Run(ctx context.Context) error {
	ticks := time.NewTicker(time.Second / 10)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
			for i := range uint16(2) {
				if i == 0 || !s.silent.Load() {
					s.pub.Publish(player.Addr{Interf: player.InterfacePosition2D, Index: i}, iface.DataPosition2DState, float64(n)/10, &iface.Position2DData{})
				}
			}
		}
	}
}

// TestOneDeviceFallsSilent: that a device is away and up again is told, listed
// and counted, with a new session of its robot, too.
func TestOneDeviceFallsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{wakes: true}
		pipe := server.NewPipeListener("base", 0)
		served, err := server.New(server.Config{Listener: pipe, Drivers: []server.Driver{s}})
		if err != nil {
			t.Fatal(err)
		}
		matcher, err := subscribe.New(subscribe.Config{})
		if err != nil {
			t.Fatal(err)
		}
		out := &sink{events: make(chan robots.Event, 100)}
		set := metric.New()
		var conn net.Conn
		dial := func(ctx context.Context, address string) (net.Conn, error) {
			conn, err = pipe.Dial(ctx, address)
			return conn, err
		}
		r, err := robots.New(robots.Config{Servers: []robots.Server{{Address: "base:1", Robot: "r0", Dial: dial}}, Matcher: matcher, Sink: out, Metrics: set})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { _ = served.Run(ctx) })
		running.Go(func() { _ = r.Run(ctx) })
		defer running.Wait()
		defer cancel()
		told := func() (all []string) {
			synctest.Wait()
			for len(out.events) > 0 {
				e := <-out.events
				all = append(all, strings.TrimSpace(e.Device+" "+e.State))
			}
			return all
		}
		expect := func(when string, want ...string) {
			t.Helper()
			if got := told(); !cmp.Equal(got, want) {
				t.Errorf("%s: told %q, expected %q", when, got, want)
			}
		}
		time.Sleep(5 * time.Second)
		expect("at first", "up")

		s.silent.Store(true)
		time.Sleep(10 * time.Second)
		expect("silenced", "position2d:1 away", "position2d:1 up")
		if l := r.List()[0]; l.Silences != 1 || l.Devices[1].Silent != 0 {
			t.Errorf("it is up again: listed %+v", l)
		}

		s.wakes = false
		s.silent.Store(true)
		time.Sleep(10 * time.Second)
		expect("silenced for good", "position2d:1 away")
		if l := r.List()[0]; l.Silences != 2 || l.Devices[0].Silent != 0 || l.Devices[1].Silent == 0 {
			t.Errorf("it is silent: listed %+v", l)
		}
		page := httptest.NewRecorder()
		set.Handler(nil).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		families, err := metrictest.Parse(page.Body.String())
		if err != nil {
			t.Fatal(err)
		}
		figures := map[string]float64{}
		for _, f := range families {
			for _, one := range f.Samples {
				figures[one.Name] = one.Value
			}
		}
		if n, silent := figures["callboard_robots_device_silences_total"], figures["callboard_robots_devices_silent"]; n != 2 || silent != 1 {
			t.Errorf("counted %v silences, %v silent devices; expected 2 and 1", n, silent)
		}

		s.silent.Store(false)
		time.Sleep(5 * time.Second)
		expect("heard again", "position2d:1 up")

		s.silent.Store(true)
		time.Sleep(30 * time.Second)
		expect("silenced once more", "position2d:1 away")
		conn.Close()
		time.Sleep(5 * time.Second)
		expect("a new session", "away", "up", "position2d:1 up")
	})
}
