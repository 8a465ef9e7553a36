// Package overlay holds the rules of a broker: who gets which notification,
// in what order, and what becomes of it while its client is slow or away. It
// is a pure state machine: an input and the time go in, outputs and records
// come out. It reads no clock, starts no goroutine, touches no socket, and
// the same inputs give the same outputs. DESIGN.md says how it is built; rule
// names (S1, L4, …) are those of the overlay's description there.
package overlay

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"callboard/subscribe/protocol"
)

// Config says how a broker behaves. Zero values are the defaults.
type Config struct {
	ID            BrokerID             // this broker's name in the network; required
	Heartbeat     Duration             // the period of heartbeats and refreshing; default 1 s
	Brokers       []protocol.BrokerURL // what welcome tells of where clients can attach
	URL           string               // where clients reach this broker: told to the others
	Mode          Mode                 // where the registry is; default ModeOne
	Registry      BrokerID             // with ModeOne the broker that holds it; default ID
	Subscriptions int                  // of one client; default 10,000
	Clients       int                  // sessions kept, absent ones included; default 100,000
	Window        int                  // notifications of a source that go out unacknowledged; default 1,024
	WindowBytes   int                  // and their bytes; default 1 MiB
	Inbox         Limits               // of each inbox
	SetBytes      int                  // of the texts of a client's subscriptions; default 1 MiB
	Memory        int64                // bytes of all that is kept, about; default 2 GiB
	Disk          int64                // bytes of what of it is stored, about; default 8 GB
	Queues        []QueueConfig        // that live here, with or without servers
	Neighbours    bool                 // it is to have some: no queue begins here before they have had the time to say which there are
	ReplayBytes   int                  // of notifications that a replay message carries, about; default ReplayBytes
}

// Mode says where the registry of a network is. It is one for the whole network.
type Mode string

// Modes of the registry.
const (
	ModeOne   Mode = "one"   // at one broker, which the others ask
	ModeEvery Mode = "every" // at each broker: what a broker advertises is flooded
)

// Limits bound an inbox: what is kept for one client of one source broker.
type Limits struct {
	Count int      // notifications; default 10,000
	Bytes int      // default 16 MiB
	Keep  Duration // how long one waits, and how long a session lives without its client; default 600 s
}

// Why says why something could not be kept.
type Why uint8

// Reasons for a gap.
const (
	WhyOverflow     Why = iota + 1 // more waited than the inbox may hold
	WhyExpired                     // it waited longer than the inbox keeps things
	WhyLost                        // the source broker lost its store
	whyAcknowledged                // the client had acknowledged it
	whys                           // how many there are
)

// String returns the word that clients are told.
func (w Why) String() string {
	switch w {
	case WhyOverflow:
		return "overflow"
	case WhyExpired:
		return "expired"
	case WhyLost:
		return "lost"
	case whyAcknowledged:
		return "acknowledged"
	}
	return fmt.Sprintf("why %d", uint8(w))
}

// Broker is the state machine of one broker: an edge, a source, its place in the
// network and, at one of them, the registry. It belongs to one goroutine.
type Broker struct {
	*step
	edge     *edge
	source   *source
	network  *network
	registry brokersRegistry
	tasks    *tasks
	strained Instant // until when nothing more can give way
}

