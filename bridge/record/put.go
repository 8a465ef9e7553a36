package record

import (
	"errors"
	"math"
	"slices"
	"time"

	"callboard/player"
	"callboard/player/run"
)

// now is when something is recorded.
func now() time.Time { return time.Now() }

// Put records a record. It may be called from several goroutines and does not
// wait for the disk; what rec points to is not kept, but for its devices.
func (r *Recorder) Put(rec *run.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil || r.part == nil {
		return
	}
	s := r.note(rec)
	if rec.Kind == run.Data && r.disk.waiting() > r.config.QueueBytes {
		if s.dropped == 0 {
			r.log.Warn("the disk is too slow: messages are dropped", "robot", rec.Robot)
		}
		s.dropped++
		r.status.Dropped++
		return
	}
	if s.dropped > 0 {
		lost := run.Record{Kind: run.Lost, Robot: rec.Robot, World: rec.World, Player: rec.Player, Logged: rec.Logged, Count: s.dropped}
		s.dropped = 0
		if r.err = r.write(&lost); r.err != nil {
			return
		}
	}
	r.err = r.write(rec)
	if r.err == nil && r.config.RotateSize > 0 && r.writer.Size() >= r.config.RotateSize {
		r.err = r.rotate()
	}
}

// note keeps what further files must tell at their beginning.
func (r *Recorder) note(rec *run.Record) *session {
	s := r.sessions[rec.Robot]
	if s == nil {
		s = &session{}
		r.sessions[rec.Robot] = s
		r.order = append(r.order, rec.Robot)
	}
	s.world, s.player = rec.World, rec.Player
	switch rec.Kind {
	case run.Up:
		s.up, s.devices = true, slices.Clone(rec.Devices)
	case run.Down:
		s.up = false
	case run.Lost:
		r.status.Lost += rec.Count
	case run.Known:
		at := slices.IndexFunc(s.devices, func(d *player.Device) bool { return d.Addr == rec.Device.Addr })
		if at < 0 {
			s.devices = append(s.devices, rec.Device)
		} else {
			s.devices[at] = rec.Device
		}
	}
	return s
}

// write writes a record; what the format cannot hold is counted.
func (r *Recorder) write(rec *run.Record) error {
	err := r.writer.Write(rec)
	var not *run.Unwritable
	switch {
	case errors.As(err, &not):
		r.status.Unwritable++
		if !r.told[not.Header.Interf] {
			r.told[not.Header.Interf] = true
			r.log.Warn("the file cannot hold a message; such are left out", "robot", rec.Robot, "message", not.Header.String(), "why", not.Why)
		}
		return nil
	case err != nil:
		return err
	}
	if rec.Kind == run.Data {
		r.status.Messages++
		r.part.messages.Add(1)
		if !r.isMCAP() && r.clock.jumps(rec) {
			r.log.Warn("the Player servers' clocks differ: Player's readlog would wait for the difference between lines; record them into files of their own, or into .mcap",
				"player", rec.Player, "time", rec.Header.Timestamp, "other", r.clock.other)
		}
	}
	return nil
}

// clock finds servers whose clocks have nothing to do with each other: a
// simulation that begins at 0, and Unix time.
type clock struct {
	player string
	time   float64
	other  float64
	told   bool
}

// far is how far apart in s the clocks of servers may be.
const far = 3600

// jumps reports, once, that the record's clock is another.
func (c *clock) jumps(rec *run.Record) bool {
	t := rec.Header.Timestamp
	other := c.player != "" && c.player != rec.Player && math.Abs(t-c.time) > far
	c.other, c.player, c.time = c.time, rec.Player, t
	if !other || c.told {
		return false
	}
	c.told = true
	return true
}
