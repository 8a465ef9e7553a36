package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/link/frame"
	"callboard/bridge/multicast"
	"callboard/bridge/overlay"
	"callboard/player/deadline"
)

// Why sessions end, beside what the network says.
var (
	errStopping = errors.New("the broker stops")
	errGivenUp  = errors.New("the broker gives up the link with this neighbour")
	errReplaced = errors.New("the neighbour has connected anew")
	errFull     = errors.New("more waits to be sent than may")
	errStalled  = errors.New("nothing could be sent")
)

// byeTime is how long the last piece of a session may take.
const byeTime = 200 * time.Millisecond

// session is one life of a link: a connection with its two goroutines.
type session struct {
	number   uint64
	attempt  uint64 // of the dialing side
	peer     *peer
	raw      net.Conn
	conn     *idleTimeoutConn
	r        *bufio.Reader
	since    time.Time
	beat     time.Duration // longest own silence
	maxFrame int           // that the other side takes, bytes
	compress bool
	ended    chan struct{}
	wake     chan struct{} // the writer has something to do

	mu      sync.Mutex
	queue   []outgoing
	waiting int // weight of queue
	reason  error

	writing atomic.Bool // in the middle of a piece

	// Of a session whose neighbour is on a segment; nil else.
	segment    *segment
	in         *inbound
	address    netip.Addr     // of the neighbour
	encoder    *frame.Encoder // under segment.mu, as
	statusPort uint16         // where the neighbour takes statuses; 0: not told
}

// outgoing is what waits to be sent: a frame; a frame that the segment has written,
// with its number; or a piece.
type outgoing struct {
	messages []overlay.Message
	plain    []byte
	number   uint32
	count    int // messages in plain
	piece    []byte
	weight   int
}

func newSession(p *peer, n Neighbour, o *opening, h hello, attempt uint64) *session {
	cfg := &p.links.cfg
	beat := time.Duration(h.Heartbeat) * time.Microsecond
	ended := make(chan struct{})
	o.raw.SetDeadline(time.Time{})
	s := &session{
		attempt: attempt, peer: p, raw: o.raw, r: o.r,
		conn:  &idleTimeoutConn{Conn: o.conn, deadline: max(cfg.Deadline, 3*beat), ended: ended},
		since: time.Now(), beat: cfg.Heartbeat, maxFrame: int(min(h.MaxFrame, maxMaxFrame)),
		compress: p.links.compresses(n) && h.Compress, ended: ended, wake: make(chan struct{}, 1),
	}
	if s.segment = p.links.commonSegment(h.Groups); s.segment != nil {
		s.in, s.encoder, s.address = newInbound(cfg.QueueBytes), frame.NewEncoder(), addressOf(o.raw)
	}
	// The handshake may have read on: what it has comes first.
	already, _ := o.r.Peek(o.r.Buffered())
	s.r = bufio.NewReaderSize(io.MultiReader(newRest(already), s.conn), readChunk)
	return s
}

// enqueue hands a frame to the writer. It reports whether there was room; if
// not, the session ends.
func (s *session) enqueue(o outgoing) bool {
	if !s.reserve(o.weight) {
		return false
	}
	s.push(o)
	return true
}

// reserve makes room for a frame. It reports whether there was any; if not, the
// session ends.
func (s *session) reserve(weight int) bool {
	s.mu.Lock()
	if s.reason != nil {
		s.mu.Unlock()
		return false
	}
	if s.waiting > 0 && s.waiting+weight > s.peer.links.cfg.QueueBytes {
		waiting := s.waiting
		s.mu.Unlock()
		s.end(fmt.Errorf("%w: %d bytes and %d more", errFull, waiting, weight))
		return false
	}
	s.waiting += weight
	s.mu.Unlock()
	return true
}

// push hands what has room to the writer.
func (s *session) push(o outgoing) {
	s.mu.Lock()
	s.queue = append(s.queue, o)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// tell sends the neighbour a message about a stream.
func (s *session) tell(m multicast.Message) {
	piece := endPiece(m.Append(beginPiece(nil, pieceStream)), 0)
	s.enqueue(outgoing{piece: piece, weight: len(piece)})
}

// take hands all that waits to the writer.
func (s *session) take(into []outgoing) []outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.queue
	s.queue = into[:0]
	return taken
}

