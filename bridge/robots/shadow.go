package robots

import (
	"time"

	"callboard/bridge/overlay"
	"callboard/bridge/shadow"
	"callboard/player"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// takeRaw returns what keeps a message's body for those who note what is tested; nil:
// nobody does.
func (s *session) takeRaw() func(body []byte) {
	if s.owner.config.Recorder == nil {
		return nil
	}
	return func(body []byte) { s.raw = body }
}

// What follows is called under the session's testing lock.

// begin begins a session with the robot's Player server.
func (r *robot) begin(devices []*player.Device) {
	if r.follows() {
		r.shadow.Up(r.instant(), devices)
		return
	}
	r.matching.Up(devices)
	r.anew(true)
}

// end ends it.
func (r *robot) end() {
	if r.follows() {
		r.shadow.Down()
		return
	}
	r.matching.Down()
	r.anew(false)
}

func (r *robot) anew(up bool) {
	if r.trail != nil {
		r.trail.Anew(up)
		r.post()
	}
}

// follows reports whether the robot is a standby's, which follows the active. One that
// goes on in its place is no more so with another session.
func (r *robot) follows() bool {
	if r.shadow != nil && r.shadow.Passing() {
		r.shadow = nil
	}
	return r.shadow != nil
}

func (r *robot) changed(d *player.Device) {
	if r.shadow != nil {
		r.shadow.Changed(d)
	} else {
		r.matching.Changed(d)
	}
	r.post()
}

// arrive takes a message. It reports whether something is held for completion.
func (r *robot) arrive(x player.Reading) (holds bool) {
	a := x.Device.Addr
	switch {
	case r.shadow != nil:
		r.shadow.Message(r.instant(), x.Device, shadow.Message{Subtype: x.Subtype, Time: x.Time, Body: r.session.raw})
		r.passed()
	case r.trail != nil:
		r.matching.Arrive(x)
		r.trail.Tested(player.Addr{Interf: a.Interf, Index: a.Index}, r.matching.Version(), x.Subtype, x.Time, r.session.raw)
	default:
		r.matching.Arrive(x)
		return r.matching.Holding()
	}
	r.post()
	return !r.behind() && r.matching.Holding()
}

// behind reports whether the robot only follows the active.
func (r *robot) behind() bool { return r.shadow != nil && !r.shadow.Passing() }

// passed lets go of what follows once messages come by themselves.
func (r *robot) passed() {
	if r.shadow.Done() {
		r.shadow = nil
	}
}

// flush gives what is held for completion.
func (r *robot) flush() {
	if r.behind() || !r.matching.Holding() {
		return
	}
	r.matching.Flush()
	if r.trail != nil {
		r.trail.Flushed()
		r.post()
	}
}

// post hands over what has matched since the last call.
func (r *robot) post() {
	if len(r.matched) > 0 {
		r.session.owner.config.Post(r.name, r.matched, r.session.decoded, r.trail.Post(nil))
		r.matched = nil
	}
}

func (r *robot) isUp() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state == protocol.RobotUp
}

func (r *robot) instant() overlay.Instant {
	return overlay.Instant(r.session.owner.config.Clock.Micro())
}

// What follows is for whoever leads a pair's side.

// Tell posts what the session with a robot has come to, for the standby (R8).
func (r *Robots) Tell(robot string) {
	one := r.byName[robot]
	if one == nil || one.trail == nil {
		return
	}
	one.session.testing.Lock()
	defer one.session.testing.Unlock()
	if one.shadow != nil || one.session.devices == nil {
		return
	}
	policies, version := one.matching.Policies()
	state := &shadow.State{Version: version, Held: one.matching.Holding(), Policies: policies}
	r.config.Post(robot, nil, one.session.decoded, one.trail.Post(state))
}

// Follow has a standby's robots do what the active has done; by returns the change of
// a version of the active's matcher. It is for the goroutine that installs.
func (r *Robots) Follow(items []shadow.Item, by func(version uint64) *subscribe.Change) {
	for len(items) > 0 {
		name, _ := of(items[0])
		n := 1
		for ; n < len(items); n++ {
			if next, _ := of(items[n]); next != name {
				break
			}
		}
		if one := r.byName[name]; one != nil {
			one.follow(items[:n], by)
		}
		items = items[n:]
	}
}

// of returns which robot an item is of, and by which version.
func of(x shadow.Item) (robot string, version uint64) {
	switch x := x.(type) {
	case *shadow.Tested:
		return x.Robot, x.Version
	case *shadow.State:
		return x.Robot, x.Version
	case *shadow.Flushed:
		return x.Robot, 0
	case *shadow.Anew:
		return x.Robot, 0
	}
	return "", 0
}

func (r *robot) follow(items []shadow.Item, by func(version uint64) *subscribe.Change) {
	r.session.testing.Lock()
	defer r.session.testing.Unlock()
	if !r.behind() {
		return
	}
	for _, x := range items {
		_, version := of(x)
		r.shadow.Follow(r.instant(), x, by(version))
	}
	r.shadow.Advance()
}

// each calls do for each robot that follows the active.
func (r *Robots) each(do func(*robot)) {
	for _, name := range r.names {
		one := r.byName[name]
		one.session.testing.Lock()
		if one.behind() {
			do(one)
		}
		one.session.testing.Unlock()
	}
}

// Forget says that the active begins to tell anew.
func (r *Robots) Forget() { r.each(func(one *robot) { one.shadow.Forget() }) }

// Wants lists the robots that could follow the active if it told what its session with
// them has come to.
func (r *Robots) Wants() (names []string) {
	r.each(func(one *robot) {
		if one.shadow.Wants(one.instant()) {
			names = append(names, one.name)
		}
	})
	return names
}

// Behind counts the robots with which this side could not go on as the active would,
// also those that are away.
func (r *Robots) Behind() (n int) {
	r.each(func(one *robot) {
		if !one.shadow.Sound() {
			n++
		}
	})
	return n
}

// Sound lists the robots with which this side can go on as the active would.
func (r *Robots) Sound() (names []string) {
	r.each(func(one *robot) {
		if one.shadow.Sound() {
			names = append(names, one.name)
		}
	})
	return names
}

// roundAfter is when what the active has held for completion is given, if nothing has
// completed it.
const roundAfter = 100 * time.Millisecond

// GoOn goes on in the active's place, once the sets that are left are in the matcher.
// sound are the robots that are as they were. missed: of all others readings were
// missed.
func (r *Robots) GoOn(sound []string, missed bool) {
	r.TellAgain()
	goesOn := map[string]bool{}
	for _, name := range sound {
		goesOn[name] = true
	}
	r.each(func(one *robot) {
		ok := goesOn[one.name] && one.shadow.GoOn()
		if !ok {
			one.shadow.Anew(goesOn[one.name])
		}
		if !ok || one.shadow.Done() {
			one.shadow = nil
		}
		one.post()
		if one.matching.Holding() { // the client's own Round comes after messages only
			time.AfterFunc(roundAfter, one.session.Round)
		}
		if !ok && missed && one.isUp() {
			one.overflow(0)
		}
	})
}
