package server

import (
	"math"

	"callboard/player"
)

// queue is what waits for one client, with the flags of its data mode. It is
// Player's, rule by rule; its owner locks it.
//
// items[head:] are the queued messages, oldest first, with nil where one was
// taken out of the middle. base counts the items ever removed before items[0],
// so that base+i numbers items for good.
type queue struct {
	limit    int // messages
	maxBytes int

	front []*message // replies that overtake everything, newest last
	items []*message
	head  int
	base  uint64

	live       int // messages in items
	replies    int // replies in items
	bytes      int // of all messages in items and front
	replyBytes int // of the replies in both

	rules  rules
	newest map[signature]uint64 // number of the newest data message; kept while a rule replaces

	pull, requested, delivered bool

	dropped uint32 // readings since the last SYNCH
}

// fates count what became of the copies of a message that was pushed.
type fates struct{ queued, replaced, ignored, full int }

// push queues copies of m, each of which the queue then holds, as the rules
// say. What does not fit is counted, not looped over: a client may have opened
// the device any number of times. Replies are never dropped for length, nor
// replaced (newest knows none): somebody waits for each.
func (q *queue) push(m *message, copies int) fates {
	switch q.rules.of(m.sig) {
	case ignore:
		return fates{ignored: copies}
	case replace:
		if !m.sig.isReply() {
			out := fates{queued: 1, replaced: copies - 1}
			if q.removeNewest(m.sig) {
				out.replaced++
			}
			q.append(m)
			return out
		}
	}
	fit := copies
	if mayDrop(m.sig.typ()) {
		fit = max(0, min(copies, q.limit-q.live-len(q.front), (q.maxBytes-q.bytes)/len(m.raw)))
		q.drops(copies - fit)
	}
	for range fit {
		q.append(m)
	}
	return fates{queued: fit, full: copies - fit}
}

// drops counts readings that were dropped, as far as a SYNCH can tell.
func (q *queue) drops(n int) {
	q.dropped = uint32(min(uint64(q.dropped)+uint64(n), math.MaxUint32))
}

// pushFront queues a reply before everything else. It reports false if a rule
// ignores it.
func (q *queue) pushFront(m *message) bool {
	if q.rules.of(m.sig) == ignore {
		return false
	}
	q.front = append(q.front, m.hold())
	q.bytes += len(m.raw)
	q.replyBytes += len(m.raw)
	return true
}

// waitingReplies counts the replies that are not taken yet.
func (q *queue) waitingReplies() int { return q.replies + len(q.front) }

func (q *queue) append(m *message) {
	q.items = append(q.items, m.hold())
	q.live++
	q.bytes += len(m.raw)
	if m.sig.isReply() {
		q.replies++
		q.replyBytes += len(m.raw)
	} else if q.newest != nil {
		q.newest[m.sig] = q.base + uint64(len(q.items)-1)
	}
}

// setRule adds or changes a replace rule.
func (q *queue) setRule(key ruleKey, a action) bool {
	if !q.rules.set(key, a) {
		return false
	}
	if !q.rules.anyReplace() {
		q.newest = nil
	} else if q.newest == nil {
		q.newest = map[signature]uint64{}
		q.index()
	}
	return true
}

func (q *queue) index() {
	for i, m := range q.items[q.head:] {
		if m != nil && !m.sig.isReply() {
			q.newest[m.sig] = q.base + uint64(q.head+i)
		}
	}
}

func (q *queue) removeNewest(s signature) bool {
	number, ok := q.newest[s]
	if !ok || number < q.base+uint64(q.head) {
		return false
	}
	i := int(number - q.base)
	if q.items[i] == nil {
		return false
	}
	q.remove(i)
	q.tidy()
	return true
}

// remove takes the reading at i out of the middle.
func (q *queue) remove(i int) {
	m := q.items[i]
	q.items[i] = nil
	q.live--
	q.bytes -= len(m.raw)
	m.release()
}

