package client

import (
	"math"
	"time"
)

// Bounds of what counts as a rhythm, and as its end.
const (
	minBeats    = 10              // intervals until a rhythm is known
	maxBeats    = 64              // intervals that the mean period is of, at most
	silentBeats = 10              // periods without a reading: silence
	minSilence  = 2 * time.Second // and no less
)

// rhythm is how often a device sends, as far as it is regular: devices that send
// when something happens have none.
//
// The period is the mean between arrivals, since messages come in bursts.
// Whether it is regular the messages' own times tell: those of one subtype, as
// others tell of the same moment. These times also tell how much the robot has
// lived through, which a simulation may do faster or slower.
type rhythm struct {
	subtype uint8
	beats   int           // intervals in a row, at most maxBeats
	period  time.Duration // mean of them
	since   time.Time     // when the first of them began
	newest  time.Time     // when the last of them ended

	stamp     float64 // s, of the newest beat
	step      float64 // mean between the beats' own times
	deviation float64 // mean distance of an interval from step

	longest time.Duration // silence that ended by itself
}

// known reports whether the device has a rhythm.
func (r *rhythm) known() bool {
	return r.beats >= minBeats && r.step > 0 && r.deviation <= r.step/2
}

// maxSilence is how long the device may send nothing; without a rhythm it says
// nothing.
func (r *rhythm) maxSilence() time.Duration {
	return max(minSilence, silentBeats*r.period, 2*r.longest)
}

// beat takes a message's arrival and its own time.
func (r *rhythm) beat(subtype uint8, now time.Time, stamp float64) {
	interval := stamp - r.stamp
	switch {
	case r.newest.IsZero() || interval < 0 || math.IsNaN(interval) || math.IsInf(interval, 0):
		r.begin(subtype, now, stamp) // the first one, or time was set back
		return
	case subtype != r.subtype || interval == 0:
		return
	}
	r.beats++
	weight := 1 / float64(min(r.beats, minBeats))
	r.deviation += (math.Abs(interval-r.step) - r.deviation) * weight
	if r.beats == 1 {
		r.deviation = 0 // there is nothing yet to be distant from
	}
	r.step += (interval - r.step) * weight
	r.stamp, r.newest = stamp, now
	r.period = now.Sub(r.since) / time.Duration(r.beats)
	if r.beats == maxBeats {
		r.beats /= 2
		r.since = now.Add(-r.period * time.Duration(r.beats))
	}
}

// begin forgets the rhythm, but not how long the device can be silent.
func (r *rhythm) begin(subtype uint8, now time.Time, stamp float64) {
	*r = rhythm{subtype: subtype, since: now, newest: now, stamp: stamp, longest: r.longest}
}
