package sim

import "math/bits"

// walk is what a ray's steps from cell to cell follow from.
//
// There is a balance between the axes: below 0 the next step is along u and adds
// dv to it, else it is along v and takes du. So how many steps there are along
// one axis before some step along the other follows by a division.
type walk struct {
	du, dv  int32 // twice the extents
	balance int32
}

// alongV returns how many steps along v there are before the nth one along u.
// The balance is at least -du.
func (w *walk) alongV(balance, n int32) int32 {
	return int32(uint32(balance+w.dv*(n-1)+w.du) / uint32(w.du))
}

// alongU returns how many steps along u there are before the nth one along v.
// The balance is less than dv. If dv is 0 the ray ends before its first step
// along v.
func (w *walk) alongU(balance, n int32) int32 {
	return int32(uint32(w.du*(n-1)-balance+w.dv-1) / uint32(max(w.dv, 1)))
}

// out returns how many steps it takes until there have been toU along u or toV
// along v.
func (w *walk) out(toU, toV int32) (m, n int32) {
	if across := w.balance + w.dv*(toU-1) + w.du; across < w.du*toV {
		return toU, int32(uint32(across) / uint32(w.du)) // alongV
	}
	return w.alongU(w.balance, toV), toV
}

// find returns how many steps it takes from a cell to the first one with a mark
// in lines of a region, vs of which have some; false if it leaves the region
// first. The first column with a mark is so far ahead.
func (w *walk) find(lines *[side]uint32, vs uint32, u, v, ahead, mirrorU, mirrorV int32) (m, n int32, hit bool) {
	fromU, fromV, balance := u, v, w.balance
	// On to the first column with a mark, then to the first such row: there a
	// ray often hits.
	if ahead > 0 {
		u += ahead
		n = w.alongV(balance, ahead)
		if v += n; v >= side {
			return 0, 0, false
		}
		balance += ahead*w.dv - n*w.du
	}
	if n = first(vs, v, mirrorV); n > 0 {
		if v += n; v >= side {
			return 0, 0, false
		}
		m = w.alongU(balance, n)
		if u += m; u >= side {
			return 0, 0, false
		}
		balance += m*w.dv - n*w.du
	}
	// On row by row.
	steps := w.alongU(balance, 1)
	run := int32(uint32(w.du) / uint32(max(w.dv, 1))) // between two steps along v there are so many along u, or one more
	for {
		if m = first(lines[(v^mirrorV)&regionMask], u, mirrorU); m <= steps && m < side {
			return u + m - fromU, v - fromV, true
		}
		u += steps
		if v++; u >= side || v >= side {
			return 0, 0, false
		}
		balance += steps*w.dv - w.du
		if steps = run; balance+steps*w.dv < 0 {
			steps++
		}
	}
}

// first returns the steps from a cell on to the first bit that is set; side if
// there is none.
func first(set uint32, v, mirror int32) int32 {
	if mirror == 0 {
		return int32(bits.TrailingZeros32(set >> uint(v&regionMask)))
	}
	return int32(bits.LeadingZeros32(set << uint(v&regionMask)))
}
