package overlay

import (
	"sort"

	"callboard/subscribe/protocol"
)

// buffer holds what a client has not acknowledged of one key, in sequence.
// Numbers up to last that neither an item nor num covers were passed over on
// purpose. Items before next have been sent on the present connection: they
// are in the client's hands and stay as they are. The others wait; of them
// the oldest become a gap when the limits are reached, and latest conflates.
type buffer struct {
	items  []item // by number; those before head are free
	head   int
	next   int                        // the first that has not been sent
	num    uint64                     // acknowledged up to here
	last   uint64                     // the highest number that came in
	dead   int                        // dead items from head on
	count  int                        // notifications
	bytes  int                        // their size
	flight struct{ count, bytes int } // of those that were sent
	newest map[kept]uint64            // of what waits, for latest: number of the newest item
	out    map[device]uint64          // of what was sent and only latest names: number of the newest item
	recent [2]*content                // of the newest notifications

	usage *usage // of the broker
}

// itemOverhead is what an item costs beside its bytes, and nameOverhead each
// name in it: both count against an inbox's limit of bytes.
const (
	itemOverhead = 96
	nameOverhead = 48
)

// keepItems is how many items a queue keeps room for that holds few: what comes
// between two acknowledgements of a client that reads, twice that since queues
// grow by doubling, and what append rounds up.
const keepItems = 176

// item is a notification, a gap (no reading), or a free place (no content either):
// its numbers were passed over.
type item struct {
	from    uint64
	reading *Reading
	*content
}

func (i *item) gap() bool { return i.reading == nil && i.content != nil }

func (i *item) dead() bool { return i.content == nil }

// to is the item's last number.
func (i *item) to() uint64 {
	if i.gap() {
		return i.last
	}
	return i.from
}

// size counts against the limits; that of a gap is 0.
func (i *item) size() int {
	if i.reading == nil {
		return 0
	}
	return itemOverhead + i.reading.size() + i.content.bytes
}

// at is when the item began to wait.
func (i *item) at() Instant {
	if i.reading == nil {
		return i.since
	}
	return i.reading.held
}

func gapItem(from, to uint64, why Why, at Instant) item {
	return item{from: from, content: &content{last: to, why: why, since: at}}
}

func itemSize(r *Reading, names []protocol.Matched) int {
	return itemOverhead + r.of(names).size() + namesSize(names)
}

func namesSize(names []protocol.Matched) int {
	size := nameOverhead * len(names)
	for i := range names {
		size += len(names[i].ID) + len(names[i].Values)
	}
	return size
}

// device is a device of a robot.
type device struct {
	robot  string
	interf string
	index  int
}

func (r *Reading) device() device { return device{r.Robot, r.Interface, r.Index} }

// kept is what latest keeps one of.
type kept struct {
	id string // of the subscription
	device
}

// retain and release count who holds a reading.
func (b *buffer) retain(r *Reading, at Instant) {
	if r.refs == 0 {
		b.usage.readings += int64(r.size())
		r.held = at
	}
	r.refs++
}

func (b *buffer) release(i *item) {
	if i.reading == nil {
		return
	}
	if i.reading.refs--; i.reading.refs == 0 {
		b.usage.readings -= int64(i.reading.size())
	}
	b.count--
	b.bytes -= i.size()
	b.usage.items--
	b.usage.own -= int64(i.own)
}

// push appends a notification with the number last+1 or higher.
func (b *buffer) push(seq uint64, r *Reading, c *content, at Instant) {
	r = r.of(c.names)
	b.retain(r, at)
	i := item{from: seq, reading: r, content: c}
	b.count++
	b.bytes += i.size()
	b.usage.items++
	b.usage.own += int64(c.own)
	b.last = seq
	b.append(i)
}

func (b *buffer) append(i item) {
	if len(b.items) == cap(b.items) && b.head+b.dead > len(b.items)/4 {
		b.shift()
	}
	b.items = append(b.items, i)
}

// pushGap appends a gap, or lengthens one that waits at the end; it returns the gap.
func (b *buffer) pushGap(from, to uint64, why Why, at Instant) item {
	b.last = to
	if end := b.lastLive(); end >= b.next && b.items[end].gap() {
		b.items[end].last, b.items[end].why = to, why
		return b.items[end]
	}
	g := gapItem(from, to, why, at)
	b.append(g)
	return g
}

// lastLive returns the index of the last item that is not dead, -1 if none.
func (b *buffer) lastLive() int {
	for i := len(b.items) - 1; i >= b.head; i-- {
		if !b.items[i].dead() {
			return i
		}
	}
	return -1
}

// find returns the index of the item that covers seq.
func (b *buffer) find(seq uint64) (int, bool) {
	at := b.head + sort.Search(len(b.items)-b.head, func(i int) bool { return b.items[b.head+i].to() >= seq })
	return at, at < len(b.items) && b.items[at].from <= seq && !b.items[at].dead()
}

// kill takes the item at index i out: its numbers are passed over, or another
// item covers them.
func (b *buffer) kill(i int) {
	it := &b.items[i]
	b.release(it)
	*it = item{from: it.from}
	b.dead++
}

