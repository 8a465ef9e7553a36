package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	client "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

const (
	declaredName = "declared"
	passingName  = "passing"
)

// atOnce is how many tasks a server has in hand at a time.
const atOnce = 1000

// taskTTL is how long a request of a benchmark may take.
const taskTTL = 5 * time.Minute

// servingTasks starts this program as a broker of a configuration.
func servingTasks(_ context.Context, config string) (*broker, error) {
	url, process, err := startProgram("serve", "--config", config, "--log-level", "error")
	if err != nil {
		return nil, err
	}
	return &broker{url, process.Process.Pid, func() error { return terminate(process) }}, nil
}

// callboardTasks is a queue of a broker, a program that serves it, and one that asks.
type callboardTasks struct {
	url, queue    string
	asker, server *client.Client
}

// writeTaskConfig writes a broker's configuration that declares the queues.
func writeTaskConfig(dir string, queues ...string) (string, error) {
	text := "[broker]\nid = \"bench\"\nlisten = \"127.0.0.1:0\"\ndata = \"data\"\n"
	for _, queue := range queues {
		text += fmt.Sprintf("[[queue]]\nname = %q\ncount = 100_000\nbytes = 268_435_456\n", queue)
	}
	path := filepath.Join(dir, "callboard.toml")
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func newCallboardTasks(ctx context.Context, url, queue string) (_ *callboardTasks, err error) {
	s := &callboardTasks{url: url, queue: queue}
	if s.asker, err = dialCallboard(ctx, url, queue+"-asker"); err != nil {
		return nil, err
	}
	if s.server, err = dialCallboard(ctx, url, queue+"-server"); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	_, err = s.server.ServeMany(queue, atOnce, func(_ context.Context, t *client.Task) (any, error) { return t.Body, nil })
	if err == nil {
		_, err = s.server.List(ctx, "brokers") // the broker has the serve
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func dialCallboard(ctx context.Context, url, id string) (*client.Client, error) {
	return client.Dial(ctx, client.Config{
		Brokers: []string{"ws" + strings.TrimPrefix(url, "http") + "/ws"}, Client: id, Handle: func(client.Event) {},
	})
}

func (s *callboardTasks) ask(ctx context.Context, body []byte) ([]byte, error) {
	return s.asker.Request(ctx, client.Request{Queue: s.queue, Body: json.RawMessage(body), TTL: taskTTL})
}

func (s *callboardTasks) stop() error {
	for _, c := range []*client.Client{s.asker, s.server} {
		if c != nil {
			c.Close()
		}
	}
	return nil
}

// stream speaks the protocol itself, over a queue of its own of the same kind: the
// library has a goroutine for each task, which have no order.
func (s *callboardTasks) stream(ctx context.Context, bodies [][]byte) (answers, served [][]byte, err error) {
	queue := s.queue + orderSuffix
	server, err := dialWebSocket(ctx, s.url, queue+"-server")
	if err != nil {
		return nil, nil, err
	}
	defer server.Close()
	asker, err := dialWebSocket(ctx, s.url, queue+"-asker")
	if err != nil {
		return nil, nil, err
	}
	defer asker.Close()
	many := uint64(atOnce)
	if err := server.WriteJSON(&protocol.Serve{Op: protocol.OpServe, ID: "s", Queue: queue, AtOnce: &many}); err != nil {
		return nil, nil, err
	}
	if err := roundTrip(server); err != nil {
		return nil, nil, err
	}
	serving := make(chan error, 1)
	go func() { served, err = serveInOrder(server, len(bodies)); serving <- err }()
	asking := make(chan error, 1)
	go func() {
		ttl := taskTTL.Seconds()
		for i, body := range bodies {
			err := asker.WriteJSON(&protocol.Request{Op: protocol.OpRequest, ID: fmt.Sprint(i), Queue: queue, Body: body, TTL: &ttl})
			if err != nil {
				asking <- err
				return
			}
		}
		asking <- nil
	}()
	for len(answers) < len(bodies) {
		var r struct {
			Op     string
			OK     bool
			Result json.RawMessage
		}
		if err := asker.ReadJSON(&r); err != nil {
			return nil, nil, err
		}
		if r.Op == protocol.OpReply {
			answers = append(answers, r.Result)
		}
	}
	return answers, served, errors.Join(<-asking, <-serving)
}

// orderSuffix ends the name of the queue for the order.
const orderSuffix = "-order"

func dialWebSocket(ctx context.Context, url, id string) (*websocket.Conn, error) {
	dialer := websocket.Dialer{Subprotocols: []string{protocol.Subprotocol}}
	ws, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(url, "http")+"/ws", nil)
	if err != nil {
		return nil, err
	}
	if err := ws.WriteJSON(&protocol.Hello{Op: protocol.OpHello, Client: id}); err != nil {
		ws.Close()
		return nil, err
	}
	return ws, nil
}

// roundTrip waits until a broker has taken what was said before.
func roundTrip(ws *websocket.Conn) error {
	if err := ws.WriteJSON(&protocol.List{Op: protocol.OpList, ID: "there", What: "brokers"}); err != nil {
		return err
	}
	for {
		_, text, err := ws.ReadMessage()
		if err != nil || bytes.Contains(text, []byte(`"there"`)) {
			return err
		}
	}
}

// serveInOrder does so many tasks, each when it comes.
func serveInOrder(ws *websocket.Conn, n int) (served [][]byte, err error) {
	for len(served) < n {
		var t struct {
			Op, Task string
			Body     json.RawMessage
		}
		if err := ws.ReadJSON(&t); err != nil {
			return served, err
		}
		if t.Op != protocol.OpTask {
			continue
		}
		served = append(served, t.Body)
		if err := ws.WriteJSON(&protocol.Done{Op: protocol.OpDone, Task: t.Task, Body: t.Body}); err != nil {
			return served, err
		}
	}
	return served, nil
}
