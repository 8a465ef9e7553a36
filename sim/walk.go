package sim

import "math/bits"

// walk is what a ray's steps from cell to cell follow from. Its axes are turned
// so that the longer one is first: u.
//
// There is a balance between the axes: below 0 the next step is along u and adds
// dv to it, else it is along v and takes du. So how many steps there are along
// one axis before some step along the other follows by a division.
type walk struct {
	steep  bool // u is y
	su, sv int  // the direction of a step along each axis
	du, dv uint // twice the extents
}

// begin sets out for a ray that extends over ax and ay cells, and returns the
// balance.
func (w *walk) begin(ax, ay uint, sx, sy int) (balance int) {
	w.steep = ay > ax
	if w.steep {
		// Stage steps along y if its balance is not below 0, that is if the
		// complement is.
		w.du, w.dv, w.su, w.sv = 2*ay, 2*ax, sy, sx
		return int(ax) - int(ay) - 1
	}
	w.du, w.dv, w.su, w.sv = 2*ax, 2*ay, sx, sy
	return int(ay) - int(ax)
}

// alongV returns how many steps along v there are before the nth one along u.
func (w *walk) alongV(balance, n int) int {
	if over := balance + int(w.dv)*(n-1); over >= 0 {
		return int(uint32(over)/uint32(w.du)) + 1
	}
	return 0
}

// alongU returns how many steps along u there are before the nth one along v;
// more than there is room for if there is none along v at all.
func (w *walk) alongU(balance, n int) int {
	over := int(w.du)*(n-1) - balance
	switch {
	case over <= 0:
		return 0
	case w.dv == 0:
		return side
	}
	return int(uint32(over-1)/uint32(w.dv)) + 1
}

// out returns how many steps it takes from a cell out of its region.
func (w *walk) out(u, v, balance int) (m, n int) {
	toU, toV := room(u, w.su), room(v, w.sv)
	if n = w.alongV(balance, toU); n < toV {
		return toU, n
	}
	return w.alongU(balance, toV), toV
}

// room returns how many steps there are along an axis from a cell out of its
// region.
func room(v, direction int) int {
	if direction > 0 {
		return side - v
	}
	return v + 1
}

// find returns how many steps it takes from a cell to the first one with a mark
// in its region; false if there is none. lines are the marks by v, us and vs the
// lines along each axis that have any.
func (w *walk) find(lines *[side]uint32, us, vs uint32, u, v, balance int) (m, n int, hit bool) {
	// On to the first column with a mark, then to the first such row: there a
	// ray often hits.
	if m = first(us, u, w.su); m > 0 {
		n = w.alongV(balance, m)
		u += m * w.su
		v += n * w.sv
		balance += m*int(w.dv) - n*int(w.du)
		if uint(u) >= side || uint(v) >= side {
			return 0, 0, false
		}
	}
	if k := first(vs, v, w.sv); k > 0 {
		j := w.alongU(balance, k)
		m += j
		n += k
		u += j * w.su
		v += k * w.sv
		balance += j*int(w.dv) - k*int(w.du)
		if uint(u) >= side || uint(v) >= side {
			return 0, 0, false
		}
	}
	if lines[v]>>uint(u)&1 != 0 {
		return m, n, true
	}
	return w.rows(lines, u, v, balance, m, n)
}

// rows is find row by row, after m and n steps.
func (w *walk) rows(lines *[side]uint32, u, v, balance, m, n int) (int, int, bool) {
	steps := w.alongU(balance, 1)
	run := side // between two steps along v there are so many along u, or one more
	if w.dv != 0 {
		run = int(uint32(w.du) / uint32(w.dv))
	}
	for uint(u) < side && uint(v) < side {
		if marked := lines[v] & between(u, steps, w.su); marked != 0 {
			return m + first(marked, u, w.su), n, true
		}
		m += steps
		n++
		u += steps * w.su
		v += w.sv
		balance += steps*int(w.dv) - int(w.du)
		if steps = run; balance+steps*int(w.dv) < 0 {
			steps++
		}
	}
	return 0, 0, false
}

// between returns the bits from one on for a number of steps, at most to the
// border of the region.
func between(v, steps, direction int) uint32 {
	steps = min(steps, side-1)
	if direction > 0 {
		return uint32((2<<uint(steps&63) - 1) << uint(v&63))
	}
	// Downwards: all up to v but those below the last.
	return uint32(2<<uint(v&63)-1) &^ uint32(1<<uint(max(v-steps, 0)&63)-1)
}

// first returns the steps from a bit on to the first that is set; side or more
// if there is none.
func first(set uint32, v, direction int) int {
	if direction > 0 {
		return bits.TrailingZeros32(set >> uint(v&31))
	}
	return bits.LeadingZeros32(set << uint(side-1-v&31))
}
