package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"callboard/bridge/adhoc"
	"callboard/bridge/beacon"
	"callboard/bridge/clock"
	"callboard/bridge/config"
	"callboard/bridge/link"
	"callboard/bridge/lograte"
	"callboard/bridge/metric"
	"callboard/bridge/node"
	"callboard/bridge/overlay"
)

// heardBeacons is how many datagrams may wait to be looked at; more are lost, as on
// the air.
const heardBeacons = 256

// Air carries the beacons of brokers that move.
type Air interface {
	// Send sends a beacon to all who may hear it.
	Send(datagram []byte) error
	// Receive hands over what is heard, and the host that it comes from, until ctx ends.
	// The bytes may be used again after the call.
	Receive(ctx context.Context, take func(datagram []byte, host string)) error
}

// multicastAir is UDP multicast.
type multicastAir struct {
	network beacon.Network
	logger  *slog.Logger
	out     beacon.Outlet
}

func (a *multicastAir) Send(datagram []byte) error { return a.out.Send(&a.network, datagram) }

func (a *multicastAir) Receive(ctx context.Context, take func(datagram []byte, host string)) error {
	return beacon.Receive(ctx, beacon.ListenConfig{Network: a.network, Logger: a.logger}, adhoc.MaxDatagram, func(data []byte, from netip.AddrPort) {
		take(data, from.Addr().String())
	})
}

// finder finds a broker's neighbours by their beacons, where brokers move.
type finder struct {
	machine *adhoc.Finder
	clock   clock.Clock
	air     Air
	fixed   []link.Neighbour // that are configured
	links   *link.Links
	handler *node.Neighbours
	logger  *slog.Logger
	log     *lograte.Log
	known   []adhoc.Neighbour
	stats   atomic.Pointer[adhoc.Stats]
	near    atomic.Pointer[[]adhoc.Neighbour]
}

type heardBeacon struct {
	data []byte
	from string
}

func (b *life) newFinder(handler *node.Neighbours) (*finder, error) {
	c := b.config.Config
	var boot [8]byte
	rand.Read(boot[:]) // never fails
	address := c.Broker.Links
	if b.linkListener != nil {
		address = b.linkListener.Addr().String() // with the port that was free
	}
	machine, err := adhoc.New(adhoc.Config{
		Network: c.Adhoc.Network, Key: c.Adhoc.Key, Self: overlay.BrokerID(c.Broker.ID), Boot: binary.BigEndian.Uint64(boot[:]),
		Address: address, Heartbeat: duration(c.Broker.Heartbeat),
	}, overlay.Instant(b.clock.Micro()))
	if err != nil {
		return nil, err
	}
	f := &finder{
		machine: machine, clock: b.clock, air: b.config.Air, fixed: neighbours(c.Neighbours),
		links: b.links, handler: handler, logger: b.config.Logger, log: lograte.New(b.config.Logger),
	}
	f.stats.Store(&adhoc.Stats{})
	f.near.Store(&[]adhoc.Neighbour{})
	if f.air != nil {
		return f, nil
	}
	group, err := netip.ParseAddrPort(cmp.Or(c.Adhoc.Group, config.DefaultAdhocGroup))
	if err != nil {
		return nil, fmt.Errorf("adhoc.group: %w", err)
	}
	f.air = &multicastAir{network: beacon.Network{Group: group, Interfaces: c.Adhoc.Interfaces}, logger: b.config.Logger}
	return f, nil
}

