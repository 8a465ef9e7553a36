package overlaytest

import (
	"fmt"
	"slices"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Kind is what may happen in a schedule.
type Kind int

// Kinds of schedules.
const (
	NoFaults Kind = iota // only a registry out of reach
	Faults               // links are cut, brokers crash, messages are late, one id is used twice
	Amnesia              // stores are lost, too, and sessions end
	OldStore             // as Faults, and one source broker's store goes back to what it was
	Absent               // as one of the first two, and clients change what they subscribe to while they are away
	Anew                 // as Faults, and subscriptions to changes end and begin again, alike, at edges that crash then
	Mobile               // each broker has the registry; links come and go, and have costs that change; in half of the schedules other faults come, too
)

// Config says what schedules to run.
type Config struct {
	Kind  Kind
	Every bool                 // each broker has the registry
	Log   func(string, ...any) // every step; nil: none

	Once bool // it runs once: its trace is not hashed

	// Warm holds each broker that starts again against one that has followed
	// record by record: both get the same inputs from then on, and must do the same.
	Warm bool
}

// Result tells of a schedule that held.
type Result struct {
	Hash  uint64 // of its trace
	Marks map[string]int
	Stats overlay.Stats // of all brokers, added up
}

// schedule is one random network and what happens in it.
type schedule struct {
	*cluster
	kind    Kind
	absent  bool
	anew    bool
	calm    bool // every change ends before the next: costs are exact
	away    int  // how often the registry was out of reach
	limited bool
	faults  bool
	mobile  bool // links have costs
	alone   bool // and no other faults come
	doubles []double
	older   int  // of OldStore: the broker whose store goes back
	wasBack bool // it has
}

// double is a second connection with a client's id.
type double struct {
	conn overlay.Conn
	at   int
}

// Run runs one schedule. An error says what did not hold.
func Run(choice Choice, cfg Config) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("%s", f.text)
		}
	}()
	s := newSchedule(choice, cfg)
	s.run()
	if s.faults {
		s.outOfReach()
		s.worksAlone()
	}
	s.finale()
	return Result{Hash: uint64(s.trace), Marks: s.marks, Stats: s.stats()}, nil
}

func newSchedule(choice Choice, cfg Config) *schedule {
	kind := cfg.Kind
	switch kind {
	case Absent:
		kind = []Kind{NoFaults, Faults}[choice.Intn(2)]
	case Anew, Mobile:
		kind = Faults
	}
	n := 2 + choice.Intn(7)
	var links []link
	add := func(l link) {
		if l.a != l.b && !slices.Contains(links, l) {
			links = append(links, l)
		}
	}
	for i := 1; i < n; i++ {
		add(linkOf(i, choice.Intn(i)))
	}
	for range choice.Intn(4) {
		add(linkOf(choice.Intn(n), choice.Intn(n)))
	}
	if cfg.Kind == Mobile {
		for range choice.Intn(2 * n) {
			add(linkOf(choice.Intn(n), choice.Intn(n)))
		}
	}
	s := &schedule{kind: kind, absent: cfg.Kind == Absent, anew: cfg.Kind == Anew, mobile: cfg.Kind == Mobile, faults: kind != NoFaults}
	oc := overlay.Config{Mode: overlay.ModeOne, Inbox: overlay.Limits{Keep: 100_000 * overlay.Second}}
	if cfg.Every || s.mobile {
		oc.Mode = overlay.ModeEvery
	}
	if kind == Amnesia {
		oc.Inbox.Keep = []overlay.Duration{5 * overlay.Second, 12 * overlay.Second}[choice.Intn(2)]
	}
	if choice.Intn(4) == 0 {
		oc.Inbox.Count, s.limited = 4, true
	} else if choice.Intn(6) == 0 { // inboxes give way, some always, some now and then
		oc.Disk, s.limited = int64(2_000+500*choice.Intn(20)), true
	}
	calm := cfg.Kind == NoFaults && choice.Intn(10) < 3
	if calm {
		oc.ReplayBytes = 1 << 30 // costs are those of replays that are not cut
	} else if choice.Intn(2) == 0 {
		oc.ReplayBytes = 1 // each item alone
	}
	s.cluster = newCluster(choice, n, links, oc, choice.Intn(n), cfg.Log)
	s.traced = !cfg.Once
	if s.mobile {
		s.alone = choice.Intn(2) == 0
		for _, l := range links {
			s.changeCost(l)
		}
	}
	if s.absent && n%3 == 0 {
		s.stepMembers = 1 // each set in a step of its own
	}
	if cfg.Warm {
		s.followAll()
	}
	s.forgetful, s.calmRobots = !s.faults, !s.faults
	s.changesHold = kind == NoFaults || kind == Faults
	s.calm = calm
	s.slow = !s.calm && choice.Intn(3) == 0
	for range 1 + choice.Intn(min(3, n)) {
		if i := choice.Intn(n); !slices.Contains(s.sources, i) {
			s.sources = append(s.sources, i)
			if choice.Intn(10) < 8 {
				s.appear(i)
			}
		}
	}
	slices.Sort(s.sources)
	if s.every() && len(s.sources) > 1 && choice.Intn(3) == 0 {
		for _, i := range s.sources {
			s.toggleTwin(i)
		}
	}
	if s.kind == OldStore {
		s.older = pick(choice, s.sources)
	}
	for i := range 1 + choice.Intn(2) {
		p := newClient(s.cluster, fmt.Sprintf("lab\x00c%d", i+1))
		p.lazy, p.lists = choice.Intn(3) == 0, choice.Intn(2) == 0
		s.clients = append(s.clients, p)
	}
	if choice.Intn(4) == 0 {
		p := newClient(s.cluster, "")
		p.anonymous, p.lazy = true, choice.Intn(3) == 0
		s.clients = append(s.clients, p)
	}
	return s
}

