package callboard

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gorilla/websocket"
)

// try carries out an attempt and attends to the connection that comes of it.
func (r *roamer) try(ctx context.Context, a *attempt) {
	if a.move == nil && !a.choice && r.c.queue.half(ctx) != nil {
		r.report(report{attempt: a, err: ctx.Err()})
		return
	}
	t := &trial{roamer: r, attempt: a, urls: slices.Clone(a.urls), renumbered: map[string]bool{}, mayEnd: true}
	for len(t.urls) > 0 && ctx.Err() == nil {
		conn, failed := r.c.first(ctx, t.urls, &r.running)
		for _, url := range slices.Clone(t.urls) {
			if err := failed[url]; err != nil {
				t.refuse(url, err)
			}
		}
		if conn == nil {
			continue
		}
		if ctx.Err() != nil {
			conn.socket.Close()
			break
		}
		welcomed, err := r.c.attach(ctx, conn, a, func() { r.report(report{attempt: a, conn: conn}) })
		if welcomed {
			r.report(report{conn: conn, err: err})
			return
		}
		t.refuse(conn.url, err)
	}
	r.report(report{attempt: a, err: t.result(ctx)})
}

// report tells Run's goroutine, as long as it listens.
func (r *roamer) report(got report) {
	select {
	case r.reports <- got:
	case <-r.stopped:
	}
}

// trial is how an attempt goes.
type trial struct {
	roamer     *roamer
	attempt    *attempt
	urls       []string // that may still be tried
	renumbered map[string]bool
	faults     []error
	fatal      bool // a broker has refused this client for good
	mayEnd     bool // none that has taken it before may do so again
}

// refuse strikes a broker out, unless its next answer will be another.
func (t *trial) refuse(url string, err error) {
	if errors.Is(err, errRenumbered) && !t.renumbered[url] {
		t.renumbered[url] = true
		t.urls = slices.DeleteFunc(t.urls, func(u string) bool { return u == url })
		t.urls = slices.Insert(t.urls, 0, url)
		return
	}
	t.urls = slices.DeleteFunc(t.urls, func(u string) bool { return u == url })
	t.faults = append(t.faults, err)
	var end *fatal
	refused := errors.As(err, &end)
	t.fatal = t.fatal || refused
	if errors.Is(err, ErrTakenOver) {
		t.urls, t.mayEnd = nil, true
	}
	c := t.roamer.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.roster.find(url); b != nil {
		b.Failed = time.Now()
		if b.Taken && !refused {
			t.mayEnd = false
		}
	}
}

// result is the attempt's error: fatal if going on makes no sense.
func (t *trial) result(ctx context.Context) error {
	err := errors.Join(t.faults...)
	switch {
	case err == nil:
		return ctx.Err()
	case t.fatal && t.mayEnd:
		return &fatal{err}
	}
	var end *fatal
	if errors.As(err, &end) { // one refusal among others: not the end
		return errors.New(err.Error())
	}
	return err
}

// away says of a lost connection's error that its broker is out of reach, or
// does not want this client for now.
func away(err error) bool {
	var closed *websocket.CloseError
	if errors.As(err, &closed) {
		return closed.Code != websocket.CloseAbnormalClosure
	}
	return errors.Is(err, errSilent)
}
