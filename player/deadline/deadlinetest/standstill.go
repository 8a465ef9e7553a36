// Package deadlinetest has connections on which a process finds itself as after
// a standstill.
package deadlinetest

import (
	"context"
	"net"
	"sync"
	"time"
)

// Standstill makes the deadlines of all its connections pass.
type Standstill struct {
	mu    sync.Mutex
	conns []net.Conn
}

// End is the end of a standstill: all deadlines that were set have passed,
// whatever has arrived meanwhile.
func (s *Standstill) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.SetDeadline(time.Unix(1, 0))
	}
}

func (s *Standstill) add(c net.Conn, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, c)
	return c, nil
}

// Listen returns a listener for the process that stands still.
func (s *Standstill) Listen(inner net.Listener) net.Listener { return &listener{inner, s} }

type listener struct {
	net.Listener
	standstill *Standstill
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) { return l.standstill.add(l.Listener.Accept()) }

// Dial returns a function that dials for the process that stands still.
func (s *Standstill) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return s.add(dial(ctx, network, address))
	}
}
