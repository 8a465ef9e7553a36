package server

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// PipeListener is a listener in memory: Dial makes a connection that Accept
// gives the other end of. Its connections are buffered as sockets are (a write
// returns before it is read), have deadlines and can be half-closed.
type PipeListener struct {
	addr    pipeAddr
	buffer  int
	backlog chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

// NewPipeListener makes a listener whose address reads name. buffer is what
// each direction of a connection holds before writes block, in bytes; 0 means
// 256 KiB. Memory is taken as it is needed.
func NewPipeListener(name string, buffer int) *PipeListener {
	if buffer <= 0 {
		buffer = 256 << 10
	}
	return &PipeListener{
		addr: pipeAddr(name), buffer: buffer,
		backlog: make(chan net.Conn, 128), closed: make(chan struct{}),
	}
}

// Dial connects; it waits only while 128 connections have not been accepted.
// The address is ignored: the signature is that of dialers that are configured
// with one.
func (l *PipeListener) Dial(ctx context.Context, address string) (net.Conn, error) {
	there, back := newPipeHalf(l.buffer), newPipeHalf(l.buffer)
	near := &pipeConn{local: "dialed", remote: l.addr, in: back, out: there}
	far := &pipeConn{local: l.addr, remote: "dialed", in: there, out: back}
	refused := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "pipe", Addr: l.addr, Err: err}
	}
	select {
	case <-l.closed:
		return refused(net.ErrClosed)
	default:
	}
	select {
	case l.backlog <- far:
	case <-l.closed:
		return refused(net.ErrClosed)
	case <-ctx.Done():
		return refused(ctx.Err())
	}
	select {
	case <-l.closed: // nobody may come for it
		l.drain()
	default:
	}
	return near, nil
}

// Accept waits for the next Dial.
func (l *PipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.backlog:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "pipe", Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close ends Accept and Dial; accepted connections stay.
func (l *PipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	l.drain()
	return nil
}

func (l *PipeListener) drain() {
	for {
		select {
		case c := <-l.backlog:
			c.Close()
		default:
			return
		}
	}
}

// Addr is of network "pipe".
func (l *PipeListener) Addr() net.Addr { return l.addr }

type pipeAddr string

func (a pipeAddr) Network() string { return "pipe" }
func (a pipeAddr) String() string  { return string(a) }

// pipeConn is one end of a connection in memory.
type pipeConn struct {
	local, remote pipeAddr
	in, out       *pipeHalf
}

func (c *pipeConn) LocalAddr() net.Addr  { return c.local }
func (c *pipeConn) RemoteAddr() net.Addr { return c.remote }

func (c *pipeConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.named("read", err)
}

func (c *pipeConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.named("write", err)
}

// Close ends both directions. What was written can still be read by the peer.
func (c *pipeConn) Close() error {
	c.out.endWriting(net.ErrClosed)
	c.in.endReading()
	return nil
}

// CloseWrite ends the direction towards the peer, which reads EOF after all
// that was written.
func (c *pipeConn) CloseWrite() error {
	c.out.endWriting(net.ErrClosed)
	return nil
}

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.in.setReadDeadline(t)
	c.out.setWriteDeadline(t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error  { c.in.setReadDeadline(t); return nil }
func (c *pipeConn) SetWriteDeadline(t time.Time) error { c.out.setWriteDeadline(t); return nil }

func (c *pipeConn) named(op string, err error) error {
	if err == nil || isEOF(err) {
		return err
	}
	return &net.OpError{Op: op, Net: "pipe", Source: c.local, Addr: c.remote, Err: err}
}

// String is for test failures.
func (c *pipeConn) String() string { return fmt.Sprintf("%s-%s", c.local, c.remote) }
