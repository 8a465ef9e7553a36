package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

const (
	host = 0x0100007f
	port = 6665
)

func addr(i player.Interface, index uint16) player.Addr {
	return player.Addr{Host: host, Robot: port, Interf: i, Index: index}
}

var (
	self     = player.Addr{Interf: player.InterfacePlayer}
	laser0   = addr(player.InterfaceLaser, 0)
	ranger0  = addr(player.InterfaceRanger, 0)
	sonar0   = addr(player.InterfaceSonar, 0)
	robot0   = addr(player.InterfacePosition2D, 0)
	laserAt  = &iface.LaserGeom{Pose: iface.Pose3D{Px: 0.1}, Size: iface.BBox3D{Sw: 0.2, Sl: 0.3}}
	robotAt  = &iface.Position2DGeom{Size: iface.BBox3D{Sw: 0.4, Sl: 0.5}}
	sonarAt  = &iface.SonarGeom{Poses: []iface.Pose3D{{Pyaw: 1}, {Pyaw: 2}}}
	rangerAt = &iface.RangerGeom{ElementPoses: []iface.Pose3D{{Px: 0.7}}, ElementSizes: []iface.BBox3D{{Sw: 1}}}
	rangerIs = &iface.RangerConfig{MinAngle: -1, MaxAngle: 1, MaxRange: 8}
)

// fake is the server's end of a connection. It answers what a session asks
// at its beginning; on, if set, sees each message first and tells whether it
// has dealt with it.
type fake struct {
	t        testing.TB
	conn     net.Conn
	devices  []player.Addr
	geometry map[player.Addr][]any  // answers to requests, in order of subtype; none: NACK
	drivers  map[player.Addr]string // names told before the device is opened; none: NACK
	on       func(f *fake, m player.Message) bool
	pulls    chan struct{} // a DATA request was acknowledged
	stopped  atomic.Bool   // drivers do not run: what a session asks to see what they are past goes to on, too

	mu   sync.Mutex // one message at a time is written
	done chan struct{}
	end  error // why serve ended; set when done is closed
	got  []player.Message
}

// newFake serves a session on conn, after the banner, until it is closed.
func newFake(t testing.TB, conn net.Conn, devices ...player.Addr) *fake {
	return &fake{t: t, conn: conn, devices: devices, pulls: make(chan struct{}, 1000), done: make(chan struct{}),
		geometry: map[player.Addr][]any{
			laser0: {laserAt}, robot0: {robotAt}, sonar0: {sonarAt}, ranger0: {rangerAt, 4: rangerIs},
		}}
}

func banner() []byte {
	b := make([]byte, player.BannerSize)
	copy(b, "Player v.3.1.1-fake")
	return b
}

func (f *fake) serve() {
	defer close(f.done)
	f.write(banner())
	for {
		m, err := readMessage(f.conn)
		if err != nil {
			f.end = err
			return
		}
		f.check(m)
		f.mu.Lock()
		f.got = append(f.got, m)
		f.mu.Unlock()
		if f.on == nil || isProbe(m) && !f.stopped.Load() || !f.on(f, m) {
			f.answer(m)
		}
	}
}

// isProbe reports whether a request is for the property that no driver has.
func isProbe(m player.Message) bool {
	return m.Type == player.Request && m.Subtype >= iface.ReqSetBoolprop && bytes.Contains(m.Body, []byte("callboard\x00"))
}

func readMessage(r io.Reader) (player.Message, error) {
	head := make([]byte, player.HeaderSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return player.Message{}, err
	}
	h, err := player.ParseHeader(head)
	if err != nil {
		return player.Message{}, err
	}
	body := make([]byte, h.Size)
	_, err = io.ReadFull(r, body)
	return player.Message{Header: h, Body: body}, err
}

// check fails the test for what would crash a real server.
func (f *fake) check(m player.Message) {
	if m.Interf == player.InterfacePlayer && len(m.Body) == 0 {
		switch m.Subtype {
		case player.PlayerDev, player.PlayerDriverinfo, player.PlayerDatamode, player.PlayerAddReplaceRule:
			f.t.Errorf("%s without body was sent: it crashes the real server", m.Header)
		}
	}
	if m.Interf != player.InterfacePlayer && m.Subtype == iface.ReqCapabilities {
		f.t.Errorf("%s was sent: it crashes the real server", m.Header)
	}
}

func (f *fake) answer(m player.Message) {
	if m.Type != player.Request {
		return
	}
	if m.Interf != player.InterfacePlayer {
		if g := f.geometry[addr(m.Interf, m.Index)]; int(m.Subtype) <= len(g) && g[m.Subtype-1] != nil {
			f.ack(m, g[m.Subtype-1])
			return
		}
		f.nack(m, nil)
		return
	}
	switch m.Subtype {
	case player.PlayerDatamode:
		f.ack(m, nil)
	case player.PlayerDevlist:
		f.ack(m, &iface.DeviceDevlist{Devices: f.devices})
	case player.PlayerDev:
		var req iface.DeviceReq
		f.decode(m, &req)
		req.DriverName = iface.CString("fake")
		f.ack(m, &req)
	case player.PlayerDriverinfo:
		var req iface.DeviceDriverinfo
		f.decode(m, &req)
		name, known := f.drivers[addr(player.Interface(req.Addr.Interf), req.Addr.Index)]
		if !known {
			f.nack(m, nil)
			return
		}
		req.DriverName = iface.CString(name)
		f.ack(m, &req)
	case player.PlayerData:
		f.ack(m, nil)
		f.pulls <- struct{}{}
	default:
		f.nack(m, nil)
	}
}

