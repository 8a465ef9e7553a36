package callboard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"

	"callboard/player/deadline"
	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

// maxIncoming bounds one message from a broker, in bytes; the answer to list
// is the largest.
const maxIncoming = 64 << 20

// writeTimeout bounds the writing of one message.
const writeTimeout = 10 * time.Second

// missedHeartbeats is how many heartbeat periods of silence end a connection.
const missedHeartbeats = 3

// connection is one WebSocket connection: whoever has something to send adds
// it to the outbox, one goroutine writes, one reads.
type connection struct {
	url      string
	socket   *websocket.Conn
	together *together     // below it; nil in tests that have none
	kind     int           // of its messages: text, or binary, which is CBOR
	done     chan struct{} // closed when both goroutines have ended

	leg // guarded by Client.mu

	scratch bytes.Buffer // of the reader

	sides []string // of the pair that the broker is; none: it is none

	mu      sync.Mutex
	outbox  [][]byte
	later   [][]byte      // goes out with the outbox, or by itself when it is many or has waited
	closing bool          // the writer ends once the outbox is written
	reason  string        // which the close frame gives then
	wake    chan struct{} // cap 1: the outbox or the acknowledgements have news
	silence time.Duration // longest silence that is taken; 0: none is watched
}

// newConnection makes a connection of a socket.
func newConnection(url string, socket *websocket.Conn, silence time.Duration) *connection {
	return &connection{
		url: url, socket: socket, kind: websocket.TextMessage, silence: silence,
		done: make(chan struct{}), wake: make(chan struct{}, 1),
		leg: leg{wire: map[string]uint64{}, resuming: map[string]bool{}},
	}
}

// dial opens a WebSocket connection to a broker.
func (c *Client) dial(ctx context.Context, url string) (*connection, error) {
	stop := func() bool { return true }
	var together *together
	dialer := websocket.Dialer{
		NetDialContext: func(dialing context.Context, network, address string) (net.Conn, error) {
			raw, err := c.config.Dial(dialing, network, address)
			if err != nil {
				return nil, err
			}
			stop = context.AfterFunc(ctx, func() { raw.Close() }) // the handshake itself does not heed it
			together = newTogether(deadline.New(raw))
			return together, nil
		},
		ReadBufferSize:    readBuffer,
		TLSClientConfig:   c.config.TLS,
		HandshakeTimeout:  c.config.ConnectTimeout,
		Subprotocols:      []string{c.subprotocol()},
		EnableCompression: c.config.Compression,
	}
	socket, answer, err := dialer.DialContext(ctx, url, c.header())
	if !stop() && err == nil {
		socket.Close()
		return nil, fmt.Errorf("broker %s: %w", url, context.Cause(ctx))
	}
	if err != nil {
		return nil, dialError(url, answer, err)
	}
	if got := socket.Subprotocol(); got != c.subprotocol() {
		socket.Close()
		return nil, fmt.Errorf("broker %s: it speaks subprotocol %q, expected %s: is this a Callboard broker?", url, got, c.subprotocol())
	}
	socket.SetReadLimit(maxIncoming)
	n := newConnection(url, socket, c.config.ConnectTimeout)
	n.together = together
	if c.config.CBOR {
		n.kind = websocket.BinaryMessage
	}
	return n, nil
}

func (c *Client) subprotocol() string {
	if c.config.CBOR {
		return protocol.SubprotocolCBOR
	}
	return protocol.Subprotocol
}

// header shows the token with the request if hello may be too large for a client
// whose token is not known yet.
func (c *Client) header() http.Header {
	if c.config.Token == "" {
		return nil
	}
	c.mu.Lock()
	away := sortedKeys(c.away)
	text, err := json.Marshal(protocol.Hello{Num: c.handledNums(), Subscriptions: c.confirmed(), Away: &away})
	c.mu.Unlock()
	if err == nil && len(text) <= protocol.MaxFirst/2 { // more may come until hello is said
		return nil
	}
	return http.Header{"Authorization": {"Bearer " + c.config.Token}}
}

// dialError says why a broker could not be reached; that a server refuses
// this program is fatal.
func dialError(url string, answer *http.Response, err error) error {
	if answer == nil {
		return fmt.Errorf("broker %s: %w", url, err)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 512))
	err = fmt.Errorf("broker %s: HTTP %s %s", url, answer.Status, firstLine(text))
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return &fatal{err}
	}
	return err
}

// firstLine is what of a server's answer fits into an error.
func firstLine(text []byte) string {
	for i, b := range text {
		if b == '\n' || b == '\r' {
			text = text[:i]
			break
		}
	}
	return string(text)
}

// send adds a message to the outbox.
func (n *connection) send(message any) error {
	text, err := encode(message)
	if err != nil {
		return err
	}
	n.enqueue(text)
	return nil
}

// encode returns a message in JSON. Those of which there are many are pointers.
func encode(message any) ([]byte, error) {
	if protocol.Operation(message) != "" {
		return protocol.AppendMessage(make([]byte, 0, 512), message), nil
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("callboard: encoding %T: %w", message, err)
	}
	return text, nil
}

// encodeBody returns what a program says in JSON.
func encodeBody(body any) (json.RawMessage, error) {
	if raw, is := body.(json.RawMessage); is && protocol.Valid(raw) {
		return raw, nil
	}
	return json.Marshal(body)
}

func (n *connection) enqueue(text []byte) {
	n.mu.Lock()
	n.outbox = append(n.outbox, text)
	n.mu.Unlock()
	signal(n.wake)
}

