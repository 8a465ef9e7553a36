package replay

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
	"callboard/player/run"
)

const (
	batchEvents = 256       // messages in a batch
	batchBytes  = 256 << 10 // and bytes; one message may be larger
	batches     = 4         // in use at a time: read ahead so that reading takes no time when a message is due
)

// event is a message of the recording, ready to go out.
type event struct {
	line     float64 // s, on the time line
	time     float64 // s, the message's own
	device   *device
	subtype  uint8
	answer   any // a geometry or configuration that is known from here on; no message
	from, to int // of the body, in the batch's bytes
}

// batch is a part of the recording.
type batch struct {
	events []event
	bytes  []byte
}

func (b *batch) full() bool { return len(b.events) >= batchEvents || len(b.bytes) >= batchBytes }

// feed reads the sources ahead and merges them by time, in a goroutine of its
// own. Its memory does not grow with them.
type feed struct {
	replay  *Replay
	sources []*source
	seek    float64 // s since the beginning, where to begin; 0: at the beginning
	first   float64 // s, where the time line begins; set before the first message is handed over
	out     chan *batch
	back    chan *batch // to be filled again
	cancel  context.CancelFunc
	done    chan struct{}
}

// source is one of the runs.
type source struct {
	index  int
	name   string
	reader *run.Reader
	clocks clocks
	record *run.Record // the next; nil: it has ended
	line   float64     // where it stands on the time line
	faults uint64      // places that gave no message
}

// toldFaults is how many faults of a source are told by themselves; more are
// counted.
const toldFaults = 10

func newFeed(ctx context.Context, r *Replay, seek float64) (*feed, error) {
	f := &feed{replay: r, seek: seek, out: make(chan *batch, batches), back: make(chan *batch, batches), done: make(chan struct{})}
	for i, s := range r.cfg.Sources {
		reader, err := s.File.Reader(run.Options{Bodies: true})
		if err != nil {
			f.close()
			return nil, err
		}
		f.sources = append(f.sources, &source{index: i, name: s.File.Name(), reader: reader, line: math.Inf(-1), clocks: clocks{gap: r.cfg.Gap.Seconds()}})
	}
	for range batches {
		f.back <- &batch{}
	}
	ctx, f.cancel = context.WithCancel(ctx)
	go func() {
		defer close(f.done)
		defer close(f.out)
		defer f.close()
		f.fill(ctx)
	}()
	return f, nil
}

func (f *feed) close() {
	for _, s := range f.sources {
		s.reader.Close()
	}
}

// end stops the reading and waits until it has.
func (f *feed) end() {
	f.cancel()
	<-f.done
}

// fill reads all there is to be replayed.
func (f *feed) fill(ctx context.Context) {
	for _, s := range f.sources {
		f.advance(ctx, s)
	}
	from, to, begun := 0.0, math.Inf(1), false
	b := <-f.back
	for s := f.earliest(); s != nil && s.line <= to; s = f.earliest() {
		if !begun && s.record.Kind == run.Data {
			begun, f.first = true, s.line
			from = f.replay.cfg.From.at(f.first, math.Inf(-1))
			to = f.replay.cfg.To.at(f.first, math.Inf(1))
			if f.seek > 0 {
				from = max(from, f.first+f.seek-before)
			}
		}
		f.add(b, s, s.line >= from && s.line <= to)
		f.advance(ctx, s)
		if !b.full() {
			continue
		}
		if b = f.hand(ctx, b); b == nil {
			return
		}
	}
	f.hand(ctx, b)
	for _, s := range f.sources {
		if s.faults > toldFaults {
			f.replay.log.Warn("a recorded run has further faults", slog.String("file", s.name), slog.Uint64("faults", s.faults-toldFaults))
		}
	}
}

// hand returns a full batch away for an empty one; nil means that ctx has ended.
func (f *feed) hand(ctx context.Context, b *batch) *batch {
	select {
	case f.out <- b:
	case <-ctx.Done():
		return nil
	}
	select {
	case b = <-f.back:
		b.events, b.bytes = b.events[:0], b.bytes[:0]
		return b
	case <-ctx.Done():
		return nil
	}
}

