package overlay

import (
	"maps"
	"slices"
)

// check looks for what must hold in every state of a broker.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, b *Broker) {
	t.Helper()
	held := map[*Reading]bool{}
	var bytes int64
	if len(b.edge.order) != len(b.edge.sessions) {
		t.Fatalf("%d sessions in order, %d in all", len(b.edge.order), len(b.edge.sessions))
	}
	for i, s := range b.edge.order {
		if b.edge.sessions[s.client] != s || i > 0 && b.edge.order[i-1].client >= s.client {
			t.Fatalf("session %q is out of order", s.client)
		}
		var hash Hash
		for _, sub := range s.sorted() {
			hash = hash.add(sub.Subscription.Hash())
		}
		if hash != s.hash {
			t.Fatalf("session %q: the hash of its set is not the sum of its subscriptions'", s.client)
		}
		for _, in := range s.inboxes {
			checkBuffer(t, b, in.sequence)
			for _, it := range in.buf.items[in.buf.head:] {
				if it.reading != nil && !held[it.reading] {
					held[it.reading] = true
					bytes += int64(len(it.reading.JSON))
				}
			}
			if e := b.source.entries[in.handle]; in.inbox != in || in.members != s.set || in.own && (e == nil || e.sequence != in.sequence || e.next != in.buf.last+1) {
				t.Fatalf("key %v: its entry is %+v, its inbox %+v", in.key, e, in)
			}
		}
		if s.local != nil && (s.local.ended || !s.local.own || !slices.Contains(s.inboxes, s.local)) {
			t.Fatalf("session %q: its live key has no inbox", s.client)
		}
	}
	for h, e := range b.source.entries {
		if e.inbox == nil { // its edge is elsewhere
			checkBuffer(t, b, e.sequence)
			for _, it := range e.buf.items[e.buf.head:] {
				if it.reading != nil && !held[it.reading] {
					held[it.reading] = true
					bytes += int64(len(it.reading.JSON))
				}
			}
			if b.source.keys[e.key] != e || e.next != e.buf.last+1 {
				t.Fatalf("entry %d, whose edge is elsewhere: next %d, last %d", h, e.next, e.buf.last)
			}
			continue
		}
		if s := e.inbox.session; b.edge.sessions[s.client] != s || !slices.Contains(s.inboxes, e.inbox) {
			t.Fatalf("entry %d has no session", h)
		}
	}
	if want := recount(b, bytes); b.usage != want {
		t.Fatalf("the broker counts %+v; there are %+v", b.usage, want)
	}
	checkLimits(t, b)
	checkDirectory(t, b)
}

// recount sums up what the broker keeps, beside readings, by looking at all of it.
func recount(b *Broker, readings int64) usage {
	u := usage{readings: readings, sessions: int64(len(b.edge.sessions)), keys: int64(len(b.source.entries) + len(b.edge.far)), conns: int64(len(b.edge.conns))}
	set := func(s *set) {
		for _, sub := range s.subs {
			u.count(sub.Subscription, 1)
		}
	}
	buffers := map[*buffer]bool{}
	for _, s := range b.edge.order {
		set(s.set)
		for _, in := range s.inboxes {
			buffers[&in.buf] = true
			if in.far != nil {
				for i := range in.far.held {
					if it := &in.far.held[i]; it.Reading != nil {
						u.early += int64(itemSize(it.Reading, it.Names))
					}
				}
			}
		}
	}
	for _, e := range b.source.entries {
		if e.inbox == nil {
			set(e.members)
		}
		buffers[&e.buf] = true
		for _, w := range e.early {
			u.early += int64(itemSize(w.reading, w.names))
		}
	}
	for buf := range buffers {
		for i := buf.head; i < len(buf.items); i++ {
			if it := &buf.items[i]; it.reading != nil {
				u.items++
				u.own += int64(it.own)
			}
		}
	}
	return u
}

// checkLimits: what could give way has given way.
func checkLimits(t interface {
	Helper()
	Fatalf(string, ...any)
}, b *Broker) {
	t.Helper()
	if limit, over := b.over(0); over && b.started && b.now >= b.strained && len(b.yielding()) > 0 {
		t.Fatalf("%v: %d bytes of memory (limit %d), %d of disk (limit %d), though something can give way", limit, b.usage.memory(), b.cfg.Memory, b.usage.disk(), b.cfg.Disk)
	}
}

