package subscribe

import (
	"math/bits"

	"callboard/subscribe/condition"
	"callboard/subscribe/view"
)

// bucket holds what is installed for a robot or a scope, by the kinds of
// readings that test it. A condition that names several kinds stands under
// each; one that names none under the last, which every reading tests. It is
// immutable.
type bucket struct {
	kinds   view.Kinds
	indexes []*kindIndex // of each of the kinds, in their order
}

const (
	everyKind = view.NumKinds
	allKinds  = view.NumKinds + 1
)

// tested lists the kinds of readings that test a program.
func tested(p *condition.Program) (all view.Kinds) {
	if named := p.Named(); named != 0 {
		return named
	}
	return 1 << everyKind
}

// each calls do for each index and its kind.
func (b *bucket) each(do func(k int, r *kindIndex)) {
	for i, left := 0, b.kinds; left != 0; i, left = i+1, left&(left-1) {
		do(bits.TrailingZeros32(uint32(left)), b.indexes[i])
	}
}

// same reports that two buckets are one, as far as tries hold it.
func (b bucket) same(o bucket) bool {
	return b.kinds == o.kinds && (b.kinds == 0 || &b.indexes[0] == &o.indexes[0])
}

// change returns the bucket with an entry put or taken away, by an edit.
func (b bucket) change(edit uint64, e *entry, plan *condition.Plan, put bool) bucket {
	kinds := tested(e.program.program)
	if b.kinds.Has(kinds) && b.changeOwn(edit, kinds, e, plan, put) {
		return b
	}
	var indexes [allKinds]*kindIndex
	b.each(func(k int, r *kindIndex) { indexes[k] = r })
	var out bucket
	for k, old := range indexes {
		if kinds.Has(1 << k) {
			r := kindIndex{}
			if old != nil {
				r = *old
			}
			r.edit = edit
			if r.change(edit, e, plan, put); r.entries == 0 {
				continue
			}
			old = &r
		}
		if old != nil {
			out.kinds |= 1 << k
			out.indexes = append(out.indexes, old)
		}
	}
	return out
}

// changeOwn puts an entry into the indexes of some kinds, if the edit made all
// of them.
func (b *bucket) changeOwn(edit uint64, kinds view.Kinds, e *entry, plan *condition.Plan, put bool) bool {
	own := put
	b.each(func(k int, r *kindIndex) { own = own && (!kinds.Has(1<<k) || r.edit == edit) })
	if own {
		b.each(func(k int, r *kindIndex) {
			if kinds.Has(1 << k) {
				r.change(edit, e, plan, put)
			}
		})
	}
	return own
}

// kindIndex is what readings of one kind test: entries that values of the reading
// find, and conditions that each reading evaluates. It is immutable once it
// stands in a bucket.
type kindIndex struct {
	edit    uint64       // that made it, see trie
	values  trie[valued] // by the value's slot
	rest    trie[*group] // by the program's number: what no value finds
	states  trie[*entry] // those that may have to see readings that do not match
	entries int
}

// valued is what a value finds: entries at once, if the value alone decides
// and nothing is left to ask; groups to be evaluated. Of each, those that a
// value finds that is no number are apart.
type valued struct {
	value           *condition.Value
	sure, sureNaN   spans[*entry]
	check, checkNaN spans[candidate]
}

// group is all entries of an index with the same condition, apart from those
// that values find at once.
type group struct {
	program *program
	many    bool    // several values may find it
	plain   entries // need only readings that match
	state   entries // need to see readings that do not match, too
}

// candidate is a group that a value finds, with intervals of other values that
// the reading must meet, too: asked first, since they are at hand where the
// condition is not.
type candidate struct {
	group  *group
	guards [condition.MaxGuards]guard
}

type guard struct {
	number int // of the schema's value; none and no more if negative
	lo, hi float64
}

func newCandidate(g *group, plan *condition.Plan) candidate {
	c := candidate{group: g}
	for i := range c.guards {
		c.guards[i].number = -1
	}
	for i, a := range plan.Guards {
		c.guards[i] = guard{a.Value, a.Lo, a.Hi}
	}
	return c
}

