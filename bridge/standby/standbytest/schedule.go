package standbytest

import (
	"container/heap"
	"fmt"
	"slices"

	"callboard/bridge/overlay"
	"callboard/bridge/overlay/overlaytest"
	"callboard/bridge/standby"
)

// Run runs one schedule. An error says what did not hold.
func Run(choice overlaytest.Choice, cfg Config) (marks map[string]int, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, is := p.(failure)
			if !is {
				panic(p)
			}
			err = fmt.Errorf("%s", f.text)
		}
	}()
	w := newWorld(choice, cfg)
	w.run()
	return w.marks, nil
}

func (w *world) run() {
	if !w.until(w.now+40*period, w.sound) {
		failf("never in step: %v", w.sides)
	}
	if w.Faults == Many {
		w.slow, w.drop = pick(w.choice, []int{0, 0, 0, 200}), pick(w.choice, []int{0, 0, 100})
	}
	terms := [2]standby.Term{w.sides[0].m.Term, w.sides[1].m.Term}
	for range 1 + w.choice.Intn(10) {
		kind := w.fault()
		pause := pick(w.choice, []int{1, 4, 8, 16, 32, 64, 112})
		switch w.Faults {
		case Calm:
			pause = pick(w.choice, []int{16, 24, 40})
		case Single:
			pause = 112
		}
		w.until(w.now+overlay.Instant(pause)*eighth, nil)
		if w.Faults == Single {
			if kind != "" && w.Witness && !w.until(w.now+1, w.served) && !w.until(w.now+12*period, w.served) {
				failf("one fault, and no service: %s: %v; %v", kind, w.sides, w.clients)
			}
			w.settle()
		}
	}
	if w.Faults == Calm && (terms != [2]standby.Term{w.sides[0].m.Term, w.sides[1].m.Term} || terms[0] != terms[1]) {
		failf("a false takeover: %v, %v", terms, w.sides)
	}
	w.settle()
	w.finish()
}

// settle mends all: the pair comes back in step, and the clients hang on the active.
func (w *world) settle() {
	w.cut = map[way]int{}
	drop, slow := w.drop, w.slow
	w.drop, w.slow, w.even = 0, 0, w.Even
	w.revive()
	w.events = slices.DeleteFunc(w.events, func(e *event) bool { return e.heals })
	heap.Init(&w.events)
	for _, s := range w.sides {
		w.begin(s)
		s.step(&standby.Switch{Cancel: true})
	}
	if !w.until(w.now+60*period, w.sound) {
		failf("it does not come back: %v; witness %v; %v", w.sides, w.witness.w.Vote(), w.clients)
	}
	w.drop, w.slow, w.even = drop, slow, false
}

// begin starts a side whose process is dead.
func (w *world) begin(s *side) {
	if !s.up {
		s.boot()
		w.tell("%s begins", s.name)
		s.in(0, s.turn)
	}
}

func (w *world) revive() {
	if !w.witness.up {
		w.witness.up = true
		w.witness.w = standby.NewWitness(w.witness.w.Vote(), w.after, w.now)
	}
}

// part cuts ways for a time.
func (w *world) part(ways []way, length overlay.Instant) {
	w.marks["cuts"]++
	w.tell("cut %v for %d", ways, length/eighth)
	for _, x := range ways {
		w.cut[x]++
		w.lose(x, nil)
	}
	w.heal(length, func() {
		for _, x := range ways {
			if w.lose(x, nil); w.cut[x] > 0 {
				w.cut[x]--
			}
		}
	})
}

// kill ends a process; power: with the machine, and what its disk has not got.
func (w *world) kill(s *side, power bool) {
	if !s.up {
		return
	}
	w.tell("%s dies, power %v", s.name, power)
	s.up, s.on, s.still, s.killed = false, false, 0, s.life
	if power {
		w.marks["power cuts"]++
		w.powerCuts++
		s.lost = true
		least := min(s.synced, len(s.log))
		s.log = s.log[:least+w.choice.Intn(len(s.log)-least+1)]
	} else {
		w.marks["kills"]++
		w.send(way{s.at, s.other().at, standby.Inner}, &reset{s.life}, nil)
	}
	dead := pick(w.choice, []overlay.Instant{1, 3, 8, 24, 64, 240})
	if w.Faults != Single {
		dead = min(dead, 64)
	}
	w.heal(dead*eighth, func() { w.begin(s) })
}

