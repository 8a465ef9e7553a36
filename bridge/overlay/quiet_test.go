package overlay

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"callboard/subscribe/protocol"
)

// mesh is a network in which each broker is every other's neighbour. What one
// sends arrives at once, in order.
type mesh struct {
	ids     []BrokerID
	brokers map[BrokerID]*Broker
	now     Instant
	spent   map[BrokerID]time.Duration // in Step
	queue   []sent
	deaf    bool // the registry hears nothing for now
}

type sent struct {
	from, to BrokerID
	messages []Message
}

func newMesh(tb interface{ Fatal(...any) }, n int, mode Mode) *mesh {
	m := &mesh{brokers: map[BrokerID]*Broker{}, now: 1e6, spent: map[BrokerID]time.Duration{}}
	for i := range n {
		id := BrokerID(fmt.Sprintf("b%02d", i))
		cfg := Config{ID: id, Mode: mode}
		if mode == ModeOne {
			cfg.Registry = "b00"
		}
		b, err := New(cfg)
		if err != nil {
			tb.Fatal(err)
		}
		m.ids, m.brokers[id] = append(m.ids, id), b
		m.step(id, &Start{})
	}
	for _, id := range m.ids {
		for _, other := range m.ids {
			if other != id {
				m.step(id, &LinkUp{Neighbour: other, Session: 1})
			}
		}
	}
	m.settle()
	return m
}

// step has a broker take an input in: its sets are in force at once.
func (m *mesh) step(id BrokerID, in Input) {
	b := m.brokers[id]
	if b == nil {
		return // of a client that has not attached yet
	}
	begun := time.Now()
	b.Step(m.now, in)
	outputs := b.Outputs()
	m.spent[id] += time.Since(begun)
	var installed []Input
	for _, out := range outputs {
		switch out := out.(type) {
		case *Frame:
			for _, to := range out.To {
				m.queue = append(m.queue, sent{id, to.Neighbour, out.Messages})
			}
		case *Install:
			counts := map[string]int{}
			for _, id := range out.Count {
				counts[id] = 1
			}
			installed = append(installed, &Installed{Handle: out.Handle, Set: out.Set, Robots: counts})
		}
	}
	for _, in := range installed {
		m.step(id, in)
	}
}

// settle delivers what is under way.
func (m *mesh) settle() {
	for len(m.queue) > 0 {
		s := m.queue[0]
		m.queue = m.queue[1:]
		if m.deaf && s.to == "b00" {
			s.messages = slices.DeleteFunc(slices.Clone(s.messages), func(m Message) bool { _, routed := m.(*RoutedMessage); return routed })
		}
		m.step(s.to, &FrameReceived{Neighbour: s.from, Session: 1, Messages: s.messages})
	}
	m.queue = nil
}

// period lets a period pass everywhere.
func (m *mesh) period() {
	m.now += Instant(Second)
	for _, id := range m.ids {
		m.step(id, &Tick{})
	}
	m.settle()
}

// populate gives the network robots, evenly over its brokers, and clients, half
// of them at one broker. Each client subscribes to robots of five brokers, by name.
func (m *mesh) populate(robots, clients, subscriptions int) {
	n := len(m.ids)
	for i := range robots {
		name := fmt.Sprint("r", i)
		m.step(m.ids[i%n], &Advertise{Robot: name, Devices: []string{"position2d:0", "laser:0"}})
		m.step(m.ids[i%n], &RobotState{Robot: name, State: protocol.RobotUp, Since: 1})
	}
	m.period()
	for c := range clients {
		var subs []*Subscription
		for i := range subscriptions {
			robot := (c + i%5 + i*n) % robots
			subs = append(subs, &Subscription{
				Subscription: protocol.Subscription{ID: fmt.Sprint("s", i), Condition: "laser.min < 1", Robots: []string{fmt.Sprint("r", robot)}},
				Needs:        [][]string{{"laser", "ranger"}},
			})
		}
		edge := m.ids[1]
		if c%2 == 0 {
			edge = m.ids[c/2%n]
		}
		m.step(edge, &Hello{Conn: Conn(c + 1), Client: fmt.Sprintf("c%06d", c), Subscriptions: subs})
		m.settle()
	}
	for range 5 {
		m.period()
	}
}

// TestNaming: whatever brokers and clients do, the registry has named what
// clients' sets can match, though it tests only what is new.
func TestNaming(t *testing.T) {
	for _, mode := range []Mode{ModeOne, ModeEvery} {
		t.Run(string(mode), func(t *testing.T) { testNaming(t, mode) })
	}
}

