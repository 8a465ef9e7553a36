// Package search runs a query over recorded runs on all processors: blocks of
// the files are read ahead at the same time, robots are tested at the same
// time, and what is found comes in the order of the records, the same on any
// number of processors.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"callboard/player/problem"
	"callboard/player/run"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// Config says what to search for, where, and who takes what is found.
type Config struct {
	// Sources are the runs, on one time line: records of several are merged by
	// time. At least one.
	Sources []Source
	Query   *query.Query // required
	// Processors is how many blocks are read, and robots tested, at the same
	// time. Default GOMAXPROCS.
	Processors int
	// Format words a notification, which has no number yet. It is called from
	// several goroutines. nil: notifications are counted only.
	Format func(dst []byte, n *protocol.Notify) []byte
	// Write takes what Format made, in order, with its number from 1. An error
	// ends the search.
	Write func(seq uint64, text []byte) error
	// Sink returns what else takes a robot's findings (its Notify is not used). It
	// is called once a robot, and its result for one robot from one goroutine
	// at a time. nil: nothing does.
	Sink func(robot string) query.Sink
	// Problem takes the faults of a file, in order. nil: they are counted only.
	Problem func(*problem.Problem)
}

// Source is a run.
type Source struct {
	File *run.File
	// Name returns another name for a robot of the file; nil: they keep theirs.
	Name func(robot string) string
}

// Result is what a search has found.
type Result struct {
	Notifications uint64
	Robots        []query.Tally // by name
	Failures      []subscribe.Failure
	Messages      uint64  // that were looked at
	First, Last   float64 // s, least and greatest time of them; NaN is none
	Problems      uint64
	Warnings      uint64
	Lost          uint64 // messages that recorders told they missed
	Lacking       bool   // a recorder missed some, without telling how many
}

// Search is a search that may run.
type Search struct {
	config Config
	result Result
	files  []*file
	free   chan *batch
	work   chan *block
	lanes  []chan *batch
	done   chan *batch
	robots map[string]*robot
	order  []*robot // as they came

	mu       sync.Mutex
	failures []subscribe.Failure
}

// New checks the configuration.
func New(c Config) (*Search, error) {
	if c.Query == nil || len(c.Sources) == 0 {
		return nil, errors.New("search: no query, or no file to search")
	}
	if c.Processors <= 0 {
		c.Processors = runtime.GOMAXPROCS(0)
	}
	s := &Search{config: c, robots: map[string]*robot{}}
	for _, source := range c.Sources {
		s.files = append(s.files, &file{source: source, run: source.File})
	}
	return s, nil
}

// Consumed returns how many bytes of the files were read so far, and how many
// there are. Safe for concurrent use.
func (s *Search) Consumed() (read, all int64) {
	for _, f := range s.files {
		read += f.consumed()
		all += f.run.Size()
	}
	return read, all
}

// Run searches. It returns when everything was handed to Write, or with the
// first error.
func (s *Search) Run(ctx context.Context) (*Result, error) {
	batches := 3 + s.config.Processors
	s.free, s.done = make(chan *batch, batches), make(chan *batch, batches)
	s.work = make(chan *block, s.config.Processors)
	for range batches {
		s.free <- &batch{found: make([]findings, s.config.Processors), tested: make(chan struct{}, s.config.Processors)}
	}
	s.lanes = make([]chan *batch, s.config.Processors)
	group, ctx := errgroup.WithContext(ctx)
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	readers, reading := errgroup.WithContext(stop)
	for lane := range s.lanes {
		s.lanes[lane] = make(chan *batch, batches)
		group.Go(func() error { s.test(ctx, lane); return nil })
		group.Go(func() error { s.parse(ctx); return nil })
	}
	group.Go(func() error {
		err := s.sequence(reading, readers)
		if err != nil {
			cancel()
		}
		err = cmp.Or(readers.Wait(), err)
		close(s.work)
		close(s.done)
		for _, lane := range s.lanes {
			close(lane)
		}
		return err
	})
	group.Go(func() error { return s.collect(ctx) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return s.finish(), nil
}

// finish sums up.
func (s *Search) finish() *Result {
	for _, r := range s.order {
		s.result.Robots = append(s.result.Robots, r.Tally())
	}
	query.Sort(s.result.Robots)
	slices.SortFunc(s.failures, func(a, b subscribe.Failure) int { return cmp.Compare(a.ID, b.ID) })
	s.result.Failures = s.failures
	return &s.result
}

// robot is a robot, and who tests it.
type robot struct {
	*query.Robot
	lane int
	at   *findings // where what is found belongs
}

// robot returns a robot by name.
func (s *Search) robot(name string) *robot {
	r := s.robots[name]
	if r != nil {
		return r
	}
	r = &robot{lane: len(s.order) % len(s.lanes)}
	var sink query.Sink
	if s.config.Sink != nil {
		sink = s.config.Sink(name)
	}
	sink.Notify = nil
	if s.config.Format != nil {
		sink.Notify = func(n *protocol.Notify) { r.at.add(s.config.Format(r.at.text, n)) }
	}
	sink.Failed = func(f subscribe.Failure) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.ContainsFunc(s.failures, func(o subscribe.Failure) bool { return o.ID == f.ID }) {
			s.failures = append(s.failures, f)
		}
	}
	r.Robot = s.config.Query.NewRobot(name, sink)
	s.robots[name], s.order = r, append(s.order, r)
	return r
}

// errReading wraps what ended the reading of a file.
func errReading(f *run.File, err error) error { return fmt.Errorf("reading %s: %w", f.Name(), err) }
