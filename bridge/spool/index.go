package spool

import (
	"callboard/bridge/few"
	"callboard/bridge/overlay"
)

// index is what the store's state is, without the bytes that the database
// has, and what of it the database does not have yet.
type index struct {
	stamp      overlay.Stamp
	stampDirty bool
	sessions   map[string]*sessionState
	entries    map[overlay.Handle]*entryState
	tasks      map[uint64]*taskState
	lastID     uint64 // of readings

	plans        uint64                   // that have been made
	dirty        map[place]overlay.Record // what the database lacks; nil: it has what is gone
	dirtyEntries map[overlay.Handle]bool
	fresh        []*heldState // readings that the database does not have
	hits         []byte       // theirs, in one piece
	deletedIDs   []uint64     // readings that it has
}

// place is where the database has a record.
type place struct{ bucket, key string }

// put has a record be in its place, or (nil) nothing.
func (x *index) put(bucket, key []byte, r overlay.Record) {
	x.dirty[place{string(bucket), string(key)}] = r
}

// sessionState is what the store has of a session beside its record.
type sessionState struct {
	subs few.Map[string, struct{}]
	told few.Map[string, struct{}] // by what toldOf and toldUpTo name
}

// toldOf and toldUpTo name what is kept of what a client was told: that a robot
// is away, and up to where it was told of a source broker's robots.
func toldOf(robot string) string              { return "r" + robot }
func toldUpTo(source overlay.BrokerID) string { return "s" + string(source) }

// entryState is a key of the local registry, with what is retained of it by number.
type entryState struct {
	record  overlay.EntryRecord
	members map[string]bool // its own set
	trues   map[stateKey]bool
	items   []itemState
	head    int
	since   uint64 // the newest reading when the entry came: those up to it are not its, though their hits may name its handle
	uneven  uint64 // up to here numbers may be gaps or passed over; after it all are notifications
}

func newIndex() *index {
	return &index{
		sessions: map[string]*sessionState{}, entries: map[overlay.Handle]*entryState{}, tasks: map[uint64]*taskState{},
		dirty: map[place]overlay.Record{}, dirtyEntries: map[overlay.Handle]bool{},
	}
}

// apply takes a record in, with what AppendRecord has made of it.
func (x *index) apply(r overlay.Record, encoded []byte) {
	switch r := r.(type) {
	case *overlay.StampRecord:
		x.stamp, x.stampDirty = r.Stamp, true
	case *overlay.ClaimRecord:
		var stands overlay.Record
		if r.Since != 0 {
			stands = r
		}
		x.put(bucketClaims, []byte(r.Robot), stands)
	case *overlay.TaskRecord, *overlay.TaskHeldRecord, *overlay.TaskAnsweredRecord, *overlay.TaskEndedRecord:
		x.task(r)
	case *overlay.SessionRecord:
		if x.sessions[r.Client] == nil {
			x.sessions[r.Client] = &sessionState{}
		}
		x.put(bucketSessions, []byte(r.Client), r)
	case *overlay.SessionEnded:
		if s := x.sessions[r.Client]; s != nil {
			for id := range s.subs.Keys() {
				x.put(bucketSubs, subKey(r.Client, id), nil)
			}
			for name := range s.told.Keys() {
				x.put(bucketTold, subKey(r.Client, name), nil)
			}
			delete(x.sessions, r.Client)
			x.put(bucketSessions, []byte(r.Client), nil)
		}
	case *overlay.SubscriptionRecord:
		if s := x.sessions[r.Client]; s != nil {
			s.subs.Put(r.Subscription.ID, struct{}{})
			x.put(bucketSubs, subKey(r.Client, r.Subscription.ID), r)
		}
	case *overlay.SubscriptionEnded:
		if s := x.sessions[r.Client]; s != nil && s.subs.Has(r.ID) {
			s.subs.Delete(r.ID)
			x.put(bucketSubs, subKey(r.Client, r.ID), nil)
		}
	case *overlay.ToldRecord:
		if s := x.sessions[r.Client]; s != nil {
			x.toldRecord(s, r)
		}
	case *overlay.EntryRecord:
		e := x.entries[r.Handle]
		if e == nil {
			e = &entryState{since: x.lastID}
			x.entries[r.Handle] = e
		}
		num, next := max(e.record.Num, r.Num), max(e.record.Next, r.Next)
		if next > max(e.record.Next, num+1) { // numbers that nothing was kept of
			e.uneven = next - 1
		}
		e.record = *r
		e.record.Num, e.record.Next = num, next
		if !r.Own {
			x.dropMembers(r.Handle, e)
		}
		x.dirtyEntries[r.Handle] = true
	case *overlay.EntryEnded:
		if e := x.entries[r.Handle]; e != nil {
			for i := e.head; i < len(e.items); i++ {
				x.drop(&e.items[i])
			}
			x.dropMembers(r.Handle, e)
			x.endStates(e, "")
			delete(x.entries, r.Handle)
			x.dirtyEntries[r.Handle] = true
		}
	case *overlay.EntrySubscription:
		if e := x.entries[r.Handle]; e != nil {
			if e.members == nil {
				e.members = map[string]bool{}
			}
			e.members[r.Subscription.ID] = true
			x.put(bucketMembers, memberKey(r.Handle, r.Subscription.ID), r)
		}
	case *overlay.EntrySubscriptionEnded:
		if e := x.entries[r.Handle]; e != nil && e.members[r.ID] {
			delete(e.members, r.ID)
			x.put(bucketMembers, memberKey(r.Handle, r.ID), nil)
		}
	case *overlay.GivenRecord:
		x.given(r, encoded)
		x.states(r)
	case *overlay.StateRecord:
		if e := x.entries[r.Handle]; e != nil {
			x.isTrue(e, stateKey{r.Handle, r.ID, r.Reading.Robot}, r)
		}
	case *overlay.StatesEnded:
		if e := x.entries[r.Handle]; e != nil {
			x.endStates(e, r.ID)
		}
	case *overlay.AckedRecord:
		x.acked(r.Handle, r.Num)
	case *overlay.GapRecord:
		x.gap(r)
	case *overlay.PassedRecord:
		x.passed(r.Handle, r.From, r.To)
	}
}

