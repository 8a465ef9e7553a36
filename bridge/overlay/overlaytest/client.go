package overlaytest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// client is a robot program that roams, and checks what it is told.
type client struct {
	c          *cluster
	name       string
	session    string
	attachment uint64
	at         int // its edge, the last one
	conn       overlay.Conn
	queue      []any             // what the edge has pushed
	wire       map[string]uint64 // by source, the last number that came over the connection, or was told in its hello
	acked      map[string]uint64 // by source, what was acknowledged over the connection
	next       *attempt          // a connection that has said hello and is not welcome yet; nil without
	answers    []any             // what the connection in use has answered since: it counts if that one is refused
	doubtful   bool              // that one was lost, which may have had a welcome: before anything is changed hello is said again
	again      bool              // and at once, for there were answers
	subs       map[string]*asked
	nums       map[string]uint64       // by source, the last number that was processed
	lives      map[string]notified     // by source, the last notification that was processed
	lazy       bool                    // it acknowledges late
	silent     bool                    // and this one never by itself
	told       func(*overlay.Notify)   // is told each that is processed; nil: nobody
	forgets    bool                    // what is processed is forgotten by the observer, too
	heard      []string                // warnings and robots' states, for scripts
	owed       map[overlay.Conn][]owed // answers, in the order in which they were asked for
	deaf       map[overlay.Conn]string // to robots' states, until it is answered that its last subscription has ended
	doubted    bool                    // another process with its id has had a set of its own in force
	anonymous  bool                    // it has no id: each connection is another session
	changes    changes                 // what its subscriptions to changes were told
	lists      bool                    // its hello tells which robots it was told are away
	processed  states                  // of robots, as it has processed them
	written    states                  // as they were written to its connections
	knew       map[*protocol.Robot]int // departures of which all brokers had heard when it was written
	since      overlay.Instant         // when it last said hello
	keys       map[string]overlay.Key  // of source words, of this name and session:
	keysOf     [2]string
	had        map[string]int // robots whose readings it gets, with the departures before the first
}

func newClient(c *cluster, name string) *client {
	return &client{c: c, name: name, subs: map[string]*asked{}, nums: map[string]uint64{}, lives: map[string]notified{}, processed: newStates(), written: newStates(), had: map[string]int{}, knew: map[*protocol.Robot]int{}}
}

// notified is a notification that a client has had: its number, and the life of
// the source's store in which it was given.
type notified struct {
	seq  uint64
	life int
}

// attempt is a connection that is to replace the one in use.
type attempt struct {
	conn  overlay.Conn
	at    int
	queue []any
	wire  map[string]uint64
}

// asked is a subscription as the client has it.
type asked struct {
	sub      *overlay.Subscription
	versions []*overlay.Subscription // all, since its subscribe

	// since is when it began behind a hello that was made without it; zero if
	// there was none. What the connection in use began has ended with that hello,
	// and what goes on is what begins behind it. Until then no set is so new.
	since overlay.Epoch
}

// isFor reports whether a notification is for the subscription: one of its
// versions has matched, in a set that was not older than its begin.
func (a *asked) isFor(g given, s *overlay.Subscription) bool {
	return slices.Contains(a.versions, s) && g.set.Compare(a.since) >= 0
}

