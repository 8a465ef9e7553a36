package sim

import "math"

// caster follows rays through the grid as Stage does: cell by cell where
// something is drawn, and from border to border over empty regions.
type caster struct {
	grid  *grid
	layer uint8 // that rays see

	x, y, z          float64 // where rays start: cells, cells, m
	regionX, regionY int32   // of that place

	length  float64          // of rays, m
	reach   float64          // the same in cells
	perCell float64          // m
	own     int32            // the root that is not seen
	pick    func(*tile) bool // what a ray may hit; nil: what rangers see

	begun uint64  // the number of this beginning
	unite []*tile // what is seen of regions with several tiles
	used  int     // of unite
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
	c.regionX, c.regionY = int32(c.x)>>regionBits, int32(c.y)>>regionBits
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

// ray is a ray on its way. Its axes are turned so that the longer one is first:
// u. Its place, its balance and the steps left are Stage's after each region, and
// so is their drift from the true line.
type ray struct {
	walk
	u, v         float64 // cells
	left         int32   // steps
	balance      int32   // of the walk
	rise, run    float64 // of the true line: cells along v for one along u, along u for one along v
	perU, perV   float64 // the way for a cell along each axis
	fromU, fromV float64 // where it starts

	regionU, regionV int32 // that it is in
	hit              *tile // at the end
}

// set makes r a ray in a direction.
func (c *caster) set(r *ray, sin, cos float64) {
	dx, dy := int32(c.reach*cos), int32(c.reach*sin)
	mirrorX, mirrorY := negative(cos), negative(sin)
	ax, ay := dx^mirrorX-mirrorX, dy^mirrorY-mirrorY
	perBoth := 1 / (sin * cos)
	r.hit, r.left = nil, ax+ay
	if ay > ax {
		r.axis = 1
		r.du, r.dv, r.mirrorU, r.mirrorV = 2*ay, 2*ax, mirrorY, mirrorX
		// Stage steps along y if its balance is not below 0, that is if the
		// complement is.
		r.balance = ax - ay - 1
		r.fromU, r.fromV, r.regionU, r.regionV = c.y, c.x, c.regionY, c.regionX
		sin, cos = cos, sin
	} else {
		r.axis = 0
		r.du, r.dv, r.mirrorU, r.mirrorV = 2*ax, 2*ay, mirrorX, mirrorY
		r.balance = ay - ax
		r.fromU, r.fromV, r.regionU, r.regionV = c.x, c.y, c.regionX, c.regionY
	}
	r.u, r.v = r.fromU, r.fromV
	r.rise, r.run = sin*sin*perBoth, cos*cos*perBoth
	r.perU, r.perV = sin*perBoth, cos*perBoth
}

// negative returns -1, which has all bits, for what is below 0, and else 0.
func negative(v float64) int32 { return int32(int64(math.Float64bits(v)) >> 63) }

// cast follows a ray, and returns how far away it hits something, and what; its
// length and nil if it does not.
func (c *caster) cast(sin, cos float64) (float64, *tile) {
	rays := c.rays(1)
	c.set(&rays[0], sin, cos)
	c.follow(rays)
	return c.result(&rays[0])
}

// rays returns rays to set, which are good until it is called again.
func (c *caster) rays(n int) []ray {
	if len(c.fan) < n {
		c.fan, c.going = make([]ray, n), make([]int32, 0, n)
	}
	return c.fan[:n]
}

// follow takes rays to their ends, each a region in turn: a piece of a ray depends
// on the one before, but not on other rays, so the processor works at several at
// once. Neighbours are mostly in the same region, which is looked up once for a
// run of them.
func (c *caster) follow(rays []ray) {
	going := c.going[:0]
	for i := range rays {
		if rays[i].left > 0 {
			going = append(going, int32(i))
		}
	}
	for len(going) > 0 {
		left := going[:0]
		for begin, end := 0, 0; begin < len(going); begin = end {
			r := &rays[going[begin]]
			for end = begin + 1; end < len(going) && r.beside(&rays[going[end]]); end++ {
			}
			left = c.further(rays, going[begin:end], left)
		}
		going = left
	}
}

// beside reports whether two rays are in the same region and have the same
// longer axis.
func (r *ray) beside(o *ray) bool {
	return r.regionU == o.regionU && r.regionV == o.regionV && r.axis == o.axis
}

// further takes rays that are beside each other out of their region, and appends
// those that go on from there.
func (c *caster) further(rays []ray, run, left []int32) []int32 {
	r := &rays[run[0]]
	g := c.grid.region(r.axis, r.regionU, r.regionV)
	if g == nil || g.tiles == nil {
		for _, i := range run {
			if c.grid.jump(&rays[i]) {
				left = append(left, i)
			}
		}
		return left
	}
	seen := g.seen
	if g.begun != c.begun {
		seen = c.look(g)
	}
	if seen == nil {
		for _, i := range run {
			r := &rays[i]
			u, v := r.within()
			if r.move(r.out(u, v, r.balance)) {
				left = append(left, i)
			}
		}
		return left
	}
	for _, i := range run {
		r := &rays[i]
		u, v := r.within()
		m, n, hit := r.find(&seen.marks, u, v, r.balance)
		if !hit {
			m, n = r.out(u, v, r.balance)
		}
		switch goes := r.move(m, n); {
		case !goes:
		case !hit:
			left = append(left, i)
		default:
			if r.hit = seen; seen.part == united {
				r.hit = c.earliest(g, r.axis, (u+m)^r.mirrorU&regionMask, (v+n)^r.mirrorV&regionMask)
			}
		}
	}
	return left
}

// within returns the ray's cell in its region, in the ray's direction.
func (r *ray) within() (u, v int32) {
	return (int32(r.u) ^ r.mirrorU) & regionMask, (int32(r.v) ^ r.mirrorV) & regionMask
}

// move makes steps along each axis, and reports whether there are any left: a
// cell counts only if there are.
func (r *ray) move(m, n int32) bool {
	r.left -= m + n
	r.balance += m*r.dv - n*r.du
	r.u += float64(m ^ r.mirrorU - r.mirrorU)
	r.v += float64(n ^ r.mirrorV - r.mirrorV)
	r.regionU, r.regionV = int32(r.u)>>regionBits, int32(r.v)>>regionBits
	return r.left > 0
}

// result returns how far a ray came, and what it hit.
func (c *caster) result(r *ray) (float64, *tile) {
	switch {
	case r.hit == nil:
		return c.length, nil
	case r.du == r.dv:
		return math.Abs((r.v-r.fromV)*r.perV) * c.perCell, r.hit // along y
	}
	return math.Abs((r.u-r.fromU)*r.perU) * c.perCell, r.hit
}

// superAt is super for an axis that comes first.
func (g *grid) superAt(axis uint8, u, v int32) *superregion {
	if axis == 0 {
		return g.super(u, v)
	}
	return g.super(v, u)
}

// region returns a region, nil if there is none.
func (g *grid) region(axis uint8, u, v int32) *region {
	if axis != 0 {
		u, v = v, u
	}
	s := g.super(u>>superBits, v>>superBits)
	if s == nil {
		return nil
	}
	return &s.regions[v&regionMask<<superBits|u&regionMask]
}

// nothing is what is drawn in a superregion that there is not.
var nothing [side]uint32

// jump goes on from border to border over regions in which nothing is drawn. It
// reports whether the ray gets to one in which something is.
func (g *grid) jump(r *ray) bool {
	u, v, left := r.u, r.v, r.left
	stepU, stepV := float64((r.mirrorU|1)*side), float64((r.mirrorV|1)*side)
	besideU, besideV := stepU*r.rise, stepV*r.run
	// The next crossings of borders between regions along each axis: where, and
	// how far along both axes.
	toU, toV := ahead(u, r.mirrorU), ahead(v, r.mirrorV)
	acrossU, acrossV := u+toU, v+toU*r.rise
	upU, upV := u+toV*r.run, v+toV
	across, up := math.Abs(toU)+math.Abs(toU*r.rise), math.Abs(toV*r.run)+math.Abs(toV)
	perAcross, perUp := side+math.Abs(besideU), side+math.Abs(besideV)
	steep := r.axis != 0
	regionU, regionV := r.regionU, r.regionV
	for {
		superU, superV := regionU>>superBits, regionV>>superBits
		drawn := &nothing
		if s := g.superAt(r.axis, superU, superV); s != nil {
			drawn = &s.drawn[r.axis&1]
		} else if g.leaves(r, superU, superV) {
			return false
		}
		for regionU>>superBits == superU && regionV>>superBits == superV {
			if drawn[regionV&regionMask]>>uint(regionU&regionMask)&1 != 0 {
				r.u, r.v, r.left, r.regionU, r.regionV = u, v, left, regionU, regionV
				return true
			}
			if across < up || steep && across == up { // at a corner Stage crosses along y first
				u, v = acrossU, acrossV
				left = int32(float64(left) - across)
				up -= across
				acrossU, acrossV = u+stepU, v+besideU
				across = perAcross
			} else {
				u, v = upU, upV
				left = int32(float64(left) - up)
				across -= up
				upU, upV = u+besideV, v+stepV
				up = perUp
			}
			if left <= 0 {
				return false
			}
			regionU, regionV = int32(u)>>regionBits, int32(v)>>regionBits
		}
	}
}

// ahead returns how far it is to the border of a region along an axis. To the
// left and below that is where the last cell of the next region begins.
func ahead(v float64, mirror int32) float64 {
	corner := float64(int32(v) &^ regionMask)
	if mirror != 0 {
		return corner - v - 1
	}
	return corner + side - v
}

// leaves reports whether a ray in a superregion has only such before it in
// which nothing has been drawn.
func (g *grid) leaves(r *ray, superU, superV int32) bool {
	low, high := [2]int32{g.minX, g.minY}, [2]int32{g.maxX, g.maxY}
	at, mirror := [2]int32{superU, superV}, [2]int32{r.mirrorU, r.mirrorV}
	for i := range at {
		if j := i ^ int(r.axis&1); mirror[i] == 0 && at[i] > high[j] || mirror[i] != 0 && at[i] < low[j] {
			return true
		}
	}
	return g.number == 0
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
	for i := range t.lines[0] {
		t.lines[0][i] |= o.lines[0][i]
		t.lines[1][i] |= o.lines[1][i]
	}
	t.used[0] |= o.used[0]
	t.used[1] |= o.used[1]
}

// earliest returns which of the tiles that rays may hit was drawn first in a
// cell.
func (c *caster) earliest(g *region, axis uint8, u, v int32) *tile {
	var found *tile
	for t := g.tiles; t != nil; t = t.next {
		if t.lines[axis&1][v]>>uint(u)&1 != 0 && c.sees(t) && (found == nil || t.stamp < found.stamp || t.stamp == found.stamp && t.part < found.part) {
			found = t
		}
	}
	return found
}
