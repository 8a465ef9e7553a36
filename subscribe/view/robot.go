package view

import (
	"cmp"
	"math/bits"
	"slices"

	"callboard/player"
	"callboard/player/iface"
)

// Arrival is one reading of a robot, with all that conditions may ask about.
// It is valid only during the call that hands it over.
type Arrival struct {
	Device    *player.Device
	Interface string // the device's, as Player names it: laser, ranger, …
	Name      string // the device's address: laser:0
	Kind      Kind
	Time      float64 // s
	View      View    // the reading's
	// Now has the views that stand: of the arriving device its own; of other
	// kinds the latest of the device with the same index, else of the lowest.
	Now State
	// Prev has for each view in Now the one before it of the same device.
	Prev State
	// Have and HavePrev are the kinds in Now and Prev.
	Have, HavePrev Kinds
	// Back: the device's time has run back.
	Back bool
	// Messages are those that the reading came of, as Player sends them, header
	// and body, if the Robot keeps them. Before those of a ranger stands the
	// answer that told its configuration.
	Messages []byte
}

// Robot is the state of one robot: its devices, which ranger stands for a
// laser or sonar, scans that wait for completion, the latest and previous
// view of each device. It belongs to one goroutine. Taking a reading does not
// allocate once the views have grown to their size.
type Robot struct {
	out     func(*Arrival)
	devices map[address]*device
	sorted  []*device           // by interface and index
	byKind  [NumKinds][]*device // those that give readings, by index, then interface
	held    []*device           // with a held scan, in the order of arrival
	have    Kinds               // kinds that have given a reading
	skipped [NumReasons]uint64  // messages that gave no reading
	arrival Arrival
	keeps   bool // the messages that readings came of
}

type address struct {
	interf player.Interface
	index  uint16
}

// NewRobot makes a Robot that hands its readings to give, in order.
func NewRobot(give func(*Arrival)) *Robot {
	return &Robot{out: give, devices: map[address]*device{}}
}

// Up begins a session with these devices; nothing of before stands.
func (r *Robot) Up(devices []*player.Device) {
	clear(r.devices)
	r.sorted, r.held, r.have = r.sorted[:0], r.held[:0], 0
	for _, d := range devices {
		r.add(d)
	}
	r.assign()
}

// Changed takes what was learned of a device since.
func (r *Robot) Changed(d *player.Device) {
	if v := r.devices[address{d.Interf, d.Index}]; v != nil {
		v.learn(d)
	} else {
		r.add(d)
	}
	r.assign()
}

// Down ends the session: what is held is given, and nothing stands any more.
func (r *Robot) Down() {
	r.Flush()
	r.Up(nil)
}

// Keep says whether to keep the messages that readings come of. What is held then
// is given before: its messages are not known, or not wanted.
func (r *Robot) Keep(on bool) {
	if on == r.keeps {
		return
	}
	r.Flush()
	for _, v := range r.sorted {
		v.messages = nil
	}
	r.keeps = on
}

// Devices counts the robot's devices.
func (r *Robot) Devices() int { return len(r.sorted) }

// Device returns what is known of a device, nil if there is none.
func (r *Robot) Device(a player.Addr) *player.Device {
	if v := r.devices[address{a.Interf, a.Index}]; v != nil {
		return v.dev
	}
	return nil
}

// Have returns the kinds of which some reading stands.
func (r *Robot) Have() Kinds { return r.have }

// Skipped counts the messages that gave no reading, for a reason.
func (r *Robot) Skipped(why Reason) uint64 { return r.skipped[why] }

func (r *Robot) skip(why Reason) { r.skipped[why]++ }

func (r *Robot) add(d *player.Device) *device {
	v := &device{interf: d.Interf.String(), name: d.Addr.String()}
	v.learn(d)
	r.devices[address{d.Interf, d.Index}] = v
	r.sorted = append(r.sorted, v)
	slices.SortStableFunc(r.sorted, func(a, b *device) int {
		return cmp.Or(cmp.Compare(a.dev.Interf, b.dev.Interf), cmp.Compare(a.dev.Index, b.dev.Index))
	})
	return v
}

