// Package link carries the messages of the overlay between brokers: one
// connection with each neighbour, over TCP, mutual TLS or another Transport.
// See DESIGN.md.
package link

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/lograte"
	"callboard/bridge/overlay"
	"callboard/player/listener"
)

// Handler is told what happens on the links. Calls about one neighbour come
// one at a time and in order: Up, any number of Frame, Down, then Up of the
// next session.
type Handler interface {
	// Up says that a session has begun. Send takes frames for it from now on.
	Up(neighbour overlay.BrokerID, session uint64)
	// Frame hands over all that one step of the neighbour sent. The messages
	// are the handler's. A Frame that blocks holds the neighbour back, and Run
	// waits for it.
	Frame(neighbour overlay.BrokerID, session uint64, messages []overlay.Message)
	// Down says that the session has ended; what it still carried is lost.
	Down(neighbour overlay.BrokerID, session uint64)
}

// Config says how to link a broker with its neighbours.
type Config struct {
	Self       overlay.BrokerID // this broker's id; required
	Neighbours []Neighbour      // at first; see Set
	Listener   net.Listener     // where neighbours with lower ids connect; nil: none can. Run closes it
	Transport  Transport        // how they are reached; default TCP
	Heartbeat  time.Duration    // longest silence on a link; default 1 s
	Deadline   time.Duration    // silence or standstill that ends a session; default three heartbeats, of the slower side
	DialMin    time.Duration    // back-off between attempts to dial, from; default 0.1 s
	DialMax    time.Duration    // and up to; default 5 s
	Handshake  time.Duration    // longest time of dialing with handshake; default 5 s
	Registry   overlay.Mode     // of the network: a neighbour of another one is refused; default overlay.ModeOne
	Moving     bool             // neighbours come and go: that one is out of reach, or does not know this broker yet, is no warning
	Compress   bool             // ask for compression of all links; done if both sides ask
	QueueBytes int              // what may wait to be sent to a neighbour; when more does, the session ends; default 64 MiB
	MaxFrame   int              // longest frame taken from a neighbour, bytes; default 128 MiB
	Segments   []Segment        // that the broker is on; default none
	Handler    Handler          // required
	Votes      Votes            // serves pairs of brokers as their witness; default: none is served
	Logger     *slog.Logger     // default: discards
}

// Links are a broker's links with its neighbours.
type Links struct {
	cfg        Config
	neighbours atomic.Pointer[neighbours]
	sessions   atomic.Uint64 // numbers given
	attempts   atomic.Uint64 // dials made; begins with the time
	limit      *listener.Limit

	side          string        // of a pair, for Call
	takeOverAfter time.Duration // of that pair
	log           *lograte.Log  // of strangers
	wg            sync.WaitGroup
	segments      []*segment
	queueMu       sync.Mutex // guards the segments' queues

	mu      sync.Mutex
	running context.Context // of Run; nil before
	stopped bool
	leaving map[overlay.BrokerID]<-chan struct{} // neighbours given up whose link has not ended yet
}

// New checks the configuration. Nothing is opened before Run.
func New(cfg Config) (*Links, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("links of broker %q: %w", cfg.Self, err)
	}
	l := &Links{cfg: cfg, log: lograte.New(cfg.Logger), limit: listener.New(listener.Limits{}), leaving: map[overlay.BrokerID]<-chan struct{}{}}
	for _, s := range cfg.Segments {
		l.segments = append(l.segments, newSegment(l, s))
	}
	l.attempts.Store(uint64(time.Now().UnixMicro()))
	l.neighbours.Store(&neighbours{})
	if err := l.Set(cfg.Neighbours); err != nil {
		return nil, err
	}
	return l, nil
}

func (cfg *Config) complete() error {
	if err := checkID(cfg.Self); err != nil {
		return fmt.Errorf("own id: %w", err)
	}
	if cfg.Handler == nil {
		return errors.New("no handler")
	}
	if cfg.Transport == nil {
		cfg.Transport = TCP{}
	}
	setDefault(&cfg.Registry, overlay.ModeOne)
	setDefault(&cfg.Heartbeat, time.Second)
	setDefault(&cfg.Deadline, 3*cfg.Heartbeat)
	setDefault(&cfg.DialMin, 100*time.Millisecond)
	setDefault(&cfg.DialMax, max(5*time.Second, cfg.DialMin))
	setDefault(&cfg.Handshake, 5*time.Second)
	setDefault(&cfg.QueueBytes, 64<<20)
	setDefault(&cfg.MaxFrame, 128<<20)
	switch {
	case cfg.Heartbeat < 0 || cfg.DialMin < 0 || cfg.DialMax < cfg.DialMin || cfg.Handshake < 0 || cfg.QueueBytes < 0:
		return errors.New("a negative time or size, or a longest back-off below the shortest")
	case cfg.Deadline <= cfg.Heartbeat:
		return fmt.Errorf("a deadline of %v is not longer than the heartbeat of %v", cfg.Deadline, cfg.Heartbeat)
	case cfg.MaxFrame < minMaxFrame || cfg.MaxFrame > maxMaxFrame:
		return fmt.Errorf("frames of up to %d bytes; expected %d to %d", cfg.MaxFrame, minMaxFrame, maxMaxFrame)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Run keeps the links until ctx ends. It returns nil then, with every session
// ended and the handler told; or an error when the listener fails. It can be
// called once.
func (l *Links) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.mu.Lock()
	if l.running != nil {
		l.mu.Unlock()
		return fmt.Errorf("links of broker %q: Run was called before", l.cfg.Self)
	}
	l.running = ctx
	l.begin(l.neighbours.Load())
	l.mu.Unlock()
	var failed error
	if l.cfg.Listener != nil {
		l.wg.Go(func() {
			if failed = l.accept(ctx); failed != nil {
				stop(failed)
			}
		})
	}
	var broken error // of a segment
	var segments sync.WaitGroup
	segmenting, stopSegments := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSegments()
	for _, g := range l.segments {
		segments.Go(func() {
			if err := g.run(segmenting); err != nil {
				l.mu.Lock()
				broken = err
				l.mu.Unlock()
				stop(err)
			}
		})
	}
	<-ctx.Done()
	if l.cfg.Listener != nil {
		l.cfg.Listener.Close()
	}
	l.mu.Lock()
	l.stopped = true // nothing begins any more
	l.mu.Unlock()
	l.wg.Wait()
	stopSegments() // behind the sessions that they carry
	segments.Wait()
	l.log.Close()
	if failed == nil {
		failed = broken
	}
	if failed != nil {
		return fmt.Errorf("links of broker %q: %w", l.cfg.Self, failed)
	}
	return nil
}

// Send hands the frames of a step to the sessions that they are for. It never
// blocks. What is for a session that has ended is dropped and counted; a frame for
// which there is no room ends the session.
func (l *Links) Send(frames ...*overlay.Frame) {
	if len(l.segments) > 0 { // what one step says to several is seen together
		l.queueMu.Lock()
		defer l.queueMu.Unlock()
	}
	for _, frame := range frames {
		if len(frame.Messages) == 0 {
			continue
		}
		o := outgoing{messages: frame.Messages, weight: weigh(frame.Messages)}
		for _, to := range frame.To {
			if p := l.neighbour(to.Neighbour); p != nil {
				if g := p.send(to.Session, o); g != nil {
					select {
					case g.wake <- struct{}{}:
					default:
					}
				}
			}
		}
	}
}
