package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/record"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/replay"
	"callboard/sim/simdriver"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// roundPatience is how long anything may take.
const roundPatience = 60 * time.Second

// asked are the conditions of the round, each with other options.
var asked = []protocol.Subscription{
	{ID: "near", Condition: "laser.min < 1.0004321"},
	{ID: "turns", Condition: "laser.left < 1.2504321 and position.speed > 0.05", Trigger: "change"},
	{ID: "still", Condition: "laser.front > 0.7504321", Trigger: "rising", For: 0.4, Select: map[string]string{"x": "position.x", "front": "laser.front"}},
	{ID: "seldom", Condition: "true", Devices: []string{"position2d"}, MinInterval: 1},
}

// TestSameAnswers is the whole round: a live run is read by a broker, and
// recorded into MCAP and into a Player log at the same time. What the broker
// notified live, what a query finds in the recording, and what a broker that
// reads its replay notifies are the same, to the last digit with MCAP. The
// log has three decimals: its query and its replay are the same as each other,
// and, where no value is within them of a threshold, the same readings match.
func TestSameAnswers(t *testing.T) {
	dir := t.TempDir()
	names := []string{filepath.Join(dir, "run.mcap"), filepath.Join(dir, "run.log")}
	live := liveRun(t, names)
	if len(live) < 100 {
		t.Fatalf("the live run gave %d notifications, expected some hundreds", len(live))
	}
	found := map[string][]string{}
	for _, name := range names {
		found[name] = queried(t, name, asked)
		replayed := replayedRun(t, name, len(found[name]))
		if diff := cmp.Diff(found[name], replayed); diff != "" {
			t.Errorf("%s: a query (-) and a replay (+) differ:\n%s", filepath.Base(name), diff)
		}
	}
	if diff := cmp.Diff(live, found[names[0]]); diff != "" {
		t.Errorf("the live run (-) and a query of its MCAP file (+) differ:\n%s", diff)
	}
	if diff := cmp.Diff(matched(t, live), matched(t, found[names[1]])); diff != "" {
		t.Errorf("the live run (-) and a query of its log (+) match other readings:\n%s", diff)
	}
}

