package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/config"
	"callboard/bridge/link"
	"callboard/bridge/overlay"
	"callboard/bridge/pair"
	"callboard/bridge/spool"
	"callboard/bridge/standby"
	"callboard/bridge/virtual"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// side is a broker that is one side of a pair. It is the pair's Role: what the
// pair tells it, it does in its own goroutine, one after the other.
type side struct {
	*Bridge
	log  *slog.Logger
	pair *pair.Pair
	gate *gate
	todo *orders

	// Of its goroutine:
	next *life // restores, and is to be started
	at   uint64
	term standby.Term         // in which what the active tells beside counts
	asks *time.Timer          // has the active asked for what it is to tell beside
	told map[string]time.Time // when that was last asked for, by what
	stop func() error         // ends the life that has been started; nil: none has

	behind atomic.Int64   // robots that do not follow the active, of a standby
	moving sync.WaitGroup // what has the network find the active side
}

// newSide makes one side of a pair: not active, with what its store has.
func (b *Bridge) newSide() error {
	c := b.config.Config.Standby
	s := &side{Bridge: b, log: b.config.Logger, todo: newOrders()}
	b.side = s
	s.gate = newGate(s)
	restored := b.store.Restored()
	inner, err := net.Listen("tcp", c.Inner[0])
	if err != nil {
		return fmt.Errorf("cannot listen on %s for the other side: %w", c.Inner[0], err)
	}
	which := standby.A
	if c.Side == config.SideB {
		which = standby.B
	}
	p := pair.Config{
		ID: overlay.BrokerID(b.config.Config.Broker.ID), Side: which, Dir: b.config.Config.Broker.Data, Store: b.store, Restored: restored,
		Inner: inner, OtherInner: c.Inner[1], OtherOuter: c.Outer, OuterTLS: b.tls, Heartbeat: seconds(c.Heartbeat), TakeOverAfter: seconds(c.TakeOverAfter),
		Role: s, Clock: b.clock, Logger: b.config.Logger,
	}
	if c.Witness != "" {
		if p.Witness, err = s.witness(c.Witness); err != nil {
			return errors.Join(err, inner.Close())
		}
	}
	if s.pair, err = pair.New(p); err != nil {
		return errors.Join(err, inner.Close())
	}
	if s.next, err = b.newLife(nil); err != nil {
		return err
	}
	s.next.node.Restore(restored.Records)
	s.at = b.store.Position().Number
	s.measure(b.metrics)
	return b.newPush(s.gate)
}

// witness returns how the witness is called.
func (s *side) witness(id string) (func(context.Context) (pair.Messages, error), error) {
	c := s.config.Config
	transport, err := s.transport()
	if err != nil {
		return nil, err
	}
	cfg := link.Config{Self: overlay.BrokerID(c.Broker.ID), Transport: transport, Registry: overlay.Mode(c.Registry.Mode)}
	i := slices.IndexFunc(c.Neighbours, func(n config.Neighbour) bool { return n.ID == id })
	if i < 0 {
		return nil, fmt.Errorf("the witness %q is no neighbour", id)
	}
	to := neighbours(c.Neighbours)[i]
	return func(ctx context.Context) (pair.Messages, error) {
		v, err := link.Call(ctx, cfg, to, c.Standby.Side, seconds(c.Standby.TakeOverAfter))
		if err != nil {
			return nil, err
		}
		return v, nil
	}, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Restore implements pair.Role.
func (s *side) Restore(number uint64, batch standby.Batch) {
	s.todo.put(func(context.Context) error { s.restore(number, batch); return nil })
}

// Wanted implements pair.Role.
func (s *side) Wanted(what string) {
	l := s.life.Load()
	switch {
	case l == nil:
	case what == "":
		l.node.TellAll()
	default:
		l.robots.Tell(what)
	}
}

// Replace implements pair.Role.
func (s *side) Replace(with *spool.Snapshot) {
	s.todo.put(func(ctx context.Context) error { return s.renew(ctx, with) })
}

// Begin implements pair.Role.
func (s *side) Begin(b *pair.Begun) {
	s.todo.put(func(ctx context.Context) error { return s.begin(ctx, b) })
}

// Stop implements pair.Role.
func (s *side) Stop() {
	s.gate.shut()
	s.todo.put(func(ctx context.Context) error { return s.end(ctx) })
}

// run runs the side until ctx ends. One that is active then leaves first, if the
// other side is in step.
func (s *side) run(ctx context.Context) error {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		s.leave()
		stop()
	})()
	all, running := errgroup.WithContext(serving)
	all.Go(func() error { return s.push.Run(running) })
	all.Go(func() error { return s.pair.Run(running) })
	all.Go(func() error { s.gate.follow(running); return nil })
	all.Go(func() error { s.warn(running); return nil })
	all.Go(func() error { return s.work(running) })
	err := all.Wait()
	if s.stop != nil {
		err = errors.Join(err, s.stop())
	}
	return errors.Join(err, s.drop())
}

