package spool

import (
	"encoding/binary"
	"sort"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// index is what the store's state is, without the bytes that the database
// has, and what of it the database does not have yet.
type index struct {
	stamp      overlay.Stamp
	stampDirty bool
	sessions   map[string]*sessionState
	entries    map[overlay.Handle]*entryState
	lastID     uint64 // of readings

	dirtySessions map[string]bool
	dirtySubs     map[subKey]bool
	dirtyTold     map[subKey]bool // by client, and the name of what it was told of
	dirtyEntries  map[overlay.Handle]bool
	dirtyMembers  map[memberKey]bool
	deletes       [][]byte // keys of items that the database has
	deletedIDs    []uint64 // readings that it has
}

type subKey struct{ client, id string }

type memberKey struct {
	handle overlay.Handle
	id     string
}

type sessionState struct {
	record *overlay.SessionRecord
	subs   map[string]*overlay.SubscriptionRecord
	told   map[string]*overlay.ToldRecord // by what toldOf and toldUpTo name
}

// toldOf and toldUpTo name what is kept of what a client was told: that a robot
// is away, and up to where it was told of a source broker's robots.
func toldOf(robot string) string              { return "r" + robot }
func toldUpTo(source overlay.BrokerID) string { return "s" + string(source) }

// entryState is a key of the local registry, with what is retained of it by number.
type entryState struct {
	record   overlay.EntryRecord
	members  map[string]*overlay.EntrySubscription // its own set
	items    []itemState
	head     int
	fresh    int // items at the end that the database does not have
	gapDirty bool
}

// itemState is a notification or a gap. The bytes are kept until the database
// has them.
type itemState struct {
	from, to uint64
	reading  *readingState // nil: a gap
	why      overlay.Why
	names    []protocol.Matched
	revision uint64
	at       overlay.Instant
	stored   bool
}

// readingState is a reading that items refer to.
type readingState struct {
	id     uint64
	refs   int
	bytes  *overlay.Reading // until the database has it
	stored bool
}

func newIndex() *index {
	return &index{
		sessions: map[string]*sessionState{}, entries: map[overlay.Handle]*entryState{},
		dirtySessions: map[string]bool{}, dirtySubs: map[subKey]bool{}, dirtyTold: map[subKey]bool{}, dirtyEntries: map[overlay.Handle]bool{},
		dirtyMembers: map[memberKey]bool{},
	}
}

// apply takes a record in.
func (x *index) apply(r overlay.Record) {
	switch r := r.(type) {
	case *overlay.StampRecord:
		x.stamp, x.stampDirty = r.Stamp, true
	case *overlay.SessionRecord:
		s := x.sessions[r.Client]
		if s == nil {
			s = &sessionState{subs: map[string]*overlay.SubscriptionRecord{}}
			x.sessions[r.Client] = s
		}
		s.record = r
		x.dirtySessions[r.Client] = true
	case *overlay.SessionEnded:
		if s := x.sessions[r.Client]; s != nil {
			for id := range s.subs {
				x.dirtySubs[subKey{r.Client, id}] = true
			}
			for name := range s.told {
				x.dirtyTold[subKey{r.Client, name}] = true
			}
			delete(x.sessions, r.Client)
			x.dirtySessions[r.Client] = true
		}
	case *overlay.SubscriptionRecord:
		if s := x.sessions[r.Client]; s != nil {
			s.subs[r.Subscription.ID] = r
			x.dirtySubs[subKey{r.Client, r.Subscription.ID}] = true
		}
	case *overlay.SubscriptionEnded:
		if s := x.sessions[r.Client]; s != nil && s.subs[r.ID] != nil {
			delete(s.subs, r.ID)
			x.dirtySubs[subKey{r.Client, r.ID}] = true
		}
	case *overlay.ToldRecord:
		if s := x.sessions[r.Client]; s != nil {
			x.toldRecord(s, r)
		}
	case *overlay.EntryRecord:
		e := x.entries[r.Handle]
		if e == nil {
			e = &entryState{}
			x.entries[r.Handle] = e
		}
		num, next := max(e.record.Num, r.Num), max(e.record.Next, r.Next)
		e.record = *r
		e.record.Num, e.record.Next = num, next
		if !r.Own {
			x.dropMembers(r.Handle, e)
		}
		x.dirtyEntries[r.Handle] = true
	case *overlay.EntryEnded:
		if e := x.entries[r.Handle]; e != nil {
			for i := e.head; i < len(e.items); i++ {
				x.drop(r.Handle, &e.items[i])
			}
			x.dropMembers(r.Handle, e)
			delete(x.entries, r.Handle)
			x.dirtyEntries[r.Handle] = true
		}
	case *overlay.EntrySubscription:
		if e := x.entries[r.Handle]; e != nil {
			if e.members == nil {
				e.members = map[string]*overlay.EntrySubscription{}
			}
			e.members[r.Subscription.ID] = r
			x.dirtyMembers[memberKey{r.Handle, r.Subscription.ID}] = true
		}
	case *overlay.EntrySubscriptionEnded:
		if e := x.entries[r.Handle]; e != nil && e.members[r.ID] != nil {
			delete(e.members, r.ID)
			x.dirtyMembers[memberKey{r.Handle, r.ID}] = true
		}
	case *overlay.GivenRecord:
		x.given(r)
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
	if s.told == nil {
		s.told = map[string]*overlay.ToldRecord{}
	}
	if r.Version > 0 {
		name := toldUpTo(r.Source)
		s.told[name] = &overlay.ToldRecord{Client: r.Client, Source: r.Source, Version: r.Version}
		x.dirtyTold[subKey{r.Client, name}] = true
	}
	if name := toldOf(r.Robot); r.Robot != "" && (r.Away || s.told[name] != nil) {
		delete(s.told, name)
		if r.Away {
			s.told[name] = &overlay.ToldRecord{Client: r.Client, Source: r.Source, Robot: r.Robot, Away: true}
		}
		x.dirtyTold[subKey{r.Client, name}] = true
	}
}

func (x *index) dropMembers(h overlay.Handle, e *entryState) {
	for id := range e.members {
		x.dirtyMembers[memberKey{h, id}] = true
	}
	e.members = nil
}

func (x *index) given(r *overlay.GivenRecord) {
	reading := &readingState{bytes: r.Reading}
	for i := range r.Hits {
		h := &r.Hits[i]
		e := x.entries[h.Handle]
		if e == nil || h.Seq <= e.record.Num || len(e.items) > e.head && e.items[len(e.items)-1].to >= h.Seq {
			continue
		}
		if reading.id == 0 {
			x.lastID++
			reading.id = x.lastID
		}
		reading.refs++
		e.record.Next = max(e.record.Next, h.Seq+1)
		e.append(itemState{from: h.Seq, to: h.Seq, reading: reading, names: h.Names, revision: h.Revision, at: r.At})
		x.dirtyEntries[h.Handle] = true
	}
}

func (e *entryState) append(i itemState) {
	if len(e.items) == cap(e.items) && e.head > len(e.items)/2 {
		n := copy(e.items, e.items[e.head:])
		clear(e.items[n:])
		e.items, e.head = e.items[:n], 0
	}
	e.items = append(e.items, i)
	e.fresh++
}

// find gives the index of the first item that ends at seq or later.
func (e *entryState) find(seq uint64) int {
	return e.head + sort.Search(len(e.items)-e.head, func(i int) bool { return e.items[e.head+i].to >= seq })
}

func (x *index) acked(h overlay.Handle, num uint64) {
	e := x.entries[h]
	if e == nil || num <= e.record.Num {
		return
	}
	e.record.Num, e.record.Next = num, max(e.record.Next, num+1)
	x.dirtyEntries[h] = true
	for e.head < len(e.items) && e.items[e.head].to <= num {
		x.drop(h, &e.items[e.head])
		e.items[e.head] = itemState{}
		e.head++
	}
	e.fresh = min(e.fresh, len(e.items)-e.head)
	if e.head == len(e.items) {
		if cap(e.items) > 64 {
			e.items = nil
		}
		e.items, e.head = e.items[:0], 0
	}
}

// drop lets go of an item: what the database has of it is to be deleted.
func (x *index) drop(h overlay.Handle, i *itemState) {
	if i.stored {
		x.deletes = append(x.deletes, itemKey(h, i.from))
	}
	r := i.reading
	if r == nil {
		return
	}
	if r.refs--; r.refs == 0 && r.stored {
		x.deletedIDs = append(x.deletedIDs, r.id)
	}
}

// remove takes the items at indexes i to j out.
func (e *entryState) remove(i, j int) {
	freshFrom := len(e.items) - e.fresh
	if j > freshFrom {
		e.fresh -= j - max(i, freshFrom)
	}
	if i == e.head { // the usual case: the oldest
		clear(e.items[i:j])
		e.head = j
		return
	}
	e.items = append(e.items[:i], e.items[j:]...)
	clear(e.items[len(e.items) : len(e.items)+j-i])
}

func (x *index) passed(h overlay.Handle, from, to uint64) {
	e := x.entries[h]
	if e == nil {
		return
	}
	i := e.find(from)
	j := i
	for j < len(e.items) && e.items[j].to <= to {
		x.drop(h, &e.items[j])
		j++
	}
	e.remove(i, j)
	e.record.Next = max(e.record.Next, to+1)
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
		x.drop(r.Handle, &e.items[j])
		j++
	}
	e.record.Next = max(e.record.Next, r.To+1)
	x.dirtyEntries[r.Handle] = true
	g := itemState{from: r.From, to: r.To, why: r.Why}
	if i == len(e.items) {
		e.append(g)
		return
	}
	if j == i { // nothing is there of it
		if fresh := len(e.items) - e.fresh; i >= fresh {
			e.fresh++
		} else {
			e.gapDirty = true
		}
		e.items = append(e.items, itemState{})
		copy(e.items[i+1:], e.items[i:])
		e.items[i] = g
		return
	}
	e.items[j-1] = g
	if j-1 < len(e.items)-e.fresh {
		e.gapDirty = true
	}
	e.remove(i, j-1)
}

// itemKey is an item's key in the database: by handle, then by number.
func itemKey(h overlay.Handle, from uint64) []byte {
	k := make([]byte, 0, 16)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(k, uint64(h)), from)
}
