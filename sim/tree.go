package sim

import "slices"

// root is a top-level model with its tree: what moves as one and never sees or
// touches itself. Its models go elsewhere when a gripper takes them.
type root struct {
	index  int32
	model  *Model
	models []*Model
	moving bool // it drives or was moved: each layer has it as it was drawn there last

	body
}

// newRoot makes a root of m, of which nothing is there yet.
func (w *World) newRoot(m *Model) *root {
	r := &root{index: int32(len(w.roots)), model: m}
	w.roots = append(w.roots, r)
	m.own = r
	return r
}

// attach puts m with all that sits on it onto another model, or with nil at the
// top level, at a pose in the new parent's frame.
func (w *World) attach(m, parent *Model, at Pose) {
	if m.parent != nil {
		m.parent.children = slices.DeleteFunc(m.parent.children, func(c *Model) bool { return c == m })
	}
	from, to := m.root, m.own
	m.parent = parent
	switch {
	case parent != nil:
		parent.children = insert(parent.children, m)
		to = parent.root
	case to == nil:
		to = w.newRoot(m)
		to.moving = true
	}
	if from != to {
		m.change(to)
	}
	m.pose = at
	m.replace()
	w.moved(from)
	if from != to {
		w.moved(to)
	}
}

// change puts m and all that sits on it into another root.
func (m *Model) change(to *root) {
	m.root.models = slices.DeleteFunc(m.root.models, func(o *Model) bool { return o == m })
	to.models = insert(to.models, m)
	m.root = to
	for _, c := range m.children {
		c.change(to)
	}
}

// insert adds m to a list in file order.
func insert(list []*Model, m *Model) []*Model {
	at, _ := slices.BinarySearchFunc(list, m, func(a, b *Model) int { return a.index - b.index })
	return slices.Insert(list, at, m)
}

// on reports whether m sits on other, directly or not, or is other.
func (m *Model) on(other *Model) bool {
	for p := m; p != nil; p = p.parent {
		if p == other {
			return true
		}
	}
	return false
}
