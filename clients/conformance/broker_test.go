//go:build linux

package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// patience bounds each wait. What is right comes long before.
const patience = 30 * time.Second

// broker is a place where a script's broker is, or is not: nobody else gets its
// port meanwhile.
type broker struct {
	name    string
	port    int
	socket  int // bound; listens while up
	server  *http.Server
	serving sync.WaitGroup
	asked   chan *request
	conn    *peer // that the script speaks over
	last    *request
}

// request is an HTTP request that the script has not dealt with yet.
type request struct {
	*http.Request
	answer chan func(http.ResponseWriter)
}

// newBroker takes a port without listening there.
func newBroker(t *testing.T, name string) *broker {
	b := &broker{name: name, socket: -1, asked: make(chan *request, 16)}
	b.bind(t)
	t.Cleanup(func() {
		b.close()
		if b.socket >= 0 {
			syscall.Close(b.socket)
		}
	})
	return b
}

// bind takes the port, or a free one at first. Others may not share it while it
// does not listen, though its own old connections may.
func (b *broker) bind(t *testing.T) {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.socket = s
	if b.port != 0 {
		b.share(t, 1)
	}
	if err := persistently(func() error {
		return syscall.Bind(s, &syscall.SockaddrInet4{Port: b.port, Addr: [4]byte{127, 0, 0, 1}})
	}); err != nil {
		t.Fatal(err)
	}
	b.share(t, 0)
	address, err := syscall.Getsockname(s)
	if err != nil {
		t.Fatal(err)
	}
	b.port = address.(*syscall.SockaddrInet4).Port
}

// persistently tries again while an address is in use: a process that a test beside
// starts has this one's sockets from its fork to its exec.
func persistently(try func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func (b *broker) share(t *testing.T, on int) {
	if err := syscall.SetsockoptInt(b.socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, on); err != nil {
		t.Fatal(err)
	}
}

func (b *broker) url() string { return fmt.Sprintf("ws://127.0.0.1:%d/ws", b.port) }

// up begins to listen.
func (b *broker) up(t *testing.T) {
	b.share(t, 1)
	if err := persistently(func() error { return syscall.Listen(b.socket, 16) }); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(b.socket), b.name)
	listener, err := net.FileListener(file)
	file.Close()
	b.socket = -1
	if err != nil {
		t.Fatal(err)
	}
	b.server = &http.Server{Handler: http.HandlerFunc(b.serve)}
	b.serving.Go(func() { b.server.Serve(listener) })
}

// down refuses connections and cuts those that there are.
func (b *broker) down(t *testing.T) {
	if b.server != nil {
		b.close()
		b.bind(t)
	}
}

func (b *broker) close() {
	if b.server == nil {
		return
	}
	b.server.Close()
	b.serving.Wait()
	b.server = nil
	if b.conn != nil {
		b.conn.socket.Close()
		b.conn = nil
	}
}

func (b *broker) serve(w http.ResponseWriter, r *http.Request) {
	asked := &request{Request: r, answer: make(chan func(http.ResponseWriter))}
	select {
	case b.asked <- asked:
	case <-r.Context().Done():
		return
	}
	select {
	case answer := <-asked.answer:
		answer(w)
	case <-r.Context().Done():
	}
}

// answer waits for a client's request, and answers it.
func (b *broker) answer(how func(http.ResponseWriter, *http.Request)) error {
	late := time.After(patience)
	for {
		select {
		case r := <-b.asked:
			done := make(chan struct{})
			select {
			case r.answer <- func(w http.ResponseWriter) { defer close(done); how(w, r.Request) }:
				<-done
				b.last = r
				return nil
			case <-r.Context().Done(): // the client has given it up
			}
		case <-late:
			return fmt.Errorf("no connection came to %s", b.name)
		}
	}
}

// accept takes a client's next connection. subprotocol is what it is answered.
func (b *broker) accept(subprotocol string) error {
	var upgradeErr error
	err := b.answer(func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
		if subprotocol != "none" {
			upgrader.Subprotocols = []string{subprotocol}
		}
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			upgradeErr = err
			return
		}
		b.conn = &peer{broker: b, socket: socket, got: make(chan object, 4096), acks: map[string]float64{}}
		go b.conn.read()
	})
	return errors.Join(err, upgradeErr)
}

// token returns the token that the last request showed.
func (b *broker) token() string {
	if shown := b.last.URL.Query().Get("token"); shown != "" {
		return shown
	}
	_, shown, _ := cutBearer(b.last.Header.Get("Authorization"))
	return shown
}

func cutBearer(header string) (string, string, bool) {
	const prefix = "Bearer "
	if len(header) > len(prefix) && header[:len(prefix)] == prefix {
		return prefix, header[len(prefix):], true
	}
	return "", "", false
}

