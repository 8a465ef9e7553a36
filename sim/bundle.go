package sim

import "math/bits"

// lanes is how many rays a bundle has.
const lanes = 8

// bundle is rays that go together where the processor has vectors for it: what
// ray and walk say of one, lane by lane.
type bundle struct {
	u, v          [lanes]float64
	rise, run     [lanes]float64
	perDu, perDv  [lanes]float64 // 1/du, 1/max(dv, 1)
	per, from     [lanes]float64 // from: where the ray began, on the axis that is measured
	left, balance [lanes]int32
	du, dv        [lanes]int32
	gait          [lanes]int32 // steps along u between two along v, or one less

	// Region u, v has its place in the window at origin + u*strideU + v*strideV.
	strideU, strideV, origin [lanes]int32

	// Where something was hit: the place of the region in the window, and the cell
	// in it, (place*32 + v)*32 + u.
	at [lanes]int32

	// By bits of lanes: those not at their ends; those that have hit something, and
	// what it returns depends on the cell; those whose u is y; those that are turned
	// round.
	going, hits, mixed, steep, mirrorU, mirrorV uint8
}

// field is what bundles go through.
type field struct {
	slots *int32
	heads *head
	full  *[side]uint32
	marks *seen

	// What is measured, by lanes of all bundles: m; and the ranger_return of what was
	// hit, 0 for nothing.
	ranges, returned *float64

	x, y    float64 // where rays start, cells
	reach   float64 // cells
	length  float64 // m
	perCell float64 // m
	width   int32   // of the window
	origin  int32   // the place of region 0, 0 in it
	last    int32   // place
	free    [4]int32
	isFree  bool
	small   bool
}

// together follows the rays of a scan, and sets what they measure, several at a
// time. It reports whether it could. The slices have room for a bundle more.
func (c *caster) together(own *root, ranges, returned []float64) bool {
	if !vectors || len(ranges) < lanes/2 {
		return false
	}
	i, ok := c.grid.sightAt(c.z)
	if !ok || !c.lay(i) {
		return false
	}
	v := c.grid.sights[i]
	if !c.disown(v, own) {
		return false
	}
	w, s := &c.window, &v.sheets[layerIndex(c.layer)]
	f := field{
		slots: &w.slots[0], heads: &w.heads[0], full: &w.full, marks: &s.marks[0],
		x: c.x, y: c.y, reach: c.reach, length: c.length, perCell: c.perCell,
		ranges: &ranges[:len(ranges)+lanes][0], returned: &returned[:len(ranges)+lanes][0],
		width: w.width, origin: -w.y*w.width - w.x, last: w.width*w.height - 1,
		free: c.free, isFree: c.isFree, small: w.small,
	}
	bundles := c.bundle(&f, len(ranges))
	walkBundles(&bundles[0], len(bundles), &f)
	for i := range bundles {
		b := &bundles[i]
		for mixed := b.mixed; mixed != 0; mixed &= mixed - 1 {
			lane := bits.TrailingZeros8(mixed)
			returned[i*lanes+lane] = c.ret(b, lane)
		}
	}
	return true
}

// bundle returns n rays in the directions of the scan, ready to go.
func (c *caster) bundle(f *field, n int) []bundle {
	number := (n + lanes - 1) / lanes
	if len(c.bundles) < number {
		c.bundles = make([]bundle, number)
	}
	bundles := c.bundles[:number]
	for i := range bundles {
		b := &bundles[i]
		b.going = uint8(1<<min(lanes, n-i*lanes) - 1)
		setOut(b, (*[lanes]float64)(c.sin[i*lanes:]), (*[lanes]float64)(c.cos[i*lanes:]), f)
	}
	return bundles
}

// ret returns the ranger_return of what a lane's ray hit in a region in which it
// depends on the cell.
func (c *caster) ret(b *bundle, lane int) float64 {
	u, v := b.at[lane]&regionMask, b.at[lane]>>regionBits&regionMask
	if b.mirrorU>>lane&1 != 0 {
		u = regionMask - u
	}
	if b.mirrorV>>lane&1 != 0 {
		v = regionMask - v
	}
	w, place := &c.window, b.at[lane]>>(2*regionBits)
	x, y := w.x+place%w.width, w.y+place/w.width
	s := c.grid.super(x>>superBits, y>>superBits)
	return float64(c.earliest(&s.regions[y&regionMask<<superBits|x&regionMask], int32(b.steep>>lane&1), u, v).ret)
}
