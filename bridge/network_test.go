package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/node"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// row runs brokers b1…bn in a row, the registry on b1. Each is told of its
// neighbours; robots says which broker reads which Player servers.
func row(t *testing.T, n int, robots map[int]config.Player) []*bridge.Bridge {
	t.Helper()
	links := make([]string, n)
	for i := range links {
		links[i] = freeAddress(t)
	}
	brokers := make([]*bridge.Bridge, n)
	for i := range brokers {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Links, c.Broker.Data = fmt.Sprint("b", i+1), "127.0.0.1:0", links[i], t.TempDir()
		c.Broker.Heartbeat = 0.2
		c.Registry.Broker = "b1"
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				// the first link is compressed, the second only one side asks for
				c.Neighbours = append(c.Neighbours, config.Neighbour{ID: fmt.Sprint("b", j+1), Address: links[j], Compress: min(i, j) == 0 || i < j && i == 1})
			}
		}
		if p, ok := robots[i]; ok {
			c.Players = []config.Player{p}
		}
		brokers[i] = startAs(t, bridge.Config{Config: c})
	}
	return brokers
}

// TestNotificationsCrossBrokers: a client at one end of a row gets what a
// robot at the other end gives, each once and in order.
func TestNotificationsCrossBrokers(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 4, map[int]config.Player{3: {Address: robot.Addr(), Robot: "r0"}})
	c := attach(t, brokers[0])
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	last := uint64(0)
	var at []float64
	for deadline := time.After(patience); last < 100; {
		select {
		case e := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				if e.Seq != last+1+e.Skipped || e.Robot != "r0" {
					t.Fatalf("%+v after %d", e.Notify, last)
				}
				last = e.Seq
				at = append(at, e.Time)
			case *callboard.Gap, *callboard.Fault, *callboard.Failure:
				t.Fatalf("unexpected %T %+v", e, e)
			}
		case <-deadline:
			t.Fatalf("only %d notifications came", last)
		}
	}
	if !slices.IsSorted(at) {
		t.Error("a robot's readings came out of order")
	}
}

// TestMessagesCrossBrokers: who asks for the messages that readings came of gets
// them from another broker too, to the bit, and a neighbour in between that wants
// the reading gets that.
func TestMessagesCrossBrokers(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 3, map[int]config.Player{2: {Address: robot.Addr(), Robot: "r0"}})
	recorder, other := attach(t, brokers[0]), attach(t, brokers[1])
	subscribe(t, recorder, protocol.Subscription{ID: "a", Condition: "position.x >= 0", Messages: true})
	subscribe(t, other, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	for range 20 {
		n := notified(t, recorder)
		all, err := player.SplitMessages(n.Messages)
		if err != nil || len(all) != 1 || n.Reading != nil {
			t.Fatalf("%d messages (%v) and the reading %s", len(all), err, n.Reading)
		}
		var p iface.Position2DData
		if err := iface.Decode(all[0].Body, &p); err != nil || all[0].Interf != player.InterfacePosition2D || all[0].Timestamp != n.Time {
			t.Fatalf("%s with %+v (%v), of a reading at %g", all[0].Header, p, err, n.Time)
		}
		if n = notified(t, other); n.Messages != nil || n.Reading == nil {
			t.Fatalf("who does not ask gets messages of %d bytes and the reading %s", len(n.Messages), n.Reading)
		}
	}
}

// TestRoam: a program moves from broker to broker along a row and back, while
// notifications flow: it gets each once, in order, and no gap.
func TestRoam(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 4, map[int]config.Player{1: {Address: robot.Addr(), Robot: "r0"}})
	c := attach(t, brokers[0])
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	moves := []int{3, 0, 2, 1, 3, 2, 0}
	source, last := "", uint64(0)
	for count := 0; len(moves) > 0 || count%20 != 0; {
		select {
		case e := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				if source == "" {
					source = e.Source
				}
				if e.Source != source || e.Seq != last+1+e.Skipped {
					t.Fatalf("%s %d (skipped %d) after %s %d, %d moves to go", e.Source, e.Seq, e.Skipped, source, last, len(moves))
				}
				last = e.Seq
				if count++; count%20 == 0 && len(moves) > 0 {
					if err := c.Move(ctx, brokers[moves[0]].WebSocketURL()); err != nil {
						t.Fatal(err)
					}
					moves = moves[1:]
				}
			case *callboard.Gap, *callboard.Fault, *callboard.Failure, *callboard.Detached, *callboard.Stayed:
				t.Fatalf("unexpected %T %+v", e, e)
			}
		case <-ctx.Done():
			t.Fatalf("after %d notifications nothing comes any more, %d moves to go", last, len(moves))
		}
	}
}