// New makes a broker that waits for Restore and Start.
func New(cfg Config) (*Broker, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s := &step{cfg: cfg, selectors: selectors{keys: map[string]*selector{}}}
	b := &Broker{
		step: s,
		edge: &edge{
			step:        s,
			windowCount: max(1, min(cfg.Window, cfg.Inbox.Count/2)),
			windowBytes: max(1, min(cfg.WindowBytes, cfg.Inbox.Bytes/2)),
			sessions:    map[string]*session{},
			ids:         map[string][]*session{},
			conns:       map[Conn]*conn{},
			far:         map[Handle]*inbox{},
			rosters:     map[BrokerID]*roster{},
		},
		source: &source{
			step:     s,
			entries:  map[Handle]*entry{},
			keys:     map[Key]*entry{},
			homes:    map[Key]*entry{},
			robots:   robots{named: map[string]*robot{}, version: 1},
			claimed:  map[string]Instant{},
			own:      *newRoster(cfg.ID),
			watchers: map[BrokerID]*watcher{},
			foreign:  map[BrokerID]Stamp{},
		},
		network: &network{
			step:     s,
			topology: newTopology(),
			routes:   map[Key]*route{},
			fetches:  map[Key][]*fetch{},
			dead:     map[Key]Instant{},
			passed:   map[Key]passed{},
			frames:   map[BrokerID][]Message{},
			calls:    newCalls(),
		},
	}
	b.source.own.users = 1 // for good
	b.edge.rosters[cfg.ID] = &b.source.own
	if cfg.Mode == ModeEvery {
		r := newFlooded(s)
		r.edge, r.source, r.network = b.edge, b.source, b.network
		b.registry = r
	} else {
		r := newCentral(s)
		r.edge, r.source, r.network, r.held.network = b.edge, b.source, b.network, b.network
		b.registry = r
	}
	b.edge.source, b.edge.network, b.edge.registry = b.source, b.network, b.registry
	b.source.edge, b.source.network, b.source.registry = b.edge, b.network, b.registry
	b.network.edge, b.network.source, b.network.registry = b.edge, b.source, b.registry
	b.tasks = newTasks(s, b.edge, b.source, b.network, b.registry)
	b.network.tasks = b.tasks
	return b, nil
}

