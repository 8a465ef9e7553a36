// Package multicasttest simulates the brokers of a segment, on the real code of
// bridge/multicast: time is a number, the network a queue of events, and a seed
// decides. See DESIGN.md.
package multicasttest

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"net/netip"
	"time"

	"callboard/bridge/multicast"
)

// Config says what network to simulate.
type Config struct {
	Seed      uint64
	Brokers   int
	Segment   multicast.Config // its Stream is chosen
	Delay     time.Duration    // one way, of datagrams
	Jitter    time.Duration    // more or less of it
	Link      time.Duration    // one way, of links
	Bits      float64          // of each broker's line, per second; 0: any
	Loss      float64          // share of a receiver's datagrams that it alone loses
	Shared    float64          // share that all lose
	Reorder   float64          // share that comes late, up to Late
	Late      time.Duration
	Socket    int // datagrams that wait for a broker that stands still
	QueueLink int // bytes that may wait to be merged; default 64 MiB
}

// Network is a simulated segment.
type Network struct {
	cfg     Config
	rng     *rand.Rand
	Now     time.Duration
	agenda  agenda
	brokers []*broker
	session uint64
	said    uint64 // messages so far
	trace   hash.Hash64
	failed  error

	Delivered uint64 // frames
	Ended     uint64 // sessions that a machine ended
	Losses    uint64 // datagrams of data that a receiver lost, or all at once
	Wire      uint64 // bytes of datagrams, with their Ethernet, IP and UDP heads, each counted once
	Counts    Counts
	OnDeliver func(from, to int, after time.Duration) // nil: nothing
	OnEnd     func(reason error)
	Checked   bool                         // look at each step
	Swallow   func(multicast.Message) bool // messages that links lose; nil: none
}

// Counts are of what has happened to segments that are gone.
type Counts struct {
	Sent     multicast.SenderCounters
	Received multicast.MemberCounters
}

// New makes a network without links.
func New(cfg Config) *Network {
	if cfg.QueueLink == 0 {
		cfg.QueueLink = 64 << 20
	}
	n := &Network{cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x5ca1ab1e)), trace: fnv.New64a()}
	for i := range cfg.Brokers {
		b := &broker{net: n, index: i, address: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})}
		n.brokers = append(n.brokers, b)
		b.boot()
	}
	return n
}

const never = time.Duration(1<<63 - 1)

func (n *Network) stream() multicast.Stream {
	var s multicast.Stream
	binary.BigEndian.PutUint32(s.ID[:], n.rng.Uint32())
	binary.BigEndian.PutUint64(s.Key[:], n.rng.Uint64())
	return s
}

// Connect begins a link session between two brokers, unless there is one.
func (n *Network) Connect(i, j int) {
	a, b := n.brokers[i], n.brokers[j]
	if i == j || a.ends[j] != nil || b.ends[i] != nil {
		return
	}
	n.session += 2
	x, y := &end{of: a, session: n.session}, &end{of: b, session: n.session + 1}
	x.other, y.other = y, x
	for _, e := range []*end{x, y} {
		e.merge.Limit = n.cfg.QueueLink
		e.of.ends[e.other.of.index] = e
		e.of.bySess[e.session] = e
		n.agenda.add(event{at: n.Now, kind: eventUp, to: e.of, life: e.of.life, end: e})
	}
}

// Cut ends a session: its two ends learn of it within a time.
func (n *Network) Cut(i, j int, within time.Duration) {
	if e := n.brokers[i].ends[j]; e != nil {
		e.hangUp(within)
	}
}

func (e *end) hangUp(within time.Duration) {
	for _, x := range []*end{e, e.other} {
		if x.cut {
			continue
		}
		x.cut = true
		n := x.of.net
		at := n.Now
		if within > 0 {
			at += time.Duration(n.rng.Int64N(int64(within)))
		}
		n.agenda.add(event{at: at, kind: eventDown, to: x.of, life: x.of.life, end: x})
	}
}

// Restart has a broker begin anew, with nothing.
func (n *Network) Restart(i int) {
	b := n.brokers[i]
	for _, e := range b.ends {
		if e != nil {
			e.other.hangUp(100 * time.Millisecond)
			e.down = true
		}
	}
	n.gather(b)
	b.boot()
}

// gather keeps the counts of a broker's segment.
func (n *Network) gather(b *broker) {
	st := b.segment.Status()
	n.Counts.Sent.Add(&st.Sent)
	n.Counts.Received.Add(&st.Past)
	for i := range st.Peers {
		n.Counts.Received.Add(&st.Peers[i].Received)
	}
}

// Gather returns the counts of all segments.
func (n *Network) Gather() Counts {
	before := n.Counts
	for _, b := range n.brokers {
		n.gather(b)
	}
	all := n.Counts
	n.Counts = before
	return all
}

// StandStill stops a broker for a time, while the world goes on.
func (n *Network) StandStill(i int, d time.Duration) {
	b := n.brokers[i]
	if b.still <= n.Now {
		b.still = n.Now + d
		n.agenda.add(event{at: b.still, kind: eventResume, to: b, life: b.life})
	}
}

// Block has a broker take nothing of what was delivered, for a time.
func (n *Network) Block(i int, d time.Duration) {
	b := n.brokers[i]
	if b.blocked <= n.Now {
		b.blocked = n.Now + d
		n.agenda.add(event{at: b.blocked, kind: eventTake, to: b, life: b.life})
	}
}

// Run lets time pass. It returns the first thing that is wrong.
func (n *Network) Run(until time.Duration) error {
	for n.failed == nil && len(n.agenda.heap) > 0 && n.agenda.heap[0].at <= until {
		e := n.agenda.take()
		n.Now = e.at
		if e.life == e.to.life {
			e.to.happens(e)
		}
	}
	n.Now = max(n.Now, until)
	return n.failed
}

func (n *Network) fail(format string, args ...any) {
	if n.failed == nil {
		n.failed = fmt.Errorf("at %v: "+format, append([]any{n.Now}, args...)...)
	}
}

// Hash is a number for all that has been delivered, and when.
func (n *Network) Hash() uint64 { return n.trace.Sum64() }
