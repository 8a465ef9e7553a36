package server

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"callboard/player"
	"callboard/player/listener"
)

// Config says what a Server serves and where.
type Config struct {
	// Listener is where clients connect: TCP, or a PipeListener. Required; Run
	// closes it.
	Listener net.Listener
	// Drivers provide the devices, listed in this order; an interface and index
	// may occur once. At most player.MaxDevices devices.
	Drivers []Driver
	// Port goes into the robot field of all addresses. Default: the listener's
	// TCP port; player.DefaultPort over a pipe.
	Port uint32
	// Host goes into the host field of all addresses, as Player writes it.
	// Default: the listener's IPv4 address, or 127.0.0.1 if it has none.
	Host uint32
	// Clock returns the time of replies in s: simulated time, the log's time, or
	// Unix time, which is the default. It is called from many goroutines.
	Clock func() float64
	// Version stands behind "Player v." in the banner, at most 21 bytes.
	// Default "3.1.1-callboard".
	Version string
	// QueueLength is how many messages wait for a client before new readings
	// are dropped for it. Default player.QueueLength.
	QueueLength int
	// QueueBytes bounds the same in bytes. Default 64 MiB: two of the largest
	// messages.
	QueueBytes int
	// Limit bounds the connections, of several servers together if they are given
	// the same. A client that has no device open may have to give way to a new
	// one. Default: one of the server's own, with default Limits.
	Limit *listener.Limit
	// MaxBody is the largest body taken from a client, in bytes. A larger one
	// ends the connection. Default player.MaxBody.
	MaxBody uint32
	// AnswerTimeout is how long a driver may take to answer a request before
	// the client gets a NACK. Default 4 s (stock clients wait 5 s).
	AnswerTimeout time.Duration
	// WriteTimeout is how long a client may take no byte of what is written to
	// it before it is disconnected. Default 60 s.
	WriteTimeout time.Duration
	// Logger takes what happens to connections. Default: discarded.
	Logger *slog.Logger
}

const (
	bannerPrefix   = "Player v."
	defaultVersion = "3.1.1-callboard"
	localhost      = 0x0100007f // 127.0.0.1 as Player writes it
)

// Server serves the devices of its drivers on one port.
type Server struct {
	cfg          Config
	log          *slog.Logger
	host, port   uint32
	banner       [player.BannerSize]byte
	devices      atomic.Pointer[devices]
	counters     counters
	batches      atomic.Int32 // running
	pacer        pacer
	crowded      atomic.Int32 // connections that have little room
	backpressure backpressure // which

	providing sync.Mutex
	provided  [][]DeviceInfo // by driver

	mu      sync.Mutex
	ran     bool
	stopped bool
	conns   map[*conn]struct{}
	serving sync.WaitGroup
}

// New checks cfg, asks the drivers for their devices and attaches them.
// Clients are served once Run runs.
func New(cfg Config) (*Server, error) {
	if cfg.Listener == nil {
		return nil, errors.New("server: no Listener")
	}
	cfg.setDefaults()
	if room := player.BannerSize - 2 - len(bannerPrefix); len(cfg.Version) > room {
		return nil, fmt.Errorf("server: version %q has %d bytes, expected at most %d", cfg.Version, len(cfg.Version), room)
	}
	if cfg.MaxBody > player.MaxBody {
		return nil, fmt.Errorf("server: MaxBody is %d, expected at most %d", cfg.MaxBody, player.MaxBody)
	}
	s := &Server{cfg: cfg, log: cfg.Logger, host: cfg.Host, port: cfg.Port, conns: map[*conn]struct{}{}}
	copy(s.banner[:], bannerPrefix+cfg.Version)
	if err := s.collect(cfg.Drivers); err != nil {
		return nil, err
	}
	for i, d := range cfg.Drivers {
		d.Attach(publisher{s, i})
	}
	return s, nil
}

