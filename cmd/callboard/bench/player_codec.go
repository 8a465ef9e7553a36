package bench

import (
	"encoding/binary"
	"math"
	"runtime"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// appendPlain and decodePlain are what one would write by hand for a laser
// scan: the measure for the codec, which knows all structs.
func appendPlain(b []byte, d *iface.LaserData) []byte {
	f := func(v float32) { b = binary.BigEndian.AppendUint32(b, math.Float32bits(v)) }
	n := func(v int) { b = binary.BigEndian.AppendUint32(b, uint32(v)) }
	f(d.MinAngle)
	f(d.MaxAngle)
	f(d.Resolution)
	f(d.MaxRange)
	n(len(d.Ranges))
	n(len(d.Ranges))
	for _, r := range d.Ranges {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(r))
	}
	n(len(d.Intensity))
	n(len(d.Intensity))
	b = append(b, d.Intensity...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return binary.BigEndian.AppendUint32(b, d.ID)
}

func decodePlain(b []byte, d *iface.LaserData) {
	n := func() uint32 { v := binary.BigEndian.Uint32(b); b = b[4:]; return v }
	f := func() float32 { return math.Float32frombits(n()) }
	d.MinAngle, d.MaxAngle, d.Resolution, d.MaxRange = f(), f(), f(), f()
	n()
	d.Ranges = d.Ranges[:0]
	for range n() {
		d.Ranges = append(d.Ranges, math.Float32frombits(binary.BigEndian.Uint32(b)))
		b = b[4:]
	}
	n()
	k := n()
	d.Intensity = append(d.Intensity[:0], b[:k]...)
	b = b[(k+3)&^3:]
	d.ID = n()
}

// codec reports the codec's time as a multiple of the plain loop's, the best
// of several rounds in turn, and what it allocates.
func (b *playerBench) codec() error {
	scan := newScan()
	body, err := iface.Append(nil, scan)
	if err != nil {
		return err
	}
	known, _ := iface.Lookup(player.InterfaceLaser, player.Data, iface.DataLaserScan)
	into, buf := known.New().(*iface.LaserData), make([]byte, 0, 2*len(body))
	var failed error
	note := func(err error) {
		if err != nil {
			failed = err
		}
	}
	for _, c := range []struct {
		name        string
		plan, plain func()
	}{
		{"decode", func() { note(known.Decode(body, into)) }, func() { decodePlain(body, into) }},
		{"encode", func() { _, err := known.Append(buf, scan); note(err) }, func() { appendPlain(buf, scan) }},
	} {
		plan, plain := fastest(c.plan, c.plain)
		b.tell("codec/"+c.name, "time", float64(plan.Nanoseconds()), "ns")
		b.tell("codec/"+c.name, "of a plain loop", float64(plan)/float64(plain), "times")
		b.tell("codec/"+c.name, "allocations", allocations(c.plan), "")
	}
	return failed
}

// fastest returns the shortest time of a call of each, measured in turn.
func fastest(f, g func()) (time.Duration, time.Duration) {
	const rounds, calls = 40, 500
	one := func(f func()) time.Duration {
		from := time.Now()
		for range calls {
			f()
		}
		return time.Since(from) / calls
	}
	a, b := one(f), one(g)
	for range rounds {
		a, b = min(a, one(f)), min(b, one(g))
	}
	return a, b
}

// allocations counts those of a call.
func allocations(f func()) float64 {
	const calls = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		f()
	}
	runtime.ReadMemStats(&after)
	return math.Floor(float64(after.Mallocs-before.Mallocs) / calls)
}
