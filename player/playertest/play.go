package playertest

import (
	"testing"
	"time"
)

// Options change how Play delivers a capture's readings.
type Options struct {
	// Open names the devices, as (interface<<16 | index), whose opening starts
	// the readings. Default: all that the capture has readings of.
	Open []uint32
	// Interval is the time between two readings in PUSH mode, or after which a
	// PULL round ends. Default 0: as fast as the client takes them.
	Interval time.Duration
	// Round is how many readings a PULL round delivers. Default 0: as in the
	// capture (readings between two SYNCHs), 16 if it has no SYNCH.
	Round int
	// Loop repeats the readings, with timestamps going on, until closed.
	Loop bool
}

// Server is a running test server.
type Server struct{}

// Addr is where it listens, 127.0.0.1:port.
func (s *Server) Addr() string { return "" }

// Port is the port it listens on.
func (s *Server) Port() uint32 { return 0 }

// Delivered is closed when a connection has been sent all readings.
func (s *Server) Delivered() <-chan struct{} { return nil }

// Close ends all connections and waits; tests need not call it.
func (s *Server) Close() {}

// Play serves the capture on a free loopback port until the test ends. Every
// connection gets the readings from the beginning.
func Play(t testing.TB, c *Capture, o Options) *Server { return nil }