// release makes room for others of a weight that is written.
func (s *session) release(weight int) {
	s.mu.Lock()
	s.waiting -= weight
	s.mu.Unlock()
}

// end ends the session for a reason, once, from any goroutine; it waits for
// nothing. Without a reason it does nothing.
func (s *session) end(reason error) {
	s.mu.Lock()
	if s.reason != nil || reason == nil {
		s.mu.Unlock()
		return
	}
	s.reason = reason
	close(s.ended)
	s.mu.Unlock()
	s.conn.interrupt()
}

func (s *session) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason
}

// run carries the session until it ends: the reader and the writer are gone
// when it returns, and the connection is closed.
func (s *session) run(stop func() error) {
	var wg sync.WaitGroup
	wg.Go(func() { s.end(s.read()) })
	wg.Go(func() { s.end(s.write()) })
	if s.segment != nil {
		wg.Go(func() { s.end(s.deliver()) })
	}
	if reason := stop(); reason != nil {
		s.end(reason)
	}
	wg.Wait()
	s.close()
}

// close sends the other side the reason, if that can still be sent, and closes the
// connection: at once, so that the other side knows too.
func (s *session) close() {
	reason := s.why()
	var bye *byeError
	told := errors.As(reason, &bye)
	if !told && !s.writing.Load() && !lost(reason) {
		s.raw.SetDeadline(time.Now().Add(byeTime))
		_, err := s.conn.Conn.Write(textPiece(pieceBye, reason.Error()))
		told = err == nil
	}
	if tcp, ok := deadline.Unwrap(s.raw).(*net.TCPConn); ok && !told {
		tcp.SetLinger(0) // what waits in the kernel's buffers is not to hold up the end
	}
	s.raw.Close()
}

// lost reports whether the connection itself has failed.
func lost(reason error) bool {
	var network net.Error
	return errors.Is(reason, errStalled) || errors.Is(reason, io.EOF) || errors.Is(reason, io.ErrUnexpectedEOF) || errors.Is(reason, io.ErrClosedPipe) ||
		(errors.As(reason, &network) && !errors.Is(reason, os.ErrDeadlineExceeded))
}

// byeError is what the other side gave as its reason.
type byeError struct{ reason string }

func (b *byeError) Error() string { return "it ended the session: " + b.reason }

func (s *session) limit(kind byte) int {
	switch kind {
	case pieceHeartbeat:
		return 0
	case pieceFrame:
		return s.peer.links.cfg.MaxFrame
	case pieceCompressed:
		if s.compress {
			return s.peer.links.cfg.MaxFrame
		}
	case pieceBye:
		return maxReason
	case pieceNumber:
		if s.segment != nil {
			return 4
		}
	case pieceStream:
		if s.segment != nil {
			return multicast.MaxMessage
		}
	}
	return -1
}

// read takes what the neighbour sends to the handler, until something fails.
func (s *session) read() error {
	decoder := frame.NewDecoder()
	var inflate *inflater
	if s.compress {
		inflate = newInflater(s.peer.links.cfg.MaxFrame)
	}
	var buf []byte
	number := uint32(0) // of the last frame
	for {
		kind, content, err := readPiece(s.r, buf, s.limit)
		if err != nil {
			return s.explain(err)
		}
		s.peer.received.bytes.Add(uint64(pieceHead + len(content)))
		plain := content
		switch kind {
		case pieceHeartbeat:
			buf = content
			continue
		case pieceBye:
			return &byeError{printable(content)}
		case pieceNumber:
			if len(content) != 4 {
				return fmt.Errorf("a frame's number of %d bytes; expected 4", len(content))
			}
			number, buf = binary.BigEndian.Uint32(content)-1, content
			continue
		case pieceStream:
			if err := s.segment.told(s, content); err != nil {
				return err
			}
			buf = content
			continue
		case pieceCompressed:
			if plain, err = inflate.inflate(content); err != nil {
				return fmt.Errorf("a compressed frame: %w", err)
			}
		}
		if s.segment != nil {
			number++
			if err := s.in.fromLink(number, plain, s.ended); err != nil {
				return err
			}
			buf = keep(content)
			continue
		}
		messages, err := decoder.Decode(plain)
		if err != nil {
			return err
		}
		s.peer.received.count(len(messages), len(plain))
		buf = keep(content)
		s.peer.links.cfg.Handler.Frame(s.peer.id, s.number, messages)
	}
}