func (cfg *Config) setDefaults() {
	tcp, _ := cfg.Listener.Addr().(*net.TCPAddr)
	if cfg.Port == 0 {
		cfg.Port = player.DefaultPort
		if tcp != nil {
			cfg.Port = uint32(tcp.Port)
		}
	}
	if cfg.Host == 0 {
		cfg.Host = localhost
		if tcp != nil {
			if ip := tcp.IP.To4(); ip != nil && !ip.IsUnspecified() {
				cfg.Host = binary.LittleEndian.Uint32(ip)
			}
		}
	}
	if cfg.Clock == nil {
		cfg.Clock = func() float64 { return float64(time.Now().UnixNano()) / 1e9 }
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	setDefault(&cfg.Version, defaultVersion)
	setDefault(&cfg.QueueLength, player.QueueLength)
	setDefault(&cfg.QueueBytes, 2*player.MaxMessage)
	if cfg.Limit == nil {
		cfg.Limit = listener.New(listener.Limits{})
	}
	setDefault(&cfg.MaxBody, player.MaxBody)
	setDefault(&cfg.AnswerTimeout, 4*time.Second)
	setDefault(&cfg.WriteTimeout, time.Minute)
}

func setDefault[T comparable](v *T, to T) {
	var zero T
	if *v == zero {
		*v = to
	}
}

// Addr is the listener's address.
func (s *Server) Addr() net.Addr { return s.cfg.Listener.Addr() }

// Port is the robot field of the server's addresses.
func (s *Server) Port() uint32 { return s.port }

// Run serves clients and runs the drivers that are Runners until ctx ends, the
// listener fails or a driver does. It returns when everything it started has
// ended; nil if ctx ended it. It can be called once.
func (s *Server) Run(ctx context.Context) error {
	s.mu.Lock()
	again := s.ran
	s.ran = true
	s.mu.Unlock()
	if again {
		return errors.New("server: Run was called before")
	}
	group, inner := errgroup.WithContext(ctx)
	for _, d := range s.cfg.Drivers {
		if r, ok := d.(Runner); ok {
			group.Go(func() error {
				if err := r.Run(inner); err != nil && inner.Err() == nil {
					return fmt.Errorf("server: driver on port %d: %w", s.port, err)
				}
				return nil
			})
		}
	}
	group.Go(func() error { return s.accept(inner) })
	group.Go(func() error {
		<-inner.Done()
		s.stop()
		return nil
	})
	err := group.Wait()
	s.serving.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// stop ends the listener and all connections.
func (s *Server) stop() {
	s.cfg.Listener.Close()
	s.pacer.stop()
	s.mu.Lock()
	s.stopped = true
	conns := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.abort()
	}
}

// accept serves each connection. A listener that fails for a while (too many
// open files) is tried again; one that is closed ends the server.
func (s *Server) accept(ctx context.Context) error {
	const longest = time.Second
	pause := 5 * time.Millisecond
	limited := s.cfg.Limit.Listen(s.cfg.Listener)
	for {
		nc, err := limited.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				nc.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("server: listening on %s: %w", s.Addr(), err)
		case err != nil:
			s.log.Warn("cannot accept a Player client", slog.String("address", s.Addr().String()), slog.Any("error", err))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, longest)
			continue
		}
		pause = 5 * time.Millisecond
		s.welcome(nc.(*listener.Conn))
	}
}

// welcome starts serving a connection.
func (s *Server) welcome(nc *listener.Conn) {
	if tcp, ok := nc.Conn.(*net.TCPConn); ok {
		tcp.SetNoDelay(true)
	}
	c := newConn(s, nc)
	s.mu.Lock()
	stopped := s.stopped
	if !stopped {
		s.conns[c] = struct{}{}
		s.serving.Add(1)
	}
	s.mu.Unlock()
	if stopped {
		nc.Close()
		return
	}
	s.counters.accepted.Add(1)
	go func() {
		defer s.serving.Done()
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
}

func errTooLarge(n int) error {
	return fmt.Errorf("server: message of %d bytes, expected at most %d", n, player.MaxMessage)
}
