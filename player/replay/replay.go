package replay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"callboard/player/run"
)

// Config says what is replayed, and how.
type Config struct {
	// Sources are the recorded runs, on one time line. At least one; the Replay
	// does not close their files.
	Sources []Source
	// Speed is the multiple of the speed at which it was recorded; 0: as fast as
	// the slowest client takes it.
	Speed float64
	// From and To bound what is replayed. Default: all of it.
	From, To Point
	// Loop begins again at the end.
	Loop bool
	// Gap is the time in which nothing was recorded, beyond which the replay goes
	// on at once: a clock was set, or a recorder stood still. Default 1 h.
	Gap time.Duration
	// Settle is how long the beginning waits, after the first device of one Player
	// server was opened, for those of the others. Default 1 s; a tenth of it
	// without anything being opened is enough once all have been.
	Settle time.Duration
	// Logger takes what happens. Default: discarded.
	Logger *slog.Logger
}

// Source is a recorded run.
type Source struct {
	File   *run.File
	Survey *run.Survey // what File has; required
	// Name names the run's robots: the only one is called so, several are called
	// so with "-" and their own name. Default: as they were recorded.
	Name string
}

// Point is a moment of a run: a time since its beginning, or, if Absolute, what
// the Player servers' clocks showed. The zero Point is not set.
type Point struct {
	Set      bool
	Absolute bool
	Seconds  float64
}

// at returns the point on the time line that begins at first; otherwise if it is
// not set.
func (p Point) at(first, otherwise float64) float64 {
	switch {
	case !p.Set:
		return otherwise
	case p.Absolute:
		return p.Seconds
	}
	return first + p.Seconds
}

// Replay plays recorded runs to the clients of its Drivers.
type Replay struct {
	cfg     Config
	log     *slog.Logger
	ports   []*Port
	devices map[place]*device

	mu      sync.Mutex
	wake    chan struct{} // holds one: what follows has changed
	state   state
	speed   float64
	playing bool // what the log interface calls state
	ran     bool

	played uint64 // messages
	at     float64
	length float64
}

// state is what clients want of the replay, and what has come of it.
type state struct {
	opened  int       // devices
	first   time.Time // when the first was opened, since none was
	last    time.Time // when the newest was
	rewind  bool      // asked for
	seek    float64   // s since the beginning, where the next pass begins
	started bool      // since a device was opened: it plays, or has played
	ended   bool      // it has played all
}

// New checks the runs and finds out which Player servers they were recorded
// from. What cannot be served together is an error that says what to do.
func New(cfg Config) (*Replay, error) {
	if len(cfg.Sources) == 0 {
		return nil, errors.New("replay: no recorded run given")
	}
	if cfg.Speed < 0 || math.IsNaN(cfg.Speed) || math.IsInf(cfg.Speed, 0) {
		return nil, fmt.Errorf("replay: speed %v, expected 0 (as fast as possible) or more", cfg.Speed)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Gap == 0 {
		cfg.Gap = time.Hour
	}
	if cfg.Settle == 0 {
		cfg.Settle = time.Second
	}
	r := &Replay{cfg: cfg, log: cfg.Logger, wake: make(chan struct{}, 1), speed: cfg.Speed, playing: true}
	if err := r.arrange(); err != nil {
		return nil, err
	}
	if err := r.measure(); err != nil {
		return nil, err
	}
	return r, nil
}

// measure finds out how long the replay is. A part that begins behind the end is
// refused: nothing would come, for ever.
func (r *Replay) measure() error {
	first, last := math.Inf(1), math.Inf(-1)
	for _, s := range r.cfg.Sources {
		if s.Survey.Messages > 0 {
			first, last = min(first, s.Survey.First), max(last, s.Survey.Last)
		}
	}
	if r.cfg.From.at(first, first) > last {
		return fmt.Errorf("the part to replay begins past the end of the run, which takes %.3f s", last-first)
	}
	r.length = max(0, min(last, r.cfg.To.at(first, last))-first)
	return nil
}

// Ports lists the Player servers, in the order of their robots in the sources.
func (r *Replay) Ports() []*Port { return r.ports }

// Progress is how far a replay is.
type Progress struct {
	At       time.Duration // since the beginning of the run
	Length   time.Duration // of the run; 0 is not known
	Speed    float64       // multiple of the recording's; 0: as fast as possible
	Messages uint64        // played so far
	Started  bool          // a device has been opened
	Playing  bool          // neither paused nor at the end
	Ended    bool
}

// Progress returns how far it is. Any goroutine may call it.
func (r *Replay) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Progress{
		At: seconds(r.at), Length: seconds(r.length), Speed: r.speed, Messages: r.played,
		Started: r.state.started, Playing: r.state.started && r.playing && !r.state.ended, Ended: r.state.ended,
	}
}

// Play lets the replay go on, or pauses it, as a client of log:0 does. At the end of
// the recording only Seek goes on.
func (r *Replay) Play(on bool) {
	r.change(func() { r.playing = on })
}

// SetSpeed changes the multiple of the speed at which it was recorded; 0 is as fast as
// the slowest client takes it.
func (r *Replay) SetSpeed(speed float64) error {
	if !(speed >= 0) || math.IsInf(speed, 1) {
		return fmt.Errorf("replay: speed %v, expected 0 (as fast as possible) or more", speed)
	}
	r.change(func() { r.speed = speed })
	return nil
}

// Seek goes to a time since the beginning of the run. What came just before is sent
// at once, also while it is paused, so that clients see how things stood there.
func (r *Replay) Seek(at time.Duration) {
	r.change(func() {
		r.state.rewind, r.state.ended = true, false
		r.state.seek = max(0, min(at.Seconds(), r.length))
		r.at = r.state.seek
	})
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// changed wakes Run.
func (r *Replay) changed() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// open notes that a device was opened, the first of all or a further one.
func (r *Replay) open(p *Port) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.state.opened == 0 {
		r.state.first = now
	}
	r.state.opened++
	r.state.last = now
	p.everOpen.Store(true)
	r.changed()
}

// close notes that one was closed.
func (r *Replay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.opened--
	r.changed()
}

// Run plays until ctx ends, or that until which the files are read, and then returns
// nil. It can be called once. It begins when a device is opened, serves on after the
// end, and begins anew when all devices were closed and one is opened again, as
// Player's reader does.
func (r *Replay) Run(ctx context.Context) error {
	r.mu.Lock()
	again := r.ran
	r.ran = true
	r.mu.Unlock()
	if again {
		return errors.New("replay: Run was called before")
	}
	for ctx.Err() == nil {
		p, err := r.newPass(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, context.Canceled):
			// The files cannot be read any more as ctx has ended, or what it is derived
			// from, which ends a moment before it.
			if err == nil {
				p.end()
			}
			return nil
		case err != nil:
			return err
		}
		p.play()
		p.end()
	}
	return nil
}
