package node

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/link"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// neighbour is a link on which another broker listens.
type neighbour struct{ frames chan *overlay.Frame }

func (l *neighbour) Send(all ...*overlay.Frame) {
	for _, f := range all {
		l.frames <- f
	}
}
func (l *neighbour) Status() []link.Status { return nil }

// counted waits until the broker has told for so many clients how many robots
// match their conditions, and returns what it told of the last.
func (l *neighbour) counted(clients int) (counts map[string]int) {
	for f := range l.frames {
		for _, m := range f.Messages {
			if e, ok := m.(*overlay.EventMessage); ok && len(e.Counts) > 0 {
				counts = map[string]int{}
				for _, c := range e.Counts {
					counts[c.ID] = c.Robots
				}
				clients--
			}
		}
		if clients <= 0 {
			return counts
		}
	}
	return nil
}

// subscribeFrom has a client of the neighbour subscribe to conditions.
func (b *bench) subscribeFrom(id overlay.BrokerID, revision uint64, conditions ...string) {
	b.node.Neighbours().Frame(id, 1, []overlay.Message{b.subscription(id, "c", revision, conditions)})
}

// subscription is what a neighbour sends for a client that has subscribed to
// conditions.
func (b *bench) subscription(from overlay.BrokerID, client string, revision uint64, conditions []string) *overlay.SubscribeMessage {
	set := &overlay.SetChange{Whole: true}
	for i, text := range conditions {
		set.Put = append(set.Put, overlay.Member{Subscription: &overlay.Subscription{Subscription: protocol.Subscription{ID: fmt.Sprint("s", i), Condition: text}}})
	}
	return &overlay.SubscribeMessage{
		Key:   overlay.Key{Client: client, Source: "b1", Session: overlay.Session{Attachment: 1, Edge: from}, Stamp: b.node.broker.Stamp()},
		Epoch: overlay.Epoch{Attachment: 1, Edge: from, Revision: revision}, Path: []overlay.BrokerID{"b1"}, Set: set,
	}
}

// beginLinked starts a node that has b2 as its neighbour.
func beginLinked(t testing.TB) (*bench, *neighbour) {
	b, links := begin(t, nil), &neighbour{make(chan *overlay.Frame, 64)}
	b.node.stepping.Lock()
	b.node.links = links
	b.node.stepping.Unlock()
	b.node.Neighbours().Up("b2", 1)
	b.rest()
	return b, links
}

// TestCompilesBeside: conditions from another broker are compiled beside the
// broker's goroutine, which goes on; what changes the same set meanwhile waits
// its turn.
func TestCompilesBeside(t *testing.T) {
	b, links := beginLinked(t)
	n := b.node

	n.stepping.Lock() // the broker's goroutine
	b.subscribeFrom("b2", 1, "laser.min < 1", "laser.min <")
	n.work(n.queue.take(nil))
	if size := n.config.Matcher.Size(); len(n.waiting) != 1 || size != 0 {
		t.Errorf("%d keys wait for their conditions, %d conditions are installed; expected 1 and 0", len(n.waiting), size)
	}
	b.subscribeFrom("b2", 2, "laser.min < 2")
	n.work(n.queue.take(nil))
	n.stepping.Unlock()

	if counts := links.counted(1); len(counts) != 1 {
		t.Errorf("robots of %v are counted; expected those of one subscription", counts)
	}
	b.rest()
	b.scan(1) // its least range is 1
	b.rest()
	n.stepping.Lock()
	defer n.stepping.Unlock()
	if size := n.config.Matcher.Size(); len(n.waiting) != 0 || size != 1 {
		t.Fatalf("%d keys wait, %d conditions are installed; expected 0 and 1", len(n.waiting), size)
	}
	if given := n.broker.Stats().Given; given != 1 {
		t.Errorf("a reading that the newest condition matches gave %d notifications; expected 1", given)
	}
}

