package sim

import (
	"math"
	"math/bits"
)

// Sizes of the grid, in bits of a cell's coordinate.
const (
	regionBits = 5 // a region has 32 × 32 cells
	superBits  = 5 // a superregion has 32 × 32 regions
	side       = 1 << regionBits
	regionMask = side - 1
)

// Limits of the grid.
const (
	maxCell  = 1 << 29 // cells from the origin
	maxCells = 1 << 25 // of all outlines, about 10 bytes each; in worlds with more of them cells are larger
)

// Layers of the grid. What moves is drawn into one of them in each step, by
// turns; rays see the other.
const (
	even uint8 = 1 << iota
	odd
	both = even | odd
)

// grid is Stage's: square cells of the world's resolution, into which outlines
// are drawn. Cells are kept by tiles: what one part of a body marks in one
// region. Regions without a tile cost nothing.
type grid struct {
	perMetre float64 // cells

	supers                 []*superregion   // a hash table of 2^n places with linear probing
	shift                  uint             // 64 - n
	number                 int              // of superregions
	near                   [16]*superregion // those found last, by the last bits of their place
	minX, minY, maxX, maxY int32            // regions outside which there is nothing; 0, 0 is within

	spare *tile  // a list of unused tiles
	drawn uint64 // outlines drawn so far

	sights  []*sight
	scans   uint64    // by sights
	changes [2]uint64 // of regions, by layer
}

// superregion is a square of 32 × 32 regions.
type superregion struct {
	x, y    int32
	drawn   [2][side]uint32 // by row and by column: the regions in which something is drawn
	regions [side * side]region

	prints  [maxSights][2]*print // by sight and layer; nil: not asked for yet
	stale   [2]bool              // by layer: regions have changed since
	changed [2][side]uint32      // which, by row
}

// region is a square of 32 × 32 cells.
type region struct {
	tiles *tile
	seen  *tile  // what rays from the place that was begun with may hit
	begun uint64 // the caster's count of beginnings
}

// marks are cells of a region, by rows (0) and, the same turned, by columns (1).
type marks struct {
	lines [2][side]uint32
	used  head // the rows and the columns with a mark
}

// tile is what a part of a body marks in a region.
type tile struct {
	marks
	layers   uint8
	obstacle bool
	at       uint16 // of the region in its superregion
	root     int32
	model    int32
	part     int32   // in the order in which the root's are drawn
	ret      float32 // ranger_return; negative: rangers' rays pass
	low      float64 // m
	high     float64
	stamp    uint64 // of the drawing: what was drawn first is hit first
	super    *superregion
	next     *tile // in the region; in the list of unused ones
}

// cell returns the cell of a coordinate.
func (g *grid) cell(v float64) int32 {
	c := math.Floor(v * g.perMetre)
	if c > maxCell {
		return maxCell
	}
	if c < -maxCell {
		return -maxCell
	}
	return int32(c)
}

// place returns where in the table a superregion is, or where it belongs.
func (g *grid) place(x, y int32) uint64 {
	at := (uint64(uint32(x))<<32 | uint64(uint32(y))) * 0x9E3779B97F4A7C15 >> g.shift
	for {
		if s := g.supers[at]; s == nil || s.x == x && s.y == y {
			return at
		}
		if at++; at == uint64(len(g.supers)) {
			at = 0
		}
	}
}

// super returns a superregion, nil if nothing has been drawn there.
func (g *grid) super(x, y int32) *superregion {
	if s := g.near[y&3<<2|x&3]; s != nil && s.x == x && s.y == y {
		return s
	}
	return g.lookup(x, y)
}

func (g *grid) lookup(x, y int32) *superregion {
	if len(g.supers) == 0 {
		return nil
	}
	s := g.supers[g.place(x, y)]
	if s != nil {
		g.near[y&3<<2|x&3] = s
	}
	return s
}

// make returns a superregion, which it makes if there is none.
func (g *grid) make(x, y int32) *superregion {
	if s := g.super(x, y); s != nil {
		return s
	}
	if 2*g.number >= len(g.supers) {
		g.rehash()
	}
	s := &superregion{x: x, y: y}
	g.supers[g.place(x, y)] = s
	g.number++
	return s
}

// widen notes that there is something in some regions.
func (g *grid) widen(fromX, fromY, toX, toY int32) {
	g.minX, g.minY = min(g.minX, fromX), min(g.minY, fromY)
	g.maxX, g.maxY = max(g.maxX, toX), max(g.maxY, toY)
}

