package spool

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// BenchmarkAppend: a reading of 1,500 bytes that ten keys retain, and their
// acknowledgements, with commits every 50 ms. One operation is one reading.
func BenchmarkAppend(b *testing.B) {
	for _, keep := range []bool{false, true} {
		b.Run(map[bool]string{false: "acknowledged", true: "kept"}[keep], func(b *testing.B) {
			s, err := Open(Config{Dir: b.TempDir(), Broker: "b1"})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithCancel(b.Context())
			done := make(chan error)
			go func() { done <- s.Run(ctx) }()
			defer func() { cancel(); <-done }()
			const keys = 10
			s.Append(prelude())
			for h := 2; h <= keys; h++ {
				e := *prelude()[3].(*overlay.EntryRecord)
				e.Handle = overlay.Handle(h)
				s.Append([]overlay.Record{&e})
			}
			reading := &overlay.Reading{Robot: "r0", Interface: "laser", JSON: make([]byte, 1500)}
			names := []protocol.Matched{{ID: "a"}}
			g := &overlay.GivenRecord{Reading: reading, Hits: make([]overlay.GivenHit, keys)}
			var acks []overlay.Record
			for h := range keys {
				acks = append(acks, &overlay.AckedRecord{Handle: overlay.Handle(h + 1)})
			}
			records := 0
			b.ReportAllocs()
			b.ResetTimer()
			for seq := uint64(1); seq <= uint64(b.N); seq++ {
				for h := range g.Hits {
					g.Hits[h] = overlay.GivenHit{Handle: overlay.Handle(h + 1), Seq: seq, Revision: 1, Names: names}
					num := seq
					if keep {
						num = max(seq, 1000) - 1000
					}
					acks[h].(*overlay.AckedRecord).Num = num
				}
				s.Append([]overlay.Record{g})
				s.Append(acks)
				records += 2 * keys
			}
			b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
			if err := s.Err(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkRetained: what a reading of 1,500 bytes takes in memory and on the
// disk for each of 3,000 keys that retain it, with a commit each. One operation
// is one reading of one key.
func BenchmarkRetained(b *testing.B) {
	const keys, size = 3000, 1500
	dir := b.TempDir()
	s, err := Open(Config{Dir: dir, Broker: "b1"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	s.Append(prelude())
	names := []protocol.Matched{{ID: "a"}}
	g := &overlay.GivenRecord{Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: make([]byte, size)}, Hits: make([]overlay.GivenHit, keys)}
	for h := range keys {
		e := *prelude()[3].(*overlay.EntryRecord)
		e.Handle = overlay.Handle(h + 1)
		s.Append([]overlay.Record{&e})
		g.Hits[h] = overlay.GivenHit{Handle: e.Handle, Revision: uint64(1e15) + 1e6*uint64(h), Names: names}
	}
	if err := s.commit(); err != nil {
		b.Fatal(err)
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	disk := func() float64 {
		info, err := os.Stat(filepath.Join(dir, "spool.db"))
		if err != nil {
			b.Fatal(err)
		}
		return float64(info.Size())
	}
	memory, file := heap(), disk()
	readings := 0
	b.ResetTimer()
	for i := 0; i < b.N; i += keys {
		readings++
		for h := range g.Hits {
			g.Hits[h].Seq = uint64(readings)
		}
		s.Append([]overlay.Record{g})
		if err := s.commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	n := float64(readings * keys)
	b.ReportMetric((heap()-memory)/n, "B-memory/op")
	b.ReportMetric((disk()-file-float64(readings*size))/n, "B-disk/op")
}
