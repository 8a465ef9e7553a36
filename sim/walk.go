package sim

import "math/bits"

// walk is what a ray's steps from cell to cell follow from. Its axes are turned
// so that the longer one is first: u.
//
// There is a balance between the axes: below 0 the next step is along u and adds
// dv to it, else it is along v and takes du. So how many steps there are along
// one axis before some step along the other follows by a division.
type walk struct {
	steep  bool  // u is y
	su, sv int32 // the direction of a step along each axis
	du, dv int32 // twice the extents
}

// begin sets out for a ray that extends over ax and ay cells, and returns the
// balance.
func (w *walk) begin(ax, ay, sx, sy int32) (balance int32) {
	w.du, w.dv, w.su, w.sv, balance = 2*ax, 2*ay, sx, sy, ay-ax
	if w.steep = ay > ax; w.steep {
		// Stage steps along y if its balance is not below 0, that is if the
		// complement is.
		w.du, w.dv, w.su, w.sv, balance = w.dv, w.du, sy, sx, ax-ay-1
	}
	return balance
}

// alongV returns how many steps along v there are before the nth one along u,
// none for n of 0. The balance is at least -du: there is no need of branches.
func (w *walk) alongV(balance, n int32) int32 {
	return int32(uint32(max(balance+w.dv*(n-1)+w.du, 0)) / uint32(w.du))
}

// alongU returns how many steps along u there are before the nth one along v,
// none for n of 0. The balance is less than dv. If dv is 0 the ray ends before
// its first step along v.
func (w *walk) alongU(balance, n int32) int32 {
	return int32(uint32(max(w.du*(n-1)-balance+w.dv-1, 0)) / uint32(max(w.dv, 1)))
}

// out returns how many steps it takes from a cell out of its region.
func (w *walk) out(u, v, balance int32) (m, n int32) {
	toU, toV := room(u, w.su), room(v, w.sv)
	if n = w.alongV(balance, toU); n < toV {
		return toU, n
	}
	return w.alongU(balance, toV), toV
}

// room returns how many steps there are along an axis from a cell out of its
// region.
func room(v, direction int32) int32 {
	if direction > 0 {
		return side - v
	}
	return v + 1
}

// find returns how many steps it takes from a cell to the first one with a mark
// of t; false if it leaves the region first.
func (w *walk) find(t *tile, u, v, balance int32) (m, n int32, hit bool) {
	lines, us, vs := &t.rows, t.usedCols, t.usedRows
	if w.steep {
		lines, us, vs = &t.cols, vs, us
	}
	// On to the first column with a mark, then to the first such row: there a
	// ray often hits.
	if m = first(us, u, w.su); m > 0 {
		n = w.alongV(balance, m)
		balance += m*w.dv - n*w.du
		u += m * w.su
		v += n * w.sv
		if uint32(u|v) >= side {
			return 0, 0, false
		}
	}
	if k := first(vs, v, w.sv); k > 0 {
		j := w.alongU(balance, k)
		balance += j*w.dv - k*w.du
		u += j * w.su
		v += k * w.sv
		m, n = m+j, n+k
		if uint32(u|v) >= side {
			return 0, 0, false
		}
	}
	if lines[v]>>uint(u)&1 != 0 {
		return m, n, true
	}
	return w.rows(lines, u, v, balance, m, n)
}

// rows is find row by row, after m and n steps.
func (w *walk) rows(lines *[side]uint32, u, v, balance, m, n int32) (int32, int32, bool) {
	steps := w.alongU(balance, 1)
	run := int32(uint32(w.du) / uint32(max(w.dv, 1))) // between two steps along v there are so many along u, or one more
	for uint32(u|v) < side {
		if marked := lines[v] & between(u, steps, w.su); marked != 0 {
			return m + first(marked, u, w.su), n, true
		}
		m += steps
		n++
		u += steps * w.su
		v += w.sv
		balance += steps*w.dv - w.du
		if steps = run; balance+steps*w.dv < 0 {
			steps++
		}
	}
	return 0, 0, false
}

// between returns the bits from one on for a number of steps, at most to the
// border of the region.
func between(v, steps, direction int32) uint32 {
	steps = min(steps, side-1)
	if direction > 0 {
		return uint32((2<<uint(steps&63) - 1) << uint(v&63))
	}
	// Downwards: all up to v but those below the last.
	return uint32(2<<uint(v&63)-1) &^ uint32(1<<uint(max(v-steps, 0)&63)-1)
}

// first returns the steps from a bit on to the first that is set; side or more
// if there is none.
func first(set uint32, v, direction int32) int32 {
	if direction > 0 {
		return int32(bits.TrailingZeros32(set >> uint(v&31)))
	}
	return int32(bits.LeadingZeros32(set << uint((side-1-v)&31)))
}
