package run

import (
	"slices"

	"callboard/player"
	"callboard/player/iface"
)

// tracker knows what a run has told of its robots and their devices so far.
type tracker struct {
	devices map[place]*tracked
	robots  map[string]*robot // by name
	pending []Record          // to be given before the message that is read
}

// robot is a robot of a run.
type robot struct {
	name, world, player string
	up                  bool
}

// tracked is a device that messages are of.
type tracked struct {
	robot  *robot
	device *player.Device
	// told: an event told its geometry or configuration, with all their digits;
	// what a log's lines tell is the same, rounded.
	toldGeometry, toldConfig bool
}

func newTracker() tracker {
	return tracker{devices: map[place]*tracked{}, robots: map[string]*robot{}}
}

// event takes an event. where returns the place that messages of a device will
// come from.
func (t *tracker) event(rec *Record, where func(*player.Device) place) {
	r := t.robots[rec.Robot]
	if r == nil {
		r = &robot{name: rec.Robot}
		t.robots[rec.Robot] = r
	}
	r.world, r.player = rec.World, rec.Player
	switch rec.Kind {
	case Up:
		r.up = true
	case Down:
		r.up = false
	}
	tell := func(d *player.Device) {
		t.devices[where(d)] = &tracked{robot: r, device: d, toldGeometry: d.Geometry != nil, toldConfig: d.Config != nil}
	}
	for _, d := range rec.Devices {
		tell(d)
	}
	if rec.Device != nil {
		tell(rec.Device)
	}
	t.pending = append(t.pending, *rec)
}

// take returns what is to be told before the message that is read.
func (t *tracker) take(into *Record) bool {
	if len(t.pending) == 0 {
		t.pending = nil
		return false
	}
	*into = t.pending[0]
	t.pending = t.pending[1:]
	return true
}

// add notes a device that no event has told of.
func (t *tracker) add(at place, r *robot, a player.Addr) *tracked {
	d := &tracked{robot: r, device: &player.Device{Addr: a, Robot: r.name, World: r.world}}
	t.devices[at] = d
	return d
}

// introduce sees to it that the device of a message is known, and its robot
// up; owner returns the robot of a device that no event has named.
func (t *tracker) introduce(at place, a player.Addr, owner func() *robot) *tracked {
	d := t.devices[at]
	if d == nil {
		d = t.add(at, owner(), a)
		if d.robot.up {
			t.pending = append(t.pending, d.robot.about(Record{Kind: Known, Device: d.device}))
		}
	}
	if d.robot.up {
		return d
	}
	d.robot.up = true
	up := d.robot.about(Record{Kind: Up})
	for _, one := range t.devices {
		if one.robot == d.robot {
			up.Devices = append(up.Devices, one.device)
		}
	}
	slices.SortFunc(up.Devices, func(a, b *player.Device) int { return compare(a.Addr, b.Addr) })
	t.pending = append(t.pending, up)
	return d
}

func compare(a, b player.Addr) int {
	for _, pair := range [][2]uint32{{a.Host, b.Host}, {a.Robot, b.Robot}, {uint32(a.Interf), uint32(b.Interf)}, {uint32(a.Index), uint32(b.Index)}} {
		if pair[0] != pair[1] {
			return int(int64(pair[0]) - int64(pair[1]))
		}
	}
	return 0
}

func (r *robot) about(rec Record) Record {
	rec.Robot, rec.World, rec.Player = r.name, r.world, r.player
	return rec
}

// learn takes what a payload says of a device, and reports whether it is news.
func (d *tracked) learn(payload any) bool {
	g, c := d.device.Geometry, d.device.Config
	if !iface.Learn(payload, &g, &c) {
		return false
	}
	if d.toldGeometry {
		g = d.device.Geometry
	}
	if d.toldConfig {
		c = d.device.Config
	}
	if g == d.device.Geometry && c == d.device.Config {
		return false
	}
	n := *d.device
	n.Geometry, n.Config = g, c
	d.device = &n
	return true
}