// run finds neighbours until ctx ends.
func (f *finder) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer f.log.Close()
	heard := make(chan heardBeacon, heardBeacons)
	ended := make(chan error, 1)
	go func() {
		ended <- f.air.Receive(ctx, func(data []byte, from string) {
			select {
			case heard <- heardBeacon{slices.Clone(data), from}:
			default:
			}
		})
	}()
	if a, is := f.air.(*multicastAir); is {
		defer a.out.Close()
	}
	problem := ""
	for {
		timer := time.NewTimer(time.Duration(f.machine.Deadline()-f.now()) * time.Microsecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			stop()
			return <-ended
		case err := <-ended:
			timer.Stop()
			return err
		case h := <-heard:
			if err := f.machine.Hear(f.now(), h.data, h.from); err != nil {
				f.log.Info("a beacon does not count", "from", h.from, "reason", err)
			}
		case <-timer.C:
			f.machine.Tick(f.now())
		}
		timer.Stop()
		for _, o := range f.machine.Outputs() {
			err := f.carryOut(o)
			if err != nil && err.Error() != problem {
				f.logger.Warn("cannot find neighbours", "error", err)
			}
			if _, sent := o.(*adhoc.Send); sent {
				problem = ""
				if err != nil {
					problem = err.Error()
				}
			}
		}
		stats := f.machine.Stats()
		f.stats.Store(&stats)
		near := f.machine.Neighbours()
		f.near.Store(&near)
	}
}

func (f *finder) now() overlay.Instant { return overlay.Instant(f.clock.Micro()) }

func (f *finder) carryOut(o adhoc.Output) error {
	switch o := o.(type) {
	case *adhoc.Send:
		return f.air.Send(o.Datagram)
	case *adhoc.Cost:
		if !f.isFixed(o.ID) {
			f.handler.SetCost(o.ID, o.Cost)
		}
	case *adhoc.Linked:
		return f.link(o.Neighbours)
	}
	return nil
}

// link makes links with those who are near, and gives up the others.
func (f *finder) link(near []adhoc.Neighbour) error {
	all := slices.Clone(f.fixed)
	for _, n := range near {
		if f.isFixed(n.ID) {
			continue
		}
		if !slices.ContainsFunc(f.known, func(k adhoc.Neighbour) bool { return k.ID == n.ID }) {
			f.handler.SetCost(n.ID, n.Cost)
		}
		all = append(all, link.Neighbour{ID: n.ID, Address: n.Address})
	}
	for _, n := range f.known {
		if !f.isFixed(n.ID) && !slices.ContainsFunc(near, func(k adhoc.Neighbour) bool { return k.ID == n.ID }) {
			f.handler.SetCost(n.ID, 0)
		}
	}
	f.known = near
	return f.links.Set(all)
}

func (f *finder) isFixed(id overlay.BrokerID) bool {
	return slices.ContainsFunc(f.fixed, func(n link.Neighbour) bool { return n.ID == id })
}

// Near returns the brokers that a broker which moves has found, and what its links with
// them cost, in sendings; nil for one that does not move.
func (b *Bridge) Near() map[string]float64 {
	l := b.life.Load()
	if l == nil || l.finder == nil {
		return nil
	}
	all := map[string]float64{}
	for _, n := range *l.finder.near.Load() {
		all[string(n.ID)] = float64(n.Cost) / float64(overlay.CostOne)
	}
	return all
}

// measureFinder adds what is counted of beacons, if there are any.
func (b *life) measureFinder(to *metric.Set) {
	if b.finder == nil {
		return
	}
	beacons := metric.NewFamily("callboard_adhoc_beacons_total", "Beacons of brokers that move: sent, taken, or why not.", "outcome")
	near := metric.NewFamily("callboard_adhoc_neighbours", "Brokers whose beacons are heard, and that hear this one's.")
	to.Add(func(scrape *metric.Scrape) {
		s := b.finder.stats.Load()
		for _, one := range []struct {
			outcome string
			n       uint64
		}{
			{"sent", s.Sent}, {"taken", s.Taken}, {"malformed", s.Malformed}, {"foreign", s.Foreign}, {"forged", s.Forged},
			{"replayed", s.Replayed}, {"own_id", s.OwnID}, {"taken_id", s.TakenID}, {"crowded", s.Crowded},
		} {
			scrape.Give(beacons, float64(one.n), one.outcome)
		}
		scrape.Give(near, float64(len(*b.finder.near.Load())))
	}, beacons, near)
}
