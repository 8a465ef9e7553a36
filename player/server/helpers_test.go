package server_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// Subtypes used by the tests.
const (
	stateData = 1
	setVel    = 1
	getGeom   = 1
)

var (
	position = player.Addr{Interf: player.InterfacePosition2D}
	laser    = player.Addr{Interf: player.InterfaceLaser}
	ranger   = player.Addr{Interf: player.InterfaceRanger}
	sim      = player.Addr{Interf: player.InterfaceSimulation}
)

// fake is a driver that records what it is told and answers as it is bidden.
type fake struct {
	infos  []server.DeviceInfo
	pub    server.Publisher
	onOpen func(player.Addr) error // nil: works
	answer func(*server.Call)      // nil: NACK
	runs   func(context.Context) error

	mu    sync.Mutex
	log   []string // "open position2d:0", "close …", "CMD 1 of …"
	calls []*server.Call
}

func newFake() *fake {
	return &fake{infos: []server.DeviceInfo{
		{Interf: player.InterfacePosition2D, Driver: "stage"},
		{Interf: player.InterfaceLaser, Driver: "dummy"},
		{Interf: player.InterfaceRanger, Driver: "stage"},
		{Interf: player.InterfaceRanger, Index: 1, Driver: "stage"},
		{Interf: player.InterfaceSimulation, Driver: "stage"},
	}}
}

func (f *fake) Devices() []server.DeviceInfo { return f.infos }
func (f *fake) Attach(p server.Publisher)    { f.pub = p }

func (f *fake) note(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, s)
}

func (f *fake) noted() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.log, ", ")
}

func (f *fake) Open(a player.Addr) error {
	f.note("open " + a.String())
	if f.onOpen != nil {
		return f.onOpen(a)
	}
	return nil
}

func (f *fake) Close(a player.Addr) { f.note("close " + a.String()) }

func (f *fake) Handle(c *server.Call) {
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	f.note(c.Header.String())
	if f.answer != nil {
		f.answer(c)
		return
	}
	c.Nack(nil)
}

// at publishes a position2d reading whose Px and time are t.
func (f *fake) at(t float64) {
	f.pub.Publish(position, stateData, t, &iface.Position2DData{Pos: iface.Pose2D{Px: t}})
}

// runner is a fake that is a server.Runner, too.
type runner struct{ *fake }

func (r runner) Run(ctx context.Context) error { return r.runs(ctx) }

// capable is a fake that knows what it handles: CMD 1.
type capable struct{ *fake }

func (capable) Handles(_ player.Addr, t player.Type, subtype uint8) bool {
	return t == player.Command && subtype == 1
}

// rig is a server over a pipe with one fake driver.
type rig struct {
	t      testing.TB
	driver *fake
	pipe   *server.PipeListener
	server *server.Server

	mu     sync.Mutex
	dialed []net.Conn // over TCP
}

