package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"callboard/subscribe/protocol"
)

// maxWord bounds the words for sessions and sources and robots' names, in bytes,
// and maxAway how many robots a hello may list as away.
const (
	maxWord = 512
	maxAway = 100_000
)

// resumed is what a hello says of a source.
type resumed struct {
	source  BrokerID
	stamp   Stamp
	num     uint64
	foreign bool // it may have been given numbers of this broker's that this broker does not know
}

// hello attaches a client: it resumes its session, or begins another one. A
// hello with anything wrong in it changes nothing and is the connection's end.
func (b *edge) hello(h *Hello) {
	if b.conns[h.Conn] != nil {
		b.fail(h.Conn, "", protocol.BadMessage, "hello was said already on this connection")
		return
	}
	birth, nums, refusal := b.readHello(h)
	newest, known := uint64(0), false
	if refusal == nil {
		refusal = b.belongs(h)
	}
	if refusal == nil {
		newest, known = b.newestAttachment(clientWord(h.Owner, h.Client), birth, nums)
		refusal = b.mayAttach(h, newest, known)
	}
	if refusal != nil {
		refusal.Op = protocol.OpError
		b.send(h.Conn, refusal)
		b.put(&Close{Conn: h.Conn, Code: refusal.Code, Reason: refusal.Message})
		return
	}
	s := b.attach(h, birth, newest)
	before := s.hash
	ended, put, tell := b.listed(s, h.Subscriptions, h.Session != "")
	if s.listed = h.Away != nil && h.Session != ""; s.listed {
		b.listAway(s, *h.Away)
	}
	b.unfollow(s)
	if b.resume(s, nums, before, change(before, ended, put)) { // the matcher gets the whole set
		ended, put = nil, nil
	}
	if s.conn == nil { // L4: a key knows of a newer attachment, and the connection is closed
		tell = nil
	} else {
		b.welcome(s)
		for i := range h.Refused {
			refused := h.Refused[i]
			refused.Op = protocol.OpError
			b.send(h.Conn, &refused)
		}
	}
	b.changeSet(s, before, ended, put, tell, true)
	b.lookUp(s)
	if s.conn != nil && !s.conn.ready && len(s.pending) == 0 {
		b.becomeReady(s)
	}
}

// newestAttachment returns the highest attachment of a client that is known
// here: of its session, and of the routes of the keys that it names.
func (b *edge) newestAttachment(client string, birth Session, nums []resumed) (newest uint64, known bool) {
	if s := b.sessions[client]; s != nil {
		newest, known = max(s.epoch.Attachment, s.newest), true
	}
	if elsewhere, found := b.registry.newestAttachment(client); found {
		newest, known = max(newest, elsewhere), true
	}
	for _, r := range nums {
		if epoch, _, found := b.network.newestEpoch(Key{Client: client, Session: birth, Source: r.source, Stamp: r.stamp}); found {
			newest, known = max(newest, epoch.Attachment), true
		}
	}
	return newest, known
}

