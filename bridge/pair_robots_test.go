//go:build unix

package bridge_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/client"
	"callboard/subscribe/protocol"
)

// TestPairReadings has a pair lose its active side in mid-stream, again and again, and
// counts the readings: a program gets each that its robot has sent, once, in order,
// and its policies go on as if nothing had happened. Nobody is told of anything.
func TestPairReadings(t *testing.T) {
	w := newTwins(t, true)
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	sent := hearRobot(t, w.robot)
	w.inStep(ctx)
	urls := []string{"ws://" + w.listens[0] + "/ws", "ws://" + w.listens[1] + "/ws"}
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: urls, Client: "c1", BackoffMax: 200 * time.Millisecond, Choose: func(current string, _ []callboard.Broker) []string {
		if current != "" {
			return []string{current}
		}
		return urls
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, s := range []protocol.Subscription{
		{ID: "all", Condition: "position.x > -1000"},
		{ID: "seldom", Condition: "position.x > -1000", MinInterval: interval},
		{ID: "turns", Condition: "position.yaw > prev.position.yaw", Trigger: protocol.TriggerChange},
	} {
		subscribe(t, c, s)
	}
	h := &program{t: t, c: c}
	got := &policies{t: t}
	h.each = got.take
	for i, way := range []string{"killed", "switched", "frozen", "ended", "killed"} {
		h.more(ctx, 20)
		active := w.inStep(ctx)
		w.aligned(ctx, 1-active)
		mend := w.lose(way, active)
		if !h.at(ctx, urls[1-active], 3*time.Second) {
			t.Fatalf("%s: the other side does not go on", way)
		}
		h.more(ctx, 20)
		mend()
		if h.told > 0 {
			t.Fatalf("takeover %d, %s: the program is told that its robot begins anew", i, way)
		}
	}
	all := sent()
	from, to := slices.Index(all, got.times[0]), slices.Index(all, got.times[len(got.times)-1])
	if from < 0 || to < 0 || !slices.Equal(all[from:to+1], got.times) {
		t.Errorf("%d readings came of %d that the robot has sent:\n%v\n%v", len(got.times), to+1-from, got.times, all)
	}
	if got.changes < 3 {
		t.Errorf("the state has changed only %d times", got.changes)
	}
}

// interval is what lies between two notifications of "seldom" at least, in s.
const interval = 0.5

// policies are what a program's policies have let through, beside all readings.
type policies struct {
	t       *testing.T
	times   []float64
	yaw     float64
	was     *bool
	seldom  float64
	begun   bool // seldom has come once
	changes int
}

// take checks a notification: which subscriptions it names follows from the readings
// so far.
func (p *policies) take(n *callboard.Notification) {
	var reading struct{ Yaw float64 }
	if err := json.Unmarshal(n.Reading, &reading); err != nil {
		p.t.Fatal(err)
	}
	names := map[string]protocol.Matched{}
	for _, m := range n.Subscriptions {
		names[m.ID] = m
	}
	first := len(p.times) == 0
	if _, named := names["all"]; !named {
		p.t.Fatalf("a reading of %v names %v only", n.Time, n.Subscriptions)
	}
	_, seldom := names["seldom"]
	if due := n.Time-p.seldom >= interval-1e-6; p.begun && due != seldom { // it is subscribed after "all"
		p.t.Fatalf("at %v the one of at most each %v s is named: %v; the last time at %v", n.Time, interval, seldom, p.seldom)
	}
	if seldom {
		p.seldom, p.begun = n.Time, true
	}
	state := reading.Yaw > p.yaw
	turns, named := names["turns"]
	if changed := p.was != nil && *p.was != state; !first && p.was != nil && changed != named {
		p.t.Fatalf("at %v the state is %v after %v, and it is named: %v", n.Time, state, *p.was, named)
	}
	if named {
		if !first && *turns.State != state {
			p.t.Fatalf("at %v the state is %v; it is told as %v", n.Time, state, *turns.State)
		}
		p.was = turns.State
		p.changes++
	}
	p.times, p.yaw = append(p.times, n.Time), reading.Yaw
}

// aligned waits until a standby follows the active with all robots.
func (w *twins) aligned(ctx context.Context, side int) {
	w.t.Helper()
	err := benchtest.Until(ctx, "the standby follows the robots", func() (bool, error) {
		s := w.standing(side)
		return s.InStep && !s.Active && s.Behind == 0, nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// hearRobot listens to a Player server's position2d device. It returns a function that
// returns the times of all that it has sent.
func hearRobot(t *testing.T, address string) (times func() []float64) {
	e := &ear{up: make(chan struct{}, 1)}
	c, err := client.New(client.Config{Address: address, Open: func(a player.Addr) bool { return a.Interf == player.InterfacePosition2D }, Handler: e})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	<-e.up
	return e.all
}

// ear is a client.Handler that notes times.
type ear struct {
	up    chan struct{}
	mu    sync.Mutex
	times []float64
}

func (e *ear) Up([]client.Device)    { e.up <- struct{}{} }
func (e *ear) Changed(client.Device) {}
func (e *ear) Round()                {}
func (e *ear) Overflow(uint64)       {}
func (e *ear) Down(error)            {}

func (e *ear) Message(h player.Header, _ any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.times = append(e.times, h.Timestamp)
}

func (e *ear) all() []float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.times)
}
