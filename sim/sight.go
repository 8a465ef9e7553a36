package sim

import (
	"math"
	"math/bits"
)

// sight is what rangers' rays at one height may hit: by region, what its tiles
// mark together. It is kept as bodies are drawn, and so all rangers at that
// height share it. What a ranger does not see of its own tree is put right for
// each scan.
type sight struct {
	z      float64
	sheets [2]sheet // by layer
	used   uint64   // the last scan, by the grid's count
}

// sheet is what is seen in a layer, by slot.
type sheet struct {
	marks []seen
	free  []int32
}

// seen is what is seen of a region.
type seen struct {
	marks
	ret float64 // ranger_return of all that is marked; NaN: it depends on the cell
}

// Slots are multiples of slotUnit, by which assembly code finds marks: so many
// times 8 bytes are in one.
const (
	slotUnit  = 34
	slotEmpty = 0 * slotUnit // of a region in which nothing is drawn
	slotBlank = 1 * slotUnit // where nothing that is drawn is seen
	slotEdge  = -1           // around a window
	firstOwn  = 2            // of the marks that are put right for a scan
	firstSlot = firstOwn + maxOwn
)

// Limits of what rays that go together are spared.
const (
	maxOwn      = 32 // regions that a ranger's own tree is in
	maxSights   = 4  // heights in use
	unusedScans = 100_000
)

// print is what a sight has of a superregion in a layer, by region.
type print struct {
	slots [side * side]int32
	heads [side * side]head
}

// head is the rows and the columns with a mark.
type head [2]uint32

// layerIndex returns 0 for even and 1 for odd.
func layerIndex(layer uint8) int { return int(layer >> 1) }

// sightAt returns the number of the sight for rays at a height; false if too many
// others are in use.
func (g *grid) sightAt(z float64) (int, bool) {
	g.scans++
	oldest := 0
	for i, v := range g.sights {
		if v.z == z {
			v.used = g.scans
			return i, true
		}
		if v.used < g.sights[oldest].used {
			oldest = i
		}
	}
	v := &sight{z: z, used: g.scans}
	for i := range v.sheets {
		v.sheets[i] = sheet{marks: make([]seen, firstSlot)}
	}
	if len(g.sights) < maxSights {
		g.sights = append(g.sights, v)
		return len(g.sights) - 1, true
	}
	if g.scans-g.sights[oldest].used < unusedScans {
		return 0, false
	}
	g.sights[oldest] = v
	for _, s := range g.supers {
		if s != nil {
			s.prints[oldest] = [2]*print{}
		}
	}
	return oldest, true
}

// sees reports whether rays may hit a tile, whosever it is.
func (v *sight) sees(t *tile) bool { return !(t.ret < 0) && v.z >= t.low && v.z <= t.high }

// take returns an unused slot.
func (s *sheet) take() int32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.marks = append(s.marks, seen{})
	return int32(len(s.marks)-1) * slotUnit
}

// gather sets the marks of a slot to what is seen of a region in a layer, but for
// what is own. It reports whether that is anything.
func (v *sight) gather(g *region, layer uint8, slot, own int32) bool {
	all := &v.sheets[layerIndex(layer)].marks[slot/slotUnit]
	found := false
	for t := g.tiles; t != nil; t = t.next {
		ret := float64(t.ret)
		switch {
		case t.layers&layer == 0 || t.root == own || !v.sees(t):
		case !found:
			found = true
			*all = seen{t.marks, ret}
		default:
			all.add(&t.marks)
			if all.ret != ret {
				all.ret = math.NaN()
			}
		}
	}
	return found
}

// renew brings a region of a print up to date.
func (v *sight) renew(p *print, s *superregion, at int, layer uint8) {
	g, sheet, slot := &s.regions[at], &v.sheets[layerIndex(layer)], p.slots[at]
	if slot <= slotBlank {
		slot = sheet.take()
	}
	if p.slots[at] = slot; v.gather(g, layer, slot, nobody) {
		p.heads[at] = sheet.marks[slot/slotUnit].used
		return
	}
	sheet.free = append(sheet.free, slot)
	p.heads[at] = head{}
	if p.slots[at] = slotBlank; g.tiles == nil {
		p.slots[at] = slotEmpty
	}
}

// print returns a superregion's print, up to date; nil if there is no superregion.
func (g *grid) print(sight int, s *superregion, layer uint8) *print {
	if s == nil {
		return nil
	}
	i := layerIndex(layer)
	if s.stale[i] {
		s.stale[i] = false
		for y := range s.changed[i] {
			for row := s.changed[i][y]; row != 0; row &= row - 1 {
				for j := range s.prints {
					if p := s.prints[j][i]; p != nil {
						g.sights[j].renew(p, s, y<<superBits|bits.TrailingZeros32(row), layer)
					}
				}
			}
			s.changed[i][y] = 0
		}
	}
	p := s.prints[sight][i]
	if p == nil {
		p = new(print)
		s.prints[sight][i] = p
		for y, row := range s.drawn[0] {
			for ; row != 0; row &= row - 1 {
				g.sights[sight].renew(p, s, y<<superBits|bits.TrailingZeros32(row), layer)
			}
		}
	}
	return p
}

// change notes that a region has other tiles than before in some layers.
func (g *grid) change(s *superregion, at uint16, layers uint8) {
	for i := range s.changed {
		if layers>>i&1 != 0 {
			g.changes[i]++
			s.stale[i] = true
			s.changed[i][at>>superBits] |= 1 << (at & regionMask)
		}
	}
}

// forget frees the slots of a superregion that is given up.
func (g *grid) forget(s *superregion) {
	for i, prints := range s.prints {
		for j, p := range prints {
			if p == nil {
				continue
			}
			for _, slot := range p.slots {
				if slot > slotBlank {
					g.sights[i].sheets[j].free = append(g.sights[i].sheets[j].free, slot)
				}
			}
		}
	}
}
