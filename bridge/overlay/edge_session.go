package overlay

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"callboard/bridge/few"
	"callboard/subscribe/protocol"
)

// forget takes away the session of a client that was absent for the session
// time (L4), and its key, which nobody unsubscribed: a new stamp (L5).
func (b *edge) forget(s *session) {
	had := s.local != nil
	for _, in := range slices.Clone(s.inboxes) {
		b.dropKey(in)
	}
	b.dropSession(s)
	b.stats.Forgotten++
	if had {
		b.source.newStamp()
	}
}

// maxID bounds client and subscription ids, in bytes; maxSources the sources
// that a hello may list.
const (
	maxID      = 256
	maxSources = 4096
)

// session is a client's life, at the broker that is its edge.
type session struct {
	client    string  // its word: see clientWord
	anonymous bool    // without id: it ends with its connection, and is not stored
	fresh     bool    // it began here, and the broker has not started again since
	began     Instant // to be kept here
	settled   bool    // the registry has let it in
	claims    bool    // and knows its client as the one that has the id
	birth     Session
	epoch     Epoch   // the newest attachment, and the revision of the set
	conn      *conn   // nil: absent
	seen      Instant // when it was last here, while it is absent
	*set
	inboxes []*inbox // by key
	local   *inbox   // of the live key at this source broker; nil if there is none
	pending []pending

	unsure    bool    // a store that lost its end had it: its set may be an old one
	endedAt   Epoch   // of the last end of a subscription here
	elsewhere Instant // L4: since when the client is known to be attached elsewhere; 0: it is not
	newest    uint64  // the newest attachment known then
	lookup    Hash    // the set that the registry was last asked about
	lookedUp  bool    // and it has answered
	answer    uint64  // with this version

	newestEdge BrokerID // where the newest attachment is
	told
	states farStates

	// tested is, by source broker, the newest set of which it has been heard that
	// readings are tested by it, or by a later one.
	tested few.Map[BrokerID, Epoch]
}

// conn is a client's connection that has said hello.
type conn struct {
	id       Conn
	session  *session
	rights   *rights
	welcomed bool    // it has had its welcome
	window   int     // notifications of a source that go out unacknowledged
	ready    bool    // all that hello listed has had its subscribed: notifications may go
	heard    Instant // when it last said something
}

// pending is a subscribed that waits for the matcher.
type pending struct {
	id    string
	ask   uint64 // of the entry's installs: the one whose answer counts its robots
	hello bool   // the connection is ready when there is no such one any more
	fresh bool   // the client has no other subscription to the same robots

	lookup  bool    // it waits for the registry
	missing bool    // which knows no robot that it can match
	away    bool    // or is out of reach
	counts  bool    // it waits for the counts of other source brokers
	since   Instant // it waits no longer than a period
}

// checkID returns what is wrong with an id that a client chose, "" if nothing.
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

// attached returns the session of a connection, or answers that there is none.
func (b *edge) attached(c Conn, id string) *session {
	if conn := b.conns[c]; conn != nil {
		conn.heard = b.now
		return conn.session
	}
	b.fail(c, id, protocol.BadMessage, "hello must come first")
	return nil
}

// clientOn returns who has said hello on a connection.
func (b *edge) clientOn(c Conn) (client string, attachment uint64, anonymous, ok bool) {
	conn := b.conns[c]
	if conn == nil {
		return "", 0, false, false
	}
	return conn.session.client, conn.session.epoch.Attachment, conn.session.anonymous, true
}

// Subscription returns a subscription of the client on conn, to merge an update with.
func (b *Broker) Subscription(c Conn, id string) (*Subscription, bool) {
	if conn := b.edge.conns[c]; conn != nil {
		if sub := conn.session.subs[id]; sub != nil {
			return sub.Subscription, true
		}
	}
	return nil, false
}

// disconnected leaves the session without its client, or ends it.
func (b *edge) disconnected(in *Disconnected) {
	conn := b.conns[in.Conn]
	if conn == nil {
		return
	}
	s := conn.session
	b.detach(s)
	if s.anonymous || in.Goodbye {
		b.endSession(s)
	}
}

// detach takes a session's connection away: all that it has not acknowledged waits again.
func (b *edge) detach(s *session) {
	b.noteSeen(s)
	delete(b.conns, s.conn.id)
	b.usage.conns--
	s.conn, s.seen, s.pending = nil, b.now, nil
	for _, in := range slices.Clone(s.inboxes) {
		if in.ended && in.buf.empty() {
			b.leave(in) // hello tells whether the client knows
			continue
		}
		in.endTold = false
		in.buf.unsend()
	}
	b.passInPlace(s)
	for _, in := range s.inboxes {
		b.conflateAll(in.sequence)
	}
}

// endSession takes a session away, with its keys: its client has begun
// another, or does not come back.
func (b *edge) endSession(s *session) {
	if s.conn != nil {
		b.detach(s)
	}
	for _, in := range slices.Clone(s.inboxes) {
		b.leave(in)
	}
	b.dropSession(s)
}

// dropSession takes a session away whose keys have gone.
func (b *edge) dropSession(s *session) {
	b.freeSet(s.set)
	delete(b.sessions, s.client)
	b.usage.sessions--
	b.disowns(s)
	b.registry.left(s)
	at, _ := slices.BinarySearchFunc(b.order, s.client, bySession)
	b.order = slices.Delete(b.order, at, at+1)
	if !s.anonymous {
		b.record(&SessionEnded{Client: s.client})
	}
}

func bySession(s *session, client string) int { return cmp.Compare(s.client, client) }

func (b *edge) recordSession(s *session) {
	if !s.anonymous {
		b.record(&SessionRecord{Client: s.client, Session: s.birth, Epoch: s.epoch, Unsure: s.unsure})
	}
}

// newSession begins to keep a client.
func (b *edge) newSession(client string, birth Session, epoch Epoch) *session {
	s := &session{client: client, birth: birth, epoch: epoch, began: b.now, seen: b.now, set: newSet()}
	b.sessions[client] = s
	b.usage.sessions++
	b.owns(s)
	at, _ := slices.BinarySearchFunc(b.order, client, bySession)
	b.order = slices.Insert(b.order, at, s)
	return s
}
