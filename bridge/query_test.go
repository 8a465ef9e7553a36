package bridge_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/search"
	callboard "callboard/clients/go"
	"callboard/player/replay"
	runs "callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"

	"github.com/google/go-cmp/cmp"
)

// asked are conditions for golden logs: each way to be tested, each policy.
var asked = []protocol.Subscription{
	{ID: "near", Condition: "laser.min < 1"},
	{ID: "risen", Condition: "laser.min < 1.2 && position.speed > 0.05", Trigger: protocol.TriggerRising, For: 0.2},
	{ID: "changed", Condition: "sonar.min < 0.7", Trigger: protocol.TriggerChange},
	{ID: "seldom", Condition: "position.x > prev.position.x", MinInterval: 1},
	{ID: "chosen", Condition: "position.speed > 0", Select: map[string]string{"near": "laser.min", "at": "time"}},
	{ID: "rangers", Condition: `interface == "ranger" || interface == "gps" || interface == "imu"`},
	{ID: "further", Condition: "bumper.any || fiducial.count > 0 || power.volts > 0"},
}

// queried returns what a query finds in a run, by robot, as the notify objects
// behind their numbers, and how many readings were tested.
func queried(t *testing.T, file *runs.File, subs []protocol.Subscription) (all map[string][]string, total int, readings map[string]uint64) {
	t.Helper()
	q, err := query.New(query.Config{Subscriptions: subs})
	if err != nil {
		t.Fatal(err)
	}
	all, readings = map[string][]string{}, map[string]uint64{}
	s, err := search.New(search.Config{
		Sources: []search.Source{{File: file}}, Query: q, Format: protocol.AppendNotifyTail,
		Write: func(seq uint64, text []byte) error {
			if total++; uint64(total) != seq {
				t.Errorf("number %d, expected %d", seq, total)
			}
			robot := string(text[len(`,"robot":"`):])
			robot, _, _ = strings.Cut(robot, `"`)
			all[robot] = append(all[robot], string(text))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range result.Robots {
		readings[r.Robot] = r.Readings
	}
	return all, total, readings
}

// TestQueryAsLive: a log that is played into a whole broker gives a client the
// same notifications as a query of the log, of each robot in the same order.
func TestQueryAsLive(t *testing.T) {
	names, err := filepath.Glob("../testdata/logs/*.log")
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			content, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			source := recorded(t, name, content)
			var subs []protocol.Subscription
			for _, s := range asked {
				if _, n, _ := queried(t, source.File, []protocol.Subscription{s}); n > 0 || s.ID == "near" {
					subs = append(subs, s)
				}
			}
			want, total, readings := queried(t, source.File, subs)
			if total < 40 || len(subs) < 2 {
				t.Fatalf("a query finds %d readings by %d conditions", total, len(subs))
			}
			played, addresses := serveReplay(t, replay.Config{Sources: []replay.Source{source}})
			gate := make(chan struct{})
			var players []config.Player
			for i, p := range played.Ports() {
				players = append(players, config.Player{Address: addresses[i], Robot: p.Robots[0]})
			}
			b := startWith(t, bridge.Config{Dial: func(ctx context.Context, address string) (net.Conn, error) {
				select {
				case <-gate:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			}}, players...)
			c := attach(t, b)
			for _, s := range subs {
				subscribe(t, c, s)
			}
			close(gate)
			got := map[string][]string{}
			for seq := range total {
				n := notification(t, c, total-seq)
				if n.Seq != uint64(seq+1) || n.Skipped != 0 {
					t.Fatalf("notification %d, %d skipped, expected %d", n.Seq, n.Skipped, seq+1)
				}
				raw := string(n.Raw)
				head := fmt.Sprintf(`{"op":"notify","source":%q,"seq":%d`, n.Source, n.Seq)
				text, ok := strings.CutPrefix(raw, head)
				if !ok {
					t.Fatalf("%s does not begin with %s", raw, head)
				}
				got[n.Robot] = append(got[n.Robot], text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			until(t, "all readings are tested", func() bool {
				for robot, now := range robotsNow(t, b) {
					if now.Readings < readings[robot] {
						return false
					}
				}
				return true
			})
			select {
			case e := <-c.Events():
				if n, more := e.(*callboard.Notification); more {
					t.Errorf("one more: %s", n.Raw)
				}
			default:
			}
		})
	}
}

// notification waits for the next one.
func notification(t *testing.T, c *callboard.Client, missing int) *callboard.Notification {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e, ok := <-c.Events():
			switch e := e.(type) {
			case *callboard.Notification:
				return e
			case *callboard.Gap, *callboard.Fault, *callboard.Failure, *callboard.Detached:
				t.Fatalf("unexpected %T %+v", e, e)
			}
			if !ok {
				t.Fatalf("the client ended: %v", c.Err())
			}
		case <-deadline:
			t.Fatalf("no notification any more, %d missing", missing)
		}
	}
}

// TestQueryOfParts: a run in several files, in whatever order they are given,
// and in other formats, has the answers of one file.
func TestQueryOfParts(t *testing.T) {
	content, err := os.ReadFile("../testdata/logs/two-robots-laser-sonar.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(content), "\n")
	part := func(from, to int) string { return strings.Join(lines[from:to], "") }
	q, err := query.New(query.Config{Subscriptions: asked})
	if err != nil {
		t.Fatal(err)
	}
	find := func(texts ...string) (out []string) {
		var sources []search.Source
		for i, text := range texts {
			f, err := fileOf(fmt.Sprintf("part-%d.log", i), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, search.Source{File: f})
		}
		s, err := search.New(search.Config{Sources: sources, Query: q, Format: protocol.AppendNotifyTail, Write: func(seq uint64, text []byte) error {
			out = append(out, fmt.Sprint(seq, string(text)))
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := find(string(content))
	// By robot: what each server's recorder would have written.
	one, other := part(0, 8), part(0, 8)
	for _, line := range lines[8:] {
		if strings.Contains(line, " 6665 ") {
			one += line
		} else {
			other += line
		}
	}
	byRobot := func(all []string) (out []string) {
		for _, text := range all {
			_, text, _ = strings.Cut(text, ",")
			out = append(out, text)
		}
		slices.Sort(out)
		return out
	}
	for _, order := range [][]string{{one, other}, {other, one}} {
		if diff := cmp.Diff(byRobot(want), byRobot(find(order...))); diff != "" {
			t.Error("by robot:", diff)
		}
	}
	if !slices.Equal(find(one, other), find(one, other)) {
		t.Error("a second time something else")
	}
}
