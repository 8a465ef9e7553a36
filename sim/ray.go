package sim

import (
	"math"
	"math/bits"
)

// caster follows rays through the grid as Stage does: cell by cell where
// something is drawn, and from border to border over empty regions.
type caster struct {
	grid  *grid
	layer uint8 // that rays see

	x, y, z float64          // where rays start: cells, cells, m
	own     int32            // the root that is not seen
	pick    func(*tile) bool // what a ray may hit; nil: what rangers see
	met     []*tile          // what a ray may hit in a region
	all     [side]uint32     // what they mark together
}

// nobody is the root that is left out where none is.
const nobody = -1

// begin sets where rays start and whom they do not see.
func (c *caster) begin(at Pose, own int32, pick func(*tile) bool) {
	c.x, c.y, c.z = at.X*c.grid.perMetre, at.Y*c.grid.perMetre, at.Z
	c.own, c.pick = own, pick
}

// aim returns the sine and cosine of a ray's direction. Straight ahead is a
// hair beside, as in Stage.
func aim(a float64) (sin, cos float64) {
	if a == 0 {
		a = 1e-12
	}
	return math.Sincos(a)
}

// maxReach is the longest ray, in cells.
const maxReach = 1 << 30

// cells cuts a length along an axis to whole cells.
func cells(v float64) int {
	if v = math.Abs(v); v < maxReach {
		return int(v)
	}
	return maxReach
}

// cast follows a ray for a length in m, and returns how far away it hits
// something, and what; the length and nil if it does not.
//
// The ray has a place in cells, an integer balance that says along which axis
// the next step goes, and the number of steps that are left. All three are
// Stage's at each step, and so is their drift from the true line.
func (c *caster) cast(sin, cos, length float64) (float64, *tile) {
	g := c.grid
	x, y := c.x, c.y
	tan := sin / cos
	dx, dy := g.perMetre*length*cos, g.perMetre*length*sin
	w := walk{ax: cells(dx), ay: cells(dy), sx: 1, sy: 1}
	if dx < 0 {
		w.sx = -1
	}
	if dy < 0 {
		w.sy = -1
	}
	w.begin()
	var border borders
	border.begin(&w, tan)
	known := false // the borders ahead are
	var s *superregion
	sx, sy := int32(math.MinInt32), int32(0)
	for w.left > 0 {
		rx, ry := int32(x)>>regionBits, int32(y)>>regionBits
		if nx, ny := rx>>superBits, ry>>superBits; nx != sx || ny != sy {
			sx, sy = nx, ny
			if s = g.super(sx, sy); s == nil && g.leaves(sx, sy, w.sx, w.sy) {
				break
			}
		}
		if s == nil || s.drawn[ry&regionMask]>>uint(rx&regionMask)&1 == 0 {
			if !known {
				border.find(x, y, &w, tan)
				known = true
			}
			x, y = border.cross(&w)
			continue
		}
		known = false
		i, j, t := c.through(s.regions[(ry&regionMask)<<superBits|rx&regionMask], &w, int(int32(x)&regionMask), int(int32(y)&regionMask))
		x += float64(i * w.sx)
		y += float64(j * w.sy)
		if t == nil {
			continue
		}
		if w.ax > w.ay {
			return math.Abs((x-c.x)/cos) / g.perMetre, t
		}
		return math.Abs((y-c.y)/sin) / g.perMetre, t
	}
	return length, nil
}

// leaves reports whether a ray in a superregion has only such before it in
// which nothing has been drawn.
func (g *grid) leaves(x, y int32, sx, sy int) bool {
	return x > g.maxX && sx > 0 || x < g.minX && sx < 0 || y > g.maxY && sy > 0 || y < g.minY && sy < 0 || g.number == 0
}

// borders are the crossings of a ray with the borders of regions: the next one
// of a border between columns and that of one between rows, and the way to each.
type borders struct {
	atX, atY     crossing
	stepX, stepY crossing // from one to the next
}

type crossing struct{ x, y, way float64 }

