package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"callboard/bridge/search"
	"callboard/player/problem"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// summaryRow is how often and how long a condition held of a robot.
type summaryRow struct {
	ID          string   `json:"condition"`
	Robot       string   `json:"robot"`
	Count       uint64   `json:"count"`
	First       *float64 `json:"first"` // s, time of a reading; null: none matched
	Last        *float64 `json:"last"`
	Spans       uint64   `json:"spans"` // how often it began to hold
	Held        float64  `json:"held"`  // s, in all
	Longest     float64  `json:"longest"`
	LongestFrom *float64 `json:"longest_from"`
}

func newSummaryRow(id, robot string, c *query.Count) summaryRow {
	r := summaryRow{ID: id, Robot: robot, Count: c.Notifications, Spans: c.Spans, Held: c.Held, Longest: c.Longest}
	if c.Notifications > 0 {
		r.First, r.Last = &c.First, &c.Last
	}
	if c.Spans > 0 {
		r.LongestFrom = &c.LongestFrom
	}
	return r
}

// allRobots stands for all robots in a summary.
const allRobots = "*"

// summarise prints how often and how long conditions held.
func (q *querier) summarise(r *search.Result) error {
	var rows []summaryRow
	for i, s := range q.asked {
		var all query.Count
		robots := 0
		for k := range r.Robots {
			if !q.query.WantsRobot(r.Robots[k].Robot) {
				continue
			}
			c := &r.Robots[k].Conditions[i]
			all.Add(*c)
			robots++
			rows = append(rows, newSummaryRow(s.ID, r.Robots[k].Robot, c))
		}
		if robots != 1 {
			rows = append(rows, newSummaryRow(s.ID, allRobots, &all))
		}
	}
	if q.json {
		for _, row := range rows {
			line, err := json.Marshal(row)
			if err != nil {
				return fmt.Errorf("the summary: %w", err)
			}
			fmt.Fprintln(q.p.stdout, string(line))
		}
		return nil
	}
	t := table{headings: []string{"CONDITION", "ROBOT", "COUNT", "FIRST", "LAST", "SPANS", "HELD", "LONGEST", "FROM"},
		right: map[int]bool{2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true},
		spare: []int{8, 7, 4, 3}}
	for _, row := range rows {
		t.add(row.ID, row.Robot, fmt.Sprint(row.Count), moment(row.First), moment(row.Last), fmt.Sprint(row.Spans),
			fmt.Sprintf("%.3f", row.Held), fmt.Sprintf("%.3f", row.Longest), moment(row.LongestFrom))
	}
	if !q.p.terminal(q.p.stdout) {
		t.lines(q.p.stdout, "summary")
		return nil
	}
	q.p.printTable(&t)
	return nil
}

func moment(t *float64) string {
	if t == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *t)
}

// tell prints what people should know of a search.
func (q *querier) tell(r *search.Result) {
	note := func(format string, values ...any) {
		fmt.Fprintf(q.p.stderr, "callboard query: "+format+"\n", values...)
	}
	for _, f := range r.Failures {
		note("condition %s failed while it ran, and counted as false: %s", f.ID, f.Message)
	}
	switch {
	case r.Lost > 0:
		note("the recorder missed %s", plural(int(r.Lost), "message"))
	case r.Lacking:
		note("the recorder missed some messages")
	}
	tested := uint64(0)
	for _, robot := range r.Robots {
		tested += robot.Readings
		for _, why := range slices.Sorted(maps.Keys(robot.Skipped)) {
			if why == "no_geometry" || why == "no_configuration" {
				note("%s: %s gave no reading: the device's %s was never recorded before", robot.Robot, plural(int(robot.Skipped[why]), "message"), strings.TrimPrefix(why, "no_"))
			}
		}
	}
	for _, s := range q.sources {
		for _, topic := range s.File.Objects() {
			fmt.Fprintf(q.p.stderr, "%s: warning: %s\n", s.File.Name(), objectsOnly(topic))
		}
	}
	if tested == 0 {
		note("no reading tests the condition; it asks for %s of %s; %s", strings.Join(q.reads(), ", "), robotsAsked(q.asked), q.there())
	} else if patterns := q.asked[0].Devices; r.Notifications == 0 && !q.anyDevice(patterns) {
		note("--device %s names none of the devices; %s", strings.Join(patterns, ", "), q.there())
	}
}

// anyDevice reports whether the patterns name a device that the files begin with.
func (q *querier) anyDevice(patterns []string) bool {
	for _, s := range q.sources {
		list, err := s.File.Begins()
		if err != nil {
			return true // told by the search
		}
		for _, d := range list {
			if subscribe.WantsDevice(patterns, d.Addr.Interf.String(), d.Addr.String()) {
				return true
			}
		}
	}
	return false
}

// there returns what the files begin with.
func (q *querier) there() string {
	var robots, devices []string
	for _, s := range q.sources {
		list, err := s.File.Begins()
		if err != nil {
			continue // told by the search
		}
		for _, d := range list {
			name := d.Robot
			if s.Name != nil {
				name = s.Name(name)
			}
			robots, devices = append(robots, name), append(devices, d.Addr.String())
		}
	}
	return fmt.Sprintf("there are %s with %s", listed(robots), listed(devices))
}

// maxListed is how many names are listed.
const maxListed = 8

// listed lists names, each once.
func listed(names []string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// reads lists the interfaces that the conditions ask for.
func (q *querier) reads() []string {
	var names []string
	for _, k := range q.query.Kinds() {
		names = append(names, k.String())
	}
	if len(names) == 0 {
		return []string{"any interface"}
	}
	return names
}

func robotsAsked(subs []protocol.Subscription) string {
	who := "any robot"
	if len(subs[0].Robots) > 0 {
		who = strings.Join(subs[0].Robots, ", ")
	}
	if len(subs[0].Devices) > 0 {
		who += ", device " + strings.Join(subs[0].Devices, ", ")
	}
	return who
}

// Of each fault so many are told, and of faults so many; others are counted.
const (
	maxFaults = 5
	maxKinds  = 50
)

// faults prints what is wrong in files: each kind a few times, then they are
// counted.
type faults struct {
	kinds map[string]*faultKind // by message
	order []*faultKind
	more  int // of kinds that are not told
}

type faultKind struct {
	message string
	most    int // that are told
	count   int
}

func (f *faults) add(p *program, fault *problem.Problem) {
	if f.kinds == nil {
		f.kinds = map[string]*faultKind{}
	}
	k := f.kinds[fault.Message]
	if k == nil {
		if len(f.order) == maxKinds {
			f.more++
			return
		}
		k = &faultKind{message: fault.Message, most: maxFaults}
		if fault.Warning {
			k.most = 1
		}
		f.kinds[fault.Message], f.order = k, append(f.order, k)
	}
	if k.count++; k.count <= k.most {
		p.clearLine()
		fmt.Fprintln(p.stderr, fault)
	}
}

// end counts what was not told.
func (f *faults) end(p *program) {
	for _, k := range f.order {
		if k.count > k.most {
			fmt.Fprintf(p.stderr, "%s more: %s\n", plural(k.count-k.most, "line"), k.message)
		}
	}
	if f.more > 0 {
		fmt.Fprintf(p.stderr, "%s more\n", plural(f.more, "problem"))
	}
}
