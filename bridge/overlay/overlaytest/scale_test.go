package overlaytest

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	codec "callboard/bridge/link/frame"
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// large is one real broker of a large network with a registry at every broker. What
// the others say is made here, and comes over links as it would.
type large struct {
	*overlay.Broker
	now      overlay.Instant
	ids      []overlay.BrokerID
	encoder  *codec.Encoder
	decoder  *codec.Decoder
	versions []uint64 // of the brokers' bulletins and link states
	said     int      // the broker that says next that its bulletin stands
}

// newLarge makes it the edge of its share of the clients, each of which subscribes
// to robots of five other brokers.
func newLarge(tb testing.TB, brokers, robots, clients int) *large {
	l := &large{now: 1_800_000_000_000_000, encoder: codec.NewEncoder(), decoder: codec.NewDecoder()}
	for i := range brokers {
		l.ids = append(l.ids, overlay.BrokerID(fmt.Sprintf("broker-%04d", i)))
	}
	var err error
	if l.Broker, err = overlay.New(overlay.Config{ID: l.ids[0], Mode: overlay.ModeEvery}); err != nil {
		tb.Fatal(err)
	}
	l.step(&overlay.Start{})
	for _, id := range l.near(0) {
		l.step(&overlay.LinkUp{Neighbour: id, Session: 1})
	}
	l.versions = slices.Repeat([]uint64{uint64(l.now)}, brokers)
	robot := func(i, n int) string { return fmt.Sprintf("robot-%05d", i*robots/brokers+n) }
	for i := range brokers {
		m := &overlay.BulletinMessage{Broker: l.ids[i], Stamp: overlay.Stamp(l.now), Version: l.versions[i], StatesVersion: uint64(l.now)}
		for n := range robots / brokers {
			name := robot(i, n)
			if i == 0 {
				l.step(&overlay.Advertise{Robot: name, World: "warehouse", Devices: []string{"position2d:0", "laser:0", "sonar:0"}})
				l.step(&overlay.RobotState{Robot: name, State: protocol.RobotUp, Since: l.now})
				continue
			}
			m.Robots = append(m.Robots, overlay.Advertisement{
				Robot: name, World: "warehouse", Devices: []string{"position2d:0", "laser:0", "sonar:0"}, Claimed: l.now,
				Bounds: []overlay.Bound{{Name: "laser.min", Hi: 8}, {Name: "sonar.min", Hi: 5}},
			})
			m.States = append(m.States, overlay.Availability{Robot: name, Up: true, Since: l.now, Before: l.now, Changed: uint64(l.now)})
		}
		for n := range clients / brokers {
			name := fmt.Sprintf("lab\x00client-%06d", i*clients/brokers+n)
			if i > 0 {
				m.Clients = append(m.Clients, overlay.ClientPlace{Client: name, Attachment: 1, Began: l.now})
			}
		}
		if i > 0 {
			l.hear(&overlay.LinkState{Broker: l.ids[i], Number: l.versions[i], Neighbours: l.near(i), URL: "ws://" + string(l.ids[i]) + ":8800/ws"}, m)
		}
	}
	for n := range clients / brokers {
		var subs []*overlay.Subscription
		for k := range 5 {
			s := &overlay.Subscription{Subscription: protocol.Subscription{ID: fmt.Sprint("s", k), Condition: "laser.min < 1", Robots: []string{robot((n*5+k)*7%brokers, 0)}}}
			s.Needs = [][]string{{"laser", "ranger"}}
			subs = append(subs, s)
		}
		l.step(&overlay.Hello{Conn: overlay.Conn(n + 1), Client: fmt.Sprintf("client-%06d", n), Owner: "lab", Subscriptions: subs})
	}
	return l
}

// near returns the neighbours of a broker: the network is a ring with chords.
func (l *large) near(i int) []overlay.BrokerID {
	var all []overlay.BrokerID
	for _, by := range []int{1, 31, len(l.ids) - 1, len(l.ids) - 31} {
		all = append(all, l.ids[(i+by)%len(l.ids)])
	}
	slices.Sort(all)
	return all
}

// hear has messages come over a link, as they are read there.
func (l *large) hear(messages ...overlay.Message) {
	text, err := l.encoder.Append(nil, messages)
	if err != nil {
		panic(err)
	}
	read, err := l.decoder.Decode(text)
	if err != nil {
		panic(err)
	}
	l.step(&overlay.FrameReceived{Neighbour: l.near(0)[0], Session: 1, Messages: read})
}

// step has the broker take an input in; its sets are in force at once.
func (l *large) step(in overlay.Input) {
	l.Step(l.now, in)
	var installed []overlay.Input
	for _, out := range l.Outputs() {
		if o, is := out.(*overlay.Install); is {
			installed = append(installed, &overlay.Installed{Handle: o.Handle, Set: o.Set, Robots: map[string]int{}})
		}
	}
	for _, in := range installed {
		l.step(in)
	}
}

// period lets a quiet one pass: some brokers say again that their links and their
// bulletins stand, as each does four times in a session time.
func (l *large) period() {
	l.now += second
	for range len(l.ids) / 150 {
		l.said = 1 + l.said%(len(l.ids)-1)
		i := l.said
		before := l.versions[i]
		l.versions[i] = uint64(l.now)
		l.hear(&overlay.LinkState{Broker: l.ids[i], Number: l.versions[i], Neighbours: l.near(i), URL: "ws://" + string(l.ids[i]) + ":8800/ws"},
			&overlay.BulletinMessage{Broker: l.ids[i], Stamp: overlay.Stamp(before), From: before, Version: l.versions[i], StatesVersion: uint64(1_800_000_000_000_000)})
	}
	l.step(&overlay.Tick{})
}

// loseLink has a link far away end, or be there again: all paths are found anew.
func (l *large) loseLink(up bool) {
	for _, e := range [][2]int{{500, 501}, {501, 500}} {
		i, near := e[0], l.near(e[0])
		if !up {
			near = slices.DeleteFunc(near, func(id overlay.BrokerID) bool { return id == l.ids[e[1]] })
		}
		l.versions[i]++
		l.hear(&overlay.LinkState{Broker: l.ids[i], Number: uint64(l.now) + l.versions[i]%1000, Neighbours: near})
	}
}

// BenchmarkEvery: what a broker of a network of 1,000, with 10,000 robots and 100,000
// clients, takes of memory, and of its goroutine in a quiet period; and in one after a
// link has ended somewhere.
func BenchmarkEvery(b *testing.B) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before := heap()
	l := newLarge(b, 1000, 10_000, 100_000)
	for range 5 {
		l.period()
	}
	mib := heap() - before
	b.ResetTimer()
	for range b.N {
		l.period()
	}
	quiet := b.Elapsed()
	begun := time.Now()
	const changes = 10
	for i := range changes {
		l.loseLink(i%2 == 1)
		l.period()
	}
	changed := time.Since(begun)
	b.ReportMetric(mib, "MiB")
	b.ReportMetric(float64(quiet.Microseconds())/1000/float64(b.N), "quiet-ms/period")
	b.ReportMetric(float64(changed.Microseconds())/1000/changes, "relinked-ms/period")
	runtime.KeepAlive(l)
}
