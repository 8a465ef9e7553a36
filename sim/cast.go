package sim

import "math"

// fewRays is the number of samples up to which rays are followed one by one; a
// scanner's fan is cheaper to fill from the segments around it.
const fewRays = 4

// caster measures ranges in a space. It holds what a cast needs for a moment.
type caster struct {
	space *space

	seen     []uint32 // the cast that last looked at a standing segment
	seenRoot []uint32 // and at a moving tree
	cast     uint32

	x, y, z  float64             // where the sensor is
	cos, sin float64             // of its heading
	own      int32               // the root that it never sees
	limit    float64             // m, its greatest range
	pick     func(*segment) bool // what a single ray meets; nil: what rangers see
	fan      *fan
	best     []float64 // m, the nearest hit so far of each sample
	returned []float64 // and its ranger_return
}

// fan holds the directions of a sensor's samples in its own frame.
type fan struct {
	cos, sin   []float64
	first      float64 // rad, of sample 0
	perRadian  float64 // samples
	slack      float64 // samples by which the place of an angle may be off
	narrow     bool    // nothing behind the sensor can be seen
	bearings   []float64
	samples    int
	fieldAngle float64
}

func newFan(samples int, fov float64) *fan {
	f := &fan{samples: samples, fieldAngle: fov, narrow: fov <= math.Pi}
	step := 0.0
	if samples > 1 {
		f.first = -fov / 2
		step = fov / float64(samples-1)
		f.perRadian = 1 / step
		f.slack = atanError/step + 1e-6
	}
	for i := 0; i < samples; i++ {
		b := f.first + float64(i)*step
		s, c := math.Sincos(b)
		f.cos, f.sin, f.bearings = append(f.cos, c), append(f.sin, s), append(f.bearings, b)
	}
	return f
}

// sweeps tells whether the fan can be filled from segments: its samples are
// many, in order, and go round once at most.
func (f *fan) sweeps() bool {
	return f.samples > fewRays && f.fieldAngle > 1e-9 && f.fieldAngle <= 2*math.Pi+1e-9
}

// begin sets the sensor: its pose in the world and what it belongs to.
func (c *caster) begin(at Pose, own int32, limit float64) {
	if n := len(c.space.standing); len(c.seen) < n {
		c.seen = make([]uint32, n)
	}
	if n := len(c.space.roots); len(c.seenRoot) < n {
		c.seenRoot = make([]uint32, n)
	}
	c.x, c.y, c.z, c.own, c.limit = at.X, at.Y, at.Z, own, limit
	c.sin, c.cos = math.Sincos(at.A)
}

// next begins a new cast: nothing has been looked at.
func (c *caster) next() {
	c.cast++
	if c.cast == 0 {
		clear(c.seen)
		clear(c.seenRoot)
		c.cast = 1
	}
}

// sweep measures all samples of f at once: it goes outwards in rings of
// buckets, enters each segment into the samples that it covers, and ends when
// what is farther cannot matter. ranges and returned have room for f.samples.
func (c *caster) sweep(f *fan, ranges, returned []float64) {
	c.next()
	c.fan, c.best, c.returned = f, ranges[:f.samples], returned[:f.samples]
	for i := range c.best {
		c.best[i], c.returned[i] = c.limit, 0
	}
	s := c.space
	bx, by := s.column(c.x), s.row(c.y)
	fx, fy := c.x-s.x0-float64(bx)*s.side, c.y-s.y0-float64(by)*s.side
	inset := math.Max(0, math.Min(math.Min(fx, s.side-fx), math.Min(fy, s.side-fy)))
	last := max(bx, s.nx-1-bx, by, s.ny-1-by)
	c.bucket(bx, by)
	for k := int32(1); k <= last; k++ {
		if near := float64(k-1)*s.side + inset; near >= c.limit || c.settled(near) {
			return
		}
		x0, x1 := max(bx-k, 0), min(bx+k, s.nx-1)
		for _, y := range [2]int32{by - k, by + k} {
			if y >= 0 && y < s.ny {
				for x := x0; x <= x1; x++ {
					c.bucketAhead(x, y)
				}
			}
		}
		y0, y1 := max(by-k+1, 0), min(by+k-1, s.ny-1)
		for _, x := range [2]int32{bx - k, bx + k} {
			if x >= 0 && x < s.nx {
				for y := y0; y <= y1; y++ {
					c.bucketAhead(x, y)
				}
			}
		}
	}
}

// settled tells whether no sample can be shortened by what is at distance near
// or farther.
func (c *caster) settled(near float64) bool {
	for _, r := range c.best {
		if r > near {
			return false
		}
	}
	return true
}

