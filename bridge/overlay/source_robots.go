package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// watcher is an edge that is told of changes of this broker's robots.
type watcher struct {
	version uint64 // that it was told
	until   Instant
}

// ownVersion counts a change of this broker's robots.
func (b *source) ownVersion() uint64 {
	b.own.version = max(b.own.version+1, uint64(max(b.now, 1)))
	b.news = true
	return b.own.version
}

// robotState takes what has become of a robot of this broker.
func (b *source) robotState(in *RobotState) {
	r := b.robot(in.Robot)
	if in.Device != "" {
		if !r.refused {
			b.deviceState(in)
		}
		return
	}
	up := in.State == protocol.RobotUp
	if in.State != protocol.RobotOverflow && up == r.now.Up {
		return
	}
	before, a := b.own.version, *r.now
	a.Changed = b.ownVersion()
	switch {
	case in.State != protocol.RobotOverflow:
		a.Up, a.Since, a.Before = up, in.Since, a.Since
		if !up {
			a.Gone = a.Changed
		}
	default:
		a.Dropped, a.Uncounted = a.Changed, in.Lost == nil
		if in.Lost != nil {
			a.Lost += *in.Lost
		}
	}
	r.now = &a
	if !r.refused {
		if in.State == protocol.RobotAway {
			b.endStates(r.name)
		}
		old := b.own.put(&a)
		b.edge.tellChange(&b.own, &a, old, before)
	}
}

// deviceState takes what has become of a device. A roster has those that have
// been away.
func (b *source) deviceState(in *RobotState) {
	a := &Availability{Robot: protocol.AwayName(in.Robot, in.Device), Up: in.State == protocol.RobotUp, Since: in.Since}
	old := b.own.robots[a.Robot]
	if wasUp := old == nil || old.Up; wasUp == a.Up {
		return
	}
	before := b.own.version
	a.Changed = b.ownVersion()
	if old != nil {
		a.Before, a.Gone = old.Since, old.Gone
	}
	if !a.Up {
		a.Gone = a.Changed
	}
	b.own.put(a)
	b.edge.tellChange(&b.own, a, old, before)
}

// appear puts a robot of this broker into its roster.
func (b *source) appear(r *robot) {
	before, old, a := b.own.version, b.own.robots[r.name], *r.now
	a.Changed = b.ownVersion()
	if old != nil {
		a.Gone, a.Before = max(a.Gone, old.Gone), old.Since
	}
	if !a.Up {
		a.Gone = a.Changed
	}
	r.now = &a
	b.own.put(&a)
	b.edge.tellChange(&b.own, &a, old, before)
}

// disappear has a robot that this broker reads no more, or not in force, be
// away; or leaves it out, if it was never up.
func (b *source) disappear(r *robot) {
	old := b.own.robots[r.name]
	if old == nil {
		return
	}
	b.endStates(r.name)
	before, version := b.own.version, b.ownVersion()
	gone := &Availability{Robot: r.name, Since: b.now, Before: old.Since, Changed: version, Gone: version}
	if !old.Up && old.Before == 0 {
		b.own.remove(r.name)
		b.ownWhole = version
	} else if old.Up {
		b.own.put(gone)
	}
	b.edge.tellChange(&b.own, gone, old, before)
}

// onWatch answers an edge, which shows that this broker lives.
func (b *source) onWatch(from BrokerID, m *Watch) {
	w := b.watchers[from]
	if w == nil {
		if from == b.cfg.ID || len(b.watchers) >= maxBrokers {
			return
		}
		w = &watcher{}
		b.watchers[from] = w
	}
	w.until, w.version = b.lease(), b.own.version
	answer := b.robotsSince(m.Version)
	answer.Asked = m.Asked
	b.network.route(from, answer)
	for i := range m.Again {
		b.onAgain(&m.Again[i])
	}
}

// robotsSince returns what has changed of this broker's robots since a version.
func (b *source) robotsSince(version uint64) *Robots {
	m := &Robots{From: version, Version: b.own.version, Whole: version < b.ownWhole || version > b.own.version}
	if version == m.Version {
		return m
	}
	for _, name := range b.own.names {
		if a := b.own.robots[name]; m.Whole || a.Changed > version {
			m.Robots = append(m.Robots, *a)
		}
	}
	return m
}

// tellNews tells edges and the registry what is new of this broker's robots, at a
// step's end.
func (b *source) tellNews() {
	if b.news && b.now >= b.newsAt {
		b.news = false
		b.registry.tellStates()
		if len(b.robots.names) > fewRobots {
			b.newsAt = b.now + Instant(b.cfg.Heartbeat)/4
		}
	}
	if b.hasten && b.now >= b.hastenAt {
		b.hasten = false
		b.registry.register()
		if len(b.robots.names) > fewRobots {
			b.hastenAt = b.now + Instant(b.cfg.Heartbeat)/4
		}
	}
}

