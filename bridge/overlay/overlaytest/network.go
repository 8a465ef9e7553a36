// Package overlaytest runs clusters of overlay brokers as a deterministic
// simulation: links are queues, the clock is a number, and every decision comes
// from one source of choice (a seed, rapid, a fuzzer's bytes, a script).
package overlaytest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// second is the period of all brokers.
const second = overlay.Instant(overlay.Second)

// failure is what a schedule found to be wrong.
type failure struct{ text string }

func failf(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }

// broker is one broker of a cluster, with its matcher and its store.
type broker struct {
	id       int
	name     overlay.BrokerID
	b        *overlay.Broker
	records  []overlay.Record
	stored   []int          // how many records there were after each step that stored any
	sessions map[int]uint64 // of links that are up, by neighbour
	out      []*way         // to its neighbours
	installs []*overlay.Install
	sets     []*testedSet  // by handle
	before   overlay.Stats // of earlier lives
	restored bool          // it has begun with what was stored, and nothing has happened since
}

// testedSet is what the matcher tests readings of a key by.
type testedSet struct {
	handle overlay.Handle
	set    uint64
	subs   []*overlay.Subscription // by id
	states map[string]bool         // of subscriptions to changes, as they were told
}

func (s *testedSet) drop(id string) {
	s.subs = slices.DeleteFunc(s.subs, func(sub *overlay.Subscription) bool { return sub.ID == id })
	delete(s.states, id)
}

func (s *testedSet) put(sub *overlay.Subscription) {
	at, found := slices.BinarySearchFunc(s.subs, sub.ID, func(s *overlay.Subscription, id string) int { return cmp.Compare(s.ID, id) })
	if found {
		s.subs[at] = sub
	} else {
		s.subs = slices.Insert(s.subs, at, sub)
	}
	delete(s.states, sub.ID)
}

// tested is a subscription of a key that a reading has matched.
type tested struct {
	handle overlay.Handle
	sub    *overlay.Subscription
}

// set returns a key's set, and where it is or belongs.
func (x *broker) set(h overlay.Handle) (at int, found bool) {
	return slices.BinarySearchFunc(x.sets, h, func(s *testedSet, h overlay.Handle) int { return cmp.Compare(s.handle, h) })
}

// cluster is a network of brokers with clients.
type cluster struct {
	choice    Choice
	cfg       overlay.Config
	now       overlay.Instant
	cause     overlay.Instant // of the frame that is being delivered; 0: none is
	brokers   []*broker
	links     []link
	cut       map[link]bool
	costs     map[link]overlay.Cost // of links that were given one
	ways      []*way                // of links, both directions, by from and to
	between   map[[2]int]*way       // the same, by from and to
	carry     []*way                // for busy
	session   uint64                // of links, the last
	clients   []*client
	conns     map[overlay.Conn]*client
	intruders map[overlay.Conn]bool // of another token
	conn      overlay.Conn
	reading   int
	frames    int
	received  overlay.FrameReceived // the input of each that no broker keeps
	tested    map[int][]tested      // by reading: what matched, since the last step of its broker

	registry   int
	registryUp bool
	sources    []int
	appeared   map[int]bool
	slow       bool // the matcher takes its time
	asked      int
	said       []string // what brokers say of robots' names, for scripts

	truth       map[overlay.Key]*truth
	keyOf       map[int]map[overlay.Handle]overlay.Key // of each broker's local registry
	lost        map[overlay.BrokerID]bool              // stores that were lost
	marks       map[string]int
	log         func(string, ...any)
	stepMembers int // of sets that a frame brings in a step; 0: as in a node

	traced bool // trace is the hash of all that brokers do
	trace  digest

	robots      map[int]*robot                               // of source brokers
	heard       map[int]map[overlay.BrokerID]overlay.Instant // by broker: whose robots it was told of since it began, and when last
	departed    []overlay.Instant                            // of robots, in all: when each was
	last        map[int]int                                  // the reading that a source has given last
	changesHold bool                                         // nothing is forgotten that states of changes follow from
	calmRobots  bool                                         // a robot is away only if it is: no broker is out of reach

	sent    func(w *way)                             // is told of each frame that is put onto a link; nil: nobody
	ends    func(i int, l link) overlay.Cost         // returns what an end of a link takes it to cost; nil: costAt knows
	queues  map[int][]overlay.QueueConfig            // that brokers declare
	tasksOf func(x *broker, out overlay.Output) bool // takes what is about tasks; nil: nothing is
	stores  func(x *broker, r overlay.Record)        // sees what is stored; nil: nobody does

	starts func(x *broker, records []overlay.Record) // before a broker starts with them; nil: nothing is done
	steps  func(x *broker, in overlay.Input)         // has a broker take an input in, and looks at what it does; nil: it just does

	forgetful bool                               // nothing is stored: no broker will be started again
	epochs    map[overlay.Key]overlay.Epoch      // of the sets in local registries
	twins     map[int]bool                       // brokers that read a robot of the same name
	refused   map[int]map[string]bool            // by broker: its robots whose name is another's
	claims    map[int]map[string]overlay.Instant // as brokers have stored them
	carried   map[[2]int]map[bulletin]bool       // bulletins' versions that each way has carried; nil: not counted
	stood     map[int]int                        // for how many periods brokers stand still, with a registry at every broker
	held      map[int][]overlay.Input            // what waits for brokers that stand still (SIGSTOP)
	behind    map[*overlay.Subscription]*asked   // that were asked for behind a hello that was made without them
}

