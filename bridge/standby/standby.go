// Package standby holds the rules of a pair: two brokers with one id, of which one
// is active, and the other has the same state and takes over. A Machine is one
// side of a pair, a Witness votes for pairs. Both are pure: the time and what
// happens go in, what is to be done comes out. DESIGN.md tells how it is built;
// rule names (D1, T3, …) are those there.
package standby

import (
	"errors"
	"fmt"

	"callboard/bridge/overlay"
)

// Config says how one side of a pair behaves. Zero values are the defaults.
type Config struct {
	Side          Side
	Life          uint64           // of this process: greater than that of any before; required
	Heartbeat     overlay.Duration // T; default 10 ms
	Witness       bool             // there is one
	TakeOverAfter overlay.Duration // how long a side that may lack something waits before it goes on all the same; default for ever
	MaxBatches    int              // that may wait for the standby; default 10,000
	MaxBytes      int              // of them; default 64 MiB
	Burst         int              // batches that are sent again at a time; default 1,000
	Again         overlay.Duration // after which they are sent again, if the standby has got no further; default 2 T
}

// State is what a side stores at once, in a file of its own (S1). It is not lost
// with the store.
type State struct {
	Term   Term // the newest that the side knows
	Stands Stands
	Floor  Term // the highest number that it has given its voice to, or claimed
	Given  bool // it has given its voice: it begins a term by the other side's only, until it hears of a new one
	Shown  Term // the newest claim of its own that the other side has given its voice to
	Lost   bool // its store has lost its end: whatever else it says, it has not all that was promised
}

// Left is what earlier lives have left.
type Left struct {
	State
	Last  Position // of the store
	Terms []Term   // that it leads through
	Lost  bool     // it has been found to have lost its end
}

// Machine is one side of a pair. It belongs to one goroutine.
type Machine struct {
	cfg  Config
	now  overlay.Instant
	turn overlay.Instant // when it last had one
	out  []Output
	took bool // out has been taken
	told Status

	State
	window window
	terms  history

	life
	other  other
	active active
	claim  *claim
	warm   bool            // its broker has restored all as it came
	quiet  overlay.Instant // since when nobody is known to be active, at the most
	hint   Term            // the newest that the witness has told of

	stats Stats
}

// active is the state of a side that is.
type active struct {
	on       bool
	since    overlay.Instant // the present term
	acked    uint64          // up to where the standby has everything
	released uint64          // up to where outputs may go
	lease    overlay.Instant // until when it may put out alone, with a witness and TakeOverAfter
	hold     overlay.Instant // until when it does not, after it stood still
	leaves   bool            // it is to stop once all is acknowledged

	joining Term            // the term that the standby was asked to join; 0: none
	joinAt  uint64          // the batch with which that begins
	asked   overlay.Instant // when it first was

	sent    uint64          // up to where batches were sent
	sentAt  overlay.Instant // when that was, or the standby last got further
	reached uint64          // up to where it had come then
	pending int             // bytes of batches whose outputs wait
}

// Stats count what a side has done.
type Stats struct {
	Asked      uint64
	StoodStill uint64
	Snapshots  uint64
	Terms      [kinds]uint64 // begun here, by their ways
	Given      uint64        // voices
	Refused    uint64
	Senseless  uint64 // messages that nobody can have sent who keeps the rules
}

