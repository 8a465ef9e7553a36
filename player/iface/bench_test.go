package iface_test

import (
	"encoding/binary"
	"math"
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// scan is a laser scan of 361 beams with intensities.
func scan() *iface.LaserData {
	d := &iface.LaserData{MinAngle: -1.57, MaxAngle: 1.57, Resolution: 0.0087, MaxRange: 8, ID: 7,
		Ranges: make([]float32, 361), Intensity: make([]uint8, 361)}
	for i := range d.Ranges {
		d.Ranges[i], d.Intensity[i] = float32(i)/100, uint8(i)
	}
	return d
}

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

// BenchmarkLaserScan is a scan encoded and decoded, by the plan and by the loop.
func BenchmarkLaserScan(b *testing.B) {
	d := scan()
	body, err := iface.Append(nil, d)
	if err != nil {
		b.Fatal(err)
	}
	def, _ := iface.Lookup(player.InterfaceLaser, player.Data, iface.DataLaserScan)
	into := def.New().(*iface.LaserData)
	buf := make([]byte, 0, 2*len(body))
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"append", func() error { _, err := def.Append(buf, d); return err }},
		{"append/plain", func() error { appendPlain(buf, d); return nil }},
		{"decode", func() error { return def.Decode(body, into) }},
		{"decode/plain", func() error { decodePlain(body, into); return nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRangerScan(b *testing.B) {
	d := &iface.RangerDataRange{Ranges: make([]float64, 181)}
	body, err := iface.Append(nil, d)
	if err != nil {
		b.Fatal(err)
	}
	into := &iface.RangerDataRange{}
	b.ReportAllocs()
	for b.Loop() {
		if err := iface.Decode(body, into); err != nil {
			b.Fatal(err)
		}
	}
}