// keep returns a buffer for the next frame; nil instead of a large one.
func keep(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

func (s *session) explain(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("nothing came for %v: %w", s.conn.deadline, err)
	}
	return err
}

// write sends what waits, and a heartbeat after a silence.
func (s *session) write() error {
	w := writer{session: s, encoder: frame.NewEncoder()}
	if s.compress {
		w.deflate = newDeflater()
	}
	timer := time.NewTimer(s.beat)
	defer timer.Stop()
	var frames []outgoing
	for {
		select {
		case <-s.ended:
			return net.ErrClosed
		case <-timer.C:
			w.out = endPiece(beginPiece(w.out, pieceHeartbeat), 0)
		case <-s.wake:
			frames = s.take(frames)
			if err := w.frames(frames); err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		timer.Reset(s.beat)
	}
}

// writer turns frames into bytes.
type writer struct {
	*session
	encoder *frame.Encoder
	deflate *deflater
	plain   []byte
	out     []byte
	number  uint32 // of the last frame, on a segment
}

// frames appends frames to what is to be written. After an error, the others are
// dropped and counted.
func (w *writer) frames(all []outgoing) (err error) {
	for i, o := range all {
		switch {
		case o.piece != nil:
			w.out = append(w.out, o.piece...)
		case o.plain != nil && err == nil:
			err = w.written(&o)
		case o.plain != nil:
			w.peer.dropped.Add(uint64(o.count))
		}
		if o.messages == nil {
			w.release(o.weight)
			all[i] = outgoing{}
			continue
		}
		for part := range overlay.Parts(o.messages, overlay.ReplayBytes) {
			if err != nil {
				w.peer.dropped.Add(uint64(len(part)))
				continue
			}
			err = w.frame(part)
		}
		w.release(o.weight) // all at once: what one step sends has room
		all[i] = outgoing{}
	}
	return err
}

// written appends a frame that the segment has written.
func (w *writer) written(o *outgoing) error {
	if w.number++; o.number != w.number {
		start := len(w.out)
		w.out = endPiece(binary.BigEndian.AppendUint32(beginPiece(w.out, pieceNumber), o.number), start)
		w.number = o.number
	}
	w.peer.sent.count(o.count, len(o.plain))
	start := len(w.out)
	if w.deflate == nil {
		w.out = append(beginPiece(w.out, pieceFrame), o.plain...)
	} else {
		w.out = w.deflate.piece(w.out, o.plain)
	}
	return w.end(start)
}

// frame appends a frame to what is to be written, and writes if that is enough.
func (w *writer) frame(messages []overlay.Message) error {
	start := len(w.out)
	var err error
	if w.deflate == nil {
		w.out, err = w.encoder.Append(beginPiece(w.out, pieceFrame), messages)
		w.peer.sent.count(len(messages), len(w.out)-start-pieceHead)
	} else {
		w.plain, err = w.encoder.Append(w.plain[:0], messages)
		w.peer.sent.count(len(messages), len(w.plain))
		w.out = w.deflate.piece(w.out, w.plain)
		w.plain = keep(w.plain)
	}
	if err != nil {
		return err
	}
	return w.end(start)
}

// end completes the piece of a frame that began at start, and writes if that is
// enough.
func (w *writer) end(start int) error {
	if n := len(w.out) - start - pieceHead; n > w.maxFrame {
		return fmt.Errorf("a frame of %d bytes where the neighbour takes up to %d", n, w.maxFrame)
	}
	endPiece(w.out, start)
	if len(w.out) >= batch {
		return w.flush()
	}
	return nil
}

func (w *writer) flush() error {
	w.writing.Store(true)
	n, err := w.conn.Write(w.out)
	w.peer.sent.bytes.Add(uint64(n))
	if err != nil {
		w.writing.Store(n > 0)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = fmt.Errorf("%w for %v", errStalled, w.conn.deadline)
		}
		return err
	}
	w.writing.Store(false)
	w.out = keep(w.out)
	return nil
}
