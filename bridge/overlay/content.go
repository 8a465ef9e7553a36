package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// content is what an item has beside its number and its reading. Notifications
// of one key that name the same subscriptions share one: so a reading that
// waits for a client costs the item alone, tens of bytes.
type content struct {
	names    []protocol.Matched // of a notification
	revision uint64             // of the set that it was tested by
	ends     uint64             // session.ends when names were last looked through
	bytes    int                // of the names; they count with it as long as the item is there
	own      int                // bytes that no other item shares; they count likewise
	left     *content           // what was left of the names when they were looked through last, if some had ended

	last  uint64 // number of a gap
	since Instant
	why   Why

	one [1]protocol.Matched // names, if it is one
}

// contentMemory is what a content takes beside names.
const contentMemory = 144

// newContent copies names: those of all clients that a reading has matched lie in
// one piece of memory.
func newContent(names []protocol.Matched, revision, ends uint64, bytes int) *content {
	c := &content{revision: revision, ends: ends, bytes: bytes}
	c.names = append(c.one[:0], names...)
	if slices.ContainsFunc(names, func(n protocol.Matched) bool { return n.Values != nil }) {
		c.own = contentMemory + bytes
	}
	return c
}

// is reports whether it is what a notification with these names would get.
func (c *content) is(names []protocol.Matched, revision, ends uint64) bool {
	if c == nil || c.revision != revision || c.ends != ends || len(c.names) != len(names) {
		return false
	}
	for i := range names {
		n, o := &names[i], &c.names[i]
		if n.Values != nil || o.Values != nil || n.ID != o.ID || (n.State == nil) != (o.State == nil) || n.State != nil && *n.State != *o.State {
			return false
		}
	}
	return true
}

// with returns a content with fewer names, for items that had this one: they
// count as before.
func (c *content) with(names []protocol.Matched, ends uint64) *content {
	fewer := newContent(names, c.revision, ends, c.bytes)
	fewer.own = c.own
	return fewer
}

// share returns the content of a notification: that of a recent one, if it is
// the same.
func (b *buffer) share(names []protocol.Matched, revision, ends uint64, bytes int) *content {
	for _, c := range b.recent {
		if c.is(names, revision, ends) && c.bytes == bytes {
			return c
		}
	}
	c := newContent(names, revision, ends, bytes)
	b.recent[1] = b.recent[0]
	b.recent[0] = c
	return c
}
