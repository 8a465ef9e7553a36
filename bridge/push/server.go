// Package push serves robot programs: WebSockets, on which dialects are spoken,
// the page, /healthz, /readyz, /metrics and /api. It has the sockets, and checks
// who clients are and what they may do; the rest is the dialect's and the
// broker's. See DESIGN.md.
package push

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/lograte"
	"callboard/bridge/metric"
	"callboard/bridge/push/callboardv1"
	"callboard/bridge/push/foxglove"
	"callboard/bridge/push/rosbridge"
	"callboard/bridge/push/rosgraph"
	"callboard/player/deadline"
	"callboard/player/floorplan"
	"callboard/player/listener"
	"callboard/player/regular"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/semaphore"
)

// Config is what a Server serves, and how.
type Config struct {
	Broker   attach.Broker // required
	ID       string        // the broker's, for whoever is asked for a token
	Listener net.Listener  // required; closed by Run
	TLS      *tls.Config   // nil: plain HTTP; see LoadTLS
	Tokens   []Token       // none: everyone may do everything
	Origins  []string      // of pages of others that may use the WebSocket and the API, as https://HOST[:PORT]
	// Peers returns the addresses of the network's brokers, whose pages may open the
	// WebSocket as ours do: they come here when their own broker is gone; nil: none.
	Peers func(context.Context) []string
	Hosts []string // names that requests may use beside localhost and addresses, as when a proxy passes its own on; matters without tokens only

	Page fs.FS // static files at /; nil: none
	// World returns the floor plan's JSON at /api/worlds/NAME, if a robot that the
	// grant covers is there; nil: none.
	World func(ctx context.Context, name string, grant attach.Grant) ([]byte, bool)
	// Grid returns the map of a world in cells, nil if there is none such: then ROS
	// programs have what World draws. nil: there are none.
	Grid func(world string) *floorplan.Grid
	// Words returns what conditions may name, at /api/words; nil: there is nothing.
	Words func() any
	// Extra adds objects at /api/NAME, for those who may see all robots: what to
	// give when asked; nil: none.
	Extra map[string]func() any
	// Actions are done for POST /api/NAME, for those who may command all robots. Each
	// gets the request's body and returns what to answer (nil: nothing), or why it is
	// not done; nil: none.
	Actions map[string]func(ctx context.Context, body []byte) (any, error)
	// Pair is where the other side of a pair of brokers connects, at PairPath; nil:
	// nowhere.
	Pair     http.Handler
	PairPath string
	Ready    func() error // /readyz: nil or why not; nil: always ready
	Metrics  *metric.Set  // served at /metrics, callboard_push_* are added; nil: an own one

	HelloTimeout     time.Duration // in which hello must begin; default 10 s
	StallTimeout     time.Duration // in which a write must make some progress; default 30 s
	PingInterval     time.Duration // between pings; a client silent for three is gone; default 15 s
	MaxSessions      int           // WebSocket connections at a time that have said hello; default 10,000, a quarter from one address
	MaxSubscriptions int           // in one hello; default 10,000
	Memory           int64         // bytes; an eighth is for large messages that come in, 16 to 128 MiB; default 1 GiB
	Logger           *slog.Logger  // default: discard

	dialects     map[string]attach.Dialect // by path; other ones in tests
	maxHello     int                       // bytes; protocol.MaxHello, less in tests
	messageGrace time.Duration             // for one message to come whole, beside what its bytes take at minPace; less in tests
	limits       listener.Limits           // of connections, beside MaxSessions; other ones in tests
}

const shutdownTimeout = 4 * time.Second // for sessions to end by themselves

