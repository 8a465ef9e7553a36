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
	Message  int       `expr:"message"`
	ID       int       `expr:"id"`
	ParentID int       `expr:"parent_id"`
	Origin   int       `expr:"origin"`
	Alarm    bool      `expr:"alarm"`
	RSSI     float64   `expr:"rssi"`
	SenderID int       `expr:"sender_id"`
	X        float64   `expr:"x"`
	Y        float64   `expr:"y"`
	Z        float64   `expr:"z"`
	Status   int       `expr:"status"`
	Types    []float64 `expr:"types"`
	Values   []float64 `expr:"values"`
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

var coopobjectFields = with(
	whole("message", "", "1: health, 2: whom it heard, 3: sensors, 4: alarm, 8: position", func(c *Coopobject) int { return c.Message }),
	whole("id", "", "which object", func(c *Coopobject) int { return c.ID }),
	whole("parent_id", "", "which object it reports to", func(c *Coopobject) int { return c.ParentID }),
	whole("origin", "", "0: static base, 1: mobile base, 2: mote, 3: robot", func(c *Coopobject) int { return c.Origin }),
	truth("alarm", "its sensors gave an alarm", func(c *Coopobject) bool { return c.Alarm }),
	number("rssi", "", "how strongly it heard another; no number in other messages", func(c *Coopobject) float64 { return c.RSSI }),
	whole("sender_id", "", "whom it heard; -1 in other messages", func(c *Coopobject) int { return c.SenderID }),
	number("x", "m", "place; no number in messages without one, as the next two", func(c *Coopobject) float64 { return c.X }),
	number("y", "m", "place", func(c *Coopobject) float64 { return c.Y }),
	number("z", "m", "place", func(c *Coopobject) float64 { return c.Z }),
	whole("status", "", "of its position; -1 in other messages", func(c *Coopobject) int { return c.Status }),
	numbers("types", "", "of each sensor, 0: temperature, 1: humidity … as Player numbers them", func(c *Coopobject) []float64 { return c.Types }),
	numbers("values", "", "of each sensor, raw", func(c *Coopobject) []float64 { return c.Values }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (c *Coopobject) AppendText(dst []byte) []byte { return appendFields(dst, c, coopobjectFields) }
