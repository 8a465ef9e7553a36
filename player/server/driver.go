package server

import (
	"context"
	"fmt"

	"callboard/player"
)

// DeviceInfo is one device that a Driver provides.
type DeviceInfo struct {
	Interf player.Interface
	Index  uint16
	Driver string // Player's driver name as clients are told it, at most 62 bytes
}

// Driver provides devices: a simulator's models, a recorded run, the robots
// behind a gateway. Except for Devices and Attach its methods are called from
// several goroutines, those of the connections, and must not block: what takes
// long is handed to the driver's own goroutine, which answers the Call later.
type Driver interface {
	// Devices lists what the driver provides, in the order in which clients are
	// shown it. It is called once, by New.
	Devices() []DeviceInfo
	// Attach hands over the way to publish readings. It is called once, by New,
	// before any other method but Devices. One Publisher stands for one server:
	// a simulation behind several ports attaches one Driver to each.
	Attach(pub Publisher)
	// Open is called when the first client opens a device; an error refuses it
	// (and each client that tries is asked anew). What is published from the
	// moment of the call on reaches that client, after its acknowledgement.
	// Open and Close of one device never overlap. Open alone may take its time,
	// such as for an answer of what is behind the driver, since only those who
	// want that device wait; but stock clients give up after 5 s, and a Player
	// server as client after 3 s.
	Open(dev player.Addr) error
	// Close is called when the last client has closed a device or is gone.
	Close(dev player.Addr)
	// Handle takes a command or request for one of the driver's devices, opened
	// or not. Calls of one connection come in their order. The driver may keep c
	// and its payload.
	Handle(c *Call)
}

// Runner is a Driver with work of its own: Server.Run runs it and waits for it.
// A nil error means that it has nothing more to do (its devices stay served);
// any other, before ctx ends, ends the server. The driver's other methods may
// still be called after Run has returned, until all clients are gone.
type Runner interface {
	Run(ctx context.Context) error
}

// Leaver is a Driver that wants to know of each client that has closed a device, or
// whose connection has ended with the device open: Left is called then, before
// Close if it was the last. It must not block.
type Leaver interface {
	Left(dev player.Addr, client Client)
}

// Capable is a Driver that knows what it handles. The server then answers
// CAPABILITIES requests from it; those to other drivers go to Handle.
type Capable interface {
	Handles(dev player.Addr, t player.Type, subtype uint8) bool
}

// Relay is a Driver that passes messages on: a gateway. Its Calls bring bodies
// as they came, checked where the table knows the message, with Payload nil;
// and also messages that no table knows. A command's Call is valid during
// Handle only.
type Relay interface {
	Driver
	Relays() bool
}

// Publisher takes readings for all clients that have opened their device. Its
// methods may be called from several goroutines, never block and keep nothing
// of what they are given. Of dev only interface and index count. Readings of
// one device reach each client in the order of the calls.
type Publisher interface {
	// Publish encodes payload, a pointer to the message's struct in
	// player/iface (nil for an empty body), once for all clients; not at all if
	// nobody has opened dev. time is the timestamp in s.
	Publish(dev player.Addr, subtype uint8, time float64, payload any)
	// PublishBody is Publish for a body that is encoded already.
	PublishBody(dev player.Addr, subtype uint8, time float64, body []byte)
	// Opened reports whether any client has dev open.
	Opened(dev player.Addr) bool
}

// Batch calls publish, during which a driver publishes what belongs together:
// the readings of one step. Clients get them in one go: no PULL round ends, and
// few writes begin, before publish returns. The real server behaves so, since
// it publishes all of a step before it writes. publish must not block. With a
// Publisher that is not a Server's it just calls publish.
func Batch(pub Publisher, publish func()) {
	BeginBatch(pub)
	defer EndBatch(pub)
	publish()
}

// BeginBatch is the beginning of a Batch whose end is elsewhere: EndBatch must
// follow, and soon.
func BeginBatch(pub Publisher) {
	if p, ok := pub.(publisher); ok {
		p.s.batches.Add(1)
	}
}

// EndBatch ends what BeginBatch began.
func EndBatch(pub Publisher) {
	if p, ok := pub.(publisher); ok {
		p.s.endBatch()
	}
}

// Provide replaces the list of devices of the driver that was given pub, for
// drivers that learn of their devices while they are served. Clients that have
// a device open keep it: if it is gone from the list nobody can open it any
// more, and if it comes back it is the same. The error says which device
// cannot be served; the list is then as it was. Of more than player.MaxDevices
// devices on a port, which no device list can tell, all are served and the
// first are listed.
//
// It may be called from several goroutines, also while the driver's Open runs.
func Provide(pub Publisher, devices []DeviceInfo) error {
	p, ok := pub.(publisher)
	if !ok {
		return fmt.Errorf("server: a %T has no list of devices", pub)
	}
	return p.s.provide(p.driver, devices)
}