// observe learns the truth from what a broker stores.
func (c *cluster) observe(i int, r overlay.Record) {
	keys := c.keyOf[i]
	of := func(h overlay.Handle) *truth {
		k, known := keys[h]
		if !known || k.Source != brokerName(i) {
			return nil
		}
		t := c.truth[k]
		if t == nil {
			t = &truth{}
			c.truth[k] = t
		}
		return t
	}
	switch r := r.(type) {
	case *overlay.ClaimRecord:
		c.claim(i, r)
	case *overlay.EntryRecord:
		keys[r.Handle] = r.Key
		if r.Key.Source == brokerName(i) {
			if last := c.epochs[r.Key]; last.Compare(r.Epoch) > 0 && !c.lost[r.Key.Source] {
				failf("%s: an older set comes back to %s: %s after %s", brokerName(i), describeKey(r.Key), describeEpoch(r.Epoch), describeEpoch(last))
			}
			if c.truth[r.Key] == nil && !c.lost[r.Key.Source] {
				for _, k := range c.brokers[i].b.Keys() {
					if k.Key != r.Key && k.Key.Client == r.Key.Client && k.Key.Session == r.Key.Session {
						failf("%s has two keys of a session: %s beside %s", brokerName(i), describeKey(r.Key), describeKey(k.Key))
					}
				}
			}
			c.epochs[r.Key] = r.Epoch
		}
		of(r.Handle)
	case *overlay.GivenRecord:
		for _, h := range r.Hits {
			t := of(h.Handle)
			if t == nil || h.Seq != t.last+1 {
				failf("%s gives %v out of turn", brokerName(i), h)
			}
			g := given{reading: numberOf(r.Reading), names: h.Names, set: c.epochs[keys[h.Handle]]}
			n, _ := strconv.Atoi(g.reading)
			for _, test := range c.tested[n] {
				if test.handle == h.Handle && named(h.Names, test.sub.ID) {
					g.by = append(g.by, test.sub)
				}
			}
			t.give(h.Seq, g)
		}
	case *overlay.GapRecord:
		if t := of(r.Handle); t != nil {
			t.lose(r.New, r.To)
			c.marks["retained too much"]++
		}
	case *overlay.SubscriptionRecord:
		if a := c.behind[r.Subscription]; a != nil && a.since.Edge == brokerName(i) && a.since.Revision == math.MaxUint64 {
			a.since.Revision = r.Born
		}
	case *overlay.PassedRecord:
		if t := of(r.Handle); t != nil {
			t.passOver(r.From, r.To)
		}
	}
}

// birth names the client's session; none has the zero one.
func (p *client) birth() overlay.Session {
	birth, _ := overlay.ParseSession(p.session)
	return birth
}

// key returns the key of one of the client's sources.
func (p *client) key(word string) overlay.Key {
	if of := [2]string{p.name, p.session}; p.keysOf != of {
		p.keysOf, p.keys = of, map[string]overlay.Key{}
	}
	k, known := p.keys[word]
	if known {
		return k
	}
	source, stamp, err := overlay.ParseSourceWord(word)
	if err != nil {
		failf("%s: %v", p.name, err)
	}
	session, err := overlay.ParseSession(p.session)
	if err != nil {
		failf("%s: %v", p.name, err)
	}
	k = overlay.Key{Client: p.name, Session: session, Source: source, Stamp: stamp}
	p.keys[word] = k
	return k
}

// attach says hello at a broker, and takes its welcome.
func (p *client) attach(y int) {
	if p.next != nil {
		p.giveUp()
	}
	p.attachment++
	p.since = p.c.now
	p.c.cutOff(p, y)
	p.beginAnew()
	if p.anonymous {
		p.session, p.nums, p.lives = "", map[string]uint64{}, map[string]notified{}
	}
	if p.anonymous {
		p.changes.states, p.changes.lost = nil, false
	}
	p.at, p.wire, p.acked = y, maps.Clone(p.nums), map[string]uint64{}
	p.answers, p.doubtful, p.again = nil, false, false
	p.conn = p.newConn()
	if p.anonymous { // as the broker calls it
		p.name = fmt.Sprintf("\x00%d@%s", p.conn, brokerName(y))
	}
	p.c.step(y, p.message(p.conn, p.attachment))
	for len(p.queue) > 0 { // the welcome, and what comes with it
		p.process()
	}
}

// move says hello at another broker. The connection in use goes on until that
// one's welcome comes.
func (p *client) move(y int) {
	if p.next != nil {
		p.giveUp()
	}
	p.attachment++
	p.since = p.c.now
	p.c.cutOff(p, y)
	p.beginAnew()
	p.answers, p.doubtful, p.again = nil, false, false
	p.next = &attempt{conn: p.newConn(), at: y, wire: maps.Clone(p.nums)}
	p.c.step(y, p.message(p.next.conn, p.attachment))
}