func (f *fake) decode(m player.Message, into any) {
	if err := iface.Decode(m.Body, into); err != nil {
		f.t.Errorf("%s: %v", m.Header, err)
	}
}

func (f *fake) write(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _ = f.conn.Write(b) // a client that has gone is seen by serve
}

func (f *fake) send(h player.Header, payload any) {
	b, err := iface.AppendMessage(nil, h, payload)
	if err != nil {
		f.t.Errorf("fake: %v", err)
	}
	f.write(b)
}

func (f *fake) ack(m player.Message, payload any) {
	h := m.Header
	h.Type = player.Ack
	f.send(h, payload)
}

func (f *fake) nack(m player.Message, payload any) {
	h := m.Header
	h.Type = player.Nack
	f.send(h, payload)
}

func (f *fake) data(a player.Addr, subtype uint8, time float64, payload any) {
	f.send(player.Header{Addr: a, Type: player.Data, Subtype: subtype, Timestamp: time}, payload)
}

func (f *fake) synch() {
	f.send(player.Header{Addr: self, Type: player.Synch, Subtype: player.SynchOK, Timestamp: 1e-321, Seq: 77}, nil)
}

func (f *fake) overflow(lost uint32) {
	f.send(player.Header{Addr: self, Type: player.Synch, Subtype: player.SynchOverflow}, &iface.Uint32{Value: lost})
}

// received are the messages that have come.
func (f *fake) received() []player.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// count returns how many messages of an interface, type and subtype have come.
func (f *fake) count(i player.Interface, typ player.Type, subtype uint8) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, m := range f.got {
		if m.Interf == i && m.Type == typ && m.Subtype == subtype {
			n++
		}
	}
	return n
}

// events is a Handler that writes down what it is told, one line each.
type events struct {
	mu     sync.Mutex
	lines  []string
	more   chan struct{} // signalled with each line
	show   func(h player.Header, payload any) string
	onUp   func()
	downs  []error
	ups    [][]client.Device
	change []client.Device
}

func newEvents() *events { return &events{more: make(chan struct{}, 1)} }

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	e.lines = append(e.lines, fmt.Sprintf(format, args...))
	e.mu.Unlock()
	select {
	case e.more <- struct{}{}:
	default:
	}
}

func (e *events) Up(d []client.Device) {
	e.mu.Lock()
	e.ups = append(e.ups, d)
	e.mu.Unlock()
	names := ""
	for _, d := range d {
		names += " " + d.String()
	}
	e.add("up%s", names)
	if e.onUp != nil {
		e.onUp()
	}
}

func (e *events) Changed(d client.Device) {
	e.mu.Lock()
	e.change = append(e.change, d)
	e.mu.Unlock()
	e.add("changed %s geometry %t config %t", d.Addr, d.Geometry != nil, d.Config != nil)
}

func (e *events) Message(h player.Header, payload any) {
	if e.show != nil {
		e.add("%s", e.show(h, payload))
		return
	}
	e.add("%s at %v", h, h.Timestamp)
}

func (e *events) Round()               { e.add("round") }
func (e *events) Overflow(lost uint64) { e.add("overflow %d", lost) }
func (e *events) Down(err error) {
	e.mu.Lock()
	e.downs = append(e.downs, err)
	e.mu.Unlock()
	e.add("down")
}

func (e *events) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.lines...)
}

func (e *events) lastDown() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.downs) == 0 {
		return nil
	}
	return e.downs[len(e.downs)-1]
}

// until waits until line has come n times. It is for real connections; in a
// synctest bubble use synctest.Wait.
func (e *events) until(t testing.TB, line string, n int) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		seen := 0
		for _, l := range e.all() {
			if l == line {
				seen++
			}
		}
		if seen >= n {
			return
		}
		select {
		case <-e.more:
		case <-limit:
			all := e.all()
			t.Fatalf("%q has not come %d times in 10 s; last came: %q", line, n, all[max(0, len(all)-20):])
		}
	}
}

// running is a client in Run.
type running struct {
	*client.Client
	events *events
	cancel context.CancelFunc
	done   chan error
}

func start(t testing.TB, cfg client.Config) *running {
	t.Helper()
	e := newEvents()
	if cfg.Handler == nil {
		cfg.Handler = e
	} else if own, ok := cfg.Handler.(*events); ok {
		e = own
	}
	if cfg.Address == "" {
		cfg.Address = "fake:6665"
	}
	if cfg.Jitter == nil {
		cfg.Jitter = func() float64 { return 0 }
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{Client: c, events: e, cancel: cancel, done: make(chan error, 1)}
	go func() { r.done <- c.Run(ctx) }()
	return r
}

func (r *running) stop(t testing.TB) {
	t.Helper()
	r.cancel()
	if err := <-r.done; !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v, expected that it was cancelled", err)
	}
}

// pipes dials in memory; each connection's other end goes to serve, in a
// goroutine of its own.
func pipes(serve func(conn net.Conn)) func(context.Context, string) (net.Conn, error) {
	return func(context.Context, string) (net.Conn, error) {
		near, far := net.Pipe()
		go serve(far)
		return near, nil
	}
}

// listen accepts on a loopback port and serves each connection; the address
// comes back. Everything has ended when the test has.
func listen(t testing.TB, serve func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		all.Wait()
	})
	return l.Addr().String()
}