// TestInstallsBeside: what a change of the matcher costs the broker's goroutine
// does not grow with the change. It is made beside; the goroutine makes it visible
// between two steps, and whoever asked hears of it after that.
func TestInstallsBeside(t *testing.T) {
	const count = 5000
	b, links := beginLinked(t)
	n := b.node
	conditions := make([]string, count)
	for i := range conditions {
		conditions[i] = fmt.Sprintf("laser.min < 1.%d", i)
	}
	n.stepping.Lock() // the broker's goroutine
	b.subscribeFrom("b2", 1, conditions...)
	for _, step := range []string{"its set arrives", "its conditions are compiled"} {
		n.awaitWork()
		n.work(n.queue.take(nil))
		if version := n.config.Matcher.Version(); version != 0 {
			t.Fatalf("when %s the matcher is at version %d; expected 0", step, version)
		}
	}
	n.awaitWork()
	published := n.queue.take(nil)
	allocated := mallocs(func() { n.work(published) })
	version := n.config.Matcher.Version()
	n.stepping.Unlock()
	if version != 1 {
		t.Fatalf("then it is at version %d; expected 1", version)
	}
	if allocated > 100 {
		t.Errorf("making %d conditions visible took %d allocations; expected fewer than 100", count, allocated)
	}
	if counts := links.counted(1); len(counts) != count {
		t.Errorf("robots of %d conditions are counted; expected %d", len(counts), count)
	}
}

// TestLargeSetsOneByOne: of a frame with several large sets each is taken in by
// itself. What others post while the first is taken in comes before the second.
func TestLargeSetsOneByOne(t *testing.T) {
	b, _ := beginLinked(t)
	n := b.node
	conditions := make([]string, overlay.StepMembers)
	for i := range conditions {
		conditions[i] = "laser.min < 1"
	}
	frame := []overlay.Message{b.subscription("b2", "c", 1, conditions), b.subscription("b2", "d", 1, conditions)}
	n.stepping.Lock() // the broker's goroutine
	taken := make(chan bool)
	go func() {
		n.Neighbours().Frame("b2", 1, frame)
		close(taken)
	}()
	n.awaitWork()
	first, keys := n.queue.take(nil), 0
	n.queue.must(item{ask: func() { keys = len(n.broker.Keys()) }})
	n.work(first)
	for keys == 0 {
		n.awaitWork()
		n.work(n.queue.take(nil))
	}
	n.stepping.Unlock()
	if keys != 1 {
		t.Errorf("what was posted meanwhile finds %d keys; expected that of the first set", keys)
	}
	<-taken
	b.rest()
	n.stepping.Lock()
	defer n.stepping.Unlock()
	if keys := len(n.broker.Keys()); keys != 2 {
		t.Errorf("in the end there are %d keys; expected 2", keys)
	}
}

// awaitWork waits until something is posted to the broker's goroutine.
func (n *Node) awaitWork() {
	for n.queue.length() == 0 {
		runtime.Gosched()
	}
}