// giveUp lets go of a connection that is not welcome yet.
func (p *client) giveUp() {
	next := p.next
	p.next = nil
	if p.c.conns[next.conn] == p {
		delete(p.c.conns, next.conn)
		p.c.step(next.at, &overlay.Disconnected{Conn: next.conn})
	}
}

// replace makes the connection that is welcome the one in use. If the one
// before has brought sources of which its hello did not tell, the broker is to
// hear of them: hello is said again.
func (p *client) replace(welcome any) {
	next := p.next
	p.next = nil
	p.detach()
	p.conn, p.at, p.wire, p.queue, p.acked = next.conn, next.at, next.wire, next.queue, map[string]uint64{}
	p.answers = nil
	p.take(welcome)
	if slices.ContainsFunc(sortedKeys(p.nums), func(word string) bool { _, told := p.wire[word]; return !told }) {
		p.c.marks["hello again"]++
		p.detach()
		p.attach(p.at)
	}
}

func (p *client) newConn() overlay.Conn {
	p.c.conn++
	p.c.conns[p.c.conn] = p
	return p.c.conn
}

// push takes what a broker sends on a connection.
func (p *client) push(conn overlay.Conn, m any) {
	p.writtenState(m)
	p.answered(conn, m)
	_, state := m.(*protocol.Robot)
	switch {
	case state && p.deaf[conn] != "":
	case p.next != nil && p.next.conn == conn:
		p.next.queue = append(p.next.queue, m)
	case p.conn == conn:
		p.queue = append(p.queue, m)
	}
}

// closed: a broker has closed a connection.
func (p *client) closed(conn overlay.Conn) {
	switch {
	case p.next != nil && p.next.conn == conn:
		refused := len(p.next.queue) > 0 && isConflict(p.next.queue[0])
		p.next = nil
		if !refused {
			p.doubtful, p.again = true, len(p.answers) > 0
			return
		}
		for _, m := range p.answers {
			p.take(m)
		}
		p.answers = nil
	case p.conn == conn:
		p.conn, p.queue = 0, nil
	}
}

func isConflict(m any) bool {
	e, is := m.(*protocol.Error)
	return is && e.Code == protocol.Conflict
}

// due reports whether something waits to be processed.
func (p *client) due() bool {
	return p.conn != 0 && (len(p.queue) > 0 || p.again) || p.next != nil && len(p.next.queue) > 0
}

// beginAnew is what a client does before its hello if another process with its
// id has had a set in force: that one decided what was its own meanwhile.
func (p *client) beginAnew() {
	for _, id := range sortedKeys(p.subs) {
		if a := p.subs[id]; p.doubted {
			again := *a.sub
			a.sub, a.versions = &again, []*overlay.Subscription{&again}
			p.changes.begin(id)
		}
	}
	p.doubted = false
}

func (p *client) message(conn overlay.Conn, attachment uint64) *overlay.Hello {
	h := &overlay.Hello{Conn: conn, Attachment: &attachment, Session: p.session, Away: p.awayList()}
	h.Owner, h.Client = overlay.ClientOf(p.name)
	if p.anonymous {
		h.Attachment = nil
	}
	if p.session != "" {
		h.Num = map[string]uint64{}
		for word, num := range p.nums {
			h.Num[word] = num
		}
	}
	for _, id := range sortedKeys(p.subs) {
		h.Subscriptions = append(h.Subscriptions, p.subs[id].sub)
		p.owes(conn, h.Subscriptions[len(h.Subscriptions)-1].ID, false)
	}
	return h
}

