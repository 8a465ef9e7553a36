// Package pair runs one side of a pair of brokers: it carries out what the rules
// (bridge/standby) say, with real clocks, files and connections. DESIGN.md says how.
package pair

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"callboard/bridge/clock"
	"callboard/bridge/overlay"
	"callboard/bridge/spool"
	"callboard/bridge/standby"

	"golang.org/x/sync/errgroup"
)

// Config is what one side is made of.
type Config struct {
	ID            overlay.BrokerID // of both sides; required
	Side          standby.Side
	Dir           string         // of the side's small files; required
	Store         *spool.Store   // required
	Restored      spool.Restored // what an earlier life has left in it
	Inner         net.Listener   // where the other side connects on the inner line; required. Run closes it
	OtherInner    string         // HOST:PORT of the other side there; required
	OtherOuter    string         // HOST:PORT where its clients connect; required
	OuterTLS      bool           // clients connect with TLS
	Heartbeat     time.Duration  // T; required
	TakeOverAfter time.Duration  // 0: never
	Role          Role           // required
	Clock         clock.Clock    // default: one that begins now
	Logger        *slog.Logger   // default: discard
	// Witness calls the witness; nil: there is none. What is read and written are
	// whole messages.
	Witness func(ctx context.Context) (Messages, error)
}

// Messages carries whole messages both ways.
type Messages interface {
	Read() ([]byte, error) // valid until the next Read
	Write(message []byte) error
	io.Closer
}

// Role is what a side does: its broker. It is told one thing after the other, and
// must not block.
type Role interface {
	// Restore hands the standby's broker the records of a batch, in order, and what
	// the active has told beside, which counts as long as the term does.
	Restore(number uint64, batch standby.Batch)
	// Wanted says that the standby wants something told, as Want says. This side is
	// active.
	Wanted(what string)
	// Replace puts a broker that has restored a snapshot in the place of the one
	// there was.
	Replace(with *spool.Snapshot)
	// Begin starts the broker: clients and links come.
	Begin(b *Begun)
	// Stop ends what Begin has begun, at once; the broker is one anew that has
	// restored what is stored.
	Stop()
}

// Pair is one side.
type Pair struct {
	cfg     Config
	log     *slog.Logger
	state   *stateFile
	key     *keyFile
	witness queue // messages for the witness
	wrong   chan error

	mu      sync.Mutex // guards what follows, and the order of what is carried out
	m       *standby.Machine
	begun   *Begun // nil: this side is not active
	lines   [2]*line
	told    Status
	changed chan struct{} // closed when told changes
	copying copying
	outs    []standby.Output // that are to be carried out
	saving  bool             // they wait for a Save
	signed  overlay.Instant  // when this side last said that it lives meanwhile
	stood   uint64           // how often this side had stood still when it last asked what that has missed
	life    uint64           // of this process
	outer   string           // where clients find this side, as the other side says
	failed  bool
}

// Status is how a side stands.
type Status struct {
	Side    standby.Side
	Active  bool
	Term    standby.Term
	Stands  standby.Stands
	Last    standby.Position
	Waiting uint64 // batches whose outputs wait
	Other   bool   // the other side is heard of
	Fresh   bool   // and has heard this one, in step
	Serves  bool   // the other side is active
	Witness bool   // the witness answers
	Given   bool   // its voice is: it may not go on before the other side is heard
	Claims  bool   // it asks for voices
	Stats   standby.Stats
}

