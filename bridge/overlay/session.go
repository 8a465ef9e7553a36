package overlay

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"callboard/subscribe/protocol"
)

// maxID bounds client and subscription ids, in bytes; maxSources the sources
// that a hello may list.
const (
	maxID      = 256
	maxSources = 4096
)

// session is a client's life, at the broker that is its edge.
type session struct {
	client    string
	anonymous bool // without id: it ends with its connection, and is not stored
	birth     Session
	epoch     Epoch   // the newest attachment, and the revision of the set
	conn      *conn   // nil: absent
	seen      Instant // when it was last here, while it is absent
	subs      map[string]*sub
	hash      Hash // of the set
	selectors map[*selector]int
	latest    int      // subscriptions that keep the latest only
	ends      uint64   // how many subscriptions have ended: names in items are looked through again
	inboxes   []*inbox // by key
	local     *entry   // of the live key at this source broker; nil if there is none
	pending   []pending
}

// sub is a subscription F in a session's set.
type sub struct {
	*Subscription
	born     uint64 // revision of its subscribe: the same id may have named another one before
	hash     Hash
	selector *selector
	robots   int             // that matched when it was last counted
	failed   bool            // its condition failed while it ran
	untold   *protocol.Error // and the client was away
}

// conn is a client's connection that has said hello.
type conn struct {
	id      Conn
	session *session
	ready   bool    // all that hello listed has had its subscribed: notifications may go
	since   Instant // when the client was last here, before
	heard   Instant // when it last said something
}

// pending is a subscribed that waits for the matcher.
type pending struct {
	id    string
	born  uint64
	ask   uint64 // of the entry's installs: the one whose answer counts its robots
	hello bool   // the connection is ready when there is no such one any more
	fresh bool   // the client has no other subscription to the same robots
}

// checkID tells what is wrong with an id that a client chose, "" if nothing.
func checkID(what, id string) string {
	switch {
	case id == "":
		return what + " is empty; expected 1 to 256 bytes of text"
	case len(id) > maxID:
		return what + " is too long; expected up to 256 bytes of text"
	case !utf8.ValidString(id):
		return what + " is not UTF-8"
	case strings.ContainsFunc(id, unicode.IsControl):
		return what + " has control characters"
	}
	return ""
}

// live tells whether a name in an item that was tested by the set of the
// given revision still is a subscription of the client.
func (s *session) live(id string, revision uint64) *sub {
	if sub := s.subs[id]; sub != nil && sub.born <= revision {
		return sub
	}
	return nil
}

// liveNames leaves out the names that have ended. It gives the same slice if
// there are none, and nil if there are no others.
func (s *session) liveNames(names []protocol.Matched, revision uint64) []protocol.Matched {
	for i := range names {
		if s.live(names[i].ID, revision) != nil {
			continue
		}
		var kept []protocol.Matched
		for j := range names {
			if s.live(names[j].ID, revision) != nil {
				kept = append(kept, names[j])
			}
		}
		return kept
	}
	return names
}

func (s *session) anySub(f func(*sub) bool) bool {
	for _, sub := range s.subs { // one is enough, whichever
		if f(sub) {
			return true
		}
	}
	return false
}

// sorted gives the set by id.
func (s *session) sorted() []*sub {
	return slices.SortedFunc(maps.Values(s.subs), func(a, b *sub) int { return cmp.Compare(a.ID, b.ID) })
}

// wants tells whether a subscription selects the robot.
func (s *session) wants(name string) bool {
	for sel := range s.selectors { // one is enough, whichever
		if sel.matches(name) {
			return true
		}
	}
	return false
}

// nextRevision counts the session's revisions: higher than the last, and than
// any that a lost store may have known.
func (b *Broker) nextRevision(s *session) uint64 {
	s.epoch.Revision = max(s.epoch.Revision+1, uint64(max(b.now, 0)))
	return s.epoch.Revision
}

// addSub puts a subscription into the set, in the place of one of the same id
// that it updates.
func (b *Broker) addSub(s *session, subscription *Subscription, hash Hash, revision uint64) *sub {
	added := &sub{Subscription: subscription, born: revision, hash: hash, selector: b.registry.acquire(subscription)}
	if old := s.subs[added.ID]; old != nil {
		added.born = old.born
		b.takeSub(s, old)
	}
	s.subs[added.ID] = added
	s.hash = s.hash.add(hash)
	s.selectors[added.selector]++
	if added.latest() {
		s.latest++
	}
	if !s.anonymous {
		b.record(&SubscriptionRecord{Client: s.client, Born: added.born, Subscription: subscription})
	}
	return added
}

func (b *Broker) takeSub(s *session, old *sub) {
	delete(s.subs, old.ID)
	s.hash = s.hash.sub(old.hash)
	if s.selectors[old.selector]--; s.selectors[old.selector] == 0 {
		delete(s.selectors, old.selector)
	}
	b.registry.giveBack(old.selector)
	if old.latest() {
		s.latest--
	}
}