// peer is one connection of a client's.
type peer struct {
	broker *broker
	socket *websocket.Conn
	got    chan object // closed at its end
	ended  error       // why; once got is closed
	hello  object
	id     any // of the last message that had one, with its key
	key    any
	serves any // id of the last queue that is served

	mu    sync.Mutex
	acks  map[string]float64
	wrong string
	more  chan struct{} // closed when acks has news; nil if nobody waits
}

func (p *peer) read() {
	defer close(p.got)
	for {
		kind, text, err := p.socket.ReadMessage()
		if err != nil {
			p.ended = err
			p.socket.Close() // a client may wait for it once both have said goodbye
			p.tell()
			return
		}
		if kind == websocket.BinaryMessage {
			if text, err = protocol.AppendFromCBOR(nil, text); err != nil {
				p.ended = err
				return
			}
		}
		var m object
		if err := json.Unmarshal(text, &m); err != nil {
			p.ended = fmt.Errorf("%s: %w", text, err)
			return
		}
		if m["op"] == "ack" && m["key"] == nil {
			p.ack(m)
			continue
		}
		p.got <- m
	}
}

func (p *peer) ack(m object) {
	source, _ := m["source"].(string)
	num, _ := m["num"].(float64)
	p.mu.Lock()
	if num <= p.acks[source] {
		p.wrong = fmt.Sprintf("%s is acknowledged up to %v after %v", source, num, p.acks[source])
	}
	p.acks[source] = num
	p.mu.Unlock()
	p.tell()
}

func (p *peer) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more != nil {
		close(p.more)
		p.more = nil
	}
}

// acknowledged waits until a source is acknowledged up to a number, and not
// beyond.
func (p *peer) acknowledged(ctx context.Context, source string, num float64) error {
	for {
		p.mu.Lock()
		got, wrong := p.acks[source], p.wrong
		if p.more == nil {
			p.more = make(chan struct{})
		}
		more := p.more
		p.mu.Unlock()
		switch {
		case wrong != "":
			return errors.New(wrong)
		case got == num:
			return nil
		case got > num:
			return fmt.Errorf("%s is acknowledged up to %v, expected %v", source, got, num)
		}
		select {
		case <-more:
		case <-ctx.Done():
			return fmt.Errorf("%s is acknowledged up to %v, expected %v", source, got, num)
		}
	}
}

// next returns the client's next message beside acknowledgements.
func (p *peer) next() (object, error) {
	select {
	case m, open := <-p.got:
		if !open {
			return nil, fmt.Errorf("the connection to %s has ended: %w", p.broker.name, p.ended)
		}
		switch id, has := m["id"]; {
		case m["op"] == "hello":
			p.hello = m
		case m["op"] == "serve":
			p.serves = id
		case has:
			p.id, p.key = id, m["key"]
		}
		return m, nil
	case <-time.After(patience):
		return nil, errors.New("nothing came")
	}
}

// send sends a message with the defaults of its op.
func (p *peer) send(op, rest string) error {
	fill := defaults(op)
	switch op {
	case "welcome":
		fill["client"], fill["attachment"] = p.hello["client"], p.hello["attachment"]
		if fill["attachment"] == nil {
			fill["attachment"] = 1
		}
	case "reply", "accepted", "progress":
		fill["id"] = p.id
		if p.key != nil {
			fill["key"] = p.key
		}
	case "task":
		fill["id"] = p.serves
	}
	all, err := messages(op, rest, fill)
	if err != nil {
		return err
	}
	for _, m := range all {
		text, err := json.Marshal(m)
		if err == nil {
			err = p.say(text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// say sends text, in CBOR where that is spoken: then numbers may be NaN and
// Infinity, too.
func (p *peer) say(text []byte) error {
	if p.socket.Subprotocol() == protocol.SubprotocolCBOR {
		return p.socket.WriteMessage(websocket.BinaryMessage, protocol.AppendCBOR(nil, text))
	}
	return p.socket.WriteMessage(websocket.TextMessage, text)
}

// gone waits for the end of a connection, with a close status and reason if there is
// to be one: "1000 goodbye".
func (p *peer) gone(how string) error {
	select {
	case m, open := <-p.got:
		if open {
			return fmt.Errorf("the client sent %s", shown(m))
		}
	case <-time.After(patience):
		return errors.New("the connection does not end")
	}
	var closed *websocket.CloseError
	if how != "" && (!errors.As(p.ended, &closed) || strings.TrimSpace(strconv.Itoa(closed.Code)+" "+closed.Text) != how) {
		return fmt.Errorf("it ended with %v, expected %s", p.ended, how)
	}
	return nil
}