// readHello checks what a hello says by itself.
func (b *edge) readHello(h *Hello) (birth Session, nums []resumed, refusal *protocol.Error) {
	bad := func(format string, args ...any) (Session, []resumed, *protocol.Error) {
		return Session{}, nil, &protocol.Error{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
	}
	if h.Client != "" {
		if wrong := checkID("client", h.Client); wrong != "" {
			return bad("%s", wrong)
		}
	} else if h.Session != "" {
		return bad("a session can be resumed by a client with an id only; expected client beside session")
	}
	if h.Attachment != nil && *h.Attachment > b.highest() {
		return bad("attachment is %d; expected a number up to %d (2⁵² above the present time in µs)", *h.Attachment, b.highest())
	}
	if h.Window != nil && *h.Window < 1 {
		return bad("window is %d; expected a number from 1 on", *h.Window)
	}
	if len(h.Session) > maxWord {
		return bad("session is too long; expected the word from welcome")
	}
	if h.Session != "" {
		var err error
		if birth, err = ParseSession(h.Session); err != nil {
			return bad("%v", err)
		}
		if max(birth.Attachment, birth.Revision) > b.highest() {
			return bad("session %q is none that a broker gave; expected the word from welcome", clip(h.Session))
		}
	} else if len(h.Num) > 0 {
		return bad("num belongs to a session; expected session beside it")
	}
	if h.Away != nil && (len(*h.Away) > maxAway || slices.ContainsFunc(*h.Away, func(name string) bool { return len(name) > maxWord })) {
		return bad("away lists %d robots; expected up to %d, of names up to %d bytes", len(*h.Away), maxAway, maxWord)
	}
	if wrong := checkTasks(h.Tasks); wrong != "" {
		return bad("%s", wrong)
	}
	if len(h.Num) > maxSources {
		return bad("num lists %d sources; expected up to %d", len(h.Num), maxSources)
	}
	for _, word := range sortedKeys(h.Num) {
		num := h.Num[word]
		source, stamp, err := ParseSourceWord(word)
		if err == nil && (len(word) > maxWord || uint64(stamp) > b.highest()) {
			err = fmt.Errorf("source %q is none that a broker gave", clip(word))
		}
		if err != nil {
			return bad("num: %v", err)
		}
		if num > b.highest() {
			return bad("num: %d of source %q is none that a broker gave; expected the seq of its last notification", num, clip(word))
		}
		nums = append(nums, resumed{source, stamp, num, h.Foreign && source == b.cfg.ID})
	}
	slices.SortFunc(nums, func(a, b resumed) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.stamp, b.stamp))
	})
	if len(h.Subscriptions) > b.cfg.Subscriptions {
		return Session{}, nil, &protocol.Error{Code: protocol.Overloaded,
			Message: fmt.Sprintf("hello lists %d subscriptions; the limit is %d", len(h.Subscriptions), b.cfg.Subscriptions)}
	}
	if refusal := b.setFits(int(setUsage(h.Subscriptions).texts)); refusal != nil {
		return Session{}, nil, refusal
	}
	seen := make(map[string]bool, len(h.Subscriptions))
	for i, sub := range h.Subscriptions {
		if wrong := checkID("id", sub.ID); wrong != "" {
			return bad("subscription %d: %s", i+1, wrong)
		}
		if seen[sub.ID] {
			return bad("subscription %d: the id %q is listed twice", i+1, clip(sub.ID))
		}
		seen[sub.ID] = true
	}
	return birth, nums, nil
}

// mayAttach refuses an attachment that is not above the newest known, and a
// client for which the limits leave no room.
func (b *edge) mayAttach(h *Hello, newest uint64, known bool) *protocol.Error {
	more := setUsage(h.Subscriptions)
	more.sessions, more.keys = 1, 1
	if s := b.sessions[clientWord(h.Owner, h.Client)]; s != nil && h.Client != "" {
		more.sessions, more.keys = 0, 0
		for _, sub := range s.subs { // order decides nothing
			more.count(sub.Subscription, -1)
		}
	}
	if refusal := b.hasRoomFor(more); refusal != nil {
		return refusal
	}
	if h.Client == "" {
		return nil
	}
	if b.sessions[clientWord(h.Owner, h.Client)] == nil && len(b.sessions) >= b.cfg.Clients {
		return b.tooMuch(LimitClients, fmt.Sprintf("this broker keeps %d clients, which is the limit; come back later, attach to another broker, or raise limits.clients", len(b.sessions)))
	}
	if known && h.Attachment != nil && *h.Attachment <= newest {
		return &protocol.Error{Code: protocol.Conflict, Attachment: &newest,
			Message: fmt.Sprintf("attachment %d is not above %d, the newest of client %q", *h.Attachment, newest, clip(h.Client))}
	}
	return nil
}