func (s *schedule) appear(i int) {
	if s.appeared[i] {
		s.leave(i)
		s.appeared[i] = false
		s.step(i, &overlay.Withdraw{Robot: robotName(i)})
	} else {
		s.appeared[i] = true
		s.advertise(i)
	}
}

// robotState has a source's robot go away, come back, or lose readings.
func (s *schedule) robotState(i int, state string) {
	if s.appeared[i] {
		if state == protocol.RobotAway {
			s.leave(i)
		}
		s.step(i, &overlay.RobotState{Robot: robotName(i), State: state, Since: s.now})
	}
}

// move has something of what is under way go on.
func (s *schedule) move() bool {
	links := s.busy()
	n := len(links)
	for _, p := range s.clients {
		if p.due() {
			n++
		}
	}
	for _, x := range s.brokers {
		if len(x.installs) > 0 {
			n++
		}
	}
	if n == 0 {
		return false
	}
	at := s.choice.Intn(n)
	if at < len(links) {
		s.deliver(links[at])
		return true
	}
	at -= len(links)
	for _, p := range s.clients {
		if p.due() {
			if at == 0 {
				p.process()
				return true
			}
			at--
		}
	}
	for _, x := range s.brokers {
		if len(x.installs) > 0 {
			if at == 0 {
				s.see(x)
				return true
			}
			at--
		}
	}
	return false
}

func (s *schedule) settle() {
	for range 200_000 {
		if !s.move() {
			return
		}
	}
	failf("it does not settle")
}

// period lets time go on: without faults only when what was sent in the period
// before has had all its effects.
func (s *schedule) period() {
	if !s.faults && s.oldest() < s.now {
		return
	}
	s.now += second
	left := make([]int, len(s.brokers))
	for i := range left {
		left[i] = i
	}
	s.breakStill()
	for len(left) > 0 {
		at := s.choice.Intn(len(left))
		s.step(left[at], &overlay.Tick{})
		left = slices.Delete(left, at, at+1)
	}
}

func (s *schedule) run() {
	moves := 1 + s.choice.Intn(12)
	haste, pace := []int{50, 300, 1500}[s.choice.Intn(3)], []int{500, 3000}[s.choice.Intn(2)]
	if !s.faults || s.choice.Intn(4) > 0 { // links are known before the first client comes
		s.settle()
		if !s.faults {
			s.carried = map[[2]int]map[bulletin]bool{}
		}
	}
	for _, p := range s.clients {
		p.attach(s.choice.Intn(len(s.brokers)))
		s.subscribeAny(p)
	}
	for moves > 0 {
		u := s.choice.Intn(10_000)
		switch {
		case u < haste:
			moves--
			s.act(pick(s.choice, s.clients))
		case u < haste*3/2:
			s.period()
		case u < haste*16/10:
			if !s.every() {
				s.registryUp = !s.registryUp
				s.away++
			} else if s.faults {
				s.part()
			}
		case u < haste*17/10:
			if i := pick(s.choice, s.sources); s.every() && s.choice.Intn(3) == 0 {
				s.toggleTwin(i)
			} else if s.choice.Intn(2) == 0 {
				s.appear(i)
			} else {
				s.robotState(i, []string{protocol.RobotAway, protocol.RobotUp, protocol.RobotOverflow}[s.choice.Intn(3)])
			}
		case u < haste*22/10 && s.faults:
			s.fault()
		case u < haste*22/10+pace:
			i := pick(s.choice, s.sources)
			s.publish(i)
			s.readTwin(i)
		default:
			if !s.move() {
				s.publish(pick(s.choice, s.sources))
			}
		}
	}
}

