package bridge_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
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
				c.Neighbours = append(c.Neighbours, config.Neighbour{ID: fmt.Sprint("b", j+1), Address: links[j]})
			}
		}
		if p, ok := robots[i]; ok {
			c.Players = []config.Player{p}
		}
		c.Complete()
		if err := c.Validate().Err(); err != nil {
			t.Fatal(err)
		}
		b, err := bridge.New(bridge.Config{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		run(t, b)
		brokers[i] = b
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
