package client

import (
	"time"

	"callboard/player"
)

// In real Stage whoever closes a model's device silences it for everybody, also
// a driver inside the server: when laser:0, made from ranger:0, is closed,
// ranger:0 falls silent for those who have it open. So devices are listened to:
// one that has fallen silent while others of its robot go on is closed and
// opened again, which wakes it. Only if the session itself has closed a device
// is less silence enough.
const (
	livelyWithin = 500 * time.Millisecond // before the close or after it: a device that sends all the time
	silentFor    = time.Second            // and then not any more
	reviveAfter  = livelyWithin + silentFor

	maxRevivePause = time.Minute // between attempts to wake a device
)

// hearing is what is known of a device's silence.
type hearing struct {
	rhythm  rhythm
	heard   time.Time // when its newest DATA came; zero: none since it was opened
	stamp   float64   // s, the time in it
	silent  bool      // it has fallen silent, which was told
	revived time.Time // when it was opened again for that
	pause   time.Duration
}

// opened begins to listen. To be silent while it was closed was no silence.
func (e *hearing) opened() {
	if !e.silent {
		*e = hearing{rhythm: rhythm{longest: e.rhythm.longest}}
	}
}

// closedOne notes that a device was closed.
func (s *session) closedOne(now time.Time) {
	s.closedAt = now
	s.due(now.Add(reviveAfter))
}

// hear takes a message of a device.
func (s *session) hear(d *device, h player.Header) {
	now := s.lastRead
	switch gap := now.Sub(d.heard); {
	case d.silent:
		// If it is not for having been opened again, it can be that silent.
		if now.Sub(d.revived) > max(silentFor, 3*d.rhythm.period) {
			d.rhythm.longest = max(d.rhythm.longest, gap)
		}
		d.rhythm.newest = time.Time{}
		d.silent = false
		s.log.Info("device is heard again", "device", d.Addr.String(), "after", gap.Round(time.Millisecond))
		s.tellSilent(d)
	case !d.heard.IsZero() && 2*gap > d.rhythm.maxSilence():
		d.rhythm.longest = max(d.rhythm.longest, gap)
		d.rhythm.newest = time.Time{}
	}
	d.heard, d.stamp, s.heard = now, h.Timestamp, now
	d.rhythm.beat(h.Subtype, now, h.Timestamp)
}

func (s *session) tellSilent(d *device) {
	if s.cfg.Silent != nil {
		s.cfg.Silent(d.Addr, d.silent)
	}
}

// revive opens devices again that have fallen silent.
func (s *session) revive(now time.Time) error {
	var closed time.Time // of a close whose time has come
	switch at := s.closedAt.Add(reviveAfter); {
	case s.closedAt.IsZero():
	case now.Before(at):
		s.due(at)
	default:
		closed, s.closedAt = s.closedAt, time.Time{}
	}
	for _, d := range s.devices {
		switch {
		case d.state != opened:
			continue
		case d.silent && now.Sub(d.revived) >= d.pause:
			d.pause = min(2*d.pause, maxRevivePause)
		case !d.silent && s.overdue(d, now):
			s.log.Warn("device has fallen silent, it is opened again", "device", d.Addr.String(), "for", now.Sub(d.heard).Round(time.Millisecond))
			d.silent, d.pause = true, d.rhythm.maxSilence()
			s.count.silences.Add(1)
			s.tellSilent(d)
		// What was on its way when the close came is no sign of life.
		case !closed.IsZero() && closed.Sub(d.heard) <= livelyWithin && now.Sub(d.heard) >= silentFor:
			s.log.Info("device has fallen silent since another was closed, it is opened again", "device", d.Addr.String())
		default:
			continue
		}
		d.revived = now
		if err := s.closeDevice(now, d, false); err != nil {
			return err
		}
	}
	return nil
}

// overdue reports whether a device has been silent for too long while another
// of its group was heard. By their own times it is too long, too: a simulation
// that goes slower now is no silence. A device that is the only one of its group
// to send is compared with all others.
func (s *session) overdue(d *device, now time.Time) bool {
	maxSilence := d.rhythm.maxSilence()
	if !d.rhythm.known() || now.Sub(d.heard) < maxSilence || s.heard.Sub(d.heard) < maxSilence {
		return false
	}
	alone, others := true, false
	for _, o := range s.devices {
		if o == d || o.state != opened || o.heard.IsZero() {
			continue
		}
		alive := o.heard.Sub(d.heard) >= maxSilence && !(o.stamp-d.stamp < silentBeats*d.rhythm.step)
		others = others || alive
		if o.group == d.group {
			if alive {
				return true
			}
			alone = false
		}
	}
	return alone && others
}
