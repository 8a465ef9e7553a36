package server

import "syscall"

// direct writes to a socket as far as that is possible at once.
type direct struct {
	raw     syscall.RawConn
	attempt func(fd uintptr) // made once: it allocates
	b       []byte           // to write
	n       int              // of it that the kernel took
}

// newDirect returns nil for a connection that is no socket.
func newDirect(conn any) *direct {
	socket, ok := conn.(syscall.Conn)
	if !ok || !canWriteOnce {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	d := &direct{raw: raw}
	d.attempt = func(fd uintptr) { d.n = writeOnce(fd, d.b) }
	return d
}

// write returns how many bytes of b were taken; it never waits. What is wrong
// with a connection the next ordinary write tells.
func (d *direct) write(b []byte) int {
	// Control and not Write: nobody else writes meanwhile (conn.writing sees to
	// that), and the socket's deadline is left alone.
	d.b, d.n = b, 0
	_ = d.raw.Control(d.attempt)
	d.b = nil
	return max(d.n, 0)
}

// flush writes what is due without waiting and without the writing goroutine,
// which is idle: waking it costs as much as the write itself. What the socket
// does not take now is left to that goroutine, as is what is large. c.mu is
// held.
func (c *conn) flush(mayEnd bool) {
	if c.q.bytes > chunk {
		c.wake.Signal()
		return
	}
	c.batch = c.q.take(c.batch[:0], chunk, mayEnd)
	if len(c.batch) == 0 {
		return
	}
	bp, out := (*[]byte)(nil), c.batch[0].raw
	if len(c.batch) > 1 {
		bp = chunks.Get().(*[]byte)
		out = (*bp)[:0]
		for _, m := range c.batch {
			out = append(out, m.raw...)
		}
	}
	c.measure()
	counters := &c.server.counters
	counters.messagesOut.Add(uint64(len(c.batch)))
	counters.bytesOut.Add(uint64(len(out)))
	if n := c.direct.write(out); n < len(out) {
		c.rest = append(c.rest[:0], out[n:]...)
		c.wake.Signal()
	}
	if bp != nil {
		*bp = out[:0]
		chunks.Put(bp)
	}
	for i, m := range c.batch {
		m.release()
		c.batch[i] = nil
	}
	c.capacity.Signal()
}
