// Package record writes what Player servers send, or another source hands over,
// into files that package run reads: Player logs or MCAP.
package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"callboard/player"
	"callboard/player/run"
)

// Config says what to record and where to.
type Config struct {
	// Output is the file's name: .log is a Player log, .mcap an MCAP file. It
	// must not be there yet. Further files of a recording that is cut are named
	// by run.PartName.
	Output  string
	Servers []Server // Player servers to record
	// Source hands over records of its own, from one goroutine at a time, until ctx
	// ends or it has no more; nil: none.
	Source func(ctx context.Context, put func(*run.Record)) error
	World  *run.World // recorded with the run; nil: none
	Plain  bool       // MCAP: without what is only there to be drawn

	RotateSize int64         // bytes after which a new file begins; 0: never
	RotateTime time.Duration // time after which a new file begins; 0: never
	Duration   time.Duration // time after which the recording ends; 0: with ctx
	// Answer is how long to wait for a first Player server to answer; 0: for ever.
	Answer time.Duration
	// Flush is how often what waits is handed to the operating system: a crash
	// takes no more than what came in that time. Default 0.25 s.
	Flush time.Duration
	// QueueBytes is how much may wait for the disk; what comes beyond is dropped
	// and counted. Default 64 MiB.
	QueueBytes int

	Create func(name string) (File, error) // default: a file of the operating system
	Remove func(name string) error         // default: the operating system's
	Closed func(Part)                      // told of each file once it is complete; nil: nobody is
	Logger *slog.Logger                    // default: none
}

// File is what a recording is written to.
type File interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// Part is a file of a recording.
type Part struct {
	Name     string
	Bytes    int64
	Messages uint64
}

// Status is how a recording goes.
type Status struct {
	Name       string // of the file that is written
	Parts      int    // files so far
	Bytes      int64  // in all files
	Messages   uint64 // recorded
	Dropped    uint64 // not recorded: the disk was too slow
	Unwritable uint64 // not recorded: the format cannot hold them
	Lost       uint64 // that never came, as far as Player servers told
	Up, Robots int    // robots with a session now, and all so far
}

// Recorder records into one file after the other.
type Recorder struct {
	config  Config
	log     *slog.Logger
	disk    *disk
	sources []*source

	answered  chan struct{} // closed when a first Player server has answered
	answering sync.Once

	mu       sync.Mutex
	writer   run.Writer
	part     *part  // nil once the recording has ended
	name     string // of the newest file
	parts    int    // files so far
	before   int64
	status   Status
	sessions map[string]*session // by robot
	order    []string            // of the robots, as they came up
	clock    clock
	told     map[player.Interface]bool // of unwritable messages
	err      error
}

// session is what is known of a robot.
type session struct {
	world, player string
	up            bool
	devices       []*player.Device
	dropped       uint64 // messages since the last one that was recorded
}

