package shadow

import (
	"fmt"
	"slices"
	"testing"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"pgregory.net/rapid"
)

// told is a match, as a program sees it.
type told string

// conditions that subscriptions draw of, with policies of each kind.
var specs = []protocol.Subscription{
	{Condition: "position.x > 5"},
	{Condition: "position.x > 5", Trigger: protocol.TriggerRising},
	{Condition: "position.x > 5 && laser.min < 3", Trigger: protocol.TriggerChange},
	{Condition: "laser.min < 3", MinInterval: 3},
	{Condition: "position.x > prev.position.x", For: 2},
	{Condition: "position.x > 4", Trigger: protocol.TriggerRising, For: 2, MinInterval: 4},
}

// pairOf is an active's session with a robot, its standby's, and one that never ends.
type pairOf struct {
	t        *rapid.T
	matchers [3]*subscribe.Matcher // of the active, the standby, the endless one
	sessions [3]*subscribe.Session
	got      [3][]told
	recorder *Recorder
	trail    *Trail
	robot    *Robot
	devices  []*player.Device
	now      overlay.Instant

	stream   []step // of the active, not at the standby yet
	shipped  []told // what is in the steps that are
	followed []followedChange
	waiting  []data // for the standby's session
	numbered int    // messages sent

	changedAt int // when sets last changed
}

// step is what a batch brings.
type step struct {
	bytes  []byte
	told   []told
	change func() *subscribe.Change // carries one out at the standby
	by     uint64                   // the active's version of it
}

type followedChange struct {
	version uint64
	change  *subscribe.Change
}

type data struct {
	number int
	device int
	m      Message
	pay    any
}

func newPairOf(t *rapid.T) *pairOf {
	p := &pairOf{t: t, recorder: NewRecorder(), devices: []*player.Device{
		{Addr: player.Addr{Interf: player.InterfacePosition2D}, Robot: "r"}, {Addr: player.Addr{Interf: player.InterfaceLaser}, Robot: "r"},
	}}
	for i := range p.matchers {
		var err error
		if p.matchers[i], err = subscribe.New(subscribe.Config{}); err != nil {
			t.Fatal(err)
		}
		p.sessions[i] = p.matchers[i].NewSession(subscribe.SessionConfig{Robot: "r", Emit: func(m *subscribe.Matched) {
			for _, k := range m.Matches {
				for _, s := range k.Subscriptions {
					state := ""
					if s.State != nil {
						state = fmt.Sprint(*s.State)
					}
					p.got[i] = append(p.got[i], told(fmt.Sprintf("%s:%v %d/%s %s", m.Interface, m.Time, k.Key, s.ID, state)))
				}
			}
		}})
	}
	p.trail = p.recorder.Trail("r")
	p.robot = NewRobot(p.sessions[1], NewRecorder().Trail("r"))
	p.sessions[0].Up(p.devices)
	p.trail.Anew(true)
	p.sessions[2].Up(p.devices)
	return p
}

// install changes a key's set at all three, at one point between readings.
func (p *pairOf) install() {
	key := subscribe.Key(rapid.IntRange(1, 2).Draw(p.t, "key"))
	var set [3][]*subscribe.Subscription
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(specs)-1), 0, 4, rapid.ID[int]).Draw(p.t, "set") {
		s := specs[i]
		s.ID = fmt.Sprint(i)
		for k, m := range p.matchers {
			c, problem := m.Compile(s)
			if problem != nil {
				p.t.Fatal(problem)
			}
			set[k] = append(set[k], c)
		}
	}
	version := p.matchers[0].Install(key, set[0])
	p.matchers[2].Install(key, set[2])
	p.changedAt = p.numbered
	change := func() *subscribe.Change {
		c := p.matchers[1].Prepare([]subscribe.Set{{Key: key, Subscriptions: set[1]}})
		c.Publish()
		return c
	}
	p.stream = append(p.stream, step{bytes: p.recorder.Take(nil), change: change, by: version}) // one batch
}

