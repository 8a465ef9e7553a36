//go:build linux

package conformance

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// relay stands between programs and a broker: it passes on what they say to each
// other, until it is told to cut connections or to be silent.
type relay struct {
	server *httptest.Server
	broker string
	frames *frames // of all that is said; nil: not kept
	mu     sync.Mutex
	conns  map[*websocket.Conn]bool
	mute   chan struct{} // closed when it speaks again; nil: it does
	gone   bool          // it takes no connections
	ending sync.WaitGroup
}

// frames are messages that have passed, one of each shape.
type frames struct {
	mu   sync.Mutex
	from map[string][][]byte // "client" or "broker"
}

func (f *frames) add(from string, text []byte) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.from[from]) < 5000 {
		f.from[from] = append(f.from[from], bytes.Clone(text))
	}
}

func newRelay(t *testing.T, broker string, frames *frames) *relay {
	r := &relay{broker: broker, frames: frames, conns: map[*websocket.Conn]bool{}}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(func() {
		r.silent(false)
		r.cut()
		r.server.Close()
		r.ending.Wait()
	})
	return r
}

func (r *relay) url() string { return "ws" + strings.TrimPrefix(r.server.URL, "http") + "/ws" }

func (r *relay) serve(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	gone := r.gone
	r.mu.Unlock()
	if gone {
		http.Error(w, "a test", http.StatusServiceUnavailable)
		return
	}
	header := http.Header{}
	if a := q.Header.Get("Authorization"); a != "" {
		header.Set("Authorization", a)
	}
	ctx, cancel := context.WithTimeout(q.Context(), patience)
	defer cancel()
	dialer := websocket.Dialer{Subprotocols: websocket.Subprotocols(q)}
	there, _, err := dialer.DialContext(ctx, r.broker, header)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	upgrader := websocket.Upgrader{Subprotocols: []string{there.Subprotocol()}, CheckOrigin: func(*http.Request) bool { return true }}
	here, err := upgrader.Upgrade(w, q, nil)
	if err != nil {
		there.Close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[here], r.conns[there] = true, true
	r.ending.Go(func() { r.pass(here, there, "client") })
	r.ending.Go(func() { r.pass(there, here, "broker") })
}

// pass passes on what one says until its connection ends, and then ends the other.
func (r *relay) pass(from, to *websocket.Conn, who string) {
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range []*websocket.Conn{from, to} {
			c.Close()
			delete(r.conns, c)
		}
	}()
	for {
		kind, text, err := from.ReadMessage()
		if err != nil {
			if closed, is := err.(*websocket.CloseError); is && closed.Code != websocket.CloseAbnormalClosure {
				to.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(closed.Code, closed.Text), time.Now().Add(time.Second))
			}
			return
		}
		r.mu.Lock()
		mute := r.mute
		r.mu.Unlock()
		if mute != nil {
			<-mute
		}
		r.frames.add(who, text)
		if to.WriteMessage(kind, text) != nil {
			return
		}
	}
}

// cut ends all connections without a word.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		c.UnderlyingConn().Close()
	}
}

// refuse ends all connections and takes no others.
func (r *relay) refuse() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	r.cut()
}

// silent reports whether nothing is passed on.
func (r *relay) silent(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case on && r.mute == nil:
		r.mute = make(chan struct{})
	case !on && r.mute != nil:
		close(r.mute)
		r.mute = nil
	}
}