func (b *borders) begin(w *walk, tan float64) {
	sx, sy := float64(w.sx)*side, float64(w.sy)*side
	b.stepX = crossing{x: sx, y: sx * tan}
	b.stepY = crossing{x: sy / tan, y: sy}
	b.stepX.way = math.Abs(b.stepX.x) + math.Abs(b.stepX.y)
	b.stepY.way = math.Abs(b.stepY.x) + math.Abs(b.stepY.y)
}

// find works out the crossings ahead of a place. To the left and below, the
// border is where the last cell of the next region begins.
func (b *borders) find(x, y float64, w *walk, tan float64) {
	dx, dy := ahead(x, w.sx), ahead(y, w.sy)
	xy, yx := dx*tan, dy/tan
	b.atX = crossing{x + dx, y + xy, math.Abs(dx) + math.Abs(xy)}
	b.atY = crossing{x + yx, y + dy, math.Abs(yx) + math.Abs(dy)}
}

// ahead returns how far it is to the border of the region along an axis.
func ahead(v float64, direction int) float64 {
	corner := float64(int32(v) &^ regionMask)
	if direction < 0 {
		return corner - v - 1
	}
	return corner + side - v
}

// cross goes on to the next border.
func (b *borders) cross(w *walk) (x, y float64) {
	if b.atX.way < b.atY.way {
		x, y = b.atX.x, b.atX.y
		w.left = int(float64(w.left) - b.atX.way)
		b.atY.way -= b.atX.way
		b.atX = crossing{x + b.stepX.x, y + b.stepX.y, b.stepX.way}
		return x, y
	}
	x, y = b.atY.x, b.atY.y
	w.left = int(float64(w.left) - b.atY.way)
	b.atX.way -= b.atY.way
	b.atY = crossing{x + b.stepY.x, y + b.stepY.y, b.stepY.way}
	return x, y
}

// walk is what a ray's steps from cell to cell follow from. Its axes are turned
// so that the longer one is first: u.
type walk struct {
	ax, ay int // the ray's extent, cells
	sx, sy int // the direction of a step along each axis
	left   int // steps

	steep        bool // u is y
	du, dv       int  // twice the extents
	su, sv       int
	balance      int // below 0 the next step is along u and adds dv, else along v and takes du
	perDu, perDv float64
	run          int // du/dv: between two steps along v there are so many along u, or one more
}

func (w *walk) begin() {
	w.left = w.ax + w.ay
	w.balance = w.ay - w.ax
	w.du, w.dv, w.su, w.sv = 2*w.ax, 2*w.ay, w.sx, w.sy
	if w.steep = w.ay > w.ax; w.steep {
		// Stage steps along y if its balance is not below 0, that is if the
		// complement is.
		w.balance = ^w.balance
		w.du, w.dv, w.su, w.sv = w.dv, w.du, w.sy, w.sx
	}
	w.perDu, w.perDv = 1/float64(w.du), 2*side
	if w.dv > 0 {
		w.perDv = 1 / float64(w.dv)
	}
	w.run = quotient(w.du, w.perDv)
}

// quotient returns a/b for a not below 0, rounded down, of a and 1/b: a half is
// more than the error and less than makes a difference.
func quotient(a int, perB float64) int { return int((float64(a) + 0.5) * perB) }

// toLine returns how many steps along u there are before the nth one along v.
func (w *walk) toLine(n int) int {
	if over := w.du*(n-1) - w.balance; over > 0 {
		return quotient(over-1, w.perDv) + 1
	}
	return 0
}

// out returns how many steps it takes from a cell out of its region.
func (w *walk) out(u, v int) (m, n int) {
	toU, toV := room(u, w.su), room(v, w.sv)
	if over := w.balance + w.dv*(toU-1); over >= 0 {
		n = quotient(over, w.perDu) + 1
	}
	if n < toV {
		return toU, n
	}
	return w.toLine(toV), toV
}

// room returns how many steps there are along an axis from a cell out of its
// region.
func room(v, direction int) int {
	if direction > 0 {
		return side - v
	}
	return v + 1
}

// between returns the bits from a cell on for a number of steps, at most to the
// border of the region.
func between(v, steps, direction int) uint32 {
	if direction > 0 {
		return uint32((2<<uint(min(steps, side-1)) - 1) << uint(v))
	}
	// From bit v downwards: steps + 1 bits.
	return uint32((2<<uint(v))-1) &^ uint32(1<<uint(max(v-steps, 0))-1)
}

