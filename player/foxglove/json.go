package foxglove

import (
	"encoding/base64"
	"math"
	"strconv"

	"callboard/player"
	"callboard/player/iface"
)

// appendNumber appends a length or an angle, rounded to 0.0001. JSON has no
// infinity; readers take 1e999 for it.
func appendNumber(b []byte, v float64) []byte {
	if !(math.Abs(v) < 1e11) {
		return appendExact(b, v)
	}
	n := int64(math.Round(v * 1e4))
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	b = appendWhole(b, uint64(n/1e4))
	part := n % 1e4
	if part == 0 {
		return b
	}
	b = append(b, '.', '0'+byte(part/1000), '0'+byte(part/100%10), '0'+byte(part/10%10), '0'+byte(part%10))
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

func appendWhole(b []byte, n uint64) []byte {
	if n < 10 {
		return append(b, '0'+byte(n))
	}
	return strconv.AppendUint(b, n, 10)
}

// appendExact appends all digits.
func appendExact(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v) || v > math.MaxFloat64:
		return append(b, "1e999"...)
	case v < -math.MaxFloat64:
		return append(b, "-1e999"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// appendText appends a text; names have few signs that need care.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			b = append(b, string(r)...)
		}
	}
	return append(b, '"')
}

func appendBase64(b []byte, data []byte) []byte {
	b = append(b, '"')
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, '"')
}

// appendTime appends a time object.
func appendTime(b []byte, ns uint64) []byte {
	b = strconv.AppendUint(append(b, `{"sec":`...), ns/1e9, 10)
	b = strconv.AppendUint(append(b, `,"nsec":`...), ns%1e9, 10)
	return append(b, '}')
}

// appendHead begins a message: its time and frame.
func appendHead(b []byte, c *Context, frame string) []byte {
	b = appendTime(append(b, `{"timestamp":`...), c.Time)
	return appendText(append(b, `,"frame_id":`...), frame)
}

func appendVector(b []byte, x, y, z float64) []byte {
	b = appendNumber(append(b, `{"x":`...), x)
	b = appendNumber(append(b, `,"y":`...), y)
	b = appendNumber(append(b, `,"z":`...), z)
	return append(b, '}')
}

// appendRotation appends roll, pitch and yaw as a quaternion.
func appendRotation(b []byte, roll, pitch, yaw float64) []byte {
	sr, cr := math.Sincos(finite(roll) / 2)
	sp, cp := math.Sincos(finite(pitch) / 2)
	sy, cy := math.Sincos(finite(yaw) / 2)
	for _, part := range [...]struct {
		name  string
		value float64
	}{
		{`{"x":`, sr*cp*cy - cr*sp*sy}, {`,"y":`, cr*sp*cy + sr*cp*sy},
		{`,"z":`, cr*cp*sy - sr*sp*cy}, {`,"w":`, cr*cp*cy + sr*sp*sy},
	} {
		b = strconv.AppendFloat(append(b, part.name...), part.value, 'g', 8, 64)
	}
	return append(b, '}')
}

// appendPose appends a pose object.
func appendPose(b []byte, p player.Pose) []byte {
	b = appendVector(append(b, `{"position":`...), finite(p.X), finite(p.Y), finite(p.Z))
	b = appendRotation(append(b, `,"orientation":`...), p.Roll, p.Pitch, p.Yaw)
	return append(b, '}')
}

// finite replaces what cannot be drawn: real drivers leave fields that they do
// not use as they were in memory.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.Abs(v) > 1e12 {
		return 0
	}
	return v
}

// mount is where the device sits on its robot.
func (c *Context) mount() player.Pose {
	if c.Device != nil && c.Device.Geometry != nil {
		return c.Device.Geometry.Pose
	}
	return player.Pose{}
}

func pose2(p iface.Pose2D) player.Pose { return player.Pose{X: p.Px, Y: p.Py, Yaw: p.Pa} }