// earliest returns the source whose next record comes first, the first of
// several; nil if all have ended.
func (f *feed) earliest() *source {
	var best *source
	for _, s := range f.sources {
		if s.record != nil && (best == nil || s.line < best.line) {
			best = s
		}
	}
	return best
}

// advance reads a source's next record. What is told of devices stands where
// the message before it does.
func (f *feed) advance(ctx context.Context, s *source) {
	for s.record = nil; ctx.Err() == nil; {
		rec, err := s.reader.Next()
		var problem *problem.Problem
		switch {
		case err == nil:
			s.record = rec
			if rec.Kind == run.Data {
				s.line = s.clocks.place(rec.Robot, rec.Header.Timestamp)
			}
			return
		case errors.As(err, &problem):
			s.fault(f.replay.log, problem)
		default:
			if err != io.EOF {
				f.replay.log.Error("a recorded run cannot be read further; the others go on", slog.String("file", s.name), slog.Any("error", err))
			}
			return
		}
	}
}

// fault reports a place without a message.
func (s *source) fault(log *slog.Logger, p *problem.Problem) {
	switch {
	case p.Ends:
		log.Warn("a recorded run ends early; what was written before is replayed", slog.Any("error", p))
		return
	case p.Warning:
		return
	}
	if s.faults++; s.faults <= toldFaults {
		log.Warn("a message of a recorded run is left out", slog.Any("error", p))
	}
}

// add puts a source's record into the batch; wanted reports whether its messages
// are to be replayed.
func (f *feed) add(b *batch, s *source, wanted bool) {
	rec := s.record
	switch rec.Kind {
	case run.Up:
		for _, d := range rec.Devices {
			f.learn(b, s, d)
		}
	case run.Known:
		f.learn(b, s, rec.Device)
		if rec.Header.Type == player.Ack && rec.Payload != nil {
			f.keep(b, s, rec)
		}
	case run.Data:
		if wanted && rec.Payload != nil {
			f.encode(b, s, rec)
		}
	}
}

func (f *feed) device(s *source, d *player.Device) *device {
	return f.replay.devices[place{s.index, d.Robot, key{d.Interf, d.Index}}]
}

// learn adds what is known of a device.
func (f *feed) learn(b *batch, s *source, d *player.Device) {
	to := f.device(s, d)
	if to == nil {
		return
	}
	for _, a := range iface.Answers(d.Interf, d.Geometry, d.Config) {
		b.events = append(b.events, event{device: to, subtype: a.Subtype, answer: a.Payload})
	}
}

// keep adds an answer that was recorded as such.
func (f *feed) keep(b *batch, s *source, rec *run.Record) {
	to := f.device(s, rec.Device)
	if to == nil {
		return
	}
	if answer := run.Copied(rec.Header, rec.Payload); answer != nil {
		b.events = append(b.events, event{device: to, subtype: rec.Header.Subtype, answer: answer})
	}
}

// encode adds a message.
func (f *feed) encode(b *batch, s *source, rec *run.Record) {
	to := f.device(s, rec.Device)
	if to == nil {
		return
	}
	from := len(b.bytes)
	body, err := iface.Append(b.bytes, rec.Payload)
	if err == nil && len(body)-from > player.MaxBody {
		err = errors.New("it is larger than a message may be")
	}
	if err != nil {
		s.fault(f.replay.log, &problem.Problem{Place: problem.Place{File: s.name, Line: rec.Line}, Binary: rec.Line == 0, Offset: rec.Offset, Message: err.Error()})
		return
	}
	b.bytes = body
	b.events = append(b.events, event{
		line: s.line, time: rec.Header.Timestamp, device: to, subtype: rec.Header.Subtype, from: from, to: len(body),
	})
}

// reuse takes a batch back.
func (f *feed) reuse(b *batch) {
	b.events = slices.Delete(b.events, 0, len(b.events)) // lets go of the answers
	if cap(b.bytes) > 4*batchBytes {
		b.bytes = nil // a large message, once
	}
	f.back <- b
}
