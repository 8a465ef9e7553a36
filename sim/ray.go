package sim

import "math"

// caster follows rays through the grid as Stage does: cell by cell where
// something is drawn, and from border to border over empty regions.
type caster struct {
	grid  *grid
	layer uint8 // that rays see

	x, y, z float64          // where rays start: cells, cells, m
	length  float64          // of rays, m
	reach   float64          // the same in cells
	perCell float64          // m
	own     int32            // the root that is not seen
	pick    func(*tile) bool // what a ray may hit; nil: what rangers see

	begun uint64  // the number of this beginning
	unite []*tile // what is seen of regions with several tiles
	used  int     // of unite
	ray   ray
}

// nobody is the root that is left out where none is.
const nobody = -1

// maxReach is the longest ray, in cells.
const maxReach = 1 << 25

// begin sets where rays start, how long they are, and what they do not see.
func (c *caster) begin(at Pose, length float64, own int32, pick func(*tile) bool) {
	scale := c.grid.perMetre
	c.x, c.y, c.z = at.X*scale, at.Y*scale, at.Z
	c.length, c.reach, c.perCell = length, math.Min(length*scale, maxReach), 1/scale
	c.own, c.pick = own, pick
	c.begun++
	c.used = 0
	c.ray.super, c.ray.superX = nil, math.MinInt64
}

// aim returns the sine and cosine of a ray's direction. Straight ahead is a
// hair beside, as in Stage.
func aim(a float64) (sin, cos float64) {
	if math.Abs(a) < 1e-100 {
		a = 1e-12
	}
	return math.Sincos(a)
}

// ray is where a ray is. Its place and the steps left are Stage's after each
// step, as is the balance of its walk, and so is their drift from the true line.
type ray struct {
	walk
	sx, sy   int     // the direction of a step along each axis
	x, y     float64 // cells
	cx, cy   int     // the cell: the place cut towards 0
	left     int     // steps
	tan, cot float64

	super          *superregion // that it is in; nil: nothing is drawn there
	superX, superY int
}

// cast follows a ray, and returns how far away it hits something, and what; its
// length and nil if it does not.
func (c *caster) cast(sin, cos float64) (float64, *tile) {
	r := &c.ray
	perBoth := 1 / (sin * cos)
	r.tan, r.cot = sin*sin*perBoth, cos*cos*perBoth
	dx, dy := c.reach*cos, c.reach*sin
	r.sx, r.sy = 1, 1
	if dx < 0 {
		r.sx = -1
	}
	if dy < 0 {
		r.sy = -1
	}
	ax, ay := uint(math.Abs(dx)), uint(math.Abs(dy))
	balance := r.begin(ax, ay, r.sx, r.sy)
	r.x, r.y, r.left = c.x, c.y, int(ax+ay)
	r.cx, r.cy = int(int32(r.x)), int(int32(r.y))
	for r.left > 0 {
		g := r.drawn(c.grid)
		if g == nil {
			if !c.grid.jump(r) {
				break
			}
			continue
		}
		seen := g.seen
		if g.begun != c.begun {
			seen = c.look(g)
		}
		m, n, hit := r.through(seen, balance)
		if r.left -= m + n; r.left <= 0 {
			break // a cell counts only if there are steps left beyond it
		}
		balance += m*int(r.dv) - n*int(r.du)
		if r.steep {
			m, n = n, m
		}
		m, n = m*r.sx, n*r.sy
		if hit && seen.part == united {
			seen = c.earliest(g, r.cx&regionMask+m, r.cy&regionMask+n)
		}
		r.move(m, n)
		if !hit {
			continue
		}
		if r.steep || ax == ay {
			return math.Abs((r.y-c.y)*cos*perBoth) * c.perCell, seen
		}
		return math.Abs((r.x-c.x)*sin*perBoth) * c.perCell, seen
	}
	return c.length, nil
}

