package callboard_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
	"callboard/sim/simtest"

	"go.uber.org/goleak"
)

// startBroker runs a real broker that reads a simulated robot, r0, and returns
// its address.
func startBroker(t *testing.T) string {
	robot := simtest.Wander(t, 5, "r0")[0]
	settings, wrong := config.Load("", func(c *config.Config) {
		c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
		c.Players = []config.Player{{Address: robot, Robot: "r0"}}
	})
	if err := wrong.Err(); err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	if os.Getenv("CALLBOARD_LOG") != "" {
		logger = slog.Default()
	}
	broker, err := bridge.New(bridge.Config{Config: settings, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- broker.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the broker ended with: %v", err)
		}
	})
	return broker.WebSocketURL()
}

// watcher collects what a client delivers and checks it.
type watcher struct {
	t      *testing.T
	last   map[string]uint64
	got    chan *callboard.Notification
	others chan callboard.Event
}

func newWatcher(t *testing.T) *watcher {
	return &watcher{t: t, last: map[string]uint64{}, got: make(chan *callboard.Notification, 4096), others: make(chan callboard.Event, 4096)}
}

func (w *watcher) handle(event callboard.Event) {
	switch e := event.(type) {
	case *callboard.Notification:
		if want := w.last[e.Source] + 1 + e.Skipped; e.Seq != want {
			w.t.Errorf("source %s: %d, expected %d", e.Source, e.Seq, want)
		}
		w.last[e.Source] = e.Seq
		w.got <- e
	case *callboard.Fault, *callboard.Gap, *callboard.Failure:
		w.t.Errorf("%T: %+v", e, e)
	default:
		w.others <- e
	}
}

// next returns the next notification.
func (w *watcher) next() *callboard.Notification {
	w.t.Helper()
	select {
	case n := <-w.got:
		return n
	case <-time.After(20 * time.Second):
		w.t.Fatal("no notification came")
		return nil
	}
}

// until waits for a notification that is as it should be.
func (w *watcher) until(what string, right func(*callboard.Notification) bool) {
	w.t.Helper()
	for range 1000 {
		if right(w.next()) {
			return
		}
	}
	w.t.Fatalf("no notification with %s", what)
}

func TestWithBroker(t *testing.T) {
	current := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, current) })
	url := startBroker(t)

	// The connection, to be cut.
	var mu sync.Mutex
	var conn net.Conn
	dials := 0
	w := newWatcher(t)
	client, err := callboard.Dial(t.Context(), callboard.Config{
		Brokers: []string{url}, Client: "tester", Handle: w.handle, BackoffMin: time.Millisecond,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			mu.Lock()
			defer mu.Unlock()
			conn, dials = c, dials+1
			return c, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()

	if _, err := client.Subscribe(ctx, callboard.Subscription{ID: "scan", Condition: "laser.min < 8"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Subscribe(ctx, callboard.Subscription{ID: "pose", Condition: "true", Devices: []string{"position2d"}, Select: map[string]string{"x": "position.x"}}); err != nil {
		t.Fatal(err)
	}
	w.until("both interfaces", func(n *callboard.Notification) bool { return n.Interface == "ranger" })
	w.until("a selected value", func(n *callboard.Notification) bool {
		return n.Subscriptions[0].ID == "pose" && len(n.Subscriptions[0].Values) > 0 && n.Reading == nil
	})

	// Lost connections lose nothing, whenever they come.
	for range 5 {
		for range 10 {
			w.next()
		}
		mu.Lock()
		conn.Close()
		mu.Unlock()
	}
	for range 50 {
		w.next()
	}

	// An update holds from a point in the sequence on.
	condition := "laser.min < 0"
	if _, err := client.Update(ctx, callboard.Update{ID: "scan", Condition: &condition}); err != nil {
		t.Fatal(err)
	}
	for len(w.got) > 0 {
		<-w.got
	}
	for poses, scans := 0, 0; poses < 20; poses++ { // after what was on its way
		if n := w.next(); n.Interface == "ranger" {
			if poses, scans = 0, scans+1; scans > 100 {
				t.Fatalf("scans after the update: %+v", n.Subscriptions)
			}
		}
	}
	if _, err := client.Subscribe(ctx, callboard.Subscription{ID: "bad", Condition: "lasr.min < 1"}); err == nil {
		t.Error("a wrong condition was taken")
	}

	if _, err := client.Command(ctx, callboard.Command{Robot: "r0", Name: "velocity", Args: []any{0.1}}); err != nil {
		t.Error(err)
	}
	list, err := client.List(ctx, "subscriptions")
	var subscriptions []callboard.Subscription
	if err != nil || json.Unmarshal(list, &subscriptions) != nil || len(subscriptions) != 2 {
		t.Errorf("%s, %v", list, err)
	}
	for _, id := range []string{"scan", "pose"} {
		if err := client.Unsubscribe(ctx, id); err != nil {
			t.Error(err)
		}
	}

	// A later process goes on where this one stopped.
	client.Close()
	state := client.State()
	resumed := newWatcher(t)
	resumed.last = maps.Clone(state.Num)
	again, err := callboard.Dial(t.Context(), callboard.Config{Brokers: []string{url}, Resume: &state, Handle: resumed.handle})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Subscribe(ctx, callboard.Subscription{ID: "scan", Condition: "laser.min < 8"}); err != nil {
		t.Fatal(err)
	}
	if n := resumed.next(); n.Seq <= state.Num[n.Source] {
		t.Errorf("number %d after %d", n.Seq, state.Num[n.Source])
	}
	if a := (<-resumed.others).(*callboard.Attached); !a.Resumed || a.Attachment <= state.Attachment {
		t.Errorf("%+v after %+v", a, state)
	}
}

// Two programs with one client id: the later one takes over.
func TestTakenOver(t *testing.T) {
	current := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, current) })
	url := startBroker(t)
	config := callboard.Config{Brokers: []string{url}, Client: "same", Handle: func(callboard.Event) {}}
	first, err := callboard.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := callboard.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	select {
	case <-first.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the first one goes on")
	}
	if err := first.Err(); err == nil {
		t.Error("the first one ended without an error")
	} else {
		t.Log(err)
	}
	if _, err := second.List(t.Context(), "robots"); err != nil {
		t.Error(err)
	}
}
