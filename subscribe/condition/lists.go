package condition

import (
	"math"
	"slices"
	"sort"

	"callboard/subscribe/view"
)

// derived is what is computed of a list of ranges once per reading, for all
// conditions that ask about its elements.
type derived struct {
	stamp uint64
	n     int
	// The extremes of the elements that are numbers; +Inf and -Inf if there
	// are none.
	least, greatest float64
	// The same, with -Inf and +Inf if some element is NaN.
	lower, upper float64

	ordered uint64    // the stamp for which sorted is right
	sorted  []float64 // elements that are numbers
}

// listAttribute is a list that the schema has.
type listAttribute struct {
	key  string // as canonical writes it
	kind view.Kind
	prev bool
	read listFunc
}

// listTable is all lists of the schema, numbered.
var listTable = makeLists()

func makeLists() []listAttribute {
	var all []listAttribute
	for _, prev := range []bool{false, true} {
		for i := range interfaces {
			for _, a := range interfaces[i].Attributes {
				if a.Floats != nil {
					all = append(all, listAttribute{attributeKey(interfaces[i].Name(), a.Name, prev), interfaces[i].Kind, prev, reading(a.Floats, prev)})
				}
			}
		}
	}
	return all
}

// list returns what is derived of a list, by its number.
func (e *Env) list(number int) *derived {
	if e.lists == nil {
		e.lists = make([]*derived, len(listTable))
	}
	d := e.lists[number]
	if d == nil {
		d = new(derived)
		e.lists[number] = d
	}
	if d.stamp == e.stamp && e.stamp != 0 {
		return d
	}
	list := listTable[number].read(e)
	*d = derived{stamp: e.stamp, n: len(list), least: math.Inf(1), greatest: math.Inf(-1), sorted: d.sorted[:0]}
	nan := false
	for _, v := range list {
		if v < d.least {
			d.least = v
		}
		if v > d.greatest {
			d.greatest = v
		}
		nan = nan || v != v
	}
	d.lower, d.upper = d.least, d.greatest
	if nan {
		d.lower, d.upper = math.Inf(-1), math.Inf(1)
	}
	return d
}

// order returns what is derived of a list, sorted.
func (e *Env) order(number int) *derived {
	d := e.list(number)
	if d.ordered == e.stamp && e.stamp != 0 {
		return d
	}
	d.sorted = d.sorted[:0]
	for _, v := range listTable[number].read(e) {
		if v == v {
			d.sorted = append(d.sorted, v)
		}
	}
	slices.Sort(d.sorted)
	d.ordered = e.stamp
	return d
}

// low returns the k-th least element from 1, +Inf if there are fewer.
func (d *derived) low(k int) float64 {
	if k > len(d.sorted) {
		return math.Inf(1)
	}
	return d.sorted[k-1]
}

// high returns the k-th greatest element from 1, -Inf if there are fewer.
func (d *derived) high(k int) float64 {
	if k > len(d.sorted) {
		return math.Inf(-1)
	}
	return d.sorted[len(d.sorted)-k]
}

// count counts the elements from lo to hi, both included.
func (d *derived) count(lo, hi float64) int {
	from := sort.SearchFloat64s(d.sorted, lo)
	to := sort.Search(len(d.sorted), func(i int) bool { return d.sorted[i] > hi })
	return max(0, to-from)
}