// assign assigns all devices their roles anew.
func (r *Robot) assign() {
	hasLaser, hasSonar := false, false
	for _, v := range r.sorted {
		hasLaser = hasLaser || v.dev.Interf == player.InterfaceLaser
		hasSonar = hasSonar || v.dev.Interf == player.InterfaceSonar
	}
	for k := range r.byKind {
		r.byKind[k] = r.byKind[k][:0]
	}
	for _, v := range r.sorted {
		kind, usable, why := v.role(hasLaser, hasSonar)
		v.assign(kind, usable, why)
		if usable {
			r.byKind[kind] = append(r.byKind[kind], v)
		}
	}
	r.held = slices.DeleteFunc(r.held, func(v *device) bool { return !v.scan.held })
	r.have = 0
	for k, list := range r.byKind {
		slices.SortStableFunc(list, func(a, b *device) int { return cmp.Compare(a.dev.Index, b.dev.Index) })
		for _, v := range list {
			if v.latest != nil {
				r.have |= Kind(k).Set()
			}
		}
	}
}

// Arrive takes one message of the robot's data.
func (r *Robot) Arrive(m player.Reading) {
	v := r.devices[address{m.Device.Interf, m.Device.Index}]
	switch {
	case v == nil:
		v = r.add(m.Device)
		r.assign()
	case v.dev != m.Device:
		v.learn(m.Device)
		r.assign()
	}
	r.releaseBefore(v, m)
	if v.learnStamped(m.Payload) {
		r.assign()
	}
	switch {
	case noReading(m.Payload):
		r.skip(NoView)
	case !v.usable:
		r.skip(v.reason)
	case v.kind == KindLaser:
		r.takeScan(v, m)
	default:
		if _, ok := intensitiesOf(m.Payload); ok {
			r.skip(PartOfScan)
			return
		}
		if ok, why := r.fill(v, m); !ok {
			r.skip(why)
			return
		}
		v.scan.time = m.Time
		r.give(v)
	}
}

// fill reads a message into a device's spare view.
func (r *Robot) fill(v *device, m player.Reading) (ok bool, why Reason) {
	if ok, why = v.fill(m); !ok {
		return ok, why
	}
	v.spare.stamp(m.Time, int(v.dev.Index))
	if r.keeps {
		v.keep(m, true)
	}
	return true, 0
}

// noReading reports payloads that describe the device instead of its
// surroundings, or have nothing that conditions know.
func noReading(payload any) bool {
	switch payload.(type) {
	case *iface.RangerGeom, *iface.SonarGeom, *iface.Position2DGeom, *iface.Position3DGeom, *iface.Position1DGeom, *iface.BumperGeom, *iface.PTZGeom,
		*iface.CoopobjectDataUserDefined, *iface.CoopobjectReq, *iface.CoopobjectCmd:
		return true
	}
	return false
}

// give makes the view that was filled the device's latest and hands it over.
func (r *Robot) give(v *device) {
	v.commit()
	time := v.scan.time
	back := v.hasTime && time < v.time
	if back {
		// All other clocks have run back too: each is told once.
		for _, o := range r.sorted {
			o.hasTime = false
		}
	}
	v.time, v.hasTime = time, true
	r.have |= v.kind.Set()
	a := r.arrive(v)
	a.Back = back
	r.out(a)
}

// Last returns the latest reading of a device again, nil if none stands.
func (r *Robot) Last(of player.Addr) *Arrival {
	v := r.devices[address{of.Interf, of.Index}]
	if v == nil || v.latest == nil {
		return nil
	}
	return r.arrive(v)
}

// arrive describes a device's latest reading and what stands beside it.
func (r *Robot) arrive(v *device) *Arrival {
	a := &r.arrival
	*a = Arrival{Device: v.dev, Interface: v.interf, Name: v.name, Kind: v.kind, Time: v.time, View: v.latest, Messages: v.messages}
	for left := r.have | v.kind.Set(); left != 0; left &= left - 1 {
		k := Kind(bits.TrailingZeros32(uint32(left)))
		from := v
		if k != v.kind {
			from = pick(r.byKind[k], v.dev.Index)
		}
		if from == nil {
			continue
		}
		a.Now.set(k, from.latest)
		a.Have |= k.Set()
		if from.previous != nil {
			a.Prev.set(k, from.previous)
			a.HavePrev |= k.Set()
		}
	}
	return a
}

// pick returns the device that stands for its kind beside a reading with an
// index: the one of the same index, else the lowest, of those that have given
// a reading.
func pick(list []*device, index uint16) *device {
	var lowest *device
	for _, v := range list {
		if v.latest == nil {
			continue
		}
		if v.dev.Index == index {
			return v
		}
		if lowest == nil {
			lowest = v
		}
	}
	return lowest
}
