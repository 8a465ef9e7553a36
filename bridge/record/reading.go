package record

import (
	"encoding/json"
	"fmt"
	"math"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
	"callboard/subscribe/view"
)

// Reading is a reading as a broker tells it: what conditions see, not what the
// Player server sent.
type Reading struct {
	Robot, World string
	Broker       string // where it came from
	Interface    string // Player's name of the device's interface
	Index        int
	Time         float64 // s
	Object       []byte  // JSON
}

// seen is the part of a reading's object that messages are made of.
type seen struct {
	Ranges      []*float64 `json:"ranges"`
	Intensities []float64  `json:"intensities"`
	AngleMin    float64    `json:"angle_min"`
	AngleMax    float64    `json:"angle_max"`
	Resolution  float64    `json:"resolution"`
	MaxRange    *float64   `json:"max_range"` // null: none
	X           float64    `json:"x"`
	Y           float64    `json:"y"`
	Z           float64    `json:"z"`
	Roll        float64    `json:"roll"`
	Pitch       float64    `json:"pitch"`
	Yaw         float64    `json:"yaw"`
	VX          float64    `json:"vx"`
	VY          float64    `json:"vy"`
	VZ          float64    `json:"vz"`
	VRoll       float64    `json:"vroll"`
	VPitch      float64    `json:"vpitch"`
	VYaw        float64    `json:"vyaw"`
	Stall       bool       `json:"stall"`
}

// Retold makes messages again of the readings of one session with a device
// that is no laser, ranger, sonar or position; nil for those, and for what
// conditions of this version do not know.
type Retold = view.Retold

// NewRetold makes one for a device that comes up.
func NewRetold(d *player.Device) *Retold {
	if r, ok := view.NewRetold(d.Interf); ok {
		return r
	}
	return nil
}

// Records makes the records that stand for a reading: Player messages that
// give the same reading again, the device's configuration before them if d
// does not have it, and the object itself, which an MCAP file keeps as it is.
// d is the device as far as it is known; what is known after the records comes
// back. retold is that of the device. An interface that no message is made for
// gives the object only.
func (r *Reading) Records(d *player.Device, retold *Retold) ([]run.Record, *player.Device, error) {
	var s seen
	messages, err := s.answers(r.Object, d, retold)
	if err != nil {
		return nil, d, fmt.Errorf("record: the reading of %s %s: %w", r.Robot, d.Addr, err)
	}
	head := run.Record{Robot: r.Robot, World: r.World, Player: r.Broker}
	var out []run.Record
	if c := s.config(d); c != nil && (d.Config == nil || *d.Config != *c) {
		n := *d
		n.Config = c
		d = &n
		known := head
		known.Kind, known.Device = run.Known, d
		out = append(out, known)
	}
	for i, m := range messages {
		rec := head
		rec.Kind, rec.Device, rec.Payload = run.Data, d, m.Payload
		rec.Header = player.Header{Addr: d.Addr, Type: player.Data, Subtype: m.Subtype, Timestamp: r.Time}
		if i == 0 {
			rec.Object = r.Object
		}
		out = append(out, rec)
	}
	if len(messages) == 0 {
		rec := head
		rec.Kind, rec.Device, rec.Object = run.Data, d, r.Object
		rec.Header = player.Header{Addr: d.Addr, Type: player.Data, Timestamp: r.Time}
		out = append(out, rec)
	}
	return out, d, nil
}

// answers gives the Player messages that give the reading again.
func (s *seen) answers(object []byte, d *player.Device, retold *Retold) ([]iface.Answer, error) {
	if retold != nil {
		subtype, payload, err := retold.Message(object)
		return []iface.Answer{{Subtype: subtype, Payload: payload}}, err
	}
	if err := json.Unmarshal(object, s); err != nil {
		return nil, err
	}
	return s.messages(d), nil
}

// config gives what a ranger's reading tells of its configuration; nil if the
// device is none. A ring's reading tells nothing.
func (s *seen) config(d *player.Device) *player.RangerConfig {
	if d.Interf != player.InterfaceRanger {
		return nil
	}
	c := &player.RangerConfig{MinAngle: s.AngleMin, MaxAngle: s.AngleMax, AngularRes: s.Resolution}
	if s.MaxRange != nil {
		c.MaxRange = *s.MaxRange
	}
	return c
}

// messages gives those of a laser, ranger, sonar or position.
func (s *seen) messages(d *player.Device) []iface.Answer {
	switch d.Interf {
	case player.InterfaceLaser:
		return []iface.Answer{{Subtype: iface.DataLaserScan, Payload: s.laser()}}
	case player.InterfaceRanger:
		out := []iface.Answer{{Subtype: iface.DataRangerRange, Payload: &iface.RangerDataRange{Ranges: s.ranges()}}}
		if len(s.Intensities) > 0 {
			out = append(out, iface.Answer{Subtype: iface.DataRangerIntns, Payload: &iface.RangerDataIntns{Intensities: s.Intensities}})
		}
		return out
	case player.InterfaceSonar:
		return []iface.Answer{{Subtype: iface.DataSonarRanges, Payload: &iface.SonarData{Ranges: narrow(s.ranges())}}}
	case player.InterfacePosition2D:
		p := &iface.Position2DData{Pos: iface.Pose2D{Px: s.X, Py: s.Y, Pa: s.Yaw}, Vel: iface.Pose2D{Px: s.VX, Py: s.VY, Pa: s.VYaw}, Stall: truth(s.Stall)}
		return []iface.Answer{{Subtype: iface.DataPosition2DState, Payload: p}}
	case player.InterfacePosition3D:
		p := &iface.Position3DData{
			Pos:   iface.Pose3D{Px: s.X, Py: s.Y, Pz: s.Z, Proll: s.Roll, Ppitch: s.Pitch, Pyaw: s.Yaw},
			Vel:   iface.Pose3D{Px: s.VX, Py: s.VY, Pz: s.VZ, Proll: s.VRoll, Ppitch: s.VPitch, Pyaw: s.VYaw},
			Stall: truth(s.Stall),
		}
		return []iface.Answer{{Subtype: iface.DataPosition3DState, Payload: p}}
	}
	return nil
}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

func (s *seen) laser() *iface.LaserData {
	p := &iface.LaserData{MinAngle: float32(s.AngleMin), MaxAngle: float32(s.AngleMax), Resolution: float32(s.Resolution), Ranges: narrow(s.ranges())}
	if s.MaxRange != nil {
		p.MaxRange = float32(*s.MaxRange)
	}
	for _, v := range s.Intensities {
		p.Intensity = append(p.Intensity, uint8(v))
	}
	return p
}

// ranges gives the ranges; null is one that has no end.
func (s *seen) ranges() []float64 {
	out := make([]float64, len(s.Ranges))
	for i, v := range s.Ranges {
		out[i] = math.Inf(1)
		if v != nil {
			out[i] = *v
		}
	}
	return out
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}
