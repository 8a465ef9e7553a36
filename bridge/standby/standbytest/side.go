package standbytest

import (
	"fmt"
	"slices"
	"strconv"

	"callboard/bridge/overlay"
	"callboard/bridge/overlay/overlaytest"
	"callboard/bridge/standby"
	"callboard/subscribe/protocol"
)

// beats is the period of the brokers' heartbeats.
const beats = overlay.Duration(2 * period)

// stored is a batch in a store.
type stored struct {
	at      standby.Position
	records []overlay.Record
}

// side is one machine of the pair: a process, or none, and what it has stored.
type side struct {
	w    *world
	at   place
	name string

	state standby.State // the small file
	log   []stored      // the store
	syncd
	life   uint64
	killed uint64 // the life that was killed last

	up    bool
	still overlay.Instant // until when it stands still; 0: it runs
	m     *standby.Machine
	b     *overlay.Broker
	twin  *overlay.Broker // of an active that was warm: one that was not
	on    bool            // the broker is started
	since overlay.Instant // when that was
	conns map[overlay.Conn]*client
	held  []held
	sets  []*tested
	news  []*overlay.Install
	sent  int // batches up to which all was released
	most  int // that its standby may lack
}

// syncd is how much of the store a power cut leaves.
type syncd struct {
	synced int
	lost   bool // it has lost its end
}

// held are outputs that wait for a batch.
type held struct {
	index uint64
	outs  []overlay.Output
	term  standby.Term // instead: what connections are told
}

// tested is a set of subscriptions in the matcher.
type tested struct {
	handle overlay.Handle
	set    uint64
	subs   []*overlay.Subscription
}

// boot starts the process.
func (s *side) boot() {
	w := s.w
	s.life++
	s.up, s.still = true, 0
	left := standby.Left{State: s.state, Last: s.position(), Lost: s.lost}
	for i, b := range s.log {
		if i == 0 || b.at.ID != s.log[i-1].at.ID {
			left.Terms = append(left.Terms, b.at.ID)
		}
	}
	var err error
	s.m, err = standby.New(standby.Config{
		Side: standby.Side(s.at), Life: s.life, Heartbeat: period, Witness: w.Witness, TakeOverAfter: w.after,
		MaxBatches: s.most, Burst: 40,
	}, left, w.now)
	if err != nil {
		failf("%v", err)
	}
	s.rest()
	s.carryOut()
}

func (s *side) position() standby.Position {
	if len(s.log) == 0 {
		return standby.Position{}
	}
	return s.log[len(s.log)-1].at
}

// rest has a broker that is not started restore what is stored.
func (s *side) rest() {
	s.on, s.twin, s.conns, s.held, s.sets, s.news = false, nil, map[overlay.Conn]*client{}, nil, nil, nil
	s.b = s.restored(s.log)
}

func (s *side) restored(log []stored) *overlay.Broker {
	b, err := overlay.New(overlay.Config{ID: "b", Heartbeat: beats})
	if err != nil {
		failf("%v", err)
	}
	for _, x := range log {
		b.Step(s.w.now, &overlay.Restore{Records: overlaytest.KeepAll(x.records)})
	}
	return b
}

// in has something happen in the process's present life, when it does not stand still.
func (s *side) in(delay overlay.Instant, do func()) {
	s.w.put(&event{at: s.w.now + delay, of: s, life: s.life, do: do})
}

// turn is the turn that comes each T/4.
func (s *side) turn() {
	s.step(&standby.Tick{})
	if s.on && s.w.now >= s.b.Deadline() && !s.full() {
		s.take(&overlay.Tick{})
	}
	for len(s.news) > 0 && !s.full() && chance(s.w.choice, 7000) {
		s.install()
	}
	s.in(period/4, s.turn)
}

// receive takes a message from another place.
func (s *side) receive(x *sent) {
	switch m := x.message.(type) {
	case *ofClient:
		s.fromClient(m)
	case *reset:
		if other := s.other(); !other.up && other.killed == m.life {
			s.step(&standby.Dead{})
		}
	case *snapshot:
		s.step(&standby.FromOther{Line: x.line, Message: m.Snapshot}, m.log...)
	case standby.Message:
		if x.from == atWitness {
			s.step(&standby.FromWitness{Message: m})
		} else {
			s.step(&standby.FromOther{Line: x.line, Message: m})
		}
	}
}

// reset is what the other side's kernel sends when the process was killed.
type reset struct{ life uint64 }

// snapshot carries the batches that a snapshot stands for.
type snapshot struct {
	*standby.Snapshot
	log []stored
}

func (s *side) other() *side { return s.w.sides[1-s.at] }