// names are those of the first brokers.
var names = [...]overlay.BrokerID{"b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"}

func brokerName(i int) overlay.BrokerID {
	if i < len(names) {
		return names[i]
	}
	return overlay.BrokerID(fmt.Sprintf("b%d", i+1))
}

func newCluster(choice Choice, n int, links []link, cfg overlay.Config, registry int, log func(string, ...any)) *cluster {
	return newClusterOf(choice, n, links, cfg, registry, log, nil)
}

// newClusterOf makes a cluster whose brokers declare queues.
func newClusterOf(choice Choice, n int, links []link, cfg overlay.Config, registry int, log func(string, ...any), queues map[int][]overlay.QueueConfig) *cluster {
	c := &cluster{
		choice: choice, cfg: cfg, queues: queues, now: 1000 * second, links: links, cut: map[link]bool{}, costs: map[link]overlay.Cost{}, between: map[[2]int]*way{}, conns: map[overlay.Conn]*client{}, intruders: map[overlay.Conn]bool{},
		registry: registry, registryUp: true, appeared: map[int]bool{}, truth: map[overlay.Key]*truth{}, keyOf: map[int]map[overlay.Handle]overlay.Key{},
		lost: map[overlay.BrokerID]bool{}, marks: map[string]int{}, log: log,
		tested: map[int][]tested{}, trace: newDigest, stood: map[int]int{}, twins: map[int]bool{}, refused: map[int]map[string]bool{}, claims: map[int]map[string]overlay.Instant{}, held: map[int][]overlay.Input{}, epochs: map[overlay.Key]overlay.Epoch{},
		behind: map[*overlay.Subscription]*asked{}, robots: map[int]*robot{}, heard: map[int]map[overlay.BrokerID]overlay.Instant{}, last: map[int]int{},
	}
	for i := range n {
		c.brokers = append(c.brokers, &broker{id: i, name: brokerName(i), sessions: map[int]uint64{}})
		c.start(i, nil, false)
	}
	for _, l := range links {
		c.addWays(l)
	}
	slices.SortFunc(c.ways, func(v, w *way) int { return cmp.Or(cmp.Compare(v.from, w.from), cmp.Compare(v.to, w.to)) })
	for _, l := range links {
		c.up(l)
	}
	return c
}

// addWays makes both directions of a link.
func (c *cluster) addWays(l link) {
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		w := &way{from: e[0], to: e[1]}
		c.ways, c.between[e] = append(c.ways, w), w
		c.brokers[w.from].out = append(c.brokers[w.from].out, w)
	}
}

