package overlay

import (
	"slices"
	"sort"

	"callboard/subscribe/protocol"
)

// far is what an inbox has beside, if its source broker is another one: what
// came before its turn, and what is known to be missing. The next number to
// deliver is one more than the buffer's last.
type far struct {
	held    []Item // by number
	bytes   int    // their size
	head    uint64 // a number up to which the source has given some
	open    uint64 // the number that was missing at the last period's end; 0: none
	ends    int    // at how many periods' ends it was the same
	stored  bool   // it comes from the store, and was not renewed since: a newer set than the stored one may be known
	renewed Instant
	moved   bool // it was improved since it was renewed: what the old way has lost nobody tells
	dear    int  // at how many periods' ends it was dearer than the best path (H4)
}

// sessionOf returns the session of a key's client here.
func (b *edge) sessionOf(k Key) *session {
	if s := b.sessions[k.Client]; s != nil && s.birth == k.Session {
		return s
	}
	return nil
}

// inboxOf returns the inbox of a key here; nil if its sequence has ended.
func (b *edge) inboxOf(k Key) *inbox {
	s := b.sessionOf(k)
	if s == nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(s.inboxes, k, func(in *inbox, k Key) int { return in.key.Compare(k) })
	if !found || s.inboxes[at].ended {
		return nil
	}
	return s.inboxes[at]
}

// newFar makes the inbox of a key whose source is elsewhere.
func (b *edge) newFar(s *session, k Key, num uint64) *inbox {
	b.lastHandle++
	in := b.emptyInbox(s, k, num)
	in.handle, in.far = b.lastHandle, &far{}
	b.far[in.handle] = in
	b.usage.keys++
	b.addInbox(s, in)
	b.recordFar(in)
	b.tellRoster(s, b.rosters[k.Source], s.upTo.Get(k.Source))
	return in
}

func (b *edge) recordFar(in *inbox) {
	if in.stored() {
		b.record(&EntryRecord{Handle: in.handle, Key: in.key, Epoch: in.session.epoch, Next: in.buf.num + 1, Num: in.buf.num})
	}
}

// dropFar lets go of what an inbox has beside.
func (b *edge) dropFar(in *inbox) {
	if in.far == nil {
		return
	}
	for i := range in.far.held {
		b.unhold(in, &in.far.held[i])
	}
	in.far.held = nil
	if b.far[in.handle] == in {
		delete(b.far, in.handle)
		b.usage.keys--
		if in.stored() {
			b.record(&EntryEnded{Handle: in.handle})
		}
	}
}

// subscribeFar subscribes at a key's source, which is elsewhere. The change is that
// of the set from the one that the session had before; missing, if it is not nil,
// says that the source is to see the subscribe.
func (b *edge) subscribeFar(s *session, k Key, num uint64, before Hash, change *SetChange, missing *Missing) {
	r := b.network.routeOf(k)
	if r != nil && r.epoch.Compare(s.epoch) > 0 { // S1
		b.attachedElsewhere(s, r.epoch)
		return
	}
	in := b.inboxOf(k)
	if in == nil {
		if r != nil && b.local(r) {
			b.network.dropRoute(k)
			r = nil
		}
		in = b.newFar(s, k, num)
	}
	m := &SubscribeMessage{Key: k, Epoch: s.epoch, Num: num, Known: in.known(), Hash: s.hash, Missing: missing}
	switch {
	case r != nil && b.local(r): // S3
		in.far.open = 0
		switch {
		case r.up != "" && r.hash == s.hash:
		case r.up != "" && r.hash == before && change != nil:
			m.Set = change
		default:
			m.Set = s.whole()
		}
	case num == 0, r != nil && r.up != "" && missing == nil && r.hash != s.hash: // the source may not have it yet
		m.Set = s.whole()
	}
	b.network.subscribe(m)
}

