package overlaytest

import (
	"container/heap"
	"fmt"
	"math"
	"slices"

	"callboard/bridge/adhoc"
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Field is a workload: robots that wander (random waypoint), each with a broker that
// reads it and a program there that subscribes to other robots' readings. Brokers find
// each other by beacons; links come and go.
type Field struct {
	Brokers  int
	Degree   float64          // brokers in range of one, on average, about
	Life     overlay.Duration // of a link, on average, about
	Wants    int              // robots that each program subscribes to
	Interval overlay.Duration // between two readings of a robot
	Reading  int              // bytes of one, with what carries it
	Hop      overlay.Duration // of one sending over a link; a frame takes as many as the link costs
	Until    uint64           // ends after so many notifications
	Seed     uint64
	Size     func() func([]overlay.Message) int // makes what returns the bytes of a session's frames
	Stop     func() bool                        // asked now and then whether to end early; nil: no
}

// Wandered is what came of it. Anything lost, doubled or out of order is an error of
// Wander.
type Wandered struct {
	Notifications uint64
	Gaps          int     // that were declared: longer out of reach than is retained
	Seconds       float64 // simulated
	Degree        float64 // measured
	Life          float64 // s, of links that have ended
	Reach         float64 // share of pairs with a path
	Links         int     // that began

	Live, LiveBest     []overlay.Duration // of readings while a path of links has existed for two periods, and at best
	Steady, SteadyBest []overlay.Duration // likewise, while the best path has been the same for two periods

	Stretch       float64 // cost of routes in use against the best paths, on average
	SteadyStretch float64 // of those whose best path has been the same for two periods
	Control       uint64  // bytes of all but readings, with beacons
	Beacons       uint64  // bytes of them
	Data          uint64  // bytes of readings on all links
	Flooding      uint64  // bytes that flooding every reading spends
	LinkStates    uint64  // messages
	Renewals      uint64
	Improved      uint64
}

const (
	nearShare  = 0.6 // of the range, in which nothing is lost
	worstShare = 0.5 // of beacons that arrive, at its end
	look       = second / 10
)

// field is one that runs. The unit of length is the range.
type field struct {
	*cluster
	Field
	result  Wandered
	side    float64
	speed   float64 // a second
	places  [][2]float64
	goals   [][2]float64
	near    [][]overlay.Instant // since when two are in range; 0: they are not
	shares  [][]float64
	finders []*adhoc.Finder
	want    [][]bool // links, as each end says
	events  events
	busy    map[*way]bool // that have an event
	sizes   map[*way]func([]overlay.Message) int
	wanted  [][]int // by source: clients
	oracle  oracle
	pubs    map[int]*published
	ended   bool
	lives   []float64
	pairs   [3]float64      // looked at, in range, with a path
	routes  [4]float64      // sums of stretches and how many, all and steady
	began   overlay.Instant // when all knew each other
}

// published is a reading on its way.
type published struct {
	at     overlay.Instant
	left   int
	best   []overlay.Duration // by client, at best
	path   []bool             // a path of links has existed for two periods
	steady []bool             // the best path has been the same
}

type event struct {
	at   overlay.Instant
	seq  int
	kind int
	who  int
	way  *way
}

const (
	eventFrame = iota
	eventBeacon
	eventTick
	eventRead
	eventLook
)

type events struct {
	all []event
	seq int
}

func (e *events) Len() int { return len(e.all) }
func (e *events) Less(i, j int) bool {
	a, b := &e.all[i], &e.all[j]
	return a.at < b.at || a.at == b.at && a.seq < b.seq
}
func (e *events) Swap(i, j int) { e.all[i], e.all[j] = e.all[j], e.all[i] }
func (e *events) Push(x any)    { e.all = append(e.all, x.(event)) }
func (e *events) Pop() any {
	last := e.all[len(e.all)-1]
	e.all = e.all[:len(e.all)-1]
	return last
}

func (e *events) add(at overlay.Instant, kind, who int, w *way) {
	e.seq++
	heap.Push(e, event{at, e.seq, kind, who, w})
}

// Wander runs a workload.
func Wander(w Field) (result Wandered, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("%s", f.text)
		}
	}()
	f := newField(w)
	f.run()
	f.meet()
	f.measure()
	return f.result, nil
}