// start begins a broker's life.
func (c *cluster) start(i int, records []overlay.Record, lost bool) {
	x := c.brokers[i]
	cfg := c.cfg
	cfg.ID, cfg.Registry, cfg.URL = x.name, c.registryOf(), "ws://"+string(x.name)
	cfg.Queues = c.queues[i]
	if x.b != nil {
		x.before = added(x.before, x.b.Stats())
	}
	b, err := overlay.New(cfg)
	if err != nil {
		failf("%v", err)
	}
	delete(c.held, i)
	delete(c.heard, i)
	if c.starts != nil {
		c.starts(x, records)
	}
	x.b, x.records, x.installs, x.sets, x.sessions = b, slices.Clone(records), nil, nil, map[int]uint64{}
	x.stored = slices.DeleteFunc(x.stored, func(n int) bool { return n > len(records) })
	x.restored = records != nil
	c.restoreClaims(i, records)
	if records == nil {
		c.keyOf[i] = map[overlay.Handle]overlay.Key{}
	} else {
		x.b.Step(c.now, &overlay.Restore{Records: KeepAll(records)})
	}
	c.step(i, &overlay.Start{StoreLost: lost})
	if c.appeared[i] {
		c.advertise(i)
	}
	delete(c.refused, i)
	if c.twins[i] {
		c.advertiseTwin(i)
	}
}

// every reports whether each broker has the registry.
func (c *cluster) every() bool { return c.cfg.Mode == overlay.ModeEvery }

// registryOf returns the broker that holds the registry; "" if each does.
func (c *cluster) registryOf() overlay.BrokerID {
	if c.every() {
		return ""
	}
	return brokerName(c.registry)
}

func (c *cluster) advertise(i int) {
	robot := robotName(i)
	c.step(i, &overlay.Advertise{Robot: robot, Devices: []string{"laser:0"}})
	c.step(i, &overlay.RobotState{Robot: robot, State: protocol.RobotUp, Since: c.now})
}

// up begins a session of a link.
func (c *cluster) up(l link) {
	delete(c.cut, l)
	c.session++
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		c.brokers[e[0]].sessions[e[1]] = c.session
	}
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		c.step(e[0], &overlay.LinkUp{Neighbour: brokerName(e[1]), Session: c.session, Cost: c.costAt(e[0], l)})
	}
}

// down ends it: what is in flight is lost.
func (c *cluster) down(l link) {
	if c.cut[l] {
		return
	}
	c.cut[l] = true
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		if lost := c.between[e].lose(); lost > 0 {
			c.marks["frames lost"] += lost
		}
	}
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		session := c.brokers[e[0]].sessions[e[1]]
		delete(c.brokers[e[0]].sessions, e[1])
		c.step(e[0], &overlay.LinkDown{Neighbour: brokerName(e[1]), Session: session})
	}
}

// step hands an input to a broker and carries out what it says.
func (c *cluster) step(i int, in overlay.Input) {
	x := c.brokers[i]
	if waiting, still := c.held[i]; still {
		if _, tick := in.(*overlay.Tick); !tick {
			c.held[i] = append(waiting, in)
		}
		return
	}
	if c.log != nil {
		c.tell("%s < %s", x.name, describeInput(in))
	}
	c.knows(i, in)
	if c.traced {
		c.trace.number(uint64(i))
		c.trace.number(uint64(c.now))
	}
	if c.steps != nil {
		c.steps(x, in)
	} else {
		x.b.Step(c.now, in)
	}
	for _, r := range x.b.Records() {
		if c.traced {
			c.trace.all(r)
		}
		c.observe(i, r)
		if c.stores != nil {
			c.stores(x, r)
		}
		if !c.forgetful {
			x.records = append(x.records, keep(r))
		}
	}
	if n := len(x.records); n > 0 && (len(x.stored) == 0 || x.stored[len(x.stored)-1] != n) {
		x.stored = append(x.stored, n)
	}
	for _, out := range x.b.Outputs() {
		if _, beat := out.(*overlay.Heartbeat); !beat && c.log != nil {
			c.tell("%s > %s", x.name, describeOutput(out))
		}
		if c.traced {
			c.trace.all(out)
		}
		c.carryOut(x, out)
	}
}