// step hands the rules an input and does what they say. log is what a snapshot
// stands for.
func (s *side) step(in standby.Input, log ...stored) {
	w := s.w
	before := s.m.Stats().Terms
	s.m.Step(w.now, in)
	if w.Log != nil {
		w.tell("%s %s", s.name, describeInput(in))
	}
	begins := s.carryOut(log...)
	w.bySilence(s, in, before)
	if begins != nil {
		s.start(begins)
	}
	s.release()
}

// carryOut does what the rules say. It returns what is to be done last.
func (s *side) carryOut(log ...stored) (begins *standby.Begin) {
	w := s.w
	outs := slices.Clone(s.m.Outputs())
	if w.Log != nil {
		for _, o := range outs {
			w.tell("  %s > %s", s.name, describeOutput(o))
		}
	}
	for _, o := range outs {
		switch o := o.(type) {
		case *standby.Begin:
			begins = o
			w.begins(s, o)
		case *standby.Save:
			s.state = o.State
		default:
			s.do(o, log)
		}
	}
	return begins
}

func (s *side) do(o standby.Output, log []stored) {
	switch o := o.(type) {
	case *standby.ToOther:
		s.tellOther(o)
	case *standby.ToWitness:
		s.w.send(way{s.at, atWitness, standby.Outer}, o.Message, s)
	case *standby.Write:
		for _, b := range o.Batches {
			s.lost = false // the store has its end, such as it is
			s.log = append(s.log, stored{standby.Position{Index: uint64(len(s.log)) + 1, ID: b.ID}, b.Records})
			if o.Restore {
				s.b.Step(s.w.now, &overlay.Restore{Records: overlaytest.KeepAll(b.Records)})
			}
		}
		if s.m.Last().Index < uint64(len(s.log)) {
			failf("%s has %d batches, and its rules are at %d", s.name, len(s.log), s.m.Last().Index)
		}
	case *standby.Replace:
		s.log = slices.Clone(log)
		s.synced = len(s.log)
		s.rest()
	case *standby.Announce:
		at := slices.IndexFunc(s.held, func(h held) bool { return h.index > o.Index })
		if at < 0 {
			at = len(s.held)
		}
		s.held = slices.Insert(s.held, at, held{index: o.Index, term: o.Term})
	case *standby.Stop:
		s.w.marks["stopped"]++
		s.rest()
	}
}

func (s *side) tellOther(o *standby.ToOther) {
	on := way{s.at, s.other().at, o.Line}
	switch m := o.Message.(type) {
	case *standby.Snapshot:
		s.w.marks["snapshots"]++
		s.w.send(on, &snapshot{m, slices.Clone(s.log[:m.Last.Index])}, s)
	default:
		s.w.send(on, m, s)
	}
}

// start begins the broker's life.
func (s *side) start(o *standby.Begin) {
	s.on, s.since, s.sent = true, s.w.now, 0
	if !o.StoreLost {
		s.twin = s.restored(s.log)
		s.w.marks["twins"]++
	}
	s.take(&overlay.Start{StoreLost: o.StoreLost})
	s.take(&overlay.Advertise{Robot: "r", Devices: []string{"laser:0"}})
	s.take(&overlay.RobotState{Robot: "r", State: protocol.RobotUp, Since: s.w.now})
	for len(s.news) > 0 {
		s.install()
	}
	for _, c := range s.w.clients {
		s.w.send(way{s.at, c.at, standby.Outer}, &toClient{term: s.m.Term, active: true}, s)
	}
}

// take has the broker take an input in, and its outputs wait for the batch.
func (s *side) take(in overlay.Input) {
	w := s.w
	if s.twin != nil {
		s.twin.Step(w.now, overlaytest.Own(in))
	}
	s.b.Step(w.now, in)
	if s.twin != nil && !overlaytest.Same(s.b, s.twin) {
		failf("%s, which was warm, does not do what a broker does that is restored at once: %T", s.name, in)
	}
	records, outs := overlaytest.KeepAll(s.b.Records()), slices.Clone(s.b.Outputs())
	if len(records)+len(outs) == 0 {
		return
	}
	var waits []overlay.Output
	for _, o := range outs {
		switch o := o.(type) {
		case *overlay.Install:
			s.news = append(s.news, o)
		case *overlay.Uninstall:
			s.sets = slices.DeleteFunc(s.sets, func(t *tested) bool { return t.handle == o.Handle })
			s.news = slices.DeleteFunc(s.news, func(i *overlay.Install) bool { return i.Handle == o.Handle })
		default:
			waits = append(waits, o)
		}
	}
	s.step(&standby.Append{Records: records, Bytes: 100 * len(records)})
	if !s.on {
		return
	}
	s.held = append(s.held, held{index: s.m.Last().Index, outs: waits})
	s.w.most(s)
	s.release()
}

