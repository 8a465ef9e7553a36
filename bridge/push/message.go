package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

const (
	// Messages above protocol.MaxFirst take of maxLarge, which all sessions share
	// (minLarge where little memory is allowed): a client waits for it for
	// largeWait at most.
	maxLarge  = 2 * protocol.MaxHello
	minLarge  = 16 << 20
	largeWait = 10 * time.Second

	// Of them maxDecoded bytes are decoded at a time, which takes several times
	// their memory. No client is waited for meanwhile.
	maxDecoded = 4 << 20

	// A message must come whole within messageGrace and the time that its bytes
	// take at minPace, in bytes/s. Inflated bytes count.
	messageGrace = 30 * time.Second
	minPace      = 16 << 10
)

// errTooLarge ends the reading of a message above the limit, errNoRoom that of
// one for which the others leave no memory.
var (
	errTooLarge = errors.New("message too large")
	errNoRoom   = errors.New("too many large messages at a time")
)

// messageLimit returns how many bytes the next message may have.
func (s *session) messageLimit() int {
	switch {
	case s.hello.Load():
		return protocol.MaxMessage
	case s.grant == nil:
		return protocol.MaxFirst
	}
	return s.server.config.maxHello
}

// frameLimit returns how many bytes the frames of the next message may have, so
// that one that claims more ends at once. What cannot be compressed grows a
// little.
func (s *session) frameLimit() int64 {
	limit := int64(s.messageLimit())
	return limit + limit/1024 + 64
}

// messageGrace returns how long the next message may take beside its bytes'
// time.
func (s *session) messageGrace() time.Duration {
	if s.grant == nil {
		return min(s.server.config.messageGrace, s.server.config.HelloTimeout)
	}
	return s.server.config.messageGrace
}

// message reads one message and does what it says. An error is one of the
// connection: a message that is wrong is answered.
func (s *session) message(ctx context.Context, kind int, r io.Reader) error {
	if s.outbox.ended() != nil {
		return nil // it is closing: read on for the client's close frame
	}
	in := reading{session: s, limit: s.messageLimit(), text: s.server.messages.get()}
	defer in.release()
	text, err := in.read(ctx, r)
	switch {
	case errors.Is(err, errTooLarge):
		s.tooLarge(in.limit)
		return nil
	case errors.Is(err, errNoRoom):
		s.fail(&protocol.Problem{Code: protocol.Overloaded, Message: "too many large messages come at a time; try again later"})
		s.outbox.Close(protocol.Overloaded, "too many large messages at a time")
		return nil
	case err != nil:
		return err
	case kind == websocket.TextMessage && !utf8.Valid(text):
		s.notUTF8()
		return nil
	}
	s.server.metrics.receivedBytes.Add(len(text))
	if len(text) > protocol.MaxFirst {
		size := min(int64(len(text)), maxDecoded)
		if err := s.server.decoded.Acquire(ctx, size); err != nil {
			return err
		}
		defer s.server.decoded.Release(size)
	}
	switch err := s.speaker.Receive(ctx, kind == websocket.BinaryMessage, text); {
	case errors.Is(err, attach.ErrTooLarge):
		s.tooLarge(protocol.MaxMessage)
	case err != nil:
		s.said("bad")
		s.fail(err)
	}
	return nil
}

func (s *session) tooLarge(limit int) {
	text := fmt.Sprintf("a message may have %d bytes", limit)
	if limit < protocol.MaxMessage {
		text += " before the token is known"
	}
	s.outbox.finish(ending{status: websocket.CloseMessageTooBig, text: text, reason: "too_large"})
}

func (s *session) notUTF8() {
	s.outbox.finish(ending{status: websocket.CloseInvalidFramePayloadData, text: "a text that is not UTF-8", reason: "utf8"})
}

// reading is a message that is being read.
type reading struct {
	session *session
	limit   int
	text    *[]byte // what it is read into
	taken   int64   // of Server.large
}

// release returns what was taken, once the message was dealt with.
func (in *reading) release() {
	in.session.server.large.Release(in.taken)
	in.session.server.messages.put(in.text)
}

// room takes of Server.large for a message of so many bytes. It returns how long it
// waited.
func (in *reading) room(ctx context.Context, size int) (time.Duration, error) {
	more := int64(size) - in.taken
	if size <= protocol.MaxFirst || more <= 0 {
		return 0, nil
	}
	if more = max(more, protocol.MaxFirst); in.session.server.large.TryAcquire(more) {
		in.taken += more
		return 0, nil
	}
	if in.taken+more > in.session.server.maxLarge {
		return 0, errNoRoom
	}
	began := time.Now()
	waiting, cancel := context.WithTimeout(ctx, largeWait)
	defer cancel()
	if err := in.session.server.large.Acquire(waiting, more); err != nil {
		if ctx.Err() == nil {
			err = errNoRoom
		}
		return 0, err
	}
	in.taken += more
	return time.Since(began), nil
}

// read reads the message, at most limit bytes, which must come at a pace.
func (in *reading) read(ctx context.Context, r io.Reader) ([]byte, error) {
	s := in.session
	text := (*in.text)[:0]
	defer func() { *in.text = text }()
	by := time.Now().Add(s.messageGrace())
	s.readBy(by)
	for paced := 0; ; {
		if len(text) == cap(text) {
			text = slices.Grow(text, len(text)) // doubled: append grows large ones by little, and copies as often
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if len(text) > in.limit {
			err = errTooLarge
		}
		if err == nil {
			var waited time.Duration
			waited, err = in.room(ctx, len(text))
			by = by.Add(waited)
		}
		if err == nil {
			if len(text)-paced >= minPace {
				if now := time.Now(); by.Before(now) { // this process stood still
					by = now
				}
				by = by.Add(time.Duration(len(text)-paced) * time.Second / minPace)
				paced = len(text)
				s.readBy(by)
			}
			continue
		}
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		return nil, err
	}
}
