// Package adhoc holds the rules by which brokers that move find their neighbours:
// beacons make links and end them, and say what they cost. It is a pure state
// machine: it reads no clock, starts no goroutine, touches no socket. See DESIGN.md;
// H1, H2 and H3 are rules of the overlay's description.
package adhoc

import (
	"cmp"
	"crypto/cipher"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"callboard/bridge/overlay"
)

const (
	beatsInPeriod = 5   // beacons
	recent        = 10  // beacons that a share is of
	silent        = 5   // beacons in a row without which a link ends (H3)
	steady        = 2   // beats for which a cost has to be another before it is told (H2)
	maxHeard      = 256 // brokers that are kept in mind
	maxNeighbours = maxListed
)

// Config says how a broker finds its neighbours.
type Config struct {
	Network   string           // its name; required
	Key       []byte           // that beacons are sealed with; required
	Self      overlay.BrokerID // required
	Boot      uint64           // of this life, drawn at random; required
	Address   string           // host:port of this broker's links; an empty host: where beacons come from
	Heartbeat overlay.Duration // the period; default 1 s
}

// Neighbour is a broker whose beacons are heard, and that hears this one's.
type Neighbour struct {
	ID      overlay.BrokerID
	Address string // host:port of its links
	Cost    overlay.Cost
}

// Output is what the runtime is to do. The types of this file are all there are.
type Output interface{ output() }

// Send has a beacon sent to all that may hear it.
type Send struct{ Datagram []byte }

// Linked says with whom links are to be, from now on: all of them, by id.
type Linked struct{ Neighbours []Neighbour }

// Cost says that a link costs something else.
type Cost struct {
	ID   overlay.BrokerID
	Cost overlay.Cost
}

func (*Send) output()   {}
func (*Linked) output() {}
func (*Cost) output()   {}

// Stats counts beacons. What is not taken never makes a link.
type Stats struct {
	Sent, Taken uint64
	Malformed   uint64 // no beacons at all
	Foreign     uint64 // of another network
	Forged      uint64 // not sealed with the network's key
	Replayed    uint64 // with numbers that have been heard
	OwnID       uint64 // of another broker that has this one's id
	TakenID     uint64 // of another broker that has a neighbour's id
	Crowded     uint64 // of brokers for which there was no room
}

// Finder is the state machine of one broker. It belongs to one goroutine.
type Finder struct {
	cfg    Config
	seal   seal
	own    cipher.AEAD
	beat   overlay.Duration
	next   overlay.Instant // beat
	number uint64
	others []*other // by boot
	linked []Neighbour
	stats  Stats
	out    []Output
}

// other is a broker that is heard.
type other struct {
	boot    uint64
	with    cipher.AEAD
	id      overlay.BrokerID
	address string
	first   uint64 // number that was heard
	last    uint64
	heard   uint16          // of the last ones: bit 0 is the last
	at      overlay.Instant // when that was
	there   uint8           // the share of this broker's beacons that it hears, tenths; 0: it does not
	linked  bool
	cost    overlay.Cost // as it was told
	differs int          // for how many beats it has been another
}

// New checks the configuration. The first beacon is due within a beat of now.
func New(cfg Config, now overlay.Instant) (*Finder, error) {
	cfg.Heartbeat = cmp.Or(cfg.Heartbeat, overlay.Second)
	switch {
	case cfg.Network == "":
		return nil, errors.New("adhoc: a network needs a name")
	case len(cfg.Key) == 0:
		return nil, errors.New("adhoc: a network needs a key")
	case checkID(string(cfg.Self)) != nil:
		return nil, fmt.Errorf("adhoc: own id: %w", checkID(string(cfg.Self)))
	case len(cfg.Address) > maxAddress:
		return nil, fmt.Errorf("adhoc: an address of %d bytes; expected up to %d", len(cfg.Address), maxAddress)
	case cfg.Heartbeat < beatsInPeriod:
		return nil, fmt.Errorf("adhoc: a heartbeat of %d µs", cfg.Heartbeat)
	}
	f := &Finder{cfg: cfg, seal: newSeal(cfg.Network, cfg.Key), beat: cfg.Heartbeat / beatsInPeriod}
	f.own = f.seal.of(cfg.Boot)
	f.next = now + overlay.Instant(cfg.Boot%uint64(f.beat)) // brokers that begin together do not beat together
	return f, nil
}

