// Package standbytest runs pairs of brokers as a deterministic simulation: two
// sides of the real rules (bridge/standby) with real brokers (bridge/overlay),
// a witness or none, clients that resume, lines that fail and processes that die.
// Every decision comes from one source of choice.
package standbytest

import (
	"container/heap"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/bridge/overlay/overlaytest"
	"callboard/bridge/standby"
)

// period is T, in µs: lines delay messages by an eighth of it, or up to three.
const (
	period = 64
	eighth = period / 8
	gone   = period * 7 / 4
	flight = 6 * eighth // longest way of a message, but for faults
)

// Faults is what may happen in a schedule.
type Faults int

// Kinds of schedules.
const (
	Calm   Faults = iota // only stops shorter than T/2: no term may end
	Single               // one at a time, healed before the next
	Line                 // many, but the outer line between the sides holds: never are two active
	Many
)

// Config says what schedule to run.
type Config struct {
	Faults  Faults
	Witness bool
	Even    bool                             // once all is mended, every message takes the same time
	Log     func(format string, args ...any) // every step; nil: none
}

// failure is what a schedule found to be wrong.
type failure struct{ text string }

func failf(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

// place is where a message comes from or goes to.
type place int

// The places; clients follow.
const (
	sideA place = iota
	sideB
	atWitness
	firstClient
)

func (p place) isSide() bool { return p <= sideB }

// way is one direction between two places.
type way struct {
	from, to place
	line     standby.Line
}

// event is something that happens at a time; those of one time in their order.
type event struct {
	at    overlay.Instant
	order int
	do    func()

	heals bool   // what was broken
	send  *sent  // a message on its way
	of    *side  // it happens in its process; nil: in none
	life  uint64 // of that
}

// sent is a message on its way.
type sent struct {
	way
	message any
	at      overlay.Instant
}

type queue []*event

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool {
	if q[i].at != q[j].at {
		return q[i].at < q[j].at
	}
	return q[i].order < q[j].order
}

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(x any) { *q = append(*q, x.(*event)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return x
}

// world is a pair with all that is around it.
type world struct {
	Config
	choice overlaytest.Choice
	after  overlay.Duration // TakeOverAfter
	now    overlay.Instant
	events queue
	order  int

	sides   [2]*side
	witness *witness
	clients []*client
	conn    overlay.Conn
	reading int

	cut    map[way]int
	last   map[way]overlay.Instant // when what was sent last arrives
	broken map[overlay.Conn]bool   // connections that have lost something: nothing more comes
	bad    [2]overlay.Instant      // when a message between the sides last was lost or late, by line
	drop   int                     // of 10,000
	even   bool
	slow   int // likewise

	check
}

// witness is the third machine.
type witness struct {
	w  *standby.Witness
	up bool
}

func newWorld(choice overlaytest.Choice, cfg Config) *world {
	w := &world{
		Config: cfg, choice: choice, now: 1_000_000_000, cut: map[way]int{}, last: map[way]overlay.Instant{}, broken: map[overlay.Conn]bool{},
		check: newCheck(),
	}
	if cfg.Faults == Single || cfg.Faults == Many {
		w.after = pick(choice, []overlay.Duration{0, 0, 5 * period})
	}
	w.bad = [2]overlay.Instant{w.now - 100*period, w.now - 100*period}
	w.witness = &witness{standby.NewWitness(standby.Vote{}, w.after, w.now), cfg.Witness}
	for i := range w.sides {
		w.sides[i] = &side{w: w, at: place(i), name: standby.Side(i).String(), most: pick(choice, []int{12, 10_000})}
		w.sides[i].boot()
	}
	for i := range pick(choice, []int{1, 1, 2}) {
		w.clients = append(w.clients, newClient(w, i))
	}
	for _, s := range w.sides {
		s.in(overlay.Instant(choice.Intn(period/4)), s.turn)
	}
	for _, c := range w.clients {
		w.in(eighth, c.turns)
	}
	w.in(overlay.Instant(choice.Intn(4))*eighth, w.read)
	w.in(2*period, w.sync)
	return w
}

func pick[T any](c overlaytest.Choice, all []T) T { return all[c.Intn(len(all))] }

func chance(c overlaytest.Choice, of10000 int) bool { return c.Intn(10_000) < of10000 }

func (w *world) tell(format string, args ...any) {
	if w.Log != nil {
		w.Log("%8.3f %s", float64(w.now-1_000_000_000)/period, fmt.Sprintf(format, args...))
	}
}

// put has something happen.
func (w *world) put(e *event) {
	w.order++
	e.order = w.order
	heap.Push(&w.events, e)
}

// after_ has something happen after a time.
func (w *world) in(delay overlay.Instant, do func()) { w.put(&event{at: w.now + delay, do: do}) }

// heal has a fault end after a time, or when all is mended.
func (w *world) heal(delay overlay.Instant, do func()) {
	w.put(&event{at: w.now + delay, do: do, heals: true})
}

// until goes on until a time, or until done. It reports whether that was.
func (w *world) until(end overlay.Instant, done func() bool) bool {
	for n := 1; len(w.events) > 0; n++ {
		if w.events[0].at >= end {
			break
		}
		e := heap.Pop(&w.events).(*event)
		w.now = e.at
		x, of := e.send, e.of
		switch {
		case of != nil && (!of.up || of.life != e.life):
		case of != nil && of.still > 0: // in its turn, when it goes on
			e.at = of.still
			heap.Push(&w.events, e)
		case x != nil && x.to.isSide() && connOf(x.message) != 0 && of.full(): // clients wait
			e.at += eighth
			w.last[x.way] = max(w.last[x.way], e.at)
			heap.Push(&w.events, e)
		case e.send != nil:
			w.deliver(e.send)
		default:
			e.do()
		}
		if done != nil && n%8 == 0 && done() {
			return true
		}
	}
	w.now = end
	return false
}

// lose loses a message, or what was on a line when it was cut.
func (w *world) lose(on way, message any) {
	switch {
	case on.from.isSide() && on.to.isSide():
		w.bad[on.line] = max(w.bad[on.line], w.now)
	case on.from == atWitness || on.to == atWitness:
	default:
		if c := connOf(message); c != 0 {
			w.broken[c] = true
		}
	}
}

// send puts a message on its way. from is the side that sends it: what a side
// that stands still has begun to send comes when it goes on.
func (w *world) send(on way, message any, from *side) {
	between := on.from <= atWitness && on.to <= atWitness
	if w.cut[on] > 0 || between && w.drop > 0 && chance(w.choice, w.drop) {
		w.lose(on, message)
		return
	}
	most := 2
	if on.line == standby.Outer {
		most = 3
	}
	if w.even {
		most = 1
	}
	delay := overlay.Instant(1+w.choice.Intn(most)) * eighth
	late := w.slow > 0 && chance(w.choice, w.slow)
	if late {
		delay += overlay.Instant(4+w.choice.Intn(21)) * eighth
	}
	if from != nil && from.still > w.now {
		delay += from.still - w.now
	}
	at := max(w.now+delay, w.last[on])
	w.last[on] = at
	if late && on.from.isSide() && on.to.isSide() {
		w.bad[on.line] = max(w.bad[on.line], at)
	}
	e := &event{at: at, send: &sent{way: on, message: message, at: w.now}}
	if on.to.isSide() {
		e.of, e.life = w.sides[on.to], w.sides[on.to].life
	}
	w.put(e)
}

func (w *world) deliver(s *sent) {
	if w.cut[s.way] > 0 {
		w.lose(s.way, s.message)
		return
	}
	if c := connOf(s.message); c != 0 && w.broken[c] {
		return
	}
	switch {
	case s.to.isSide():
		w.sides[s.to].receive(s)
	case s.to == atWitness:
		if w.witness.up {
			if answer := w.witness.w.Receive(w.now, standby.Side(s.from), s.message.(standby.Message)); answer != nil {
				w.tell("W answers %s: %s", standby.Side(s.from), describe(answer))
				w.send(way{atWitness, s.from, standby.Outer}, answer, nil)
			}
		}
	default:
		w.clients[s.to-firstClient].receive(w.sides[s.from], s.message)
	}
}

// read has the robot give a reading, which is on its way to both sides.
func (w *world) read() {
	if w.finale {
		return
	}
	w.reading++
	n, sent := w.reading, w.now
	for _, s := range w.sides {
		if !s.up {
			continue
		}
		delay := overlay.Instant(eighth)
		if w.Faults != Calm {
			delay = overlay.Instant(1+w.choice.Intn(4)) * eighth
		}
		on := way{-1, s.at, standby.Outer}
		at := max(w.now+delay, w.last[on])
		w.last[on] = at
		w.put(&event{at: at, of: s, life: s.life, do: func() { s.reads(n, sent) }})
	}
	w.in(pick(w.choice, []overlay.Instant{2, 3, 8, 20})*eighth, w.read)
}

// sync brings what is stored to the disk.
func (w *world) sync() {
	for _, s := range w.sides {
		if s.up {
			s.synced = len(s.log)
		}
	}
	w.in(2*period, w.sync)
}