// due is when it is to be told of what waits.
func (b *source) due() Instant {
	due := never
	if b.hasten {
		due = b.hastenAt
	}
	if b.news {
		due = min(due, b.newsAt)
	}
	return due
}

// tellWatchers tells edges of what is new, at a step's end.
func (b *source) tellWatchers() {
	for _, id := range sortedKeys(b.watchers) {
		w := b.watchers[id]
		switch {
		case w.until < b.now:
			delete(b.watchers, id)
		case w.version < b.own.version:
			b.network.route(id, b.robotsSince(w.version))
			w.version = b.own.version
		}
	}
}

// readsRobot reports whether a robot of that name is read here, and in force.
func (b *source) readsRobot(name string) bool {
	r := b.robots.named[name]
	return r != nil && !r.refused
}

// registration is what the registry is told of this broker's robots, or only
// that it lives.
func (b *source) registration(whole bool) *Register {
	m := &Register{Stamp: b.stamp, Version: b.robots.changes, Whole: whole, Refusals: b.refusals}
	if whole {
		for _, name := range b.robots.names {
			r := b.robots.named[name]
			m.Robots = append(m.Robots, Advertisement{Robot: r.name, World: r.world, Devices: r.devices, Bounds: r.bounds, Refused: r.refused, Claimed: b.claimed[name]})
		}
	}
	return m
}

// hastenRegister has what is new told to the registry at the end of the step.
func (b *source) hastenRegister() { b.hasten = true }

// onRefusals takes the registry's word on this broker's robots.
func (b *source) onRefusals(m *Refusals) {
	b.refusals = m.Version
	holders, rivals := map[string]BrokerID{}, map[string]BrokerID{}
	for _, f := range m.Refused {
		holders[f.Robot] = f.Broker
	}
	for _, f := range m.Rivals {
		rivals[f.Robot] = f.Broker
	}
	for _, name := range b.robots.names {
		r := b.robots.named[name]
		holder, refused := holders[name]
		if refused == r.refused && holder == r.holder && rivals[name] == r.rival {
			continue
		}
		if refused != r.refused {
			b.robots.version++ // what can be matched has changed
			b.advertised()     // and the registry is told that it is known
		}
		moved := refused != r.refused
		r.refused, r.holder, r.rival = refused, holder, rivals[name]
		if moved && refused {
			b.disappear(r)
		} else if moved {
			b.appear(r)
		}
		b.put(&RobotRefused{Robot: name, Refused: refused, Holder: holder, Rival: r.rival})
	}
}

// isRefused reports whether a robot's name is another broker's.
func (b *source) isRefused(robot string) bool {
	if b.refusals == 0 {
		return false
	}
	r := b.robots.named[robot]
	return r != nil && r.refused
}

// advertise registers a robot: sets that can match it come into the local
// registry now (6).
func (b *source) advertise(in *Advertise) {
	r := b.robot(in.Robot)
	r.world, r.devices, r.bounds = in.World, slices.Clone(in.Devices), slices.Clone(in.Bounds)
	if in.Devices != nil && r.devices == nil {
		r.devices = []string{}
	}
	b.selectors.event++
	b.advertised()
	b.edge.appeared(r)
}

// robot returns the robot's registration, a new one if need be.
func (b *source) robot(name string) *robot {
	r := b.robots.named[name]
	if r == nil {
		r = &robot{name: name, now: &Availability{Robot: name, Up: slices.Contains(b.goOn, name), Since: b.now}}
		b.robots.named[name] = r
		at, _ := slices.BinarySearch(b.robots.names, name)
		b.robots.names = slices.Insert(b.robots.names, at, name)
		b.robots.version++
		b.claim(name)
		b.advertised()
		b.appear(r)
	}
	return r
}

// advertised has what has changed told to the registry.
func (b *source) advertised() {
	b.robots.changes = max(b.robots.changes+1, uint64(max(b.now, 0)))
	b.hastenRegister()
}

// withdraw takes an advertisement back. Keys stay: a source broker once named
// stays named until the session ends (G1).
func (b *source) withdraw(in *Withdraw) {
	r := b.robots.named[in.Robot]
	if r == nil {
		return
	}
	delete(b.robots.named, in.Robot)
	at, _ := slices.BinarySearch(b.robots.names, in.Robot)
	b.robots.names = slices.Delete(b.robots.names, at, at+1)
	b.robots.version++
	b.disclaim(in.Robot)
	b.advertised()
	b.disappear(r)
}
