package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	processes "callboard/cmd/callboard/bench/network"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// heard notes what a program is told of robots, and the states that a
// subscription to changes tells.
type heard struct {
	mu     sync.Mutex
	robots map[string][]string
	states map[string][]bool
	state  map[string]bool // the last one
}

func (h *heard) take(e callboard.Event, _ time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := e.(type) {
	case *callboard.Robot:
		h.robots[e.Robot.Robot] = append(h.robots[e.Robot.Robot], e.State)
	case *callboard.Notification:
		for _, s := range e.Subscriptions {
			if s.State != nil {
				h.states[e.Robot], h.state[e.Robot] = append(h.states[e.Robot], *s.State), *s.State
			}
		}
	}
}

// last is the state that was told last of a robot.
func (h *heard) last(robot string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state[robot]
}

// taken returns what was told of a robot, and forgets it.
func (h *heard) taken(robot string) ([]string, []bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	told, states := h.robots[robot], h.states[robot]
	delete(h.robots, robot)
	delete(h.states, robot)
	return told, states
}

// TestAvailability: the broker b3 that reads two robots is killed, stopped and cut
// off; one robot dies meanwhile. Programs at b1 and b2, one of which moves, are
// told of each robot that it is away, and that it is back, exactly once.
func TestAvailability(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	t.Run("registry at one broker", func(t *testing.T) { testAvailability(t, false) })
	t.Run("registry at every broker", func(t *testing.T) { testAvailability(t, true) })
}

func testAvailability(t *testing.T, every bool) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	n, err := processes.Start(ctx, processes.Config{
		Dir: t.TempDir(), Brokers: 3, Sources: []int{2, 2}, Heartbeat: 300 * time.Millisecond, PlayerLinks: true, Every: every,
		Log: func(broker, line string) { t.Logf("%s says %s", broker, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	both := []int{0, 1}
	var programs []*processes.Program
	var clients []*callboard.Client
	var told []*heard
	for i, name := range []string{"stays", "moves"} {
		h := &heard{robots: map[string][]string{}, states: map[string][]bool{}, state: map[string]bool{}}
		p, err := n.NewProgram(ctx, name, i, both, h.take)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		programs, told = append(programs, p), append(told, h)
		// Of changes another client is told: what tells that a state is false is no new reading.
		c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{n.URLs()[i]}, Client: name + " changes", Handle: func(e callboard.Event) {
			if _, is := e.(*callboard.Notification); is {
				h.take(e, time.Time{})
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Subscribe(ctx, protocol.Subscription{ID: "change", Condition: benchtest.Near, Trigger: protocol.TriggerChange}); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	awaitFirst(ctx, t, n, programs)
	n.Begin() // a subscription may reach b3 later than it is confirmed
	are := func(states ...string) {
		t.Helper()
		waitFor(ctx, t, "programs are told of robots", func() bool {
			return !slices.ContainsFunc(programs, func(p *processes.Program) bool {
				return p.State(0) != states[0] || p.State(1) != states[1]
			})
		})
	}
	// states waits until the last state of each robot is the one that is wanted.
	states := func(state bool) {
		t.Helper()
		waitFor(ctx, t, "programs are told of changes", func() bool {
			if state {
				n.Robots.Publish(0)
				n.Robots.Publish(1)
			}
			return !slices.ContainsFunc(told, func(h *heard) bool { return h.last("r0") != state || h.last("r1") != state })
		})
	}
	states(true)
	move := func(to int) {
		t.Helper()
		if err := errors.Join(programs[1].Move(ctx, to), clients[1].Move(ctx, n.URLs()[to])); err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range told {
		h.taken("r0")
		h.taken("r1")
	}
	check := func(what string, want ...string) {
		t.Helper()
		for i, h := range told {
			for _, robot := range []string{"r0", "r1"} {
				got, states := h.taken(robot)
				if !cmp.Equal(got, want) || !cmp.Equal(states, []bool{false, true}) {
					t.Errorf("%s: %s was told of %s: %v, states %v; expected %v and false, true", what, programs[i].Name, robot, got, states, want)
				}
			}
		}
	}
	source := n.Brokers()[2]
	away, up := protocol.RobotAway, protocol.RobotUp
	for _, one := range []struct {
		what       string
		begin, end func() error
	}{
		{"kill -9", source.Kill, func() error { return source.Start(ctx) }},
		{"SIGSTOP", source.Pause, source.Continue},
		{"a cut link", func() error { n.Link(1, 2).Cut(); return nil }, func() error { n.Link(1, 2).Heal(); return nil }},
		{"robots that are cut off", func() error { n.Player(0).Cut(); n.Player(1).Cut(); return nil }, func() error { n.Player(0).Heal(); n.Player(1).Heal(); return nil }},
	} {
		t.Log(one.what)
		if err := one.begin(); err != nil {
			t.Fatal(err)
		}
		are(away, away)
		states(false)
		move(0)
		if err := one.end(); err != nil {
			t.Fatal(err)
		}
		are(up, up)
		states(true)
		move(1)
		check(one.what, away, up)
	}
	// A robot dies while the link is cut, and comes back later.
	n.Link(1, 2).Cut()
	are(away, away)
	states(false)
	n.Player(0).Cut()
	n.Link(1, 2).Heal()
	are(away, up)
	n.Player(0).Heal()
	are(up, up)
	states(true)
	check("a robot that died behind a cut link", away, up)
	settle(ctx, t, n, programs)
	v := n.Judge(programs)
	for _, f := range v.Faults {
		t.Error(f)
	}
}