func (s *schedule) subscribeAny(p *client) {
	if !p.connected() {
		return
	}
	if id := string(rune('a' + s.choice.Intn(3))); p.subs[id] == nil {
		s.subscribe(p, id)
	}
}

func (s *schedule) subscribe(p *client, id string) {
	keep, trigger := protocol.KeepAll, protocol.TriggerEvery
	switch s.choice.Intn(4) {
	case 0:
		keep = protocol.KeepLatest
	case 1:
		trigger = protocol.TriggerChange
	}
	p.subscribe(id, 1+s.choice.Intn(3), keep, trigger)
}

// act has a client do something.
func (s *schedule) act(p *client) {
	if s.calm {
		s.settle()
	}
	u, y := s.choice.Intn(100), s.choice.Intn(len(s.brokers))
	roam := func() { p.detach(); p.attach(y) }
	if s.choice.Intn(2) == 0 && p.connected() && !p.anonymous {
		roam = func() { p.move(y) } // the connection in use goes on meanwhile
	}
	switch {
	case s.anew && p.connected() && p.next == nil && y%2 == 0 && s.beginAnew(p):
	case p.connected() && u < 35:
		p.detach()
		if s.absent {
			s.changeAway(p)
		}
	case !p.connected() || u < 70:
		if !s.quietNow(p) {
			roam()
		} else {
			s.quiet("roam", roam, s.priceOfRoam(p, y))
		}
	case u < 80 || len(p.subs) == 0:
		s.quietSubscribe(p)
	default:
		id := pick(s.choice, sortedKeys(p.subs))
		price := messages{subscribe: s.hops(p)}
		if u < 90 {
			every := 1 + s.choice.Intn(3)
			if every == len(p.subs[id].sub.Condition) {
				price = messages{}
			}
			s.quiet("update", func() { p.update(id, every) }, price)
		} else {
			s.quiet("unsubscribe", func() { p.unsubscribe(id) }, price)
		}
	}
}

// beginAnew ends one of a client's subscriptions to changes and begins it again,
// alike. The client's edge may crash then, sooner or later. It reports whether there
// was one.
func (s *schedule) beginAnew(p *client) bool {
	var all []string
	for _, id := range sortedKeys(p.subs) {
		if p.subs[id].sub.Trigger == protocol.TriggerChange {
			all = append(all, id)
		}
	}
	if len(all) == 0 {
		return false
	}
	id, at := pick(s.choice, all), p.at
	again := *p.subs[id].sub
	p.unsubscribe(id)
	p.subscribes(&again)
	s.marks["begun anew"]++
	if s.choice.Intn(2) == 0 {
		for range s.choice.Intn(40) {
			s.move()
		}
		if s.choice.Intn(2) == 0 {
			s.period()
			s.period()
		}
		s.crash(at)
	}
	return true
}

// changeAway has a client change what it subscribes to while it is away. What has
// ended and begins again meanwhile would be the same for all who hear its hello.
func (s *schedule) changeAway(p *client) {
	ended := map[string]bool{}
	for range s.choice.Intn(3) {
		id := string(rune('a' + s.choice.Intn(3)))
		switch {
		case p.subs[id] == nil && !ended[id]:
			s.subscribe(p, id)
		case p.subs[id] != nil && s.choice.Intn(2) == 0:
			p.update(id, 1+s.choice.Intn(3))
		case p.subs[id] != nil:
			p.unsubscribe(id)
			ended[id] = true
		}
		s.marks["changed away"]++
	}
}