// leaveTime is how long a side that ends waits for the other one to be active.
const leaveTime = 2 * time.Second

// leave has the other side go on, if it can, which takes this side's voice.
func (s *side) leave() {
	if s.pair.Switch() != nil {
		return
	}
	looks := time.NewTicker(seconds(s.config.Config.Standby.Heartbeat) / 4)
	defer looks.Stop()
	for began := time.Now(); time.Since(began) < leaveTime; <-looks.C {
		if now, _ := s.pair.Status(); !now.Active && now.Serves {
			return
		}
	}
}

// work does what the pair has told, one after the other.
func (s *side) work(ctx context.Context) error {
	if err := s.next.read(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	s.lookBehind()
	asks := time.AfterFunc(askEach, func() { s.todo.put(s.askAgain) })
	defer asks.Stop()
	s.asks = asks
	for {
		do := s.todo.take(ctx)
		if do == nil {
			return nil
		}
		if err := do(ctx); err != nil {
			return err
		}
	}
}

// drop lets go of a broker that has only restored.
func (s *side) drop() error {
	if s.next == nil || s.next.reads == nil {
		return nil
	}
	return s.next.reads()
}

// restore hands on a batch that what was restored at first does not have.
func (s *side) restore(number uint64, b standby.Batch) {
	if number <= s.at {
		return
	}
	s.at = number
	s.next.node.Restore(b.Records)
	s.follow(b)
}

// renew puts a broker that has restored a snapshot in the place of the one there was.
func (s *side) renew(ctx context.Context, with *spool.Snapshot) error {
	l, err := s.newLife(nil)
	if err := errors.Join(err, s.drop()); err != nil {
		return err
	}
	l.node.Restore(with.Records)
	s.next, s.at, s.term = l, with.At.Number, 0
	defer s.lookBehind()
	return l.read(context.WithoutCancel(ctx))
}

// begin starts the broker, with all that it serves with.
func (s *side) begin(ctx context.Context, b *pair.Begun) error {
	l := s.next
	s.next = nil
	s.behind.Store(0)
	if l.robots != nil && !b.StoreLost {
		l.sound = l.robots.Sound()
	}
	l.missed = s.term != 0
	l.node.Begin(b, b.StoreLost, l.sound)
	if err := l.build(nil); err != nil {
		return errors.Join(fmt.Errorf("this side has become active and cannot serve: %w", err), l.close())
	}
	s.life.Store(l)
	living, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := l.run(living, func(ctx context.Context) error {
			s.gate.open(l.node, b, b.First)
			<-ctx.Done()
			return nil
		})
		if errors.Is(err, pair.ErrStopped) {
			err = nil
		}
		ended <- err
		if err != nil { // who cannot serve is not to be active
			s.todo.put(func(context.Context) error { return err })
		}
	}()
	s.stop = func() error {
		cancel()
		s.moving.Wait()
		err := <-ended
		s.gate.shut()
		s.life.Store(nil)
		return errors.Join(err, l.close())
	}
	s.move(living)
	return nil
}

