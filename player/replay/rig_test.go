package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/player/server"
)

var logDev = player.Addr{Interf: player.InterfaceLog}

// at is a position2d message of a port, whose x is its time.
type at struct {
	port uint32
	time float64
}

// logText makes a log of position2d messages, each port's geometry before its
// first.
func logText(t testing.TB, messages ...at) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out})
	if err != nil {
		t.Fatal(err)
	}
	write := func(m at, typ player.Type, payload any) {
		h := player.Header{Addr: player.Addr{Robot: m.port, Interf: player.InterfacePosition2D}, Type: typ, Subtype: 1, Timestamp: m.time}
		if err := w.Write(h, payload); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[uint32]bool{}
	for _, m := range messages {
		if !seen[m.port] {
			seen[m.port] = true
			write(m, player.Ack, &iface.Position2DGeom{Size: iface.BBox3D{Sl: float64(m.port), Sw: 0.25}})
		}
		write(m, player.Data, &iface.Position2DData{Pos: iface.Pose2D{Px: m.time}})
	}
	return out.Bytes()
}

// every returns n messages of a port, step s apart.
func every(port uint32, from, step float64, n int) []at {
	out := make([]at, n)
	for i := range out {
		out[i] = at{port, from + float64(i)*step}
	}
	return out
}

func source(t testing.TB, name string, text []byte) replay.Source {
	t.Helper()
	f, err := run.New(run.Config{R: bytes.NewReader(text), Size: int64(len(text)), Name: name})
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Survey(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Source{File: f, Survey: s}
}

// rig serves a replay over pipes.
type rig struct {
	t      testing.TB
	replay *replay.Replay
	pipes  []*server.PipeListener
	ports  []*server.Server
	log    *lockedBuffer

	foreign bool // the runs are not logText's
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves it until the test ends.
func start(t testing.TB, cfg replay.Config) *rig {
	t.Helper()
	g := &rig{t: t, log: &lockedBuffer{}}
	cfg.Logger = slog.New(slog.NewTextHandler(g.log, nil))
	var err error
	if g.replay, err = replay.New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, p := range g.replay.Ports() {
		pipe := server.NewPipeListener(fmt.Sprint(p.Recorded), 4096)
		s, err := server.New(server.Config{Listener: pipe, Drivers: []server.Driver{p}, Clock: p.Clock, Port: p.Recorded})
		if err != nil {
			t.Fatal(err)
		}
		g.pipes, g.ports = append(g.pipes, pipe), append(g.ports, s)
		running.Go(func() { s.Run(ctx) })
	}
	running.Go(func() {
		if err := g.replay.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return g
}

// got is a message as a client got it.
type got struct {
	at   time.Duration // since the client began
	time float64       // of the message, s
}

// reader is a client that notes what it gets.
type reader struct {
	t      testing.TB
	client *client.Client
	begun  time.Time
	stop   func()

	mu       sync.Mutex
	up       chan struct{}
	devices  []client.Device
	messages []got
	foreign  bool          // see rig
	hold     chan struct{} // messages wait until it is closed; nil: they do not
}

func (r *reader) Up(d []client.Device)  { r.devices = d; close(r.up) }
func (r *reader) Changed(client.Device) {}
func (r *reader) Round()                {}
func (r *reader) Overflow(n uint64)     { r.t.Errorf("%d messages were lost", n) }
func (r *reader) Down(error)            {}
func (r *reader) Message(h player.Header, payload any) {
	if r.hold != nil {
		<-r.hold
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.messages = append(r.messages, got{time.Since(r.begun), h.Timestamp})
	if p, ok := payload.(*iface.Position2DData); ok && !r.foreign && p.Pos.Px != h.Timestamp {
		r.t.Errorf("the message of %v holds %v", h.Timestamp, p.Pos.Px)
	}
}

// read connects to the i-th port and opens what open lists; nil: everything.
func (g *rig) read(i int, open func(player.Addr) bool) *reader {
	g.t.Helper()
	return g.readHeld(i, open, nil)
}

// readHeld is read, and the client takes no message until hold is closed.
func (g *rig) readHeld(i int, open func(player.Addr) bool, hold chan struct{}) *reader {
	g.t.Helper()
	if open == nil {
		open = func(a player.Addr) bool { return a.Interf == player.InterfacePosition2D }
	}
	r := &reader{t: g.t, begun: time.Now(), up: make(chan struct{}), hold: hold, foreign: g.foreign}
	c, err := client.New(client.Config{Address: "replay", Dial: g.pipes[i].Dial, Open: open, Handler: r})
	if err != nil {
		g.t.Fatal(err)
	}
	r.client = c
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	r.stop = sync.OnceFunc(func() { cancel(); <-done })
	g.t.Cleanup(r.stop)
	<-r.up
	return r
}

func (r *reader) all() []got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]got(nil), r.messages...)
}

func (r *reader) times() []float64 {
	var out []float64
	for _, m := range r.all() {
		out = append(out, m.time)
	}
	return out
}

// expect fails unless the messages so far are those of these times.
func (r *reader) expect(want ...float64) {
	r.t.Helper()
	if got, want := fmt.Sprint(r.times()), fmt.Sprint(want); got != want {
		r.t.Errorf("got the messages of %v, expected %v", got, want)
	}
}

// spaced fails unless they came at these times after the first, in s.
func (r *reader) spaced(want ...float64) {
	r.t.Helper()
	all := r.all()
	if len(all) != len(want) {
		r.t.Fatalf("got %d messages, expected %d: %v", len(all), len(want), all)
	}
	for i, m := range all {
		if d := (m.at - all[0].at).Seconds() - want[i]; d < -0.001 || d > 0.001 {
			r.t.Errorf("message %d came %v after the first, expected %v s", i, m.at-all[0].at, want[i])
		}
	}
}

// passes lets time pass, of the bubble.
func passes(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (r *reader) request(addr player.Addr, subtype uint8, req, answer any) error {
	r.t.Helper()
	return r.client.Request(context.Background(), addr, subtype, req, answer)
}

// must fails unless the request is acknowledged.
func (r *reader) must(addr player.Addr, subtype uint8, req, answer any) {
	r.t.Helper()
	if err := r.request(addr, subtype, req, answer); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) state() uint8 {
	r.t.Helper()
	var s iface.LogGetState
	r.must(logDev, iface.ReqLogGetState, nil, &s)
	if s.Type != iface.LogTypeRead {
		r.t.Errorf("the log device is of type %d, expected %d", s.Type, iface.LogTypeRead)
	}
	return s.State
}

func (r *reader) play(on uint8) {
	r.t.Helper()
	r.must(logDev, iface.ReqLogSetReadState, &iface.LogSetReadState{State: on}, nil)
}

func (r *reader) rewind() {
	r.t.Helper()
	r.must(logDev, iface.ReqLogSetReadRewind, nil, nil)
}

func bubble(t *testing.T, test func(t *testing.T)) { t.Helper(); synctest.Test(t, test) }
