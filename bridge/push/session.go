package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/player/listener"
	"callboard/subscribe/protocol"
)

const (
	closeTimeout  = 2 * time.Second // for what waits, and the close frame, to be written
	lingerTimeout = time.Second     // for the client to answer a close frame
	silentPings   = 3               // a client that is silent for so many is gone
)

// session is one client's WebSocket connection. One goroutine reads; another
// writes while something waits for the client.
type session struct {
	server  *Server
	ws      *websocket.Conn
	raw     *rawConn
	outbox  *outbox
	lanes   lanes
	cancel  context.CancelFunc
	conn    uint64
	speaker attach.Speaker // speaks the client's dialect

	place      *listener.Conn // kept once hello was said
	grant      *attach.Grant  // nil until a token was shown
	hello      atomic.Bool    // hello was said and taken
	helloBy    time.Time      // when it must have begun
	anonymous  atomic.Bool    // hello gave no client id
	identity   []any          // of the client, for the log; nil: hello was not taken
	inMessage  bool           // a message has begun: pings do not give it more time
	taken      int64          // what the client had taken when nothing else was heard of it in time
	doubted    bool           // that is known: it was not heard of since
	goodbye    bool           // the client has said that it does not come back
	owed       owed
	remoteAddr string
}

// serve runs the session until its connection ends.
func (s *session) serve(ctx context.Context, dialect attach.Dialect) {
	ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	m := s.server.metrics
	m.sessions.Inc()
	defer m.sessions.Dec()
	s.conn = s.server.config.Broker.Connect(s.outbox, s.remoteAddr)
	defer func() {
		end := s.outbox.ended()
		s.server.config.Broker.Disconnect(s.conn, attach.Ending{Closed: end != nil && end.reason == byClient, Goodbye: s.goodbye})
	}()
	s.speaker = dialect.Attach(ctx, s, s.ws.Subprotocol())
	s.outbox.begin()
	pings := s.ping()
	s.read(ctx)
	select {
	case <-s.outbox.done:
	case <-ctx.Done():
	}
	s.outbox.finish(ending{reason: "lost"}) // if it had not ended: it was cut off
	s.raw.Close()
	<-s.outbox.done
	pings.Stop()
	s.owed.stop()
	s.cancel()
	s.lanes.wait()
	s.speaker.End()
	end := s.outbox.ended()
	m.closed.Of(end.reason).Inc()
	if s.identity != nil {
		s.server.log.Info("client gone", append(s.identity, "reason", end.reason)...)
	}
}

// ping pings the client again and again until the timer is stopped.
func (s *session) ping() *time.Timer {
	interval := s.server.config.PingInterval
	var timer *time.Timer
	timer = time.AfterFunc(math.MaxInt64, func() {
		if s.outbox.ping(nil) {
			timer.Reset(interval)
		}
	})
	timer.Reset(interval)
	return timer
}

// read reads until the connection ends; how it ends is in the outbox then.
func (s *session) read(ctx context.Context) {
	s.helloBy = time.Now().Add(s.server.config.HelloTimeout)
	s.ws.SetPingHandler(func(payload string) error {
		s.alive()
		s.outbox.ponged(payload)
		return nil
	})
	s.ws.SetPongHandler(func(payload string) error {
		s.alive()
		s.pinged(ctx, payload)
		return nil
	})
	s.ws.SetCloseHandler(func(int, string) error { return nil })
	s.raw.late = s.late
	for {
		if !s.waitForRoom(ctx) {
			return
		}
		s.inMessage = false
		if s.hello.Load() {
			s.alive()
		} else {
			s.readBy(s.helloBy)
		}
		s.raw.await()
		s.ws.SetReadLimit(s.frameLimit())
		kind, r, err := s.ws.NextReader()
		if err == nil {
			s.inMessage = true
			err = s.message(ctx, kind, r)
		}
		if err != nil {
			s.readFailed(err)
			return
		}
	}
}

// alive gives the client time again: it was heard of. Until hello it has what it
// was given at first.
func (s *session) alive() {
	if s.inMessage || !s.hello.Load() {
		return
	}
	s.doubted = false
	s.readBy(time.Now().Add(silentPings * s.server.config.PingInterval))
}

// late reports whether a client of which nothing was heard in its time has
// more: it takes what is written to it, though slowly, and its pong waits behind
// that.
func (s *session) late() bool {
	if s.inMessage || !s.hello.Load() || s.outbox.ended() != nil {
		return false
	}
	taken, more := s.raw.taken()
	if !more || s.doubted && taken <= s.taken {
		return false
	}
	s.alive()
	s.doubted, s.taken = true, taken
	return true
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

// awaitClose returns the client a while to answer a close frame.
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

// byClient is how a connection ends that the client closes.
const byClient = "client"

// readFailed says how the connection ends after a failed read.
func (s *session) readFailed(err error) {
	var closed *websocket.CloseError
	switch {
	case errors.Is(err, websocket.ErrReadLimit):
		s.tooLarge(s.messageLimit())
		s.linger()
	case s.outbox.ended() != nil:
		// It was ending already, and this is the client's answer or its lack.
	case errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		s.goodbye = closed.Code == websocket.CloseNormalClosure && closed.Text == protocol.Goodbye
		s.outbox.finish(ending{status: echo(closed.Code), reason: byClient})
	case isTimeout(err) && s.inMessage:
		why := fmt.Sprintf("a message came too slowly; expected it within %v, or %d bytes a second", s.messageGrace(), minPace)
		s.fail(badMessage("%s", why))
		s.outbox.finish(ending{status: closeStatus(protocol.BadMessage), text: why, reason: "slow"})
		s.linger()
	case isTimeout(err) && !s.hello.Load():
		s.fail(badMessage("no hello came within %v; expected it first", s.server.config.HelloTimeout))
		s.outbox.finish(ending{status: closeStatus(protocol.BadMessage), text: "no hello", reason: "no_hello"})
		s.linger()
	case isTimeout(err):
		s.outbox.finish(ending{status: 1001, text: "nothing was heard of the client", reason: "silent"})
	case isLost(err):
		s.outbox.finish(ending{reason: "lost"})
		s.raw.Close()
	case strings.Contains(err.Error(), "utf8"): // in a close frame: the library has no other word for it
		s.notUTF8()
		s.linger()
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

// isTimeout reports whether a read deadline has passed. The WebSocket library
// makes errors of its own of the network's.
func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// isLost reports whether the connection itself has failed.
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