// end ends what begin has started. The broker is one anew that has restored what
// is stored.
func (s *side) end(ctx context.Context) error {
	if s.stop != nil {
		err := s.stop()
		if s.stop = nil; err != nil {
			return err
		}
	}
	stored, err := s.store.Snapshot()
	if err != nil {
		return err
	}
	return s.renew(ctx, stored)
}

// move has the network find the active side, until ctx ends: by its address, or by
// the configured command.
func (s *side) move(ctx context.Context) {
	c := s.config.Config.Standby
	if c.Address != "" {
		address, err := netip.ParsePrefix(c.Address)
		t := seconds(c.Heartbeat)
		s.moving.Go(func() {
			if err == nil {
				err = virtual.Hold(ctx, virtual.Config{Address: address, Interface: c.Interface}, t, 10*t)
			}
			if err != nil {
				s.log.Error("this side is active and has not the address by which it is to be found", "address", c.Address, "error", err)
			}
		})
	}
	if len(c.OnActive) > 0 {
		s.moving.Go(func() {
			if out, err := exec.CommandContext(ctx, c.OnActive[0], c.OnActive[1:]...).CombinedOutput(); err != nil && ctx.Err() == nil {
				s.log.Error("standby.on_active has failed", "command", c.OnActive, "error", err, "output", string(out))
			}
		})
	}
}

// Standing is how a side of a pair stands, at /api/standby.
type Standing struct {
	Side    string `json:"side"`
	Active  bool   `json:"active"`
	Term    uint64 `json:"term"`
	Stands  string `json:"stands"`           // both, alone, in or out
	InStep  bool   `json:"in_step"`          // with the other side, which is heard of
	Other   string `json:"other"`            // where clients find the other side
	Heard   bool   `json:"heard"`            // the other side is
	Index   uint64 `json:"index"`            // of the last batch that is stored
	Waiting uint64 `json:"waiting"`          // batches whose outputs wait for the standby
	Behind  int    `json:"robots_unaligned"` // of a standby: robots that would begin anew if it took over now
	Given   bool   `json:"given"`            // its voice: it may not go on before the other side is heard
	Claims  bool   `json:"claims"`           // it asks for the voices that it needs to go on
	Witness string `json:"witness,omitempty"`
	Answers bool   `json:"witness_answers,omitempty"`
}

func (s *side) standing() any {
	now, _ := s.pair.Status()
	return &Standing{
		Side: now.Side.String(), Active: now.Active, Term: uint64(now.Term), Stands: now.Stands.String(),
		InStep: inStep(now), Other: s.otherURL(), Heard: now.Other, Index: now.Last.Index, Waiting: now.Waiting,
		Behind: int(s.behind.Load()), Given: now.Given, Claims: now.Claims,
		Witness: s.config.Config.Standby.Witness, Answers: now.Witness,
	}
}

// sides are where clients find the two, A first.
func (s *side) sides() []protocol.SideURL {
	own := s.pair.Outer()
	if own == "" {
		own = s.listener.Addr().String()
	}
	all := []protocol.SideURL{{URL: s.wsURL(own)}, {URL: s.otherURL()}}
	if s.config.Config.Standby.Side == config.SideB {
		all[0], all[1] = all[1], all[0]
	}
	return all
}

func (s *side) otherURL() string { return s.wsURL(s.config.Config.Standby.Outer) }

func (s *side) wsURL(host string) string {
	if s.tls {
		return "wss://" + host + "/ws"
	}
	return "ws://" + host + "/ws"
}

func (s *side) close() error {
	if s.pair == nil {
		return nil
	}
	return s.pair.Close()
}

// ready reports why the broker is not ready to serve.
func (b *Bridge) ready() error {
	if b.side != nil && !b.side.gate.isOpen() {
		return errors.New("this side of the pair is not active")
	}
	return b.store.Err()
}