// bucketAhead looks at a bucket unless it lies behind or out of range. Those at
// the rim hold what is outside the grid too: they are always looked at.
func (c *caster) bucketAhead(x, y int32) {
	s := c.space
	if x > 0 && y > 0 && x < s.nx-1 && y < s.ny-1 {
		b := y*s.nx + x
		if s.start[b] == s.start[b+1] && len(s.moving[b]) == 0 {
			return
		}
		dx := s.x0 + (float64(x)+0.5)*s.side - c.x
		dy := s.y0 + (float64(y)+0.5)*s.side - c.y
		half := s.side * 0.7072
		if c.fan.narrow && dx*c.cos+dy*c.sin < -half {
			return
		}
		if far := c.limit + half; dx*dx+dy*dy > far*far {
			return
		}
	}
	c.bucket(x, y)
}

func (c *caster) bucket(x, y int32) {
	s := c.space
	b := y*s.nx + x
	for _, i := range s.entries[s.start[b]:s.start[b+1]] {
		if c.seen[i] != c.cast {
			c.seen[i] = c.cast
			c.enter(&s.standing[i], false)
		}
	}
	for _, i := range s.moving[b] {
		if c.seenRoot[i] == c.cast || i == c.own {
			continue
		}
		c.seenRoot[i] = c.cast
		r := s.roots[i]
		dx, dy := r.cx-c.x, r.cy-c.y
		if far := c.limit + r.radius; dx*dx+dy*dy > far*far {
			continue
		}
		if c.fan.narrow && dx*c.cos+dy*c.sin < -r.radius {
			continue
		}
		outside := dx*dx+dy*dy > r.radius*r.radius*(1+1e-9)
		for j := range r.segments {
			c.enter(&r.segments[j], outside)
		}
	}
}

// enter shortens the samples that the segment covers. outside says that the
// sensor is not within its outline.
func (c *caster) enter(g *segment, outside bool) {
	if g.ret < 0 || c.z < g.low || c.z > g.high || g.root == c.own {
		return
	}
	f := c.fan
	dx, dy := g.ax-c.x, g.ay-c.y
	x0, y0 := dx*c.cos+dy*c.sin, dy*c.cos-dx*c.sin
	dx, dy = g.bx-c.x, g.by-c.y
	x1, y1 := dx*c.cos+dy*c.sin, dy*c.cos-dx*c.sin
	if f.narrow && x0 < 0 && x1 < 0 {
		return
	}
	cross := x0*y1 - x1*y0
	if cross > 0 && outside && g.convex {
		return // the near side of the outline hides it
	}
	if cross < 0 {
		x0, y0, x1, y1, cross = x1, y1, x0, y0, -cross
	}
	if cross == 0 {
		c.touch(x0, y0, x1, y1, float64(g.ret))
		return
	}
	ex, ey := x1-x0, y1-y0
	if cross*cross > c.limit*c.limit*(ex*ex+ey*ey) {
		return
	}
	// From a to b the samples run anticlockwise now.
	a, b := (angle(y0, x0)-f.first)*f.perRadian, (angle(y1, x1)-f.first)*f.perRadian
	ret := float64(g.ret)
	if a <= b {
		c.shorten(a-f.slack, b+f.slack, x0, y0, x1, y1, cross, ret)
		return
	}
	c.shorten(a-f.slack, float64(f.samples), x0, y0, x1, y1, cross, ret)
	c.shorten(-1, b+f.slack, x0, y0, x1, y1, cross, ret)
}

// touch enters a segment in line with the sensor: if the sensor is on it,
// nothing is seen beyond. Otherwise it is seen from its end, which belongs to
// the next segment too.
func (c *caster) touch(x0, y0, x1, y1, ret float64) {
	if x0*x1+y0*y1 > 0 {
		return
	}
	for i := range c.best {
		c.best[i], c.returned[i] = 0, ret
	}
}

// shorten enters the segment from (x0, y0) to (x1, y1) into the samples
// between from and to that it really crosses.
func (c *caster) shorten(from, to, x0, y0, x1, y1, cross, ret float64) {
	f := c.fan
	first, last := 0, f.samples-1
	if from > 0 {
		if from > float64(last) {
			return
		}
		first = int(math.Ceil(from))
	}
	if to < float64(last) {
		if to < 0 {
			return
		}
		last = int(to)
	}
	ex, ey := x1-x0, y1-y0
	cos, sin, best := f.cos, f.sin[:len(f.cos)], c.best[:len(f.cos)]
	for i := first; i <= last; i++ {
		co, si := cos[i], sin[i]
		if x0*si-y0*co < 0 || x1*si-y1*co > 0 {
			continue
		}
		if den := co*ey - si*ex; cross < best[i]*den {
			best[i] = cross / den
			c.returned[i] = ret
		}
	}
}

