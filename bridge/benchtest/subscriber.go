package benchtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

// ackEvery is after how many notifications a subscriber with an id
// acknowledges them.
const ackEvery = 64

// Subscriber is a client on a WebSocket of its own. It reads the frames itself
// from the socket, so that a notification costs it no allocation.
type Subscriber struct {
	Notifications atomic.Uint64
	Gaps          atomic.Uint64

	got        func(text []byte)
	lasting    bool
	conn       net.Conn
	in         *bufio.Reader
	subscribed chan struct{} // one token for each
	ended      chan struct{}
	err        error // why it ended; read after ended
	closing    atomic.Bool

	mu  sync.Mutex // of writes
	out *websocket.Conn
}

// Attach connects to the broker at url (http://…) and says hello: without a
// client id as somebody of whom nothing is kept, with one it acknowledges what
// it gets. got takes each notification's text, which is valid during the call;
// nil: they are only counted. dial makes the connection; nil: as usual.
func Attach(ctx context.Context, url, client string, dial func(ctx context.Context, network, address string) (net.Conn, error), got func(text []byte)) (*Subscriber, error) {
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}, NetDialContext: dial}
	ws, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"/ws", nil)
	if err != nil {
		return nil, fmt.Errorf("benchtest: %s: %w", url, err)
	}
	s := &Subscriber{
		got: got, lasting: client != "", conn: ws.NetConn(), out: ws,
		// A server says nothing before its client has, so that nothing is lost
		// in the WebSocket library's own buffer.
		in:         bufio.NewReaderSize(ws.NetConn(), 64<<10),
		subscribed: make(chan struct{}, 1<<17),
		ended:      make(chan struct{}),
	}
	go func() {
		defer close(s.ended)
		s.err = s.read()
	}()
	if err := s.send(&protocol.Hello{Op: protocol.OpHello, Client: client}); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Subscribe makes subscriptions and waits until all are in force.
func (s *Subscriber) Subscribe(ctx context.Context, subs ...protocol.Subscription) error {
	for _, sub := range subs {
		if err := s.send(&protocol.Subscribe{Op: protocol.OpSubscribe, Subscription: sub}); err != nil {
			return err
		}
	}
	for range subs {
		select {
		case <-s.subscribed:
		case <-s.ended:
			return fmt.Errorf("benchtest: the subscriber ended: %w", s.err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Close ends the connection and returns what went wrong before.
func (s *Subscriber) Close() error {
	s.closing.Store(true)
	s.conn.Close()
	<-s.ended
	return s.err
}

func (s *Subscriber) send(m any) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return s.write(websocket.TextMessage, text)
}

func (s *Subscriber) write(kind int, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.WriteMessage(kind, text)
}

// read reads frames until the connection ends.
func (s *Subscriber) read() error {
	for {
		opcode, payload, err := s.frame()
		switch {
		case err != nil && s.closing.Load():
			return nil
		case err != nil:
			return fmt.Errorf("benchtest: subscriber: %w", err)
		}
		switch opcode {
		case websocket.TextMessage:
			err = s.message(payload)
		case websocket.PingMessage:
			err = s.write(websocket.PongMessage, payload)
		case websocket.CloseMessage:
			err = fmt.Errorf("benchtest: the broker closed the connection: %q", payload)
		}
		if err != nil {
			return err
		}
		if _, err := s.in.Discard(len(payload)); err != nil {
			return err
		}
	}
}

// frame reads a frame's header and waits for its payload, which stays in the
// reader's buffer. The broker does not cut messages into several frames.
func (s *Subscriber) frame() (opcode byte, payload []byte, err error) {
	opcode, size, err := FrameHeader(s.in)
	if err != nil {
		return 0, nil, err
	}
	payload, err = s.in.Peek(size)
	if errors.Is(err, bufio.ErrBufferFull) {
		err = io.ErrShortBuffer
	}
	return opcode, payload, err
}

// FrameHeader reads the header of a WebSocket frame that a server sends, and
// returns the size of the payload that follows.
func FrameHeader(in *bufio.Reader) (opcode byte, size int, err error) {
	head, err := in.Peek(2)
	if err != nil {
		return 0, 0, err
	}
	opcode = head[0] & 15
	size, skip := int(head[1]), 2
	switch size {
	case 126:
		if head, err = in.Peek(4); err != nil {
			return 0, 0, err
		}
		size, skip = int(binary.BigEndian.Uint16(head[2:])), 4
	case 127:
		return 0, 0, errors.New("a frame above 64 KiB")
	}
	_, err = in.Discard(skip)
	return opcode, size, err
}

var (
	isNotify     = []byte(`{"op":"notify",`)
	isSubscribed = []byte(`{"op":"subscribed",`)
	isError      = []byte(`{"op":"error",`)
	isGap        = []byte(`{"op":"gap",`)
)

func (s *Subscriber) message(text []byte) error {
	switch {
	case bytes.HasPrefix(text, isNotify):
		if s.got != nil {
			s.got(text)
		}
		if n := s.Notifications.Add(1); s.lasting && n%ackEvery == 0 {
			return s.acknowledge(text)
		}
	case bytes.HasPrefix(text, isSubscribed):
		s.subscribed <- struct{}{}
	case bytes.HasPrefix(text, isGap):
		s.Gaps.Add(1)
	case bytes.HasPrefix(text, isError):
		return fmt.Errorf("benchtest: the broker answered %s", text)
	}
	return nil
}

// acknowledge acknowledges a notification: {"op":"notify","source":…,"seq":…
func (s *Subscriber) acknowledge(text []byte) error {
	_, source, _ := bytes.Cut(text, []byte(`"source":"`))
	source, rest, _ := bytes.Cut(source, []byte(`","seq":`))
	digits := bytes.IndexAny(rest, ",}")
	num, err := strconv.ParseUint(string(rest[:max(digits, 0)]), 10, 64)
	if err != nil {
		return fmt.Errorf("benchtest: no number in %.80s", text)
	}
	return s.send(&protocol.Ack{Op: protocol.OpAck, Source: string(source), Num: num})
}

var timeField = []byte(`"time":`)

// Time reads a notification's time, a number that is not negative, without an
// exponent, and exact to the nanosecond.
func Time(text []byte) (time.Duration, bool) {
	_, rest, ok := bytes.Cut(text, timeField)
	var ns int64
	unit := int64(-1) // of the next digit behind the point; -1: before it
	for i, c := range rest {
		switch {
		case c == '.' && unit < 0:
			unit = int64(time.Second)
		case c < '0' || c > '9':
			if unit < 0 {
				ns *= int64(time.Second)
			}
			return time.Duration(ns), ok && i > 0
		case unit < 0:
			ns = 10*ns + int64(c-'0')
		default:
			if unit == int64(time.Second) {
				ns *= int64(time.Second)
			}
			unit /= 10
			ns += int64(c-'0') * unit
		}
	}
	return 0, false
}
