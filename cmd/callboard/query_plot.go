package main

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"callboard/sim"
	"callboard/sim/worldfile"
	"callboard/subscribe/condition"
	"callboard/subscribe/query"
	"callboard/subscribe/view"
)

// drawing collects what the picture of a query shows, in bounded memory
// however long the run is.
type drawing struct {
	query      *query.Query
	conditions []string // ids
	texts      []string // of the conditions
	values     []drawnValue
	walls      []sim.Outline
	robots     []*drawnRobot
	// The first and the last moment of the run, in s.
	first, last float64
}

// drawnValue is a selected expression.
type drawnValue struct {
	name    string
	text    string // the expression
	unit    string // "" for none, or none that is known
	program *condition.Program
}

// drawnRobot is what a robot did.
type drawnRobot struct {
	name   string
	spans  []spans // by condition
	series []series
	path   trail
}

// drawing prepares for the picture; nil if none is asked for.
func (q *querier) drawing() (*drawing, error) {
	if q.plot == "" {
		return nil, nil
	}
	if ending := strings.ToLower(filepath.Ext(q.plot)); ending != ".png" && ending != ".svg" {
		return nil, usagef("--plot %s, expected a file that ends in .png or .svg", q.plot)
	}
	if dir := filepath.Dir(q.plot); dir != "" { // not only when everything has been read
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("--plot %s: there is no directory %s", q.plot, dir)
		}
	}
	d := &drawing{query: q.query}
	for _, s := range q.asked {
		d.conditions, d.texts = append(d.conditions, s.ID), append(d.texts, s.Condition)
	}
	for _, name := range q.names {
		text := name
		if chosen, ok := q.asked[0].Select[name]; ok {
			text = chosen
		} else {
			continue // a table's columns, which nobody chose
		}
		p, err := q.query.Expression(text)
		if err != nil {
			return nil, err
		}
		d.values = append(d.values, drawnValue{name, text, unitOf(text), p})
	}
	w, err := q.recordedWorld()
	if err != nil || w == nil {
		return d, err
	}
	d.walls = w.Still()
	return d, nil
}

// recordedWorld returns the world to draw in, nil if there is none.
func (q *querier) recordedWorld() (*sim.World, error) {
	open, name := openFile, q.world
	if name == "" {
		for _, s := range q.sources {
			w, err := s.File.World()
			if err != nil {
				fmt.Fprintf(q.p.stderr, "callboard query: %v; the picture is drawn without its world\n", err)
				continue
			}
			if w != nil && w.File() != "" {
				open, name = w.Open, w.File()
				break
			}
		}
	}
	if name == "" {
		return nil, nil
	}
	file, problems := worldfile.Load(open, name)
	if err := q.p.problems(problems); err != nil {
		return nil, err
	}
	return sim.New(sim.Config{World: file})
}

// sink collects what is found of a robot.
func (d *drawing) sink(name string) query.Sink {
	if !d.query.WantsRobot(name) {
		return query.Sink{}
	}
	r := &drawnRobot{name: name, spans: make([]spans, len(d.conditions)), series: make([]series, len(d.values))}
	d.robots = append(d.robots, r)
	env, machine := &condition.Env{Robot: name}, &condition.Machine{}
	var text []byte
	return query.Sink{
		Span: func(condition int, from, to float64) { r.spans[condition].add(from, to) },
		Observe: func(a *view.Arrival, holds func(int) bool) {
			if a.Kind == view.KindPosition {
				p := a.Now.Position
				r.path.add(p.X, p.Y, mask(len(d.conditions), holds))
			}
			if len(d.values) == 0 {
				return
			}
			env.Take(a)
			for i := range d.values {
				p := d.values[i].program
				if p.Named() != 0 && !p.Named().Has(a.Kind.Set()) {
					continue
				}
				var err error
				if text, err = p.AppendValue(text[:0], machine, env); err != nil {
					continue
				}
				if v, ok := numberOf(text); ok {
					r.series[i].add(a.Time, v)
				}
			}
		},
	}
}

// mask has a bit for each of the first conditions that hold.
func mask(conditions int, holds func(int) bool) (m uint8) {
	for i := range min(conditions, 8) {
		if holds(i) {
			m |= 1 << i
		}
	}
	return m
}

