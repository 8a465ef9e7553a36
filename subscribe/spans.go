package subscribe

import (
	"cmp"
	"math"
	"slices"
)

// spans is an immutable set of items, each with an interval of numbers; a
// change makes another set that shares all but a path with it. It finds the
// items whose interval has a number: those equal to it, with a threshold on
// its one side, or on both. Nodes whose items all match are taken whole. The
// zero value is empty.
//
// As a trie it is changed in place by the edit that made it.
//
// It is a B-tree by the lower ends, then the upper ends, whose branches know
// the bounds of both ends below them.
type spans[T any] struct{ root *spanNode[T] }

// span is an interval, ends included. The number tells items with the same
// interval apart.
type span struct {
	lo, hi float64
	number uint64
}

func (s span) compare(o span) int {
	return cmp.Or(cmp.Compare(s.lo, o.lo), cmp.Compare(s.hi, o.hi), cmp.Compare(s.number, o.number))
}

// bounds are those of the ends of intervals.
type bounds struct{ minLo, maxLo, minHi, maxHi float64 }

type spanNode[T any] struct {
	edit     uint64 // that made it
	keys     []span // of a leaf the items', of a branch the least of each child
	items    []T    // of a leaf
	children []spanChild[T]
}

type spanChild[T any] struct {
	bounds bounds
	node   *spanNode[T]
}

// Items of a leaf and children of a branch.
const (
	maxItems    = 64
	maxChildren = 32
)

func (s spans[T]) empty() bool { return s.root == nil }

// with returns the set with an item put, or replaced.
func (s spans[T]) with(edit uint64, key span, item T) spans[T] {
	if s.root == nil {
		return spans[T]{&spanNode[T]{edit: edit, keys: []span{key}, items: []T{item}}}
	}
	left, right := s.root.with(edit, key, item)
	if right == nil {
		return spans[T]{left}
	}
	return spans[T]{&spanNode[T]{edit: edit, keys: []span{left.keys[0], right.keys[0]}, children: []spanChild[T]{left.child(), right.child()}}}
}

// place returns where a key is or belongs: in a leaf the item's place, in a
// branch the child's.
func (n *spanNode[T]) place(key span) (i int, found bool) {
	i, found = slices.BinarySearchFunc(n.keys, key, span.compare)
	if n.children != nil && !found && i > 0 {
		i--
	}
	return i, found
}

// with returns the node with an item, as two if it would be too large.
func (n *spanNode[T]) with(edit uint64, key span, item T) (left, right *spanNode[T]) {
	i, found := n.place(key)
	own := edit != 0 && n.edit == edit
	if n.children == nil {
		keys, items := placed(own, n.keys, i, key, found), placed(own, n.items, i, item, found)
		if own {
			n.keys, n.items = keys, items
		} else {
			n = &spanNode[T]{edit: edit, keys: keys, items: items}
		}
		return n.split(edit)
	}
	c := n.children[i]
	child, more := c.node.with(edit, key, item)
	if more != nil {
		return n.replaced(edit, i, i+1, child, more).split(edit)
	}
	c.node = child
	c.bounds.add(bounds{key.lo, key.lo, key.hi, key.hi})
	if own {
		n.keys[i], n.children[i] = child.keys[0], c
		return n, nil
	}
	out := &spanNode[T]{edit: edit, keys: slices.Clone(n.keys), children: slices.Clone(n.children)}
	out.keys[i], out.children[i] = child.keys[0], c
	return out, nil
}

// replaced returns a branch with other children instead of those from i to end.
func (n *spanNode[T]) replaced(edit uint64, i, end int, nodes ...*spanNode[T]) *spanNode[T] {
	out := &spanNode[T]{
		edit:     edit,
		keys:     append(make([]span, 0, len(n.keys)+1), n.keys[:i]...),
		children: append(make([]spanChild[T], 0, len(n.keys)+1), n.children[:i]...),
	}
	for _, c := range nodes {
		if c != nil {
			out.keys, out.children = append(out.keys, c.keys[0]), append(out.children, c.child())
		}
	}
	out.keys, out.children = append(out.keys, n.keys[end:]...), append(out.children, n.children[end:]...)
	return out
}

