package subscribe

import (
	"callboard/player"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// slack, in s, is what readings' times may be inexact by: they are sums of
// steps, and logs have three digits.
const slack = 1e-6

// state is the policy state of one subscription and robot, by the readings'
// time.
type state struct {
	watched view.Kinds // kinds of readings that it sees all of
	reading uint64     // that it saw last

	holds bool    // the condition held at the last reading
	since float64 // s, from when on

	risen   bool // for rising: it is true, and was told or is pending
	pending bool // for rising: not told yet
	told    bool // for change: a state was told
	was     bool // for change: which

	notified bool    // there was a notification
	at       float64 // s, when

	dev *player.Device // that tested it last
}

// step takes a reading's time and what the condition gave, and says whether
// to notify, and with which state.
func (st *state) step(s *protocol.Subscription, time float64, truth bool) (notify, held bool) {
	if truth && !st.holds {
		st.since = time
	}
	st.holds = truth
	held = truth && (s.For <= 0 || time-st.since >= s.For-slack)

	switch trigger(s) {
	case protocol.TriggerRising:
		if held && !st.risen {
			st.pending = true
		}
		st.risen = held
		st.pending = st.pending && held
		notify = st.pending
	case protocol.TriggerChange:
		notify = !st.told || st.was != held
	default:
		notify = held
	}
	if !notify {
		return false, held
	}
	if s.MinInterval > 0 && st.notified && time-st.at < s.MinInterval-slack {
		// Withheld: it stays due, and comes with a later reading unless the
		// state has gone back until then.
		return false, held
	}
	st.notified, st.at, st.pending = true, time, false
	st.told, st.was = true, held
	return true, held
}

// settled reports that readings which do not match change nothing.
func (st *state) settled(s *protocol.Subscription) bool {
	return !st.holds && !st.pending && (trigger(s) != protocol.TriggerChange || st.told && !st.was)
}

// leave reports whether to tell that the robot's going away ends a state.
func (st *state) leave(s *protocol.Subscription) bool {
	return trigger(s) == protocol.TriggerChange && st.told && st.was
}
