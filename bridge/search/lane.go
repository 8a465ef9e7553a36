package search

import (
	"context"

	"callboard/player"
)

// findings are what a lane found in a batch.
type findings struct {
	record int // that is tested now
	text   []byte
	all    []finding
}

// finding is a notification: of which record, and where its text ends.
type finding struct{ record, end int }

func (f *findings) add(text []byte) {
	f.text = text
	f.all = append(f.all, finding{f.record, len(text)})
}

// test tests the robots of one lane.
func (s *Search) test(ctx context.Context, lane int) {
	for {
		select {
		case b, more := <-s.lanes[lane]:
			if !more {
				return
			}
			f := &b.found[lane]
			f.text, f.all = f.text[:0], f.all[:0]
			for i := range b.records {
				if r := &b.records[i]; r.robot.lane == lane {
					f.record, r.robot.at = i, f
					r.test()
				}
			}
			b.tested <- struct{}{} // there is room for all
		case <-ctx.Done():
			return
		}
	}
}

// test hands a record to its robot.
func (r *record) test() {
	switch r.kind {
	case data:
		r.robot.Arrive(player.Reading{Device: r.device, Subtype: r.subtype, Time: r.time, Payload: r.payload})
	case pass:
		r.robot.Pass(r.device, r.subtype, r.time)
	case up:
		r.robot.Up(r.up.world, r.up.devices, r.up.goesOn)
	case known:
		r.robot.Known(r.device)
	case down:
		r.robot.Down()
	case end:
		r.robot.End()
	}
}

// collect hands out what the lanes found, in the order of the records, and
// hands batches and blocks back.
func (s *Search) collect(ctx context.Context) error {
	for {
		select {
		case b, more := <-s.done:
			if !more {
				return nil
			}
			for range s.lanes {
				select {
				case <-b.tested:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			if err := s.hand(b); err != nil {
				return err
			}
			for _, k := range b.blocks {
				k.file.free <- k
			}
			clear(b.records)
			clear(b.blocks)
			b.records, b.blocks = b.records[:0], b.blocks[:0]
			s.free <- b
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hand hands out what was found in a batch.
func (s *Search) hand(b *batch) error {
	next, from := make([]int, len(b.found)), make([]int, len(b.found))
	for {
		first := -1
		for lane := range b.found {
			if all := b.found[lane].all; next[lane] < len(all) &&
				(first < 0 || all[next[lane]].record < b.found[first].all[next[first]].record) {
				first = lane
			}
		}
		if first < 0 {
			return nil
		}
		f := &b.found[first]
		end := f.all[next[first]].end
		s.result.Notifications++
		if s.config.Write != nil {
			if err := s.config.Write(s.result.Notifications, f.text[from[first]:end]); err != nil {
				return err
			}
		}
		from[first] = end
		next[first]++
	}
}
