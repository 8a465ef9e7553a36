//go:build amd64 || arm64

package server

import (
	"math"
	"testing"

	"callboard/player"
)

// A client may open a device any number of times: copies that do not fit cost
// nothing.
func TestQueueCountsCopiesThatDoNotFit(t *testing.T) {
	const opens = 1 << 40
	q := &queue{limit: 1024, maxBytes: 1 << 30}
	m := newMessage(player.Header{Addr: player.Addr{Interf: 6}, Type: player.Data})
	if got, want := q.push(m, opens), (fates{queued: 1024, full: opens - 1024}); got != want {
		t.Errorf("without a rule %+v, expected %+v", got, want)
	}
	if q.dropped != math.MaxUint32 {
		t.Errorf("%d dropped are told, expected all that a SYNCH can tell, %d", q.dropped, uint32(math.MaxUint32))
	}
	q.clear()
	q.limit, q.maxBytes = 1024, 1<<30
	for i, want := range []fates{{queued: 1, replaced: opens - 1}, {queued: 1, replaced: opens}} {
		q.setRule(ruleKey{-1, -1, -1, -1}, replace)
		if got := q.push(m, opens); got != want || q.live != 1 {
			t.Errorf("replacing, %d: %+v and %d in the queue, expected %+v and 1", i, got, q.live, want)
		}
	}
	q.setRule(ruleKey{-1, -1, -1, -1}, ignore)
	if got, want := q.push(m, opens), (fates{ignored: opens}); got != want {
		t.Errorf("ignoring %+v, expected %+v", got, want)
	}
}