// numberOf reads a JSON value that can be drawn.
func numberOf(text []byte) (float64, bool) {
	switch string(text) {
	case "true":
		return 1, true
	case "false":
		return 0, true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, err == nil && v-v == 0 // finite
}

// save draws the picture into a file.
func (d *drawing) save(name string) error {
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := d.draw(out, strings.EqualFold(filepath.Ext(name), ".svg")); err != nil {
		out.Close()
		return fmt.Errorf("drawing %s: %w", name, err)
	}
	return out.Close()
}

// Most of what is kept of a robot: more than a picture has room for.
const (
	maxSpans  = 4096
	maxPoints = 8192
)

// spans are stretches of time, in the order in which they came.
type spans struct{ all [][2]float64 }

// add adds a stretch. When there are too many, those with the shortest time
// between them become one.
func (s *spans) add(from, to float64) {
	s.all = append(s.all, [2]float64{from, to})
	if len(s.all) <= maxSpans {
		return
	}
	low, high := s.all[0][0], s.all[0][1]
	for _, one := range s.all {
		low, high = min(low, one[0]), max(high, one[1])
	}
	for gap := (high - low) / (4 * maxSpans); len(s.all) > maxSpans/2; gap *= 2 {
		left := s.all[:1]
		for _, one := range s.all[1:] {
			if last := &left[len(left)-1]; math.Abs(one[0]-last[1]) <= gap {
				last[0], last[1] = min(last[0], one[0]), max(last[1], one[1])
			} else {
				left = append(left, one)
			}
		}
		s.all = left
	}
}

// dot is a value at a time, or a place.
type dot struct{ x, y float64 }

// series are values over time. When there are too many, of several neighbours
// the least and the greatest stay.
type series struct {
	dots      []dot
	group     int // values that two dots stand for; 0 is 1
	n         int // values in the group that is filled
	low, high dot
}

func (s *series) add(time, value float64) {
	now := dot{time, value}
	if s.n == 0 || value < s.low.y {
		s.low = now
	}
	if s.n == 0 || value > s.high.y {
		s.high = now
	}
	if s.n++; s.n < max(s.group, 1) {
		return
	}
	s.n = 0
	s.dots = appendExtremes(s.dots, s.low, s.high)
	if len(s.dots) < maxPoints {
		return
	}
	dots := s.dots
	s.dots = s.dots[:0]
	for ; len(dots) >= 4; dots = dots[4:] {
		low, high := dots[0], dots[0]
		for _, d := range dots[1:4] {
			if d.y < low.y {
				low = d
			}
			if d.y > high.y {
				high = d
			}
		}
		s.dots = appendExtremes(s.dots, low, high)
	}
	s.dots = append(s.dots, dots...)
	s.group = 2 * max(s.group, 1)
}

// appendExtremes appends two dots in the order of time.
func appendExtremes(dots []dot, a, b dot) []dot {
	switch {
	case a == b:
		return append(dots, a)
	case b.x < a.x:
		a, b = b, a
	}
	return append(dots, a, b)
}

// trail is where a robot was, and which conditions held there: a line and, when
// that gets too long, the cells of a grid that it went through.
type trail struct {
	places []pathDot
	long   bool // places has only the beginning
	cells  map[[2]int]uint8
	size   float64 // m, of a cell
}

type pathDot struct {
	dot
	holds uint8 // a bit for each condition
}

const minCell = 0.01 // m

func (p *trail) add(x, y float64, holds uint8) {
	if n := len(p.places); n > 0 && p.places[n-1] == (pathDot{dot{x, y}, holds}) {
		return
	}
	if len(p.places) < maxPoints {
		p.places = append(p.places, pathDot{dot{x, y}, holds})
	} else {
		p.long = true
	}
	if p.cells == nil {
		p.cells, p.size = map[[2]int]uint8{}, minCell
	}
	p.cells[[2]int{int(math.Floor(x / p.size)), int(math.Floor(y / p.size))}] |= holds
	for len(p.cells) > maxPoints {
		p.size *= 2
		coarse := make(map[[2]int]uint8, len(p.cells)/2)
		for at, holds := range p.cells {
			coarse[[2]int{at[0] >> 1, at[1] >> 1}] |= holds
		}
		p.cells = coarse
	}
}

// dots are the cells' middles, in order.
func (p *trail) dots() []pathDot {
	var out []pathDot
	for _, at := range slices.SortedFunc(maps.Keys(p.cells), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		out = append(out, pathDot{dot{(float64(at[0]) + 0.5) * p.size, (float64(at[1]) + 0.5) * p.size}, p.cells[at]})
	}
	return out
}
