package playertest

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Options change how Play delivers a capture's readings.
type Options struct {
	// Open names the devices (see Device) whose opening starts the readings.
	// Default: all that the capture has readings of. Readings of devices that
	// are not open then are left out.
	Open []uint32
	// Interval is the time between two readings in PUSH mode and between two
	// rounds in PULL mode. Default 0: as fast as the client takes them.
	Interval time.Duration
	// Round is how many readings a PULL round delivers. Default 0: as in the
	// capture (up to its SYNCHs), 16 if it has no SYNCH.
	Round int
	// Leak sends a reading before each answer in PULL mode without a pending
	// round, as the real server does when readings wait.
	Leak bool
	// Loop repeats the readings, with timestamps going on, until closed.
	Loop bool
}

// Server is a running test server.
type Server struct {
	t        testing.TB
	listener net.Listener
	wg       sync.WaitGroup

	mu        sync.Mutex
	conns     map[net.Conn]bool
	accepted  int
	closed    bool
	received  []Message
	delivered chan struct{}
}

// listen serves each connection with serve until the test ends.
func listen(t testing.TB) *Server {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("playertest: %v", err)
	}
	s := &Server{t: t, listener: l, conns: map[net.Conn]bool{}, delivered: make(chan struct{})}
	t.Cleanup(s.Close)
	return s
}

// run accepts connections.
func (s *Server) run(serve func(net.Conn)) *Server {
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			if s.closed {
				s.mu.Unlock()
				c.Close()
				return
			}
			s.conns[c] = true
			s.accepted++
			s.wg.Add(1)
			s.mu.Unlock()
			go func() {
				defer s.wg.Done()
				serve(c)
				c.Close()
				s.mu.Lock()
				delete(s.conns, c)
				s.mu.Unlock()
			}()
		}
	}()
	return s
}

// Addr is where it listens, 127.0.0.1:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Port is the port it listens on.
func (s *Server) Port() uint32 { return uint32(s.listener.Addr().(*net.TCPAddr).Port) }

// Delivered is closed when a connection has been sent all readings.
func (s *Server) Delivered() <-chan struct{} { return s.delivered }

// Received returns all messages that clients have sent so far.
func (s *Server) Received() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Accepted counts the connections so far.
func (s *Server) Accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Hangup closes all connections; clients may connect again.
func (s *Server) Hangup() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Close ends the server and waits; tests need not call it.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.listener.Close()
	s.Hangup()
	s.wg.Wait()
}

func (s *Server) note(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, m)
}

func (s *Server) finished() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.delivered:
	default:
		close(s.delivered)
	}
}

// Play serves the capture on a free loopback port until the test ends. Every
// connection gets the readings from the beginning. A request that crashes or
// jams a real server fails the test.
//
// Requests to devices are answered as recorded, in any order; what was not
// recorded gets a NACK, and silence if the device is unknown, as from the real
// server. The device list, driver information and the opening of devices follow
// from what the capture shows of the server. Replace rules are acknowledged and
// have no effect. Addresses are those of this server.
func Play(t testing.TB, c *Capture, o Options) *Server {
	t.Helper()
	s := listen(t)
	rec := record(c)
	rec.rounds = cutRounds(c, o.Round)
	rec.lap = lap(c.Data())
	if o.Open == nil {
		for _, m := range c.Data() {
			if !slices.Contains(o.Open, m.Device()) {
				o.Open = append(o.Open, m.Device())
			}
		}
	}
	return s.run(func(nc net.Conn) { newPlayback(s, rec, o, nc).run() })
}

// readMessage reads one message; its size is checked by the caller's limit.
func readMessage(r io.Reader, limit uint32) (Message, error) {
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return Message{}, err
	}
	size := u32(head, 36)
	if size > limit {
		return Message{}, errSize
	}
	raw := append(head, make([]byte, size)...)
	if _, err := io.ReadFull(r, raw[headerSize:]); err != nil {
		return Message{}, err
	}
	return Cut(raw, 0)[0], nil
}

var errSize = errors.New("playertest: a message larger than the real server takes")

// message makes one for the wire.
func message(port uint32, k kind, typ uint8, at float64, seq uint32, body []byte) []byte {
	raw := make([]byte, headerSize, headerSize+len(body))
	putU32(raw, 8, uint32(k.interf))
	putU32(raw, 12, uint32(k.index))
	putU32(raw, 16, uint32(typ))
	putU32(raw, 20, uint32(k.subtype))
	binary.BigEndian.PutUint64(raw[24:], math.Float64bits(at))
	putU32(raw, 32, seq)
	putU32(raw, 36, uint32(len(body)))
	raw = append(raw, body...)
	address(raw, port)
	return raw
}

const localhost = 0x0100007f

// address writes this server's host and port at the start of b.
func address(b []byte, port uint32) {
	putU32(b, 0, localhost)
	putU32(b, 4, port)
}
