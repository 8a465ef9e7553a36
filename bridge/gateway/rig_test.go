package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge/gateway"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/server"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

var (
	self     = player.Addr{Interf: player.InterfacePlayer}
	position = player.Addr{Interf: player.InterfacePosition2D}
	laser    = player.Addr{Interf: player.InterfaceLaser}
	camera   = player.Addr{Interf: player.InterfaceCamera}
	odd      = player.Addr{Interf: 777, Index: 5} // of an interface that no table has
)

// real stands for the robot's Player server: a driver that writes down what it
// is told and answers as it is bidden.
type real struct {
	infos  []server.DeviceInfo
	onOpen func(player.Addr) error // nil: works
	answer func(*server.Call)      // nil: ACK with the request's body
	pub    server.Publisher

	each func() // called with each message, which is not written down then

	mu    sync.Mutex
	lines []string
	more  chan struct{} // signalled with each line
}

func newReal(devices ...player.Addr) *real {
	r := &real{more: make(chan struct{}, 1)}
	for _, a := range devices {
		r.infos = append(r.infos, server.DeviceInfo{Interf: a.Interf, Index: a.Index, Driver: "drives " + a.String()})
	}
	return r
}

func (r *real) Devices() []server.DeviceInfo { return r.infos }
func (r *real) Attach(p server.Publisher)    { r.pub = p }
func (r *real) Relays() bool                 { return true } // sees bytes