// endSub takes a subscription out of the set for good.
func (b *Broker) endSub(s *session, old *sub) {
	b.takeSub(s, old)
	s.ends++
	s.pending = slices.DeleteFunc(s.pending, func(p pending) bool { return p.id == old.ID })
	if !s.anonymous {
		b.record(&SubscriptionEnded{Client: s.client, ID: old.ID})
	}
}

// attached gives the session of a connection, or answers that there is none.
func (b *Broker) attached(c Conn, id string) *session {
	if conn := b.conns[c]; conn != nil {
		conn.heard = b.now
		return conn.session
	}
	b.fail(c, id, protocol.BadMessage, "hello must come first")
	return nil
}

// Subscription gives a subscription of the client on conn, to merge an update with.
func (b *Broker) Subscription(c Conn, id string) (*Subscription, bool) {
	if conn := b.conns[c]; conn != nil {
		if sub := conn.session.subs[id]; sub != nil {
			return sub.Subscription, true
		}
	}
	return nil, false
}

func (b *Broker) subscribe(in *Subscribe) {
	id := in.Subscription.ID
	s := b.attached(in.Conn, id)
	if s == nil {
		return
	}
	if wrong := checkID("id", id); wrong != "" {
		b.fail(in.Conn, id, protocol.BadMessage, "%s", wrong)
		return
	}
	if s.subs[id] != nil {
		b.fail(in.Conn, id, protocol.Conflict, "the id %q is in use; unsubscribe it first, or update it", clip(id))
		return
	}
	if len(s.subs) >= b.cfg.Subscriptions {
		b.fail(in.Conn, id, protocol.Overloaded, "the client has %d subscriptions, which is the limit", len(s.subs))
		return
	}
	if b.busy(s, in.Conn, id) {
		return
	}
	added := b.addSub(s, in.Subscription, in.Subscription.Hash(), b.nextRevision(s))
	b.changeSet(s, nil, []*sub{added}, []*sub{added}, false)
}

// busy refuses a change while more than a set's worth of them waits for the matcher.
func (b *Broker) busy(s *session, c Conn, id string) bool {
	if len(s.pending) < b.cfg.Subscriptions+1000 {
		return false
	}
	b.fail(c, id, protocol.Overloaded, "%d changes of the client's subscriptions wait to be answered, which is the limit", len(s.pending))
	return true
}

func (b *Broker) update(in *Update) {
	id := in.Subscription.ID
	s := b.attached(in.Conn, id)
	if s == nil {
		return
	}
	old := s.subs[id]
	if old == nil {
		b.fail(in.Conn, id, protocol.NotFound, "there is no subscription %q to update", clip(id))
		return
	}
	if b.busy(s, in.Conn, id) {
		return
	}
	hash := in.Subscription.Hash()
	if hash == old.hash {
		b.changeSet(s, nil, nil, []*sub{old}, false)
		return
	}
	added := b.addSub(s, in.Subscription, hash, b.nextRevision(s))
	b.changeSet(s, nil, []*sub{added}, []*sub{added}, false)
}

func (b *Broker) unsubscribe(in *Unsubscribe) {
	s := b.attached(in.Conn, in.ID)
	if s == nil {
		return
	}
	reply := &protocol.Reply{Op: protocol.OpReply, ID: in.ID, OK: true}
	if old := s.subs[in.ID]; old == nil {
		reply.OK, reply.Error = false, &protocol.ErrorInfo{Code: protocol.NotFound, Message: "there is no subscription \"" + clip(in.ID) + "\""}
	} else {
		b.nextRevision(s)
		b.endSub(s, old)
		b.changeSet(s, []string{in.ID}, nil, nil, false)
	}
	b.send(in.Conn, reply)
}

// changeSet brings a change of a session's set to the source brokers (S3, S7)
// and sees that subscribed follows for those to be told.
func (b *Broker) changeSet(s *session, drop []string, put, tell []*sub, hello bool) {
	for _, sub := range tell {
		p := pending{id: sub.ID, born: sub.born, hello: hello, fresh: !hello && s.selectors[sub.selector] == 1}
		s.pending = append(s.pending, p)
	}
	if s.local == nil && slices.ContainsFunc(put, b.registry.anyCanMatch) { // of the others it is known that none can
		b.enter(s, tell)
	} else if s.local != nil {
		b.takeIn(s.local, drop, put, tell)
	}
	if s.local == nil {
		b.subscribedNow(s)
		return
	}
	for i := range s.pending[len(s.pending)-len(tell):] {
		s.pending[len(s.pending)-len(tell)+i].ask = s.local.asked
	}
}

// subscribedNow answers what waits for no matcher.
func (b *Broker) subscribedNow(s *session) {
	for _, p := range s.pending {
		b.tellSubscribed(s, p)
	}
	s.pending = nil
}