// TestCommandsCrossBrokers: a client commands a robot that another broker
// reads, by a third that holds the registry; what cannot be is told as of a
// robot here.
func TestCommandsCrossBrokers(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 3, map[int]config.Player{2: {Address: robot.Addr(), Robot: "r0"}})
	c := attach(t, brokers[1])
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	notified(t, c) // so the robot is there
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for range 2 { // by way of the registry, then straight
		if _, err := c.Command(ctx, callboard.Command{Robot: "r0", Name: "velocity", Args: []any{0.5}, TTL: 10}); err != nil {
			t.Fatal(err)
		}
	}
	for _, wrong := range []struct {
		command callboard.Command
		code    protocol.Code
	}{
		{callboard.Command{Robot: "r9", Name: "stop"}, protocol.NotFound},
		{callboard.Command{Robot: "r0", Name: "fly"}, protocol.BadMessage},
		{callboard.Command{Robot: "r0", Name: "velocity"}, protocol.BadMessage},
	} {
		_, err := c.Command(ctx, wrong.command)
		var refused *callboard.Error
		if !errors.As(err, &refused) || refused.Code != wrong.code {
			t.Errorf("%+v: %v, expected %s", wrong.command, err, wrong.code)
		}
	}
}

// TestListsAreOfTheNetwork: whichever broker is asked, it tells of all.
func TestListsAreOfTheNetwork(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 3, map[int]config.Player{0: {Address: robot.Addr(), Robot: "r0"}})
	c := attach(t, brokers[2])
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	notified(t, c)
	other := attach(t, brokers[1])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var robots []node.Robot
	list(t, ctx, other, "robots", &robots)
	if len(robots) != 1 || robots[0].Robot.Robot != "r0" || robots[0].Broker != "b1" {
		t.Errorf("robots: %+v", robots)
	}
	var subscriptions []node.Subscription
	list(t, ctx, other, "subscriptions", &subscriptions)
	if len(subscriptions) != 1 || subscriptions[0].ID != "a" || subscriptions[0].Broker != "b3" {
		t.Errorf("subscriptions: %+v", subscriptions)
	}
	var all []node.Broker
	list(t, ctx, other, "brokers", &all)
	if len(all) != 3 || all[0].ID != "b2" || !all[0].Here || all[1].ID != "b1" || all[2].ID != "b3" || all[1].Here {
		t.Fatalf("brokers: %+v", all)
	}
	if len(all[0].Neighbours) != 2 || !all[0].Neighbours[1].Up || all[0].RouteCount != 1 || all[0].Routes[0].Down != "b3" || all[0].Routes[0].Up != "b1" || all[0].Routes[0].From != "b1" {
		t.Errorf("the broker on the way: %+v", all[0])
	}
	if first, second := all[1].Neighbours[0], all[2].Neighbours[0]; !first.Compressed || second.Compressed {
		t.Errorf("compressed: %v, %v; expected the link of b1 and b2 only", first.Compressed, second.Compressed)
	}
	if s := all[2].Sessions; len(s) != 1 || !s[0].Attached || s[0].Subscriptions != 1 || len(s[0].Sequences) != 1 || s[0].Sequences[0].Last == 0 {
		t.Errorf("the edge's sessions: %+v", s)
	}
}

// notified waits for a notification.
func notified(t *testing.T, c *callboard.Client) *callboard.Notification {
	t.Helper()
	for deadline := time.After(patience); ; {
		select {
		case e := <-c.Events():
			if n, ok := e.(*callboard.Notification); ok {
				return n
			}
		case <-deadline:
			t.Fatal("no notification came")
		}
	}
}

func list(t *testing.T, ctx context.Context, c *callboard.Client, what string, into any) {
	t.Helper()
	text, err := c.List(ctx, what)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// TestARobotsNameIsOneBrokers: of two robots of one name the second is
// refused, and both brokers say so.
func TestARobotsNameIsOneBrokers(t *testing.T) {
	first, second := playertest.Fake(t, playertest.Good), playertest.Fake(t, playertest.Good)
	brokers := row(t, 3, map[int]config.Player{0: {Address: first.Addr(), Robot: "r0"}, 2: {Address: second.Addr(), Robot: "r0"}})
	c := attach(t, brokers[1])
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		var robots []node.Robot
		list(t, ctx, c, "robots", &robots)
		if len(robots) == 2 && robots[0].Refused != robots[1].Refused {
			refused, other := robots[0], robots[1]
			if other.Refused {
				refused, other = other, refused
			}
			if refused.Error != "refused: broker "+other.Broker+" reads a robot of this name" || other.Warning == "" {
				continue // the other one has yet to hear of it
			}
			if _, err := c.Command(ctx, callboard.Command{Robot: "r0", Name: "stop"}); err != nil {
				t.Error(err)
			}
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("robots: %+v", robots)
		}
	}
}

