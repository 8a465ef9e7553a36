package overlay

import (
	"cmp"
	"container/heap"
	"slices"
)

// taskQueue is a queue at its home. What has come back from a server stands before
// all that nobody had yet; either is in the order of their numbers.
type taskQueue struct {
	name     string
	robot    string // of commands instead: those of one client for one robot
	declared bool
	since    Instant
	over     bool // it has ended: what servers still have is taken
	limits   QueueConfig

	fresh   []*task // some of which may not wait any more
	first   int     // of fresh
	back    []*task // that have come back; the next one last
	waiting int
	bytes   int // of the bodies that wait

	servers         taskServers
	inHand          int // tasks that servers have
	accepted, ended uint64
	running         *task             // a command that is being carried out
	rivals          map[BrokerID]bool // that declare it, too
}

// stored reports whether its tasks outlive the broker.
func (q *taskQueue) stored() bool { return q.declared || q.robot != "" }

// recorded is its name in records.
func (q *taskQueue) recorded() string {
	if q.robot != "" {
		return ""
	}
	return q.name
}

// push puts a task at the end.
func (q *taskQueue) push(t *task) {
	t.waits = true
	q.fresh = append(q.fresh, t)
	q.waiting++
	q.bytes += len(t.body)
}

// pushBack puts a task back that somebody had.
func (q *taskQueue) pushBack(t *task) {
	t.waits = true
	at, _ := slices.BinarySearchFunc(q.back, t, func(a, b *task) int { return cmp.Compare(b.number, a.number) })
	q.back = slices.Insert(q.back, at, t)
	q.waiting++
	q.bytes += len(t.body)
}

// drop takes a task out that waits.
func (q *taskQueue) drop(t *task) {
	t.waits = false
	q.waiting--
	q.bytes -= len(t.body)
	if at := slices.Index(q.back, t); at >= 0 {
		q.back = slices.Delete(q.back, at, at+1)
	}
	q.trim()
}

// trim forgets what does not wait any more.
func (q *taskQueue) trim() {
	for q.first < len(q.fresh) && !q.fresh[q.first].waits {
		q.fresh[q.first] = nil
		q.first++
	}
	if q.first == len(q.fresh) {
		q.fresh, q.first = q.fresh[:0], 0
		if cap(q.fresh) > 1024 {
			q.fresh = nil
		}
	} else if q.first > 1024 && q.first > len(q.fresh)/2 {
		q.fresh = append(q.fresh[:0], q.fresh[q.first:]...)
		q.first = 0
	}
}

// take takes the next task out; there is one.
func (q *taskQueue) take() *task {
	var t *task
	if n := len(q.back); n > 0 {
		t = q.back[n-1]
		q.back = q.back[:n-1]
	} else {
		q.trim()
		t = q.fresh[q.first]
	}
	t.waits = false
	q.waiting--
	q.bytes -= len(t.body)
	q.trim()
	return t
}

// oldest returns the next task; nil if none waits.
func (q *taskQueue) oldest() *task {
	switch {
	case q.waiting == 0:
		return nil
	case len(q.back) > 0:
		return q.back[len(q.back)-1]
	}
	return q.fresh[q.first]
}

// ahead is how many tasks wait before one.
func (q *taskQueue) ahead(t *task) (n int) {
	if !t.waits {
		return 0
	}
	for _, list := range [][]*task{q.fresh[q.first:], q.back} {
		for _, other := range list {
			if other.waits && other.number < t.number {
				n++
			}
		}
	}
	return n
}

// tombs remember which keys were acknowledged, for a lease: a request of theirs that
// is still under way is not done again.
type tombs struct {
	until map[taskKey]Instant
	order []taskKey
}

func (t *tombs) has(k taskKey, now Instant) bool {
	until, found := t.until[k]
	return found && until > now
}

func (t *tombs) put(k taskKey, until Instant) {
	if len(t.order) >= maxTombs {
		delete(t.until, t.order[0])
		t.order = t.order[1:]
	}
	t.until[k] = until
	t.order = append(t.order, k)
}

func (t *tombs) pass(now Instant) {
	for len(t.order) > 0 && t.until[t.order[0]] <= now {
		delete(t.until, t.order[0])
		t.order = t.order[1:]
	}
	if len(t.order) == 0 {
		t.order = nil
	}
}

// taskTimers say when something of a task is due, the next one first.
type taskTimers []taskTimer

type taskTimer struct {
	at   Instant
	task *task
}

func (h *taskTimers) push(at Instant, t *task) {
	*h = append(*h, taskTimer{at, t})
	heap.Fix(h, len(*h)-1)
}

func (h *taskTimers) pop() (at Instant, t *task) {
	n := len(*h) - 1
	h.Swap(0, n)
	e := (*h)[n]
	(*h)[n] = taskTimer{}
	if *h = (*h)[:n]; n > 0 {
		heap.Fix(h, 0)
	}
	return e.at, e.task
}

// tidy forgets tasks that have been taken out, when they are most of all.
func (h *taskTimers) tidy(living int) {
	if len(*h) < 1024 || len(*h) < 4*living {
		return
	}
	*h = slices.DeleteFunc(*h, func(e taskTimer) bool { return e.task.gone })
	heap.Init(h)
}

// Len, Less and Swap implement sort.Interface, and so heap.Interface with two more.
func (h taskTimers) Len() int { return len(h) }

func (h taskTimers) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].task.number < h[j].task.number
}

func (h taskTimers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are not used: push and pop make no memory of their own.
func (h *taskTimers) Push(any) {}

func (h *taskTimers) Pop() any { return nil }