// stop has a process stand still: between two turns, or in one, so that what it
// sends is half sent.
func (w *world) stop(s *side, length overlay.Instant) {
	if !s.up || s.still > 0 {
		return
	}
	w.marks["stops"]++
	w.tell("%s stands still for %d", s.name, length/eighth)
	if w.choice.Intn(2) == 0 {
		for _, e := range w.events {
			if x := e.send; x != nil && x.from == s.at && x.at == w.now {
				e.at += length
				w.last[x.way] = max(w.last[x.way], e.at)
			}
		}
		heap.Init(&w.events)
	}
	s.still = w.now + length - 3 // before what comes at that moment
	life := s.life
	heap.Push(&w.events, &event{at: s.still, order: -1, do: func() { // before what has waited
		if s.life == life {
			s.still = 0
			w.resumed[s.at] = w.now
		}
	}})
}

// both is a line's two ways.
func both(a, b place, line standby.Line) []way { return []way{{a, b, line}, {b, a, line}} }

// fault has one happen. It returns the kind of one after which there is to be
// service again, with a witness; "": any other.
func (w *world) fault() string {
	c := w.choice
	u := c.Intn(100)
	s := w.sides[c.Intn(2)]
	long := pick(c, []overlay.Instant{4, 8, 16, 32, 64}) * eighth
	if w.Faults == Calm {
		if u < 80 {
			w.stop(s, overlay.Instant(1+c.Intn(3))*eighth)
		}
		return ""
	}
	for w.Faults == Line && (u >= 24 && u < 52 || u >= 57 && u < 63) { // the outer line between the sides holds
		u = c.Intn(100)
	}
	if w.Faults == Single {
		long = 8 * period
		if u < 24 || u >= 57 && u < 63 {
			long = 30 * period
		}
	}
	inner, outer, toWitness := both(sideA, sideB, standby.Inner), both(sideA, sideB, standby.Outer), both(s.at, atWitness, standby.Outer)
	one := func(ways []way) []way { return ways[c.Intn(2):][:1] }
	var toClients []way
	for _, p := range w.clients {
		toClients = append(toClients, both(p.at, s.at, standby.Outer)...)
	}
	switch {
	case u < 14:
		w.part(one(inner), long)
		return "inner, one way"
	case u < 24:
		w.part(inner, long)
		return "inner"
	case u < 32:
		if c.Intn(2) == 0 {
			outer = one(outer)
		}
		w.part(outer, long)
		return "outer"
	case u < 40:
		w.part(slices.Concat(inner, outer), long)
		return "both lines"
	case u < 46: // from everybody but some clients
		some := toClients[:min(len(toClients), pick(c, []int{0, 0, 2, 4}))]
		w.part(slices.Concat(inner, outer, toWitness, some), long)
		return "alone"
	case u < 52:
		if c.Intn(2) == 0 {
			toWitness = one(toWitness)
		}
		w.part(toWitness, long)
		return "from the witness"
	case u < 57:
		w.part(both(pick(c, w.clients).at, s.at, standby.Outer), long)
	case u < 63:
		w.part(slices.Concat(toClients, outer, toWitness), long)
		return "nic"
	case u < 76:
		w.kill(s, false)
		return "kill"
	case u < 82:
		w.kill(s, true)
		return "power"
	case u < 84:
		w.kill(s, c.Intn(2) == 0)
		w.kill(s.other(), c.Intn(2) == 0)
	case u < 94:
		w.stop(s, pick(c, []overlay.Instant{2, 3, 8, 16, 32, 64})*eighth)
		return "stop"
	case u < 96 && w.Witness && w.sound() && c.Intn(2) == 0: // its disk is replaced
		w.marks["new witness"]++
		w.witness.w = standby.NewWitness(standby.Vote{}, w.after, w.now)
		return "witness"
	case u < 96 && w.Witness:
		w.witness.up = false
		w.heal(long, w.revive)
		return "witness"
	case u == 99 && w.Faults == Many:
		if s.up && !s.on {
			w.marks["ordered"]++
			w.ordered = true
			s.step(&standby.Lose{})
		}
	case s.up && s.on:
		w.marks["switches"]++
		s.step(&standby.Switch{})
	}
	return ""
}
