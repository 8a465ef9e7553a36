package replay

import (
	"context"
	"log/slog"
	"math"
	"time"

	"callboard/player/server"
)

// before is how much of what came before a place that is sought, in s, is sent at once.
const before = 0.5

// together is how many messages are published at once at most: far fewer than
// a client's queue holds, see server.WaitRoom.
const together = 64

// pass is one way through the recording, from its beginning or from a place that was
// sought. It belongs to the
// goroutine of Run.
type pass struct {
	ctx    context.Context
	replay *Replay
	feed   *feed
	timer  *time.Timer

	batch *batch
	next  int // in batch

	pacer  pacer
	seek   float64   // s since the beginning, where it begins; 0: at the beginning
	sought float64   // s, the same on the time line, once that is known
	line   float64   // of the newest message; NaN: none yet
	tell   time.Time // when it is told that clients hold the replay back; zero: they do not
}

func (r *Replay) newPass(ctx context.Context) (*pass, error) {
	r.mu.Lock()
	seek := r.state.seek
	r.state.seek, r.state.rewind = 0, false
	r.mu.Unlock()
	feed, err := newFeed(ctx, r, seek)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return &pass{ctx: ctx, replay: r, feed: feed, timer: timer, seek: seek, sought: math.Inf(-1), line: math.NaN()}, nil
}

func (p *pass) end() {
	p.timer.Stop()
	p.feed.end()
}

// play plays the recording once. It returns at the end if it is to begin anew,
// when clients want it to, and when ctx has ended.
func (p *pass) play() {
	some := p.fetch()
	p.learnAhead()
	if !p.begin() {
		return
	}
	p.pacer.set(time.Now(), true, p.replay.speedNow())
	if p.seek > 0 && some {
		p.sought = p.feed.first + p.seek
		p.pacer.start(time.Now(), p.sought)
	}
	for some {
		group := p.group()
		if group[0].answer == nil && !p.wait(group[0].line) {
			return
		}
		p.publish(group)
		p.next += len(group)
		some = p.fetch()
	}
	if p.ctx.Err() == nil && (!p.replay.cfg.Loop || math.IsNaN(p.line)) {
		p.rest()
	}
}

// fetch makes sure that there is an event at next. It returns false at the end.
func (p *pass) fetch() bool {
	for p.batch == nil || p.next == len(p.batch.events) {
		if p.batch != nil {
			p.feed.reuse(p.batch)
			p.batch = nil
		}
		b, ok := <-p.feed.out
		if !ok {
			return false
		}
		p.batch, p.next = b, 0
	}
	return true
}

// learnAhead takes what is told of devices before the first message, so that
// it is answered before the replay begins.
func (p *pass) learnAhead() {
	if p.batch == nil {
		return
	}
	for _, e := range p.batch.events {
		if e.answer == nil {
			return
		}
		e.device.learn(e.subtype, e.answer)
	}
}

// group returns the events that are dealt with together: messages of one moment
// (as fast as possible: some messages), or what is told of a device.
func (p *pass) group() []event {
	events := p.batch.events[p.next:]
	n := 1
	for n < len(events) && n < together && (events[n].answer == nil) == (events[0].answer == nil) &&
		(p.pacer.speed == 0 || events[n].line == events[0].line) {
		n++
	}
	return events[:n]
}

// publish sends a group out, what goes to one server in one go.
func (p *pass) publish(group []event) {
	if group[0].answer != nil {
		for _, e := range group {
			e.device.learn(e.subtype, e.answer)
		}
		return
	}
	for rest := group; len(rest) > 0; {
		port := rest[0].device.port
		n := 1
		for n < len(rest) && rest[n].device.port == port {
			n++
		}
		some := rest[:n]
		rest = rest[n:]
		server.Batch(port.pub, func() {
			for i := range some {
				p.send(port, &some[i])
			}
		})
	}
	p.line = group[len(group)-1].line
	r := p.replay
	r.mu.Lock()
	r.at = max(p.line, p.sought) - p.feed.first
	r.played += uint64(len(group))
	r.mu.Unlock()
}

// send sends one message.
func (p *pass) send(port *Port, e *event) {
	port.setClock(e.time)
	if !port.everOpen.Load() {
		port.missed++
	} else if port.missed > 0 {
		p.replay.log.Warn("a Player server of the replay was opened after the beginning; its first messages are missed",
			slog.Any("robots", port.Robots), slog.Uint64("missed", port.missed))
		port.missed = 0
	}
	port.pub.PublishBody(e.device.addr, e.subtype, e.time, p.batch.bytes[e.from:e.to])
}
