package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Coopobject is a message of a cooperating object: its health, position,
// sensors or alarms, or how strongly it heard another. What is none of these
// gives no reading.
type Coopobject struct {
	Message  int       `expr:"message" doc:"1: health, 2: whom it heard, 3: sensors, 4: alarm, 8: position"`
	ID       int       `expr:"id" doc:"which object"`
	ParentID int       `expr:"parent_id" doc:"which object it reports to"`
	Origin   int       `expr:"origin" doc:"0: static base, 1: mobile base, 2: mote, 3: robot"`
	Alarm    bool      `expr:"alarm" doc:"its sensors gave an alarm"`
	RSSI     float64   `expr:"rssi" doc:"how strongly it heard another; no number in other messages"`
	SenderID int       `expr:"sender_id" doc:"whom it heard; -1 in other messages"`
	X        float64   `expr:"x" unit:"m" doc:"place; no number in messages without one, as the next two"`
	Y        float64   `expr:"y" unit:"m" doc:"place"`
	Z        float64   `expr:"z" unit:"m" doc:"place"`
	Status   int       `expr:"status" doc:"of its position; -1 in other messages"`
	Types    []float64 `expr:"types" doc:"of each sensor, 0: temperature, 1: humidity … as Player numbers them"`
	Values   []float64 `expr:"values" doc:"of each sensor, raw"`
	Stamp
}

func (c *Coopobject) read(m player.Reading, _ View) bool {
	nan := math.NaN()
	*c = Coopobject{Message: int(m.Subtype), RSSI: nan, SenderID: -1, X: nan, Y: nan, Z: nan, Status: -1, Types: c.Types[:0], Values: c.Values[:0]}
	switch d := m.Payload.(type) {
	case *iface.CoopobjectHeader:
		c.from(d)
	case *iface.CoopobjectRSSI:
		c.from(&d.Header)
		c.RSSI, c.SenderID = float64(d.RSSI), int(d.SenderID)
		c.X, c.Y, c.Z = float64(d.X), float64(d.Y), float64(d.Z)
	case *iface.CoopobjectDataSensor:
		c.from(&d.Header)
		c.Alarm = m.Subtype == iface.DataCoopobjectAlarm
		for _, s := range d.Data {
			c.Types, c.Values = append(c.Types, float64(s.Type)), append(c.Values, float64(s.Value))
		}
	case *iface.CoopobjectPosition:
		c.from(&d.Header)
		c.X, c.Y, c.Z, c.Status = float64(d.X), float64(d.Y), float64(d.Z), int(d.Status)
	default:
		return false
	}
	return true
}

func (c *Coopobject) from(h *iface.CoopobjectHeader) {
	c.Origin, c.ID, c.ParentID = int(h.Origin), int(h.ID), int(h.ParentID)
}
