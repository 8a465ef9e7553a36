package overlay

import "slices"

// Stats counts what the broker has done, and tells what it holds.
type Stats struct {
	Readings    uint64 // that matched somebody
	Given       uint64 // numbers given
	Notified    uint64 // notifications sent, resent ones included
	Gaps        uint64 // gaps told
	Passed      uint64 // notifications passed over on purpose
	Conflated   uint64 // names that a newer reading took the place of
	Stray       uint64 // matches whose key or subscriptions had ended
	RunFailures uint64 // conditions that failed while they ran
	Forgotten   uint64 // sessions whose client did not come back
	Lost        [whys]uint64

	Frames        uint64 // given to neighbours
	Messages      MessageCounts
	Fetches       uint64 // begun here
	Renewals      uint64
	Improved      uint64 // subscribes along a better path, of keys whose way up was dear
	Resent        uint64 // notifications and gaps that this source broker sent again
	Declared      uint64 // gaps that came from others
	Orphaned      uint64 // keys here that lost their way up
	Expired       uint64 // routes that nobody refreshed
	ForgottenKeys uint64 // keys of the local registry that nobody refreshed
	Behind        uint64 // and that ended since somebody knew of higher numbers: the store had gone back
	Unclear       uint64 // subscribes whose set this source broker did not have
	Doubted       uint64 // robots whose states were asked for again, since the edge that told them is dead
	Uncounted     uint64 // messages and records with numbers that nobody can have counted to
	Undeliverable uint64 // messages to neighbours that were not there

	Clients       int // sessions, absent ones included
	Attached      int // connections
	Subscriptions int
	Keys          int
	Waiting       int   // notifications that are not acknowledged
	HeldBytes     int64 // readings in all inboxes, each once

	Memory, MemoryLimit int64          // bytes of all that is kept, about
	Disk, DiskLimit     int64          // of what of it is stored
	GaveWay             [limits]uint64 // inboxes that gave up what waited in them, by the limit that asked for it
	Refused             [limits]uint64 // clients and subscriptions that would have exceeded it
}

// MessageCounts counts messages to neighbours, by kind.
type MessageCounts struct {
	Subscribe, Refresh, Head, Unsubscribe, Gone, Notify, Fetch, Replay, Event, Broken, LinkState, Bulletin, Known, Queues, Routed uint64
}

func (s *Stats) count(m Message) {
	c := &s.Messages
	switch m.(type) {
	case *SubscribeMessage:
		c.Subscribe++
	case *RefreshMessage:
		c.Refresh++
	case *HeadMessage:
		c.Head++
	case *UnsubscribeMessage:
		c.Unsubscribe++
	case *GoneMessage:
		c.Gone++
	case *NotifyMessage:
		c.Notify++
	case *FetchMessage:
		c.Fetch++
	case *ReplayMessage:
		c.Replay++
	case *EventMessage:
		c.Event++
	case *BrokenMessage:
		c.Broken++
	case *LinkState:
		c.LinkState++
	case *BulletinMessage:
		c.Bulletin++
	case *KnownMessage:
		c.Known++
	case *QueuesMessage:
		c.Queues++
	case *RoutedMessage:
		c.Routed++
	}
}

// LostBy returns how many numbers became a gap, by reason.
func (s *Stats) LostBy() map[string]uint64 {
	lost := map[string]uint64{}
	for _, why := range []Why{WhyOverflow, WhyExpired, WhyLost} {
		lost[why.String()] = s.Lost[why]
	}
	return lost
}

// LimitCounts returns how many inboxes gave way, and how many clients and
// subscriptions were refused, by limit.
func (s *Stats) LimitCounts() (gaveWay, refused map[string]uint64) {
	gaveWay, refused = map[string]uint64{}, map[string]uint64{}
	for l := range limits {
		refused[l.String()] = s.Refused[l]
	}
	for _, l := range []Limit{LimitMemory, LimitDisk} {
		gaveWay[l.String()] = s.GaveWay[l]
	}
	delete(refused, LimitDisk.String())
	return gaveWay, refused
}

// Stats returns the counts as they are now.
func (b *Broker) Stats() Stats {
	s := b.stats
	s.Clients, s.Attached, s.Keys, s.HeldBytes = len(b.edge.sessions), len(b.edge.conns), len(b.source.entries), b.usage.readings+b.usage.early
	s.Memory, s.MemoryLimit, s.Disk, s.DiskLimit = b.usage.memory(), b.cfg.Memory, b.usage.disk(), b.cfg.Disk
	for _, session := range b.edge.order {
		s.Subscriptions += len(session.subs)
		for _, in := range session.inboxes {
			s.Waiting += in.buf.count
		}
	}
	return s
}

// ClientInfo describes one client's session.
type ClientInfo struct {
	Client        string // "" for one without id
	Owner         string // the token that it belongs to
	Session       string
	Attachment    uint64
	Attached      bool
	Elsewhere     bool    // it has attached at another broker since
	Conn          Conn    // while attached
	Seen          Instant // while absent: since when
	Subscriptions []SubscriptionInfo
	Sources       []SourceInfo
}