// toldRecord keeps of each robot that it is away, and of each source broker the
// newest version.
func (x *index) toldRecord(s *sessionState, r *overlay.ToldRecord) {
	if r.Version > 0 {
		name := toldUpTo(r.Source)
		s.told.Put(name, struct{}{})
		x.put(bucketTold, subKey(r.Client, name), &overlay.ToldRecord{Client: r.Client, Source: r.Source, Version: r.Version})
	}
	switch name := toldOf(r.Robot); {
	case r.Robot == "":
	case r.Away:
		s.told.Put(name, struct{}{})
		x.put(bucketTold, subKey(r.Client, name), &overlay.ToldRecord{Client: r.Client, Source: r.Source, Robot: r.Robot, Away: true})
	case s.told.Has(name):
		s.told.Delete(name)
		x.put(bucketTold, subKey(r.Client, name), nil)
	}
}

func (x *index) dropMembers(h overlay.Handle, e *entryState) {
	for id := range e.members {
		x.put(bucketMembers, memberKey(h, id), nil)
	}
	e.members = nil
}

func (x *index) given(r *overlay.GivenRecord, encoded []byte) {
	reading := &heldState{id: x.lastID + 1}
	for i := range r.Hits {
		x.hit(r.Hits[i].Handle, r.Hits[i].Seq, reading)
	}
	if reading.refs > 0 {
		x.lastID = reading.id
		from := len(x.hits)
		x.hits = append(x.hits, afterReading(encoded)...)
		reading.reading, reading.hits = r.Reading, x.hits[from:len(x.hits):len(x.hits)]
		x.fresh = append(x.fresh, reading)
	}
}

// hit notes that a key was given a reading.
func (x *index) hit(h overlay.Handle, seq uint64, reading *heldState) {
	e := x.entries[h]
	if e == nil || seq <= e.record.Num || len(e.items) > e.head && e.items[len(e.items)-1].to() >= seq {
		return
	}
	reading.refs++
	e.record.Next = max(e.record.Next, seq+1)
	e.append(itemState{seq, reading})
}

func (x *index) acked(h overlay.Handle, num uint64) {
	e := x.entries[h]
	if e == nil || num <= e.record.Num {
		return
	}
	e.record.Num, e.record.Next = num, max(e.record.Next, num+1)
	x.dirtyEntries[h] = true
	for e.head < len(e.items) && e.items[e.head].to() <= num {
		x.drop(&e.items[e.head])
		e.items[e.head] = itemState{}
		e.head++
	}
	if e.head == len(e.items) {
		if cap(e.items) > 64 {
			e.items = nil
		}
		e.items, e.head = e.items[:0], 0
	}
}

func (x *index) passed(h overlay.Handle, from, to uint64) {
	e := x.entries[h]
	if e == nil {
		return
	}
	i := e.find(from)
	j := i
	for j < len(e.items) && e.items[j].to() <= to {
		x.drop(&e.items[j])
		j++
	}
	e.remove(i, j)
	e.record.Next = max(e.record.Next, to+1)
	e.uneven = max(e.uneven, to)
	x.dirtyEntries[h] = true
}

// gap puts a gap in the place of what it covers.
func (x *index) gap(r *overlay.GapRecord) {
	e := x.entries[r.Handle]
	if e == nil || r.To < r.From || r.To <= e.record.Num {
		return
	}
	i := e.find(r.From)
	j := i
	for j < len(e.items) && e.items[j].from <= r.To {
		x.drop(&e.items[j])
		j++
	}
	e.record.Next = max(e.record.Next, r.To+1)
	e.uneven = max(e.uneven, r.To)
	x.dirtyEntries[r.Handle] = true
	g := itemState{r.From, &heldState{last: r.To, why: r.Why}}
	if j == i { // nothing is there of it
		e.append(g)
		for k := len(e.items) - 1; k > e.head && e.items[k-1].from > g.from; k-- {
			e.items[k-1], e.items[k] = e.items[k], e.items[k-1]
		}
		return
	}
	e.items[j-1] = g
	e.remove(i, j-1)
}
