package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"time"

	"callboard/subscribe"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// indexedMatch is the matcher, with a session for each robot.
type indexedMatch struct{ sessions []*subscribe.Session }

func newIndexedMatch(m *subscribe.Matcher, t *matchTexts) *indexedMatch {
	x := &indexedMatch{}
	for i := range t.robots {
		x.sessions = append(x.sessions, m.NewSession(subscribe.SessionConfig{Robot: fmt.Sprint("r", i), Emit: func(*subscribe.Matched) {}}))
	}
	return x
}

func (x *indexedMatch) match(r *matchReading) int { return x.sessions[r.robot].Find(&r.arrival) }

// plainMatch is plain expr.
type plainMatch struct {
	n        int
	programs []*vm.Program            // of each subscription
	byRobot  map[string][]*vm.Program // those of any robot under ""
	machine  vm.VM
}

// plainEnv is what plain expr sees.
type plainEnv struct {
	Robot    string         `expr:"robot"`
	Laser    *view.Laser    `expr:"laser"`
	Position *view.Position `expr:"position"`
}

// newPlainMatch compiles up to n conditions, or those that compile in a time.
func newPlainMatch(ctx context.Context, t *matchTexts, n int, most time.Duration) (*plainMatch, error) {
	p := &plainMatch{byRobot: map[string][]*vm.Program{}}
	known := map[string]*vm.Program{}
	for began := time.Now(); p.n < n && time.Since(began) < most; p.n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text := t.text(p.n)
		program := known[text]
		if program == nil {
			var err error
			if program, err = expr.Compile(text, expr.Env(plainEnv{}), expr.AsBool()); err != nil {
				return nil, fmt.Errorf("%s: %w", text, err)
			}
			if t.kind == "zipf" {
				known[text] = program
			}
		}
		robot, _, _ := t.two(p.n)
		p.programs = append(p.programs, program)
		p.byRobot[robot] = append(p.byRobot[robot], program)
	}
	return p, nil
}

// scan evaluates every subscription's condition.
func (p *plainMatch) scan(r *matchReading) int { return p.run(r, p.programs) }

// ofRobot evaluates those that ask for the reading's robot, or for none.
func (p *plainMatch) ofRobot(r *matchReading) int {
	return p.run(r, p.byRobot[r.name]) + p.run(r, p.byRobot[""])
}

func (p *plainMatch) run(r *matchReading, programs []*vm.Program) (matches int) {
	var env any = plainEnv{r.name, r.arrival.Now.Laser, r.arrival.Now.Position}
	for _, program := range programs {
		if v, err := p.machine.Run(program, env); err == nil && v == true {
			matches++
		}
	}
	return matches
}

// floorMatch is as little as could find matches: a map and a sorted array.
type floorMatch struct {
	robots map[string]*thresholds
	found  []int32
}

// thresholds are a robot's subscriptions by descending threshold.
type thresholds struct {
	limits []float64
	subs   []int32
}

func newFloorMatch(t *matchTexts, n int) *floorMatch {
	f := &floorMatch{robots: map[string]*thresholds{}}
	type limit struct {
		limit float64
		sub   int32
	}
	all := map[string][]limit{}
	for i := range n {
		robot, threshold, _ := t.two(i)
		all[robot] = append(all[robot], limit{threshold, int32(i)})
	}
	for robot, limits := range all {
		slices.SortFunc(limits, func(a, b limit) int { return cmp.Compare(b.limit, a.limit) })
		of := &thresholds{}
		for _, l := range limits {
			of.limits, of.subs = append(of.limits, l.limit), append(of.subs, l.sub)
		}
		f.robots[robot] = of
	}
	return f
}

func (f *floorMatch) match(r *matchReading) int {
	f.found = f.found[:0]
	near := r.arrival.Now.Laser.Min
	if of := f.robots[r.name]; of != nil {
		end := sort.Search(len(of.limits), func(i int) bool { return of.limits[i] <= near })
		f.found = append(f.found, of.subs[:end]...)
	}
	return len(f.found)
}
