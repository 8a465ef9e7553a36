package spool

import (
	"context"
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
