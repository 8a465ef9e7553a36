package overlay

import (
	"cmp"
	"slices"
	"strconv"

	"callboard/subscribe/protocol"
)

// usage counts what the broker keeps. Whoever puts something in or takes it out
// counts it here, and nowhere else: what is used follows from it.
type usage struct {
	readings int64 // bytes of readings in buffers, each reading once
	early    int64 // bytes of notifications that wait for their set or their turn, for each key
	items    int64 // notifications in buffers
	own      int64 // bytes of names and values that items do not share
	subs     int64 // subscriptions, in sessions' sets and those of keys
	texts    int64 // bytes of their texts
	names    int64 // of robots and devices in their lists
	sessions int64
	keys     int64 // of the local registry, and inboxes of other brokers' keys
	conns    int64
}

// What things cost in memory and on the disk, in bytes, beside the texts and
// readings that they hold: about what a broker of many was measured to take.
const (
	itemMemory         = 64 // here and in the store's index
	subscriptionMemory = 2048
	nameMemory         = 24 // beside its text
	sessionMemory      = 2048
	keyMemory          = 2048
	connMemory         = 16 << 10 // over TLS; half of it without

	itemDisk         = 16
	subscriptionDisk = 256
	sessionDisk      = 256
	keyDisk          = 256
	diskSlack        = 2 // the store's file has free pages, and a tail beside
)

// size is how many bytes of text a subscription brings.
func (s *Subscription) size() int {
	size := len(s.ID) + len(s.Condition)
	for _, list := range [][]string{s.Robots, s.Devices} {
		for _, text := range list {
			size += len(text)
		}
	}
	for name, text := range s.Select {
		size += len(name) + len(text)
	}
	return size
}

// names is how many robots and devices a subscription lists.
func (s *Subscription) names() int { return len(s.Robots) + len(s.Devices) }

// count adds a subscription, or so many times it: -1 takes it out.
func (u *usage) count(s *Subscription, times int64) {
	u.subs += times
	u.texts += times * int64(s.size())
	u.names += times * int64(s.names())
}

// setUsage is what the subscriptions of a set take.
func setUsage(subscriptions []*Subscription) (u usage) {
	for _, s := range subscriptions {
		u.count(s, 1)
	}
	return u
}

// fixed is the memory of what cannot give way: sessions, sets and connections.
func (u *usage) fixed() int64 {
	return subscriptionMemory*u.subs + 3*u.texts + nameMemory*u.names +
		sessionMemory*u.sessions + keyMemory*u.keys + connMemory*u.conns
}

// memory is what the broker keeps, about, in bytes of memory.
func (u *usage) memory() int64 {
	return u.readings + u.early + itemMemory*u.items + u.own + u.fixed()
}

// disk is the same in bytes of the store's files. What is not stored (clients
// without id, inboxes of other brokers' keys) counts too: it is little.
func (u *usage) disk() int64 {
	return diskSlack * (u.readings + u.own + itemDisk*u.items + u.texts + subscriptionDisk*u.subs +
		sessionDisk*u.sessions + keyDisk*u.keys)
}

// Limit is a limit of the whole broker.
type Limit uint8

// The limits for which clients give way or are refused.
const (
	LimitMemory Limit = iota
	LimitDisk
	LimitClients
	LimitSubscriptionBytes
	limits // how many there are
)

// String returns the limit's name in the configuration.
func (l Limit) String() string {
	return [...]string{"memory", "disk", "clients", "subscription_bytes"}[l]
}

// tooMuch counts a refusal and words it: what is too much, and what to do.
func (b *step) tooMuch(l Limit, message string) *protocol.Error {
	b.stats.Refused[l]++
	return &protocol.Error{Code: protocol.Overloaded, Message: message}
}

// hasRoomFor returns why there is no room for more sessions and subscriptions,
// nil if there is. They take at most half of the memory, so that inboxes have the
// other. What takes no more than is there already is never refused.
func (b *step) hasRoomFor(more usage) *protocol.Error {
	if more.fixed() <= 0 || b.usage.fixed()+more.fixed() <= b.cfg.Memory/2 {
		return nil
	}
	return b.tooMuch(LimitMemory, "the memory that this broker has for clients and their subscriptions is used up; end some, come back later, attach to another broker, or raise limits.memory there")
}

// setFits returns why a client's set cannot become so large, nil if it can.
func (b *step) setFits(size int) *protocol.Error {
	if size <= b.cfg.SetBytes {
		return nil
	}
	return b.tooMuch(LimitSubscriptionBytes, "the client's subscriptions would come to "+strconv.Itoa(size)+" bytes, and the limit is "+strconv.Itoa(b.cfg.SetBytes)+"; name robots by patterns, end some, or raise limits.subscription_bytes")
}

// over returns the limit that is exceeded by more than keeping so many bytes
// free leaves.
func (b *step) over(free int64) (Limit, bool) {
	switch {
	case b.usage.memory() > b.cfg.Memory-free:
		return LimitMemory, true
	case b.usage.disk() > b.cfg.Disk-free:
		return LimitDisk, true
	}
	return 0, false
}

// maxRelief bounds how much is given up at once, in bytes.
const maxRelief = 4 << 20

// relieve has inboxes give way while the broker keeps more than it may: that of
// the longest absent client first, then what is kept for clients of other brokers
// and for attached ones, the fullest first. What is given up is a gap, as where an inbox
// overflows.
func (b *Broker) relieve() {
	limit, over := b.over(0)
	if !over || b.now < b.strained {
		return
	}
	free := min(maxRelief, min(b.cfg.Memory, b.cfg.Disk)/32)
	for _, q := range b.yielding() {
		before := q.buf.count
		for {
			if _, over = b.over(free); !over || !b.giveUp(q, WhyOverflow) {
				break
			}
		}
		if q.buf.count < before {
			b.stats.GaveWay[limit]++
			q.buf.trim()
			if q.inbox != nil {
				b.edge.pump(q.inbox)
			}
		}
		if !over {
			return
		}
	}
	b.strained = b.now + Instant(b.cfg.Heartbeat)/8 // what is on its way to clients, and what they are, stays
}

// yielding lists the sequences that have something to give up, in the order in
// which they give way.
func (b *Broker) yielding() []*sequence {
	var all []*sequence
	for _, s := range b.edge.order {
		for _, in := range s.inboxes {
			if in.buf.count > in.buf.flight.count {
				all = append(all, in.sequence)
			}
		}
	}
	for _, e := range b.source.awayEntries() {
		if e.buf.count > 0 {
			all = append(all, e.sequence)
		}
	}
	absent := func(q *sequence) bool { return q.inbox != nil && q.inbox.session.conn == nil }
	slices.SortStableFunc(all, func(p, q *sequence) int {
		switch {
		case absent(p) != absent(q) && absent(p):
			return -1
		case absent(p) != absent(q):
			return 1
		case absent(p):
			return cmp.Compare(p.inbox.session.seen, q.inbox.session.seen)
		}
		return cmp.Compare(q.buf.bytes, p.buf.bytes)
	})
	return all
}
