package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// Pass takes a message whose payload nobody looks at, for what it says of
// time: held scans that it shows to be complete are given, and a clock that
// runs back is told. The device's readings do not stand, so that only who asks
// for other kinds may pass them.
func (r *Robot) Pass(d *player.Device, subtype uint8, time float64) (back bool) {
	v := r.devices[address{d.Interf, d.Index}]
	if v == nil {
		v = r.add(d)
		r.assign()
	}
	r.releaseBefore(v, player.Reading{Device: d, Subtype: subtype, Time: time})
	if !v.usable || !givesReading(d.Interf, subtype) {
		return false
	}
	if back = v.hasTime && time < v.time; back {
		for _, o := range r.sorted {
			o.hasTime = false
		}
	}
	v.time, v.hasTime = time, true
	return back
}

// givesReading reports whether messages of a subtype are readings: not those
// that describe the device, or complete a scan.
func givesReading(i player.Interface, subtype uint8) bool {
	switch i {
	case player.InterfaceRanger:
		return subtype == iface.DataRangerRange || subtype == iface.DataRangerRangestamped
	case player.InterfaceSonar:
		return subtype == iface.DataSonarRanges
	case player.InterfacePosition2D:
		return subtype == iface.DataPosition2DState
	case player.InterfacePosition3D:
		return subtype == iface.DataPosition3DState
	case player.InterfaceBumper:
		return subtype == iface.DataBumperState
	case player.InterfacePTZ:
		return subtype == iface.DataPTZState
	}
	return true
}