func newField(w Field) *field {
	n := w.Brokers
	f := &field{
		Field: w, side: math.Sqrt(math.Pi * float64(n) / w.Degree), speed: math.Pi * math.Pi / 8 / (float64(w.Life) / float64(second)),
		places: make([][2]float64, n), goals: make([][2]float64, n), busy: map[*way]bool{}, sizes: map[*way]func([]overlay.Message) int{},
		wanted: make([][]int, n), pubs: map[int]*published{},
	}
	f.cluster = newCluster(Seed(w.Seed), n, nil, overlay.Config{Mode: overlay.ModeEvery}, 0, nil)
	f.forgetful = true
	f.sent = func(w *way) { f.frameSent(w) }
	f.cluster.ends = func(i int, l link) overlay.Cost { return f.costOfEnd(i, l.a+l.b-i) }
	for i := range n {
		f.places[i], f.goals[i] = f.anywhere(), f.anywhere()
		f.near, f.shares, f.want = append(f.near, make([]overlay.Instant, n)), append(f.shares, make([]float64, n)), append(f.want, make([]bool, n))
		for j := range i {
			f.cut[linkOf(i, j)] = true
			f.addWays(linkOf(i, j))
		}
		finder, err := adhoc.New(adhoc.Config{Network: "field", Key: []byte("field"), Self: brokerName(i), Boot: uint64(f.choice.Intn(1<<30)) + 1, Address: ":1"}, f.now)
		if err != nil {
			failf("%v", err)
		}
		f.finders = append(f.finders, finder)
		f.appeared[i] = true
		f.advertise(i)
		f.events.add(finder.Deadline(), eventBeacon, i, nil)
		f.events.add(f.now+f.some(second), eventTick, i, nil)
		f.events.add(f.now+f.some(overlay.Instant(w.Interval)), eventRead, i, nil)
	}
	for i := range n {
		p := newClient(f.cluster, fmt.Sprintf("c%d", i+1))
		p.forgets = true
		p.told = func(m *overlay.Notify) { f.arrived(i, m) }
		f.clients = append(f.clients, p)
		p.attach(i)
		sub := p.subscription("near", 1, protocol.KeepAll)
		for len(sub.Robots) < min(w.Wants, n-1) {
			j := f.choice.Intn(n)
			if name := robotName(j); j != i && !slices.Contains(sub.Robots, name) {
				sub.Robots = append(sub.Robots, name)
				f.wanted[j] = append(f.wanted[j], i)
			}
		}
		p.subscribes(sub)
		f.attend(i)
	}
	f.oracle, f.began = newOracle(n), f.now+5*second
	f.look()
	f.events.add(f.now+look, eventLook, 0, nil)
	return f
}

func (f *field) some(most overlay.Instant) overlay.Instant {
	return overlay.Instant(f.choice.Intn(int(most))) + 1
}

func (f *field) anywhere() [2]float64 {
	return [2]float64{f.side * float64(f.choice.Intn(1<<20)) / (1 << 20), f.side * float64(f.choice.Intn(1<<20)) / (1 << 20)}
}

// attend has a broker's matcher and its program do at once what they are told.
func (f *field) attend(i int) {
	for f.see(f.brokers[i]) {
	}
	for p := f.clients[i]; p.due(); {
		p.process()
	}
}

func (f *field) run() {
	for f.result.Notifications < f.Until {
		f.next()
	}
}