func (c *Config) complete() error {
	if c.ID == "" {
		return errors.New("overlay: a broker needs an id")
	}
	switch c.Mode = cmp.Or(c.Mode, ModeOne); {
	case c.Mode != ModeOne && c.Mode != ModeEvery:
		return fmt.Errorf("overlay: the mode is %q; expected %q or %q", c.Mode, ModeOne, ModeEvery)
	case c.Mode == ModeEvery && c.Registry != "":
		return fmt.Errorf("overlay: broker %q cannot hold the registry in mode %q, where each does", c.Registry, c.Mode)
	case c.Mode == ModeOne && c.Registry == "":
		c.Registry = c.ID
	}
	for _, d := range []struct {
		value *int
		name  string
		def   int
	}{
		{&c.Subscriptions, "Subscriptions", 10_000},
		{&c.Clients, "Clients", 100_000},
		{&c.Window, "Window", 1024},
		{&c.WindowBytes, "WindowBytes", 1 << 20},
		{&c.Inbox.Count, "Inbox.Count", 10_000},
		{&c.Inbox.Bytes, "Inbox.Bytes", 16 << 20},
		{&c.ReplayBytes, "ReplayBytes", ReplayBytes},
		{&c.SetBytes, "SetBytes", 1 << 20},
	} {
		if *d.value < 0 {
			return fmt.Errorf("overlay: %s is %d; expected 1 or more", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	if err := c.completeQueues(); err != nil {
		return err
	}
	for _, d := range []struct {
		value *int64
		name  string
		def   int64
	}{{&c.Memory, "Memory", 2 << 30}, {&c.Disk, "Disk", 8_000_000_000}} {
		if *d.value < 0 {
			return fmt.Errorf("overlay: %s is %d bytes; expected 1 or more", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	for _, d := range []struct {
		value *Duration
		name  string
		def   Duration
	}{{&c.Heartbeat, "Heartbeat", Second}, {&c.Inbox.Keep, "Inbox.Keep", 600 * Second}} {
		if *d.value < 0 {
			return fmt.Errorf("overlay: %s is %d µs; expected more than 0", d.name, *d.value)
		}
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	return nil
}

// Step takes in what happened at the time now. Before Start only Restore has
// an effect, after it Restore has none.
func (b *Broker) Step(now Instant, in Input) {
	b.begin()
	b.now = max(b.now, now)
	switch in := in.(type) {
	case *Restore:
		if !b.started {
			b.restore(in.Records)
		}
		return
	case *Start:
		if !b.started {
			b.start(in)
			b.relieve()
		}
		return
	}
	if !b.started {
		return
	}
	b.passTime()
	b.do(in)
	b.relieve()
	if b.network.rerouted {
		b.network.rerouted = false
		b.tasks.directory.moved()
		b.network.failCalls()
		b.edge.watchAgain()
	}
	b.source.tellNews()
	b.registry.endStep()
	b.tasks.endStep()
	b.edge.renewAll()
	b.network.flush()
}

func (b *Broker) do(in Input) {
	switch in := in.(type) {
	case *Matched:
		b.source.matched(in)
	case *Ack:
		b.edge.ack(in)
	case *Hello:
		b.edge.hello(in)
		b.tasks.edge.hello(in)
	case *Subscribe:
		b.edge.subscribe(in)
	case *Update:
		b.edge.update(in)
	case *Unsubscribe:
		b.edge.unsubscribe(in)
	case *Disconnected:
		b.tasks.edge.disconnected(in.Conn, in.Closed || in.Goodbye)
		b.edge.disconnected(in)
	case *Installed:
		b.source.installed(in)
	case *Advertise:
		b.source.advertise(in)
	case *Withdraw:
		b.source.withdraw(in)
	case *RobotState:
		b.source.robotState(in)
	case *RunFailed:
		b.source.runFailed(in)
	case *FrameReceived:
		b.network.frameReceived(in)
	case *Ask:
		b.network.ask(in)
	case *Answer:
		b.network.route(in.From, &CallAnswer{Number: in.Call, Body: in.Body, Code: in.Code, Message: in.Message})
	case *LinkUp:
		b.network.linkUp(in)
	case *LinkDown:
		b.network.linkDown(in)
	case *LinkCost:
		b.network.linkCost(in)
	default:
		b.tasks.do(in)
	}
}

// Records returns what the steps since the last call of Outputs want stored, to
// be written before their outputs are carried out. They are valid until the
// next Step.
func (b *Broker) Records() []Record { return b.records }

// Outputs returns what the steps since the last call want done, in order. The
// slice is valid until the next Step, what it points to for good.
func (b *Broker) Outputs() []Output {
	b.taken = true
	return b.out
}

// Deadline is when the next Tick is due.
func (b *Broker) Deadline() Instant {
	return min(b.period, b.source.due(), b.registry.due(), b.tasks.due())
}

// passTime does what a period asks for, once in each.
func (b *Broker) passTime() {
	if b.now < b.period {
		return
	}
	period := Instant(b.cfg.Heartbeat)
	b.period += (1 + (b.now-b.period)/period) * period
	if len(b.edge.conns) > 0 {
		b.put(&Heartbeat{Message: protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: string(b.cfg.ID), Time: b.now.Seconds()}})
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for _, s := range slices.Clone(b.edge.order) {
		switch {
		case s.elsewhere != 0 && s.elsewhere+leasePeriods*period < b.now: // L4
			b.edge.forgetElsewhere(s)
			continue
		case s.conn == nil && s.seen < before:
			b.edge.forget(s)
			continue
		}
		b.edge.refreshKeys(s)
		b.edge.passAwaits(s)
		b.edge.settleStates(s)
		if s.elsewhere != 0 {
			b.edge.handTold(s)
		}
		b.edge.settleLate(s)
		for _, in := range s.inboxes { // L1: the edge is here, so refreshing is no message
			if in.own {
				b.source.refresh(in.sequence)
			}
			b.expire(in.sequence, before)
		}
	}
	if b.networked {
		b.network.passLeases()
		b.source.forgetKeys()
		b.edge.passRosters()
		b.registry.pass()
		b.network.forgetBrokers()
		b.network.announce()
		b.network.forgetCalls()
	}
	b.source.forgetClaims()
	b.tasks.pass()
}
