package sim

// singly follows the rays of a scan, and sets what they measure.
func (c *caster) singly(ranges, returned []float64) {
	rays := c.rays(len(ranges))
	for i := range rays {
		if c.set(&rays[i], c.sin[i], c.cos[i]); c.isFree {
			c.leave(&rays[i])
		}
	}
	c.follow(rays)
	for i := range rays {
		var hit *tile
		ranges[i], hit = c.result(&rays[i])
		if returned[i] = 0; hit != nil {
			returned[i] = float64(hit.ret)
		}
	}
}

// leave takes r out of the regions around its start in which it hits nothing. The
// frame is its octant's.
func (c *caster) leave(r *ray) {
	f := &c.frames[r.octant&7]
	m, n := r.out(c.free[f.axis<<1|f.mirrorU&1], c.free[(f.axis^1)<<1|f.mirrorV&1])
	r.move(m, n, f.mirrorU, f.mirrorV)
}

// open finds the regions around where rays start that have something drawn in them,
// but nothing to hit: those of the own tree. All of a scan's rays leave them at
// once.
func (c *caster) open() {
	x, y := int32(c.x)>>regionBits, int32(c.y)>>regionBits
	if c.isFree = c.blank(x, y, x, y); !c.isFree {
		return
	}
	fromX, fromY, toX, toY := x, y, x, y
	if c.blank(x-1, y, x-1, y) {
		fromX--
	}
	if c.blank(x+1, y, x+1, y) {
		toX++
	}
	if c.blank(fromX, y-1, toX, y-1) {
		fromY--
	}
	if c.blank(fromX, y+1, toX, y+1) {
		toY++
	}
	c.free = [4]int32{
		(toX+1)<<regionBits - int32(c.x), int32(c.x) + 1 - fromX<<regionBits,
		(toY+1)<<regionBits - int32(c.y), int32(c.y) + 1 - fromY<<regionBits,
	}
}

// blank reports whether in each region of a rectangle something is drawn, but
// nothing that rays may hit.
func (c *caster) blank(fromX, fromY, toX, toY int32) bool {
	for y := fromY; y <= toY; y++ {
		for x := fromX; x <= toX; x++ {
			s := c.grid.super(x>>superBits, y>>superBits)
			if s == nil {
				return false
			}
			t := s.regions[y&regionMask<<superBits|x&regionMask].tiles
			if t == nil {
				return false
			}
			for ; t != nil; t = t.next {
				if c.sees(t) {
					return false
				}
			}
		}
	}
	return true
}