// liveRun simulates three robots that drive about, reads them with a broker and
// records them, and returns the notifications.
func liveRun(t *testing.T, outputs []string) []string {
	t.Helper()
	p := &program{stdout: t.Output(), stderr: t.Output(), getenv: func(string) string { return "" }}
	file, err := p.bundledWorld(0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSimulation(simulationConfig{
		file: file, listen: "127.0.0.1:0", logger: slog.New(slog.DiscardHandler),
		driver: simdriver.Config{Speed: 1, Wander: true, Paused: true, Seed: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	running := inBackground(t)
	running.run("the simulation", s.run)
	b, gate := gatedBroker(t, running, s.players("", 0, 1))
	events := subscribedTo(t, b, asked)
	close(gate)
	var recorders []*record.Recorder
	ends := make([]func(), len(outputs))
	for i, name := range outputs {
		var servers []record.Server
		for _, port := range s.ports {
			servers = append(servers, record.Server{Address: port.address, Robot: port.robots[0]})
		}
		r, err := record.New(record.Config{Output: name, Servers: servers})
		if err != nil {
			t.Fatal(err)
		}
		recorders = append(recorders, r)
		ends[i] = running.run("recording "+name, r.Run)
	}
	for _, r := range recorders {
		until(t, "the recorder is up", func() bool { return r.Status().Up == len(s.ports) })
	}
	until(t, "the broker reads all robots", func() bool { return robotsUp(t, b) == len(s.ports) })
	const rounds, steps = 15, 20
	drive(t, s, rounds, steps)
	published := uint64(0)
	for _, port := range s.ports {
		published += port.server.Stats().Published
	}
	for i, r := range recorders {
		until(t, "all is recorded", func() bool { return r.Status().Messages == published })
		ends[i]()
	}
	return notifications(t, events, len(queried(t, outputs[0], asked)))
}

// drive lets the simulation make steps, in rounds that no client's queue is too
// short for.
func drive(t *testing.T, s *simulation, rounds, steps int) {
	t.Helper()
	up := make(chan struct{})
	c, err := client.New(client.Config{Address: s.ports[0].address, Open: func(player.Addr) bool { return false }, Handler: waiting{up: up}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), roundPatience)
	done := make(chan struct{})
	go func() { defer close(done); c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	<-up
	for range rounds {
		step := &iface.SimulationPropertyReq{Prop: iface.CString("step"), Value: binary.LittleEndian.AppendUint32(nil, uint32(steps))}
		if err := c.Request(ctx, player.Addr{Interf: player.InterfaceSimulation}, iface.ReqSimulationSetProperty, step, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// waiting is a client's handler that tells when the session stands.
type waiting struct{ up chan struct{} }

func (w waiting) Up([]client.Device)         { close(w.up) }
func (w waiting) Changed(client.Device)      {}
func (w waiting) Message(player.Header, any) {}
func (w waiting) Round()                     {}
func (w waiting) Overflow(uint64)            {}
func (w waiting) Down(error)                 {}

// replayedRun replays a recording as fast as possible into a broker, and returns
// the n notifications.
func replayedRun(t *testing.T, name string, n int) []string {
	t.Helper()
	p := &program{stdout: t.Output(), stderr: t.Output(), getenv: func(string) string { return "" }}
	sources, err := p.openRuns(t.Context(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeRuns(sources) })
	r, err := replay.New(replay.Config{Sources: sources})
	if err != nil {
		t.Fatal(err)
	}
	servers, err := replayServers(r, runMaps(sources, slog.New(slog.DiscardHandler)), "127.0.0.1:0", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	running := inBackground(t)
	running.run("the replay", func(ctx context.Context) error { return servers.run(ctx, r) })
	var players []config.Player
	for _, port := range servers {
		players = append(players, config.Player{Address: port.address, Robot: port.robots[0]})
	}
	b, gate := gatedBroker(t, running, players)
	events := subscribedTo(t, b, asked)
	close(gate)
	until(t, "the replay ends", func() bool { return r.Progress().Ended })
	return notifications(t, events, n)
}

// queried returns what callboard query finds.
func queried(t *testing.T, name string, asked []protocol.Subscription) []string {
	t.Helper()
	var out bytes.Buffer
	p := &program{stdout: &out, stderr: t.Output(), getenv: os.Getenv}
	var all []string
	for _, s := range asked {
		out.Reset()
		args := []string{"query", name, s.Condition, "--json"}
		for flag, value := range map[string]string{"trigger": s.Trigger, "for": fmt.Sprint(s.For), "min-interval": fmt.Sprint(s.MinInterval)} {
			if value != "" && value != "0" {
				args = append(args, "--"+flag, value)
			}
		}
		for name, text := range s.Select {
			args = append(args, "--select", name+"="+text)
		}
		for _, d := range s.Devices {
			args = append(args, "--device", d)
		}
		if code := p.run(t.Context(), args); code != 0 {
			t.Fatalf("%v ended with %d", args, code)
		}
		for line := range strings.Lines(out.String()) {
			var n protocol.Notify
			if err := json.Unmarshal([]byte(line), &n); err != nil {
				t.Fatal(err)
			}
			all = append(all, spread(t, n, s.ID)...)
		}
	}
	slices.Sort(all)
	return all
}

// spread returns a line for each subscription that a notification is of, without
// its number: with the reading, or what was selected of it.
func spread(t *testing.T, n protocol.Notify, id string) []string {
	t.Helper()
	var out []string
	for _, m := range n.Subscriptions {
		line := map[string]any{"robot": n.Robot, "device": fmt.Sprint(n.Interface, ":", n.Index), "time": n.Time, "state": m.State, "values": m.Values}
		if m.Values == nil {
			line["reading"] = n.Reading
		}
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		if id != "" {
			m.ID = id
		}
		out = append(out, m.ID+" "+string(text))
	}
	return out
}

// matched returns which readings lines are of, and by which condition, with the
// time in ms.
func matched(t *testing.T, lines []string) []string {
	t.Helper()
	var out []string
	for _, line := range lines {
		id, text, _ := strings.Cut(line, " ")
		var n struct {
			Robot, Device string
			Time          float64
			State         *bool
		}
		if err := json.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		state := ""
		if n.State != nil {
			state = fmt.Sprint(*n.State)
		}
		out = append(out, fmt.Sprintf("%s %s %s %.0f %s", id, n.Robot, n.Device, math.Round(1000*n.Time), state))
	}
	slices.Sort(out)
	return out
}

// background runs things until the test ends.
type background struct {
	t   *testing.T
	ctx context.Context
	wg  sync.WaitGroup
}

func inBackground(t *testing.T) *background {
	ctx, cancel := context.WithCancel(context.Background())
	b := &background{t: t, ctx: ctx}
	t.Cleanup(func() { cancel(); b.wg.Wait() })
	return b
}

// run runs something until the test ends or end is called, which waits for it.
func (b *background) run(what string, f func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	b.wg.Go(func() {
		defer close(done)
		if err := f(ctx); err != nil && ctx.Err() == nil {
			b.t.Errorf("%s: %v", what, err)
		}
	})
	return func() { cancel(); <-done }
}

// gatedBroker is a broker that connects to its Player servers once the gate is
// closed: after the subscriptions.
func gatedBroker(t *testing.T, running *background, players []config.Player) (*bridge.Bridge, chan struct{}) {
	t.Helper()
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	c.Players = players
	c.Complete()
	if err := c.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	gate := make(chan struct{})
	b, err := bridge.New(bridge.Config{Config: c, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}})
	if err != nil {
		t.Fatal(err)
	}
	running.run("the broker", b.Run)
	return b, gate
}

// subscribedTo subscribes to all that is asked.
func subscribedTo(t *testing.T, b *bridge.Bridge, asked []protocol.Subscription) *callboard.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), roundPatience)
	defer cancel()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{b.WebSocketURL()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for _, s := range asked {
		if _, err := c.Subscribe(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// notifications takes notifications until there are n lines of them.
func notifications(t *testing.T, c *callboard.Client, n int) []string {
	t.Helper()
	deadline := time.After(roundPatience)
	var all []string
	for len(all) < n {
		select {
		case e := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				all = append(all, spread(t, e.Notify, "")...)
			case *callboard.Gap, *callboard.Fault, *callboard.Failure:
				t.Fatalf("unexpected %T %+v", e, e)
			}
		case <-deadline:
			t.Errorf("%d notifications came, expected %d", len(all), n)
			n = 0
		}
	}
	slices.Sort(all)
	return all
}

func robotsUp(t *testing.T, b *bridge.Bridge) int {
	t.Helper()
	answer, err := http.Get(b.URL() + "/api/robots")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var all []struct{ State string }
	if err := json.NewDecoder(answer.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range all {
		if r.State == protocol.RobotUp {
			n++
		}
	}
	return n
}

// until looks again and again.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(roundPatience); !ok(); <-look.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
