package spool

import (
	"encoding/binary"
	"sort"

	"callboard/bridge/overlay"
)

// itemState is a notification or a gap of a key: its first number and what it
// holds. There is one for each key and reading, so it is small.
type itemState struct {
	from uint64
	*heldState
}

// heldState is a reading as it was given, which the items of all its keys
// share; or a gap, which has an item of its own.
type heldState struct {
	id      uint64           // of the reading; 0: a gap
	refs    int              // items that refer to the reading
	reading *overlay.Reading // until the database has it
	hits    []byte           // and to whom it was given, as encoded
	stored  bool             // the database has it, or the plan

	last uint64 // number of the gap
	why  overlay.Why
}

func (i *itemState) gap() bool { return i.id == 0 }

func (i *itemState) to() uint64 {
	if i.gap() {
		return i.last
	}
	return i.from
}

func (e *entryState) append(i itemState) {
	if len(e.items) == cap(e.items) && e.head > len(e.items)/2 {
		n := copy(e.items, e.items[e.head:])
		clear(e.items[n:])
		e.items, e.head = e.items[:n], 0
	}
	e.items = append(e.items, i)
}

// find returns the index of the first item that ends at seq or later.
func (e *entryState) find(seq uint64) int {
	return e.head + sort.Search(len(e.items)-e.head, func(i int) bool { return e.items[e.head+i].to() >= seq })
}

// remove takes the items at indexes i to j out.
func (e *entryState) remove(i, j int) {
	if i == e.head { // the usual case: the oldest
		clear(e.items[i:j])
		e.head = j
		return
	}
	e.items = append(e.items[:i], e.items[j:]...)
	clear(e.items[len(e.items) : len(e.items)+j-i])
}

// drop lets go of an item: a reading that nothing refers to any more leaves the
// database.
func (x *index) drop(i *itemState) {
	if i.gap() {
		return
	}
	if i.refs--; i.refs == 0 && i.stored {
		x.deletedIDs = append(x.deletedIDs, i.id)
	}
}

// segment is a range of an entry's numbers that are all notifications (why 0),
// or a gap. Numbers that no segment covers were passed over.
type segment struct {
	from, to uint64
	why      overlay.Why
}

// segments returns what has become of the numbers after Num: where some are gaps
// or were passed over, a reading in the database alone does not tell. Nil if
// all are notifications.
func (e *entryState) segments() (all []segment) {
	if e.uneven <= e.record.Num {
		return nil
	}
	from := e.record.Num + 1
	all = []segment{}
	for i := e.head; i < len(e.items) && e.items[i].from <= e.uneven; i++ {
		it := &e.items[i]
		s := segment{max(it.from, from), it.to(), 0}
		if it.gap() {
			s.why = it.why
		}
		if n := len(all); n > 0 && s.why == 0 && all[n-1].why == 0 && all[n-1].to+1 == s.from {
			all[n-1].to = s.to
		} else {
			all = append(all, s)
		}
	}
	if rest := e.uneven + 1; rest < e.record.Next {
		all = append(all, segment{rest, e.record.Next - 1, 0})
	}
	return all
}

// appendSegments writes segments as distances.
func appendSegments(b []byte, after uint64, all []segment) []byte {
	b = binary.AppendUvarint(b, uint64(len(all)))
	for _, s := range all {
		b = binary.AppendUvarint(b, s.from-after-1)
		b = binary.AppendUvarint(b, s.to-s.from)
		b = append(b, byte(s.why))
		after = s.to
	}
	return b
}

func (d *decoder) segments(after uint64) []segment {
	all := []segment{}
	for range d.count() {
		s := segment{from: after + 1 + d.uvarint()}
		s.to, s.why = s.from+d.uvarint(), overlay.Why(d.byte())
		if s.from <= after || s.to < s.from {
			d.fail(errShort)
		}
		if d.err != nil {
			return nil
		}
		all, after = append(all, s), s.to
	}
	return all
}
