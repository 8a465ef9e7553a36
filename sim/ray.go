package sim

import "math"

// caster follows rays through the grid as Stage does: cell by cell where
// something is drawn, and from border to border over empty regions.
type caster struct {
	grid  *grid
	layer uint8 // that rays see

	x, y, z float64  // where rays start: cells, cells, m
	frames  [8]frame // by octant: 1 for down x, 2 for down y, 4 for y first

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

	sin, cos []float64 // of the directions of a scan, and room for a bundle more
	isFree   bool      // the rays of the scan start in regions in which they hit nothing
	free     [4]int32  // cells to what is beyond those: up x, down x, up y, down y
	window   window
	bundles  []bundle
}

// nobody is the root that is left out where none is.
const nobody = -1

// maxReach is the longest ray, in cells: all that a walk reckons with stays
// within 32 bits.
const maxReach = 1 << 23

// begin sets where rays start, how long they are, and what they do not see.
func (c *caster) begin(at Pose, length float64, own int32, pick func(*tile) bool) {
	scale := c.grid.perMetre
	c.x, c.y, c.z = clamp(at.X*scale, -maxCell, maxCell), clamp(at.Y*scale, -maxCell, maxCell), at.Z
	c.turn()
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

// frame is how the rays of an octant see the grid: the axis along which they go
// farther comes first, and both are turned so that rays go up. The cells of an
// axis that is turned round are counted from -1 on: its mirror is -1, else it
// is 0.
type frame struct {
	axis             int32 // that u is: 0 is x, 1 is y
	mirrorU, mirrorV int32
	u, v             float64 // where rays start, cells
}

// ray is a ray on its way, in the frame of its octant. Its place, its balance and
// the steps left are Stage's after each region, and so is their drift from the
// true line.
type ray struct {
	walk
	u, v      float64 // cells
	rise, run float64 // of the true line: cells along v for one along u, along u for one along v
	per       float64 // the way for a cell along the axis that is measured

	left         int32 // steps
	cellU, cellV int32 // of its place
	octant       int32
	hit          *tile // at the end
}

// turn sets the frames of the octants.
func (c *caster) turn() {
	for i := range c.frames {
		f := &c.frames[i]
		mirrorX, mirrorY := -int32(i&1), -int32(i>>1&1)
		x, y := c.x, c.y
		if mirrorX != 0 {
			x = -x
		}
		if mirrorY != 0 {
			y = -y
		}
		if f.axis = int32(i >> 2); f.axis == 0 {
			f.u, f.v, f.mirrorU, f.mirrorV = x, y, mirrorX, mirrorY
		} else {
			f.u, f.v, f.mirrorU, f.mirrorV = y, x, mirrorY, mirrorX
		}
	}
}

// set makes r a ray in a direction.
func (c *caster) set(r *ray, sin, cos float64) {
	dx, dy := int32(c.reach*cos), int32(c.reach*sin)
	mirrorX, mirrorY := negative(cos), negative(sin)
	ax, ay := dx^mirrorX-mirrorX, dy^mirrorY-mirrorY
	perBoth := math.Abs(1 / (sin * cos))
	r.octant = mirrorX&1 | mirrorY&2
	r.hit, r.left = nil, ax+ay
	if ay > ax {
		r.octant |= 4
		// Stage steps along y if its balance is not below 0, that is if the
		// complement is.
		r.du, r.dv, r.balance = 2*ay, 2*ax, ax-ay-1
		sin, cos = cos, sin
	} else {
		r.du, r.dv, r.balance = 2*ax, 2*ay, ay-ax
	}
	r.per = math.Abs(sin * perBoth)
	if ax == ay {
		r.per = math.Abs(cos * perBoth)
	}
	r.rise, r.run = sin*sin*perBoth, cos*cos*perBoth
	f := &c.frames[r.octant&7]
	r.u, r.v = f.u, f.v
	r.cellU, r.cellV = int32(f.u)+f.mirrorU, int32(f.v)+f.mirrorV
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
		c.fan, c.going = make([]ray, n), make([]int32, n)
	}
	return c.fan[:n]
}

// follow takes rays to their ends, octant by octant.
func (c *caster) follow(rays []ray) {
	for begin, end := 0, 0; begin < len(rays); begin = end {
		octant := rays[begin].octant
		for end = begin + 1; end < len(rays) && rays[end].octant == octant; end++ {
		}
		s := sweep{caster: c, frame: c.frames[octant&7], rays: rays[begin:end], going: c.going[: 0 : end-begin]}
		s.follow()
	}
}

