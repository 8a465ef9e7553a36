package sim

import (
	"math"
	"math/bits"
)

// toucher tells whether bodies touch as Stage does: their outlines are drawn
// into a grid of square cells of the world's resolution, and two bodies touch
// if they share a cell in which their heights overlap. No such grid is kept:
// the cells of what moves are drawn into a table, and only the parts of other
// outlines that cross the window around them are followed.
type toucher struct {
	perMetre float64 // cells

	minX, minY, maxX, maxY float64 // the window, m

	x0, y0, x1, y1 int64 // the window in cells, ends included

	cells []cell // a hash table of 2^n places with linear probing
	shift uint   // 64 - n
	used  []int32
	marks []mark

	seen     []uint32 // standing segments looked at
	seenRoot []uint32
	query    uint32
}

// cell is a cell of the grid in which there are marks.
type cell struct {
	x, y int32
	head int32 // 1 + the newest mark there, 0 if the place in the table is free
}

// mark is a piece of the moving outline in one cell.
type mark struct {
	low, high float64
	next      int32
}

// Limits of the cell grid.
const (
	maxCell  = 1 << 29 // cells from the origin
	maxCells = 1 << 22 // of one outline; what is longer is drawn coarser
	minTable = 1 << 8  // places for cells
)

// touches tells whether r, at its outline's present place, touches the ground
// or something of another tree.
func (w *World) touches(r *root) bool {
	if !r.obstacle {
		return false
	}
	if r.model.global.Z+r.lowest < 0 {
		return true
	}
	t := &w.touch
	length := 0.0
	for i := range r.segments {
		if r.segments[i].obstacle {
			length += r.segments[i].steps()
		}
	}
	t.open(r.minX, r.minY, r.maxX, r.maxY, 1/w.file.Resolution, length)
	defer t.wipe()
	for i := range r.segments {
		if r.segments[i].obstacle {
			t.draw(&r.segments[i])
		}
	}
	return t.any(&w.space, r.index, t.hits)
}

// nobody is the root that is left out where none is.
const nobody = -1

// any calls f, until it says true, for every segment that may lie in the
// window and belongs to another root than own, once; it tells whether f did.
func (t *toucher) any(s *space, own int32, f func(*segment) bool) bool {
	margin := 2 / t.perMetre
	rect := s.around(t.minX-margin, t.minY-margin, t.maxX+margin, t.maxY+margin)
	t.begin(s)
	for y := rect.y0; y <= rect.y1; y++ {
		for x := rect.x0; x <= rect.x1; x++ {
			b := y*s.nx + x
			for _, i := range s.entries[s.start[b]:s.start[b+1]] {
				if t.seen[i] != t.query {
					t.seen[i] = t.query
					if s.standing[i].root != own && f(&s.standing[i]) {
						return true
					}
				}
			}
			for _, i := range s.moving[b] {
				if i != own && t.seenRoot[i] != t.query {
					t.seenRoot[i] = t.query
					if t.anyOf(s.roots[i], f) {
						return true
					}
				}
			}
		}
	}
	return false
}

// anyOf is any for the segments of a tree.
func (t *toucher) anyOf(r *root, f func(*segment) bool) bool {
	if t.cell(r.maxX) < t.x0 || t.cell(r.minX) > t.x1 || t.cell(r.maxY) < t.y0 || t.cell(r.minY) > t.y1 {
		return false
	}
	for i := range r.segments {
		if f(&r.segments[i]) {
			return true
		}
	}
	return false
}

func (t *toucher) begin(s *space) {
	if len(t.seen) < len(s.standing) {
		t.seen = make([]uint32, len(s.standing))
	}
	if len(t.seenRoot) < len(s.roots) {
		t.seenRoot = make([]uint32, len(s.roots))
	}
	t.query++
	if t.query == 0 {
		clear(t.seen)
		clear(t.seenRoot)
		t.query = 1
	}
}

// steps is how far it is along the segment in steps parallel to the axes, m.
func (g *segment) steps() float64 { return math.Abs(g.bx-g.ax) + math.Abs(g.by-g.ay) }

// open makes a window of the cells in a box, in m, for outlines of a length in
// steps.
func (t *toucher) open(minX, minY, maxX, maxY, perMetre, length float64) {
	t.minX, t.minY, t.maxX, t.maxY, t.perMetre = minX, minY, maxX, maxY, perMetre
	for length*t.perMetre > maxCells {
		t.perMetre /= 2
	}
	t.x0, t.y0, t.x1, t.y1 = t.cell(minX), t.cell(minY), t.cell(maxX), t.cell(maxY)
}

// draw marks the cells of a line.
func (t *toucher) draw(g *segment) {
	t.along(g, func(x, y int64) bool {
		t.mark(x, y, g.low, g.high)
		return false
	})
}