// ray measures one sample in the direction (cos, sin) of the world: bucket by
// bucket, until the nearest hit lies in a bucket that was looked at.
func (c *caster) ray(cos, sin float64) (distance float64, hit *segment) {
	c.next()
	s := c.space
	best := c.limit
	// The walk is over buckets without bounds; those outside stand for the
	// nearest inside.
	px, py := (c.x-s.x0)*s.unit, (c.y-s.y0)*s.unit
	ix, iy := math.Floor(px), math.Floor(py)
	stepX, nextX, deltaX := walk(px, ix, cos, s.side)
	stepY, nextY, deltaY := walk(py, iy, sin, s.side)
	rimX, rimY := rim{stepX, float64(s.nx - 1)}, rim{stepY, float64(s.ny - 1)}
	for {
		b := bucketOf(iy, s.ny)*s.nx + bucketOf(ix, s.nx)
		for _, i := range s.entries[s.start[b]:s.start[b+1]] {
			if c.seen[i] != c.cast {
				c.seen[i] = c.cast
				best, hit = c.meet(&s.standing[i], cos, sin, best, hit)
			}
		}
		for _, i := range s.moving[b] {
			if c.seenRoot[i] == c.cast || i == c.own {
				continue
			}
			c.seenRoot[i] = c.cast
			r := s.roots[i]
			dx, dy := r.cx-c.x, r.cy-c.y
			if off := dx*sin - dy*cos; off > r.radius || off < -r.radius {
				continue
			}
			for j := range r.segments {
				best, hit = c.meet(&r.segments[j], cos, sin, best, hit)
			}
		}
		if math.Min(nextX, nextY) >= best || (rimX.last(ix) && rimY.last(iy)) {
			return best, hit
		}
		if nextX < nextY {
			ix += stepX
			nextX += deltaX
		} else {
			iy += stepY
			nextY += deltaY
		}
	}
}

// rim tells when a walk along one axis has come to the last bucket there.
type rim struct{ step, end float64 }

func (r rim) last(i float64) bool {
	return r.step == 0 || (r.step < 0 && i <= 0) || (r.step > 0 && i >= r.end)
}

// walk gives the direction of steps through buckets along one axis, the
// distance at which the first is made, and that between two.
func walk(p, i, d, side float64) (step, next, delta float64) {
	switch {
	case d > 0:
		return 1, (i + 1 - p) * side / d, side / d
	case d < 0:
		return -1, (i - p) * side / d, -side / d
	}
	return 0, math.Inf(1), math.Inf(1)
}

// meet gives the nearer of the best hit so far and that with g.
func (c *caster) meet(g *segment, cos, sin, best float64, hit *segment) (float64, *segment) {
	if c.pick != nil {
		if !c.pick(g) {
			return best, hit
		}
	} else if g.ret < 0 || c.z < g.low || c.z > g.high || g.root == c.own {
		return best, hit
	}
	x0, y0, x1, y1 := g.ax-c.x, g.ay-c.y, g.bx-c.x, g.by-c.y
	s0, s1 := x0*sin-y0*cos, x1*sin-y1*cos
	if (s0 > 0 && s1 > 0) || (s0 < 0 && s1 < 0) || s0 == s1 {
		return best, hit
	}
	cross := x0*y1 - x1*y0
	den := cos*(y1-y0) - sin*(x1-x0)
	if t := cross / den; t >= 0 && t < best {
		return t + 0, g // not -0
	}
	return best, hit
}

// atanError bounds the error of angle, rad.
const atanError = 2e-5

// angle is math.Atan2 to within atanError, faster.
func angle(y, x float64) float64 {
	ax, ay := math.Abs(x), math.Abs(y)
	small, big := ay, ax
	if ay > ax {
		small, big = ax, ay
	}
	if big == 0 {
		return 0
	}
	z := small / big
	q := z * z
	a := z * (0.99997726 + q*(-0.33262347+q*(0.19354346+q*(-0.11643287+q*(0.05265332-q*0.01172120)))))
	if ay > ax {
		a = math.Pi/2 - a
	}
	if x < 0 {
		a = math.Pi - a
	}
	if y < 0 {
		return -a
	}
	return a
}
