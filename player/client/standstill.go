package client

import "time"

// standstill is how late the session may come to what is due; beyond that it was
// not there: this process stood still, or a Handler took its time.
const standstill = time.Second

// attend moves all times by how long the session was not there: no peer is
// blamed for that, and what has arrived meanwhile comes before any verdict.
func (s *session) attend(now time.Time) {
	late := now.Sub(s.wake)
	if late <= standstill {
		return
	}
	s.log.Debug("was not there", "for", late)
	past := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(min(late, now.Sub(*t)))
		}
	}
	past(&s.lastRead)
	past(&s.heard)
	past(&s.closedAt)
	for _, d := range s.devices {
		past(&d.heard)
		past(&d.revived)
		past(&d.rhythm.since)
		past(&d.rhythm.newest)
	}
	s.setup.until = s.setup.until.Add(late)
	s.pending.postpone(late)
	s.wake = now
}
