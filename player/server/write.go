package server

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"

	"callboard/player/deadline"
)

// chunk is the most that one write takes, in bytes. A PULL round of ordinary
// readings fits: ACK, readings and SYNCH leave together.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any {
	b := make([]byte, 0, chunk)
	return &b
}}

// write sends the banner, then whatever is due, until the connection is over
// or, draining, all that was asked for is answered.
func (c *conn) write() {
	w := progressWriter{c: c, to: deadline.New(c.nc)}
	if err := w.write(c.server.banner[:]); err != nil {
		c.failed(err)
		return
	}
	var batch []*message
	var rest []byte
	for {
		rest, batch = c.take(rest[:0], batch[:0])
		if len(batch) == 0 && len(rest) == 0 {
			return
		}
		err := w.write(rest)
		if err == nil {
			err = w.send(batch)
		}
		if err != nil {
			c.failed(err)
			return
		}
	}
}

// take waits for messages that are due; none means the end. The rest of a write
// that was not complete comes first.
func (c *conn) take(rest []byte, batch []*message) ([]byte, []*message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	for !c.over {
		if len(c.rest) > 0 {
			rest, c.rest = c.rest, rest
			c.writing = true
			return rest, batch
		}
		mayEnd := c.server.batches.Load() == 0 // one look: a batch may begin any time
		if c.due(mayEnd) {
			batch = c.q.take(batch, chunk, mayEnd)
			c.measure()
			c.capacity.Signal()
			c.writing = true
			return rest, batch
		}
		if c.draining && len(c.pending) == 0 {
			break
		}
		c.wake.Wait()
	}
	return nil, nil
}

// failed ends the connection after a write that failed.
func (c *conn) failed(err error) {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.server.counters.stalled.Add(1)
		c.log.Warn("Player client takes nothing, disconnected", slog.Duration("for", c.server.cfg.WriteTimeout))
	}
	c.abort()
}

// progressWriter writes with a deadline that measures progress: a write fails
// only if no byte was taken for WriteTimeout.
type progressWriter struct {
	c   *conn
	to  net.Conn
	set time.Time // when the deadline was set
}

// send writes the messages together, as far as they fit a chunk, and releases
// them.
func (w *progressWriter) send(batch []*message) error {
	if len(batch) == 0 {
		return nil
	}
	counters := &w.c.server.counters
	bp := chunks.Get().(*[]byte)
	buf, total := (*bp)[:0], 0
	var err error
	for i, m := range batch {
		total += len(m.raw)
		if len(batch) == 1 {
			err = w.write(m.raw) // no copy, and perhaps larger than a chunk
		} else {
			buf = append(buf, m.raw...)
		}
		m.release()
		batch[i] = nil
	}
	if err == nil && len(buf) > 0 {
		err = w.write(buf)
	}
	*bp = buf[:0]
	chunks.Put(bp)
	if err == nil {
		counters.messagesOut.Add(uint64(len(batch)))
		counters.bytesOut.Add(uint64(total))
	}
	return err
}

func (w *progressWriter) write(b []byte) error {
	timeout := w.c.server.cfg.WriteTimeout
	for len(b) > 0 {
		if now := time.Now(); now.Sub(w.set) > timeout/8 {
			w.set = now
			if err := w.to.SetWriteDeadline(now.Add(timeout)); err != nil {
				return err
			}
		}
		n, err := w.to.Write(b)
		if err == nil {
			return nil
		}
		if n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		b = b[n:]
	}
	return nil
}