// New makes a side that an earlier life has left as its files say.
func New(c Config) (*Pair, error) {
	if c.Store == nil || c.Inner == nil || c.Role == nil || c.Dir == "" || c.ID == "" || c.OtherInner == "" || c.OtherOuter == "" {
		return nil, errors.New("pair: ID, Dir, Store, Inner, OtherInner, OtherOuter and Role must be given")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if !c.Clock.Started() {
		c.Clock = clock.New()
	}
	p := &Pair{cfg: c, log: c.Logger.With("side", c.Side.String()), changed: make(chan struct{}), wrong: make(chan error, 1)}
	p.witness.init(maxWaiting)
	var err error
	if p.state, err = openState(c.Dir); err != nil {
		return nil, err
	}
	life, err := nextLife(c.Dir, uint64(c.Clock.Micro()))
	p.life = life
	if err == nil {
		p.key, err = openKey(c.Dir, c.Side)
	}
	if err == nil {
		p.m, err = standby.New(standby.Config{
			Side: c.Side, Life: life, Heartbeat: overlay.Duration(c.Heartbeat.Microseconds()),
			Witness: c.Witness != nil, TakeOverAfter: overlay.Duration(c.TakeOverAfter.Microseconds()),
		}, p.left(), p.now())
	}
	if err != nil {
		return nil, errors.Join(err, p.state.Close())
	}
	p.told = p.status()
	return p, nil
}

// left is what earlier lives have left.
func (p *Pair) left() standby.Left {
	at := p.cfg.Store.Position()
	left := standby.Left{
		State: p.state.stored, Last: standby.Position{Index: at.Number, ID: standby.Term(at.Term)},
		// A store of no term in the place of one that had terms is another one.
		Lost: p.cfg.Restored.Lost || at.Term == 0 && p.state.stored.Term != 0,
	}
	for _, t := range p.cfg.Store.Terms() {
		left.Terms = append(left.Terms, standby.Term(t))
	}
	return left
}

func (p *Pair) now() overlay.Instant { return overlay.Instant(p.cfg.Clock.Micro()) }

// Run runs the side until ctx ends. An error says that it cannot store how it
// stands any more, or take connections: then it has stopped.
func (p *Pair) Run(ctx context.Context) error {
	hasten()
	all, running := errgroup.WithContext(ctx)
	all.Go(func() error {
		select {
		case err := <-p.wrong:
			return err
		case <-running.Done():
			return nil
		}
	})
	all.Go(func() error { return p.listen(running) })
	for _, l := range []standby.Line{standby.Inner, standby.Outer} {
		all.Go(func() error { p.dialOn(running, l); return nil })
	}
	if p.cfg.Witness != nil {
		all.Go(func() error { p.callOn(running); return nil })
	}
	all.Go(func() error { p.turns(running); return nil })
	err := all.Wait()
	p.end()
	return err
}

// end stops what this side does.
func (p *Pair) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
	for _, l := range p.lines {
		if l != nil {
			l.close()
		}
	}
	p.stop()
}

// Close gives the files back, behind Run.
func (p *Pair) Close() error { return p.state.Close() }

// step hands the rules an input, and does what they say.
func (p *Pair) step(in standby.Input) {
	if p.failed {
		return
	}
	p.m.Step(p.now(), in)
	p.outs = append(p.outs, p.m.Outputs()...)
	p.carryOut()
}

// carryOut does what the rules have said, in order, up to what waits for a Save.
func (p *Pair) carryOut() {
	for len(p.outs) > 0 && !p.saving && !p.failed {
		o := p.outs[0]
		p.outs = p.outs[1:]
		if err := p.do(o); err != nil {
			p.fail(err)
		}
	}
	if p.saving || p.failed {
		return
	}
	p.outs = nil
	if b := p.begun; b != nil {
		b.released(p.m.Released(), p.m.Full())
	}
	if now := p.status(); now != p.told {
		p.tell(now)
	}
}

// save stores how this side stands. Meanwhile what is behind that waits, but not who
// has something to hand in: a disk may take its time.
func (p *Pair) save(state standby.State) {
	err := p.state.save(state)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.saving = false
	switch {
	case p.failed:
	case err != nil:
		p.fail(fmt.Errorf("pair: how this side stands cannot be stored: %w", err))
	default:
		p.carryOut()
	}
}

// signs says that this side lives while it stores how it stands: its beats wait for that.
func (p *Pair) signs() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if p.saving && now-p.signed >= overlay.Instant(p.cfg.Heartbeat.Microseconds()) {
		p.signed = now
		for _, line := range []standby.Line{standby.Inner, standby.Outer} {
			p.toOther(&standby.ToOther{Line: line, Message: &standby.Ask{Life: p.life}})
		}
	}
}

// stops reports whether this side is to stop, and what stands before that is not done.
func (p *Pair) stops() bool {
	return slices.ContainsFunc(p.outs, func(o standby.Output) bool { _, is := o.(*standby.Stop); return is })
}

// fail ends this side: what it cannot store it must not tell.
func (p *Pair) fail(err error) {
	p.failed = true
	p.stop()
	select {
	case p.wrong <- err:
	default:
	}
}

// input is step for who does not hold the lock.
func (p *Pair) input(in standby.Input) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.step(in)
}

