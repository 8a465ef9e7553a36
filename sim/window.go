package sim

// maxWindow is how many regions wide and high a window may be.
const maxWindow = 256

// window is what rays from one place go through: the slots of the regions
// around, as far as they reach and anything is drawn, with an edge around.
type window struct {
	x, y          int32 // the region that comes first
	width, height int32
	columns       int32 // that are used
	slots         []int32
	heads         []head

	// Whether it has no more than 32 columns and rows. Then full says, by rows,
	// what is not empty, and width is 32.
	small bool
	full  [side]uint32

	laid     laid
	disowned []disowned
}

// disowned is what a place of a window was before a ranger's own tree was taken out.
type disowned struct {
	at, slot int32
	head     head
}

// laid is what a window was laid for. As long as it is the same, so is the window.
type laid struct {
	sight                  *sight
	layer                  uint8
	changes                uint64 // of the layer's regions
	fromX, fromY, toX, toY int32
}

// lay sets the window for the rays that are begun; false if it would be too large
// or nothing is drawn.
func (c *caster) lay(sight int) bool {
	g, w := c.grid, &c.window
	// A ray gets a few cells farther than it reaches: its line is cut to whole
	// cells, and its steps are beside it.
	x, y, n := int32(c.x)>>regionBits, int32(c.y)>>regionBits, int32(c.reach+8)>>regionBits+1
	fromX, fromY, toX, toY := min(x, g.minX), min(y, g.minY), max(x, g.maxX), max(y, g.maxY)
	if width, height := toX-fromX+3, toY-fromY+3; max(width, height) > min(side, 2*n) {
		fromX, fromY, toX, toY = max(x-n, fromX), max(y-n, fromY), min(x+n, toX), min(y+n, toY)
	} // else many scans of a step share a window of all there is
	l := laid{g.sights[sight], c.layer, g.changes[layerIndex(c.layer)], fromX, fromY, toX, toY}
	if w.restore(); w.laid == l {
		return true
	}
	w.laid = laid{}
	w.x, w.y, w.columns, w.height = fromX-1, fromY-1, toX-fromX+3, toY-fromY+3
	if w.columns > maxWindow || w.height > maxWindow || g.number == 0 {
		return false
	}
	w.small = w.columns <= side && w.height <= side
	if w.width = w.columns; w.small {
		w.width = side
	}
	if size := int(w.width * w.height); len(w.slots) < size {
		w.slots, w.heads = make([]int32, size), make([]head, size)
	}
	for i := range w.full {
		w.full[i] = ^uint32(0)
	}
	for y := fromY &^ regionMask; y <= toY; y += side {
		for x := fromX &^ regionMask; x <= toX; x += side {
			s := g.super(x>>superBits, y>>superBits)
			w.copy(s, g.print(sight, s, c.layer), max(x, fromX), max(y, fromY), min(x|regionMask, toX), min(y|regionMask, toY))
		}
	}
	w.border()
	w.laid = l
	return true
}

// copy fills in some regions of a superregion, nil if there is none.
func (w *window) copy(s *superregion, p *print, fromX, fromY, toX, toY int32) {
	n := toX - fromX + 1
	for y := fromY; y <= toY; y++ {
		to := (y-w.y)*w.width + fromX - w.x
		if p == nil {
			clear(w.slots[to:][:n])
			continue
		}
		from := y&regionMask<<superBits | fromX&regionMask
		copy(w.slots[to:][:n], p.slots[from:])
		copy(w.heads[to:][:n], p.heads[from:])
	}
	if !w.small {
		return
	}
	for y := fromY; y <= toY; y++ {
		empty := ^uint32(0)
		if s != nil {
			empty = ^s.drawn[0][y&regionMask]
		}
		w.full[y-w.y] &^= empty >> uint(fromX&regionMask) << uint(side-n) >> uint(side-n) << uint(fromX-w.x)
	}
}

// border sets the edge.
func (w *window) border() {
	last := w.width * (w.height - 1)
	for i := range w.width {
		w.slots[i], w.slots[last+i] = slotEdge, slotEdge
	}
	for at := w.width; at < last; at += w.width {
		w.slots[at] = slotEdge
		for i := w.columns - 1; i < w.width; i++ {
			w.slots[at+i] = slotEdge
		}
	}
}

// disown takes a ranger's own tree out of the window; false if it is in too many
// regions.
func (c *caster) disown(v *sight, own *root) bool {
	w, next := &c.window, int32(firstOwn)
	for _, t := range own.in(c.layer) {
		x, y := t.super.x<<superBits|int32(t.at&regionMask), t.super.y<<superBits|int32(t.at>>superBits)
		x, y = x-w.x, y-w.y
		if x < 0 || y < 0 || x >= w.columns || y >= w.height || !v.sees(t) {
			continue
		}
		at := y*w.width + x
		if w.slots[at] < firstSlot*slotUnit {
			continue // at the edge, or put right already
		}
		if next == firstSlot {
			return false
		}
		w.disowned = append(w.disowned, disowned{at, w.slots[at], w.heads[at]})
		if w.slots[at], w.heads[at] = slotBlank, (head{}); v.gather(&t.super.regions[t.at], c.layer, next*slotUnit, own.index) {
			w.slots[at], w.heads[at] = next*slotUnit, v.sheets[layerIndex(c.layer)].marks[next].used
			next++
		}
	}
	return true
}

// restore puts back what was taken out.
func (w *window) restore() {
	for _, d := range w.disowned {
		w.slots[d.at], w.heads[d.at] = d.slot, d.head
	}
	w.disowned = w.disowned[:0]
}
