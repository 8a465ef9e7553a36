package standby

import (
	"slices"

	"callboard/bridge/overlay"
)

// A Ring keeps this many readings of a device, each for this long: whoever would
// need more is not aligned (R10).
const (
	maxRing = 1000
	maxKept = overlay.Instant(overlay.Second)

	maxHashes = 16 // that a mark has at most
)

// Mark says up to which reading of a device the active has tested it (R5).
type Mark struct {
	Run    int64    // how often the device's time ran back
	Time   float64  // of the reading, as Player gives it
	Hashes []uint64 // of the readings of that time that were tested, the last one last
	Fresh  bool     // it was made after the standby's session with the robot had begun, by long enough (R6)
}

// Marker makes the marks of a device of readings as they are tested.
type Marker struct {
	mark  Mark
	begun bool
}

// Test takes a reading in that has been tested, and returns the mark behind it.
// Its hashes are valid until the next call.
func (m *Marker) Test(time float64, hash uint64) Mark {
	switch {
	case !m.begun || time > m.mark.Time:
		m.mark.Hashes = m.mark.Hashes[:0]
	case time < m.mark.Time:
		m.mark.Run++
		m.mark.Hashes = m.mark.Hashes[:0]
	}
	if len(m.mark.Hashes) == maxHashes { // of a device whose time stands still the newest will do
		m.mark.Hashes = slices.Delete(m.mark.Hashes, 0, 1)
	}
	m.begun, m.mark.Time, m.mark.Hashes = true, time, append(m.mark.Hashes, hash)
	return m.mark
}

// Ring is what the standby keeps of one device's readings, which it reads itself,
// until the active's marks have passed them (R2). T is what it keeps of a reading.
// Both sides count how often the device's time ran back. Neither knows from where the
// other counts, so this side's count is made that of the active by a reading that
// both have (R6).
type Ring[T any] struct {
	kept    []kept[T]
	run     int64
	last    float64 // time of the newest reading of the session
	begun   bool    // there is one
	mark    Mark
	marked  bool
	aligned bool
	lost    bool // something was let go of, and it has not been aligned since

	gone    []uint64 // hashes of those that have been passed over, of run and time of the mark
	goneRun int64
	goneAt  float64
}

// kept is a reading.
type kept[T any] struct {
	run     int64
	time    float64
	hash    uint64
	at      overlay.Instant
	reading T
}

// Put keeps a reading that has arrived, and returns those that the marks have passed.
func (r *Ring[T]) Put(now overlay.Instant, time float64, hash uint64, reading T) (passed []T) {
	if r.begun && time < r.last {
		r.run++
	}
	for len(r.kept) > 0 && (len(r.kept) >= maxRing || now-r.kept[0].at > maxKept) {
		r.kept, r.aligned, r.lost = slices.Delete(r.kept, 0, 1), false, true
	}
	r.last, r.begun = time, true
	r.kept = append(r.kept, kept[T]{r.run, time, hash, now, reading})
	return r.follow()
}

// Begin says that this side's session with the robot has begun anew: what is kept
// stays, but where it counts from is not known any more.
func (r *Ring[T]) Begin() {
	r.run++
	r.begun, r.aligned = false, false
}

// Pass takes the active's newest mark, and returns the readings that it has passed.
func (r *Ring[T]) Pass(m Mark) (passed []T) {
	r.mark, r.marked = m, true
	r.mark.Hashes = slices.Clone(m.Hashes)
	return r.follow()
}

// Rest returns the readings that no mark has passed, and whether they are all that
// the active has not tested: else the robot's session begins anew (R7).
func (r *Ring[T]) Rest() (all []T, aligned bool) {
	for i := range r.kept {
		all = append(all, r.kept[i].reading)
	}
	return all, !r.marked && !r.lost || r.aligned && r.mark.Run <= r.run
}

// Take returns what Rest does, and lets go of it.
func (r *Ring[T]) Take() (all []T, aligned bool) {
	all, aligned = r.Rest()
	r.kept = nil
	return all, aligned
}

