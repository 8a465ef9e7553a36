package search_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/search"
	"callboard/player/problem"
	"callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

const logs = "../../testdata/logs"

// tester is a test or a property.
type tester interface {
	Helper()
	Fatal(...any)
}

func open(t *testing.T, names ...string) (files []*run.File) {
	t.Helper()
	for _, name := range names {
		f, err := run.Open(filepath.Join(logs, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	return files
}

func text(t tester, name, log string) *run.File {
	t.Helper()
	f, err := run.New(run.Config{R: strings.NewReader(log), Size: int64(len(log)), Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ask(t tester, subs ...protocol.Subscription) *query.Query {
	t.Helper()
	q, err := query.New(query.Config{Subscriptions: subs, Spans: true})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func word(dst []byte, n *protocol.Notify) []byte { return protocol.AppendNotifyTail(dst, n) }

// searched returns what a search finds: notifications, spans and problems.
func searched(t tester, q *query.Query, processors int, files ...*run.File) (out []string, result *search.Result) {
	t.Helper()
	var sources []search.Source
	for _, f := range files {
		sources = append(sources, search.Source{File: f})
	}
	s, err := search.New(search.Config{
		Sources: sources, Query: q, Processors: processors, Format: word,
		Write: func(seq uint64, text []byte) error {
			out = append(out, fmt.Sprint(seq, " ", string(text)))
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result, err = s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out, result
}

// plainly does the same with one loop over one file, every message read.
func plainly(t tester, q *query.Query, f *run.File) (out []string, tallies []query.Tally) {
	t.Helper()
	r, err := f.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	robots := map[string]*query.Robot{}
	var order []*query.Robot
	robot := func(name string) *query.Robot {
		if robots[name] == nil {
			robots[name] = q.NewRobot(name, query.Sink{Notify: func(n *protocol.Notify) {
				out = append(out, fmt.Sprint(len(out)+1, " ", string(word(nil, n))))
			}})
			order = append(order, robots[name])
		}
		return robots[name]
	}
	for {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			for _, one := range order {
				one.End()
				tallies = append(tallies, one.Tally())
			}
			query.Sort(tallies)
			return out, tallies
		case errors.As(err, new(*problem.Problem)):
			continue
		case err != nil:
			t.Fatal(err)
		}
		switch one := robot(rec.Robot); rec.Kind {
		case run.Up:
			one.Up(rec.World, rec.Devices, rec.Continued)
		case run.Known:
			one.Known(rec.Device)
		case run.Down:
			one.Down()
		case run.Data:
			if rec.Payload != nil && q.Choose(rec.Header.Interf) != query.Nothing {
				one.Arrive(rec.Reading())
			}
		}
	}
}

// counts are a tally's without what skipped messages change.
func counts(all []query.Tally) (out []string) {
	for _, t := range all {
		out = append(out, fmt.Sprintf("%s %+v %d", t.Robot, t.Conditions, t.Failures))
	}
	return out
}

var conditions = []protocol.Subscription{
	{Condition: "laser.min < 1"},
	{Condition: "laser.min < 1 && position.x > -5", Trigger: protocol.TriggerRising},
	{Condition: "sonar.min < 0.6", Trigger: protocol.TriggerChange, For: 0.3},
	{Condition: "position.speed > 0.1", MinInterval: 1},
	{Condition: "position.x > prev.position.x", Trigger: protocol.TriggerChange},
	{Condition: "position.speed > 0", Select: map[string]string{"near": "laser.min", "t": "time"}},
	{Condition: "any(laser.intensities, # > 0)"},
	{Condition: "true"},
	{Condition: "laser.ranges[300] > 1"},
	{Condition: "true", Robots: []string{"port-6666"}, Devices: []string{"laser"}},
}

// A search finds the same on any number of processors: what one loop finds
// that reads every message.
func TestSameOnAnyNumberOfProcessors(t *testing.T) {
	for _, name := range []string{"two-robots-laser-sonar.log", "beta-laser-odom.log", "alpha-ranger.log", "many-interfaces.log"} {
		for i, sub := range conditions {
			sub.ID = "c"
			q := ask(t, sub)
			file := open(t, name)[0]
			want, tallies := plainly(t, q, file)
			if i == 0 && len(want) == 0 && name != "many-interfaces.log" {
				t.Errorf("%s: nothing found", name)
			}
			for _, processors := range []int{1, 2, 5} {
				got, result := searched(t, q, processors, file)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s on %d: %s", name, sub.Condition, processors, diff)
				}
				if diff := cmp.Diff(counts(tallies), counts(result.Robots)); diff != "" {
					t.Errorf("%s: %s on %d: %s", name, sub.Condition, processors, diff)
				}
			}
		}
	}
}

// Whatever is in a log, and whatever is passed over of it, the answers are
// those of one loop that reads every message.
func TestSameAsPlainLoop(t *testing.T) {
	text2, err := os.ReadFile(filepath.Join(logs, "two-robots-laser-sonar.log"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := os.ReadFile(filepath.Join(logs, "beta-laser-odom.log"))
	if err != nil {
		t.Fatal(err)
	}
	head, lines := split(string(text2))
	_, others := split(string(more))
	rapid.Check(t, func(t *rapid.T) {
		log := []string{head}
		at := 0
		for range rapid.IntRange(1, 60).Draw(t, "lines") {
			from := lines
			if rapid.Bool().Draw(t, "other") {
				from = others
			}
			line := rapid.SampledFrom(from).Draw(t, "line")
			switch rapid.IntRange(0, 9).Draw(t, "time") {
			case 0:
				at = rapid.IntRange(0, 30).Draw(t, "at")
			case 1, 2, 3, 4:
				at++
			}
			_, rest, _ := strings.Cut(line, " ")
			log = append(log, strconv.FormatFloat(float64(at)/10, 'f', 3, 64)+" "+rest)
			if rapid.IntRange(0, 20).Draw(t, "broken") == 0 {
				log = append(log, rapid.SampledFrom([]string{"", "x", "## callboard {}", "1.0 0 6665 laser"}).Draw(t, "what"))
			}
		}
		var subs []protocol.Subscription
		for i := range rapid.IntRange(1, 2).Draw(t, "conditions") {
			sub := rapid.SampledFrom(conditions).Draw(t, "condition")
			sub.ID = strconv.Itoa(i)
			subs = append(subs, sub)
		}
		q := ask(t, subs...)
		all := strings.Join(log, "\n")
		want, tallies := plainly(t, q, text(t, "x.log", all))
		got, result := searched(t, q, rapid.IntRange(1, 3).Draw(t, "processors"), text(t, "x.log", all))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(counts(tallies), counts(result.Robots)); diff != "" {
			for _, line := range log[1:] {
				t.Log(line[:min(len(line), 60)])
			}
			t.Fatal(diff)
		}
	})
}

// split returns a log's head with its geometries, and its readings.
func split(log string) (head string, lines []string) {
	var first []string
	for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
		if fields := strings.Fields(line); strings.HasPrefix(line, "##") || fields[5] == "004" {
			first = append(first, line)
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(first, "\n"), lines
}