// drawn returns the region that the ray is in, nil if nothing is drawn there.
func (r *ray) drawn(g *grid) *region {
	rx, ry := r.cx>>regionBits, r.cy>>regionBits
	if sx, sy := rx>>superBits, ry>>superBits; sx != r.superX || sy != r.superY {
		r.super, r.superX, r.superY = g.super(int32(sx), int32(sy)), sx, sy
	}
	if s := r.super; s != nil && s.drawn[ry&regionMask]>>uint(rx&regionMask)&1 != 0 {
		return &s.regions[(ry&regionMask)<<superBits|rx&regionMask]
	}
	return nil
}

// through follows the ray through a region, to the first cell of seen or out,
// and returns the steps along the walk's axes.
func (r *ray) through(seen *tile, balance int) (m, n int, hit bool) {
	u, v := r.cx&regionMask, r.cy&regionMask
	if r.steep {
		u, v = v, u
	}
	if seen != nil {
		lines, us, vs := &seen.rows, seen.usedCols, seen.usedRows
		if r.steep {
			lines, us, vs = &seen.cols, vs, us
		}
		if m, n, hit = r.find(lines, us, vs, u, v, balance); hit {
			return m, n, true
		}
	}
	m, n = r.out(u, v, balance)
	return m, n, false
}

// move puts the ray on by cells.
func (r *ray) move(m, n int) {
	r.x += float64(m)
	r.y += float64(n)
	cx, cy := r.cx+m, r.cy+n
	if cx^r.cx < 0 || cy^r.cy < 0 || cx == 0 || cy == 0 || r.cx == 0 || r.cy == 0 {
		// About 0 cutting towards it makes the difference.
		cx, cy = int(int32(r.x)), int(int32(r.y))
	}
	r.cx, r.cy = cx, cy
}

// jump goes on from border to border over regions in which nothing is drawn. It
// reports whether the ray gets to one in which something is.
func (g *grid) jump(r *ray) bool {
	x, y, left := r.x, r.y, r.left
	stepX, stepY := float64(r.sx*side), float64(r.sy*side)
	// The next crossings of a border between columns of regions and of one
	// between rows: where, and how far along both axes.
	dx, dy := ahead(x, r.sx), ahead(y, r.sy)
	acrossX, acrossY := x+dx, y+dx*r.tan
	upX, upY := x+dy*r.cot, y+dy
	across, up := math.Abs(dx)+math.Abs(dx*r.tan), math.Abs(dy*r.cot)+math.Abs(dy)
	for {
		if across < up {
			x, y = acrossX, acrossY
			left = int(float64(left) - across)
			acrossX, acrossY = x+stepX, y+stepX*r.tan
			up -= across
			across = side + math.Abs(stepX*r.tan)
		} else {
			x, y = upX, upY
			left = int(float64(left) - up)
			upX, upY = x+stepY*r.cot, y+stepY
			across -= up
			up = side + math.Abs(stepY*r.cot)
		}
		if left <= 0 {
			return false
		}
		r.cx, r.cy = int(int32(x)), int(int32(y))
		if r.drawn(g) != nil {
			r.x, r.y, r.left = x, y, left
			return true
		}
		if r.super == nil && g.leaves(int32(r.superX), int32(r.superY), r.sx, r.sy) {
			return false
		}
	}
}

// ahead returns how far it is to the border of a region along an axis. To the
// left and below that is where the last cell of the next region begins.
func ahead(v float64, direction int) float64 {
	corner := float64(int32(v) &^ regionMask)
	if direction < 0 {
		return corner - v - 1
	}
	return corner + side - v
}

// leaves reports whether a ray in a superregion has only such before it in
// which nothing has been drawn.
func (g *grid) leaves(x, y int32, sx, sy int) bool {
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
func (c *caster) earliest(g *region, x, y int) *tile {
	var found *tile
	for t := g.tiles; t != nil; t = t.next {
		if t.rows[y]>>uint(x)&1 != 0 && c.sees(t) && (found == nil || t.stamp < found.stamp || t.stamp == found.stamp && t.part < found.part) {
			found = t
		}
	}
	return found
}
