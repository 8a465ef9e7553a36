package iface_test

import (
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

// What a scan costs beside a loop written by hand is measured by callboard bench
// player, case codec.
func BenchmarkLaserScan(b *testing.B) {
	d := scan()
	body, err := iface.Append(nil, d)
	if err != nil {
		b.Fatal(err)
	}
	def, _ := iface.Lookup(player.InterfaceLaser, player.Data, iface.DataLaserScan)
	into := def.New().(*iface.LaserData)
	buf := make([]byte, 0, 2*len(body))
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := iface.Append(buf, d); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := def.Decode(body, into); err != nil {
				b.Fatal(err)
			}
		}
	})
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