// detach goes out of reach. What was pushed is lost.
func (p *client) detach() {
	if p.next != nil {
		p.giveUp()
	}
	if p.conn == 0 {
		return
	}
	conn := p.conn
	delete(p.c.conns, conn)
	delete(p.owed, conn)
	p.conn, p.queue = 0, nil
	p.c.step(p.at, &overlay.Disconnected{Conn: conn})
}

func (p *client) connected() bool { return p.conn != 0 }

// unstored reports whether the observer, who learns from what is stored, knows
// nothing of what a source broker gives the client: it has no id, and is
// attached there.
func (p *client) unstored(source overlay.BrokerID) bool {
	return p.anonymous && source == brokerName(p.at)
}

func (p *client) subscription(id string, every int, keep string) *overlay.Subscription {
	s := &overlay.Subscription{}
	s.ID, s.Condition, s.Keep = id, strings.Repeat("x", every), keep
	s.Messages = every%2 == 0
	return s
}

func (p *client) subscribe(id string, every int, keep, trigger string) {
	s := p.subscription(id, every, keep)
	s.Trigger = trigger
	p.subscribes(s)
}

func (p *client) subscribes(s *overlay.Subscription) {
	p.changes.begin(s.ID)
	p.changes.anew[s.ID] = true
	a := &asked{sub: s, versions: []*overlay.Subscription{s}}
	if p.next != nil {
		p.changes.begun[s.ID]++ // over the connection in use, and another one behind the hello
		a.since = overlay.Epoch{Attachment: p.attachment, Edge: brokerName(p.next.at), Revision: math.MaxUint64}
		p.c.behind[s] = a
	}
	p.subs[s.ID] = a
	if p.conn != 0 {
		p.changes.at[s.ID] = append(p.changes.at[s.ID], p.at)
	}
	if p.next != nil {
		p.changes.at[s.ID] = append(p.changes.at[s.ID], p.next.at)
	}
	p.ask(func(c overlay.Conn) overlay.Input { return &overlay.Subscribe{Conn: c, Subscription: s} })
}

func (p *client) update(id string, every int) {
	s := p.subscription(id, every, p.subs[id].sub.Keep)
	s.Trigger = p.subs[id].sub.Trigger
	p.changes.begin(id)
	p.subs[id].sub, p.subs[id].versions = s, append(p.subs[id].versions, s)
	p.ask(func(c overlay.Conn) overlay.Input { return &overlay.Update{Conn: c, Subscription: s} })
}

func (p *client) unsubscribe(id string) {
	delete(p.subs, id)
	p.changes.begin(id)
	if len(p.subs) == 0 { // nothing is told of robots any more
		p.processed, p.written, p.had = newStates(), newStates(), map[string]int{}
		p.written.loose = true
		p.queue = slices.DeleteFunc(p.queue, func(m any) bool { _, state := m.(*protocol.Robot); return state })
		p.deaf = map[overlay.Conn]string{p.conn: id}
		if p.next != nil {
			p.deaf[p.next.conn] = id
		}
	}
	p.ask(func(c overlay.Conn) overlay.Input { return &overlay.Unsubscribe{Conn: c, ID: id} })
}

// ask asks for a change of the set; behind a hello that was made without it again.
func (p *client) ask(in func(overlay.Conn) overlay.Input) {
	if p.doubtful && p.conn != 0 && p.next == nil {
		p.c.marks["changed in doubt"]++
		p.detach()
		p.attach(p.at)
		return
	}
	if p.conn != 0 {
		p.say(p.at, in(p.conn), p.conn)
	}
	if p.next != nil {
		p.say(p.next.at, in(p.next.conn), p.next.conn)
	}
}

// say asks an edge for a change over a connection.
func (p *client) say(at int, in overlay.Input, conn overlay.Conn) {
	switch in := in.(type) {
	case *overlay.Subscribe:
		p.owes(conn, in.Subscription.ID, false)
	case *overlay.Update:
		p.owes(conn, in.Subscription.ID, false)
	case *overlay.Unsubscribe:
		p.owes(conn, in.ID, true)
	}
	p.c.step(at, in)
}

