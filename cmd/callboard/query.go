package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"callboard/bridge/config"
	"callboard/bridge/search"
	"callboard/player/problem"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
	"callboard/subscribe/view"

	"github.com/urfave/cli/v2"
)

// queryID is the id of the condition that has no other.
const queryID = "query"

func (p *program) query() command {
	minInterval, hold, from, to := seconds(), seconds(), point(), point()
	return command{
		name: "query", summary: "conditions over recorded runs", args: "FILE… CONDITION",
		about: `Tests a condition over recorded runs (Player logs, also gzipped, and MCAP), with
the options of watch, and prints what a live run would have notified: a line for
each reading that matches, in the order of the recording, the same on any number
of processors. Several files are one time line, merged by the readings' times;
NAME=FILE gives the robot of a file another name (several: NAME- before theirs).
What is wrong in a file is told on stderr, and the search goes on.
--csv without --select has the values of the interfaces that the condition names;
of those that did not just arrive, the latest. --summary tells how often and how
long it held. --plot draws a picture: when it held, the selected values, and the
robots' paths in their world. With --from what comes before it is read, too. callboard
help conditions explains conditions.`,
		examples: []string{
			"callboard query run.log 'laser.min < 0.5'",
			"callboard query run.log 'laser.min < 0.5' --trigger rising --for 0.3 --summary",
			"callboard query monday.log tuesday.mcap 'position.stall' --robot 'r*' --json",
			"callboard query run.log 'sonar.min < 1' --select x=position.x --select y=position.y --csv",
			"callboard query run.log 'laser.min < 0.5' --condition 'fast=position.speed > 0.3' --plot run.png",
		},
		flags: slices.Concat([]cli.Flag{
			repeated("condition", "another condition's `TEXT`, or NAME=TEXT (repeat)"),
		}, optionFlags(minInterval, hold), []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "taken as watch takes it (all or latest): here nothing waits, and both give the same"},
			&cli.GenericFlag{Name: "from", Value: from, Usage: "begin at this `TIME` of the run, or @T: when its clock shows T"},
			&cli.GenericFlag{Name: "to", Value: to, Usage: "end at this `TIME` of the run, or @T"},
			&cli.BoolFlag{Name: "json", Usage: "print the notify objects of the protocol; with --summary an object a line"},
			&cli.BoolFlag{Name: "csv", Usage: "print comma-separated values under a heading"},
			&cli.BoolFlag{Name: "summary", Usage: "print how often and how long each condition held, by robot"},
			&cli.StringFlag{Name: "plot", Usage: "`FILE.png` or FILE.svg to draw"},
			&cli.StringFlag{Name: "world", Usage: "`FILE.world` to draw the paths in (default what was recorded with the run)"},
			&cli.StringFlag{Name: "config", Usage: "configuration `FILE` whose zones and limits hold"},
		}),
		run: func(ctx context.Context, c *cli.Context) error {
			args := c.Args().Slice()
			if err := filesAndCondition(args); err != nil {
				return err
			}
			q := &querier{p: p, json: c.Bool("json"), csv: c.Bool("csv"), summary: c.Bool("summary"), plot: c.String("plot"), world: c.String("world"), from: from.v, to: to.v}
			if quick && q.plot != "" {
				return fmt.Errorf("--plot is %w", errLeftOut)
			}
			if q.json && q.csv {
				return usagef("--json and --csv at the same time, expected one of them")
			}
			if q.csv && q.summary {
				return usagef("--csv and --summary at the same time, expected one of them")
			}
			if q.world != "" && q.plot == "" {
				return usagef("--world without --plot: it is only drawn")
			}
			if err := q.ask(c, args[len(args)-1], minInterval, hold); err != nil {
				return err
			}
			if err := q.settings(c.String("config")); err != nil {
				return err
			}
			defer q.close()
			return q.run(ctx, args[:len(args)-1])
		},
	}
}