// New makes a side that an earlier life has left so. It may have Outputs already.
func New(cfg Config, left Left, now overlay.Instant) (*Machine, error) {
	switch {
	case cfg.Side > B:
		return nil, fmt.Errorf("standby: side %d; expected A or B", cfg.Side)
	case cfg.Life == 0:
		return nil, errors.New("standby: a side needs the number of its life")
	case cfg.Heartbeat < 0 || cfg.TakeOverAfter < 0 || cfg.MaxBatches < 0 || cfg.MaxBytes < 0 || cfg.Burst < 0 || cfg.Again < 0:
		return nil, errors.New("standby: a negative time or size")
	}
	def(&cfg.Heartbeat, 10_000)
	def(&cfg.MaxBatches, 10_000)
	def(&cfg.MaxBytes, 64<<20)
	def(&cfg.Burst, 1000)
	def(&cfg.Again, 2*cfg.Heartbeat)
	m := &Machine{cfg: cfg, now: now, turn: now, State: left.State, quiet: now}
	m.terms = append(m.terms, left.Terms...)
	m.window = window{before: left.Last, most: cfg.MaxBatches, heavy: cfg.MaxBytes}
	m.life.begin(now, m.periods(1))
	m.other.at = now
	if left.Lost && !m.Lost {
		m.Lost = true
		m.save()
	}
	m.told = m.status()
	return m, nil
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// periods is so many T.
func (m *Machine) periods(n int) overlay.Instant { return overlay.Instant(n) * m.quarters(4) }

// quarters is so many T/4.
func (m *Machine) quarters(n int) overlay.Instant {
	return overlay.Instant(n) * overlay.Instant(m.cfg.Heartbeat) / 4
}

// Step takes in what happened at the time now.
func (m *Machine) Step(now overlay.Instant, in Input) {
	if m.took {
		clear(m.out)
		m.out, m.took = m.out[:0], false
	}
	m.now = max(m.now, now)
	m.look()
	switch in := in.(type) {
	case *Tick:
		m.tick()
	case *FromOther:
		if !sane(in.Message) {
			m.stats.Senseless++
			break
		}
		m.heard[in.Line], m.dead = m.now, false
		m.fromOther(in.Line, in.Message)
	case *FromWitness:
		if !sane(in.Message) {
			m.stats.Senseless++
			break
		}
		m.outer = m.now
		m.fromWitness(in.Message)
	case *Dead:
		m.dead = true
	case *OuterLives:
		m.outer = m.now
	case *Append:
		m.append(in)
	case *Lose:
		m.lose()
	case *Switch:
		m.active.leaves = m.active.on && !in.Cancel
	}
	m.release()
	m.tellNews()
}

func (m *Machine) fromOther(line Line, message Message) {
	switch x := message.(type) {
	case *Ask:
		m.beat(line)
	case *Beat:
		m.onBeat(line, x)
	case *Batches:
		m.onBatches(x)
	case *Acked:
		m.onAcked(x)
	case *Snapshot:
		m.onSnapshot(x)
	case *Join:
		m.onJoin(x)
	case *Claim:
		m.onClaim(line, x)
	case *Voice:
		m.onVoice(x, true)
	}
}

func (m *Machine) fromWitness(message Message) {
	switch x := message.(type) {
	case *Voice:
		m.onVoice(x, false)
	case *Lease:
		m.onLease(x)
	}
}

// Outputs returns what the steps since the last call want done, in order. It is
// valid until the next Step.
func (m *Machine) Outputs() []Output {
	m.took = true
	return m.out
}

// Last returns where this side's store has come to.
func (m *Machine) Last() Position { return m.window.last() }

// Active reports whether this side is active.
func (m *Machine) Active() bool { return m.active.on }

// Hears reports whether the other side is heard of.
func (m *Machine) Hears() bool { return m.other.life != 0 && !m.gone() }

// OtherActive reports whether the other side is heard of, and is active.
func (m *Machine) OtherActive() bool { return m.Hears() && m.other.Active }

// Claims reports whether this side asks for voices.
func (m *Machine) Claims() bool { return m.claim != nil }

// Fresh reports whether, since this side was started, stood still or joined, a beat
// of its own has come back from the other side, in step.
func (m *Machine) Fresh() bool { return m.fresh }

// Released returns the batch up to which the outputs of an active side may go.
func (m *Machine) Released() uint64 { return m.active.released }

// Served reports whether a client that was last served in a term has had nothing
// that this side's store does not lead through (C2). 0: it was never served.
func (m *Machine) Served(t Term) bool { return t == 0 || m.terms.has(t) }

// Full reports whether the outputs of so much wait that clients and links are to
// wait, too (D4).
func (m *Machine) Full() bool {
	a := &m.active
	return a.on && (m.Last().Index-a.released >= uint64(m.cfg.MaxBatches) || a.pending >= m.cfg.MaxBytes)
}

// Stats returns the counts as they are now.
func (m *Machine) Stats() Stats { return m.stats }

func (m *Machine) put(o Output) { m.out = append(m.out, o) }

func (m *Machine) save() { m.put(&Save{m.State}) }

func (m *Machine) toOther(line Line, x Message) { m.put(&ToOther{line, x}) }

// onBothLines sends the other side a message over each.
func (m *Machine) onBothLines(x Message) {
	m.toOther(Inner, x)
	m.toOther(Outer, x)
}

// tick does what is due.
func (m *Machine) tick() {
	if m.now-m.beaten >= m.periods(1) {
		m.beaten = m.now
		m.beat(Inner, Outer)
	}
	m.askSilent()
	if m.cfg.Witness && m.now-m.renewed >= m.periods(1) {
		m.renewed = m.now
		m.put(&ToWitness{&Renew{Term: m.Term, Stands: m.Stands, Active: m.active.on, History: m.terms.shown(), Shown: m.Shown, Sent: m.now}})
	}
	if m.active.on {
		m.run()
	} else {
		m.consider()
	}
	m.press()
}