// Deadline is when the next Tick is due.
func (f *Finder) Deadline() overlay.Instant { return f.next }

// Outputs returns what is to be done since the last call, in order.
func (f *Finder) Outputs() []Output {
	out := f.out
	f.out = nil
	return out
}

// Stats returns what has been counted.
func (f *Finder) Stats() Stats { return f.stats }

// Neighbours returns those with whom links are to be, by id.
func (f *Finder) Neighbours() []Neighbour { return f.linked }

// Tick passes time: at each beat a beacon goes out, and links and costs are looked at.
func (f *Finder) Tick(now overlay.Instant) {
	if now < f.next {
		return
	}
	f.next += (1 + (now-f.next)/overlay.Instant(f.beat)) * overlay.Instant(f.beat)
	f.others = slices.DeleteFunc(f.others, func(o *other) bool { return f.missed(o, now) > recent })
	f.judge(now, true)
	f.number++
	b := beacon{boot: f.cfg.Boot, number: f.number, content: content{ID: string(f.cfg.Self), Address: f.cfg.Address, Heard: f.list(now)}}
	f.stats.Sent++
	f.out = append(f.out, &Send{f.seal.encode(&b, f.own)})
}

// Hear takes a datagram that has come from a host. An error says why it is no beacon
// that counts; it has been counted.
func (f *Finder) Hear(now overlay.Instant, data []byte, host string) error {
	err := f.hear(now, data, host)
	switch {
	case err == nil:
		f.stats.Taken++
	case errors.Is(err, errForeign):
		f.stats.Foreign++
	case errors.Is(err, errForged):
		f.stats.Forged++
	case errors.Is(err, errNoBeacon):
		f.stats.Malformed++
	}
	return err
}

func (f *Finder) hear(now overlay.Instant, data []byte, host string) error {
	boot, number, err := f.seal.head(data)
	if err != nil {
		return err
	}
	if boot == f.cfg.Boot {
		return nil // its own, which came back
	}
	at, known := slices.BinarySearchFunc(f.others, boot, func(o *other, boot uint64) int { return cmp.Compare(o.boot, boot) })
	var o *other
	if known {
		o = f.others[at]
	} else {
		o = &other{boot: boot, with: f.seal.of(boot)}
	}
	c, err := f.seal.open(data, number, o.with)
	switch {
	case err != nil:
		return err
	case known && number <= o.last:
		f.stats.Replayed++
		return errors.New("its number has been heard")
	case c.brokerID() == f.cfg.Self:
		f.stats.OwnID++
		return fmt.Errorf("broker %q has this one's id", c.ID)
	case slices.ContainsFunc(f.others, func(other *other) bool { return other.id == c.brokerID() && other.boot != boot && !f.gone(other, now) }):
		f.stats.TakenID++
		return fmt.Errorf("there is another broker %q", c.ID)
	case !known && len(f.others) >= maxHeard:
		f.stats.Crowded++
		return errors.New("more brokers are heard than are kept in mind")
	case !known:
		o.first, o.last = number, number-1
		f.others = slices.Insert(f.others, at, o)
	}
	o.take(&c, number, host)
	o.at, o.there = now, f.share(&c)
	f.judge(now, false)
	return nil
}

func (o *other) take(c *content, number uint64, host string) {
	o.heard = o.heard<<min(number-o.last, 16) | 1
	o.last = number
	o.id, o.address = c.brokerID(), withHost(c.Address, host)
}

