package shadow

import (
	"cmp"
	"slices"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe"
)

// Robot is what a standby's session with a robot keeps, and tests behind the active.
// It is for one goroutine at a time.
type Robot struct {
	session *subscribe.Session
	trail   *Trail
	devices map[player.Addr]*device
	sound   bool              // what was tested is what the active has tested, up to the marks
	passing bool              // it goes on in the active's place, and passes over what that has tested
	by      *subscribe.Change // by which was tested last
	alone   bool              // it has told what is behind the marks
	done    bool              // it has gone on, and messages need not come here any more
	up      bool
	since   overlay.Instant // the session's beginning
	groups  []*group
	arrived uint64 // messages so far
}

type device struct {
	known *player.Device
	ring  standby.Ring[*message]
	slots []slot

	// Up to where State has told of the device, if this side had read nothing of it by
	// then. What it reads of that later, being late, counts no more.
	told  standby.Mark
	until overlay.Instant // it is looked for
}

// late reports whether a message is one that State has told of.
func (d *device) late(now overlay.Instant, m *Message) bool {
	if now >= d.until {
		return false
	}
	switch {
	case m.Time < d.told.Time:
		return true
	case m.Time > d.told.Time:
		d.until = 0
		return false
	}
	i := slices.Index(d.told.Hashes, Hash(m.Subtype, m.Body))
	if i >= 0 {
		d.told.Hashes = slices.Delete(d.told.Hashes, i, i+1)
	}
	return i >= 0
}

// message is one that was kept.
type message struct {
	number uint64
	of     *device
	Message
}

// slot is where messages of one subtype are decoded.
type slot struct {
	subtype uint8
	form    *iface.Message // nil: not in the table
	payload any
}

// group is what the active has tested by one version, and what it has done then.
type group struct {
	by     *subscribe.Change
	marks  []mark
	passed []*message
	then   Item // nil: nothing yet
}

type mark struct {
	device player.Addr
	standby.Mark
	reached bool
}

// Bounds: what needs more is not sound.
const (
	maxGroups = 1000
	settled   = overlay.Instant(overlay.Second) // of a session: marks that are made then count (R6)
	maxLate   = 60 * settled                    // of a session that has read nothing yet
)

// NewRobot makes one whose session tells nobody anything.
func NewRobot(session *subscribe.Session, trail *Trail) *Robot {
	session.Shadow(nil)
	return &Robot{session: session, trail: trail, devices: map[player.Addr]*device{}}
}

// Up begins a session of this side.
func (r *Robot) Up(now overlay.Instant, devices []*player.Device) {
	r.lose()
	r.up, r.since = true, now
	for a, d := range r.devices {
		d.ring.Begin()
		d.known, d.until = nil, 0
		if !slices.ContainsFunc(devices, func(k *player.Device) bool { return address(k.Addr) == a }) {
			delete(r.devices, a)
		}
	}
	for _, k := range devices {
		r.know(k)
	}
	r.session.Up(devices)
}

// Changed takes what was learned of a device.
func (r *Robot) Changed(k *player.Device) {
	r.know(k)
	r.session.Changed(k)
}

func (r *Robot) know(k *player.Device) *device {
	d := r.devices[address(k.Addr)]
	if d == nil {
		d = &device{}
		r.devices[address(k.Addr)] = d
	}
	d.known = k
	return d
}

// address is what both sides call a device.
func address(a player.Addr) player.Addr { return player.Addr{Interf: a.Interf, Index: a.Index} }

// Down ends the session of this side.
func (r *Robot) Down() {
	r.lose()
	r.up = false
	r.session.Down()
}

// Forget says that what was followed counts no more: the active begins to tell anew.
func (r *Robot) Forget() { r.lose() }

func (r *Robot) lose() {
	r.sound, r.passing, r.groups = false, false, nil
}

// Message takes a message of this side's session.
func (r *Robot) Message(now overlay.Instant, k *player.Device, m Message) {
	d := r.know(k)
	if d.late(now, &m) {
		return
	}
	m.Body = slices.Clone(m.Body)
	r.arrived++
	passed := d.ring.Put(now, m.Time, Hash(m.Subtype, m.Body), &message{r.arrived, d, m})
	switch {
	case r.passing:
		r.goOn(passed)
		return
	case !r.sound:
		return
	case len(r.groups) == 0:
		r.testAll(passed)
	default:
		r.groups[0].passed = append(r.groups[0].passed, passed...)
	}
	r.advance(false)
}

