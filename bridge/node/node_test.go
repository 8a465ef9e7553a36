package node

import (
	"context"
	"sync"
	"testing"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// recorded is an outbox that keeps what it is given.
type recorded struct {
	mu         sync.Mutex
	times      []float64 // of the readings
	atOnce     int
	subscribed chan struct{}
}

func (r *recorded) take(n protocol.Notify, atOnce int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = append(r.times, n.Time)
	r.atOnce += atOnce
}

func (r *recorded) Notify(n protocol.Notify, _ time.Time)     { r.take(n, 0) }
func (r *recorded) NotifySoon(n protocol.Notify, _ time.Time) { r.take(n, 1) }
func (r *recorded) Flush()                                    {}
func (r *recorded) Close(protocol.Code, string)               {}
func (r *recorded) Send(m any) {
	if _, ok := m.(*protocol.Subscribed); ok {
		r.subscribed <- struct{}{}
	}
}

func (r *recorded) got() (times []float64, atOnce int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]float64{}, r.times...), r.atOnce
}

// disk is a store that counts, and may be slow.
type disk struct{ appended chan struct{} }

func (d *disk) Append([]overlay.Record) uint64 { d.appended <- struct{}{}; return 0 }
func (d *disk) Kept() (uint64, error)          { return 0, nil }
func (d *disk) Changed() <-chan struct{}       { return nil }

// bench is a node with one robot's session.
type bench struct {
	node  *Node
	robot *subscribe.Session
	laser *player.Device
}

// begin runs a node until the test ends.
func begin(t testing.TB, store Store) *bench {
	t.Helper()
	b := newBench(t, store)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.node.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

func newBench(t testing.TB, store Store) *bench {
	t.Helper()
	m, err := subscribe.New(subscribe.Config{})
	if err != nil {
		t.Fatal(err)
	}
	n, err := New(Config{Overlay: overlay.Config{ID: "b1", Heartbeat: 60 * overlay.Second}, Matcher: m, Store: store}) // no lease ends on a slow machine
	if err != nil {
		t.Fatal(err)
	}
	r, err := robots.New(robots.Config{Matcher: m, Sink: n, Servers: []robots.Server{{Address: "nowhere:1", Robot: "r0"}}}) // never run
	if err != nil {
		t.Fatal(err)
	}
	n.Attach(r, nil)
	b := &bench{node: n, laser: &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}, Robot: "r0"}}
	b.robot = m.NewSession(subscribe.SessionConfig{Robot: "r0", Emit: func(m *subscribe.Matched) { n.Matched("r0", m, time.Now()) }})
	b.robot.Up([]*player.Device{b.laser})
	return b
}

// attach has a client subscribe to all laser readings.
func (b *bench) attach(t *testing.T, client string) *recorded {
	t.Helper()
	out := &recorded{subscribed: make(chan struct{}, 1)}
	c := b.node.Connect(out, "test")
	grant := attach.Grant{Subscribe: true}
	if err := b.node.Hello(t.Context(), c, protocol.Hello{Client: client}, grant); err != nil {
		t.Fatal(err)
	}
	m := protocol.Subscribe{Subscription: protocol.Subscription{ID: "all", Condition: "laser.min < 100"}}
	if err := b.node.Subscribe(t.Context(), c, m); err != nil {
		t.Fatal(err)
	}
	<-out.subscribed
	b.rest()
	return out
}

// rest waits until the broker's goroutine has nothing to do.
func (b *bench) rest() {
	for {
		b.node.stepping.Lock()
		idle := b.node.started && !b.node.stepped && b.node.queue.length() == 0
		b.node.stepping.Unlock()
		if idle {
			return
		}
	}
}

func (b *bench) scan(time float64) {
	b.robot.Arrive(player.Reading{Device: b.laser, Subtype: iface.DataLaserScan, Time: time, Payload: &iface.LaserData{
		MinAngle: -1, MaxAngle: 1, Resolution: 1, MaxRange: 8, Ranges: []float32{1, 2, 3},
	}})
	b.robot.Flush()
}

// TestReadingIsSteppedAtOnce: with an idle broker a reading is on its way to
// the subscribers before the robot's session goes on.
func TestReadingIsSteppedAtOnce(t *testing.T) {
	b := begin(t, nil)
	out := b.attach(t, "")
	for i := range 3 {
		b.rest()
		b.scan(float64(i))
		if times, atOnce := out.got(); len(times) != i+1 || atOnce != i+1 {
			t.Fatalf("after %d readings: notifications %v, %d of them at once", i+1, times, atOnce)
		}
	}
}

// TestSessionDoesNotWaitForTheDisk: what has to be stored first is left to the
// broker's goroutine.
func TestSessionDoesNotWaitForTheDisk(t *testing.T) {
	store := &disk{appended: make(chan struct{}, 64)}
	b := begin(t, store)
	out := b.attach(t, "c1")
	for len(store.appended) > 0 {
		<-store.appended
	}
	for len(store.appended) < cap(store.appended) {
		store.appended <- struct{}{} // the disk is stuck
	}
	b.scan(1)
	b.scan(2) // must not wait, nor overtake
	if times, _ := out.got(); len(times) != 0 {
		t.Fatalf("notifications %v went out before they were stored", times)
	}
	for range cap(store.appended) {
		<-store.appended
	}
	b.rest()
	if times, _ := out.got(); len(times) != 2 || times[0] != 1 || times[1] != 2 {
		t.Fatalf("readings of the times %v, expected 1 and 2", times)
	}
}

// TestOrderBehindTheQueue: a reading does not overtake what waits.
func TestOrderBehindTheQueue(t *testing.T) {
	b := begin(t, nil)
	out := b.attach(t, "")
	b.node.stepping.Lock() // the broker is at work
	b.scan(1)
	b.node.stepping.Unlock()
	b.scan(2)
	b.rest()
	if times, _ := out.got(); len(times) != 2 || times[0] != 1 || times[1] != 2 {
		t.Fatalf("readings of the times %v, expected 1 and 2", times)
	}
}