// tellSubscribed says that a subscription is in force.
func (b *Broker) tellSubscribed(s *session, p pending) {
	sub := s.subs[p.id]
	if sub == nil || sub.born != p.born || s.conn == nil {
		return
	}
	message := &protocol.Subscribed{Op: protocol.OpSubscribed, ID: sub.ID, Sources: []string{}, Robots: sub.robots}
	for _, in := range s.inboxes {
		if !in.ended {
			message.Sources = append(message.Sources, in.word)
		}
	}
	if !b.registry.anyCanMatch(sub) {
		message.Warning = "nobody has registered a robot that this can match"
	}
	b.send(s.conn.id, message)
	if p.fresh {
		b.tellRobots(s, sub.selector.matches, never)
	}
}

// installed says that the matcher tests by a set: this is the point in the
// sequence where it takes over. Its subscribed goes out before the first
// notification that it matched.
func (b *Broker) installed(in *Installed) {
	e := b.entries[in.Handle]
	if e == nil || in.Set > e.set {
		return
	}
	e.installed = max(e.installed, in.Set)
	e.answered++
	s := e.session
	rest := s.pending[:0]
	waits := false
	for _, p := range s.pending {
		if p.ask > e.answered {
			rest = append(rest, p)
			waits = waits || p.hello
			continue
		}
		if sub := s.subs[p.id]; sub != nil {
			sub.robots = in.Robots[p.id]
		}
		b.tellSubscribed(s, p)
	}
	s.pending = rest
	if s.conn != nil && !s.conn.ready && !waits {
		b.becomeReady(s)
	}
	b.giveEarly(e)
}

// becomeReady lets notifications go: all that hello listed has had its subscribed.
func (b *Broker) becomeReady(s *session) {
	s.conn.ready = true
	b.tellRobots(s, s.wants, s.conn.since)
	if s.anySub(func(sub *sub) bool { return sub.untold != nil }) {
		for _, sub := range s.sorted() {
			if sub.untold != nil {
				b.send(s.conn.id, sub.untold)
				sub.untold = nil
			}
		}
	}
	for _, in := range slices.Clone(s.inboxes) { // one that has ended may go
		b.pump(in)
	}
}

// runFailed tells a subscription's owner once that it failed while it ran.
func (b *Broker) runFailed(in *RunFailed) {
	b.stats.RunFailures++
	e := b.entries[in.Handle]
	if e == nil {
		return
	}
	sub := e.session.subs[in.ID]
	if sub == nil || sub.failed {
		return
	}
	sub.failed = true
	code := in.Code
	if code == "" {
		code = protocol.BadCondition
	}
	message := &protocol.Error{Op: protocol.OpError, ID: in.ID, Code: code, Message: in.Message, Position: in.Position}
	if c := e.session.conn; c != nil && c.ready {
		b.send(c.id, message)
	} else {
		sub.untold = message
	}
}

// disconnected leaves the session without its client.
func (b *Broker) disconnected(c Conn) {
	conn := b.conns[c]
	if conn == nil {
		return
	}
	s := conn.session
	b.detach(s)
	if s.anonymous {
		b.endSession(s)
	}
}

// detach takes a session's connection away: all that it has not acknowledged waits again.
func (b *Broker) detach(s *session) {
	delete(b.conns, s.conn.id)
	s.conn, s.seen, s.pending = nil, b.now, nil
	for _, in := range slices.Clone(s.inboxes) {
		if in.ended && in.buf.empty() {
			b.leave(in) // hello tells whether the client knows
			continue
		}
		in.endTold = false
		in.buf.unsend()
		b.conflateAll(in)
	}
}

// endSession takes a session away, with its keys: its client has begun
// another, or it is forgotten.
func (b *Broker) endSession(s *session) {
	if s.conn != nil {
		b.detach(s)
	}
	for _, in := range slices.Clone(s.inboxes) {
		b.leave(in)
	}
	for _, sub := range s.subs { // order decides nothing: they are counted only
		b.registry.giveBack(sub.selector)
	}
	delete(b.sessions, s.client)
	at, _ := slices.BinarySearchFunc(b.order, s.client, bySession)
	b.order = slices.Delete(b.order, at, at+1)
	if !s.anonymous {
		b.record(&SessionEnded{Client: s.client})
	}
}

func bySession(s *session, client string) int { return cmp.Compare(s.client, client) }

// newSession begins to keep a client.
func (b *Broker) newSession(client string, birth Session, epoch Epoch) *session {
	s := &session{client: client, birth: birth, epoch: epoch, seen: b.now, subs: map[string]*sub{}, selectors: map[*selector]int{}}
	b.sessions[client] = s
	at, _ := slices.BinarySearchFunc(b.order, client, bySession)
	b.order = slices.Insert(b.order, at, s)
	return s
}