// next has the next thing happen.
func (f *field) next() {
	e := heap.Pop(&f.events).(event)
	f.now = max(f.now, e.at)
	switch e.kind {
	case eventFrame:
		f.carry(e.way)
	case eventBeacon:
		f.finders[e.who].Tick(f.now)
		f.find(e.who)
		f.events.add(f.finders[e.who].Deadline(), eventBeacon, e.who, nil)
	case eventTick:
		f.step(e.who, &overlay.Tick{})
		f.attend(e.who)
		f.events.add(f.now+second/4, eventTick, e.who, nil)
	case eventRead:
		if !f.ended {
			f.read(e.who)
		}
		f.events.add(f.now+overlay.Instant(f.Interval), eventRead, e.who, nil)
	case eventLook:
		f.move()
		f.look()
		f.events.add(f.now+look, eventLook, 0, nil)
	}
}

// find carries out what a finder says.
func (f *field) find(i int) {
	for _, out := range f.finders[i].Outputs() {
		switch out := out.(type) {
		case *adhoc.Send:
			f.result.Beacons += uint64(len(out.Datagram))
			f.result.Control += uint64(len(out.Datagram))
			for j, share := range f.shares[i] {
				if share > 0 && float64(f.choice.Intn(1<<20)) < share*(1<<20) {
					f.finders[j].Hear(f.now, out.Datagram, "10.0.0.1")
					f.find(j)
				}
			}
		case *adhoc.Linked:
			f.link(i, out.Neighbours)
		case *adhoc.Cost:
			if j := f.index(out.ID); !f.cut[linkOf(i, j)] {
				f.step(i, &overlay.LinkCost{Neighbour: out.ID, Session: f.brokers[i].sessions[j], Cost: out.Cost})
			}
		}
	}
}

// link begins and ends links: one is up once both ends want it.
func (f *field) link(i int, neighbours []adhoc.Neighbour) {
	wants := make([]bool, f.Brokers)
	for _, n := range neighbours {
		wants[f.index(n.ID)] = true
	}
	for j, want := range wants {
		if want == f.want[i][j] {
			continue
		}
		f.want[i][j] = want
		switch l := linkOf(i, j); {
		case !want && !f.cut[l]:
			f.down(l)
		case want && f.want[j][i] && f.cut[l]:
			f.result.Links++
			for _, e := range [][2]int{{i, j}, {j, i}} {
				if f.Size != nil {
					f.sizes[f.between[e]] = f.Size()
				}
			}
			f.up(l)
		}
	}
}

func (f *field) costOfEnd(i, j int) overlay.Cost {
	for _, n := range f.finders[i].Neighbours() {
		if n.ID == brokerName(j) {
			return n.Cost
		}
	}
	return overlay.CostOne
}

// takes is how long a frame takes over a link.
func (f *field) takes(w *way) overlay.Instant {
	share := max(f.shares[w.from][w.to], worstShare)
	return overlay.Instant(float64(f.Hop) / share / share)
}

func (f *field) frameSent(w *way) {
	f.weigh(w)
	if !f.busy[w] {
		f.busy[w] = true
		f.events.add(f.now+f.takes(w), eventFrame, 0, w)
	}
}

// weigh counts the bytes of the frame that was put last.
func (f *field) weigh(w *way) {
	var control []overlay.Message
	for _, m := range w.queue[len(w.queue)-1].messages {
		switch m := m.(type) {
		case *overlay.NotifyMessage:
			f.result.Data += uint64(f.Reading)
		case *overlay.ReplayMessage:
			f.result.Data += uint64(f.Reading * len(m.Items))
		default:
			control = append(control, m)
		}
	}
	if size := f.sizes[w]; size != nil && len(control) > 0 {
		f.result.Control += uint64(size(control))
	}
}

// carry delivers the first frame of a link. Out of range it waits: the link may end, or
// be in range again.
func (f *field) carry(w *way) {
	f.busy[w] = false
	if !w.busy() {
		return
	}
	if f.near[w.from][w.to] == 0 {
		f.again(w, f.now+look)
		return
	}
	if due := w.next().born + f.takes(w); due > f.now {
		f.again(w, due)
		return
	}
	f.deliver(w)
	f.attend(w.to)
	if w.busy() {
		f.again(w, max(f.now, w.next().born+f.takes(w)))
	}
}