// Reached reports whether the marks' reading has been passed, or something behind it
// has come.
func (r *Ring[T]) Reached() bool {
	return !r.marked || r.aligned && (len(r.kept) > 0 || r.goneRun == r.mark.Run && r.goneAt == r.mark.Time &&
		slices.Contains(r.gone, r.mark.Hashes[len(r.mark.Hashes)-1]))
}

// Aligned reports whether this side knows from where the active counts.
func (r *Ring[T]) Aligned() bool { return r.aligned }

// Agree takes a mark from which this side can count, too: it has had no reading
// since its session began, so all that will come is behind it, or is the mark's.
func (r *Ring[T]) Agree(m Mark) {
	if m.Fresh && !r.begun && len(r.kept) == 0 {
		r.run, r.last, r.begun, r.aligned = m.Run, m.Time, true, true
	}
}

// follow aligns the counts, if that can be done, and takes out what the mark has passed.
func (r *Ring[T]) follow() (passed []T) {
	if !r.marked || !r.aligned && !r.mark.Fresh {
		return nil
	}
	if !r.aligned && !r.align() {
		return nil
	}
	r.alignAnew()
	left := slices.Clone(r.mark.Hashes)
	if r.goneRun == r.mark.Run && r.goneAt == r.mark.Time {
		for _, h := range r.gone {
			if at := slices.Index(left, h); at >= 0 {
				left = slices.Delete(left, at, at+1)
			}
		}
	} else {
		r.gone, r.goneRun, r.goneAt = r.gone[:0], r.mark.Run, r.mark.Time
	}
	upTo := 0
	for i := range r.kept {
		k := &r.kept[i]
		switch at := slices.Index(left, k.hash); {
		case k.run < r.mark.Run || k.run == r.mark.Run && k.time < r.mark.Time:
			upTo = i + 1
		case r.ofMark(k) && at >= 0:
			left = slices.Delete(left, at, at+1)
			upTo = i + 1
		}
	}
	for i := range r.kept[:upTo] {
		k := &r.kept[i]
		if r.ofMark(k) {
			r.gone = append(r.gone, k.hash)
		}
		passed = append(passed, k.reading)
	}
	r.kept = slices.Delete(r.kept, 0, upTo)
	return passed
}

func (r *Ring[T]) ofMark(k *kept[T]) bool { return k.run == r.mark.Run && k.time == r.mark.Time }

// align makes this side's count the active's by the mark's reading, if that is found
// in one run only, and no more often than the active has tested it.
func (r *Ring[T]) align() bool {
	newest := r.mark.Hashes[len(r.mark.Hashes)-1]
	found, same := 0, 0
	for i := range r.kept {
		if k := &r.kept[i]; k.time == r.mark.Time && k.hash == newest {
			if found > 0 && k.run != r.kept[same].run {
				return false
			}
			if found == 0 {
				same = i
			}
			found++
		}
	}
	times := 0
	for _, h := range r.mark.Hashes {
		if h == newest {
			times++
		}
	}
	if found == 0 || found > times {
		return false
	}
	r.shift(r.mark.Run - r.kept[same].run)
	r.aligned, r.lost = true, false
	return true
}

// alignAnew does so again if the mark's reading is in another run: one side only has
// seen the time run back.
func (r *Ring[T]) alignAnew() {
	if !r.mark.Fresh {
		return
	}
	newest := r.mark.Hashes[len(r.mark.Hashes)-1]
	found, same := 0, 0
	for i := range r.kept {
		if k := &r.kept[i]; k.time == r.mark.Time && k.hash == newest {
			found, same = found+1, i
		}
	}
	if found != 1 || r.kept[same].run == r.mark.Run {
		return
	}
	if r.goneRun == r.mark.Run && r.goneAt == r.mark.Time && slices.Contains(r.gone, newest) {
		return
	}
	r.shift(r.mark.Run - r.kept[same].run)
}

func (r *Ring[T]) shift(by int64) {
	r.run += by
	for i := range r.kept {
		r.kept[i].run += by
	}
}