// rehash makes the table anew, without superregions in which nothing is left,
// and large enough.
func (g *grid) rehash() {
	var keep []*superregion
	for _, s := range g.supers {
		switch {
		case s == nil:
		case s.used():
			keep = append(keep, s)
		default:
			g.forget(s)
		}
	}
	size := 16
	for size < 4*len(keep) {
		size *= 2
	}
	g.supers, g.number, g.near = make([]*superregion, size), len(keep), [16]*superregion{}
	g.shift = 64 - uint(bits.TrailingZeros(uint(size)))
	g.minX, g.minY, g.maxX, g.maxY = 0, 0, 0, 0
	for _, s := range keep {
		g.supers[g.place(s.x, s.y)] = s
		g.widen(s.x<<superBits, s.y<<superBits, s.x<<superBits|regionMask, s.y<<superBits|regionMask)
	}
}

// used reports whether anything is drawn in the superregion.
func (s *superregion) used() bool {
	var all uint32
	for _, row := range s.drawn[0] {
		all |= row
	}
	return all != 0
}

// pen draws one part of a body into some layers.
type pen struct {
	grid *grid
	tile tile // as it is to be made: what the part is
	into *[]*tile
}

// in returns the part's tile in the region of a cell.
func (p *pen) in(x, y int32) *tile {
	rx, ry := x>>regionBits, y>>regionBits
	s := p.grid.make(rx>>superBits, ry>>superBits)
	at := uint16(ry&regionMask)<<superBits | uint16(rx&regionMask)
	for t := s.regions[at].tiles; t != nil; t = t.next {
		if t.root == p.tile.root && t.part == p.tile.part && t.layers == p.tile.layers {
			return t
		}
	}
	t := p.grid.take()
	*t = p.tile
	t.at, t.super, t.next = at, s, s.regions[at].tiles
	s.regions[at].tiles = t
	if p.grid.change(s, at, t.layers); t.next == nil {
		p.grid.change(s, at, both) // it was empty
		p.grid.widen(rx, ry, rx, ry)
	}
	s.drawn[0][at>>superBits] |= 1 << (at & regionMask)
	s.drawn[1][at&regionMask] |= 1 << (at >> superBits)
	*p.into = append(*p.into, t)
	return t
}

// line marks the cells of a line, each of which shares a side with the one
// before. The cell of the end belongs to the next line of an outline.
func (p *pen) line(ax, ay, bx, by int32) {
	dx, dy := abs(int64(bx)-int64(ax)), abs(int64(by)-int64(ay))
	sx, sy := int32(1), int32(1)
	if bx < ax {
		sx = -1
	}
	if by < ay {
		sy = -1
	}
	x, y := ax, ay
	balance := dy - dx
	for n := dx + dy; n > 0; {
		t := p.in(x, y)
		fromX, fromY := x&regionMask, y&regionMask
		var cx, cy int32
		cx, cy, balance, n = t.mark(fromX, fromY, sx, sy, 2*dx, 2*dy, balance, n)
		x, y = x+cx-fromX, y+cy-fromY
	}
}

// mark marks the next n cells of a line as far as they are in the region, from x, y
// in it. It returns where the line goes on. (A function by itself, so that all it
// needs is in registers; and without a branch for which way the line goes on, which
// of a slanted one cannot be foretold.)
func (t *tile) mark(x, y, sx, sy int32, twiceDX, twiceDY, balance, n int64) (int32, int32, int64, int64) {
	used := uint64(0) // rows, and columns above them
	for ; uint32(x|y) < side && n > 0; n-- {
		t.lines[0][y&regionMask] |= 1 << uint(x&regionMask)
		t.lines[1][x&regionMask] |= 1 << uint(y&regionMask)
		used |= 1<<uint(y&regionMask) | 1<<uint(x&regionMask+side)
		along := balance >> 63 // -1: along x
		x += sx & int32(along)
		y += sy &^ int32(along)
		balance += (twiceDX+twiceDY)&along - twiceDX
	}
	t.used[0] |= uint32(used)
	t.used[1] |= uint32(used >> side)
	return x, y, balance, n
}

// take returns a tile that is not in use.
func (g *grid) take() *tile {
	if g.spare == nil {
		const many = 64
		tiles := make([]tile, many)
		for i := range tiles {
			tiles[i].next = g.spare
			g.spare = &tiles[i]
		}
	}
	t := g.spare
	g.spare = t.next
	return t
}

// wipe takes tiles out of their regions.
func (g *grid) wipe(tiles []*tile) {
	for _, t := range tiles {
		s := t.super
		at := &s.regions[t.at].tiles
		for *at != t {
			at = &(*at).next
		}
		g.change(s, t.at, t.layers)
		if *at = t.next; s.regions[t.at].tiles == nil {
			g.change(s, t.at, both) // it is empty
			s.drawn[0][t.at>>superBits] &^= 1 << (t.at & regionMask)
			s.drawn[1][t.at&regionMask] &^= 1 << (t.at >> superBits)
		}
		t.super, t.next = nil, g.spare
		g.spare = t
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