// send has the robot send a reading.
func (p *pairOf) send() {
	p.numbered++
	if rapid.IntRange(0, 2).Draw(p.t, "time goes on") > 0 || p.numbered%8 == 0 { // a mark knows few readings of one time
		p.now += overlay.Instant(overlay.Second)
	}
	time := float64(p.now / overlay.Instant(overlay.Second))
	d := data{number: p.numbered, device: rapid.IntRange(0, 1).Draw(p.t, "device")}
	if d.device == 0 {
		d.pay = &iface.Position2DData{Pos: iface.Pose2D{Px: float64(rapid.IntRange(0, 9).Draw(p.t, "x")), Py: float64(p.numbered)}}
	} else {
		d.pay = &iface.LaserData{MaxRange: 8, Resolution: .1, Ranges: []float32{float32(rapid.IntRange(1, 7).Draw(p.t, "range")), 7}, ID: uint32(p.numbered)}
	}
	h := player.Header{Addr: p.devices[d.device].Addr, Type: player.Data, Subtype: 1, Timestamp: time}
	if d.device == 1 {
		h.Subtype = iface.DataLaserScan
	} else {
		h.Subtype = iface.DataPosition2DState
	}
	text, err := iface.AppendMessage(nil, h, d.pay)
	if err != nil {
		p.t.Fatal(err)
	}
	d.m = Message{Subtype: h.Subtype, Time: time, Body: text[player.HeaderSize:]}
	p.sessions[2].Arrive(p.reading(d))
	p.sessions[0].Arrive(p.reading(d))
	p.trail.Tested(address(p.devices[d.device].Addr), p.sessions[0].Version(), d.m.Subtype, d.m.Time, d.m.Body)
	p.post(nil)
	p.waiting = append(p.waiting, d)
}

func (p *pairOf) reading(d data) player.Reading {
	return player.Reading{Device: p.devices[d.device], Subtype: d.m.Subtype, Time: d.m.Time, Payload: d.pay}
}

// post has what has matched go into a step, or what the standby has asked for.
func (p *pairOf) post(state *State) {
	if len(p.got[0]) == 0 && state == nil {
		return
	}
	piece := p.trail.Post(state)
	p.stream = append(p.stream, step{bytes: piece.Stepped(nil), told: p.got[0]})
	p.got[0] = nil
}

// hear has the standby's session read what has waited longest.
func (p *pairOf) hear() {
	if len(p.waiting) > 0 {
		d := p.waiting[0]
		p.waiting = p.waiting[1:]
		if p.robot.Done() {
			p.sessions[1].Arrive(p.reading(d))
		} else {
			p.robot.Message(p.now, p.devices[d.device], d.m)
		}
	}
}

// ship brings the standby what is oldest.
func (p *pairOf) ship() {
	if len(p.stream) == 0 {
		p.stream = append(p.stream, step{bytes: p.recorder.Take(nil)})
	}
	s := p.stream[0]
	p.stream = p.stream[1:]
	p.shipped = append(p.shipped, s.told...)
	if s.change != nil {
		defer func() { p.followed = append(p.followed, followedChange{s.by, s.change()}) }()
	}
	items, err := Parse(s.bytes)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, x := range items {
		var by *subscribe.Change
		version := uint64(0)
		switch x := x.(type) {
		case *Tested:
			version = x.Version
		case *State:
			version = x.Version
		}
		for _, f := range p.followed {
			if f.version <= version {
				by = f.change
			}
		}
		p.robot.Follow(p.now, x, by)
	}
	p.robot.Advance()
}