// New checks the configuration and begins the file, so that what is wrong
// with it is known at once.
func New(c Config) (*Recorder, error) {
	if c.Flush <= 0 {
		c.Flush = 250 * time.Millisecond
	}
	if c.QueueBytes <= 0 {
		c.QueueBytes = 64 << 20
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Create == nil {
		c.Create = func(name string) (File, error) {
			return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		}
	}
	if c.Remove == nil {
		c.Remove = os.Remove
	}
	if c.Closed == nil {
		c.Closed = func(Part) {}
	}
	switch ending := strings.ToLower(filepath.Ext(c.Output)); ending {
	case ".log", ".mcap":
	default:
		return nil, fmt.Errorf("%q ends with %q, expected .log for a Player log or .mcap", c.Output, ending)
	}
	if len(c.Servers) == 0 && c.Source == nil {
		return nil, errors.New("record: neither a Player server nor a source is given")
	}
	r := &Recorder{
		config: c, log: c.Logger, disk: newDisk(c.Closed), answered: make(chan struct{}), sessions: map[string]*session{}, told: map[player.Interface]bool{},
	}
	for _, s := range c.Servers {
		one, err := newSource(r, s)
		if err != nil {
			return nil, err
		}
		r.sources = append(r.sources, one)
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if err := r.worldBeside(); err != nil {
		r.disk.abandon(r.part)
		return nil, err
	}
	return r, nil
}

// worldBeside writes the world's archive beside a log.
func (r *Recorder) worldBeside() error {
	if r.config.World == nil || r.isMCAP() {
		return nil
	}
	name := run.WorldName(r.config.Output)
	f, err := r.config.Create(name)
	if err == nil {
		err = errors.Join(r.config.World.WriteZip(f, now()), f.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the world beside the log: %w", err)
	}
	return nil
}

func (r *Recorder) isMCAP() bool { return strings.EqualFold(filepath.Ext(r.config.Output), ".mcap") }

// Run records until ctx ends, the duration has passed or the source has no
// more, and completes the file. Where no Player server answered it returns
// ErrNoAnswer and leaves no file. It may be called once.
func (r *Recorder) Run(ctx context.Context) error {
	if r.config.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.config.Duration)
		defer cancel()
	}
	disk := make(chan struct{})
	go func() { defer close(disk); r.disk.run() }()
	group, running := errgroup.WithContext(ctx)
	for _, s := range r.sources {
		group.Go(func() error { return s.client.Run(running) })
	}
	if source := r.config.Source; source != nil {
		group.Go(func() error {
			err := source(running, r.Put)
			if err == nil && len(r.config.Servers) == 0 {
				err = errEnough
			}
			return err
		})
	}
	group.Go(func() error { return r.keepTime(running) })
	group.Go(func() error { return r.awaitAnswer(running) })
	err := group.Wait()
	if errors.Is(err, errEnough) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	if err == nil && r.config.Source == nil && !r.hasAnswer() {
		err = ErrNoAnswer
	}
	if errors.Is(err, ErrNoAnswer) {
		return errors.Join(err, r.discard(disk))
	}
	ending := r.finish(disk)
	switch {
	case err == nil || errors.Is(ending, err):
		return ending
	case ending == nil || errors.Is(err, ending):
		return err
	}
	return errors.Join(err, ending)
}

// ErrNoAnswer ends a recording in which no Player server ever answered.
var ErrNoAnswer = errors.New("no Player server answered")

// awaitAnswer ends the recording if none answers in time.
func (r *Recorder) awaitAnswer(ctx context.Context) error {
	if r.config.Answer <= 0 || len(r.sources) == 0 {
		return nil
	}
	patience := time.NewTimer(r.config.Answer)
	defer patience.Stop()
	select {
	case <-ctx.Done():
	case <-r.answered:
	case <-patience.C:
		return ErrNoAnswer
	}
	return nil
}

// hasAnswer reports whether a Player server has answered.
func (r *Recorder) hasAnswer() bool {
	select {
	case <-r.answered:
		return true
	default:
		return false
	}
}

// discard removes the files of a recording that has nothing in it.
func (r *Recorder) discard(disk <-chan struct{}) error {
	r.disk.close()
	<-disk
	err := r.config.Remove(r.name)
	if r.config.World != nil && !r.isMCAP() {
		err = errors.Join(err, r.config.Remove(run.WorldName(r.config.Output)))
	}
	return err
}

// errEnough ends a recording whose source has no more.
var errEnough = errors.New("record: the source has no more")

// finish completes the file and waits for the disk.
func (r *Recorder) finish(disk <-chan struct{}) error {
	r.mu.Lock()
	err := r.err
	if err == nil {
		err = r.end()
	}
	r.disk.close()
	r.mu.Unlock()
	<-disk
	if failed := r.disk.failure(); failed != nil {
		return failed
	}
	return err
}

// keepTime flushes, cuts by time, and ends the recording when the disk fails.
func (r *Recorder) keepTime(ctx context.Context) error {
	flush := time.NewTicker(r.config.Flush)
	defer flush.Stop()
	var rotate <-chan time.Time
	if r.config.RotateTime > 0 {
		t := time.NewTicker(r.config.RotateTime)
		defer t.Stop()
		rotate = t.C
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.disk.failed:
			return r.disk.failure()
		case <-flush.C:
			r.locked(func() error { return r.writer.Flush() })
		case <-rotate:
			r.locked(r.rotate)
		}
		if err := r.failure(); err != nil {
			return err
		}
	}
}

func (r *Recorder) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// locked does something that may fail for good.
func (r *Recorder) locked(do func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = do()
	}
}

// Status returns how it goes. It may be called at any time.
func (r *Recorder) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	s.Parts, s.Robots = r.parts, len(r.order)
	s.Name, s.Bytes = r.name, r.before
	if r.part != nil {
		s.Bytes += r.writer.Size()
	}
	for _, one := range r.sessions {
		if one.up {
			s.Up++
		}
	}
	return s
}