func testNaming(t *testing.T, mode Mode) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMesh(t, 3, mode)
		robot := rapid.SampledFrom([]string{"r0", "r1", "r2", "s0"})
		devices := rapid.SampledFrom([][]string{nil, {"laser:0"}, {"position2d:0"}, {"laser:0", "position2d:0"}})
		patterns := rapid.SampledFrom([][]string{nil, {"r0"}, {"r1", "s0"}, {"r*"}, {"s0", "r2*"}})
		needs := rapid.SampledFrom([][][]string{nil, {{"laser", "ranger"}}, {{"position2d"}}})
		broker := rapid.SampledFrom(m.ids)
		attached := map[string]Conn{}
		last := Conn(0)
		subscription := func() *Subscription {
			s := &Subscription{Needs: needs.Draw(t, "needs")}
			s.ID, s.Robots, s.Condition = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "id"), patterns.Draw(t, "robots"), fmt.Sprint(s.Needs)
			return s
		}
		edges := map[Conn]BrokerID{}
		for range 40 {
			at := broker.Draw(t, "broker")
			client := rapid.SampledFrom([]string{"c", "d"}).Draw(t, "client")
			conn := attached[client]
			m.deaf = mode == ModeOne && rapid.IntRange(0, 4).Draw(t, "lost") == 0
			switch rapid.SampledFrom([]string{"advertise", "advertise", "withdraw", "state", "hello", "subscribe", "update", "unsubscribe", "period", "forget"}).Draw(t, "what") {
			case "advertise":
				m.step(at, &Advertise{Robot: robot.Draw(t, "robot"), Devices: devices.Draw(t, "devices")})
			case "withdraw":
				m.step(at, &Withdraw{Robot: robot.Draw(t, "robot")})
			case "state":
				m.step(at, &RobotState{Robot: robot.Draw(t, "robot"), State: rapid.SampledFrom([]string{protocol.RobotUp, protocol.RobotAway}).Draw(t, "state"), Since: m.now})
			case "hello":
				last++
				attached[client], edges[last] = last, at
				m.step(at, &Hello{Conn: last, Client: client, Subscriptions: []*Subscription{subscription()}})
			case "subscribe":
				m.step(edges[conn], &Subscribe{Conn: conn, Subscription: subscription()})
			case "update":
				m.step(edges[conn], &Update{Conn: conn, Subscription: subscription()})
			case "unsubscribe":
				m.step(edges[conn], &Unsubscribe{Conn: conn, ID: "a"})
			case "period":
				m.period()
			case "forget": // and come back: its link states are not news, but its robots are
				m.now += 601 * Instant(Second)
				m.step("b00", &Tick{})
				check(t, m.brokers["b00"])
				m.period()
			}
			m.settle()
			for _, id := range m.ids {
				check(t, m.brokers[id])
				m.checkNaming(t, m.brokers[id])
			}
		}
	})
}

// checkNaming: what the registry has named for the clients of an edge is what
// their sets can match, as far as the registry knows the sets.
func (m *mesh) checkNaming(t *rapid.T, edge *Broker) {
	if f, ok := edge.registry.(*flooded); ok {
		f.checkNaming(t, edge)
		return
	}
	d := m.brokers["b00"].registry.(*central).held
	for _, s := range edge.edge.order {
		w := d.clients[s.client]
		if w == nil || w.session != s.birth || w.hash != s.hash || !w.known {
			continue
		}
		for id := range d.robots {
			for _, sub := range s.subs {
				if !w.named[id] && d.canMatch(id, sub) {
					t.Fatalf("client %s: %s is not named, though it has what %s can match", s.client, id, sub.ID)
				}
			}
		}
	}
}

// checkNaming: a client has a key at each broker that has a bulletin with a robot
// which its set can match.
func (b *flooded) checkNaming(t *rapid.T, at *Broker) {
	for _, s := range at.edge.order {
		for id := range b.robots {
			for _, sub := range s.subs {
				if s.looksUp() && s.follower(id) == nil && b.canMatch(id, sub) {
					t.Fatalf("client %s has no key at %s, though it has what %s can match", s.client, id, sub.ID)
				}
			}
		}
	}
}

// BenchmarkQuietPeriod: what a period without news takes of a broker's
// goroutine, at the broker that holds the registry and at the busiest of the
// others.
func BenchmarkQuietPeriod(bench *testing.B) {
	for _, size := range []struct{ brokers, robots, clients, subscriptions int }{
		{50, 600, 1000, 6},
		{50, 10_000, 1000, 100},
		{50, 10_000, 10_000, 10},
	} {
		bench.Run(fmt.Sprintf("%dbrokers-%drobots-%dclients-%dsubscriptions", size.brokers, size.robots, size.clients, size.clients*size.subscriptions), func(bench *testing.B) {
			m := newMesh(bench, size.brokers, ModeOne)
			m.populate(size.robots, size.clients, size.subscriptions)
			clear(m.spent)
			bench.ResetTimer()
			for range bench.N {
				m.period()
			}
			edge := time.Duration(0)
			for _, id := range m.ids[1:] {
				edge = max(edge, m.spent[id])
			}
			bench.ReportMetric(float64(m.spent["b00"].Microseconds())/1000/float64(bench.N), "registry-ms/period")
			bench.ReportMetric(float64(edge.Microseconds())/1000/float64(bench.N), "edge-ms/period")
		})
	}
}