// filesAndCondition returns what is missing in the arguments of a query.
func filesAndCondition(args []string) error {
	if len(args) == 0 {
		return usagef("FILE… CONDITION missing")
	}
	last := args[len(args)-1]
	if _, err := os.Stat(last); err == nil {
		return usagef("CONDITION missing after %s, as in callboard query %s 'laser.min < 0.5'", last, last)
	}
	if len(args) == 1 {
		return usagef("FILE missing before the condition %q", last)
	}
	return nil
}

// querier is a query that is carried out.
type querier struct {
	p                  *program
	json, csv, summary bool
	plot, world        string
	from, to           replay.Point

	settingsOf *config.Config
	asked      []protocol.Subscription
	names      []string // that are selected, in order
	sources    []search.Source
	query      *query.Query
	faults     faults
}

// ask makes the subscriptions of the flags.
func (q *querier) ask(c *cli.Context, condition string, minInterval, hold *flagValue[time.Duration]) error {
	for i, text := range append([]string{condition}, textsOf(c, "condition")...) {
		id := queryID
		if i > 0 {
			id = fmt.Sprintf("%s-%d", queryID, i+1)
			if name, named := selection(text); named != "" && name != strings.TrimSpace(text) {
				id, text = name, named
			}
		}
		sub, err := subscription(c, text, minInterval.v, hold.v)
		if err != nil {
			return err
		}
		sub.ID = id
		if slices.ContainsFunc(q.asked, func(o protocol.Subscription) bool { return o.ID == id }) {
			return usagef("two conditions are named %q, expected different names", id)
		}
		q.asked = append(q.asked, sub)
	}
	for _, text := range textsOf(c, "select") {
		name, _ := selection(text)
		q.names = append(q.names, name)
	}
	return nil
}

// momentOf returns the moment, in s, that a flag names of a run that begins at
// first; nil if it was not given.
func momentOf(p replay.Point, first float64) *float64 {
	if !p.Set {
		return nil
	}
	if !p.Absolute {
		p.Seconds += first
	}
	return &p.Seconds
}

// settings takes zones and limits of a configuration.
func (q *querier) settings(file string) error {
	settings, problems := config.Load(file, nil)
	if err := problems.Err(); err != nil && file != "" {
		return &problemsError{lines: problems.Lines(false)}
	}
	q.settingsOf = settings
	return nil
}

func (q *querier) run(ctx context.Context, files []string) error {
	if err := q.open(ctx, files); err != nil {
		return err
	}
	first, err := q.begin(ctx)
	if err != nil {
		return err
	}
	out, err := q.compile(first)
	if err != nil {
		return err
	}
	drawn, err := q.drawing()
	if err != nil {
		return err
	}
	c := search.Config{Sources: q.sources, Query: q.query, Problem: func(p *problem.Problem) { q.faults.add(q.p, p) }, Format: out.format, Write: out.write}
	if drawn != nil {
		c.Sink = drawn.sink
	}
	s, err := search.New(c)
	if err != nil {
		return err
	}
	done := q.p.progress("reading", !out.lines(), func(took time.Duration) string {
		read, all := s.Consumed()
		return bytesText(read, all, took)
	})
	result, err := s.Run(ctx)
	done()
	err = errors.Join(err, out.end())
	q.faults.end(q.p)
	if err != nil {
		return err
	}
	if from := momentOf(q.from, first); from != nil && *from > result.Last {
		return fmt.Errorf("--from is past the end of the run, which takes %.3f s", result.Last-first)
	}
	q.tell(result)
	if q.summary {
		if err := q.summarise(result); err != nil {
			return err
		}
	}
	if drawn != nil {
		drawn.first, drawn.last = result.First, result.Last
		return drawn.save(q.plot)
	}
	return nil
}

