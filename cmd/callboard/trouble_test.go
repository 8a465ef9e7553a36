package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	processes "callboard/cmd/callboard/bench/network"
)

// trouble is what happens to a network in a soak: one thing after another,
// chosen by chance.
type trouble struct {
	seed    uint64
	every   time.Duration // from one trouble's beginning to the next, about
	longest time.Duration // that one lasts
	kinds   []string      // of troubleKinds; default all
	log     func(format string, args ...any)
}

// troubleKinds are all kinds of trouble: kill -9 and a new start; SIGSTOP and
// SIGCONT; a full disk; a link that ends, and one that holds all back.
var troubleKinds = []string{"kill", "pause", "full", "cut", "stall"}

// run makes trouble until ctx ends, then repairs all. It returns how often each
// kind happened.
func (t *trouble) run(ctx context.Context, n *processes.Network) (map[string]int, error) {
	rng := rand.New(rand.NewPCG(t.seed, 0x7e0b1e))
	kinds := t.kinds
	if len(kinds) == 0 {
		kinds = troubleKinds
	}
	h := &happening{n: n, busy: map[string]bool{}, count: map[string]int{}}
	links := n.Links()
	for ctx.Err() == nil {
		kind := kinds[rng.IntN(len(kinds))]
		length := t.longest/20 + time.Duration(rng.Int64N(int64(t.longest)))
		broker, link := rng.IntN(len(n.Brokers())), links[rng.IntN(len(links))]
		h.begin(ctx, t, kind, broker, link, length)
		select {
		case <-time.After(t.every/2 + time.Duration(rng.Int64N(int64(t.every)))):
		case <-ctx.Done():
		}
	}
	h.running.Wait()
	return h.count, h.err
}

// happening is what is under way.
type happening struct {
	n       *processes.Network
	running sync.WaitGroup

	mu    sync.Mutex
	busy  map[string]bool // brokers and links in trouble
	count map[string]int
	err   error
}

// begin makes one trouble, unless the broker or link has some already.
func (h *happening) begin(ctx context.Context, t *trouble, kind string, broker int, link [2]int, length time.Duration) {
	b, p := h.n.Brokers()[broker], h.n.Link(link[0], link[1])
	what, start, end := b.Name, b.Kill, func() error { return b.Start(context.WithoutCancel(ctx)) }
	switch kind {
	case "kill":
	case "pause":
		start, end = b.Pause, b.Continue
	case "full":
		start = func() error { return limitFiles(b, 1<<16) }
		end = func() error {
			err := limitFiles(b, 0)
			// It has to store what it could not: killed before, it would have lost that.
			return errors.Join(err, b.AwaitReady(context.WithoutCancel(ctx)))
		}
	default:
		what = fmt.Sprintf("b%d-b%d", link[0]+1, link[1]+1)
		start, end = func() error { p.Cut(); return nil }, func() error { p.Heal(); return nil }
		if kind == "stall" {
			start, end = func() error { p.Stall(); return nil }, func() error { p.Resume(); return nil }
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy[what] {
		return
	}
	h.busy[what] = true
	h.count[kind]++
	if t.log != nil {
		t.log("%s %s for %s", kind, what, length.Round(time.Millisecond))
	}
	h.note(start())
	h.running.Go(func() {
		select {
		case <-time.After(length):
		case <-ctx.Done():
		}
		err := end()
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.busy, what)
		h.note(err)
	})
}

// note keeps the first error. mu is held.
func (h *happening) note(err error) {
	if h.err == nil {
		h.err = err
	}
}
