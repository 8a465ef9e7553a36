package sim

// touches reports whether r, drawn into the layer of this step, touches the
// ground or something of another tree: bodies touch where they share a cell of
// that layer and their heights overlap.
func (w *World) touches(r *root) bool {
	for i := range r.parts {
		p := &r.parts[i]
		if p.model.spec.Obstacle && p.low+p.model.global.Z+p.model.spec.Origin.Z < 0 {
			return true
		}
	}
	layer := w.layer()
	for _, t := range r.in(layer) {
		if !t.obstacle {
			continue
		}
		for o := t.super.regions[t.at].tiles; o != nil; o = o.next {
			if o.obstacle && o.root != t.root && o.layers&layer != 0 && o.low <= t.high && o.high >= t.low && t.shares(o) {
				return true
			}
		}
	}
	return false
}

// touching returns the models of other trees, in file order, whose bodies share
// a cell with m's own body in the layer of this step, at any height.
func (w *World) touching(m *Model) []*Model {
	layer := w.layer()
	var found []*Model
	for _, t := range m.root.in(layer) {
		if int(t.model) != m.index {
			continue
		}
		for o := t.super.regions[t.at].tiles; o != nil; o = o.next {
			if o.root != t.root && o.layers&layer != 0 && t.shares(o) {
				other := w.models[o.model]
				found = insert(dropped(found, other), other)
			}
		}
	}
	return found
}

// in returns what the tree has drawn into a layer.
func (r *root) in(layer uint8) []*tile {
	if r.moving && layer == odd {
		return r.tiles[1]
	}
	return r.tiles[0]
}

// shares reports whether two tiles of a region have a cell in common.
func (t *tile) shares(o *tile) bool {
	if t.used[0]&o.used[0] == 0 || t.used[1]&o.used[1] == 0 {
		return false
	}
	for i := range t.lines[0] {
		if t.lines[0][i]&o.lines[0][i] != 0 {
			return true
		}
	}
	return false
}

// dropped returns a list without m.
func dropped(list []*Model, m *Model) []*Model {
	for i, o := range list {
		if o == m {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}
