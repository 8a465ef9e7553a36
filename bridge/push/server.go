// Package push serves robot programs: callboard.v1 over WebSocket at /ws, the
// page, /healthz, /readyz, /metrics and /api. It decodes what clients say,
// checks who they are, and hands the rest to a Broker; what the broker sends
// it writes, one goroutine a session. See DESIGN.md.
package push

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"time"

	"crypto/tls"

	"github.com/prometheus/client_golang/prometheus"
)

// Config is what a Server serves, and how.
type Config struct {
	Broker   Broker       // required
	ID       string       // the broker's id, in heartbeats
	Listener net.Listener // required for Run; closed by it
	TLS      *tls.Config  // nil: plain HTTP; see LoadTLS
	Tokens   []Token      // none: everyone may do everything

	Page    fs.FS                            // static files at /; nil: none
	World   func(name string) ([]byte, bool) // the floor plan's JSON at /api/worlds/NAME; nil: none
	Ready   func() error                     // /readyz: nil or why not; nil: always ready
	Metrics *prometheus.Registry             // served at /metrics, callboard_push_* are added; nil: an own one

	Heartbeat    time.Duration // between heartbeat messages; default 1 s
	HelloTimeout time.Duration // in which hello must begin; default 10 s
	StallTimeout time.Duration // in which a write must make some progress; default 30 s
	PingInterval time.Duration // between pings; a client silent for three is gone; default 15 s
	MaxSessions  int           // WebSocket sessions at a time; default 10,000
	Logger       *slog.Logger  // default: discard
}

// Server serves one broker's clients.
type Server struct {
	config Config
}

// New checks the configuration and makes a server.
func New(c Config) (*Server, error) {
	if c.Broker == nil {
		return nil, errors.New("push: no broker given")
	}
	return &Server{config: c}, nil
}

// Handler gives the HTTP handler, for use without Run.
func (s *Server) Handler() http.Handler { return http.NotFoundHandler() }

// Run serves on the listener until ctx ends, then closes all sessions (close
// status 1001) and waits for them, 4 s at most.
func (s *Server) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// LoadTLS makes a TLS configuration (TLS 1.2 or later) from PEM files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}
