package sim

import "math"

// caster follows rays through the grid as Stage does: cell by cell where
// something is drawn, and from border to border over empty regions.
type caster struct {
	grid  *grid
	layer uint8 // that rays see

	x, y, z float64 // where rays start: cells, cells, m
	cx, cy  int32   // the cell of x and y

	super          *superregion // of that cell
	superX, superY int32

	length  float64          // of rays, m
	reach   float64          // the same in cells
	perCell float64          // m
	own     int32            // the root that is not seen
	pick    func(*tile) bool // what a ray may hit; nil: what rangers see

	begun uint64  // the number of this beginning
	unite []*tile // what is seen of regions with several tiles
	used  int     // of unite
	ray   ray
	fan   []ray   // those of a scan
	going []int32 // which of them are not at their ends
}

// nobody is the root that is left out where none is.
const nobody = -1

// maxReach is the longest ray, in cells: all that a walk reckons with stays
// within 32 bits.
const maxReach = 1 << 24

// begin sets where rays start, how long they are, and what they do not see.
func (c *caster) begin(at Pose, length float64, own int32, pick func(*tile) bool) {
	scale := c.grid.perMetre
	c.x, c.y, c.z = clamp(at.X*scale, -maxCell, maxCell), clamp(at.Y*scale, -maxCell, maxCell), at.Z
	c.cx, c.cy = int32(c.x), int32(c.y)
	c.superX, c.superY = c.cx>>(regionBits+superBits), c.cy>>(regionBits+superBits)
	c.super = c.grid.super(c.superX, c.superY)
	c.length, c.reach, c.perCell = length, math.Min(length*scale, maxReach), 1/scale
	c.own, c.pick = own, pick
	c.begun++
	c.used = 0
}

// aim returns the sine and cosine of a ray's direction. Straight ahead is a
// hair beside, as in Stage.
func aim(a float64) (sin, cos float64) {
	if math.Abs(a) < 1e-100 {
		a = 1e-12
	}
	return math.Sincos(a)
}

// ray is a ray on its way. Its place, its balance and the steps left are Stage's
// after each step, and so is their drift from the true line.
type ray struct {
	walk
	x, y     float64 // cells
	cx, cy   int32   // the cell: the place cut towards 0
	left     int32   // steps
	balance  int32   // of the walk
	sx, sy   int32   // the direction of a step along each axis
	tan, cot float64

	super          *superregion // that it is in; nil: nothing is drawn there
	superX, superY int32

	perX, perY float64 // the way for a cell along each axis
	hit        *tile   // at the end
}

// set makes r a ray in a direction.
func (c *caster) set(r *ray, sin, cos float64) {
	perBoth := 1 / (sin * cos)
	r.tan, r.cot = sin*sin*perBoth, cos*cos*perBoth
	r.perX, r.perY = sin*perBoth, cos*perBoth
	dx, dy := c.reach*cos, c.reach*sin
	r.sx, r.sy = 1, 1
	if dx < 0 {
		r.sx = -1
	}
	if dy < 0 {
		r.sy = -1
	}
	ax, ay := int32(math.Abs(dx)), int32(math.Abs(dy))
	r.balance = r.begin(ax, ay, r.sx, r.sy)
	r.x, r.y, r.cx, r.cy, r.left = c.x, c.y, c.cx, c.cy, ax+ay
	r.super, r.superX, r.superY = c.super, c.superX, c.superY
	r.hit = nil
}

// cast follows a ray, and returns how far away it hits something, and what; its
// length and nil if it does not.
func (c *caster) cast(sin, cos float64) (float64, *tile) {
	r := &c.ray
	c.set(r, sin, cos)
	for c.further(r) {
	}
	return c.result(r)
}

// rays returns rays to set, which are good until it is called again.
func (c *caster) rays(n int) []ray {
	if len(c.fan) < n {
		c.fan, c.going = make([]ray, n), make([]int32, 0, n)
	}
	return c.fan[:n]
}

// follow takes rays to their ends, each a piece of the way in turn: a piece depends
// on the one before, but not on other rays, so the processor works at several at
// once.
func (c *caster) follow(rays []ray) {
	going := c.going[:0]
	for i := range rays {
		going = append(going, int32(i))
	}
	for len(going) > 0 {
		left := going[:0]
		for _, i := range going {
			if c.further(&rays[i]) {
				left = append(left, i)
			}
		}
		going = left
	}
}

// result returns how far a ray came, and what it hit.
func (c *caster) result(r *ray) (float64, *tile) {
	switch {
	case r.hit == nil:
		return c.length, nil
	case r.du > r.dv && !r.steep:
		return math.Abs((r.x-c.x)*r.perX) * c.perCell, r.hit
	}
	return math.Abs((r.y-c.y)*r.perY) * c.perCell, r.hit
}