// owed is an answer that a broker owes: subscribed, or the reply to an end.
type owed struct {
	id  string
	end bool
}

func (p *client) owes(conn overlay.Conn, id string, end bool) {
	if p.owed == nil {
		p.owed = map[overlay.Conn][]owed{}
	}
	p.owed[conn] = append(p.owed[conn], owed{id, end})
}

// answered takes note of an answer. Those of one id come in the order in which
// they were asked for.
func (p *client) answered(conn overlay.Conn, m any) {
	id, end := "", false
	switch m := m.(type) {
	case *protocol.Subscribed:
		id = m.ID
	case *protocol.Reply:
		id, end = m.ID, true
	default:
		return
	}
	at := slices.IndexFunc(p.owed[conn], func(o owed) bool { return o.id == id })
	if at < 0 || p.owed[conn][at].end != end {
		failf("%s: %T of %s, but it waits for %v", p.name, m, id, p.owed[conn])
	}
	p.owed[conn] = slices.Delete(p.owed[conn], at, at+1)
	if end && p.deaf[conn] == id && !slices.Contains(p.owed[conn], owed{id, end}) {
		delete(p.deaf, conn)
	}
	if m, is := m.(*protocol.Subscribed); is && p.next == nil && !slices.ContainsFunc(p.owed[conn], func(o owed) bool { return o.id == id }) {
		p.changes.confirmed(m)
	}
}

// process takes the next of what was pushed.
func (p *client) process() {
	if p.next != nil && len(p.next.queue) > 0 && (len(p.queue) == 0 || p.c.choice.Intn(2) == 0) {
		m := p.next.queue[0]
		p.next.queue = p.next.queue[1:]
		if _, welcome := m.(*protocol.Welcome); !welcome {
			return // a conflict: the connection is closed
		}
		p.replace(m)
		return
	}
	if p.again {
		p.detach()
		p.attach(p.at)
		return
	}
	m := p.queue[0]
	p.queue = p.queue[1:]
	p.take(m)
}

// take processes a message. Once another connection has said hello, what the one
// in use confirms or ends need not hold there: it is told so itself.
func (p *client) take(m any) {
	switch g, gap := m.(*protocol.Gap); m.(type) {
	case *protocol.Subscribed, *protocol.Gap, *protocol.Robot:
		if p.next != nil && (!gap || g.To == nil) {
			p.answers = append(p.answers, m)
			return
		}
	}
	switch m := m.(type) {
	case *protocol.Welcome:
		if p.session != "" && p.session != m.Session {
			failf("%s: session %s became %s", p.name, p.session, m.Session)
		}
		p.session, p.attachment = m.Session, m.Attachment
	case *protocol.Subscribed:
		if m.Warning != "" && strings.Contains(m.Warning, "out of reach") {
			p.c.marks["warned"]++
		}
		for _, word := range m.Sources {
			if _, known := p.nums[word]; !known {
				p.nums[word] = 0
			}
		}
		if m.Warning != "" {
			p.heard = append(p.heard, m.ID+": "+m.Warning)
		}
	case *protocol.Robot:
		p.c.marks["robot "+m.State]++
		if p.lists && !p.anonymous {
			p.toldState(&p.processed, m)
		}
		p.heard = append(p.heard, fmt.Sprintf("%s of %s is %s", m.Name(), p.key(m.Source).Source, m.State))
	case *overlay.Notify:
		p.notified(m)
	case *protocol.Gap:
		p.gap(m)
	case *protocol.Error:
		if m.Code != protocol.Conflict {
			failf("%s was told: %+v", p.name, *m)
		}
	}
}

// overflowed reports whether an inbox at an edge has given anything up.
func (c *cluster) overflowed() bool {
	for _, x := range c.brokers {
		if s := added(x.before, x.b.Stats()); s.Lost[overlay.WhyOverflow]+s.Lost[overlay.WhyExpired] > 0 {
			return true
		}
	}
	return false
}
