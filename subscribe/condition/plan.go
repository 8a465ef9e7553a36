package condition

import (
	"math"
	"slices"
)

// Plan says how to find a condition by the values of a reading, instead of
// evaluating it.
type Plan struct {
	// Never: no reading makes it true.
	Never bool
	// Accesses: if it is true, a value is in one of these. None means that
	// nothing is known (unless Never).
	Accesses []Access
	// Exact: it is true if, and only if, the one access is met.
	Exact bool
	// Guards: if it is true, these are met too, of values of the schema.
	Guards []Access
}

// MaxGuards is how many guards a plan has at the most.
const MaxGuards = 2

// Access is an interval of a value.
type Access struct {
	Value  int // number of the value, the schema's or the program's own
	Lo, Hi float64
	NaN    bool // also what is no number
}

// Own returns the values of the program's own, numbered from SchemaValues on.
func (p *Program) Own() []*Value {
	if p.operands == nil {
		return nil
	}
	return p.operands.values
}

// impossible is the weight of what no access leads to.
var impossible = math.Inf(1)

// planner finds the accesses of a program that meet the fewest readings: a
// set of edges of its tests such that every way to true takes one of them.
type planner struct {
	program *Program
	robot   string
	known   bool
	cuts    [maxTests]float64 // weight of the best set below a test; 0 if not yet known
}

// Plan plans for readings of one robot, or of any if it is not known.
func (p *Program) Plan(robot string, known bool) Plan {
	pl := planner{program: p, robot: robot, known: known}
	start := pl.next(p.start)
	if start == endFalse {
		return Plan{Never: true}
	}
	if math.IsInf(pl.cut(start), 1) {
		return Plan{}
	}
	var out Plan
	exact := pl.take(start, &out.Accesses, map[uint8]bool{})
	out.Exact = exact && len(out.Accesses) == 1 && p.needsOnly(p.value(uint16(out.Accesses[0].Value)))
	if !out.Exact {
		out.Guards = pl.guards(start, out.Accesses)
	}
	return out
}

// guards finds the tests that fewest readings meet of those that must hold for
// the condition to be true, apart from its accesses.
func (pl *planner) guards(start uint8, accesses []Access) (best []Access) {
	var weights []float64
	for i := range pl.program.tests {
		t := &pl.program.tests[i]
		if t.kind != testSpan || int(t.value) >= len(schemaValues) || slices.ContainsFunc(accesses, func(a Access) bool { return a.Value == int(t.value) }) {
			continue
		}
		weight, _ := pl.weights(t)
		at, _ := slices.BinarySearch(weights, weight)
		if weight < 1 && at < MaxGuards && !pl.without(start, uint8(i), new([maxTests]bool)) {
			weights = slices.Insert(weights, at, weight)
			best = slices.Insert(best, at, Access{Value: int(t.value), Lo: t.lo, Hi: t.hi})
		}
	}
	return best[:min(len(best), MaxGuards)]
}

// without reports whether the condition can be true although a test does not
// hold.
func (pl *planner) without(at, test uint8, seen *[maxTests]bool) bool {
	if at >= endTrue {
		return at != endFalse
	}
	if seen[at] {
		return false
	}
	seen[at] = true
	t := &pl.program.tests[at]
	return at != test && pl.without(pl.next(t.yes), test, seen) || pl.without(pl.next(t.no), test, seen)
}

func (p *Program) needsOnly(v *Value) bool { return v.now == p.needs && v.prev == p.prev }

// next passes over the tests whose outcome the robot's name decides.
func (pl *planner) next(at uint8) uint8 {
	for at < endTrue {
		t := &pl.program.tests[at]
		if !pl.known || t.kind != testText || variables[t.value].Name != "robot" {
			return at
		}
		if at = t.no; pl.program.operands.texts[t.text] == pl.robot {
			at = t.yes
		}
	}
	return at
}

// cut weighs the best set of accesses below a test.
func (pl *planner) cut(at uint8) float64 {
	if at >= endTrue {
		if at == endFalse {
			return 0
		}
		return impossible
	}
	if pl.cuts[at] == 0 {
		t := &pl.program.tests[at]
		yes, no := pl.weights(t)
		pl.cuts[at] = math.Max(math.SmallestNonzeroFloat64, pl.edge(t.yes, yes)+pl.edge(t.no, no))
	}
	return pl.cuts[at]
}

func (pl *planner) edge(to uint8, weight float64) float64 {
	if to = pl.next(to); to == endFalse {
		return 0
	}
	return math.Min(weight, pl.cut(to))
}

// take collects the best set of accesses below a test, and reports whether it
// was the test alone.
func (pl *planner) take(at uint8, dst *[]Access, done map[uint8]bool) (exact bool) {
	if at >= endTrue || done[at] {
		return false
	}
	done[at] = true
	t := &pl.program.tests[at]
	yes, no := pl.weights(t)
	exact = true
	for _, e := range []struct {
		to     uint8
		weight float64
		holds  bool
	}{{t.yes, yes, true}, {t.no, no, false}} {
		to := pl.next(e.to)
		switch {
		case to == endFalse:
		case e.weight <= pl.cut(to):
			*dst = appendAccess(*dst, t, e.holds)
			exact = exact && to == endTrue
		default:
			pl.take(to, dst, done)
			exact = false
		}
	}
	return exact
}

// appendAccess appends the intervals in which a test holds, or does not.
func appendAccess(dst []Access, t *test, holds bool) []Access {
	v := int(t.value)
	if holds {
		return append(dst, Access{Value: v, Lo: t.lo, Hi: t.hi})
	}
	if !math.IsInf(t.lo, -1) {
		dst = append(dst, Access{Value: v, Lo: math.Inf(-1), Hi: math.Nextafter(t.lo, math.Inf(-1)), NaN: true})
	}
	if !math.IsInf(t.hi, 1) {
		dst = append(dst, Access{Value: v, Lo: math.Nextafter(t.hi, math.Inf(1)), Hi: math.Inf(1), NaN: true})
	}
	return dst
}

// weights says about how many readings a test holds for, and not.
func (pl *planner) weights(t *test) (yes, no float64) {
	if t.kind != testSpan {
		return impossible, impossible
	}
	v := pl.program.value(t.value)
	const least = 0.001
	part := (math.Min(t.hi, v.high) - math.Max(t.lo, v.low)) / (v.high - v.low)
	yes = math.Min(math.Max(part, least), 1)
	return yes, math.Max(1-yes, least)
}

// Robots returns the names of which the robot must have one for the condition
// to be true; false if any robot's name may do.
func (p *Program) Robots() (names []string, ok bool) {
	reached := map[uint8]bool{}
	var away func(at uint8) bool
	away = func(at uint8) bool {
		if at >= endTrue {
			return at != endFalse
		}
		if reached[at] {
			return false
		}
		reached[at] = true
		t := &p.tests[at]
		if t.kind == testText && variables[t.value].Name == "robot" {
			if name := p.operands.texts[t.text]; !slices.Contains(names, name) {
				names = append(names, name)
			}
			return away(t.no)
		}
		yes := away(t.yes)
		return away(t.no) || yes
	}
	if away(p.start) {
		return nil, false
	}
	return names, true
}
