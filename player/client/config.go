// Package client is one session with one Player server at a time: it opens
// devices, pulls or takes pushed data, sends requests and commands, and
// reconnects for as long as it runs.
package client

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// Config says which server to talk to, and how.
type Config struct {
	Address string // host:port of the server; needed
	// Dial connects to Address. Default: TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Mode is player.Push or player.Pull. Default: player.Push. Pull tells when
	// the server drops readings, but each request for a round makes a headless
	// Stage step its world: simulated time runs as fast as one reads (DESIGN.md).
	Mode uint8
	// Open says which of the server's devices to open. Default: all whose
	// interface has data messages in package iface, but for those that send
	// images, sound and the like, megabytes a second that only who asks for them
	// should get: camera, stereo, pointcloud3d, audio.
	Open func(player.Addr) bool
	// Twin says which of those to open even if they show what another device shows
	// that is opened too (player.TwinDriver). Default: none.
	Twin func(player.Addr) bool

	ConnectTimeout time.Duration // for connecting and for the banner; default 5 s
	RequestTimeout time.Duration // for the answer to a request, and for a write; default 5 s
	// SetupTimeout is how long Up waits for slow devices and for geometry;
	// what comes later is told by Changed. Default 2 s.
	SetupTimeout time.Duration
	// Idle is the silence after which the server is asked for a sign of life.
	// Default 5 s. If it gives none within RequestTimeout, the session ends.
	Idle time.Duration
	// BackoffMin is the pause before the first new attempt to connect; it
	// doubles up to BackoffMax. Defaults 0.25 s and 15 s. A device that cannot
	// be opened, or does not tell its geometry, is asked again in the same manner.
	BackoffMin, BackoffMax time.Duration
	// Jitter returns numbers from 0 to below 1 that spread the pauses over their
	// upper half. Default: random.
	Jitter func() float64

	// Room returns nil while there is room for readings, else a channel that is
	// closed when that may have changed: then the session stops reading, if the
	// server waits for its clients (a replay as fast as possible: the property
	// "speed" of its log device is 0). Servers that do not wait are never kept
	// waiting. Default: there is always room.
	Room func() <-chan struct{}

	// Holding, asked after Handler.Message, reports whether that waits for a Round
	// now. Of a server that pushes no Round is told else: a timer for each
	// reading wakes the process once more. Default: it always waits.
	Holding func() bool

	// Silent is told when a device that sends all the time has fallen silent,
	// while another of its group goes on, and when it is heard again; it is opened
	// anew meanwhile. It is called where the Handler is. Default: nobody is told.
	Silent func(a player.Addr, silent bool)
	// Group returns the same word for the devices of one robot, which may fall
	// silent as a whole. Default: all are of one.
	Group func(player.Addr) string

	// Raw is handed the body of a message as it came, before Handler.Message; it is
	// valid until that returns. Default: nobody wants it.
	Raw func(body []byte)

	Handler Handler      // takes what comes; needed
	Relay   Relay        // takes it as it comes, to pass it on; default: none
	Logger  *slog.Logger // default: none
}

// Device is a device that the session has opened. Geometry and Config are nil
// until known, and immutable.
type Device struct {
	player.Addr
	Driver   string // the driver's name
	Geometry *player.Geometry
	Config   *player.RangerConfig // rangers only
}

// Handler takes what a session brings. All calls come from the goroutine that
// Run runs in, one at a time; while one lasts nothing is read.
type Handler interface {
	// Up reports that the session stands: its devices in the server's order,
	// with their geometry as far as it is known.
	Up(devices []Device)
	// Changed reports that a device's geometry or configuration was learned or
	// has changed, or that a device was opened after Up.
	Changed(d Device)
	// Message hands over a DATA message of an opened device. payload is a
	// pointer to the message's struct in package iface, or an *iface.Raw if the
	// table does not know it; it is valid during the call. Geometry messages
	// come here too, after Changed.
	Message(h player.Header, payload any)
	// Round reports that for now nothing more waits: a pulled round is complete,
	// or a server that pushes has sent nothing for 100 ms after data that made
	// the handler wait for it (Config.Holding).
	Round()
	// Overflow reports that the server's queue for us was full and how many
	// messages it dropped since the last round.
	Overflow(lost uint64)
	// Down reports that the session has ended, or that an attempt to begin one has
	// failed, and why. Run tries again, unless its context has ended.
	Down(err error)
}

// Relay takes all that a session brings as it came, for those who pass it on:
// also devices that the session does not open by itself, which Client.Open
// opens for it. Its methods are called where those of the Handler are.
type Relay interface {
	// Listed is called with all devices of the server, in its order, when a session
	// begins (before Handler.Up) and whenever more is known of them. Of devices
	// that are not open only address and driver are known.
	Listed(devices []Device)
	// Data hands over a DATA message of an open device as it came, before
	// Handler.Message. body is valid during the call.
	Data(h player.Header, body []byte)
	// Burst reports that what had arrived together has been handed over, if Data
	// was called since the Burst before.
	Burst()
	// Down reports that the session has ended, as Handler.Down does, before it.
	Down()
}

// withDefaults checks the configuration and fills in what is left out.
func (c Config) withDefaults() (Config, error) {
	if c.Address == "" {
		return c, fmt.Errorf("client: Address is empty, expected host:port")
	}
	if c.Handler == nil {
		return c, fmt.Errorf("client: no Handler for %s", c.Address)
	}
	if c.Mode == 0 {
		c.Mode = player.Push
	}
	if c.Mode != player.Pull && c.Mode != player.Push {
		return c, fmt.Errorf("client: Mode is %d, expected %d (push) or %d (pull)", c.Mode, player.Push, player.Pull)
	}
	for _, t := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"ConnectTimeout", &c.ConnectTimeout, 5 * time.Second},
		{"RequestTimeout", &c.RequestTimeout, 5 * time.Second},
		{"SetupTimeout", &c.SetupTimeout, 2 * time.Second},
		{"Idle", &c.Idle, 5 * time.Second},
		{"BackoffMin", &c.BackoffMin, 250 * time.Millisecond},
		{"BackoffMax", &c.BackoffMax, 15 * time.Second},
	} {
		if *t.value < 0 {
			return c, fmt.Errorf("client: %s is %v, expected a time above 0", t.name, *t.value)
		}
		if *t.value == 0 {
			*t.value = t.def
		}
	}
	if c.BackoffMax < c.BackoffMin {
		return c, fmt.Errorf("client: BackoffMax %v is below BackoffMin %v", c.BackoffMax, c.BackoffMin)
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	if c.Open == nil {
		c.Open = opensByDefault
	}
	if c.Twin == nil {
		c.Twin = func(player.Addr) bool { return false }
	}
	if c.Jitter == nil {
		c.Jitter = rand.Float64
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func opensByDefault(a player.Addr) bool {
	switch a.Interf {
	case player.InterfaceCamera, player.InterfaceStereo, player.InterfacePointcloud3D, player.InterfaceAudio:
		return false
	}
	return iface.HasData(a.Interf)
}
