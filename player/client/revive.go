package client

import "time"

// In real Stage whoever closes a model's device silences it for everybody, also
// a driver inside the server: when laser:0, made from ranger:0, is closed,
// ranger:0 falls silent for those who have it open. So after a device was
// closed the others are listened to; those that have fallen silent are closed
// and opened again, which wakes them.
const (
	livelyWithin = 500 * time.Millisecond // before the close or after it: a device that sends all the time
	silentFor    = time.Second            // and then not any more
	reviveAfter  = livelyWithin + silentFor
)

// closedOne notes that a device was closed.
func (s *session) closedOne(now time.Time) {
	s.closedAt = now
	s.due(now.Add(reviveAfter))
}

// revive looks after the devices that a close may have silenced.
func (s *session) revive(now time.Time) error {
	if s.closedAt.IsZero() {
		return nil
	}
	if at := s.closedAt.Add(reviveAfter); now.Before(at) {
		s.due(at)
		return nil
	}
	closed := s.closedAt
	s.closedAt = time.Time{}
	for _, d := range s.devices {
		// What was on its way when the close came is no sign of life.
		if d.state != opened || closed.Sub(d.heard) > livelyWithin || now.Sub(d.heard) < silentFor {
			continue
		}
		s.log.Info("device has fallen silent since another was closed, it is opened again", "device", d.Addr.String())
		if err := s.closeDevice(now, d, false); err != nil {
			return err
		}
	}
	return nil
}