func (s *schedule) fault() {
	u, x := s.choice.Intn(100), s.choice.Intn(len(s.brokers))
	p := pick(s.choice, s.clients)
	cuts := s.cuts()
	if s.mobile && (s.alone || s.choice.Intn(2) == 0) {
		s.moveBrokers()
		return
	}
	switch {
	case len(s.held) > 0 && u < 15:
		s.release(pick(s.choice, s.still()))
	case len(cuts) > 0 && u < 45:
		s.up(pick(s.choice, cuts))
	case u < 65:
		s.down(pick(s.choice, s.links))
		s.marks["cuts"]++
	case u < 70:
		s.hold(x)
	case u >= 70 && s.kind == OldStore:
		// Once it has gone back, only those who live on know what it has given
		// before. Of a broker that is killed too, or another process with the
		// client's id that had less, nobody could tell.
		if !s.wasBack {
			s.crash(s.older)
		}
	case u < 85:
		s.crash(x)
	case u < 92:
		s.intrude(p, x)
	default:
		s.double(p, x)
	}
}

// still returns the brokers that stand still, in order.
func (s *schedule) still() (all []int) {
	for i := range s.brokers {
		if _, still := s.held[i]; still {
			all = append(all, i)
		}
	}
	return all
}

func (s *schedule) cuts() []link {
	var cuts []link
	for _, l := range s.links {
		if s.cut[l] {
			cuts = append(cuts, l)
		}
	}
	return cuts
}

// crash kills a broker and starts it again, with what it has stored.
func (s *schedule) crash(x int) {
	s.marks["crashes"]++
	for _, p := range s.clients {
		p.edgeCrashed(x)
	}
	s.now += 1000 // a broker takes some time to start: stamps differ
	for _, p := range s.clients {
		if p.conn != 0 && p.at == x {
			delete(s.conns, p.conn)
			p.closed(p.conn)
		}
		if p.next != nil && p.next.at == x {
			delete(s.conns, p.next.conn)
			p.closed(p.next.conn)
		}
	}
	for _, l := range s.links {
		if l.a != x && l.b != x || s.cut[l] {
			continue
		}
		s.cut[l] = true
		y := l.a + l.b - x
		s.between[[2]int{x, y}].lose()
		s.between[[2]int{y, x}].lose()
		session := s.brokers[y].sessions[x]
		delete(s.brokers[y].sessions, x)
		s.step(y, &overlay.LinkDown{Neighbour: brokerName(x), Session: session})
	}
	records := s.brokers[x].records
	switch {
	case s.kind == Amnesia && s.choice.Intn(3) == 0: // another disk
		s.lost[brokerName(x)] = true
		s.marks["stores lost"]++
		s.start(x, nil, false)
	case s.kind == Amnesia && s.choice.Intn(3) == 0: // a power cut: the end is lost
		s.lost[brokerName(x)] = true
		s.marks["stores torn"]++
		s.start(x, slices.Clone(records[:len(records)-s.choice.Intn(min(len(records), 12)+1)]), true)
	case s.kind == OldStore && s.choice.Intn(3) > 0:
		s.wasBack = true
		s.goBack(x, s.choice.Intn(60))
	default:
		s.start(x, records, false)
	}
	for _, l := range s.links {
		if (l.a == x || l.b == x) && s.choice.Intn(4) > 0 {
			s.up(l)
		}
	}
}

// otherToken is whose programs intrude.
const otherToken = "other"

// intrude says hello with the client's id, session and numbers in another token's
// name. It gets nothing of the client's, and the client goes on.
func (s *schedule) intrude(p *client, y int) {
	if p.anonymous || p.session == "" {
		return
	}
	s.conn++
	s.marks["intruders"]++
	hello := p.message(s.conn, p.attachment+uint64(s.choice.Intn(3)))
	hello.Owner, hello.Subscriptions = otherToken, nil
	if _, birth, marked := strings.Cut(hello.Session, ":"); marked && s.choice.Intn(2) == 0 {
		hello.Session = birth // as if it were its own token's
	}
	s.intruders[s.conn] = true
	s.step(y, hello)
	s.doubles = append(s.doubles, double{s.conn, y})
}

// double attaches a second process with the client's id: it never says more.
func (s *schedule) double(p *client, y int) {
	back := uint64(s.choice.Intn(2))
	if y == p.at || p.attachment <= back || p.session == "" || p.anonymous {
		return
	}
	s.conn++
	s.marks["doubles"]++
	hello := p.message(s.conn, p.attachment-back)
	for i, sub := range hello.Subscriptions { // the other process's own
		own := *sub
		hello.Subscriptions[i] = &own
	}
	s.step(y, hello)
	_, attached := s.brokers[y].b.Client(s.conn)
	if _, still := s.held[y]; attached || still {
		p.doubted = true
	}
	s.doubles = append(s.doubles, double{s.conn, y})
}