// share returns the share of this broker's beacons that another one hears, as it says.
// It has to name one of the last: so it is no old beacon that is sent again.
func (f *Finder) share(c *content) uint8 {
	for _, h := range c.Heard {
		if h.Boot == f.cfg.Boot && h.Number <= f.number && h.Number+recent >= f.number {
			return h.Share
		}
	}
	return 0
}

// missed returns how many of another's beacons should have come since its last.
func (f *Finder) missed(o *other, now overlay.Instant) int {
	return int((now - o.at + overlay.Instant(f.beat)/2) / overlay.Instant(f.beat))
}

// gone reports whether so many have not come that its link ends (H3).
func (f *Finder) gone(o *other, now overlay.Instant) bool { return f.missed(o, now) > silent }

// back returns the share of another's last beacons that have been heard, tenths.
func (f *Finder) back(o *other, now overlay.Instant) uint8 {
	missed := max(0, f.missed(o, now)-1)
	expected := min(recent, int(min(o.last-o.first, recent))+1+missed)
	heard := bits.OnesCount16(o.heard << missed & (1<<expected - 1))
	return uint8(max(1, (recent*heard+expected/2)/expected))
}

// list names whom this broker has heard lately, neighbours first.
func (f *Finder) list(now overlay.Instant) []heard {
	all := make([]heard, 0, len(f.others))
	for _, linked := range []bool{true, false} {
		for _, o := range f.others {
			if o.linked == linked && !f.gone(o, now) && len(all) < maxListed {
				all = append(all, heard{Boot: o.boot, Number: o.last, Share: f.back(o, now)})
			}
		}
	}
	return all
}

// costOf is H2: how many sendings a message takes, there and back.
func (f *Finder) costOf(o *other, now overlay.Instant) overlay.Cost {
	product := int(o.there) * int(f.back(o, now))
	one := int(overlay.CostOne)
	return min(overlay.Cost((one*recent*recent+product/2)/product), overlay.MaxCost)
}

// judge looks which links are to be, and, at a beat, what they cost.
func (f *Finder) judge(now overlay.Instant, beat bool) {
	changed, linked := false, 0
	for _, o := range f.others {
		if o.linked && (f.gone(o, now) || o.there == 0) {
			o.linked, changed = false, true
		}
		if o.linked {
			linked++
		}
	}
	for _, o := range f.others {
		switch {
		case f.gone(o, now) || o.there == 0:
		case !o.linked && linked < maxNeighbours:
			o.linked, changed = true, true
			o.cost, o.differs = f.costOf(o, now), 0
			linked++
		case o.linked && beat:
			f.weigh(o, now)
		}
	}
	if changed {
		f.tellLinked()
	}
}

// weigh tells a cost that has been another for some beats.
func (f *Finder) weigh(o *other, now overlay.Instant) {
	cost := f.costOf(o, now)
	if cost == o.cost {
		o.differs = 0
		return
	}
	if o.differs++; o.differs < steady {
		return
	}
	o.cost, o.differs = cost, 0
	f.keepLinked()
	f.out = append(f.out, &Cost{o.id, cost})
}

func (f *Finder) keepLinked() {
	f.linked = nil
	for _, o := range f.others {
		if o.linked {
			f.linked = append(f.linked, Neighbour{o.id, o.address, o.cost})
		}
	}
	slices.SortFunc(f.linked, func(a, b Neighbour) int { return cmp.Compare(a.ID, b.ID) })
}

func (f *Finder) tellLinked() {
	f.keepLinked()
	f.out = append(f.out, &Linked{f.linked})
}

// withHost completes an address that has no host, or one that stands for all.
func withHost(address, host string) string {
	for _, none := range []string{"", "0.0.0.0", "[::]"} {
		if len(address) > len(none) && address[:len(none)] == none && address[len(none)] == ':' {
			return host + address[len(none):]
		}
	}
	return address
}
