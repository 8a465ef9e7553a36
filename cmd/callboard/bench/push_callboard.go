package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"path/filepath"
	"sync"

	"callboard/bridge/benchtest"
	"callboard/player"
	"callboard/subscribe/protocol"
)

// callboard is the system that is measured: robots behind Player servers on
// TCP, a broker, subscribers.
type callboard struct {
	fleet  *benchtest.Fleet
	cancel context.CancelFunc
	fleets chan error
	broker func() error
	all    []*benchtest.Subscriber
	first  chan []byte // the first notification
	once   sync.Once
}

func newCallboard(ctx context.Context, c crowding, lasting bool, dir string, start startBroker, time0 clock, to *delays) (*callboard, error) {
	fleet, err := benchtest.NewFleetOn(c.robots, c.beams, func(int) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		return stampingListener{l, time0}, err
	})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	s := &callboard{fleet: fleet, cancel: cancel, fleets: make(chan error, 1), first: make(chan []byte, 1)}
	go func() { s.fleets <- fleet.Run(running) }()
	url, stop, err := start(ctx, filepath.Join(dir, "broker"), fleet.Addresses())
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.broker = stop
	if err := benchtest.Up(ctx, url, c.robots); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	for i := range c.subscribers {
		id := ""
		if lasting {
			id = fmt.Sprintf("subscriber-%d", i)
		}
		var conn net.Conn
		dial := func(ctx context.Context, network, address string) (_ net.Conn, err error) {
			conn, err = benchtest.DialStamped(ctx, network, address)
			return conn, err
		}
		one, err := benchtest.Attach(ctx, url, id, dial, func(text []byte) {
			to.take(time0, conn, text)
			s.once.Do(func() { s.first <- bytes.Clone(text) })
		})
		if err != nil {
			return nil, errors.Join(err, s.stop())
		}
		s.all = append(s.all, one)
		if err := one.Subscribe(ctx, protocol.Subscription{ID: "near", Condition: benchtest.Near}); err != nil {
			return nil, errors.Join(err, s.stop())
		}
	}
	return s, nil
}

func (s *callboard) publish(robot int) error {
	s.fleet.Publish(robot, true, 0)
	return nil
}

// sample returns the text of a notification.
func (s *callboard) sample(ctx context.Context) ([]byte, error) {
	if err := s.publish(0); err != nil {
		return nil, err
	}
	select {
	case text := <-s.first:
		return text, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *callboard) stop() error {
	var errs []error
	for _, one := range s.all {
		errs = append(errs, one.Close())
	}
	if s.broker != nil {
		errs = append(errs, s.broker())
	}
	s.cancel()
	return errors.Join(append(errs, <-s.fleets)...)
}

// servingBroker starts callboard serve, this program, as a process of its own.
func servingBroker(_ context.Context, dir string, players []string) (url string, stop func() error, err error) {
	args := []string{"serve", "--id", "bench", "--listen", "127.0.0.1:0", "--data", dir, "--log-level", "error"}
	for i, p := range players {
		args = append(args, "--player", fmt.Sprintf("r%d=%s", i, p))
	}
	url, process, err := startProgram(args...)
	if err != nil {
		return "", nil, err
	}
	return url, func() error { return terminate(process) }, nil
}

// stampingListener puts the time of their write into the readings that its
// connections send: a reading's time then tells when it was written.
type stampingListener struct {
	net.Listener
	clock clock
}

func (l stampingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &stampingConn{Conn: conn, clock: l.clock}, nil
}

type stampingConn struct {
	net.Conn
	clock  clock
	banner bool // it has been written
	copy   []byte
}

// Write takes whole messages, as the server writes them.
func (c *stampingConn) Write(b []byte) (int, error) {
	if !c.banner {
		c.banner = true
		return c.Conn.Write(b)
	}
	c.copy = append(c.copy[:0], b...)
	const timestamp = 24 // of the header
	for rest := c.copy; len(rest) > 0; {
		h, err := player.ParseHeader(rest)
		size := player.HeaderSize + int(h.Size)
		if err != nil || size > len(rest) {
			return 0, errors.Join(err, io.ErrShortWrite)
		}
		if h.Type == player.Data {
			binary.BigEndian.PutUint64(rest[timestamp:], math.Float64bits(c.clock.seconds()))
		}
		rest = rest[size:]
	}
	return c.Conn.Write(c.copy)
}