// mark notes that something reaches from low to high in a cell.
func (t *toucher) mark(x, y int64, low, high float64) {
	if 2*len(t.used) >= len(t.cells) {
		t.grow()
	}
	at := t.find(x, y)
	c := &t.cells[at]
	if c.head == 0 {
		c.x, c.y = int32(x), int32(y)
		t.used = append(t.used, int32(at))
	}
	t.marks = append(t.marks, mark{low, high, c.head})
	c.head = int32(len(t.marks))
}

// marked gives 1 + the newest mark in a cell, 0 for none.
func (t *toucher) marked(x, y int64) int32 {
	if len(t.used) == 0 {
		return 0
	}
	return t.cells[t.find(x, y)].head
}

// find gives the place of a cell in the table, or the free one where it
// belongs.
func (t *toucher) find(x, y int64) uint64 {
	at := (uint64(uint32(x))<<32 | uint64(uint32(y))) * 0x9E3779B97F4A7C15 >> t.shift
	for {
		c := &t.cells[at]
		if c.head == 0 || c.x == int32(x) && c.y == int32(y) {
			return at
		}
		if at++; at == uint64(len(t.cells)) {
			at = 0
		}
	}
}

// grow makes the table twice as large.
func (t *toucher) grow() {
	old, used := t.cells, t.used
	t.cells = make([]cell, max(2*len(old), minTable))
	t.shift = 64 - uint(bits.TrailingZeros(uint(len(t.cells))))
	for i, at := range used {
		c := old[at]
		to := t.find(int64(c.x), int64(c.y))
		t.cells[to] = c
		used[i] = int32(to)
	}
}

func (t *toucher) wipe() {
	for _, at := range t.used {
		t.cells[at].head = 0
	}
	t.used, t.marks = t.used[:0], t.marks[:0]
}

// hits tells whether an obstacle crosses a cell marked at one of its heights.
func (t *toucher) hits(g *segment) bool {
	if !g.obstacle {
		return false
	}
	return t.along(g, func(x, y int64) bool {
		for i := t.marked(x, y); i != 0; i = t.marks[i-1].next {
			if m := &t.marks[i-1]; g.low <= m.high && m.low <= g.high {
				return true
			}
		}
		return false
	})
}

// cell gives the cell of a coordinate.
func (t *toucher) cell(v float64) int64 {
	c := math.Floor(v * t.perMetre)
	if c > maxCell {
		return maxCell
	}
	if c < -maxCell {
		return -maxCell
	}
	return int64(c)
}

// along calls f for the cells of a segment that lie in the window until it says
// true; it tells whether it did. The cell of the end belongs to the next
// segment of the outline.
func (t *toucher) along(g *segment, f func(x, y int64) bool) bool {
	return t.follow(t.cell(g.ax), t.cell(g.ay), t.cell(g.bx), t.cell(g.by), f)
}

// follow calls f for the cells of a line that lie in the window until it says
// true. Each shares a side with the one before; the last does not count unless
// it is the only one.
func (t *toucher) follow(ax, ay, bx, by int64, f func(x, y int64) bool) bool {
	if min(ax, bx) > t.x1 || max(ax, bx) < t.x0 || min(ay, by) > t.y1 || max(ay, by) < t.y0 {
		return false
	}
	dx, dy := abs(bx-ax), abs(by-ay)
	if dx == 0 && dy == 0 {
		return f(ax, ay)
	}
	sx, sy := sign(bx-ax), sign(by-ay)
	// After i steps along x and j along y the balance is dy - dx + 2(dy i - dx j);
	// below 0 the next step is along x, else along y. So column i takes the rows
	// from rows(i) to rows(i+1), both counted from ay.
	rows := func(i int64) int64 {
		if i == 0 {
			return 0
		}
		over := dy - dx + 2*dy*(i-1)
		if over < 0 {
			return 0
		}
		return over/(2*dx) + 1
	}
	first, last := span(ax, sx, dx, t.x0, t.x1)
	for i := first; i <= last; i++ {
		j0, j1 := rows(i), dy
		if i < dx {
			j1 = rows(i + 1)
		}
		k0, k1 := span(ay, sy, dy, t.y0, t.y1)
		for j := max(j0, k0); j <= min(j1, k1); j++ {
			if i == dx && j == dy {
				break
			}
			if f(ax+sx*i, ay+sy*j) {
				return true
			}
		}
	}
	return false
}

// span gives the steps from a in direction s, at most n, that stay within low
// and high.
func span(a, s, n, low, high int64) (first, last int64) {
	switch {
	case s > 0:
		return max(0, low-a), min(n, high-a)
	case s < 0:
		return max(0, a-high), min(n, a-low)
	}
	return 0, n
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func sign(v int64) int64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}