// attach returns the hello's session with the new connection in it. Another
// connection of the client is closed; another session of it ends.
func (b *edge) attach(h *Hello, birth Session, newest uint64) *session {
	id := h.Client
	if id == "" {
		id = ownerEnd + strconv.FormatUint(uint64(h.Conn), 10) + "@" + string(b.cfg.ID)
	}
	client := clientWord(h.Owner, id)
	s := b.sessions[client]
	epoch := Epoch{Attachment: max(uint64(max(b.now, 1)), newest+1), Edge: b.cfg.ID, Revision: uint64(max(b.now, 0))}
	if s != nil {
		epoch.Revision = max(epoch.Revision, s.epoch.Revision+1)
	}
	if h.Attachment != nil {
		epoch.Attachment = *h.Attachment
	}
	if s != nil && s.conn != nil {
		b.conflict(s, epoch.Attachment)
	}
	if s != nil && (h.Session == "" || birth != s.birth) {
		b.endSession(s)
		s = nil
	}
	stayed := true // it has been nowhere else
	if s == nil {
		if h.Session == "" {
			birth = Session(epoch)
		} else {
			stayed = !b.networked
		}
		s = b.newSession(client, birth, epoch)
		s.anonymous, s.fresh, s.blind = h.Client == "", !h.resumes(), h.Session != ""
	} else {
		if h.Attachment == nil {
			stayed = newest == s.epoch.Attachment
		} else {
			stayed = *h.Attachment == s.epoch.Attachment+1
		}
		stayed = stayed && s.elsewhere == 0 || !b.networked
		if !s.roamed {
			for id := range s.upTo.Keys() { // each by itself: order decides nothing
				s.noteTold(id, s.epoch.Attachment)
			}
		}
		s.epoch = epoch
	}
	if !s.looksUp() { // robots that have appeared meanwhile were not tested
		s.lookAgain()
	}
	s.elsewhere, s.newest, s.newestEdge, s.unsure = 0, 0, "", false
	b.recordSession(s)
	if !stayed {
		b.awaitTold(s, h.Attachment == nil)
		s.endedAt = s.epoch // what has ended elsewhere is not known: all that hello does not list
	}
	s.conn = &conn{id: h.Conn, session: s, rights: newRights(h.Allowed), window: b.windowCount, heard: b.now}
	if h.Window != nil {
		s.conn.window = int(min(uint64(s.conn.window), *h.Window))
	}
	b.conns[h.Conn] = s.conn
	b.usage.conns++
	b.registry.attached(s)
	return s
}

// conflict closes the connection of a session whose client is attached by another (L4).
func (b *edge) conflict(s *session, newest uint64) {
	const why = "another connection with this client id has taken over"
	id := s.conn.id
	b.detach(s)
	b.send(id, &protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: why, Attachment: &newest})
	b.put(&Close{Conn: id, Code: protocol.Conflict, Reason: why})
}

// listed makes the session's set what hello lists. What it does not list has
// ended; what has changed is an update. What a session that goes on lists and
// this edge does not know may have begun at another.
func (b *edge) listed(s *session, list []*Subscription, resumed bool) (ended []string, put, tell []*sub) {
	goesOn := make(map[string]bool, len(list))
	for _, subscription := range list {
		goesOn[subscription.ID] = true
	}
	for _, old := range s.sorted() {
		if !goesOn[old.ID] {
			ended = append(ended, old.ID)
			b.endSub(s, old)
		}
	}
	for _, subscription := range list {
		hash := subscription.Hash()
		old := s.subs[subscription.ID]
		if old == nil || old.hash != hash {
			added := b.addSub(s, subscription, hash, s.epoch.Revision)
			if old == nil && resumed {
				added.since = Epoch{}
			}
			old = added
			put = append(put, old)
		}
		tell = append(tell, old)
	}
	return ended, put, tell
}