// first returns the steps from a cell to the first of some bits ahead, side or
// more if there is none.
func first(set uint32, v, direction int) int {
	if direction > 0 {
		return bits.TrailingZeros32(set >> uint(v))
	}
	return bits.LeadingZeros32(set << uint(side-1-v))
}

// follow makes steps from a cell until it is marked, and returns how many along
// u and v; false if the ray leaves the region first.
func (w *walk) follow(lines *[side]uint32, used uint32, u, v int) (m, n int, hit bool) {
	if n = first(used, v, w.sv); n >= side {
		return 0, 0, false
	}
	balance := w.balance
	if n > 0 {
		m = w.toLine(n)
		balance += m*w.dv - n*w.du
		u, v = u+m*w.su, v+n*w.sv
	}
	steps := 0 // along u before the next one along v
	if balance < 0 {
		steps = quotient(-balance-1, w.perDv) + 1
	}
	for uint(u) < side && uint(v) < side {
		if found := lines[v] & between(u, steps, w.su); found != 0 {
			return m + first(found, u, w.su), n, true
		}
		m += steps
		n++
		u += steps * w.su
		v += w.sv
		balance += steps*w.dv - w.du
		if steps = w.run; balance+steps*w.dv < 0 {
			steps++
		}
	}
	return 0, 0, false
}

// through follows the ray through a region from a cell on, and returns the steps
// along x and y to what it hits there or, with nil, to where it leaves.
func (c *caster) through(tiles *tile, w *walk, x, y int) (i, j int, hit *tile) {
	u, v := x, y
	if w.steep {
		u, v = y, x
	}
	m, n := w.out(u, v)
	if c.meet(tiles, w.steep, between(u, m, w.su), between(v, n, w.sv)) {
		lines, used := c.lines(w.steep)
		if hm, hn, ok := w.follow(lines, used, u, v); ok {
			if hm+hn >= w.left {
				w.left = 0
				return 0, 0, nil
			}
			m, n = hm, hn
			hit = c.earliest(w.steep, u+m*w.su, v+n*w.sv)
		}
	}
	w.left -= m + n
	w.balance += m*w.dv - n*w.du
	if w.steep {
		m, n = n, m
	}
	return m, n, hit
}

// meet gathers the tiles of a region that a ray may hit, and reports whether
// there are any: those with a mark in the columns and rows that it passes.
func (c *caster) meet(tiles *tile, steep bool, us, vs uint32) bool {
	columns, rows := us, vs
	if steep {
		columns, rows = vs, us
	}
	c.met = c.met[:0]
	for t := tiles; t != nil; t = t.next {
		if t.usedCols&columns == 0 || t.usedRows&rows == 0 || t.layers&c.layer == 0 {
			continue
		}
		if c.pick != nil {
			if !c.pick(t) {
				continue
			}
		} else if t.root == c.own || t.ret < 0 || c.z < t.low || c.z > t.high {
			continue
		}
		c.met = append(c.met, t)
	}
	return len(c.met) > 0
}

// lines returns what the tiles met mark, by rows or, for steep rays, by columns,
// and which of those have marks.
func (c *caster) lines(steep bool) (lines *[side]uint32, used uint32) {
	for i, t := range c.met {
		more, moreUsed := &t.rows, t.usedRows
		if steep {
			more, moreUsed = &t.cols, t.usedCols
		}
		switch i {
		case 0:
			lines, used = more, moreUsed
			continue
		case 1:
			c.all = *lines
			lines = &c.all
		}
		used |= moreUsed
		for k, bits := range more {
			c.all[k] |= bits
		}
	}
	return lines, used
}

// earliest returns which of the tiles met was drawn first in a cell.
func (c *caster) earliest(steep bool, x, y int) *tile {
	if steep {
		x, y = y, x
	}
	var found *tile
	for _, t := range c.met {
		if t.rows[y]>>uint(x)&1 != 0 && (found == nil || t.stamp < found.stamp || t.stamp == found.stamp && t.part < found.part) {
			found = t
		}
	}
	return found
}
