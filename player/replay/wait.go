package replay

import (
	"context"
	"log/slog"
	"time"

	"callboard/player/server"
)

// patience is how long clients may hold the replay back before it tells.
const patience = 5 * time.Second

// begin waits until the replay is to begin: a device has been opened, and
// those of the other Player servers had a moment to be. It returns false if ctx
// ends first.
func (p *pass) begin() bool {
	r := p.replay
	for p.ctx.Err() == nil {
		r.mu.Lock()
		now := time.Now()
		due, opened := r.due()
		start := opened && !now.Before(due)
		if start {
			r.state.started, r.state.ended = true, false
			r.at = p.seek
		}
		r.mu.Unlock()
		switch {
		case start:
			return true
		case opened:
			p.sleep(due.Sub(now))
		default:
			p.sleep(-1)
		}
	}
	return false
}

// due returns when the replay begins, and whether it does at all: a device is
// open. r.mu is held.
func (r *Replay) due() (time.Time, bool) {
	s := &r.state
	if s.opened == 0 {
		r.leave()
		return time.Time{}, false
	}
	if s.started {
		return time.Time{}, true
	}
	due := s.last.Add(r.cfg.Settle / 10)
	for _, p := range r.ports {
		if late := s.first.Add(r.cfg.Settle); !p.everOpen.Load() && late.After(due) {
			return late, true
		}
	}
	return due, true
}

// leave notes that all devices are closed: what follows is as at first. r.mu
// is held.
func (r *Replay) leave() {
	if !r.state.started {
		return
	}
	r.state.started, r.playing = false, true
	for _, p := range r.ports {
		p.everOpen.Store(false)
	}
}

// sleep waits for d (for ever if it is negative), a change, or ctx.
func (p *pass) sleep(d time.Duration) {
	var due <-chan time.Time
	if d >= 0 {
		p.timer.Reset(d)
		due = p.timer.C
	}
	select {
	case <-due:
	case <-p.replay.wake:
	case <-p.ctx.Done():
	}
}

// wait waits until what stands at line is due, and for as long as the replay is
// paused. It returns false if the pass is over: clients want to begin anew, have
// all gone, or ctx has ended.
func (p *pass) wait(line float64) bool {
	for begin := true; p.ctx.Err() == nil; begin = false {
		playing, speed, over := p.look()
		if over {
			return false
		}
		now := time.Now()
		p.pacer.set(now, playing, speed)
		if line < p.sought {
			return true
		}
		if begin {
			p.passGap(now, line)
		}
		if !playing {
			p.sleep(-1)
			continue
		}
		left := p.pacer.left(now, line)
		if left <= 0 {
			if speed != 0 || p.room() {
				return true
			}
			continue
		}
		p.sleep(left)
	}
	return false
}

// look returns what clients want.
func (p *pass) look() (playing bool, speed float64, over bool) {
	r := p.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.opened == 0 {
		r.leave()
		return false, 0, true
	}
	return r.playing, r.speed, r.state.rewind
}

// passGap begins the time line, and goes on at once where nothing was recorded
// for very long.
func (p *pass) passGap(now time.Time, line float64) {
	gap := line - p.line // NaN at first
	if gap <= p.replay.cfg.Gap.Seconds() {
		return
	}
	p.pacer.start(now, line)
	if gap > 0 {
		p.replay.log.Warn("nothing was recorded for long, or a clock was set; the replay goes on at once",
			slog.Duration("gap", seconds(gap).Round(time.Second)), slog.Duration("at", seconds(p.line-p.feed.first)))
	}
}

// room waits for clients that are slow, for a while, and reports whether all have
// room now. Clients that hold the replay back for long are logged.
func (p *pass) room() bool {
	const step = 100 * time.Millisecond
	for _, port := range p.replay.ports {
		if server.HasRoom(port.pub) {
			continue
		}
		ctx, cancel := context.WithTimeout(p.ctx, step)
		err := server.WaitRoom(ctx, port.pub)
		cancel()
		if err != nil {
			p.held(port, time.Now())
			return false
		}
	}
	p.tell = time.Time{}
	return true
}

// held notes that the replay is held back by clients of a port.
func (p *pass) held(port *Port, now time.Time) {
	switch {
	case p.tell.IsZero():
		p.tell = now.Add(patience)
	case now.After(p.tell):
		p.tell = now.Add(time.Minute)
		p.replay.log.Warn("the replay waits for clients that do not read", slog.Any("clients", server.Crowded(port.pub)), slog.Any("robots", port.Robots))
	}
}

// rest is the end of the recording: it is served on until clients want it to
// begin anew, or ctx ends.
func (p *pass) rest() {
	r := p.replay
	now := time.Now()
	for _, port := range r.ports {
		port.endedAt.Store(&now)
	}
	r.mu.Lock()
	r.state.ended, r.playing = true, false
	r.mu.Unlock()
	r.log.Info("the replay is at its end", slog.Uint64("messages", r.Progress().Messages))
	for p.ctx.Err() == nil {
		r.mu.Lock()
		again := r.state.rewind || r.state.opened == 0
		if again {
			r.state.ended = false
		}
		r.mu.Unlock()
		if again {
			return
		}
		p.sleep(-1)
	}
}