// withDefaults fills what was left out.
func (c Config) withDefaults() (Config, error) {
	if c.Broker == nil || c.Listener == nil {
		return c, errors.New("push: Broker and Listener must be given")
	}
	for i, t := range c.Tokens {
		if t.Secret == "" {
			return c, fmt.Errorf("push: token %d (%s) has no secret", i, t.Grant.Token)
		}
	}
	positive := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	positive(&c.HelloTimeout, 10*time.Second)
	positive(&c.StallTimeout, 30*time.Second)
	positive(&c.PingInterval, 15*time.Second)
	if c.MaxSessions <= 0 {
		c.MaxSessions = 10_000
	}
	if c.MaxSubscriptions <= 0 {
		c.MaxSubscriptions = 10_000
	}
	if c.Memory <= 0 {
		c.Memory = 1 << 30
	}
	positive(&c.messageGrace, messageGrace)
	if c.maxHello == 0 {
		c.maxHello = protocol.MaxHello
	}
	if c.Metrics == nil {
		c.Metrics = metric.New()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Server serves one broker's clients.
type Server struct {
	config       Config
	tokens       *tokens
	metrics      *metrics
	buffers      buffers
	messages     messages
	writers      writers
	deflater     deflater
	burst        burst
	writeBuffers sync.Pool
	graph        *rosgraph.Graph     // of the dialects for ROS programs; nil: there are none
	limit        *listener.Limit     // of connections
	log          *lograte.Log        // of clients
	large        *semaphore.Weighted // bytes of messages above protocol.MaxFirst
	maxLarge     int64               // how many there are
	decoded      *semaphore.Weighted // bytes of them that are being decoded

	sessionContext context.Context // ends when sessions are cut off
	cutOff         context.CancelFunc

	mu       sync.Mutex
	sessions map[*session]struct{}
	closing  bool
	running  sync.WaitGroup
}

// New checks the configuration and makes a server.
func New(c Config) (*Server, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: c, log: lograte.New(c.Logger), tokens: newTokens(c.Tokens), metrics: newMetrics(c.Metrics),
		maxLarge: min(max(c.Memory/8, minLarge), maxLarge), decoded: semaphore.NewWeighted(maxDecoded), sessions: map[*session]struct{}{},
	}
	if s.config.dialects == nil {
		s.graph = rosgraph.New(rosgraph.Config{Broker: c.Broker, World: c.World, Grid: c.Grid, Logger: c.Logger})
		s.config.dialects = map[string]attach.Dialect{
			"/ws":        callboardv1.New(c.MaxSubscriptions),
			"/rosbridge": rosbridge.New(s.graph, c.MaxSubscriptions),
			"/foxglove":  foxglove.New(s.graph, "callboard "+c.ID, c.MaxSubscriptions),
		}
	}
	s.large = semaphore.NewWeighted(s.maxLarge)
	c.limits.Connections = c.MaxSessions
	s.limit = listener.New(c.limits)
	s.measureConnections(c.Metrics)
	s.sessionContext, s.cutOff = context.WithCancel(context.Background())
	s.writers = writers{next: make(chan *session), end: s.sessionContext.Done()}
	return s, nil
}

// Run serves on the listener until ctx ends, then closes all sessions (close
// status 1001) and waits for them, 4 s at most before they are cut off.
func (s *Server) Run(ctx context.Context) error {
	defer s.log.Close()
	defer s.burst.close()
	defer s.cutOff()
	limited := s.limit.Listen(deadline.Listen(s.config.Listener))
	if s.config.TLS != nil {
		secure := s.config.TLS.Clone()
		secure.NextProtos = []string{"http/1.1"} // WebSocket needs it
		limited = tls.NewListener(limited, secure)
	}
	server := &http.Server{
		Handler:           busy(s.handler()),
		ConnContext:       withConn,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.config.Logger.Handler(), slog.LevelDebug),
	}
	defer s.runGraph()()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(limited) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	s.shutdown(server)
	if err == nil {
		err = <-failed
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("push: serving on %s: %w", s.config.Listener.Addr(), err)
}

// runGraph runs the graph until what it returns is called.
func (s *Server) runGraph() (stop func()) {
	if s.graph == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.graph.Run(ctx) // it ends with ctx
	}()
	return func() {
		cancel()
		<-done
	}
}

// shutdown ends everything: politely, then by force.
func (s *Server) shutdown(server *http.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	for _, session := range s.close() {
		session.outbox.Close(protocol.Unavailable, "the broker is shutting down")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.running.Wait()
	}()
	if err := server.Shutdown(ctx); err != nil {
		server.Close()
	}
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	s.cutOff()
	for _, session := range s.close() {
		session.raw.Close()
	}
	<-done
}

// close lets no more sessions in and returns those that are there.
func (s *Server) close() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	all := make([]*session, 0, len(s.sessions))
	for session := range s.sessions {
		all = append(all, session)
	}
	return all
}

// enter lets a session begin, which calls s.running.Done at its end.
func (s *Server) enter() (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.running.Add(1)
	return true
}

// add makes a session known to shutdown, which may have begun meanwhile.
func (s *Server) add(session *session) {
	s.mu.Lock()
	s.sessions[session] = struct{}{}
	closing := s.closing
	s.mu.Unlock()
	if closing {
		session.outbox.Close(protocol.Unavailable, "the broker is shutting down")
	}
}

func (s *Server) remove(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
}

// LoadTLS makes a TLS configuration (TLS 1.2 or later) from PEM files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	cert, err := regular.KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("push: loading certificate %s: %w", certFile, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}
