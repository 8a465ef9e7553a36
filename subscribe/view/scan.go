package view

import (
	"slices"

	"callboard/player"
	"callboard/player/iface"
)

// completion is what is known of a device's habit of sending scans in parts.
type completion uint8

const (
	unknown   completion = iota
	completes            // a second message completes each scan
	plain                // a scan is one message
)

// scan is the state of assembling one device's scans. A ranger's intensities
// with a scan's timestamp complete it; Player's rangertolaser sends each scan
// twice with the same timestamp and ranges, and only the second has the right
// intensities. Such a scan is one reading, so that a device which may complete
// a scan has it held back until that, or until the stream shows that it will
// not. What is held and given depends on the stream alone (and on flushes,
// which only give earlier), so that a run, its replay and a query agree.
type scan struct {
	habit completion
	held  bool    // in the spare view, not given yet
	open  bool    // the last scan has not been completed
	time  float64 // s, of the last scan
}

// takeScan takes a message of a device that stands for a laser.
func (r *Robot) takeScan(v *device, m player.Reading) {
	if intensities, ok := intensitiesOf(m.Payload); ok {
		r.takeIntensities(v, m, intensities)
		return
	}
	if v.dev.Interf == player.InterfaceLaser && v.scan.open && m.Time == v.scan.time && v.sameRanges(m.Payload) {
		v.scan.habit, v.scan.open = completes, false
		if !v.scan.held {
			r.skip(PartOfScan)
			return
		}
		v.fill(m)
		v.spare.stamp(m.Time, int(v.dev.Index))
		if r.keeps {
			v.keep(m, false)
		}
		r.release(v)
		return
	}
	if v.scan.held {
		r.release(v)
	}
	if v.scan.open {
		v.scan.habit = plain
	}
	if ok, why := r.fill(v, m); !ok {
		r.skip(why)
		return
	}
	v.scan.time, v.scan.open = m.Time, true
	if v.scan.habit == plain {
		r.give(v)
		return
	}
	v.scan.held = true
	r.held = append(r.held, v)
}

// takeIntensities takes a ranger's intensities: of the scan that they belong
// to, or of none.
func (r *Robot) takeIntensities(v *device, m player.Reading, intensities []float64) {
	if !v.scan.open || m.Time != v.scan.time {
		r.skip(PartOfScan)
		return
	}
	v.scan.habit, v.scan.open = completes, false
	r.skip(PartOfScan)
	if v.scan.held {
		l := v.spare.(*Laser)
		l.Intensities = append(l.Intensities[:0], intensities...)
		if r.keeps {
			v.keep(m, false)
		}
		r.release(v)
	}
}

// releaseBefore releases the held scans that a message shows to be complete, or
// never to be: those of other times, and of its own device.
func (r *Robot) releaseBefore(v *device, m player.Reading) {
	for i := 0; i < len(r.held); {
		h := r.held[i]
		if h.scan.time == m.Time && (h != v || mayComplete(h, m.Payload)) {
			i++
			continue
		}
		r.release(h)
	}
}

// mayComplete reports whether a payload with the time of the device's held scan
// may complete it; takeScan decides.
func mayComplete(v *device, payload any) bool {
	if v.dev.Interf == player.InterfaceLaser {
		return true
	}
	_, ok := intensitiesOf(payload)
	return ok
}

// release hands on a held scan.
func (r *Robot) release(v *device) {
	if i := slices.Index(r.held, v); i >= 0 {
		r.held = slices.Delete(r.held, i, i+1)
	}
	v.scan.held = false
	r.give(v)
}

// Holding reports whether a scan waits for completion.
func (r *Robot) Holding() bool { return len(r.held) > 0 }

// Flush releases what is held: the input has run dry for now. It says nothing
// about the devices' habits.
func (r *Robot) Flush() {
	for len(r.held) > 0 {
		r.release(r.held[0])
	}
}

// intensitiesOf returns the intensities that a payload consists of.
func intensitiesOf(payload any) ([]float64, bool) {
	switch p := payload.(type) {
	case *iface.RangerDataIntns:
		return p.Intensities, true
	case *iface.RangerDataIntnsstamped:
		return p.Data.Intensities, true
	}
	return nil, false
}

// sameRanges reports whether a laser's payload has the ranges of its last scan.
func (v *device) sameRanges(payload any) bool {
	last := v.latest
	if v.scan.held {
		last = v.spare
	}
	l, ok := last.(*Laser)
	if !ok {
		return false
	}
	var ranges []float32
	switch p := payload.(type) {
	case *iface.LaserData:
		ranges = p.Ranges
	case *iface.LaserDataScanpose:
		ranges = p.Scan.Ranges
	case *iface.LaserDataScanangle:
		ranges = p.Ranges
	default:
		return false
	}
	if len(ranges) != len(l.Ranges) {
		return false
	}
	for i, r := range ranges {
		if clip(float64(r), l.MaxRange) != l.Ranges[i] {
			return false
		}
	}
	return true
}
