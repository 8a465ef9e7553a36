package push

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

const (
	closeTimeout   = 2 * time.Second  // for what waits, and the close frame, to be written
	lingerTimeout  = time.Second      // for the client to answer a close frame
	messageTimeout = 60 * time.Second // for one message to come whole
	silentPings    = 3                // a client that is silent for so many is gone
)

// session is one client's WebSocket connection. The goroutine of its HTTP
// request reads, another writes.
type session struct {
	server *Server
	ws     *websocket.Conn
	raw    *rawConn
	outbox *outbox
	lanes  lanes
	cancel context.CancelFunc
	conn   uint64
	cbor   bool
	log    *slog.Logger

	grant      *Grant          // nil until a token was shown
	hello      atomic.Bool     // hello was said and taken
	helloBy    time.Time       // when it must have begun
	anonymous  atomic.Bool     // hello gave no client id
	inMessage  atomic.Bool     // a message has begun: pings do not give it more time
	buf        []byte          // of the messages read
	socket     syscall.RawConn // for a Burst; nil: only the writer writes
	owed       owed
	ackDue     *time.Timer // when the writer tells the broker what is owed
	remoteAddr string
}

// serve runs the session until its connection ends.
func (s *session) serve(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	m := s.server.metrics
	m.sessions.Inc()
	defer m.sessions.Dec()
	s.ackDue = time.NewTimer(ackDelay)
	if s.socket != nil {
		s.outbox.burst = s
	}
	s.conn = s.server.config.Broker.Connect(s.outbox, s.remoteAddr)
	defer s.server.config.Broker.Disconnect(s.conn)
	s.log = s.log.With("session", s.conn)
	s.log.Debug("client connected", "remote", s.remoteAddr)
	written := make(chan struct{})
	go func() {
		defer close(written)
		s.write(ctx)
	}()
	s.read(ctx)
	<-written
	s.raw.Close()
	s.cancel()
	s.lanes.wait()
	end := s.outbox.ended()
	m.closed.Of(end.reason).Inc()
	s.log.Debug("client gone", "reason", end.reason)
}

// read reads until the connection ends; how it ends is in the outbox then.
func (s *session) read(ctx context.Context) {
	s.helloBy = time.Now().Add(s.server.config.HelloTimeout)
	s.ws.SetPingHandler(func(payload string) error {
		s.alive()
		s.outbox.ponged(payload)
		return nil
	})
	s.ws.SetPongHandler(func(string) error {
		s.alive()
		return nil
	})
	s.ws.SetCloseHandler(func(int, string) error { return nil })
	for {
		if !s.waitForRoom(ctx) {
			return
		}
		s.inMessage.Store(false)
		s.alive()
		kind, r, err := s.ws.NextReader()
		if err == nil {
			s.inMessage.Store(true)
			s.readBy(time.Now().Add(s.server.config.messageTimeout))
			err = s.message(ctx, kind, r)
		}
		if err != nil {
			s.readFailed(err)
			return
		}
	}
}

// alive gives the client time again: it was heard of.
func (s *session) alive() {
	if s.inMessage.Load() {
		return
	}
	by := time.Now().Add(silentPings * s.server.config.PingInterval)
	if !s.hello.Load() && s.helloBy.Before(by) {
		by = s.helloBy
	}
	s.readBy(by)
}

// readBy sets until when the client must be heard of. When the connection is
// ending that is soon: finish comes before the writer sets it, so that one of
// both sees the other.
func (s *session) readBy(by time.Time) {
	_ = s.raw.SetReadDeadline(by) // a closed connection says so when read from
	if s.outbox.ended() != nil {
		s.awaitClose()
	}
}

// awaitClose gives the client a while to answer a close frame.
func (s *session) awaitClose() { _ = s.raw.SetReadDeadline(time.Now().Add(lingerTimeout)) }

// waitForRoom holds the client up while it does not read its answers.
func (s *session) waitForRoom(ctx context.Context) bool {
	for !s.outbox.roomy() {
		select {
		case <-ctx.Done():
			return false
		case <-s.outbox.room:
		}
	}
	return true
}

// readFailed says how the connection ends after a failed read.
func (s *session) readFailed(err error) {
	var closed *websocket.CloseError
	switch {
	case s.outbox.ended() != nil:
		// It was ending already, and this is the client's answer or its lack.
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		s.outbox.finish(ending{status: echo(closed.Code), reason: "client"})
	case isTimeout(err) && !s.hello.Load():
		s.fail("", badMessage("no hello came within %v; expected it first", s.server.config.HelloTimeout))
		s.outbox.finish(ending{status: CloseStatus(protocol.BadMessage), text: "no hello", reason: "no_hello"})
		s.linger()
	case isTimeout(err):
		s.outbox.finish(ending{status: 1001, text: "nothing was heard of the client", reason: "silent"})
	case isLost(err):
		s.outbox.finish(ending{reason: "lost"})
		s.raw.Close()
	default:
		// What is left is a fault in the frames.
		s.outbox.finish(ending{status: websocket.CloseProtocolError, text: err.Error(), reason: "protocol"})
		s.linger()
	}
}