// checkDirectory: names belong to brokers that advertise them, and the source
// brokers that a client's set can match have been named.
func checkDirectory(t interface {
	Helper()
	Fatalf(string, ...any)
}, b *Broker) {
	t.Helper()
	if f, ok := b.registry.(*flooded); ok {
		checkFlooded(t, f)
		return
	}
	d := b.registry.(*central).held
	for name, id := range d.holders {
		if d.robots[id][name] == nil {
			t.Fatalf("robot %s is %s's, which does not advertise it", name, id)
		}
	}
	if len(d.fresh) > 0 {
		t.Fatalf("robots %v have not been tested", d.fresh)
	}
	for _, w := range d.clients {
		for id := range d.robots {
			for _, want := range w.wants {
				if w.known && !w.named[id] && d.canMatch(id, want) {
					t.Fatalf("client %s: %s is not named, though it has what %s can match", w.client, id, want.ID)
				}
			}
		}
	}
}

// checkFlooded: names belong to the oldest claims, and clients are where they are once.
func checkFlooded(t interface {
	Helper()
	Fatalf(string, ...any)
}, f *flooded) {
	t.Helper()
	claims := map[string]int{}
	for id, all := range f.robots {
		if f.bulletins[id] == nil {
			t.Fatalf("%s advertises, but has no bulletin", id)
		}
		for name := range all {
			claims[name]++
			if holder := f.holderOf(name, ""); holder != f.holders[name] {
				t.Fatalf("robot %s is %q's; the oldest claim is %q's", name, f.holders[name], holder)
			}
		}
	}
	if !maps.Equal(claims, f.claims) || len(f.holders) != len(claims) {
		t.Fatalf("claims are %v, counted are %v, %d names have a holder", claims, f.claims, len(f.holders))
	}
	if len(f.fresh) > 0 {
		t.Fatalf("robots %v have not been tested", f.fresh)
	}
	places, ids := 0, 0
	for _, e := range f.bulletins {
		for client, p := range e.places {
			if places++; f.places[client] != p || p.edge != e || p.client != client {
				t.Fatalf("client %s is at %s, and at another place", client, e.broker)
			}
			if owner, id := ClientOf(client); owner != "" {
				ids++
				found := false
				for at := f.ids[id]; at != nil; at = at.next {
					found = found || at == p
				}
				if !found {
					t.Fatalf("client %s is not found by its id", client)
				}
			}
		}
	}
	for _, at := range f.ids {
		for ; at != nil; at = at.next {
			ids--
		}
	}
	if places != len(f.places) || ids != 0 {
		t.Fatalf("%d clients are in bulletins, %d are known; %d too few by id", places, len(f.places), ids)
	}
}

func checkBuffer(t interface {
	Helper()
	Fatalf(string, ...any)
}, b *Broker, q *sequence) {
	t.Helper()
	buf := &q.buf
	var count, size, dead, sent, sentBytes int
	last := buf.num
	for i := buf.head; i < len(buf.items); i++ {
		it := &buf.items[i]
		if it.dead() {
			dead++
			continue
		}
		if it.from <= last || it.to() < it.from || it.to() > buf.last {
			t.Fatalf("key %v: item %d…%d after %d, last %d", q.key, it.from, it.to(), last, buf.last)
		}
		last = it.to()
		if it.gap() {
			continue
		}
		count++
		size += it.size()
		if i < buf.next {
			sent++
			sentBytes += it.size()
		}
	}
	if count != buf.count || size != buf.bytes || dead != buf.dead || sent != buf.flight.count || sentBytes != buf.flight.bytes {
		t.Fatalf("key %v: counts %d notifications, %d bytes, %d dead, %d (%d bytes) sent; there are %d, %d, %d, %d (%d)",
			q.key, buf.count, buf.bytes, buf.dead, buf.flight.count, buf.flight.bytes, count, size, dead, sent, sentBytes)
	}
	if b.started && (count > b.cfg.Inbox.Count || size > b.cfg.Inbox.Bytes) {
		t.Fatalf("key %v: %d notifications, %d bytes: more than the limits", q.key, count, size)
	}
	if sent > b.edge.windowCount {
		t.Fatalf("key %v: %d notifications are sent, the window is %d", q.key, sent, b.edge.windowCount)
	}
	if free := buf.head + buf.dead; free > 64 && free > len(buf.items)*3/4 {
		t.Fatalf("key %v: %d of %d places are free", q.key, free, len(buf.items))
	}
	if len(buf.newest) > 4*(count+b.cfg.Subscriptions) {
		t.Fatalf("key %v: %d devices remembered for %d notifications", q.key, len(buf.newest), count)
	}
}