// maxLater is how many messages wait for others to go out with them.
const maxLater = 64

// enqueueLater adds a message that may wait.
func (n *connection) enqueueLater(text []byte) {
	n.mu.Lock()
	n.later = append(n.later, text)
	due := len(n.later)
	n.mu.Unlock()
	if due == 1 || due == maxLater {
		signal(n.wake)
	}
}

// take takes what is to be written now; waits: something is left.
func (n *connection) take(now bool) (outbox [][]byte, waits, closing bool, reason string) {
	runtime.Gosched() // others may be about to say something, too
	n.mu.Lock()
	defer n.mu.Unlock()
	outbox, n.outbox = n.outbox, nil
	if now || n.closing || len(outbox) > 0 || len(n.later) >= maxLater {
		outbox = append(outbox, n.later...)
		n.later = n.later[:0]
	}
	return outbox, len(n.later) > 0, n.closing, n.reason
}

// finish lets the writer write what waits, close the connection and end.
func (n *connection) finish() { n.close("") }

// close is finish with a reason for the broker.
func (n *connection) close(reason string) {
	n.mu.Lock()
	n.closing, n.reason = true, reason
	n.mu.Unlock()
	signal(n.wake)
}

// write writes the outbox and acknowledgements until finish or an error; then
// it closes the socket, which ends the reader too. acks returns the
// acknowledgements that are due: at once, or how long they may wait.
func (n *connection) write(acks func(n *connection, now bool) (due []protocol.Ack, wait bool), delay time.Duration) {
	defer n.socket.Close()
	timer := time.NewTimer(delay)
	timer.Stop()
	defer timer.Stop()
	armed := false
	for {
		late := false
		select {
		case <-n.wake:
		case <-timer.C:
			late, armed = true, false
		}
		outbox, waits, closing, reason := n.take(late)
		due, wait := acks(n, late || closing)
		for _, a := range due {
			text, _ := json.Marshal(a) // strings and numbers only
			outbox = append(outbox, text)
		}
		if err := n.writeAll(outbox); err != nil {
			return
		}
		if closing {
			last := websocket.FormatCloseMessage(websocket.CloseNormalClosure, reason)
			n.socket.WriteControl(websocket.CloseMessage, last, time.Now().Add(time.Second))
			return
		}
		if (wait || waits) && !armed {
			timer.Reset(delay)
			armed = true
		}
	}
}

// writeAll writes messages, as many as there are with one call of the system.
func (n *connection) writeAll(outbox [][]byte) (err error) {
	if n.together != nil && len(outbox) > 1 {
		n.together.begin()
		defer func() { err = errors.Join(err, n.together.end()) }()
	}
	for i, text := range outbox {
		if i%maxLater == 0 {
			n.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
		}
		if n.kind == websocket.BinaryMessage {
			text = protocol.AppendCBOR(nil, text)
		}
		if err := n.socket.WriteMessage(n.kind, text); err != nil {
			return err
		}
	}
	return nil
}

// read returns the next message. Silence beyond what is taken is an error.
func (n *connection) read() ([]byte, error) {
	if n.silence > 0 {
		n.socket.SetReadDeadline(time.Now().Add(n.silence))
	} else {
		n.socket.SetReadDeadline(time.Time{})
	}
	kind, text, err := n.readMessage()
	if err != nil {
		var closed *websocket.CloseError
		var timeout interface{ Timeout() bool }
		switch {
		case errors.As(err, &closed):
			return nil, &lostError{fmt.Sprintf("broker %s closed the connection: %s", n.url, closeText(closed)), err}
		case errors.As(err, &timeout) && timeout.Timeout():
			return nil, &lostError{fmt.Sprintf("broker %s has been silent for %s", n.url, n.silence), errSilent}
		}
		return nil, fmt.Errorf("broker %s: %w", n.url, err)
	}
	switch {
	case kind != n.kind:
		return nil, fmt.Errorf("broker %s sent a message of type %d, expected %d", n.url, kind, n.kind)
	case kind == websocket.BinaryMessage:
		if text, err = protocol.AppendFromCBOR(make([]byte, 0, 2*len(text)), text); err != nil {
			return nil, fmt.Errorf("broker %s: %w", n.url, err)
		}
	}
	return text, nil
}

// maxScratch is how much room is kept for the next message, in bytes.
const maxScratch = 256 << 10

// readMessage is the WebSocket library's ReadMessage into memory that is as large as
// the message.
func (n *connection) readMessage() (kind int, text []byte, err error) {
	kind, r, err := n.socket.NextReader()
	if err != nil {
		return kind, nil, err
	}
	n.scratch.Reset()
	_, err = n.scratch.ReadFrom(r)
	text = bytes.Clone(n.scratch.Bytes())
	if n.scratch.Cap() > maxScratch {
		n.scratch = bytes.Buffer{}
	}
	return kind, text, err
}

// errSilent is the cause of a loss by missing heartbeats.
var errSilent = errors.New("silent")

// lostError words the loss of a connection.
type lostError struct {
	text  string
	cause error
}

func (e *lostError) Error() string { return e.text }
func (e *lostError) Unwrap() error { return e.cause }

// closeText returns what a close frame means.
func closeText(e *websocket.CloseError) string {
	if e.Text != "" {
		return fmt.Sprintf("%s (%d)", e.Text, e.Code)
	}
	switch e.Code {
	case websocket.CloseGoingAway:
		return "it is shutting down"
	case websocket.CloseAbnormalClosure:
		return "without a word"
	}
	return fmt.Sprintf("code %d", e.Code)
}