// TestWarningAboutNobody: a subscription that no robot of the network can
// match is told so; one that a robot elsewhere can is not.
func TestWarningAboutNobody(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	brokers := row(t, 2, map[int]config.Player{1: {Address: robot.Addr(), Robot: "r0"}})
	c := attach(t, brokers[0])
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	notified(t, c) // so the registry knows the robot
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, want := range []struct {
		s      callboard.Subscription
		warned bool
	}{
		{callboard.Subscription{ID: "b", Condition: "position.x >= 1", Robots: []string{"r*"}}, false},
		{callboard.Subscription{ID: "c", Condition: "position.x >= 1", Robots: []string{"x*"}}, true},
		{callboard.Subscription{ID: "d", Condition: "gripper.time > 0"}, true},
		{callboard.Subscription{ID: "e", Condition: "position.x >= 1 && robot == \"r7\""}, true},
		{callboard.Subscription{ID: "f", Condition: "position.x >= 1 && robot == \"r0\""}, false},
		{callboard.Subscription{ID: "g", Condition: "position.x >= 1 && index == 9"}, true},
		{callboard.Subscription{ID: "h", Condition: "position.x >= 1 && index == 9", Trigger: "change"}, false},
	} {
		got, err := c.Subscribe(ctx, want.s)
		if err != nil {
			t.Fatal(err)
		}
		if (got.Warning != "") != want.warned {
			t.Errorf("%s: warning %q", want.s.ID, got.Warning)
		}
	}
}

// TestRequirementsAreStored: a subscription whose condition bounds a value on
// one side survives a restart as any other.
func TestRequirementsAreStored(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	log := &strings.Builder{}
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	c.Players = []config.Player{{Address: robot.Addr(), Robot: "r0"}}
	c.Complete()
	b, err := bridge.New(bridge.Config{Config: c, Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	stop := run(t, b)
	client := attach(t, b)
	subscribe(t, client, protocol.Subscription{ID: "a", Condition: "position.x >= 0 && position.y < 1e9"})
	notified(t, client)
	stop()
	if strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("the broker logged: %s", log)
	}
}

// TestLinksComeAndGo: links are made and given up while notifications flow, in the
// end all of the broker that a program hangs on. It gets each notification once, in
// order, and no gap.
func TestLinksComeAndGo(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	all := row(t, 3, map[int]config.Player{2: {Address: robot.Addr(), Robot: "r0"}})
	b1, b2, b3 := all[0], all[1], all[2]
	steps := []func() error{
		func() error { return errors.Join(b1.SetNeighbours(b2, b3), b3.SetNeighbours(b2, b1)) }, // a triangle
		func() error { return b1.SetNeighbours(b3) },
		func() error { return b1.SetNeighbours(b2, b3) },
		func() error { return b3.SetNeighbours(b2) },
		func() error {
			return errors.Join(b1.SetNeighbours(), b1.SetNeighbours(b2), b1.SetNeighbours(), b1.SetNeighbours(b2, b3))
		},
		func() error { return b1.SetNeighbours() },
	}
	c := attach(t, b1)
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	const each = 20 // notifications between two steps
	last, alone := uint64(0), 0
	for count, end := 0, time.After(3*patience); count < each*(len(steps)+1); {
		var silent <-chan time.Time
		if count >= each*len(steps) && alone == 0 { // b1 has no link
			silent = time.After(time.Second)
		}
		select {
		case e := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				if e.Seq != last+1+e.Skipped {
					t.Fatalf("%d (skipped %d) after %d, step %d", e.Seq, e.Skipped, last, count/each)
				}
				last = e.Seq
				if count++; count%each == 0 && count/each <= len(steps) {
					if err := steps[count/each-1](); err != nil {
						t.Fatal(err)
					}
				}
			case *callboard.Gap:
				t.Fatalf("%+v after %d, step %d", e, last, count/each)
			}
		case <-silent:
			if alone++; b1.SetNeighbours(b2) != nil {
				t.Fatal("b2 is refused")
			}
		case <-end:
			t.Fatalf("after %d notifications nothing comes any more, step %d", last, count/each)
		}
	}
	if alone == 0 {
		t.Error("notifications came while b1 had no link")
	}
}