// Follow takes what the active has done. by is the change of that version. Behind
// those that came together comes an Advance.
func (r *Robot) Follow(now overlay.Instant, x Item, by *subscribe.Change) {
	if s, is := x.(*State); is && !r.sound {
		r.take(now, s, by)
		return
	}
	t, is := x.(*Tested)
	last := r.last(by, is)
	if !is {
		last.then = x
	} else {
		m := mark{device: address(t.Device), Mark: t.Mark}
		m.Fresh = r.up && now-r.since > settled
		i := slices.IndexFunc(last.marks, func(old mark) bool { return old.device == m.device })
		if i < 0 {
			last.marks = append(last.marks, m)
		} else {
			last.marks[i] = m
		}
	}
	if len(r.groups) > maxGroups {
		r.lose()
	}
}

// Advance tests what the active is known to have tested.
func (r *Robot) Advance() { r.advance(!r.sound) }

// last returns the group that what comes belongs to.
func (r *Robot) last(by *subscribe.Change, marks bool) *group {
	if n := len(r.groups); n > 0 {
		if g := r.groups[n-1]; g.then == nil && (!marks || g.by == by || len(g.marks) == 0) {
			if marks {
				g.by = by
			}
			return g
		}
	}
	g := &group{by: by}
	r.groups = append(r.groups, g)
	return g
}

// advance follows the active as far as this side's session has come; whole: as far as
// it has told.
func (r *Robot) advance(whole bool) {
	for len(r.groups) > 0 {
		g := r.groups[0]
		if !r.reach(g) && !whole {
			r.sound = r.sound && r.aligned()
			return
		}
		r.groups = r.groups[1:]
		if !r.sound {
			continue
		}
		slices.SortFunc(g.passed, func(a, b *message) int { return cmp.Compare(a.number, b.number) })
		if len(g.marks) > 0 {
			r.by = g.by
			r.session.Shadow(r.by)
		}
		r.testAll(g.passed)
		r.do(g.then)
	}
	r.sound = r.sound && r.aligned()
}

// reach has the rings pass what a group's marks say. It reports whether all of that
// has come.
func (r *Robot) reach(g *group) bool {
	all := true
	for i := range g.marks {
		m := &g.marks[i]
		d := r.devices[m.device]
		if m.reached || d == nil {
			continue
		}
		g.passed = append(g.passed, d.ring.Pass(m.Mark)...)
		m.reached = d.ring.Reached()
		all = all && m.reached
	}
	return all
}

// aligned reports whether it is known of all devices where the active stands.
func (r *Robot) aligned() bool {
	for _, d := range r.devices {
		if _, known := d.ring.Rest(); !known {
			return false
		}
	}
	return true
}

func (r *Robot) do(then Item) {
	switch x := then.(type) {
	case *Flushed:
		r.session.Flush()
	case *Anew:
		if x.Up {
			r.session.Up(r.all())
		} else {
			r.session.Down()
		}
		r.trail.Anew(x.Up)
	}
}

// all are the devices of this side's session.
func (r *Robot) all() (all []*player.Device) {
	for _, d := range r.devices {
		if d.known != nil {
			all = append(all, d.known)
		}
	}
	slices.SortFunc(all, func(a, b *player.Device) int {
		return cmp.Or(cmp.Compare(a.Interf, b.Interf), cmp.Compare(a.Index, b.Index))
	})
	return all
}

func (r *Robot) testAll(all []*message) {
	for _, m := range all {
		r.test(m.of, &m.Message)
	}
}

// test tests a message, as far as the session's matches are told.
func (r *Robot) test(d *device, m *Message) {
	if d.known == nil {
		return // it is of an earlier session of this side
	}
	payload, err := d.decode(m)
	if err != nil {
		return // no side can read it
	}
	r.session.Arrive(player.Reading{Device: d.known, Subtype: m.Subtype, Time: m.Time, Payload: payload})
	r.trail.Tested(address(d.known.Addr), r.session.Version(), m.Subtype, m.Time, m.Body)
}