// echo is the status that answers a close frame.
func echo(status int) int {
	if status == websocket.CloseNoStatusReceived {
		return websocket.CloseNormalClosure
	}
	return status
}

// isTimeout tells whether a read deadline has passed. The WebSocket library
// makes errors of its own of the network's.
func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// isLost tells whether the connection itself has failed.
func isLost(err error) bool {
	var network net.Error
	var closed *websocket.CloseError
	return errors.As(err, &network) || errors.As(err, &closed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// linger reads on for a while, so that the client gets the close frame before
// the connection is reset for what it still sends.
func (s *session) linger() {
	_ = s.raw.Conn.SetReadDeadline(time.Now().Add(lingerTimeout))
	_, _ = io.Copy(io.Discard, s.raw.Conn)
}

// fail tells the client what is wrong with a message of its.
func (s *session) fail(id string, err error) {
	p := problemOf(err)
	s.outbox.Send(&protocol.Error{Op: protocol.OpError, ID: id, Code: p.Code, Message: p.Message, Position: p.Position, Attachment: p.Attachment})
}

// problemOf gives an error its code.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{Code: protocol.Unavailable, Message: err.Error()}
}

// errTooLarge ends the reading of a message above the limit.
var errTooLarge = errors.New("message too large")

// message reads one message and does what it says. An error is one of the
// connection: a message that is wrong is answered.
func (s *session) message(ctx context.Context, kind int, r io.Reader) error {
	if s.outbox.ended() != nil {
		return nil // it is closing: read on for the client's close frame
	}
	limit := protocol.MaxMessage
	if !s.hello.Load() {
		limit = s.server.config.maxHello
	}
	text, err := s.readMessage(ctx, r, limit)
	if len(text) > protocol.MaxMessage {
		defer func() { <-s.server.large }()
	}
	if errors.Is(err, errTooLarge) {
		s.tooLarge(limit)
		return nil
	}
	if err != nil {
		return err
	}
	s.server.metrics.receivedBytes.Add(len(text))
	m, id, problem := s.decode(kind, text)
	switch {
	case len(text) > protocol.MaxMessage && !saysHello(m, text):
		s.tooLarge(protocol.MaxMessage)
	case problem != nil:
		s.server.metrics.received.Of("bad").Inc()
		s.fail(id, problem)
	default:
		s.dispatch(ctx, m)
	}
	return nil
}

// saysHello tells whether a message is a hello, even one that is wrong.
func saysHello(m any, text []byte) bool {
	if m != nil {
		_, ok := m.(*protocol.Hello)
		return ok
	}
	hello := false
	if json.Valid(text) {
		members(text, func(name string, value []byte) {
			hello = hello || name == "op" && unquote(value) == protocol.OpHello
		})
	}
	return hello
}

// decode reads a client's message. If it is wrong, id is what it named.
func (s *session) decode(kind int, text []byte) (m any, id string, problem *Problem) {
	switch {
	case kind == websocket.TextMessage && s.cbor:
		return nil, "", badMessage("a text frame; expected CBOR in a binary frame")
	case kind == websocket.BinaryMessage && !s.cbor:
		return nil, "", badMessage("a binary frame; expected JSON in a text frame")
	case s.cbor:
		if text, problem = jsonOfCBOR(text); problem != nil {
			return nil, "", problem
		}
	}
	if problem = guard(text, s.server.config.MaxSubscriptions); problem != nil {
		return nil, "", problem
	}
	m, invalid := protocol.Decode(text)
	if invalid != nil {
		return nil, invalid.ID, &Problem{Code: invalid.Code, Message: invalid.Error()}
	}
	return m, "", nil
}

func badMessage(format string, args ...any) *Problem {
	return &Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}

func (s *session) tooLarge(limit int) {
	s.outbox.finish(ending{status: websocket.CloseMessageTooBig, text: fmt.Sprintf("a message may have %d bytes", limit), reason: "too_large"})
}

// readMessage reads a message of at most limit bytes. If it returns more than
// MaxMessage it has taken one of the server's places for large messages, which
// the caller gives back.
func (s *session) readMessage(ctx context.Context, r io.Reader, limit int) ([]byte, error) {
	text := s.buf[:0]
	if cap(text) == 0 {
		text = make([]byte, 0, 512)
	}
	large := false
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if len(text) > limit {
			err = errTooLarge
		}
		if !large && len(text) > protocol.MaxMessage && limit > protocol.MaxMessage {
			select {
			case s.server.large <- struct{}{}:
				large = true
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			continue
		}
		if err != nil {
			text = nil
			if large {
				<-s.server.large
			}
		}
		if s.buf = nil; cap(text) <= 4<<10 {
			s.buf = text
		}
		return text, err
	}
}
