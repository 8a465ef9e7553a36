//go:build linux

package conformance

import (
	"context"
	"encoding/json"
	"errors"

	callboard "callboard/clients/go"
)

// work is a task that a driver's server has in hand.
type work struct {
	task   *callboard.Task
	answer chan taskAnswer // cap 1
}

type taskAnswer struct {
	body json.RawMessage
	err  error
}

// asking is a task whose answer is awaited.
type asking struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// task does what a driver is told of tasks.
func (d *goDriver) task(c call) (any, error) {
	a := args[struct {
		Queue, Key, Tag, Task, Error string
		Body, Progress               json.RawMessage
		TTL                          float64
		AtOnce                       int `json:"at_once"`
		Echo                         bool
	}](c)
	switch c.Do {
	case "request":
		var asking asking
		d.locked(func() { asking = d.asked[c.Tag] })
		answer, err := d.client.Request(asking.ctx, callboard.Request{
			Queue: a.Queue, Body: a.Body, TTL: seconds(a.TTL), Key: a.Key,
			Accepted: func(ahead int) { d.print(map[string]any{"event": "accepted", "ahead": ahead}) },
			Progress: func(progress json.RawMessage) { d.print(map[string]any{"event": "progress", "progress": progress}) },
		})
		if asking.ctx.Err() != nil {
			err = &callboard.Error{Code: "aborted"}
		}
		return answer, err
	case "cancel":
		d.locked(func() { d.asked[a.Tag].cancel() })
	case "serve":
		handle := d.work
		if a.Echo {
			handle = func(_ context.Context, t *callboard.Task) (any, error) { return t.Body, nil }
		}
		s, err := d.client.ServeMany(a.Queue, max(a.AtOnce, 1), handle)
		if err != nil {
			return nil, err
		}
		d.locked(func() { d.servers[a.Queue] = s })
		go func() {
			<-s.Done()
			if code := code(s.Err()); code != "closed" {
				d.print(map[string]any{"event": "unserved", "queue": a.Queue, "code": code})
			}
		}()
	case "stop":
		var s *callboard.Server
		d.locked(func() { s = d.servers[a.Queue] })
		return nil, s.Stop(context.Background())
	case "answer":
		answer := taskAnswer{body: a.Body}
		if a.Error != "" {
			answer.err = errors.New(a.Error)
		}
		d.locked(func() { d.inHand[a.Task].answer <- answer })
	case "progress":
		var w *work
		d.locked(func() { w = d.inHand[a.Task] })
		return nil, w.task.Progress(a.Progress)
	}
	return nil, nil
}

// work has a task done by what the driver is told to do.
func (d *goDriver) work(ctx context.Context, t *callboard.Task) (any, error) {
	w := &work{task: t, answer: make(chan taskAnswer, 1)}
	d.locked(func() { d.inHand[t.Name] = w })
	d.print(map[string]any{"event": "task", "task": t.Name, "queue": t.Queue, "from": t.From, "body": t.Body, "again": t.Again})
	select {
	case a := <-w.answer:
		return a.body, a.err
	case <-ctx.Done():
		d.print(map[string]any{"event": "cancelled", "task": t.Name})
		return nil, ctx.Err()
	}
}

func (d *goDriver) locked(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}