// SubscriptionInfo describes one subscription.
type SubscriptionInfo struct {
	*Subscription
	Robots int  // that matched when they were last counted
	Failed bool // its condition failed while it ran
}

// SourceInfo describes one sequence.
type SourceInfo struct {
	Source  string
	Num     uint64 // acknowledged
	Last    uint64 // given
	Sent    int    // notifications that are sent and not acknowledged
	Waiting int    // notifications that wait
	Bytes   int    // of both
	Ended   bool
}

// Clients describes all sessions, by client; a runtime's lists are made of it.
func (b *Broker) Clients() []ClientInfo {
	all := make([]ClientInfo, 0, len(b.edge.order))
	for _, s := range b.edge.order {
		all = append(all, infoOf(s))
	}
	return all
}

// Client describes the session on a connection.
func (b *Broker) Client(c Conn) (ClientInfo, bool) {
	conn := b.edge.conns[c]
	if conn == nil {
		return ClientInfo{}, false
	}
	return infoOf(conn.session), true
}

func infoOf(s *session) ClientInfo {
	owner, id := ClientOf(s.client)
	info := ClientInfo{Client: id, Owner: owner, Session: sessionWord(owner, s.birth), Attachment: s.epoch.Attachment, Attached: s.conn != nil, Elsewhere: s.elsewhere != 0, Seen: s.seen}
	if s.conn != nil {
		info.Conn, info.Seen = s.conn.id, 0
	}
	for _, sub := range s.sorted() {
		info.Subscriptions = append(info.Subscriptions, SubscriptionInfo{sub.Subscription, sub.robots(), sub.failed})
	}
	for _, in := range s.inboxes {
		info.Sources = append(info.Sources, SourceInfo{
			Source: in.word, Num: in.buf.num, Last: in.buf.last, Ended: in.ended, Bytes: in.buf.bytes,
			Sent: in.buf.flight.count, Waiting: in.buf.count - in.buf.flight.count,
		})
	}
	return info
}

// RobotInfo describes one robot.
type RobotInfo struct {
	Robot, World string
	Devices      []string // nil: not known yet
	Up           bool
	Since        Instant
}

// Robots describes all robots that are registered, by name.
func (b *Broker) Robots() []RobotInfo {
	all := make([]RobotInfo, 0, len(b.source.robots.names))
	for _, name := range b.source.robots.names {
		r := b.source.robots.named[name]
		all = append(all, RobotInfo{r.name, r.world, r.devices, r.now.Up, r.now.Since})
	}
	return all
}

// Stamp returns the stamp that new keys get.
func (b *Broker) Stamp() Stamp { return b.source.stamp }

// Source returns the word that new keys' notifications carry.
func (b *Broker) Source() string { return SourceWord(b.cfg.ID, b.source.stamp) }

// RouteInfo describes one route.
type RouteInfo struct {
	Key   Key
	Epoch Epoch
	Down  BrokerID // this broker: the client's edge is here
	Up    BrokerID // "": no way up, or the source is here
	Num   uint64
}

// Routes describes all routes, by key.
func (b *Broker) Routes() []RouteInfo {
	all := make([]RouteInfo, 0, len(b.network.routes))
	for _, r := range b.network.routes {
		all = append(all, r.info())
	}
	slices.SortFunc(all, func(r, s RouteInfo) int { return r.Key.Compare(s.Key) })
	return all
}

// Route describes a key's route, if there is one.
func (b *Broker) Route(k Key) (RouteInfo, bool) {
	r := b.network.routes[k]
	if r == nil {
		return RouteInfo{}, false
	}
	return r.info(), true
}

func (r *route) info() RouteInfo { return RouteInfo{r.key, r.epoch, r.down, r.up, r.num} }

// RouteCount returns how many there are.
func (b *Broker) RouteCount() int { return len(b.network.routes) }

// KeyInfo describes one key of the local registry.
type KeyInfo struct {
	Key      Key
	Last     uint64 // given
	Num      uint64 // acknowledged
	Retained int    // notifications
	Hash     Hash   // of its set
}

// Keys describes the local registry, by key.
func (b *Broker) Keys() []KeyInfo {
	all := make([]KeyInfo, 0, len(b.source.entries))
	for _, e := range b.source.entries {
		all = append(all, e.info())
	}
	slices.SortFunc(all, func(k, l KeyInfo) int { return k.Key.Compare(l.Key) })
	return all
}

// Key describes a key of the local registry, if it is there.
func (b *Broker) Key(k Key) (KeyInfo, bool) {
	e := b.source.keys[k]
	if e == nil {
		return KeyInfo{}, false
	}
	return e.info(), true
}

func (e *entry) info() KeyInfo {
	return KeyInfo{e.key, e.next - 1, e.buf.num, e.buf.count, e.members.hash}
}

// Reader returns the broker whose a robot's name is, "" if it is nobody's, and
// whether this broker knows.
func (b *Broker) Reader(robot string) (at BrokerID, known bool) { return b.registry.readerOf(robot) }

// Left counts what a network leaves at a broker beside routes and keys.
func (b *Broker) Left() (fetches, tombstones, inboxes int) {
	for _, all := range b.network.fetches {
		fetches += len(all)
	}
	return fetches, len(b.network.dead), len(b.edge.far)
}
