package push

import (
	"context"
	"sync"
)

// maxPending bounds the commands and lists of one session that wait or run.
const maxPending = 64

// lanes run a session's commands: those to one robot one after the other, in
// their order, those to different robots beside each other, so that one that
// does not answer holds up no other.
type lanes struct {
	mu      sync.Mutex
	waiting map[string][]func(context.Context) // a lane that runs has an entry
	pending int
	running sync.WaitGroup
}

// add puts a job into a lane and reports whether there was room.
func (l *lanes) add(ctx context.Context, lane string, job func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == maxPending {
		return false
	}
	l.pending++
	if l.waiting == nil {
		l.waiting = map[string][]func(context.Context){}
	}
	queue, runs := l.waiting[lane]
	l.waiting[lane] = append(queue, job)
	if !runs {
		l.running.Add(1)
		go l.run(ctx, lane)
	}
	return true
}

// run works a lane off and ends when it is empty.
func (l *lanes) run(ctx context.Context, lane string) {
	defer l.running.Done()
	for {
		l.mu.Lock()
		queue := l.waiting[lane]
		if len(queue) == 0 {
			delete(l.waiting, lane)
			l.mu.Unlock()
			return
		}
		job := queue[0]
		l.waiting[lane] = queue[1:]
		l.mu.Unlock()
		job(ctx)
		l.mu.Lock()
		l.pending--
		l.mu.Unlock()
	}
}

// wait waits for all jobs; none may be added any more.
func (l *lanes) wait() { l.running.Wait() }