// beginFar begins a key that the client has not named. An older edge may have
// begun it too, with a set of the same hash, whose names are not those of
// subscriptions that have begun here since (liveThere). If there may be such
// the subscribe goes to the source, whoever has a route: what is given from
// then on is of this set. So it does where links have costs: its way up is known
// then.
func (b *edge) beginFar(s *session, k Key) {
	var missing *Missing
	if b.network.costly() || s.anySub(func(sub *sub) bool { return sub.since != Epoch{} }) {
		missing = &Missing{}
	}
	b.subscribeFar(s, k, 0, s.hash, nil, missing)
}

// renew subscribes again, all the way to the source, and names what is missing.
func (b *edge) renew(in *inbox) {
	s := in.session
	b.stats.Renewals++
	if !in.far.stored {
		b.nextRevision(s)
		b.recordSession(s)
	}
	in.far.stored = false
	missing := &Missing{From: in.buf.last + 1}
	if len(in.far.held) > 0 {
		missing.To = in.far.held[0].From - 1
	}
	in.far.open, in.far.renewed, in.far.moved = 0, b.period, false
	b.network.subscribe(&SubscribeMessage{Key: in.key, Epoch: s.epoch, Num: in.buf.last, Known: in.known(), Hash: s.hash, Set: s.whole(), Missing: missing})
}

// renewIfStranded renews a key that lost its way up, if there is another.
func (b *edge) renewIfStranded(in *inbox) {
	r := b.network.routeOf(in.key)
	if in.far == nil || in.ended || r == nil || !b.local(r) || b.inboxOf(in.key) != in || r.up != "" || in.far.renewed >= b.period {
		return
	}
	if b.network.reaches(in.key.Source) {
		b.renew(in)
	}
}

// arrive takes an item into the inbox: what is before its turn is held until
// the replay has filled the gap before it.
func (b *edge) arrive(in *inbox, it Item) {
	want := in.buf.last + 1
	if in.ended || it.To < it.From || it.To < want || it.Kind < ItemNotification || it.Kind > ItemPassed || it.Kind == ItemNotification && it.Reading == nil {
		return
	}
	if it.From < want {
		it.From = want
	}
	in.session.heardOf(in.key.Source, it.Set)
	f := in.far
	if it.Kind == ItemNotification {
		it.From = it.To
		if size := itemSize(it.Reading, it.Names); size > b.cfg.Inbox.Bytes {
			it = Item{Kind: ItemGap, From: it.From, To: it.To, Why: WhyOverflow}
		} else if it.From > want && (len(f.held) >= b.cfg.Inbox.Count || f.bytes+size > b.cfg.Inbox.Bytes) {
			f.head = max(f.head, it.To) // no room: renewal brings it
			return
		}
	} else if it.From > want && len(f.held) >= 2*b.cfg.Inbox.Count {
		f.head = max(f.head, it.To)
		return
	}
	b.hold(in, it)
	b.drain(in)
}

// hold puts an item among those held. Of two that begin alike a notification
// stays; a range gives way to it.
func (b *edge) hold(in *inbox, it Item) {
	f := in.far
	at := sort.Search(len(f.held), func(i int) bool { return f.held[i].From >= it.From })
	if at < len(f.held) && f.held[at].From == it.From {
		old := f.held[at]
		if it.Kind != ItemNotification {
			if old.Kind == ItemNotification {
				if it.From++; it.From <= it.To {
					b.hold(in, it)
				}
			} else if it.To > old.To {
				f.held[at] = it
			}
			return
		}
		if old.Kind == ItemNotification {
			return
		}
		f.held = slices.Delete(f.held, at, at+1)
		if old.From++; old.From <= old.To {
			f.held = slices.Insert(f.held, at, old)
		}
	}
	f.held = slices.Insert(f.held, at, it)
	if it.Reading != nil {
		size := itemSize(it.Reading, it.Names)
		f.bytes += size
		b.usage.early += int64(size)
	}
}

func (b *edge) unhold(in *inbox, it *Item) {
	if it.Reading != nil {
		size := itemSize(it.Reading, it.Names)
		in.far.bytes -= size
		b.usage.early -= int64(size)
	}
}

