package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"callboard/player"
	deadlines "callboard/player/deadline"
)

const (
	readSize     = 64 << 10 // bytes; what the buffer has room for at least
	keepSize     = 1 << 20  // bytes; a larger buffer is given back when it is not needed
	bannerPrefix = "Player v."
)

// reader cuts a connection's bytes into messages. Its buffer grows with what
// has come, not with what a header announces.
type reader struct {
	conn net.Conn
	raw  *rawReader // reads the connection if it is a socket; nil: it is none
	ack  func()     // asks the kernel to acknowledge at once
	// unacked reports that something came since: what came is handled first.
	unacked bool
	buf     []byte
	r, w    int       // buf[r:w] is what has come and is not taken yet
	armed   time.Time // the connection's read deadline
	big     time.Time // when a message last needed more than keepSize
}

func newReader(conn net.Conn) *reader {
	return &reader{conn: conn, raw: newRawReader(conn), ack: quickack(conn), buf: make([]byte, readSize)}
}

// banner reads the 32 bytes that a server sends first, and returns the version
// in them.
func (r *reader) banner(ctx context.Context, deadline time.Time) (string, error) {
	conn := deadlines.New(r.conn)
	if err := conn.SetReadDeadline(deadline); err != nil {
		return "", err
	}
	if ctx.Err() != nil { // its end may have set a deadline before ours
		return "", ctx.Err()
	}
	var got [player.BannerSize]byte
	for n := 0; n < len(got); {
		m, err := conn.Read(got[n:])
		n += m
		begin := got[:min(n, len(bannerPrefix))]
		if !bytes.HasPrefix([]byte(bannerPrefix), begin) {
			return "", fmt.Errorf("not a Player server: it begins with %q, expected %q", got[:n], bannerPrefix)
		}
		if err != nil && n < len(got) {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return "", fmt.Errorf("%d of the %d bytes of Player's banner in time, expected %q: %w", n, len(got), bannerPrefix, err)
			}
			return "", fmt.Errorf("after %d of the %d bytes of Player's banner: %w", n, len(got), err)
		}
	}
	version := got[len(bannerPrefix):]
	if end := bytes.IndexByte(version, 0); end >= 0 {
		version = version[:end]
	}
	return string(version), nil
}

// next returns the next message that is there whole. The body is valid until
// fill. A header that no message may have is an error: the stream is lost.
func (r *reader) next() (h player.Header, body []byte, ok bool, err error) {
	if r.w-r.r < player.HeaderSize {
		return h, nil, false, nil
	}
	if h, err = player.ParseHeader(r.buf[r.r:r.w]); err != nil {
		return h, nil, false, err
	}
	from := r.r + player.HeaderSize
	to := from + int(h.Size)
	if to > r.w {
		return h, nil, false, nil
	}
	r.r = to
	return h, r.buf[from:to:to], true, nil
}

// partial is how many bytes of an unfinished message are there.
func (r *reader) partial() int { return r.w - r.r }

// fill waits for more bytes until the deadline and returns how many came.
//
// It returns at once while mail is set; who sets it then makes the read
// deadline pass.
func (r *reader) fill(deadline time.Time, mail *atomic.Bool) (int, error) {
	r.makeRoom()
	// Only an earlier deadline, or one that has passed, must be set: waking
	// too early does no harm and costs less than a new deadline for each read.
	if deadline.Before(r.armed) || r.armed.IsZero() {
		if err := r.conn.SetReadDeadline(deadline); err != nil {
			return 0, err
		}
		r.armed = deadline
	}
	if mail.Load() { // the deadline that was to wake us may have been moved just now
		return 0, nil
	}
	if r.unacked {
		r.ack()
	}
	n, err := r.read(r.buf[r.w:])
	r.w += n
	r.unacked = n > 0
	if errors.Is(err, os.ErrDeadlineExceeded) {
		late := time.Since(r.armed) > lookFor
		r.armed = time.Time{}
		if n == 0 && !mail.Load() && (late || r.raw != nil) {
			return r.look()
		}
	}
	return n, err
}

// lookFor is how long what has arrived is looked for where that takes a deadline,
// which it does not at a socket.
const lookFor = 10 * time.Millisecond

// look reads what has arrived although the deadline has passed: whatever was due
// then, that comes first.
func (r *reader) look() (n int, err error) {
	if r.raw != nil {
		n = r.raw.look(r.buf[r.w:])
	} else if err := r.conn.SetReadDeadline(time.Now().Add(lookFor)); err != nil {
		return 0, err
	} else if n, err = r.conn.Read(r.buf[r.w:]); err != nil && n == 0 {
		return 0, err
	}
	r.w += n
	r.unacked = n > 0
	if n == 0 {
		return 0, os.ErrDeadlineExceeded
	}
	return n, nil
}

func (r *reader) read(b []byte) (int, error) {
	if r.raw != nil {
		return r.raw.read(b)
	}
	return r.conn.Read(b)
}

// makeRoom moves the unfinished message to the front and doubles the buffer
// when it is full of one message.
func (r *reader) makeRoom() {
	if r.r == r.w {
		r.r, r.w = 0, 0
	}
	if len(r.buf)-r.w >= readSize/2 {
		return
	}
	if r.r > 0 {
		r.w = copy(r.buf, r.buf[r.r:r.w])
		r.r = 0
	}
	if len(r.buf)-r.w < readSize/2 {
		bigger := make([]byte, 2*len(r.buf))
		copy(bigger, r.buf[:r.w])
		r.buf = bigger
		r.big = time.Now()
	}
}

// trim returns a large buffer back that has not been needed for a while.
func (r *reader) trim(now time.Time) {
	if len(r.buf) > keepSize && r.partial() < readSize/2 && now.Sub(r.big) > 10*time.Second {
		small := make([]byte, readSize)
		r.w = copy(small, r.buf[r.r:r.w])
		r.r = 0
		r.buf = small
	}
}
