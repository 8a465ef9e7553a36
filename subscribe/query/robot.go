package query

import (
	"slices"

	"callboard/player"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Sink takes what is found for a robot, in order. What it is handed is valid
// during the call. A nil function is not called.
type Sink struct {
	// Notify takes a notification; source and sequence numbers are left to the
	// caller, who orders those of several robots.
	Notify func(*protocol.Notify)
	// Span takes a stretch of time in which a condition (its index) held, once
	// that has ended: from the reading that made it true to the one that made it
	// false, or to the robot's last.
	Span func(condition int, from, to float64)
	// Observe takes each reading after it was tested; holds reports whether a
	// condition (its index) holds now.
	Observe func(a *view.Arrival, holds func(condition int) bool)
	// Failed is told once of a condition that failed while it ran.
	Failed func(subscribe.Failure)
}

// Robot is the state of one robot of a run.
type Robot struct {
	query   *Query
	sink    Sink
	name    string
	wanted  bool
	session *subscribe.Session
	up      bool
	devices []*player.Device // of the session
	notify  protocol.Notify
	matched []protocol.Matched

	latest float64 // s, of the newest message
	peak   float64 // s, of the newest before time ran back last
	held   []span  // by condition
	tally  Tally
}

// NewRobot makes the state of a robot of which nothing has come yet.
func (q *Query) NewRobot(name string, sink Sink) *Robot {
	return &Robot{query: q, sink: sink, name: name, wanted: q.WantsRobot(name), latest: never, peak: never,
		held: make([]span, len(q.subs)), tally: newTally(name, len(q.subs))}
}

// Up begins a session with these devices. continued: it is the one that is up
// already, at the beginning of the next file of a recording. The session of a
// robot that is up goes on, too, when another recorder reports other devices
// of it.
func (r *Robot) Up(world string, devices []*player.Device, continued bool) {
	if !r.wanted {
		return
	}
	if r.session == nil {
		r.session = r.query.matcher.NewSession(r.config(world))
	}
	if r.up && (continued || !r.covers(devices)) {
		for _, d := range devices {
			r.Known(d)
		}
		return
	}
	r.up = true
	r.devices = slices.Clone(devices)
	r.session.Up(devices)
}

// covers reports whether all of the session's devices are among some.
func (r *Robot) covers(devices []*player.Device) bool {
	for _, d := range r.devices {
		if !has(devices, d) {
			return false
		}
	}
	return true
}

func has(devices []*player.Device, d *player.Device) bool {
	return slices.ContainsFunc(devices, func(o *player.Device) bool { return o.Interf == d.Interf && o.Index == d.Index })
}

func (r *Robot) config(world string) subscribe.SessionConfig {
	c := subscribe.SessionConfig{Robot: r.name, World: world, Emit: r.emit, Failed: r.sink.Failed, Bare: r.query.config.Bare || r.sink.Notify == nil}
	if r.sink.Observe != nil {
		holds := func(condition int) bool { return r.held[condition].open }
		c.Observe = func(a *view.Arrival) { r.sink.Observe(a, holds) }
	}
	return c
}

// Known takes what was learned of a device since.
func (r *Robot) Known(d *player.Device) {
	if r.up {
		if !has(r.devices, d) {
			r.devices = append(r.devices, d)
		}
		r.session.Changed(d)
	}
}

// Arrive takes a message of the robot's data.
func (r *Robot) Arrive(m player.Reading) {
	if r.up && r.query.inside(m.Time) {
		r.clock(m.Time)
		r.session.Arrive(m)
	}
}

// Pass takes a message of which only the time is needed, see Query.Choose.
func (r *Robot) Pass(d *player.Device, subtype uint8, time float64) {
	if r.up && r.query.inside(time) {
		r.clock(time)
		r.session.Pass(d, subtype, time)
	}
}

// Down ends the session: the robot has gone away.
func (r *Robot) Down() {
	if r.up {
		r.up = false
		r.session.Down()
	}
}

// End ends the run: what was held for completion is given. The robot does not
// go away by it.
func (r *Robot) End() {
	if r.up {
		r.session.Flush()
	}
	for i := range r.held {
		r.close(i, r.latest)
	}
	if r.session != nil {
		r.tally.stats(r.session.Stats())
	}
}

// Tally is what was counted of the robot.
func (r *Robot) Tally() Tally { return r.tally }

func (r *Robot) clock(time float64) {
	if time < r.latest {
		r.peak = r.latest
	}
	r.latest = time
}

// emit takes what a reading matched.
func (r *Robot) emit(m *subscribe.Matched) {
	for i := range m.Matches {
		switch k := &m.Matches[i]; k.Key {
		case asked:
			r.found(m, k.Subscriptions)
		case spans:
			for _, s := range k.Subscriptions {
				r.changed(r.query.ids[s.ID], m.Time, *s.State)
			}
		}
	}
}

// found makes a notification.
func (r *Robot) found(m *subscribe.Matched, matches []subscribe.Match) {
	r.matched = r.matched[:0]
	whole := false
	for i := range matches {
		s := &matches[i]
		r.matched = append(r.matched, protocol.Matched{ID: s.ID, State: s.State, Values: protocol.JSON(s.Values)})
		whole = whole || s.Values == nil
		r.tally.notified(r.query.ids[s.ID], m.Time)
	}
	if r.sink.Notify == nil {
		return
	}
	r.notify = protocol.Notify{Op: protocol.OpNotify, Robot: r.name, Interface: m.Interface, Index: m.Index, Time: m.Time, Subscriptions: r.matched}
	if whole {
		r.notify.Reading = protocol.JSON(m.Reading)
	}
	r.sink.Notify(&r.notify)
}

// changed takes that a condition begins or ceases to hold.
func (r *Robot) changed(condition int, time float64, holds bool) {
	s := &r.held[condition]
	switch {
	case holds && s.open: // time ran back: it is told anew
		r.close(condition, r.peak)
		*s = span{true, time}
	case holds:
		*s = span{true, time}
	default:
		r.close(condition, time)
	}
}

// close ends a span. If time has run back since it began, it ended there.
func (r *Robot) close(condition int, to float64) {
	s := &r.held[condition]
	if !s.open {
		return
	}
	s.open = false
	if to < s.from {
		to = max(s.from, r.peak)
	}
	r.tally.held(condition, s.from, to)
	if r.sink.Span != nil {
		r.sink.Span(condition, s.from, to)
	}
}
