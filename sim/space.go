package sim

import "math"

// Limits of the grid of buckets.
const (
	maxBuckets   = 1 << 20
	maxEntries   = 1 << 25 // of standing segments, over all buckets
	minBucket    = 0.25    // m
	perBucket    = 8.0     // segments that a bucket is meant for
	spareBuckets = 64
)

// space finds segments by place: a grid of square buckets over all that was
// there when it was built. What stands is in it segment by segment, what moves
// as a whole. Places outside belong to the nearest bucket, so that things that
// overlap share a bucket wherever they are.
type space struct {
	roots      []*root
	x0, y0     float64 // m, the grid's corner
	side, unit float64 // m, a bucket's side; 1/side
	nx, ny     int32

	standing []segment
	start    []int32 // of a bucket's entries, len nx*ny+1
	entries  []int32 // indices into standing
	moving   [][]int32
}

// bucketRect is a range of buckets, ends included; empty if x1 < x0.
type bucketRect struct{ x0, y0, x1, y1 int32 }

var noBuckets = bucketRect{0, 0, -1, -1}

// column gives the column of a place.
func (s *space) column(x float64) int32 { return bucketOf((x-s.x0)*s.unit, s.nx) }

// row gives the row of a place.
func (s *space) row(y float64) int32 { return bucketOf((y-s.y0)*s.unit, s.ny) }

func bucketOf(v float64, n int32) int32 {
	if !(v > 0) {
		return 0
	}
	if v >= float64(n) {
		return n - 1
	}
	return int32(v)
}

// around gives the buckets that a box meets.
func (s *space) around(minX, minY, maxX, maxY float64) bucketRect {
	if minX > maxX {
		return noBuckets
	}
	return bucketRect{s.column(minX), s.row(minY), s.column(maxX), s.row(maxY)}
}

// rebuild makes the grid anew from all roots of w.
func (s *space) rebuild(w *World) {
	s.roots = w.roots
	s.standing = s.standing[:0]
	minX, minY := math.Inf(1), math.Inf(1)
	maxX, maxY := math.Inf(-1), math.Inf(-1)
	count := 0
	for _, r := range w.roots {
		if len(r.segments) == 0 {
			continue
		}
		minX, minY = math.Min(minX, r.minX), math.Min(minY, r.minY)
		maxX, maxY = math.Max(maxX, r.maxX), math.Max(maxY, r.maxY)
		count += len(r.segments)
		if !r.moving {
			s.standing = append(s.standing, r.segments...)
		}
	}
	if minX > maxX {
		minX, minY, maxX, maxY = 0, 0, 1, 1
	}
	s.x0, s.y0 = minX, minY
	side := math.Sqrt((maxX - minX) * (maxY - minY) * perBucket / float64(count+1))
	side = math.Max(side, math.Max(maxX-minX, maxY-minY)/(maxBuckets/spareBuckets))
	for side = math.Max(side, minBucket); !s.lay(side, maxX-minX, maxY-minY); side *= 2 {
	}
	s.moving = make([][]int32, int(s.nx)*int(s.ny))
	for _, r := range w.roots {
		r.cells = noBuckets
		if r.moving {
			s.relocate(r)
		}
	}
}

// lay sizes the grid and enters the standing segments. It tells whether the
// limits allow buckets of that side.
func (s *space) lay(side, width, height float64) bool {
	nx, ny := math.Floor(width/side)+1, math.Floor(height/side)+1
	if nx*ny > maxBuckets {
		return false
	}
	s.side, s.unit, s.nx, s.ny = side, 1/side, int32(nx), int32(ny)
	s.start = make([]int32, int(s.nx)*int(s.ny)+1)
	total := 0
	for i := range s.standing {
		s.cross(&s.standing[i], func(bucket int32) {
			s.start[bucket+1]++
			total++
		})
		if total > maxEntries {
			return false
		}
	}
	for i := 1; i < len(s.start); i++ {
		s.start[i] += s.start[i-1]
	}
	s.entries = make([]int32, total)
	fill := append([]int32(nil), s.start[:len(s.start)-1]...)
	for i := range s.standing {
		s.cross(&s.standing[i], func(bucket int32) {
			s.entries[fill[bucket]] = int32(i)
			fill[bucket]++
		})
	}
	return true
}

// cross calls f for each bucket that the segment may meet, column by column. It
// takes a hair more than that, so that rounding leaves none out.
func (s *space) cross(g *segment, f func(bucket int32)) {
	ax, ay, bx, by := g.ax, g.ay, g.bx, g.by
	if ax > bx {
		ax, ay, bx, by = bx, by, ax, ay
	}
	hair := s.side * 1e-6
	c0, c1 := s.column(ax-hair), s.column(bx+hair)
	slope := 0.0
	if bx > ax {
		slope = (by - ay) / (bx - ax)
	}
	for c := c0; c <= c1; c++ {
		low, high := ay, by
		if bx > ax {
			left, right := s.x0+float64(c)*s.side-hair, s.x0+float64(c+1)*s.side+hair
			low = ay + slope*(math.Max(left, ax)-ax)
			high = ay + slope*(math.Min(right, bx)-ax)
		}
		if low > high {
			low, high = high, low
		}
		r1 := s.row(high + hair)
		for r := s.row(low - hair); r <= r1; r++ {
			f(r*s.nx + c)
		}
	}
}

// relocate enters a moving tree into the buckets where it is now.
func (s *space) relocate(r *root) {
	to := s.around(r.minX, r.minY, r.maxX, r.maxY)
	if to == r.cells {
		return
	}
	for y := r.cells.y0; y <= r.cells.y1; y++ {
		for x := r.cells.x0; x <= r.cells.x1; x++ {
			s.remove(y*s.nx+x, r.index)
		}
	}
	for y := to.y0; y <= to.y1; y++ {
		for x := to.x0; x <= to.x1; x++ {
			b := y*s.nx + x
			s.moving[b] = append(s.moving[b], r.index)
		}
	}
	r.cells = to
}

func (s *space) remove(bucket, index int32) {
	list := s.moving[bucket]
	for i, v := range list {
		if v == index {
			list[i] = list[len(list)-1]
			s.moving[bucket] = list[:len(list)-1]
			return
		}
	}
}
