package subscribe

import (
	"math/bits"
	"slices"
)

// trie is an immutable map from numbers to values: a change makes another
// trie that shares all but one path with it. It is iterated in the order of
// the numbers. The zero value is empty.
//
// A change that consists of many has a number, edit: what it made itself it
// changes in place, since nobody else has seen it. 0 is none.
type trie[V any] struct {
	root  *branch[V]
	depth uint // levels below the root
	size  int
}

const (
	trieBits = 5
	trieMask = 1<<trieBits - 1
)

// branch has for each bit of has one child (above the lowest level) or value.
type branch[V any] struct {
	edit     uint64 // that made it
	has      uint32
	children []*branch[V]
	values   []V
}

// at returns the bit of a key at a level and the place in a branch.
func (b *branch[V]) at(key uint64, level uint) (bit uint32, place int) {
	bit = 1 << (key >> (level * trieBits) & trieMask)
	return bit, bits.OnesCount32(b.has & (bit - 1))
}

// holds reports whether a key is within what depth can address.
func (t trie[V]) holds(key uint64) bool {
	s := (t.depth + 1) * trieBits
	return s >= 64 || key>>s == 0
}

// get returns the value of a key.
func (t trie[V]) get(key uint64) (v V, ok bool) {
	if t.root == nil || !t.holds(key) {
		return v, false
	}
	b := t.root
	for level := t.depth; ; level-- {
		bit, i := b.at(key, level)
		if b.has&bit == 0 {
			return v, false
		}
		if level == 0 {
			return b.values[i], true
		}
		b = b.children[i]
	}
}

// with returns the trie with a value for a key.
func (t trie[V]) with(edit, key uint64, v V) trie[V] {
	if t.root == nil {
		t.root, t.depth = &branch[V]{edit: edit}, 0
	}
	for !t.holds(key) {
		if t.size == 0 {
			t.root = &branch[V]{edit: edit}
		} else {
			t.root = &branch[V]{edit: edit, has: 1, children: []*branch[V]{t.root}}
		}
		t.depth++
	}
	added := false
	t.root = t.root.with(edit, key, t.depth, v, &added)
	if added {
		t.size++
	}
	return t
}

func (b *branch[V]) with(edit, key uint64, level uint, v V, added *bool) *branch[V] {
	bit, i := b.at(key, level)
	known := b.has&bit != 0
	if level == 0 {
		*added = !known
		return b.changed(edit, bit, nil, placed(b.own(edit), b.values, i, v, known))
	}
	child := &branch[V]{edit: edit}
	if known {
		child = b.children[i]
	}
	next := child.with(edit, key, level-1, v, added)
	if known && next == child {
		return b
	}
	return b.changed(edit, bit, placed(b.own(edit), b.children, i, next, known), nil)
}

// own reports that an edit made the branch, and may change it.
func (b *branch[V]) own(edit uint64) bool { return edit != 0 && b.edit == edit }

// changed returns the branch with another child or value at a bit.
func (b *branch[V]) changed(edit uint64, bit uint32, children []*branch[V], values []V) *branch[V] {
	if !b.own(edit) {
		return &branch[V]{edit: edit, has: b.has | bit, children: children, values: values}
	}
	b.has, b.children, b.values = b.has|bit, children, values
	return b
}

// placed returns a list with an element put or replaced at i: the same list if
// it is the caller's own, else a copy.
func placed[E any](own bool, list []E, i int, e E, replace bool) []E {
	if own && replace {
		list[i] = e
		return list
	}
	if own && len(list) < cap(list) {
		return slices.Insert(list, i, e)
	}
	rest, spare := i, 0
	if replace {
		rest++
	}
	if own { // more will come
		spare = 1 + len(list)/8
	}
	out := make([]E, 0, i+1+len(list)-rest+spare)
	out = append(out, list[:i]...)
	out = append(out, e)
	return append(out, list[rest:]...)
}

// without returns the trie without a key.
func (t trie[V]) without(key uint64) trie[V] {
	if _, ok := t.get(key); !ok {
		return t
	}
	t.size--
	if t.root = t.root.without(key, t.depth); t.root == nil {
		return trie[V]{}
	}
	return t
}

func (b *branch[V]) without(key uint64, level uint) *branch[V] {
	bit, i := b.at(key, level)
	n := &branch[V]{has: b.has}
	if level > 0 {
		if child := b.children[i].without(key, level-1); child != nil {
			n.children = placed(false, b.children, i, child, true)
			return n
		}
	}
	if n.has &^= bit; n.has == 0 {
		return nil
	}
	if level > 0 {
		n.children = append(append(make([]*branch[V], 0, len(b.children)-1), b.children[:i]...), b.children[i+1:]...)
	} else {
		n.values = append(append(make([]V, 0, len(b.values)-1), b.values[:i]...), b.values[i+1:]...)
	}
	return n
}

// each calls do for all values with keys from first on, in the order of the
// keys.
func (t trie[V]) each(first uint64, do func(key uint64, v V)) {
	if t.root != nil && t.holds(first) {
		t.root.each(first, 0, t.depth, do)
	}
}

func (b *branch[V]) each(first, prefix uint64, level uint, do func(uint64, V)) {
	i := 0
	for rest := b.has; rest != 0; rest &= rest - 1 {
		key := prefix | uint64(bits.TrailingZeros32(rest))<<(level*trieBits)
		switch {
		case level == 0 && key >= first:
			do(key, b.values[i])
		case level > 0 && key|(1<<(level*trieBits)-1) >= first:
			b.children[i].each(first, key, level-1, do)
		}
		i++
	}
}