// release lets go what the rules let go.
func (s *side) release() {
	if !s.on {
		return
	}
	for len(s.held) > 0 && s.held[0].index <= s.m.Released() {
		h := s.held[0]
		s.held = s.held[1:]
		if h.term != 0 {
			for _, conn := range s.order() {
				s.tellClient(conn, &toClient{conn: conn, term: h.term})
			}
			continue
		}
		if len(h.outs) > 0 {
			s.w.promise(s, int(h.index))
		}
		for _, o := range h.outs {
			s.putOut(o)
		}
	}
}

func (s *side) order() []overlay.Conn {
	var all []overlay.Conn
	for conn := range s.conns {
		all = append(all, conn)
	}
	slices.Sort(all)
	return all
}

func (s *side) putOut(o overlay.Output) {
	switch o := o.(type) {
	case *overlay.Heartbeat:
		for _, conn := range s.order() {
			s.tellClient(conn, &toClient{conn: conn, term: s.m.Term, message: o})
		}
	case *overlay.Send:
		x := &toClient{conn: o.Conn, message: o.Message}
		if _, is := o.Message.(*protocol.Welcome); is {
			x.term = s.m.Term
		}
		s.tellClient(o.Conn, x)
	case *overlay.Notify:
		s.tellClient(o.Conn, &toClient{conn: o.Conn, message: o})
	case *overlay.Close:
		s.tellClient(o.Conn, &toClient{conn: o.Conn, message: o})
		delete(s.conns, o.Conn)
	}
}

func (s *side) tellClient(conn overlay.Conn, x *toClient) {
	if c := s.conns[conn]; c != nil {
		s.w.send(way{s.at, c.at, standby.Outer}, x, s)
	}
}

func (s *side) fromClient(x *ofClient) {
	c := x.client
	hello, is := x.in.(*overlay.Hello)
	switch {
	case is && (!s.on || x.seen > s.m.Term): // a client's word stops nobody
		s.w.send(way{s.at, c.at, standby.Outer}, &toClient{conn: x.conn, refused: true}, s)
	case is:
		hello.Foreign = !s.m.Served(x.seen)
		if hello.Foreign {
			s.w.marks["foreign"]++
		}
		for _, conn := range s.order() { // the client's kernel has closed it
			if s.conns[conn] == c {
				delete(s.conns, conn)
				s.take(&overlay.Disconnected{Conn: conn})
			}
		}
		if s.on {
			s.conns[x.conn] = c
			s.take(hello)
		}
	case s.on && s.conns[x.conn] == c:
		s.take(x.in)
	}
}

// full reports whether nothing is to be taken in for now (D4).
func (s *side) full() bool {
	if !s.on || !s.m.Full() {
		return false
	}
	s.w.marks["full"]++
	return true
}

// reads takes a reading of the robot's session, which began when the broker did.
func (s *side) reads(n int, sent overlay.Instant) {
	if !s.on || sent < s.since || s.full() {
		return
	}
	for len(s.news) > 0 && !s.full() && chance(s.w.choice, 5000) {
		s.install()
	}
	reading := &overlay.Reading{Robot: "r", Interface: "laser", Time: float64(n), JSON: strconv.AppendInt(nil, int64(n), 10)}
	in := &overlay.Matched{Reading: reading}
	for _, t := range s.sets {
		hit := overlay.Hit{Handle: t.handle, Set: t.set}
		for _, sub := range t.subs {
			if n%len(sub.Condition) == 0 {
				hit.Names = append(hit.Names, protocol.Matched{ID: sub.ID})
			}
		}
		if len(hit.Names) > 0 {
			in.Hits = append(in.Hits, hit)
		}
	}
	if len(in.Hits) > 0 {
		s.take(in)
	}
}

// install has the matcher take the next change in.
func (s *side) install() {
	in := s.news[0]
	s.news = s.news[1:]
	at := slices.IndexFunc(s.sets, func(t *tested) bool { return t.handle == in.Handle })
	if at < 0 {
		at = len(s.sets)
		s.sets = append(s.sets, &tested{handle: in.Handle})
	}
	t := s.sets[at]
	t.set = in.Set
	if in.Whole {
		t.subs = nil
	}
	t.subs = slices.DeleteFunc(t.subs, func(sub *overlay.Subscription) bool {
		return slices.Contains(in.Drop, sub.ID) || slices.ContainsFunc(in.Put, func(p *overlay.Subscription) bool { return p.ID == sub.ID })
	})
	t.subs = append(t.subs, in.Put...)
	answer := &overlay.Installed{Handle: in.Handle, Set: in.Set, Robots: map[string]int{}}
	for _, id := range in.Count {
		answer.Robots[id] = 1
	}
	s.take(answer)
}

func (s *side) String() string {
	if !s.up {
		return s.name + " is dead"
	}
	return fmt.Sprintf("%s in term %d %s at %v, active %v, lost %v, floor %d", s.name, s.m.Term, s.m.Stands, s.m.Last(), s.m.Active(), s.lost, s.m.Floor)
}
