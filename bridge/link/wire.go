package link

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// What crosses a link is cut into pieces: the length of the content (4 bytes,
// big-endian), the piece's kind (1 byte), the content.
const (
	pieceHello      = iota + 1 // a CBOR map: hello
	pieceBegin                 // the dialing side takes part; empty
	pieceRefuse                // why there will be no session; text
	pieceHeartbeat             // empty
	pieceFrame                 // a step's messages (package frame)
	pieceCompressed            // the same: plain length (4 bytes), then a stretch of the session's DEFLATE stream
	pieceBye                   // why the session ends; text
	pieceNumber                // pair number of the frame that follows (4 bytes), where it is not the last one's successor
	pieceStream                // a message about a stream on a segment (package multicast)
	pieceVote                  // between a side of a pair and its witness (package standby)
)

const (
	pieceHead = 5
	maxHello  = 4096
	maxReason = 1024
	// Bounds of Config.MaxFrame.
	minMaxFrame = 1 << 16
	maxMaxFrame = 1 << 30
	// writeChunk is what is written under one deadline, bytes: a slower link
	// than that allows is none.
	writeChunk = 16 << 10
	// batch is how much is put together before it is written, and readChunk
	// what is made room for before it has come, bytes.
	batch     = 64 << 10
	readChunk = 64 << 10
	// keptBuffer is the largest buffer that is kept for the next frame, bytes.
	keptBuffer = 1 << 20
)

// beginPiece appends a piece's head, to be completed by endPiece.
func beginPiece(b []byte, kind byte) []byte { return append(b, 0, 0, 0, 0, kind) }

// endPiece writes the length of the piece that began at start.
func endPiece(b []byte, start int) []byte {
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-pieceHead))
	return b
}

func textPiece(kind byte, text string) []byte {
	if len(text) > maxReason {
		text = text[:maxReason]
	}
	return endPiece(append(beginPiece(nil, kind), text...), 0)
}

// readPiece reads one piece. The content is appended to buf[:0] and grows as
// it comes, so that memory is bounded by what was received.
func readPiece(r *bufio.Reader, buf []byte, limit func(kind byte) int) (kind byte, content []byte, err error) {
	var head [pieceHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, buf, err
	}
	kind = head[4]
	length := binary.BigEndian.Uint32(head[:])
	most := limit(kind)
	if most < 0 {
		return 0, buf, fmt.Errorf("it sent % x, which begins no piece that is expected here", head)
	}
	if uint64(length) > uint64(most) {
		return 0, buf, fmt.Errorf("it sent a piece of kind %d with %d bytes; expected up to %d", kind, length, most)
	}
	content, err = readContent(r, buf[:0], int(length))
	if err != nil {
		err = fmt.Errorf("in a piece of %d bytes: %w", length, err)
	}
	return kind, content, err
}

// readContent appends n bytes of r to b, making room as they come.
func readContent(r io.Reader, b []byte, n int) ([]byte, error) {
	for n > 0 {
		if len(b) == cap(b) {
			b = append(b, make([]byte, min(n, max(readChunk, len(b))))...)[:len(b)]
		}
		room := b[len(b):min(cap(b), len(b)+n)]
		got, err := r.Read(room)
		b = b[:len(b)+got]
		n -= got
		if err != nil && n > 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return b, err
		}
	}
	return b, nil
}

// idleTimeoutConn is a connection whose reads and writes end when nothing moves for
// the deadline, or once ended is closed and interrupt was called.
type idleTimeoutConn struct {
	net.Conn
	deadline time.Duration
	ended    chan struct{}
}

func (c *idleTimeoutConn) Read(b []byte) (int, error) {
	c.Conn.SetReadDeadline(time.Now().Add(c.deadline))
	select {
	case <-c.ended:
		return 0, net.ErrClosed
	default:
		return c.Conn.Read(b)
	}
}

// Write writes in chunks, so that a long frame on a slow link is progress.
func (c *idleTimeoutConn) Write(b []byte) (int, error) {
	for n := 0; ; {
		c.Conn.SetWriteDeadline(time.Now().Add(c.deadline))
		select {
		case <-c.ended:
			return n, net.ErrClosed
		default:
		}
		wrote, err := c.Conn.Write(b[n:min(len(b), n+writeChunk)])
		n += wrote
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// interrupt ends reads and writes under way. To be called after ended was
// closed.
func (c *idleTimeoutConn) interrupt() { c.Conn.SetDeadline(time.Unix(1, 0)) }
