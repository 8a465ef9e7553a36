package search

import (
	"context"
	"errors"
	"io"
	"math"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"callboard/player"
	"callboard/player/problem"
	"callboard/player/run"
	"callboard/subscribe/query"
)

// file is one of the runs: asleep until the time line comes to its first
// message, then read block by block.
type file struct {
	source  Source
	run     *run.File
	begins  float64 // s, its first message
	asleep  bool
	ended   bool
	blocks  atomic.Pointer[run.Blocks]
	free    chan *block
	order   chan *block // as they stand in the file
	current *block
	records []record // of current
	next    int      // of them
}

// block is a part of a file that is parsed by whoever has time.
type block struct {
	run.Block
	file  *file
	ready chan struct{} // takes a value when it is parsed
}

func (f *file) consumed() int64 {
	if b := f.blocks.Load(); b != nil {
		return b.Consumed()
	}
	return 0
}

// First returns the time of a run's first message, in s; found is false if it has
// none.
func First(ctx context.Context, f *run.File) (time float64, found bool, err error) {
	r, err := f.Reader(run.Options{Want: func(*player.Device, uint8) bool { return false }})
	if err != nil {
		return 0, false, err
	}
	defer r.Close()
	for ctx.Err() == nil {
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			return 0, false, nil
		case errors.As(err, new(*problem.Problem)):
		case err != nil:
			return 0, false, errReading(f, err)
		case rec.Kind == run.Data:
			return rec.Header.Timestamp, true, nil
		}
	}
	return 0, false, ctx.Err()
}

// peek finds when the file begins.
func (f *file) peek(ctx context.Context) error {
	first, found, err := First(ctx, f.run)
	if f.begins = first; !found {
		f.begins = math.Inf(-1)
	}
	return err
}

// choose returns what is to be read of an interface.
func choose(q *query.Query) func(player.Interface) run.Choice {
	return func(i player.Interface) run.Choice {
		switch q.Choose(i) {
		case query.Whole:
			return run.Whole
		case query.Time:
			return run.HeaderOnly
		}
		return run.Nothing
	}
}

// wake begins to read a file.
func (s *Search) wake(ctx context.Context, group *errgroup.Group, f *file) error {
	f.asleep = false
	blocks, err := f.run.Blocks(run.BlockOptions{Choose: choose(s.config.Query)})
	if err != nil {
		return err
	}
	f.blocks.Store(blocks)
	n := 2*s.config.Processors + 2
	f.free, f.order = make(chan *block, n), make(chan *block, n)
	for range n {
		f.free <- &block{file: f, ready: make(chan struct{}, 1)}
	}
	group.Go(func() error {
		defer close(f.order)
		defer blocks.Close()
		for {
			var b *block
			select {
			case b = <-f.free:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := blocks.Next(&b.Block); err == io.EOF {
				return nil
			} else if err != nil {
				return errReading(f.run, err)
			}
			select {
			case s.work <- b:
				f.order <- b // there is room for all
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	return nil
}

// parse parses blocks of any file, in the order in which they come.
func (s *Search) parse(ctx context.Context) {
	for {
		select {
		case b, more := <-s.work:
			if !more {
				return
			}
			b.Parse()
			b.ready <- struct{}{}
		case <-ctx.Done():
			return
		}
	}
}

// load makes the file's next block the current one; false at its end.
func (s *Search) load(ctx context.Context, f *file) (bool, error) {
	f.records, f.next, f.current = f.records[:0], 0, nil
	for len(f.records) == 0 {
		if f.current != nil { // it had nothing
			f.free <- f.current
		}
		var more bool
		select {
		case f.current, more = <-f.order:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if !more {
			f.current, f.ended = nil, true
			return false, nil
		}
		select {
		case <-f.current.ready:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		f.blocks.Load().Records(&f.current.Block, func(rec *run.Record, p *problem.Problem) { s.take(f, rec, p) })
	}
	return true, nil
}