// open opens the files.
func (q *querier) open(ctx context.Context, files []string) error {
	for _, arg := range files {
		name, path := namedFile(arg)
		f, err := run.Open(path)
		if err != nil {
			return fileError(path, err)
		}
		f.Until(ctx)
		if name == "" && q.has(path) {
			f.Close()
			return usagef("%s is given twice: its readings would count twice; NAME=FILE makes another robot of it", path)
		}
		source := search.Source{File: f}
		q.sources = append(q.sources, source)
		if name == "" {
			continue
		}
		survey, err := q.p.survey(ctx, f)
		if err != nil {
			return err
		}
		several := len(survey.Robots) > 1
		q.sources[len(q.sources)-1].Name = func(robot string) string {
			if several {
				return name + "-" + robot
			}
			return name
		}
	}
	return nil
}

// has reports whether a file is open already under the robots' own names.
func (q *querier) has(path string) bool {
	info, err := os.Stat(path)
	return err == nil && slices.ContainsFunc(q.sources, func(s search.Source) bool {
		other, err := os.Stat(s.File.Name())
		return err == nil && s.Name == nil && os.SameFile(info, other)
	})
}

func (q *querier) close() {
	for _, s := range q.sources {
		s.File.Close()
	}
}

// begin finds the time of the first message.
func (q *querier) begin(ctx context.Context) (first float64, err error) {
	for i, s := range q.sources {
		t, found, err := search.First(ctx, s.File)
		switch {
		case err != nil:
			return 0, err
		case !found:
			name := s.File.Name()
			return 0, fmt.Errorf("%s holds no messages; expected a Player log or an MCAP file that callboard recorded (callboard check %s tells what is wrong with it)", name, name)
		case i == 0 || t < first:
			first = t
		}
	}
	return first, nil
}

// compile compiles the conditions, and says how to print what is found.
func (q *querier) compile(first float64) (*queryOutput, error) {
	c := query.Config{
		Subscriptions: q.asked, Zones: q.settingsOf.Zones, ConditionLength: q.settingsOf.Limits.ConditionLength,
		From: momentOf(q.from, first), To: momentOf(q.to, first), Spans: q.summary || q.plot != "",
	}
	if q.plot != "" {
		c.Also = []view.Kind{view.KindPosition}
	}
	out := &queryOutput{p: q.p, several: len(q.asked) > 1}
	switch {
	case q.csv:
		out.kind = printCSV
		c.Bare = true
	case q.json && !q.summary:
		out.kind = printJSON
	case q.summary || q.plot != "":
		c.Bare = true
	default:
		out.kind = printLines
	}
	var err error
	if q.query, err = query.New(c); err != nil {
		return nil, q.wrong(err)
	}
	if out.kind == printCSV {
		if len(q.names) == 0 {
			if err := q.selectAll(&c, out); err != nil {
				return nil, err
			}
		}
		out.columns = q.names
	}
	return out, out.begin()
}

// selectAll selects what a table has when nothing is chosen: all single values
// of what the conditions name. Of a condition that names nothing, the reading.
func (q *querier) selectAll(c *query.Config, out *queryOutput) error {
	for _, k := range q.query.Kinds() {
		q.names = append(q.names, scalars(k)...)
	}
	if len(q.names) == 0 {
		c.Bare, out.readings = false, true
	}
	selected := map[string]string{}
	for _, name := range q.names {
		selected[name] = name
	}
	c.Subscriptions = slices.Clone(q.asked)
	for i := range c.Subscriptions {
		if len(selected) > 0 {
			c.Subscriptions[i].Select = selected
		}
	}
	var err error
	if q.query, err = query.New(*c); err != nil {
		return q.wrong(err)
	}
	return nil
}

// wrong shows where a condition is wrong.
func (q *querier) wrong(err error) error {
	var problem *query.Problem
	if !errors.As(err, &problem) {
		return err
	}
	s := q.asked[problem.Index]
	err = explainCondition(s, clientError(problem))
	if len(q.asked) > 1 {
		return usagef("%s: %v", s.ID, err)
	}
	return err
}