// hold has a broker stand still, and what it would get wait.
func (c *cluster) hold(i int) {
	if _, still := c.held[i]; !still {
		c.held[i] = nil
		c.marks["paused"]++
	}
}

// release lets it go on, with all that has waited.
func (c *cluster) release(i int) {
	waiting := c.held[i]
	delete(c.held, i)
	for _, in := range waiting {
		c.step(i, in)
	}
}

// tell writes a line of the log.
func (c *cluster) tell(format string, args ...any) {
	c.log("%6.1f %s", float64(c.now-1000*second)/float64(second), fmt.Sprintf(format, args...))
}

func (c *cluster) carryOut(x *broker, out overlay.Output) {
	if c.tasksOf != nil && c.tasksOf(x, out) {
		return
	}
	switch o := out.(type) {
	case *overlay.Frame:
		for _, link := range o.To {
			c.send(x, link, o.Messages)
		}
	case *overlay.Send:
		if c.intruders[o.Conn] {
			c.said = append(c.said, fmt.Sprintf("%s tells the intruder: %s", x.name, saidToIntruder(o.Message)))
		}
		if p := c.conns[o.Conn]; p != nil {
			p.push(o.Conn, o.Message)
		}
	case *overlay.Notify:
		if c.intruders[o.Conn] {
			failf("%s gives #%d of %s to another token's program", x.name, o.Seq, o.Source)
		}
		if p := c.conns[o.Conn]; p != nil {
			p.push(o.Conn, o)
		}
	case *overlay.Close:
		if p := c.conns[o.Conn]; p != nil {
			if o.Code == protocol.Forbidden {
				failf("%s closes %s's connection: %s", x.name, p.name, o.Reason)
			}
			c.marks["taken over"]++
			delete(c.conns, o.Conn)
			p.closed(o.Conn)
		}
	case *overlay.Install:
		x.installs = append(x.installs, o)
	case *overlay.Asked:
		c.step(x.id, &overlay.Answer{From: o.From, Call: o.Call, Body: append([]byte(string(x.name)+" reads "), o.Body...)})
	case *overlay.Answered:
		if o.Code != "" {
			c.said = append(c.said, fmt.Sprintf("%s: call %d: %s (%s)", x.name, o.Call, o.Message, o.Code))
		} else {
			c.said = append(c.said, fmt.Sprintf("%s: call %d: %s", x.name, o.Call, o.Body))
		}
	case *overlay.RobotRefused:
		if c.refused[x.id] == nil {
			c.refused[x.id] = map[string]bool{}
		}
		c.refused[x.id][o.Robot] = o.Refused
		switch {
		case o.Refused:
			c.said = append(c.said, fmt.Sprintf("%s: %s is refused, it is %s's", x.name, o.Robot, o.Holder))
		case o.Rival != "":
			c.said = append(c.said, fmt.Sprintf("%s: %s is in force, %s was refused it", x.name, o.Robot, o.Rival))
		default:
			c.said = append(c.said, fmt.Sprintf("%s: %s is in force", x.name, o.Robot))
		}
	case *overlay.Uninstall:
		if at, found := x.set(o.Handle); found {
			x.sets = slices.Delete(x.sets, at, at+1)
		}
	}
}