// drop removes the readings of one device and returns how many.
func (q *queue) drop(device uint32) int {
	n := 0
	for i := q.head; i < len(q.items); i++ {
		if m := q.items[i]; m != nil && m.sig.device() == device && m.sig.typ() == player.Data {
			q.remove(i)
			n++
		}
	}
	q.tidy()
	return n
}

// tidy closes the gaps when most of items is gaps.
func (q *queue) tidy() {
	if q.live == 0 {
		q.base += uint64(len(q.items))
		q.items, q.head = q.items[:0], 0
		return
	}
	if len(q.items) <= 2*q.live+64 {
		return
	}
	q.base += uint64(len(q.items)) // old numbers become invalid
	kept := q.items[:0]
	for _, m := range q.items[q.head:] {
		if m != nil {
			kept = append(kept, m)
		}
	}
	clear(q.items[len(kept):])
	q.items, q.head = kept, 0
	if q.newest != nil {
		clear(q.newest)
		q.index()
	}
}

// request begins a PULL round.
func (q *queue) request() { q.requested, q.delivered = true, false }

// due reports whether take would return something.
func (q *queue) due() bool {
	if len(q.front) > 0 {
		return true
	}
	if q.live > 0 {
		return !q.pull || q.requested || q.replies > 0
	}
	return q.synchDue()
}

func (q *queue) synchDue() bool {
	return q.pull && q.requested && q.delivered && q.live == 0 && len(q.front) == 0
}

// take moves what is due to dst, up to max bytes but at least one message. A
// round that is complete ends with a SYNCH, if it may. The caller releases the
// messages.
func (q *queue) take(dst []*message, max int, mayEnd bool) []*message {
	size := 0
	for q.due() && (mayEnd || !q.synchDue()) {
		m := q.peek()
		if len(dst) > 0 && size+len(m.raw) > max {
			if m.sig.typ() == player.Synch {
				m.release()
			}
			break
		}
		size += len(m.raw)
		dst = append(dst, m)
		q.pop(m)
	}
	return dst
}

// peek returns the next message that is due; a SYNCH is made anew each time.
func (q *queue) peek() *message {
	switch {
	case len(q.front) > 0:
		return q.front[len(q.front)-1]
	case q.live > 0:
		for q.items[q.head] == nil {
			q.head++
		}
		return q.items[q.head]
	}
	return synch(q.dropped)
}

func (q *queue) pop(m *message) {
	switch {
	case len(q.front) > 0:
		q.front[len(q.front)-1] = nil
		q.front = q.front[:len(q.front)-1]
		q.replyBytes -= len(m.raw)
	case q.live > 0:
		q.items[q.head] = nil
		q.head++
		q.live--
		if m.sig.isReply() {
			q.replies--
			q.replyBytes -= len(m.raw)
		} else if q.requested {
			q.delivered = true
		}
		q.shift()
	default:
		q.requested, q.delivered, q.dropped = false, false, 0
		return
	}
	q.bytes -= len(m.raw)
}

// shift moves the messages to the start of items once half of it is used up.
func (q *queue) shift() {
	if q.head < len(q.items) && (q.head < 64 || 2*q.head < len(q.items)) {
		return
	}
	n := copy(q.items, q.items[q.head:])
	clear(q.items[n:])
	q.items = q.items[:n]
	q.base += uint64(q.head)
	q.head = 0
}

// clear releases everything.
func (q *queue) clear() {
	for _, m := range append(q.front, q.items[q.head:]...) {
		if m != nil {
			m.release()
		}
	}
	*q = queue{}
}

// synch is the end of a round; lost readings make it an OVERFLOW. The address
// is zero but for the interface, as in the real server, whose timestamp is
// uninitialised.
func synch(lost uint32) *message {
	h := player.Header{
		Addr:    player.Addr{Interf: player.InterfacePlayer},
		Type:    player.Synch,
		Subtype: player.SynchOK,
	}
	if lost > 0 {
		h.Subtype = player.SynchOverflow
	}
	m := newMessage(h)
	if lost > 0 {
		m.raw = append(m.raw, byte(lost>>24), byte(lost>>16), byte(lost>>8), byte(lost))
	}
	m.seal()
	return m
}