// mallocs counts what f allocates, while nobody else does.
func mallocs(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// TestEndsWhileInstalled: a set whose key ends while it is carried into the
// matcher does not stay there.
func TestEndsWhileInstalled(t *testing.T) {
	b := begin(t, nil)
	b.rest()
	n := b.node
	out := &recorded{subscribed: make(chan struct{}, 8)}
	subscribe := func(client, condition string) uint64 {
		c := n.Connect(out, "test")
		if err := n.Hello(t.Context(), c, protocol.Hello{Client: client}, attach.Grant{Subscribe: true}); err != nil {
			t.Fatal(err)
		}
		if err := n.Subscribe(t.Context(), c, protocol.Subscribe{Subscription: protocol.Subscription{ID: "all", Condition: condition}}); err != nil {
			t.Fatal(err)
		}
		return c
	}
	n.stepping.Lock()
	n.Disconnect(subscribe("", "laser.min < 99"), attach.Ending{}) // without an id its session ends with it
	n.work(n.queue.take(nil))
	n.stepping.Unlock()
	subscribe("c", "laser.min < 100")
	<-out.subscribed
	n.stepping.Lock()
	keys, size := len(n.tested), n.config.Matcher.Size()
	n.stepping.Unlock()
	if keys != 1 || size != 1 {
		t.Errorf("there are %d keys with %d conditions; expected those of the client that is here", keys, size)
	}
	b.scan(1)
	b.rest()
	if times, _ := out.got(); len(times) != 1 {
		t.Errorf("a reading gave %d notifications; expected 1", len(times))
	}
}

// TestBeginsAnewAtOnce: a subscription to changes that ends and begins again, alike,
// before the matcher has seen the end is another one, which is told its state.
func TestBeginsAnewAtOnce(t *testing.T) {
	b := begin(t, nil)
	b.rest()
	n := b.node
	out := &recorded{subscribed: make(chan struct{}, 8)}
	c := n.Connect(out, "test")
	near := protocol.Subscribe{Subscription: protocol.Subscription{ID: "near", Condition: "laser.min < 99", Trigger: protocol.TriggerChange}}
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	check(n.Hello(t.Context(), c, protocol.Hello{}, attach.Grant{Subscribe: true}))
	check(n.Subscribe(t.Context(), c, near))
	<-out.subscribed
	b.scan(1)
	b.rest()
	n.stepping.Lock()
	check(n.Unsubscribe(t.Context(), c, protocol.Unsubscribe{ID: "near"}))
	check(n.Subscribe(t.Context(), c, near))
	n.work(n.queue.take(nil))
	n.stepping.Unlock()
	<-out.subscribed
	b.scan(2)
	b.rest()
	if times, _ := out.got(); len(times) != 2 {
		t.Errorf("it was told of %v; expected its state at 1 and, anew, at 2", times)
	}
}

// TestRefusedAreForgotten: of subscriptions that the limits have refused nothing
// is kept, however many a client tries.
func TestRefusedAreForgotten(t *testing.T) {
	b := begin(t, nil)
	b.rest()
	n := b.node
	c := n.Connect(&recorded{subscribed: make(chan struct{}, 20_000)}, "test")
	if err := n.Hello(t.Context(), c, protocol.Hello{}, attach.Grant{Subscribe: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 13_000 {
		err := n.Subscribe(t.Context(), c, protocol.Subscribe{Subscription: protocol.Subscription{ID: fmt.Sprint("s", i), Condition: "laser.min < 100"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if kept := n.conn(overlay.Conn(c)).loads.by.Len(); kept < 10_000 || kept > 11_000 {
		t.Errorf("%d subscriptions are counted; expected the 10,000 that there are, and at most 1,000 that were refused", kept)
	}
}

// TestStoppedWhileRestoring: a node that is stopped before an earlier life is
// back ends without having begun another.
func TestStoppedWhileRestoring(t *testing.T) {
	m, err := subscribe.New(subscribe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	store := &disk{appended: make(chan struct{}, 1)}
	n, err := New(Config{Overlay: overlay.Config{ID: "b1"}, Matcher: m, Store: store, Restore: make([]overlay.Record, 10*chunk)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := robots.New(robots.Config{Matcher: m, Sink: n})
	if err != nil {
		t.Fatal(err)
	}
	n.Attach(r, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := n.Run(ctx); err != nil {
		t.Error(err)
	}
	if len(store.appended) > 0 {
		t.Error("something was stored")
	}
	select {
	case <-n.Restored():
		t.Error("it is said to be restored")
	default:
	}
}

// BenchmarkForeignConditions: how long the broker's goroutine keeps others
// waiting while another broker brings the conditions of one client or of ten, and
// how long it takes until all are in force.
func BenchmarkForeignConditions(bench *testing.B) {
	for _, clients := range []int{1, 10} {
		bench.Run(fmt.Sprint(clients, "x10000"), func(bench *testing.B) {
			b, links := beginLinked(bench)
			n := b.node
			var longest time.Duration
			for round := range bench.N {
				var frame []overlay.Message
				for client := range clients {
					conditions := make([]string, 10_000)
					for i := range conditions {
						conditions[i] = fmt.Sprintf("laser.min < 1.%d && position.x > %d", i, round*clients+client)
					}
					frame = append(frame, b.subscription("b2", fmt.Sprint("c", client), uint64(round+1), conditions))
				}
				done := make(chan bool)
				go func() {
					links.counted(clients)
					close(done)
				}()
				n.Neighbours().Frame("b2", 1, frame)
				for waits := true; waits; {
					begun := time.Now()
					if err := n.ask(bench.Context(), func() {}); err != nil {
						bench.Fatal(err)
					}
					longest = max(longest, time.Since(begun))
					select {
					case <-done:
						waits = false
					default:
					}
				}
			}
			bench.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
		})
	}
}