// send puts a frame onto a link, if the session that it is for is the present one.
func (c *cluster) send(x *broker, link overlay.Link, messages []overlay.Message) {
	at := slices.IndexFunc(x.out, func(w *way) bool { return c.brokers[w.to].name == link.Neighbour })
	if at < 0 || x.sessions[x.out[at].to] != link.Session || link.Session == 0 {
		return
	}
	c.crossesOnce(link.Neighbour, messages)
	c.floodsOnce(x.out[at], messages)
	parts := 0
	for part := range overlay.Parts(messages, cmp.Or(c.cfg.ReplayBytes, overlay.ReplayBytes)) {
		for step := range overlay.Steps(part, cmp.Or(c.stepMembers, overlay.StepMembers)) {
			c.frames++
			x.out[at].put(frame{link.Session, c.now, c.began(), c.frames, step})
			if c.sent != nil {
				c.sent(x.out[at])
			}
		}
		parts++
	}
	if parts > 1 {
		c.marks["cut replays"]++
	}
}

// saidToIntruder returns what another token's program learns.
func saidToIntruder(m any) string {
	if e, ok := m.(*protocol.Error); ok {
		return fmt.Sprintf("%s, newest attachment %v", e.Code, e.Attachment)
	}
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", m), "*protocol."))
}

// crossesOnce fails if a reading is in a frame twice: it names all keys that
// go on over the link.
func (c *cluster) crossesOnce(to overlay.BrokerID, messages []overlay.Message) {
	for i, m := range messages {
		n, ok := m.(*overlay.NotifyMessage)
		if !ok || n.Hits[0].Names[0].State != nil { // a state may be told with a reading that went before
			continue
		}
		for _, other := range messages[:i] {
			if o, ok := other.(*overlay.NotifyMessage); ok && o.Reading.Time == n.Reading.Time && o.Reading.Robot == n.Reading.Robot {
				failf("reading %v of %s crosses the link to %s twice", n.Reading.Time, n.Reading.Robot, to)
			}
		}
	}
}

// see lets a broker's matcher take the next change in.
func (c *cluster) see(x *broker) bool {
	if len(x.installs) == 0 {
		return false
	}
	in := x.installs[0]
	x.installs = x.installs[1:]
	at, found := x.set(in.Handle)
	if !found {
		x.sets = slices.Insert(x.sets, at, nil)
	}
	if !found || in.Whole {
		x.sets[at] = &testedSet{handle: in.Handle, states: map[string]bool{}}
	}
	s := x.sets[at]
	s.set = in.Set
	for _, id := range in.Drop {
		s.drop(id)
	}
	for _, sub := range in.Put {
		if s.put(sub); in.Whole && x.restored {
			s.states[sub.ID] = false // it was told to end, whatever it was
		}
	}
	answer := &overlay.Installed{Handle: in.Handle, Set: in.Set, Robots: map[string]int{}}
	for _, id := range in.Count {
		answer.Robots[id] = 1
	}
	c.step(x.id, answer)
	return true
}

func (c *cluster) seeAll() {
	for _, x := range c.brokers {
		for c.see(x) {
		}
	}
}

// publish makes a reading at a source broker.
func (c *cluster) publish(i int) {
	x := c.brokers[i]
	if _, still := c.held[i]; still || !c.appeared[i] || !c.robots[i].up {
		return
	}
	if !c.slow || chance(c.choice, 3000) {
		for c.see(x) {
		}
	}
	c.reading++
	c.last[i] = c.reading
	c.match(i, (*testedSet).test)
}

// match hands the present reading over with what it has matched.
func (c *cluster) match(i int, test func(*testedSet, *overlay.Subscription, int) (protocol.Matched, bool)) {
	var hits []overlay.Hit
	var tests []tested
	var number []byte
	var reading *overlay.Reading
	for _, s := range c.brokers[i].sets {
		hit := overlay.Hit{Handle: s.handle, Set: s.set}
		for _, sub := range s.subs {
			if named, matches := test(s, sub, c.reading); matches {
				if reading == nil {
					number = strconv.AppendInt(nil, int64(c.reading), 10)
					reading = &overlay.Reading{Robot: robotName(i), Interface: "laser", Time: float64(c.reading)}
				}
				if sub.Messages {
					named.Values, reading.Messages = protocol.NoValues, number
				} else {
					reading.JSON = number
				}
				hit.Names = append(hit.Names, named)
				tests = append(tests, tested{s.handle, sub})
			}
		}
		if len(hit.Names) > 0 {
			hits = append(hits, hit)
		}
	}
	if len(hits) > 0 {
		c.tested[c.reading] = tests
		c.step(i, &overlay.Matched{Hits: hits, Reading: reading})
	}
	if !c.slow {
		delete(c.tested, c.reading)
	}
}