// drain delivers what is held, as far as nothing is missing before it.
func (b *edge) drain(in *inbox) {
	f := in.far
	for len(f.held) > 0 && f.held[0].From <= in.buf.last+1 {
		it := f.held[0]
		b.unhold(in, &it)
		f.held = slices.Delete(f.held, 0, 1)
		want := in.buf.last + 1
		if it.To < want {
			continue
		}
		it.From = want
		if it.Kind != ItemNotification {
			// What is held itself is not given up for a declared gap.
			next := slices.IndexFunc(f.held, func(h Item) bool { return h.Kind == ItemNotification && h.From >= want })
			if next >= 0 && f.held[next].From <= it.To {
				rest := it
				if rest.From = f.held[next].From + 1; rest.From <= rest.To {
					b.hold(in, rest)
				}
				if it.To = rest.From - 2; it.To < it.From {
					continue
				}
			}
		}
		b.deliver(in, it)
	}
	if len(f.held) == 0 {
		f.held = nil
	}
}

// deliver puts the item whose turn it is into the buffer.
func (b *edge) deliver(in *inbox, it Item) {
	buf := &in.buf
	switch it.Kind {
	case ItemGap:
		b.stats.Declared++
		buf.pushGap(it.From, it.To, it.Why, b.now)
	case ItemPassed:
		buf.last = it.To
	default:
		names := in.members.liveThere(it.Names, it.Set)
		names = in.session.judge(in.key, it.From, it.Reading, names)
		if len(names) == 0 {
			b.stats.Passed++
			buf.last = it.To
			return
		}
		b.settleNamed(in.session, names)
		in.points.prune(buf.num + 1)
		in.points.add(it.From, it.Set)
		buf.push(it.To, it.Reading, buf.share(names, in.session.epoch.Revision, in.members.ends, namesSize(names)), b.now)
		b.pump(in)
		if buf.next < len(buf.items) {
			b.bound(in.sequence)
		}
	}
}

// settleNamed lets the subscribed of subscriptions go before their first
// notification.
func (b *edge) settleNamed(s *session, names []protocol.Matched) {
	if len(s.pending) == 0 {
		return
	}
	for i := range s.pending {
		p := &s.pending[i]
		if slices.ContainsFunc(names, func(n protocol.Matched) bool { return n.ID == p.id }) {
			p.lookup, p.counts = false, false
		}
	}
	b.settlePending(s)
}

// refreshKeys is what a period asks for at an edge: L1 for each of the
// client's keys whose source is elsewhere, or a renewal.
func (b *edge) refreshKeys(s *session) {
	for _, in := range slices.Clone(s.inboxes) {
		if in.far == nil || in.ended {
			continue
		}
		f, want := in.far, in.buf.last+1
		missing := want <= f.head || len(f.held) > 0
		switch {
		case !missing:
			f.open, f.ends = 0, 0
		case f.open == want:
			f.ends++
		default:
			f.open, f.ends = want, 1
		}
		if f.moved && f.ends == 2 { // nobody tells what the old way has lost
			f.ends = 3
		}
		r := b.network.routeOf(in.key)
		if r == nil || r.up == "" || missing && f.ends >= 3 {
			b.renew(in)
			continue
		}
		if b.tooDear(in, r) {
			b.improve(in)
			continue
		}
		b.network.tell(r.up, &RefreshMessage{Key: in.key, Epoch: r.epoch, Num: in.buf.num, Known: max(r.known, in.known())})
	}
}

// renewStranded has the keys here renewed that have no way up, now that there
// may be one: at most once a period each.
func (b *edge) renewStranded() {
	for _, s := range b.order {
		for _, in := range s.inboxes {
			if in.far == nil || in.ended || in.far.renewed >= b.period {
				continue
			}
			if r := b.network.routeOf(in.key); r != nil && r.up == "" {
				b.renewals = append(b.renewals, in)
			}
		}
	}
}

// renewAll renews those, at a step's end.
func (b *edge) renewAll() {
	for len(b.renewals) > 0 {
		in := b.renewals[0]
		b.renewals = b.renewals[1:]
		b.renewIfStranded(in)
	}
	b.renewals = nil
}
