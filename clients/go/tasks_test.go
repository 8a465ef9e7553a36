package callboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"
)

func dialTasks(t *testing.T, url, client string) *callboard.Client {
	t.Helper()
	c, err := callboard.Dial(t.Context(), callboard.Config{Brokers: []string{url}, Client: client, Handle: func(callboard.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestTasks: a server does tasks in order, with progress and answers; its errors, and
// the end of a request's context, are told.
func TestTasks(t *testing.T) {
	url := startBroker(t)
	server, asker := dialTasks(t, url, "server"), dialTasks(t, url, "asker")
	var mu sync.Mutex
	var did []string
	hangs := make(chan struct{}, 1)
	cancelled := make(chan struct{}, 1)
	_, err := server.Serve("docks", func(ctx context.Context, task *callboard.Task) (any, error) {
		var what string
		if err := json.Unmarshal(task.Body, &what); err != nil {
			return nil, err
		}
		mu.Lock()
		did = append(did, what)
		mu.Unlock()
		switch {
		case what == "fail":
			return nil, errors.New("no such dock")
		case what == "hang":
			hangs <- struct{}{}
			<-ctx.Done()
			cancelled <- struct{}{}
			return nil, ctx.Err()
		case strings.HasPrefix(what, "slow"):
			if err := task.Progress("half of " + what); err != nil {
				return nil, err
			}
		}
		return what + " for " + task.From, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	progress := make(chan string, 1)
	for i := range 20 {
		r := callboard.Request{Queue: "docks", Body: fmt.Sprintf("slow%d", i), Progress: func(text json.RawMessage) {
			select {
			case progress <- string(text):
			default:
			}
		}}
		answer, err := asker.Request(t.Context(), r)
		if want := fmt.Sprintf(`"slow%d for asker"`, i); err != nil || string(answer) != want {
			t.Fatalf("%s, %v; expected %s", answer, err, want)
		}
	}
	if got := <-progress; got != `"half of slow0"` {
		t.Errorf("progress %s", got)
	}
	var bad *callboard.Error
	if _, err := asker.Request(t.Context(), callboard.Request{Queue: "docks", Body: "fail"}); !errors.As(err, &bad) || bad.Code != protocol.Failed || bad.Message != "no such dock" {
		t.Errorf("%v; expected the server's error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-hangs; cancel() }()
	if _, err := asker.Request(ctx, callboard.Request{Queue: "docks", Body: "hang", TTL: 5 * time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; expected that the context has ended", err)
	}
	select {
	case <-cancelled:
	case <-time.After(20 * time.Second):
		t.Fatal("the server was not told that the task is cancelled")
	}
	if _, err := asker.Request(t.Context(), callboard.Request{Queue: "docks", Body: "after"}); err != nil {
		t.Error(err)
	}
	if !slices.IsSortedFunc(did[:20], func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("out of order: %v", did)
	}
	if _, err := asker.Request(t.Context(), callboard.Request{Queue: "nowhere", TTL: 30 * time.Second}); !errors.As(err, &bad) || bad.Code != protocol.Unavailable {
		t.Errorf("%v; expected unavailable", err)
	}
}

// TestTaskKey: the same key again is the same task: it is not done twice, and has one
// answer for as long as nobody has acknowledged it.
func TestTaskKey(t *testing.T) {
	url := startBroker(t)
	server := dialTasks(t, url, "server")
	asker := dialTasks(t, url, "asker")
	did := make(chan string, 10)
	release := make(chan struct{})
	if _, err := server.ServeMany("pictures", 4, func(_ context.Context, task *callboard.Task) (any, error) {
		did <- string(task.Body)
		<-release
		return "taken", nil
	}); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	accepted := make(chan int, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := asker.Request(ctx, callboard.Request{Queue: "pictures", Key: "p1", Body: 1, Accepted: func(ahead int) { accepted <- ahead }})
		first <- err
	}()
	<-accepted
	if _, err := asker.Request(t.Context(), callboard.Request{Queue: "pictures", Key: "p1", Body: 1}); err == nil {
		t.Error("the same key is awaited twice by one client")
	}
	<-did
	// Another process with the same client id asks by the same key.
	again, err := callboard.Dial(t.Context(), callboard.Config{Brokers: []string{url}, Client: "asker", Handle: func(callboard.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	answer := make(chan string, 1)
	go func() {
		got, err := again.Request(t.Context(), callboard.Request{Queue: "pictures", Key: "p1", Body: 1, TTL: time.Minute})
		answer <- fmt.Sprint(string(got), err)
	}()
	close(release)
	if got := <-answer; got != `"taken"<nil>` {
		t.Errorf("the second process gets %s", got)
	}
	cancel()
	<-first
	if n := len(did); n != 0 {
		t.Errorf("%d more were done", n)
	}
}

// TestServerGoes: what a server has in hand that closes its connection is done by
// another one, who is told that somebody had it.
func TestServerGoes(t *testing.T) {
	url := startBroker(t)
	first, asker := dialTasks(t, url, "first"), dialTasks(t, url, "asker")
	inHand := make(chan struct{})
	if _, err := first.Serve("docks", func(ctx context.Context, _ *callboard.Task) (any, error) {
		close(inHand)
		<-ctx.Done()
		return nil, ctx.Err()
	}); err != nil {
		t.Fatal(err)
	}
	answer := make(chan string, 1)
	go func() {
		got, err := asker.Request(t.Context(), callboard.Request{Queue: "docks", TTL: time.Minute})
		answer <- fmt.Sprint(string(got), err)
	}()
	<-inHand
	second := dialTasks(t, url, "second")
	server, err := second.Serve("docks", func(_ context.Context, task *callboard.Task) (any, error) { return task.Again, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.List(t.Context(), "brokers"); err != nil { // the broker has its serve
		t.Fatal(err)
	}
	first.Close()
	if got := <-answer; got != "true<nil>" {
		t.Errorf("the answer is %s; expected that the task was in somebody's hands before", got)
	}
	if err := server.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