// sweep is the rays of an octant that are under way. They take turns, a region
// each: a piece of a ray depends on the one before, but not on other rays, so the
// processor works at several at once. Neighbours are mostly in the same region,
// which is looked up once for a run of them.
type sweep struct {
	*caster
	frame
	rays  []ray
	going []int32 // which rays are not at their ends
	at    int     // of going: the next one in this turn
	kept  int     // of going: those that go on in the next turn

	super          *superregion // looked up last
	superU, superV int32
}

// follow takes rays to their ends.
func (s *sweep) follow() {
	for i := range s.rays {
		if s.rays[i].left > 0 {
			s.going = append(s.going, int32(i))
		}
	}
	s.superAt(0, 0)
	for len(s.going) > 0 {
		for s.at, s.kept = 0, 0; s.at < len(s.going); {
			r := &s.rays[s.going[s.at]]
			switch g := s.region(r.cellU>>regionBits, r.cellV>>regionBits); {
			case g == nil || g.tiles == nil:
				s.jump(r.cellU, r.cellV)
			case s.look(g) == nil:
				s.pass(r.cellU, r.cellV)
			default:
				s.search(g, r.cellU, r.cellV)
			}
		}
		s.going = s.going[:s.kept]
	}
}

// within reports whether the ray is in the region of a cell.
func (r *ray) within(u, v int32) bool { return uint32((r.cellU^u)|(r.cellV^v)) < side }

// superAt returns a superregion, nil if there is none.
func (s *sweep) superAt(u, v int32) *superregion {
	s.superU, s.superV = u, v
	x, y := u^s.mirrorU, v^s.mirrorV
	if s.axis != 0 {
		x, y = y, x
	}
	s.super = s.grid.super(x, y)
	return s.super
}

// region returns a region, nil if there is none.
func (s *sweep) region(u, v int32) *region {
	if u>>superBits != s.superU || v>>superBits != s.superV {
		s.superAt(u>>superBits, v>>superBits)
	}
	if s.super == nil {
		return nil
	}
	x, y := u^s.mirrorU, v^s.mirrorV
	if s.axis != 0 {
		x, y = y, x
	}
	return &s.super.regions[y&regionMask<<superBits|x&regionMask]
}

// pass takes the next rays, as far as they are in the region of a cell, out of it.
func (s *sweep) pass(u, v int32) {
	rays, going, at, kept, mirrorU, mirrorV := s.rays, s.going, s.at, s.kept, s.mirrorU, s.mirrorV
	for ; at < len(going); at++ {
		i := going[at]
		r := &rays[i]
		if !r.within(u, v) {
			break
		}
		m, n := r.out(side-r.cellU&regionMask, side-r.cellV&regionMask)
		if r.move(m, n, mirrorU, mirrorV); r.left > 0 {
			going[kept] = i
			kept++
		}
	}
	s.at, s.kept = at, kept
}

// search does the same where there is something that may be hit.
func (s *sweep) search(g *region, u, v int32) {
	rays, going, at, kept, mirrorU, mirrorV := s.rays, s.going, s.at, s.kept, s.mirrorU, s.mirrorV
	marks := &g.seen.marks
	lines, us, vs := &marks.lines[s.axis&1], marks.used[s.axis&1^1], marks.used[s.axis&1]
	for ; at < len(going); at++ {
		i := going[at]
		r := &rays[i]
		if !r.within(u, v) {
			break
		}
		u, v := r.cellU&regionMask, r.cellV&regionMask
		m, n := r.out(side-u, side-v)
		if ahead := first(us, u, mirrorU); ahead <= m && first(vs, v, mirrorV) <= n {
			if toU, toV, hit := r.find(lines, vs, u, v, ahead, mirrorU, mirrorV); hit {
				if r.move(toU, toV, mirrorU, mirrorV); r.left > 0 {
					if r.hit = g.seen; r.hit.part == united {
						r.hit = s.earliest(g, s.axis, (u+toU)^mirrorU&regionMask, (v+toV)^mirrorV&regionMask)
					}
				}
				continue
			}
		}
		if r.move(m, n, mirrorU, mirrorV); r.left > 0 {
			going[kept] = i
			kept++
		}
	}
	s.at, s.kept = at, kept
}