func (d *device) decode(m *Message) (payload any, err error) {
	i := slices.IndexFunc(d.slots, func(s slot) bool { return s.subtype == m.Subtype })
	if i < 0 {
		s := slot{subtype: m.Subtype, payload: &iface.Raw{}}
		if form, ok := iface.Lookup(d.known.Interf, player.Data, m.Subtype); ok {
			s.form, s.payload = form, form.New()
		}
		i, d.slots = len(d.slots), append(d.slots, s)
	}
	s := &d.slots[i]
	if s.form != nil {
		return s.payload, s.form.Decode(m.Body, s.payload)
	}
	return s.payload, iface.Decode(m.Body, s.payload)
}

// Wants reports whether the robot could follow if it had the active's State.
func (r *Robot) Wants(now overlay.Instant) bool {
	return !r.sound && !r.passing && r.up && now-r.since > settled
}

// take goes on from what the active's session has come to, if it is known where
// that stands among what is kept here (R8).
func (r *Robot) take(now overlay.Instant, s *State, by *subscribe.Change) {
	if !r.up || by == nil {
		return
	}
	type fed struct {
		of *device
		m  *Message
	}
	var feed []fed
	for i := range s.Devices {
		x := &s.Devices[i]
		d := r.devices[address(x.Addr)]
		if d == nil || d.known == nil {
			return
		}
		x.Mark.Fresh = now-r.since > settled
		d.ring.Agree(x.Mark)
		d.ring.Pass(x.Mark)
		if !d.ring.Aligned() {
			return
		}
		if d.until = 0; !d.ring.Reached() {
			d.told, d.until = x.Mark, now+maxLate
			d.told.Hashes = slices.Clone(x.Mark.Hashes)
		}
		for k := range x.Messages {
			feed = append(feed, fed{d, &x.Messages[k]})
		}
	}
	slices.SortStableFunc(feed, func(a, b fed) int { return cmp.Compare(a.m.Time, b.m.Time) })
	r.by = by
	r.session.Shadow(by)
	r.session.Up(r.all())
	r.trail.Anew(true)
	for _, f := range feed {
		r.test(f.of, f.m)
	}
	if !s.Held {
		r.session.Flush()
	}
	r.session.SetPolicies(s.Policies)
	r.groups, r.sound = nil, r.aligned()
}

// Sound reports whether this side can go on with the robot as if it had been the
// active.
func (r *Robot) Sound() bool { return r.sound && r.up }

// GoOn goes on in the active's place: what that has tested is tested without telling
// anybody, and what it has not is told (R4). It reports whether it knows what is
// which; else all begins anew (R7).
func (r *Robot) GoOn() bool {
	r.advance(true)
	if !r.Sound() {
		return false
	}
	r.passing = true
	r.goOn(nil)
	return true
}

// Anew begins all anew in the active's place (R7). told: nobody has ended the states
// that clients know.
func (r *Robot) Anew(told bool) {
	r.session.Shadow(nil)
	if told {
		r.session.Alone()
	}
	if r.up {
		r.session.Up(r.all())
	} else {
		r.session.Down()
	}
	r.session.Alone()
	r.lose()
	r.trail.Anew(r.up)
	r.done = true
}

// Done reports whether the session goes by itself now.
func (r *Robot) Done() bool { return r.done }

// Passing reports whether it goes on in the active's place and still passes over what
// that has tested.
func (r *Robot) Passing() bool { return r.passing }

// goOn tests what has been passed over, and tells what is behind it.
func (r *Robot) goOn(passed []*message) {
	if r.alone && r.by != nil && !r.by.Newest() {
		r.session.Blind() // else it would be tested by sets that have changed since
	} else {
		r.session.Shadow(r.by)
	}
	r.testAll(passed)
	r.session.Alone()
	r.alone = true
	var rest []*message
	all := true
	for _, d := range r.devices {
		all = all && d.ring.Reached()
		more, _ := d.ring.Take()
		rest = append(rest, more...)
	}
	slices.SortFunc(rest, func(a, b *message) int { return cmp.Compare(a.number, b.number) })
	r.testAll(rest)
	r.passing = !all // however late that comes: what is behind the marks is told meanwhile
	r.done = !r.passing
}