func (r *real) note(format string, args ...any) {
	r.mu.Lock()
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

func (r *real) Open(a player.Addr) error {
	r.note("open %s", a)
	if r.onOpen != nil {
		return r.onOpen(a)
	}
	return nil
}

func (r *real) Close(a player.Addr) { r.note("close %s", a) }

// quiet has f called with each message from now on instead of writing it down.
func (r *real) quiet(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.each = f
}

func (r *real) Handle(c *server.Call) {
	r.mu.Lock()
	each := r.each
	r.mu.Unlock()
	if each != nil {
		each()
		return
	}
	r.note("%s: %x", c.Header, c.Body)
	if r.answer != nil {
		r.answer(c)
		return
	}
	c.Reply(player.Header{Type: player.Ack, Timestamp: 7.5, Seq: c.Header.Seq}, c.Body)
}

// noted waits until exactly these lines have come, in order.
func (r *real) noted(t testing.TB, want ...string) {
	t.Helper()
	limit := time.After(patience)
	for {
		r.mu.Lock()
		got := slices.Clone(r.lines)
		r.mu.Unlock()
		if slices.Equal(got, want) {
			return
		}
		select {
		case <-r.more:
		case <-limit:
			t.Fatalf("the robot's server saw\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// serve runs a Player server for the driver, at the address or a free one,
// until stop is called or the test ends.
func serve(t testing.TB, address string, drivers ...server.Driver) (s *server.Server, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s, err = server.New(server.Config{Listener: l, Drivers: drivers, Clock: func() float64 { return 5 }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("the robot's server: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return s, stop
}

// session is the broker's session with a Player server, as far as the gateway
// is concerned: it opens what wanted says, and is up and listed when started.
type session struct {
	up   chan struct{} // signalled when it is
	data chan string   // decoded readings
}

func (s *session) Up([]client.Device)    { s.up <- struct{}{} }
func (s *session) Changed(client.Device) {}
func (s *session) Round()                {}
func (s *session) Overflow(uint64)       {}
func (s *session) Down(error)            {}
func (s *session) Message(h player.Header, _ any) {
	select {
	case s.data <- h.String():
	default:
	}
}

// rig is a gateway with its sessions.
type rig struct {
	t        testing.TB
	gateway  *gateway.Gateway
	sessions []*session
	stop     func()
}

// start runs a gateway for Player servers until the test ends. wanted tells
// what the sessions open by themselves; nil: nothing.
func start(t testing.TB, wanted func(player.Addr) bool, players ...gateway.Player) *rig {
	t.Helper()
	return startWith(t, wanted, func(*client.Config) {}, players...)
}

// startWith is start with sessions of another configuration.
func startWith(t testing.TB, wanted func(player.Addr) bool, change func(*client.Config), players ...gateway.Player) *rig {
	t.Helper()
	g, err := gateway.New(gateway.Config{Listen: "127.0.0.1:0", Players: players})
	if err != nil {
		t.Fatal(err)
	}
	if wanted == nil {
		wanted = func(player.Addr) bool { return false }
	}
	r := &rig{t: t, gateway: g}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, p := range players {
		s := &session{up: make(chan struct{}, 100), data: make(chan string, 1000)}
		cfg := client.Config{
			Address: p.Address, Handler: s, Relay: g.Relay(i), Open: wanted,
			BackoffMin: 10 * time.Millisecond, BackoffMax: 50 * time.Millisecond,
		}
		change(&cfg)
		c, err := client.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		g.Attach(i, c)
		all.Go(func() { _ = c.Run(ctx) }) // ends with its context
		r.sessions = append(r.sessions, s)
	}
	all.Go(func() {
		if err := g.Run(ctx); err != nil {
			t.Errorf("the gateway: %v", err)
		}
	})
	var once sync.Once
	r.stop = func() { once.Do(func() { cancel(); all.Wait() }) }
	t.Cleanup(r.stop)
	return r
}

// isUp waits until each session is up.
func (r *rig) isUp() {
	r.t.Helper()
	for _, s := range r.sessions {
		select {
		case <-s.up:
		case <-time.After(patience):
			r.t.Fatal("no session")
		}
	}
}

// program is a Player program that does what the test says and nothing else.
type program struct {
	t     testing.TB
	nc    net.Conn
	early []player.Message // DATA that came before an answer that was waited for
}

// attach connects to a port of the gateway.
func (r *rig) attach(port int) *program {
	r.t.Helper()
	return attach(r.t, r.gateway.Ports()[port].Address)
}

func attach(t testing.TB, address string) *program {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	p := &program{t: t, nc: nc}
	p.bytes(player.BannerSize)
	return p
}

func (p *program) bytes(n int) []byte {
	p.t.Helper()
	b := make([]byte, n)
	p.nc.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadFull(p.nc, b); err != nil {
		p.t.Fatalf("read %d of %d bytes: %v", got, n, err)
	}
	return b
}

// next returns the next message, of those that came before an answer first.
func (p *program) next() player.Message {
	p.t.Helper()
	if len(p.early) > 0 {
		m := p.early[0]
		p.early = p.early[1:]
		return m
	}
	return p.read()
}

func (p *program) read() player.Message {
	p.t.Helper()
	h, err := player.ParseHeader(p.bytes(player.HeaderSize))
	if err != nil {
		p.t.Fatal(err)
	}
	return player.Message{Header: h, Body: p.bytes(int(h.Size))}
}

func (p *program) send(a player.Addr, typ player.Type, subtype uint8, payload any) {
	p.t.Helper()
	b, err := iface.AppendMessage(nil, player.Header{Addr: a, Type: typ, Subtype: subtype, Timestamp: 1.5, Seq: 3}, payload)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.nc.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

func raw(b ...byte) *iface.Raw { return &iface.Raw{Body: b} }

// request sends a request and returns the answer; readings may come first.
func (p *program) request(a player.Addr, subtype uint8, payload any) player.Message {
	p.t.Helper()
	p.send(a, player.Request, subtype, payload)
	for {
		m := p.read()
		if m.Type != player.Data {
			return m
		}
		p.early = append(p.early, m)
	}
}

// access opens or closes a device and reports whether that worked.
func (p *program) access(a player.Addr, access uint8) bool {
	p.t.Helper()
	m := p.request(self, player.PlayerDev, &iface.DeviceReq{Addr: a, Access: access})
	var answer iface.DeviceReq
	if err := iface.Decode(m.Body, &answer); err != nil {
		p.t.Fatalf("%s: %v", m.Header, err)
	}
	return m.Type == player.Ack && answer.Access == access
}

func (p *program) open(a player.Addr) {
	p.t.Helper()
	if !p.access(a, player.AccessOpen) {
		p.t.Fatalf("%s could not be opened", a)
	}
}

func (p *program) close(a player.Addr) {
	p.t.Helper()
	if !p.access(a, player.AccessClose) {
		p.t.Fatalf("%s could not be closed", a)
	}
}

// devices lists what the port has, with drivers.
func (p *program) devices() []string {
	p.t.Helper()
	var list iface.DeviceDevlist
	if err := iface.Decode(p.request(self, player.PlayerDevlist, nil).Body, &list); err != nil {
		p.t.Fatal(err)
	}
	names := []string{}
	for _, a := range list.Devices {
		var info iface.DeviceDriverinfo
		if err := iface.Decode(p.request(self, player.PlayerDriverinfo, &iface.DeviceDriverinfo{Addr: a}).Body, &info); err != nil {
			p.t.Fatal(err)
		}
		names = append(names, a.String()+" "+iface.GoString(info.DriverName))
	}
	return names
}

// until waits until the port lists n devices.
func (p *program) until(n int) []string {
	p.t.Helper()
	for end := time.Now().Add(patience); ; {
		all := p.devices()
		if len(all) == n && !slices.ContainsFunc(all, func(s string) bool { return strings.HasSuffix(s, " ") }) {
			return all
		}
		if time.Now().After(end) {
			p.t.Fatalf("devices %q, expected %d with their drivers", all, n)
		}
	}
}

// reads fails unless the next message is this DATA.
func (p *program) reads(a player.Addr, subtype uint8, at float64, body []byte) {
	p.t.Helper()
	m := p.next()
	if m.Type != player.Data || m.Interf != a.Interf || m.Index != a.Index || m.Subtype != subtype || m.Timestamp != at || string(m.Body) != string(body) {
		p.t.Fatalf("got %s at %v: %.200x\nexpected DATA %d of %s at %v: %.200x", m.Header, m.Timestamp, m.Body, subtype, a, at, body)
	}
}

// ended fails unless the gateway has ended the connection.
func (p *program) ended() {
	p.t.Helper()
	p.nc.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, p.nc); errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatal("the connection was not closed")
	}
}

func one(name, address string) gateway.Player {
	return gateway.Player{Address: address, Robots: []gateway.Robot{{Name: name}}}
}
