// Package link carries the messages of the overlay between brokers: one
// connection with each neighbour, over TCP, mutual TLS or memory. See DESIGN.md.
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
)

// Neighbour is another broker that this one has a link with. Of two
// neighbours the one with the lower id dials.
type Neighbour struct {
	ID      overlay.BrokerID
	Address string // host:port; needed where this broker dials
	// Compress asks for compression of this link, as Config.Compress does for all.
	Compress bool
}

// Handler is told what happens on the links. Calls about one neighbour come
// one at a time and in order: Up, any number of Frame, Down, then Up of the
// next session. A Frame that blocks holds the neighbour back.
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
	Self       overlay.BrokerID                                            // this broker's id; required
	Neighbours []Neighbour                                                 // all others with whom there is a link
	Listener   net.Listener                                                // where neighbours with lower ids connect; nil: none can. Run closes it
	TLS        *TLS                                                        // certificates for both directions; nil: none are asked for or shown
	Heartbeat  time.Duration                                               // longest silence on a link; default 1 s
	Deadline   time.Duration                                               // silence or standstill that ends a session; default three heartbeats, of the slower side
	Dial       func(ctx context.Context, address string) (net.Conn, error) // default TCP
	DialMin    time.Duration                                               // back-off between attempts to dial, from; default 0.1 s
	DialMax    time.Duration                                               // and up to; default 5 s
	Handshake  time.Duration                                               // longest time of dialing with handshake; default 5 s
	Compress   bool                                                        // ask for compression of all links; done if both sides ask
	QueueBytes int                                                         // what may wait to be sent to a neighbour; when more does, the session ends; default 64 MiB
	MaxFrame   int                                                         // longest frame taken from a neighbour, bytes; default 128 MiB
	Handler    Handler                                                     // required
	Logger     *slog.Logger                                                // default: discards
}

// Links are a broker's links with its neighbours.
type Links struct {
	cfg      Config
	peers    map[overlay.BrokerID]*peer
	sessions atomic.Uint64 // numbers given
	attempts atomic.Uint64 // dials made; begins with the time
	refused  atomic.Uint64 // connections that came in and were refused
	log      *lograte.Log  // of strangers
	running  atomic.Bool
	wg       sync.WaitGroup
}

// New checks the configuration. Nothing is opened before Run.
func New(cfg Config) (*Links, error) {
	if err := cfg.complete(); err != nil {
		return nil, fmt.Errorf("links of broker %q: %w", cfg.Self, err)
	}
	l := &Links{cfg: cfg, log: lograte.New(cfg.Logger), peers: make(map[overlay.BrokerID]*peer, len(cfg.Neighbours))}
	l.attempts.Store(uint64(time.Now().UnixMicro()))
	for _, n := range cfg.Neighbours {
		l.peers[n.ID] = newPeer(l, n)
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
	seen := map[overlay.BrokerID]bool{}
	for _, n := range cfg.Neighbours {
		switch err := checkID(n.ID); {
		case err != nil:
			return fmt.Errorf("neighbour %q: %w", n.ID, err)
		case n.ID == cfg.Self:
			return fmt.Errorf("neighbour %q has the broker's own id", n.ID)
		case seen[n.ID]:
			return fmt.Errorf("neighbour %q is listed twice", n.ID)
		case cfg.Self < n.ID && n.Address == "":
			return fmt.Errorf("neighbour %q has no address; expected host:port, since the lower id (%q) dials", n.ID, cfg.Self)
		case n.ID < cfg.Self && cfg.Listener == nil:
			return fmt.Errorf("neighbour %q dials, since its id is the lower one, but there is nothing to listen on", n.ID)
		}
		seen[n.ID] = true
	}
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
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", address)
		}
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
	if !l.running.CompareAndSwap(false, true) {
		return fmt.Errorf("links of broker %q: Run was called before", l.cfg.Self)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	for _, n := range l.cfg.Neighbours { // in the order of the configuration
		p := l.peers[n.ID]
		l.wg.Go(func() { p.run(ctx) })
	}
	if l.cfg.Listener != nil {
		l.wg.Go(func() {
			if failed = l.accept(ctx); failed != nil {
				cancel()
			}
		})
	}
	<-ctx.Done()
	if l.cfg.Listener != nil {
		l.cfg.Listener.Close()
	}
	l.wg.Wait()
	l.log.Close()
	if failed != nil {
		return fmt.Errorf("links of broker %q: %w", l.cfg.Self, failed)
	}
	return nil
}

// Send hands a frame to the sessions that it is for. It never blocks. What is for a session that has ended is dropped and
// counted; a frame for which there is no room ends the session.
func (l *Links) Send(frame *overlay.Frame) {
	if len(frame.Messages) == 0 {
		return
	}
	o := outgoing{frame.Messages, weigh(frame.Messages)}
	for _, to := range frame.To {
		if p := l.peers[to.Neighbour]; p != nil {
			p.send(to.Session, o)
		}
	}
}