// change puts an entry or takes it away.
func (r *kindIndex) change(edit uint64, e *entry, plan *condition.Plan, put bool) {
	if put {
		r.entries++
	} else {
		r.entries--
	}
	if e.sub.stateful() {
		r.states = changeTrie(edit, r.states, e.number, e, put)
	}
	switch {
	case plan.Never:
	case plan.Exact && e.sub.bare():
		a := &plan.Accesses[0]
		r.access(edit, e.program, a, func(v *valued) {
			sure := &v.sure
			if a.NaN {
				sure = &v.sureNaN
			}
			*sure = changeSpans(edit, *sure, span{a.Lo, a.Hi, e.number}, e, put)
		})
	default:
		r.changeGroup(edit, e, plan, put)
	}
}

func (r *kindIndex) changeGroup(edit uint64, e *entry, plan *condition.Plan, put bool) {
	g := group{program: e.program, many: len(plan.Accesses) > 1}
	if old := r.group(e.program, plan); old != nil {
		g = *old
	}
	list := &g.plain
	if e.sub.stateful() {
		list = &g.state
	}
	if put {
		*list = list.with(edit, e)
	} else {
		*list = list.without(e)
	}
	filled := g.plain.size()+g.state.size() > 0
	number := e.program.number
	if len(plan.Accesses) == 0 {
		r.rest = changeTrie(edit, r.rest, number, &g, filled)
		return
	}
	c := newCandidate(&g, plan)
	for i := range plan.Accesses {
		a := &plan.Accesses[i]
		r.access(edit, e.program, a, func(v *valued) {
			check := v.checks(a)
			*check = changeSpans(edit, *check, span{a.Lo, a.Hi, number}, c, filled)
		})
	}
}

func (v *valued) checks(a *condition.Access) *spans[candidate] {
	if a.NaN {
		return &v.checkNaN
	}
	return &v.check
}

// group returns the group of a program, nil if there is none.
func (r *kindIndex) group(p *program, plan *condition.Plan) *group {
	if len(plan.Accesses) == 0 {
		g, _ := r.rest.get(p.number)
		return g
	}
	a := &plan.Accesses[0]
	v, _ := r.values.get(p.slot(a.Value))
	c, _ := v.checks(a).get(span{a.Lo, a.Hi, p.number})
	return c.group
}

// access changes what a value finds.
func (r *kindIndex) access(edit uint64, p *program, a *condition.Access, change func(*valued)) {
	slot := p.slot(a.Value)
	v, ok := r.values.get(slot)
	if !ok {
		v.value = p.value(a.Value)
	}
	change(&v)
	filled := !v.sure.empty() || !v.sureNaN.empty() || !v.check.empty() || !v.checkNaN.empty()
	r.values = changeTrie(edit, r.values, slot, v, filled)
}

func changeTrie[V any](edit uint64, t trie[V], key uint64, v V, put bool) trie[V] {
	if put {
		return t.with(edit, key, v)
	}
	return t.without(key)
}

func changeSpans[T any](edit uint64, s spans[T], key span, item T, put bool) spans[T] {
	if put {
		return s.with(edit, key, item)
	}
	return s.without(key)
}

// entries is an immutable set of entries, by number. Most have one.
type entries struct {
	one  *entry
	more *trie[*entry]
}

func (l entries) size() int {
	switch {
	case l.more != nil:
		return l.more.size
	case l.one != nil:
		return 1
	}
	return 0
}

func (l entries) with(edit uint64, e *entry) entries {
	switch {
	case l.more != nil:
		more := l.more.with(edit, e.number, e)
		return entries{more: &more}
	case l.one != nil && l.one != e:
		more := trie[*entry]{}.with(edit, l.one.number, l.one).with(edit, e.number, e)
		return entries{more: &more}
	}
	return entries{one: e}
}

func (l entries) without(e *entry) entries {
	switch {
	case l.one == e:
		return entries{}
	case l.more == nil:
		return l
	}
	more := l.more.without(e.number)
	if more.size == 0 {
		return entries{}
	}
	return entries{more: &more}
}

func (l entries) each(do func(*entry)) {
	if l.one != nil {
		do(l.one)
	}
	if l.more != nil {
		l.more.each(0, func(_ uint64, e *entry) { do(e) })
	}
}