// start runs a server until the test ends. change may adjust its Config.
func start(t testing.TB, change func(*server.Config)) *rig {
	r := &rig{t: t, driver: newFake(), pipe: server.NewPipeListener("r0", 0)}
	cfg := server.Config{
		Listener: r.pipe,
		Drivers:  []server.Driver{r.driver},
		Clock:    func() float64 { return 12.5 },
	}
	if change != nil {
		change(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.server = s
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return r
}

// inBubble runs test with a rig in a synctest bubble.
func inBubble(t *testing.T, change func(*server.Config), test func(*testing.T, *rig)) {
	synctest.Test(t, func(t *testing.T) { test(t, start(t, change)) })
}

// client is a Player client that does what the test says and nothing else.
type client struct {
	t  testing.TB
	nc net.Conn
}

// raw connects without reading the banner.
func (r *rig) raw() *client {
	r.t.Helper()
	nc, err := r.pipe.Dial(context.Background(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	return &client{r.t, nc}
}

func (r *rig) client() *client {
	r.t.Helper()
	c := r.raw()
	c.bytes(player.BannerSize)
	return c
}

// bytes reads exactly n bytes.
func (c *client) bytes(n int) []byte {
	c.t.Helper()
	b := make([]byte, n)
	c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	if got, err := io.ReadFull(c.nc, b); err != nil {
		c.t.Fatalf("read %d of %d bytes: %v", got, n, err)
	}
	return b
}

// next reads one message.
func (c *client) next() player.Message {
	c.t.Helper()
	h, err := player.ParseHeader(c.bytes(player.HeaderSize))
	if err != nil {
		c.t.Fatal(err)
	}
	return player.Message{Header: h, Body: c.bytes(int(h.Size))}
}

// quiet fails if the server sends anything; in a bubble only.
func (c *client) quiet() {
	c.t.Helper()
	synctest.Wait()
	c.nc.SetReadDeadline(time.Now().Add(time.Nanosecond))
	b := make([]byte, player.HeaderSize)
	if n, err := c.nc.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("expected nothing, read %x, %v", b[:n], err)
	}
}

// ended fails unless the server has closed the connection; further messages
// are read before that.
func (c *client) ended() {
	c.t.Helper()
	c.nc.SetReadDeadline(time.Now().Add(20 * time.Second))
	if b, err := io.ReadAll(c.nc); errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("the connection was not closed; read %d bytes", len(b))
	}
}

func (c *client) write(b []byte) {
	c.t.Helper()
	c.nc.SetWriteDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.nc.Write(b); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// send sends a message as stock clients do, sequence number and addresses
// zero. payload is a struct of iface, []byte, or nil.
func (c *client) send(a player.Addr, t player.Type, subtype uint8, payload any) {
	c.t.Helper()
	c.write(encode(c.t, player.Header{Addr: a, Type: t, Subtype: subtype, Timestamp: 1.5}, payload))
}

func encode(t testing.TB, h player.Header, payload any) []byte {
	t.Helper()
	body, ok := payload.([]byte)
	if !ok {
		var err error
		if body, err = iface.Append(nil, payload); err != nil {
			t.Fatal(err)
		}
	}
	h.Size = uint32(len(body))
	return append(h.Append(nil), body...)
}

// request sends a request and returns the next message.
func (c *client) request(a player.Addr, subtype uint8, payload any) player.Message {
	c.t.Helper()
	c.send(a, player.Request, subtype, payload)
	return c.next()
}

var self = player.Addr{Interf: player.InterfacePlayer}

// ask sends a request to the server itself and fails unless it is acknowledged
// next.
func (c *client) ask(subtype uint8, payload any) player.Message {
	c.t.Helper()
	m := c.request(self, subtype, payload)
	c.is(m, player.Ack, self, subtype)
	return m
}

// refused sends a request and fails unless an empty NACK is next.
func (c *client) refused(a player.Addr, subtype uint8, payload any) {
	c.t.Helper()
	m := c.request(a, subtype, payload)
	c.is(m, player.Nack, a, subtype)
	if m.Size != 0 {
		c.t.Errorf("%s has a body of %d bytes, expected an empty one", m.Header, m.Size)
	}
}

func (c *client) is(m player.Message, t player.Type, a player.Addr, subtype uint8) {
	c.t.Helper()
	if m.Type != t || m.Interf != a.Interf || m.Index != a.Index || m.Subtype != subtype {
		c.t.Fatalf("got %s, expected %s", m.Header, player.Header{Addr: a, Type: t, Subtype: subtype})
	}
}

// access opens or closes a device and returns the answer.
func (c *client) access(a player.Addr, access uint8) (player.Header, iface.DeviceReq) {
	c.t.Helper()
	m := c.request(self, player.PlayerDev, &iface.DeviceReq{Addr: a, Access: access})
	var answer iface.DeviceReq
	c.decode(m, &answer)
	return m.Header, answer
}

func (c *client) open(a player.Addr) {
	c.t.Helper()
	if h, answer := c.access(a, player.AccessOpen); h.Type != player.Ack || answer.Access != player.AccessOpen {
		c.t.Fatalf("opening %s: %s, %+v", a, h, answer)
	}
}

func (c *client) close(a player.Addr) {
	c.t.Helper()
	if h, answer := c.access(a, player.AccessClose); h.Type != player.Ack || answer.Access != player.AccessClose {
		c.t.Fatalf("closing %s: %s, %+v", a, h, answer)
	}
}

func (c *client) mode(mode uint8) {
	c.t.Helper()
	c.ask(player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: mode})
}

func (c *client) decode(m player.Message, into any) {
	c.t.Helper()
	if err := iface.Decode(m.Body, into); err != nil {
		c.t.Fatalf("%s: %v", m.Header, err)
	}
}

func (c *client) rule(interf, index, typ, subtype, action int32) {
	c.t.Helper()
	c.ask(player.PlayerAddReplaceRule, &iface.AddReplaceRuleReq{Interf: interf, Index: index, Type: typ, Subtype: subtype, Replace: action})
}

// times reads n position2d readings and returns their timestamps.
func (c *client) times(n int) []float64 {
	c.t.Helper()
	got := make([]float64, n)
	for i := range got {
		m := c.next()
		c.is(m, player.Data, position, stateData)
		got[i] = m.Timestamp
	}
	return got
}

func (c *client) expectTimes(want ...float64) {
	c.t.Helper()
	if got := c.times(len(want)); !slices.Equal(got, want) {
		c.t.Fatalf("readings at %v, expected %v", got, want)
	}
}

func (c *client) synch() {
	c.t.Helper()
	m := c.next()
	c.is(m, player.Synch, self, player.SynchOK)
	if m.Size != 0 || m.Host != 0 || m.Robot != 0 {
		c.t.Errorf("SYNCH is %+v, expected empty, host and robot 0", m.Header)
	}
}

// unhex returns the bytes of a hex dump with blanks.
func unhex(t testing.TB, dump string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(dump), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func expectBytes(t testing.TB, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// scan is a laser SCAN of 361 ranges with intensities: 1,884 bytes on the wire,
// header included.
func scan() *iface.LaserData {
	return &iface.LaserData{MinAngle: -1.57, MaxAngle: 1.57, Resolution: 0.01, MaxRange: 8, Ranges: make([]float32, 361), Intensity: make([]uint8, 361)}
}

const scanSize = 40 + 36 + 4*361 + 364 // 1,884 bytes

// tcp is start on a loopback port.
func tcp(t testing.TB, change func(*server.Config)) *rig {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return start(t, func(cfg *server.Config) {
		cfg.Listener = l
		if change != nil {
			change(cfg)
		}
	})
}

// dial connects over TCP.
func (r *rig) dial() *client {
	r.t.Helper()
	nc, err := net.Dial("tcp", r.server.Addr().String())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { nc.Close() })
	r.mu.Lock()
	r.dialed = append(r.dialed, nc)
	r.mu.Unlock()
	c := &client{r.t, nc}
	c.bytes(player.BannerSize)
	return c
}
