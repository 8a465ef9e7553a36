package search

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

	"callboard/player"
	"callboard/player/problem"
	"callboard/player/run"
	"callboard/subscribe/query"
)

// record is what a robot's lane is handed.
type record struct {
	robot   *robot
	kind    kind
	subtype uint8
	time    float64 // s
	device  *player.Device
	payload any
	up      *session
}

// session is what begins with an up.
type session struct {
	world   string
	devices []*player.Device
	goesOn  bool // it began in an earlier file of the same recording
}

type kind uint8

const (
	data kind = iota
	pass
	up
	known
	down
	end
)

// batch is records on their way through the lanes.
type batch struct {
	records []record
	blocks  []*block      // that nobody needs after it
	tested  chan struct{} // takes a value from each lane
	found   []findings    // by lane
}

// A batch is sent when it has about so many records, or so many blocks: a
// file must not run out of them.
const (
	batchSize   = 2048
	batchBlocks = 2
)

// take notes what a file holds.
func (s *Search) take(f *file, rec *run.Record, p *problem.Problem) {
	if p == nil {
		p = rec.Odd
	}
	if p != nil {
		s.fault(p)
	}
	if rec == nil {
		return
	}
	name := rec.Robot
	if f.source.Name != nil {
		name = f.source.Name(name)
	}
	out := record{robot: s.robot(name), device: rec.Device}
	switch rec.Kind {
	case run.Up:
		out.kind, out.up = up, &session{rec.World, rec.Devices, rec.Continued}
	case run.Known:
		out.kind = known
	case run.Down:
		out.kind = down
	case run.Lost:
		s.result.Lost += rec.Count
		s.result.Lacking = s.result.Lacking || rec.Count == 0
		return
	default:
		out.time, out.subtype, out.payload = rec.Header.Timestamp, rec.Header.Subtype, rec.Payload
		s.count(out.time)
		if rec.Payload == nil {
			if s.config.Query.Choose(rec.Header.Interf) != query.Time {
				return // a line without payload was sent to nobody
			}
			out.kind = pass
		}
	}
	f.records = append(f.records, out)
}

func (s *Search) fault(p *problem.Problem) {
	if p.Warning {
		s.result.Warnings++
	} else {
		s.result.Problems++
	}
	if s.config.Problem != nil {
		s.config.Problem(p)
	}
}

func (s *Search) count(time float64) {
	if s.result.Messages++; s.result.Messages == 1 {
		s.result.First, s.result.Last = time, time
	}
	s.result.First, s.result.Last = min(s.result.First, time), max(s.result.Last, time)
}

// sequence puts the records of all files in one order and hands them to the
// lanes.
func (s *Search) sequence(ctx context.Context, readers *errgroup.Group) error {
	s.result.First, s.result.Last = math.NaN(), math.NaN()
	for _, f := range s.files {
		f.asleep = true
		if len(s.files) > 1 {
			if err := f.peek(ctx); err != nil {
				return err
			}
		}
	}
	b, err := s.batch(ctx)
	for err == nil {
		var f *file
		if f, err = s.earliest(ctx, readers); f == nil || err != nil {
			break
		}
		b.records = append(b.records, f.records[f.next])
		if f.next++; f.next < len(f.records) {
			continue
		}
		b.blocks = append(b.blocks, f.current)
		f.current, f.records, f.next = nil, f.records[:0], 0
		if len(b.records) >= batchSize || len(b.blocks) >= batchBlocks || len(s.files) == 1 {
			s.send(b)
			b, err = s.batch(ctx)
		}
	}
	if err != nil {
		return err
	}
	for _, r := range s.order {
		b.records = append(b.records, record{robot: r, kind: end})
	}
	s.send(b)
	return nil
}

// earliest returns the file whose record is next: what tells of sessions at
// once, messages by time, of the same time those of the first file. nil is the
// end of all.
func (s *Search) earliest(ctx context.Context, readers *errgroup.Group) (*file, error) {
	for {
		var best *file
		for _, f := range s.files {
			if f.ended {
				continue
			}
			if !f.asleep && f.next == len(f.records) {
				if more, err := s.load(ctx, f); err != nil {
					return nil, err
				} else if !more {
					continue
				}
			}
			if best == nil || f.when() < best.when() {
				best = f
			}
		}
		if best == nil || !best.asleep {
			return best, nil
		}
		if err := s.wake(ctx, readers, best); err != nil {
			return nil, err
		}
	}
}

// when is the time of the file's next record.
func (f *file) when() float64 {
	if f.asleep {
		return f.begins
	}
	if r := &f.records[f.next]; r.kind == data || r.kind == pass {
		return r.time
	}
	return math.Inf(-1)
}

// batch returns an empty batch.
func (s *Search) batch(ctx context.Context) (*batch, error) {
	select {
	case b := <-s.free:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send hands a batch to all lanes, and to who waits for them. There is room
// for all.
func (s *Search) send(b *batch) {
	for _, lane := range s.lanes {
		lane <- b
	}
	s.done <- b
}
