package run_test

import (
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
)

// BenchmarkMCAPWriter writes scans of 181 rays.
func BenchmarkMCAPWriter(b *testing.B) {
	for _, plain := range []bool{true, false} {
		name := "drawn"
		if plain {
			name = "plain"
		}
		b.Run(name, func(b *testing.B) {
			w, err := run.NewMCAPWriter(run.MCAPConfig{W: io.Discard, Plain: plain})
			if err != nil {
				b.Fatal(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			d := &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}, Robot: "r0", Geometry: &player.Geometry{}}
			var scans []*iface.LaserData
			for range 1000 {
				p := &iface.LaserData{MinAngle: -1.5, MaxAngle: 1.5, MaxRange: 8, Ranges: make([]float32, 181)}
				for i := range p.Ranges {
					p.Ranges[i] = float32(4 + random.NormFloat64())
				}
				scans = append(scans, p)
			}
			rec := run.Record{Kind: run.Data, Robot: "r0", Device: d, Logged: time.Now(), Header: player.Header{Addr: d.Addr, Type: player.Data, Subtype: 1}}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				rec.Header.Timestamp, rec.Payload = float64(i), scans[i%len(scans)]
				if err := w.Write(&rec); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}
