package sim

// united is the part of a tile that is made of several.
const united = -1

// look returns what rays may hit in a region, nil if nothing: a tile of it, or
// one that is made of several. It is the same for all rays from one place.
func (c *caster) look(g *region) *tile {
	if g.begun == c.begun {
		return g.seen
	}
	g.begun, g.seen = c.begun, nil
	for t := g.tiles; t != nil; t = t.next {
		switch {
		case !c.sees(t):
		case g.seen == nil:
			g.seen = t
		case g.seen.part == united:
			g.seen.add(&t.marks)
		default:
			all := c.spare()
			*all = tile{part: united}
			all.add(&g.seen.marks)
			all.add(&t.marks)
			g.seen = all
		}
	}
	return g.seen
}

// sees reports whether rays may hit a tile.
func (c *caster) sees(t *tile) bool {
	if t.layers&c.layer == 0 {
		return false
	}
	if c.pick != nil {
		return c.pick(t)
	}
	return t.root != c.own && !(t.ret < 0) && c.z >= t.low && c.z <= t.high
}

// spare returns a tile to make of several.
func (c *caster) spare() *tile {
	if c.used == len(c.unite) {
		c.unite = append(c.unite, new(tile))
	}
	c.used++
	return c.unite[c.used-1]
}

// add marks what o does.
func (t *marks) add(o *marks) {
	for i := range t.lines[0] {
		t.lines[0][i] |= o.lines[0][i]
		t.lines[1][i] |= o.lines[1][i]
	}
	t.used[0] |= o.used[0]
	t.used[1] |= o.used[1]
}

// earliest returns which of the tiles that rays may hit was drawn first in a
// cell.
func (c *caster) earliest(g *region, axis, u, v int32) *tile {
	var found *tile
	for t := g.tiles; t != nil; t = t.next {
		if t.lines[axis&1][v]>>uint(u)&1 != 0 && c.sees(t) && (found == nil || t.stamp < found.stamp || t.stamp == found.stamp && t.part < found.part) {
			found = t
		}
	}
	return found
}