// deliver hands the next frame of a link over.
func (c *cluster) deliver(w *way) {
	f := w.take()
	messages := clone(f.messages)
	if !c.registryUp {
		messages = slices.DeleteFunc(slices.Clone(messages), ofRegistry)
	}
	c.hearRobots(w.to, messages)
	c.cause = f.cause
	in := &c.received
	if _, still := c.held[w.to]; still || c.steps != nil { // it is kept
		in = &overlay.FrameReceived{}
	}
	*in = overlay.FrameReceived{Neighbour: c.brokers[w.from].name, Session: f.session, Messages: messages}
	c.step(w.to, in)
	c.cause = 0
}

// ofRegistry reports whether a message is to or from the registry, or asks it for
// the way: what brokers tell each other of robots does without.
func ofRegistry(m overlay.Message) bool {
	r, routed := m.(*overlay.RoutedMessage)
	if !routed {
		return false
	}
	switch r.Body.(type) {
	case *overlay.Watch, *overlay.Robots, *overlay.Told:
		return false
	}
	return true
}

// began tells when that began of which what happens now is an effect.
func (c *cluster) began() overlay.Instant {
	if c.cause == 0 {
		return c.now
	}
	return c.cause
}

// oldest tells when that began whose effects still are on their way; now if
// there are none.
func (c *cluster) oldest() overlay.Instant {
	oldest := c.now
	for _, w := range c.busy() {
		for i := range w.queue[w.first:] {
			oldest = min(oldest, w.queue[w.first+i].cause)
		}
	}
	return oldest
}

// busy returns the ways that carry something, in order; until the next call.
func (c *cluster) busy() []*way {
	c.carry = c.carry[:0]
	for _, w := range c.ways {
		if w.busy() {
			c.carry = append(c.carry, w)
		}
	}
	return c.carry
}

// numberOf returns a reading's number: its time tells it, whatever it carries.
func numberOf(r *overlay.Reading) string { return strconv.Itoa(int(r.Time)) }

// copied returns a reading as another broker, or a store, has it.
func copied(r *overlay.Reading) *overlay.Reading {
	return &overlay.Reading{Robot: r.Robot, Interface: r.Interface, Index: r.Index, Time: r.Time, JSON: r.JSON, Messages: r.Messages}
}

// clone returns a frame as the link's other end reads it: readings of its own.
func clone(messages []overlay.Message) []overlay.Message {
	if !slices.ContainsFunc(messages, carriesReadings) {
		return messages
	}
	readings := map[*overlay.Reading]*overlay.Reading{}
	own := func(r *overlay.Reading) *overlay.Reading {
		if r == nil {
			return nil
		}
		if readings[r] == nil {
			readings[r] = copied(r)
			readings[r].Arrived = r.Arrived
		}
		return readings[r]
	}
	all := make([]overlay.Message, 0, len(messages))
	for _, m := range messages {
		switch m := m.(type) {
		case *overlay.NotifyMessage:
			all = append(all, &overlay.NotifyMessage{Reading: own(m.Reading), Hits: slices.Clone(m.Hits)})
		case *overlay.ReplayMessage:
			again := *m
			again.Items = slices.Clone(m.Items)
			for i := range again.Items {
				again.Items[i].Reading = own(again.Items[i].Reading)
			}
			all = append(all, &again)
		default:
			all = append(all, m)
		}
	}
	return all
}

func carriesReadings(m overlay.Message) bool {
	switch m.(type) {
	case *overlay.NotifyMessage, *overlay.ReplayMessage:
		return true
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