// TestFollow: whatever the order in which a standby hears of its robot and of the
// active, when it goes on in the active's place programs are told what they would
// have been told, each once; or it knows that it does not know.
func TestFollow(t *testing.T) {
	sound, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPairOf(t)
		p.install()
		for range rapid.IntRange(0, 5).Draw(t, "before") {
			p.send()
		}
		p.waiting = nil
		p.recorder.Want(true)
		p.robot.Up(p.now, p.devices)
		p.now += 2 * settled
		for range rapid.IntRange(0, 10).Draw(t, "alone") {
			p.send()
			if rapid.Bool().Draw(t, "heard") { // else its machine is busy
				p.hear()
			}
			for len(p.stream) > 0 {
				p.ship()
			}
			p.ship()
		}
		policies, version := p.sessions[0].Policies()
		p.post(&State{Version: version, Held: p.sessions[0].Holding(), Policies: policies})
		busy := func() {
			p.now += rapid.SampledFrom([]overlay.Instant{settled / 10, settled / 2, 2 * settled}).Draw(t, "busy")
		}
		acts := []func(){p.send, p.send, p.hear, p.hear, p.ship, p.ship, p.install, busy}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			rapid.SampledFrom(acts).Draw(t, "act")()
		}
		all++
		if !p.robot.GoOn() {
			return
		}
		sound++
		waited, gone := slices.Clone(p.waiting), p.now
		for len(p.waiting) > 0 {
			if p.now-gone < maxLate/2 && rapid.IntRange(0, 4).Draw(t, "late") == 0 { // its machine has been busy
				p.now += 2 * settled
			}
			p.hear()
		}
		want, got := p.got[2], slices.Concat(p.shipped, p.got[1])
		late := len(waited) > 0 && waited[0].number <= p.changedAt // by then it had not all that was tested by other sets
		if late || slices.ContainsFunc(p.stream, func(s step) bool { return s.change != nil }) {
			want = want[:min(len(want), len(p.shipped))] // sets that the standby had not got: what comes is tested by others
			got = got[:min(len(got), len(p.shipped))]
		}
		if !slices.Equal(want, got) {
			t.Fatalf("told %d, of which %d by the active:\n%v\nexpected:\n%v", len(got), len(p.shipped), got, want)
		}
	})
	if sound*3 < all {
		t.Errorf("only %d of %d have known", sound, all)
	}
}

// TestItems: what is written is read again.
func TestItems(t *testing.T) {
	addr := player.Addr{Interf: player.InterfaceLaser, Index: 3}
	all := []Item{
		&Sets{Version: 7, Whole: true, More: true, Changes: []SetChange{{Handle: 4, Drop: []string{"a"}, Put: []*overlay.Subscription{{Subscription: protocol.Subscription{ID: "b", Condition: "true"}, Allowed: []string{"r*"}}}}}},
		&Tested{Robot: "r", Version: 300, Device: addr, Mark: mark3},
		&Flushed{"r"}, &Anew{"r", true},
		&State{Robot: "r", Version: 9, Held: true, Devices: []DeviceState{{Addr: addr, Mark: mark3, Messages: []Message{{1, 2.5, []byte{1, 2}}}}}, Policies: []subscribe.Policy{{Key: 1, ID: "b", At: 2}}},
	}
	var b []byte
	for _, x := range all {
		b = Append(b, x)
	}
	got, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", values(got)) != fmt.Sprintf("%+v", values(all)) {
		t.Errorf("%+v\nis read as\n%+v", values(all), values(got))
	}
	for n := range b {
		if some, err := Parse(b[:n]); err == nil && len(some) == len(all) {
			t.Errorf("all is read of %d bytes", n)
		}
	}
}

// FuzzParse: whatever comes, nothing panics, and a robot takes it.
func FuzzParse(f *testing.F) {
	f.Add(Append(Append(nil, &Tested{Robot: "r", Mark: mark3}), &Flushed{"r"}))
	f.Add(Append(nil, &State{Robot: "r", Devices: []DeviceState{{Mark: mark3}}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		items, _ := Parse(b)
		m, err := subscribe.New(subscribe.Config{})
		if err != nil {
			t.Fatal(err)
		}
		r := NewRobot(m.NewSession(subscribe.SessionConfig{Robot: "r"}), NewRecorder().Trail("r"))
		r.Up(0, []*player.Device{{Addr: player.Addr{Interf: player.InterfacePosition2D}, Robot: "r"}})
		for _, x := range items {
			if _, sets := x.(*Sets); !sets {
				r.Follow(2*settled, x, m.Prepare(nil))
				r.Advance()
			}
		}
		r.GoOn()
	})
}

var mark3 = standby.Mark{Run: 2, Time: 1.5, Hashes: []uint64{1 << 60, 3}}

// values are what items point to.
func values(all []Item) (out []string) {
	for _, x := range all {
		switch x := x.(type) {
		case *Sets:
			c := x.Changes[0]
			out = append(out, fmt.Sprintf("%d %v %v %d %v %+v", x.Version, x.Whole, x.More, c.Handle, c.Drop, *c.Put[0]))
		default:
			out = append(out, fmt.Sprintf("%T %+v", x, x))
		}
	}
	return out
}