// move makes steps along each axis. A cell counts only if there are any left then.
func (r *ray) move(m, n, mirrorU, mirrorV int32) {
	r.left -= m + n
	r.balance += m*r.dv - n*r.du
	u, v := r.u+float64(m), r.v+float64(n)
	r.u, r.v = u, v
	r.cellU, r.cellV = int32(u)+mirrorU, int32(v)+mirrorV
}

// result returns how far a ray came, and what it hit.
func (c *caster) result(r *ray) (float64, *tile) {
	f := &c.frames[r.octant&7]
	switch {
	case r.hit == nil:
		return c.length, nil
	case r.du == r.dv:
		return (r.v - f.v) * r.per * c.perCell, r.hit // along y
	}
	return (r.u - f.u) * r.per * c.perCell, r.hit
}

// nothing is what is drawn in a superregion that there is not.
var nothing [side]uint32

// jump takes the next rays, as far as they are in the region of a cell, in which
// nothing is drawn, from border to border to a region in which something is.
func (s *sweep) jump(u, v int32) {
	for ; s.at < len(s.going); s.at++ {
		i := s.going[s.at]
		r := &s.rays[i]
		if !r.within(u, v) {
			return
		}
		if s.leap(r) {
			s.going[s.kept] = i
			s.kept++
		}
	}
}

// leap goes on from border to border. It reports whether the ray gets to a region
// in which something is drawn.
func (s *sweep) leap(r *ray) bool {
	u, v, left := r.u, r.v, r.left
	mirrorU, mirrorV := s.mirrorU, s.mirrorV
	steep := s.axis != 0
	// The next crossings of borders between regions along each axis: how far it is
	// there, where that is, and how far along both axes. Where an axis is turned round
	// a border is a cell later. A crossing is where Stage's sums put it, which may be a
	// hair before the border: then the ray misses it, there as here.
	toU := float64((r.cellU|regionMask)+1) - u - float64(mirrorU)
	toV := float64((r.cellV|regionMask)+1) - v - float64(mirrorV)
	acrossU, upV := u+toU, v+toV
	besideU, besideV := side*r.run, side*r.rise
	acrossV, upU := v+toU*r.rise, u+toV*r.run
	across, up := toU+toU*r.rise, toV*r.run+toV
	perAcross, perUp := side+besideV, besideU+side
	fromU, fromV := s.superU<<(regionBits+superBits), s.superV<<(regionBits+superBits)
	drawn := &nothing
	if s.super != nil {
		drawn = &s.super.drawn[s.axis&1]
	}
	for {
		if across < up || steep && across == up { // at a corner Stage crosses along y first
			u, v = acrossU, acrossV
			left = int32(float64(left) - across)
			up -= across
			across = perAcross
			acrossU += side
			acrossV += besideV
		} else {
			u, v = upU, upV
			left = int32(float64(left) - up)
			across -= up
			up = perUp
			upU += besideU
			upV += side
		}
		if left <= 0 {
			return false
		}
		cellU, cellV := int32(u)+mirrorU, int32(v)+mirrorV
		if uint32((cellU-fromU)|(cellV-fromV)) >= side*side {
			superU, superV := cellU>>(regionBits+superBits), cellV>>(regionBits+superBits)
			fromU, fromV = superU<<(regionBits+superBits), superV<<(regionBits+superBits)
			drawn = &nothing
			if s.superAt(superU, superV) != nil {
				drawn = &s.super.drawn[s.axis&1]
			} else if s.leaves(superU, superV) {
				return false
			}
		}
		if drawn[(cellV^mirrorV)>>regionBits&regionMask]>>uint((cellU^mirrorU)>>regionBits&regionMask)&1 != 0 {
			r.u, r.v, r.left, r.cellU, r.cellV = u, v, left, cellU, cellV
			return true
		}
	}
}

// leaves reports whether a ray in a superregion has only such before it in
// which nothing has been drawn.
func (s *sweep) leaves(superU, superV int32) bool {
	g := s.grid
	low, high := [2]int32{g.minX >> superBits, g.minY >> superBits}, [2]int32{g.maxX >> superBits, g.maxY >> superBits}
	at, mirror := [2]int32{superU ^ s.mirrorU, superV ^ s.mirrorV}, [2]int32{s.mirrorU, s.mirrorV}
	for i := range at {
		if j := i ^ int(s.axis&1); mirror[i] == 0 && at[i] > high[j] || mirror[i] != 0 && at[i] < low[j] {
			return true
		}
	}
	return g.number == 0
}