func (f *field) again(w *way, at overlay.Instant) {
	if !f.busy[w] {
		f.busy[w] = true
		f.events.add(at, eventFrame, 0, w)
	}
}

// read gives a reading, and notes what it would take at best.
func (f *field) read(i int) {
	p := &published{at: f.now, left: len(f.wanted[i])}
	for _, to := range f.wanted[i] {
		best := f.oracle.costs[i][to]
		p.best = append(p.best, overlay.Duration(best*float64(f.Hop)))
		p.path = append(p.path, f.oracle.islands[i] == f.oracle.islands[to] && f.now-f.began >= 2*second)
		p.steady = append(p.steady, !math.IsInf(best, 1) && f.now-max(f.oracle.since[i][to], f.began) >= 2*second)
	}
	f.pubs[f.reading+1] = p
	f.result.Flooding += uint64(f.oracle.flood[i] * f.Reading)
	f.publish(i)
	f.attend(i)
}

func (f *field) arrived(to int, m *overlay.Notify) {
	f.result.Notifications++
	if f.Stop != nil && f.result.Notifications%10_000 == 0 && f.Stop() {
		f.Until = 0
	}
	p := f.pubs[int(m.Reading.Time)]
	if p == nil || f.ended {
		return
	}
	i := slices.IndexFunc(f.brokers, func(x *broker) bool { return robotName(x.id) == m.Reading.Robot })
	at := slices.Index(f.wanted[i], to)
	took := overlay.Duration(f.now - p.at)
	if p.path[at] {
		f.result.Live, f.result.LiveBest = append(f.result.Live, took), append(f.result.LiveBest, p.best[at])
	}
	if p.steady[at] {
		f.result.Steady, f.result.SteadyBest = append(f.result.Steady, took), append(f.result.SteadyBest, p.best[at])
	}
	if p.left--; p.left == 0 {
		delete(f.pubs, int(m.Reading.Time))
	}
}

// meet has all robots come together and stand, so that all of what is retained
// arrives; then nothing may be missing.
func (f *field) meet() {
	f.ended, f.speed = true, 0
	f.result.Seconds = float64(f.now-1000*second) / float64(second)
	columns := int(math.Ceil(math.Sqrt(float64(f.Brokers))))
	for i := range f.places {
		f.places[i] = [2]float64{0.55 * float64(i%columns), 0.55 * float64(i/columns)}
	}
	lacks := ""
	for i := range 80 {
		if i == 20 { // sources that were never in reach are named by their first reading
			for x := range f.brokers {
				f.publish(x)
				f.attend(x)
			}
		}
		for until := f.now + second; f.now < until; {
			f.next()
		}
		if lacks = f.lacks(); lacks == "" && i > 20 {
			return
		}
	}
	failf("in the end %s", lacks)
}

func (f *field) lacks() string {
	for i, p := range f.clients {
		sources := 0
		for _, word := range sortedKeys(p.nums) {
			if t := f.truth[p.key(word)]; t != nil && t.last > p.nums[word] {
				return fmt.Sprintf("c%d has %d of %d notifications of %s", i+1, p.nums[word], t.last, word)
			}
			sources++
		}
		if sources < min(f.Wants, f.Brokers-1) {
			return fmt.Sprintf("c%d has notifications of %d robots", i+1, sources)
		}
	}
	return ""
}

func (f *field) measure() {
	st := f.stats()
	r := &f.result
	r.Gaps, r.Renewals, r.Improved, r.LinkStates = f.marks["gaps"], st.Renewals, st.Improved, st.Messages.LinkState
	r.Degree = f.pairs[1] / f.pairs[0] * float64(f.Brokers-1)
	r.Reach = f.pairs[2] / f.pairs[0]
	for _, life := range f.lives {
		r.Life += life / float64(len(f.lives))
	}
	r.Stretch, r.SteadyStretch = f.routes[0]/f.routes[1], f.routes[2]/f.routes[3]
}