// drop takes away all up to num: A1.
func (b *buffer) drop(num uint64) {
	if num <= b.num {
		return
	}
	b.num = num
	b.last = max(b.last, num)
	for b.head < len(b.items) {
		it := &b.items[b.head]
		if it.dead() {
			b.dead--
			b.head++
			continue
		}
		if it.from > num {
			break
		}
		if it.to() > num { // a gap, acknowledged in part
			it.from = num + 1
			break
		}
		if b.head < b.next && !it.gap() {
			b.flight.count--
			b.flight.bytes -= it.size()
		}
		b.release(it)
		*it = item{}
		b.head++
	}
	b.next = max(b.next, b.head)
	if b.flight.count == 0 {
		clear(b.out)
	}
	b.compact()
}

// send takes note that the item at next goes out.
func (b *buffer) send(onlyLatest bool) {
	it := &b.items[b.next]
	b.flight.count++
	b.flight.bytes += it.size()
	if onlyLatest {
		if b.out == nil {
			b.out = map[device]uint64{}
		}
		b.out[it.reading.device()] = it.from
	}
}

// outstanding reports whether a reading of the device, which only latest
// names, is out unacknowledged.
func (b *buffer) outstanding(d device) bool { return b.out[d] > b.num }

// compact frees memory: it moves the items to the front and leaves the
// dead out, once they are the greater part.
func (b *buffer) compact() {
	if b.head == len(b.items) {
		if cap(b.items) > keepItems {
			b.items = nil
		}
		b.items, b.head, b.next, b.dead = b.items[:0], 0, 0, 0
		return
	}
	if free := b.head + b.dead; free >= 32 && free >= len(b.items)/2 {
		b.shift()
	}
}

// shift moves what lives to the front.
func (b *buffer) shift() {
	next := 0
	kept := b.items[:0]
	for i := b.head; i < len(b.items); i++ {
		if i == b.next {
			next = len(kept)
		}
		if !b.items[i].dead() {
			kept = append(kept, b.items[i])
		}
	}
	if b.next == len(b.items) {
		next = len(kept)
	}
	clear(b.items[len(kept):])
	if cap(kept) > max(keepItems, 4*len(kept)+64) {
		kept = append(make([]item, 0, 2*len(kept)), kept...)
	}
	b.items, b.head, b.next, b.dead = kept, 0, next, 0
}

// waits returns the index of the first live item that has not been sent.
func (b *buffer) waits(from int) (int, bool) {
	for i := max(from, b.next); i < len(b.items); i++ {
		if !b.items[i].dead() {
			return i, true
		}
	}
	return 0, false
}

// unsend makes all of it wait again: the connection is gone.
func (b *buffer) unsend() {
	b.next = b.head
	b.flight.count, b.flight.bytes = 0, 0
	b.newest, b.out = nil, nil
}

// free lets go of all it holds.
func (b *buffer) free() {
	for i := b.head; i < len(b.items); i++ {
		if !b.items[i].dead() {
			b.release(&b.items[i])
		}
	}
	b.items, b.head, b.next, b.dead, b.newest, b.out, b.recent = nil, 0, 0, 0, nil, nil, [2]*content{}
}

// empty reports whether nothing is unacknowledged.
func (b *buffer) empty() bool { return len(b.items)-b.head == b.dead }

// gapOldest turns the oldest item that waits into a gap, or lengthens the gap
// that stands there by the item after it. It returns the gap and the first
// number that is new in it; false if nothing waits that could be given up.
func (b *buffer) gapOldest(why Why) (g item, fresh uint64, ok bool) {
	i, ok := b.waits(b.next)
	if !ok {
		return item{}, 0, false
	}
	it := &b.items[i]
	if !it.gap() {
		b.release(it)
		*it = gapItem(it.from, it.from, why, it.at())
		return *it, it.from, true
	}
	j, ok := b.waits(i + 1)
	if !ok {
		return item{}, 0, false
	}
	g, fresh = *it, it.to()+1
	g.last, g.why = b.items[j].to(), why // a gap's content is its own
	b.kill(i)
	if !b.items[j].gap() {
		b.release(&b.items[j])
	}
	b.items[j] = g
	b.trim()
	return g, fresh, true
}

// mergeSent makes one of the gap at next, which has just been sent, and a gap
// that was sent before it.
func (b *buffer) mergeSent() {
	for i := b.next - 1; i >= b.head; i-- {
		if b.items[i].dead() {
			continue
		}
		if b.items[i].gap() {
			b.items[b.next].from = b.items[i].from
			b.kill(i)
		}
		return
	}
}

// trim passes by dead items where it costs nothing.
func (b *buffer) trim() {
	for b.head < len(b.items) && b.items[b.head].dead() {
		b.head++
		b.dead--
	}
	for b.next = max(b.next, b.head); b.next < len(b.items) && b.items[b.next].dead(); {
		b.next++
	}
	b.compact()
}

// oldestVictim returns the index of the oldest notification that waits.
func (b *buffer) oldestVictim() (int, bool) {
	i, ok := b.waits(b.next)
	if ok && b.items[i].gap() {
		i, ok = b.waits(i + 1)
	}
	return i, ok
}