// further takes a ray through a region, or over empty ones to the next that is
// not, and reports whether it goes on from there.
func (c *caster) further(r *ray) bool {
	if r.left <= 0 {
		return false
	}
	rx, ry := r.cx>>regionBits, r.cy>>regionBits
	if rx>>superBits != r.superX || ry>>superBits != r.superY {
		r.superX, r.superY = rx>>superBits, ry>>superBits
		r.super = c.grid.super(r.superX, r.superY)
	}
	s := r.super
	if s == nil || s.drawn[ry&regionMask]>>uint(rx&regionMask)&1 == 0 {
		return c.grid.jump(r)
	}
	g := &s.regions[(ry&regionMask)<<superBits|rx&regionMask]
	seen := g.seen
	if g.begun != c.begun {
		seen = c.look(g)
	}
	u, v := r.cx&regionMask, r.cy&regionMask
	if r.steep {
		u, v = v, u
	}
	var m, n int32
	var hit bool
	if seen != nil {
		m, n, hit = r.find(seen, u, v, r.balance)
	}
	if !hit {
		m, n = r.out(u, v, r.balance)
	}
	if r.left -= m + n; r.left <= 0 {
		return false // a cell counts only if there are steps left beyond it
	}
	r.balance += m*r.dv - n*r.du
	if r.steep {
		m, n = n, m
	}
	m, n = m*r.sx, n*r.sy
	r.x += float64(m)
	r.y += float64(n)
	if hit {
		if r.hit = seen; seen.part == united {
			r.hit = c.earliest(g, r.cx&regionMask+m, r.cy&regionMask+n)
		}
		return false
	}
	if m, n = r.cx+m, r.cy+n; m^r.cx < 0 || n^r.cy < 0 || m == 0 || n == 0 || r.cx == 0 || r.cy == 0 {
		// About 0 cutting towards it makes the difference.
		m, n = int32(r.x), int32(r.y)
	}
	r.cx, r.cy = m, n
	return true
}

// jump goes on from border to border over regions in which nothing is drawn. It
// reports whether the ray gets to one in which something is.
func (g *grid) jump(r *ray) bool {
	x, y, left := r.x, r.y, r.left
	stepX, stepY := float64(r.sx*side), float64(r.sy*side)
	besideX, besideY := stepX*r.tan, stepY*r.cot
	// The next crossings of a border between columns of regions and of one
	// between rows: where, and how far along both axes.
	dx, dy := ahead(x, r.sx), ahead(y, r.sy)
	acrossX, acrossY := x+dx, y+dx*r.tan
	upX, upY := x+dy*r.cot, y+dy
	across, up := math.Abs(dx)+math.Abs(dx*r.tan), math.Abs(dy*r.cot)+math.Abs(dy)
	for {
		if across < up {
			x, y = acrossX, acrossY
			left -= ceil(across)
			acrossX, acrossY = x+stepX, y+besideX
			up -= across
			across = side + math.Abs(besideX)
		} else {
			x, y = upX, upY
			left -= ceil(up)
			upX, upY = x+besideY, y+stepY
			across -= up
			up = side + math.Abs(besideY)
		}
		if left <= 0 {
			return false
		}
		cx, cy := int32(x), int32(y)
		rx, ry := cx>>regionBits, cy>>regionBits
		if rx>>superBits != r.superX || ry>>superBits != r.superY {
			r.superX, r.superY = rx>>superBits, ry>>superBits
			r.super = g.super(r.superX, r.superY)
		}
		if s := r.super; s == nil {
			if g.leaves(r.superX, r.superY, r.sx, r.sy) {
				return false
			}
		} else if s.drawn[ry&regionMask]>>uint(rx&regionMask)&1 != 0 {
			r.x, r.y, r.cx, r.cy, r.left = x, y, cx, cy, left
			return true
		}
	}
}

// ceil rounds up: what is left of whole steps after a way that is not whole is
// cut.
func ceil(v float64) int32 {
	n := int32(v)
	if float64(n) < v {
		n++
	}
	return n
}

// ahead returns how far it is to the border of a region along an axis. To the
// left and below that is where the last cell of the next region begins.
func ahead(v float64, direction int32) float64 {
	corner := float64(int32(v) &^ regionMask)
	if direction < 0 {
		return corner - v - 1
	}
	return corner + side - v
}

// leaves reports whether a ray in a superregion has only such before it in
// which nothing has been drawn.
func (g *grid) leaves(x, y, sx, sy int32) bool {
	return x > g.maxX && sx > 0 || x < g.minX && sx < 0 || y > g.maxY && sy > 0 || y < g.minY && sy < 0 || g.number == 0
}

// united is the part of a tile that is made of several.
const united = -1

// look returns what rays may hit in a region, nil if nothing: a tile of it, or
// one that is made of several. It is the same for all rays from one place.
func (c *caster) look(g *region) *tile {
	g.begun, g.seen = c.begun, nil
	for t := g.tiles; t != nil; t = t.next {
		switch {
		case !c.sees(t):
		case g.seen == nil:
			g.seen = t
		case g.seen.part == united:
			g.seen.add(t)
		default:
			all := c.spare()
			*all = tile{part: united}
			all.add(g.seen)
			all.add(t)
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
func (t *tile) add(o *tile) {
	for i := range t.rows {
		t.rows[i] |= o.rows[i]
		t.cols[i] |= o.cols[i]
	}
	t.usedRows |= o.usedRows
	t.usedCols |= o.usedCols
}

// earliest returns which of the tiles that rays may hit was drawn first in a
// cell.
func (c *caster) earliest(g *region, x, y int32) *tile {
	var found *tile
	for t := g.tiles; t != nil; t = t.next {
		if t.rows[y]>>uint(x)&1 != 0 && c.sees(t) && (found == nil || t.stamp < found.stamp || t.stamp == found.stamp && t.part < found.part) {
			found = t
		}
	}
	return found
}
