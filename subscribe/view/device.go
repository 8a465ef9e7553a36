package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Reason says why a message gave no reading.
type Reason uint8

// Why a message gave no reading.
const (
	NoView      Reason = iota // conditions do not know this interface, or this kind of message
	NoGeometry                // the device's geometry is not known yet
	NoConfig                  // the ranger's configuration is not known yet
	StandsAside               // the robot's laser (sonar) counts instead of this ranger
	PartOfScan                // completed, or came too late to complete, a scan that is a reading
	BadPayload                // the payload is not what the device's interface has
	NumReasons  = iota
)

var reasonNames = [NumReasons]string{"no_view", "no_geometry", "no_configuration", "stands_aside", "part_of_scan", "bad_payload"}

// String returns the reason's name, for metrics.
func (r Reason) String() string { return reasonNames[r] }

// device is what a Robot knows of one of its devices.
type device struct {
	dev     *player.Device
	interf  string // its interface's name
	name    string // its address
	kind    Kind
	usable  bool   // it has readings of its kind
	reason  Reason // why not
	geom    *player.Geometry
	config  *player.RangerConfig
	scan    scan
	time    float64 // s, of its latest reading
	hasTime bool

	// messages are those that what is in the spare view, or the latest, came of,
	// as Player sends them; kept if anybody wants them.
	messages []byte

	// Three views go round: two stand, one is filled.
	latest, previous, spare View
}

// learn takes what d tells; what is known already stays.
func (v *device) learn(d *player.Device) {
	v.dev = d
	if d.Geometry != nil {
		v.geom = d.Geometry
	}
	if d.Config != nil {
		v.config = d.Config
	}
}

// role says what the device stands for on a robot that has a laser device, a
// sonar device, or not.
func (v *device) role(hasLaser, hasSonar bool) (k Kind, usable bool, why Reason) {
	switch v.dev.Interf {
	case player.InterfaceLaser:
		return KindLaser, true, 0
	case player.InterfaceSonar:
		return KindSonar, v.geom != nil, NoGeometry
	case player.InterfaceRanger:
	default:
		k, usable = singleKinds[v.dev.Interf]
		return k, usable, NoView
	}
	if v.geom == nil || len(v.geom.Elements) == 0 {
		return 0, false, NoGeometry
	}
	k, aside := KindLaser, hasLaser
	if len(v.geom.Elements) > 1 {
		k, aside = KindSonar, hasSonar
	}
	if aside {
		return k, false, StandsAside
	}
	return k, v.config != nil, NoConfig
}

// assign assigns the device a role; what it derived in another one is forgotten.
func (v *device) assign(k Kind, usable bool, why Reason) {
	if v.usable && (!usable || k != v.kind) {
		v.forget()
	}
	v.kind, v.usable, v.reason = k, usable, why
	if usable && v.spare == nil {
		v.spare = kindTable[k].make()
	}
}

// forget takes all readings of the device away.
func (v *device) forget() {
	v.latest, v.previous, v.spare = nil, nil, nil
	v.scan, v.time, v.hasTime, v.messages = scan{}, 0, false, nil
}

// keep keeps a message of a reading, behind those before it of the same one. What
// a ranger's messages do not tell, its configuration, stands before the first.
func (v *device) keep(m player.Reading, first bool) {
	add := func(t player.Type, subtype uint8, payload any) {
		h := player.Header{Addr: v.dev.Addr, Type: t, Subtype: subtype, Timestamp: m.Time}
		// What came as a message can be written as one.
		v.messages, _ = iface.AppendMessage(v.messages, h, payload)
	}
	if first {
		v.messages = v.messages[:0]
		for _, a := range iface.Answers(v.dev.Interf, nil, v.config) {
			add(player.Ack, a.Subtype, a.Payload)
		}
	}
	add(player.Data, m.Subtype, m.Payload)
}

// commit makes the view that was filled the latest.
func (v *device) commit() {
	old := v.previous
	v.previous, v.latest, v.spare = v.latest, v.spare, old
	if v.spare == nil {
		v.spare = kindTable[v.kind].make()
	}
}

// fill reads a message into the spare view; false if it is none of the
// device's readings, with the reason.
func (v *device) fill(m player.Reading) (bool, Reason) {
	if view, ok := v.spare.(single); ok {
		return view.read(m, v.latest), BadPayload
	}
	switch m.Payload.(type) {
	case *iface.RangerDataRange, *iface.RangerDataRangestamped:
		if v.dev.Interf != player.InterfaceRanger {
			return false, BadPayload
		}
	}
	switch view := v.spare.(type) {
	case *Laser:
		switch p := m.Payload.(type) {
		case *iface.LaserData:
			view.readLaser(p)
		case *iface.LaserDataScanpose:
			view.readLaser(&p.Scan)
		case *iface.LaserDataScanangle:
			view.readAngles(p)
		case *iface.RangerDataRange:
			view.readRanger(p.Ranges, v.config)
		case *iface.RangerDataRangestamped:
			view.readRanger(p.Data.Ranges, v.config)
		default:
			return false, BadPayload
		}
	case *Sonar:
		switch p := m.Payload.(type) {
		case *iface.SonarData:
			view.readSonar(p.Ranges, v.geom.Elements)
		case *iface.RangerDataRange:
			view.readRanger(p.Ranges, v.geom.Elements, v.config)
		case *iface.RangerDataRangestamped:
			view.readRanger(p.Data.Ranges, v.geom.Elements, v.config)
		default:
			return false, BadPayload
		}
	}
	return true, 0
}