func (n *spanNode[T]) split(edit uint64) (left, right *spanNode[T]) {
	most := maxItems
	if n.children != nil {
		most = maxChildren
	}
	if len(n.keys) <= most {
		return n, nil
	}
	half := len(n.keys) / 2
	left, right = &spanNode[T]{edit: edit, keys: slices.Clone(n.keys[:half])}, &spanNode[T]{edit: edit, keys: slices.Clone(n.keys[half:])}
	if n.children != nil {
		left.children, right.children = slices.Clone(n.children[:half]), slices.Clone(n.children[half:])
	} else {
		left.items, right.items = slices.Clone(n.items[:half]), slices.Clone(n.items[half:])
	}
	return left, right
}

// child is the node as its branch holds it.
func (n *spanNode[T]) child() spanChild[T] {
	b := bounds{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	if n.children == nil {
		for _, k := range n.keys {
			b.add(bounds{k.lo, k.lo, k.hi, k.hi})
		}
	} else {
		for i := range n.children {
			b.add(n.children[i].bounds)
		}
	}
	return spanChild[T]{b, n}
}

func (b *bounds) add(o bounds) {
	b.minLo, b.maxLo = min(b.minLo, o.minLo), max(b.maxLo, o.maxLo)
	b.minHi, b.maxHi = min(b.minHi, o.minHi), max(b.maxHi, o.maxHi)
}

// without returns the set without an item.
func (s spans[T]) without(key span) spans[T] {
	if s.root == nil {
		return s
	}
	root := s.root.without(key)
	for root != nil && len(root.children) == 1 {
		root = root.children[0].node
	}
	return spans[T]{root}
}

// without returns the node without an item, nil if nothing is left. A child
// that becomes small joins the one beside it.
func (n *spanNode[T]) without(key span) *spanNode[T] {
	i, found := n.place(key)
	if n.children == nil {
		switch {
		case !found:
			return n
		case len(n.keys) == 1:
			return nil
		}
		return &spanNode[T]{keys: less(n.keys, i), items: less(n.items, i)}
	}
	child := n.children[i].node.without(key)
	switch {
	case child == n.children[i].node:
		return n
	case child == nil && len(n.keys) == 1:
		return nil
	case child == nil:
		return n.replaced(0, i, i+1)
	case i > 0 && child.small(n.children[i-1].node):
		return n.replaced(0, i-1, i+1, n.children[i-1].node.joined(child))
	case i+1 < len(n.keys) && child.small(n.children[i+1].node):
		return n.replaced(0, i, i+2, child.joined(n.children[i+1].node))
	}
	return n.replaced(0, i, i+1, child)
}

// small reports that two nodes make one that has room left.
func (n *spanNode[T]) small(beside *spanNode[T]) bool {
	most := maxItems
	if n.children != nil {
		most = maxChildren
	}
	return len(n.keys)+len(beside.keys) <= most/2
}

func (n *spanNode[T]) joined(next *spanNode[T]) *spanNode[T] {
	return &spanNode[T]{keys: slices.Concat(n.keys, next.keys), items: slices.Concat(n.items, next.items), children: slices.Concat(n.children, next.children)}
}

// less copies a list without its element i.
func less[E any](list []E, i int) []E {
	out := make([]E, 0, len(list)-1)
	return append(append(out, list[:i]...), list[i+1:]...)
}

// get returns an item.
func (s spans[T]) get(key span) (item T, ok bool) {
	for n := s.root; n != nil; {
		i, found := n.place(key)
		if n.children == nil {
			if found {
				return n.items[i], true
			}
			return item, false
		}
		n = n.children[i].node
	}
	return item, false
}

// appendAt appends the items whose interval has x, which is a number.
func (s spans[T]) appendAt(dst []T, x float64) []T {
	if s.root == nil {
		return dst
	}
	return s.root.appendAt(dst, x)
}

func (n *spanNode[T]) appendAt(dst []T, x float64) []T {
	if n.children == nil {
		for i := range n.keys {
			if k := &n.keys[i]; k.lo <= x && x <= k.hi {
				dst = append(dst, n.items[i])
			}
		}
		return dst
	}
	for i := range n.children {
		c := &n.children[i]
		switch b := &c.bounds; {
		case b.minLo > x:
			return dst
		case b.maxHi < x:
		case b.maxLo <= x && x <= b.minHi:
			dst = c.node.appendAll(dst)
		default:
			dst = c.node.appendAt(dst, x)
		}
	}
	return dst
}

// appendAll appends all items.
func (s spans[T]) appendAll(dst []T) []T {
	if s.root == nil {
		return dst
	}
	return s.root.appendAll(dst)
}

func (n *spanNode[T]) appendAll(dst []T) []T {
	dst = append(dst, n.items...)
	for i := range n.children {
		dst = n.children[i].node.appendAll(dst)
	}
	return dst
}
