package overlay

import (
	"container/heap"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// TestNextServer: whatever becomes of a queue's servers, the next task goes to the one of
// those with a hand free that has the fewest in hand, then is idle longest.
func TestNextServer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &taskQueue{}
		holders := []*taskHolder{}
		for i := range 3 {
			holders = append(holders, &taskHolder{client: fmt.Sprint("c", i), serves: map[string]*taskServer{}})
		}
		var all []*taskServer
		for step := range rapid.IntRange(1, 60).Draw(t, "steps") {
			what := rapid.IntRange(0, 9).Draw(t, "what")
			switch {
			case what < 2:
				s := &taskServer{holder: holders[rapid.IntRange(0, 2).Draw(t, "holder")], id: fmt.Sprint("s", step), queue: q, atOnce: rapid.IntRange(1, 3).Draw(t, "at once"), idle: Instant(step)}
				s.holder.serves[s.id] = s
				heap.Push(&q.servers, s)
				s.changed()
				all = append(all, s)
			case what < 3:
				h := holders[rapid.IntRange(0, 2).Draw(t, "holder")]
				h.away = !h.away
				for _, s := range h.serves {
					s.changed()
				}
			case len(all) == 0:
			case what < 4:
				at := rapid.IntRange(0, len(all)-1).Draw(t, "server")
				heap.Remove(&q.servers, all[at].place)
				delete(all[at].holder.serves, all[at].id)
				all = append(all[:at], all[at+1:]...)
			default:
				s := all[rapid.IntRange(0, len(all)-1).Draw(t, "server")]
				s.inHand = max(0, s.inHand+rapid.IntRange(-1, 1).Draw(t, "more"))
				s.idle = Instant(step)
				s.changed()
			}
			var want *taskServer
			for _, s := range all {
				if !s.holder.away && s.inHand < s.atOnce && (want == nil || s.before(want)) {
					want = s
				}
			}
			if got := q.next(); got != want {
				t.Fatalf("step %d: the next is %+v, expected %+v", step, got, want)
			}
			for i, s := range q.servers {
				if s.place != i {
					t.Fatalf("step %d: a server at %d has the place %d", step, i, s.place)
				}
			}
		}
	})
}
