package overlay

import "testing"

// TestBufferKeepsRoom has a client acknowledge each 64 notifications, all or
// all but the newest: its queue, once it is that long, allocates no more.
func TestBufferKeepsRoom(t *testing.T) {
	for _, late := range []uint64{0, 10} {
		b := buffer{usage: &usage{}}
		r := &Reading{JSON: []byte(`{}`)}
		round := func() {
			for range 64 {
				b.push(b.last+1, r, b.share(nil, 1, 1, 0), 0)
				b.flight.count++
				b.flight.bytes += itemOverhead + len(r.JSON)
				b.next = len(b.items)
			}
			b.drop(b.last - late)
		}
		round()
		round()
		if n := testing.AllocsPerRun(100, round); n != 0 {
			t.Errorf("%d late: %v allocations a round", late, n)
		}
		b.drop(b.last)
		if b.count != 0 || *b.usage != (usage{}) || !b.empty() {
			t.Errorf("%d late: %d notifications are left, %+v", late, b.count, *b.usage)
		}
	}
}

// TestBufferGivesRoomBack sees that a long queue does not keep its room.
func TestBufferGivesRoomBack(t *testing.T) {
	b := buffer{usage: &usage{}}
	r := &Reading{JSON: []byte(`{}`)}
	for range 10_000 {
		b.push(b.last+1, r, b.share(nil, 1, 1, 0), 0)
	}
	b.drop(b.last - 10)
	if cap(b.items) > keepItems {
		t.Errorf("10 items have room for %d", cap(b.items))
	}
	b.drop(b.last)
	if cap(b.items) > keepItems {
		t.Errorf("no items have room for %d", cap(b.items))
	}
}