func (p *Pair) do(o standby.Output) error {
	switch o := o.(type) {
	case *standby.Save:
		p.saving = true
		go p.save(o.State)
	case *standby.ToOther:
		p.toOther(o)
		if _, beat := o.Message.(*standby.Beat); beat && p.stood != p.m.Stats().StoodStill { // the answer has its echo: this side is fresh at once
			p.stood = p.m.Stats().StoodStill
			p.toOther(&standby.ToOther{Line: standby.Inner, Message: &standby.Ask{Life: p.life}})
		}
	case *standby.ToWitness:
		p.witness.put(encoded(o.Message))
	case *standby.Write:
		p.write(o)
	case *standby.Replace:
		return p.replace(o)
	case *standby.Begin:
		p.log.Info("this side is active", "term", o.Term, "store_lost", o.StoreLost)
		p.begun = newBegun(p, o)
		p.cfg.Role.Begin(p.begun)
	case *standby.Announce:
		p.begun.announce(o)
	case *standby.Stop:
		p.log.Info("this side is not active any more", "term", p.m.Term)
		p.stop()
	}
	return nil
}

func (p *Pair) stop() {
	if p.begun != nil {
		p.begun.end()
		p.begun = nil
		p.cfg.Role.Stop()
	}
}

// write appends batches to the store.
func (p *Pair) write(o *standby.Write) {
	for _, b := range o.Batches {
		number := p.cfg.Store.AppendIn(uint64(b.ID), b.Records)
		if o.Restore {
			p.cfg.Role.Restore(number, b)
		}
	}
}

// replace takes a snapshot in the place of what is stored.
func (p *Pair) replace(o *standby.Replace) error {
	with := &spool.Snapshot{At: spool.Position{Number: o.Last.Index, Term: uint64(o.Last.ID)}, Records: o.Records}
	for _, t := range o.Terms {
		with.Terms = append(with.Terms, uint64(t))
	}
	if err := p.cfg.Store.Replace(with); err != nil {
		return fmt.Errorf("pair: what the other side has cannot be stored: %w", err)
	}
	p.cfg.Role.Replace(with)
	return nil
}

func (p *Pair) status() Status {
	s := Status{Side: p.cfg.Side, Active: p.m.Active(), Term: p.m.Term, Stands: p.m.Stands}
	if p.m.Lost && !s.Active {
		s.Stands = standby.Out
	}
	return s
}

// tell says that the side stands in another way.
func (p *Pair) tell(now Status) {
	if now.Stands != p.told.Stands || now.Active != p.told.Active {
		p.log.Info("the pair", "term", now.Term, "stands", now.Stands.String(), "active", now.Active)
	}
	p.told = now
	close(p.changed)
	p.changed = make(chan struct{})
}

// Status returns how the side stands, and a channel that is closed when that has
// changed.
func (p *Pair) Status() (Status, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.status()
	s.Last, s.Stats = p.m.Last(), p.m.Stats()
	if s.Active {
		s.Waiting = s.Last.Index - p.m.Released()
	}
	s.Other, s.Fresh, s.Serves, s.Witness = p.m.Hears(), p.m.Fresh(), p.m.OtherActive(), p.witness.isOpen()
	s.Given, s.Claims = p.m.Given, p.m.Claims()
	return s, p.changed
}

// Outer returns where clients find this side, as the other side says; "": it has
// not said so yet.
func (p *Pair) Outer() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outer
}

// OuterLives says that somebody has answered on this side's outer line.
func (p *Pair) OuterLives() { p.input(&standby.OuterLives{}) }

// Want has the active tell what this side, a standby in step, lacks of what is beside
// the store: all of it, or what a robot has come to. It may be lost.
func (p *Pair) Want(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.lines[standby.Inner]; l != nil && !p.m.Active() && p.m.Stands == standby.In {
		l.send(kindWant, []byte(what))
	}
}

// wanted takes what the standby wants.
func (p *Pair) wanted(what string) {
	p.mu.Lock()
	heard := p.begun != nil && p.m.Stands == standby.Both
	p.mu.Unlock()
	if heard {
		p.cfg.Role.Wanted(what)
	}
}

// Switch has an active whose standby is in step stop, so that the other side goes
// on.
func (p *Pair) Switch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.m.Active():
		return errors.New("this side is not active; expected the other one to be asked")
	case p.m.Stands != standby.Both:
		return errors.New("the standby is not in step; expected it to be, so that nothing is lost")
	}
	p.step(&standby.Switch{})
	return nil
}

// Lose has a side that is not active become so though it may lack something. With a
// witness it takes its voice.
func (p *Pair) Lose() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.m.Active():
		return errors.New("this side is active already")
	case p.m.Hears():
		return errors.New("the other side is heard: they come to terms by themselves")
	}
	p.log.Warn("an operator has this side go on though it may lack something", "term", p.m.Term)
	p.step(&standby.Lose{})
	return nil
}

// outerTLS is for the outer line: what is said there is sealed with the pair's key.
func (p *Pair) outerTLS() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}
}
