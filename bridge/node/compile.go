package node

import (
	"context"
	"runtime"

	"callboard/bridge/overlay"
)

// waiting are the changes of one key's set, in order, that wait until their
// conditions are compiled. Changes of other keys go before them.
type waiting struct {
	installs []*install
	jobs     int // that are being compiled
}

// job are the conditions of one change that are to be compiled.
type job struct {
	key      *waiting
	install  *install
	failures []overlay.Input
}

// compileLater has a change's conditions compiled beside the broker's
// goroutine. The changes of its key that follow wait behind it.
func (n *Node) compileLater(in *install) {
	w := n.waiting[in.Handle]
	if w == nil {
		w = &waiting{}
		n.waiting[in.Handle] = w
	}
	w.installs = append(w.installs, in)
	if in.missing() > 0 {
		w.jobs++
		n.jobs.must(&job{key: w, install: in})
	}
}

// compileAll compiles what waits, one condition after the other, until ctx ends.
func (n *Node) compileAll(ctx context.Context) {
	for {
		select {
		case <-n.jobs.ready:
		case <-ctx.Done():
			return
		}
		for _, j := range n.jobs.take(nil) {
			if !n.compileJob(ctx, j) {
				return
			}
			n.queue.must(item{ask: func() { n.compiledJob(j) }})
		}
	}
}

// compileJob compiles a change's conditions. One that does not compile any more
// is reported and matches nothing. It returns false if ctx has ended.
func (n *Node) compileJob(ctx context.Context, j *job) bool {
	for i, sub := range j.install.Put {
		if j.install.programs[i] != nil {
			continue
		}
		if ctx.Err() != nil {
			return false
		}
		giveWay()
		program, problem := n.config.Matcher.Compile(sub.Subscription)
		if problem != nil {
			j.failures = append(j.failures, &overlay.RunFailed{
				Handle: j.install.Handle, ID: sub.ID, Code: problem.Code, Message: problem.Message, Position: problem.Position,
			})
			continue
		}
		program.Allowed = sub.Allowed
		j.install.programs[i] = program
	}
	return true
}

// giveWay lets goroutines go on that are ready to. Those that compute beside the
// broker's call it at each subscription: else the broker's, which is ready all the
// time while sets come, would wait up to 10 ms for each of them to be preempted.
func giveWay() { runtime.Gosched() }

// compiledJob takes what has been compiled, in the broker's goroutine: a key's
// changes are carried out once none of them waits.
func (n *Node) compiledJob(j *job) {
	h := j.install.Handle
	if n.waiting[h] != j.key {
		return // the key has ended meanwhile
	}
	for _, failed := range j.failures {
		n.queue.must(item{in: failed})
	}
	if j.key.jobs--; j.key.jobs == 0 {
		delete(n.waiting, h)
		for _, in := range j.key.installs {
			n.installs.must(in)
		}
	}
}

// endWaiting lets go of what waits for a key's conditions: the key has ended.
func (n *Node) endWaiting(h overlay.Handle) {
	w := n.waiting[h]
	if w == nil {
		return
	}
	delete(n.waiting, h)
	for _, in := range w.installs {
		n.settle(in)
	}
}