// resume takes the nums of hello: each key goes on after what the client has
// processed. It reports whether it has made a key here, or taken one back. What
// the hello changes in the set goes to the source brokers with it.
func (b *edge) resume(s *session, nums []resumed, before Hash, change *SetChange) bool {
	for _, in := range slices.Clone(s.inboxes) {
		at := slices.IndexFunc(nums, func(r resumed) bool { return r.source == in.key.Source && r.stamp == in.key.Stamp })
		newer := slices.ContainsFunc(nums, func(r resumed) bool { return r.source == in.key.Source && r.stamp > in.key.Stamp })
		switch {
		case at < 0 && newer: // it has ended, and the client knows
			b.leave(in)
		case at < 0: // the client has not been told of it yet, or of what it acknowledged last
			in.told, in.resumed = in.buf.num, in.buf.num
			b.goOn(s, in, before, change)
		case in.key.Source == b.cfg.ID && (nums[at].foreign || nums[at].num > in.known()):
			b.dropKey(in) // numbers were given that the store has lost
			b.forgotten(s, in.key, nums[at].num)
		default:
			b.acknowledge(in, nums[at].num)
			in.told, in.resumed = nums[at].num, nums[at].num
			b.goOn(s, in, before, change)
		}
	}
	again, back := false, false
	for _, r := range nums {
		key := Key{Client: s.client, Session: s.birth, Source: r.source, Stamp: r.stamp}
		if slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key == key }) {
			continue
		}
		q := b.source.retained(key)
		switch {
		case r.source != b.cfg.ID && b.network.isDead(key): // U3
			in := b.emptyInbox(s, key, r.num)
			in.ended = true
			b.addInbox(s, in)
		case r.source != b.cfg.ID:
			b.subscribeFar(s, key, r.num, before, nil, nil)
		case q != nil && !q.ended && s.local == nil && !r.foreign && r.num <= q.outside:
			b.adopt(q, s, r.num, nil)
			q.inbox.told, q.inbox.resumed = r.num, r.num
			back = true
		case r.foreign || r.num > 0 || r.stamp != b.source.present() || s.local != nil:
			if q != nil && (r.foreign || r.num > q.outside) { // numbers were given that the store has lost
				b.source.unsubscribe(q)
			}
			b.forgotten(s, key, r.num)
		default:
			again = true
		}
	}
	s.hadInPlace()
	// A source broker once named stays named, and a sequence that has ended is followed by another.
	for _, in := range slices.Clone(s.inboxes) {
		b.follow(in)
	}
	again = again || slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == b.cfg.ID })
	q, _ := b.source.home(Key{Client: s.client, Session: s.birth, Source: b.cfg.ID}) // the client has not been told of it yet
	if s.local != nil || !again && q == nil {
		return back
	}
	b.enter(s, nil)
	return true
}

// goOn is the subscribe of a key that the session has an inbox of here (S3).
func (b *edge) goOn(s *session, in *inbox, before Hash, change *SetChange) {
	if in.far != nil && !in.ended {
		b.subscribeFar(s, in.key, in.buf.num, before, change, nil)
	}
}

func (b *edge) emptyInbox(s *session, key Key, num uint64) *inbox {
	in := &inbox{sequence: b.newSequence(key, s.set, num), session: s, told: num, resumed: num}
	in.inbox, in.anonymous = in, s.anonymous
	return in
}

// forgotten answers a key that is not in the local registry (S7, gone): its
// sequence has ended after num, and one with another stamp follows.
func (b *edge) forgotten(s *session, key Key, num uint64) {
	b.source.outlive(key)
	in := b.emptyInbox(s, key, num)
	in.ended = true
	b.addInbox(s, in)
}

func (b *edge) welcome(s *session) {
	owner, client := ClientOf(s.client)
	s.conn.welcomed = true
	b.send(s.conn.id, &protocol.Welcome{
		Op: protocol.OpWelcome, Broker: string(b.cfg.ID), Client: client, Session: sessionWord(owner, s.birth), Attachment: s.epoch.Attachment,
		Heartbeat: float64(b.cfg.Heartbeat) / float64(Second), Window: s.conn.window, Brokers: b.attachable(),
	})
}

// attachable lists where clients can attach: what the configuration says, and
// the brokers of the network that are in reach.
func (b *edge) attachable() []protocol.BrokerURL {
	all := append([]protocol.BrokerURL{}, b.cfg.Brokers...)
	if !b.networked {
		return all
	}
	for _, s := range b.network.linkStates() {
		known := slices.ContainsFunc(all, func(u protocol.BrokerURL) bool { return u.ID == string(s.Broker) })
		if !known && s.URL != "" && b.network.reaches(s.Broker) {
			all = append(all, protocol.BrokerURL{ID: string(s.Broker), URL: s.URL})
		}
	}
	return all
}
