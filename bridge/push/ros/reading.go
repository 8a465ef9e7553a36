package ros

import (
	"fmt"
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Reading is a reading of a device, of its messages. One Reading serves
// for many, one after the other: what it refers to is reused.
type Reading struct {
	Prefix   string           // of the robot's frames: "", or "r0/"
	Frame    string           // of the device, without prefix
	Geometry *player.Geometry // of the device; nil: not known
	Time     float64          // s, Player's
	Object   []byte           // the reading as JSON; for topics that have it in a String

	payloads []any // of its messages, in their order
	known    map[uint32]any
	ranges   []float64 // room
	encoder  Encoder   // kept, so that none is allocated
}

// Decode takes the messages that the reading came of, as Player sends them.
func (r *Reading) Decode(messages []byte) error {
	r.payloads = r.payloads[:0]
	for len(messages) > 0 {
		h, err := player.ParseHeader(messages)
		if err != nil {
			return err
		}
		messages = messages[player.HeaderSize:]
		if uint64(len(messages)) < uint64(h.Size) {
			return fmt.Errorf("%s ends after %d bytes of its body, expected %d", h, len(messages), h.Size)
		}
		if err := r.payload(h, messages[:h.Size]); err != nil {
			return err
		}
		messages = messages[h.Size:]
	}
	return nil
}

// payload decodes a message's body into the struct that the last one of its kind
// was decoded into, unless this reading has that already.
func (r *Reading) payload(h player.Header, body []byte) error {
	m, ok := iface.Lookup(h.Interf, h.Type, h.Subtype)
	if !ok || m.Empty() {
		return nil
	}
	key := uint32(h.Interf)<<16 | uint32(h.Type)<<8 | uint32(h.Subtype)
	into := r.known[key]
	for _, p := range r.payloads {
		if p == into {
			into = nil
		}
	}
	if into == nil {
		into = m.New()
		if r.known == nil {
			r.known = map[uint32]any{}
		}
		r.known[key] = into
	}
	if err := m.Decode(body, into); err != nil {
		return err
	}
	r.payloads = append(r.payloads, into)
	return nil
}

// payloadOf returns the reading's last payload of a kind, nil if it has none.
func payloadOf[T any](r *Reading) *T {
	for i := len(r.payloads) - 1; i >= 0; i-- {
		if p, ok := r.payloads[i].(*T); ok {
			return p
		}
	}
	return nil
}

// seq counts as the header of ROS 1 does: on, by one in a millisecond, and the
// same for all that get the reading.
func (r *Reading) seq() uint32 { return uint32(StampOf(r.Time).Nanoseconds() / 1e6) }

// header writes the header of a message that is in a frame of the robot.
func (r *Reading) header(e *Encoder, frame string) {
	e.Begin("header")
	e.Uint32("seq", r.seq())
	e.Time("stamp", StampOf(r.Time))
	e.String("frame_id", r.Prefix+frame)
	e.End()
}

// vector writes a Vector3 or Point.
func vector(e *Encoder, name string, x, y, z float64) {
	e.Begin(name)
	e.Float64("x", x)
	e.Float64("y", y)
	e.Float64("z", z)
	e.End()
}

// rotation writes a Quaternion.
func rotation(e *Encoder, name string, roll, pitch, yaw float64) {
	q := Quaternion(roll, pitch, yaw)
	e.Begin(name)
	e.Float64("x", q[0])
	e.Float64("y", q[1])
	e.Float64("z", q[2])
	e.Float64("w", q[3])
	e.End()
}

// Quaternion returns an attitude as x, y, z, w.
func Quaternion(roll, pitch, yaw float64) [4]float64 {
	sr, cr := math.Sincos(roll / 2)
	sp, cp := math.Sincos(pitch / 2)
	sy, cy := math.Sincos(yaw / 2)
	return [4]float64{sr*cp*cy - cr*sp*sy, cr*sp*cy + sr*cp*sy, cr*cp*sy - sr*sp*cy, cr*cp*cy + sr*sp*sy}
}

// pose writes a Pose.
func pose(e *Encoder, name string, p player.Pose) {
	e.Begin(name)
	vector(e, "position", p.X, p.Y, p.Z)
	rotation(e, "orientation", p.Roll, p.Pitch, p.Yaw)
	e.End()
}

func flat(p iface.Pose2D) player.Pose { return player.Pose{X: p.Px, Y: p.Py, Yaw: p.Pa} }

// finite replaces what a real driver left in memory that it does not use.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
