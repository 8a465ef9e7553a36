package playerlog

import (
	"encoding/hex"
	"fmt"
	"strings"

	"callboard/player/iface"
)

// The layouts of the other interfaces.

func blobfinderBlobs(l *text, p *iface.BlobfinderData) {
	integer(l, &p.Width, d)
	integer(l, &p.Height, d)
	for i := range elements(l, &p.Blobs, 10, d) {
		b := &p.Blobs[i]
		for _, v := range []*uint32{&b.ID, &b.Color, &b.Area, &b.X, &b.Y, &b.Left, &b.Right, &b.Top, &b.Bottom} {
			signed(l, v)
		}
		l.float32(&b.Range, f6)
	}
}

// powerState writes 0 for what is not valid.
func powerState(l *text, p *iface.PowerData) {
	v := *p
	if l.writing {
		v.Volts = valid(p, iface.PowerMaskVolts, v.Volts)
		v.Percent = valid(p, iface.PowerMaskPercent, v.Percent)
		v.Joules = valid(p, iface.PowerMaskJoules, v.Joules)
		v.Watts = valid(p, iface.PowerMaskWatts, v.Watts)
		v.Charging = valid(p, iface.PowerMaskCharging, v.Charging)
	}
	l.float32(&v.Volts, f3)
	l.float32(&v.Percent, f3)
	l.float32(&v.Joules, f3)
	l.float32(&v.Watts, f3)
	integer(l, &v.Charging, d)
	signed(l, &v.Valid)
	if !l.writing {
		*p = v
	}
}

// valid returns a value, or 0 where the mask says that it is none.
func valid[T int32 | float32](p *iface.PowerData, mask uint32, v T) T {
	if p.Valid&mask == 0 {
		return 0
	}
	return v
}

// dioValues writes bits as digits, the lowest first.
func dioValues(l *text, p *iface.DIOData) {
	n := l.count(int(p.Count), 1, d04)
	if !l.writing {
		if n > 32 {
			l.fail(l.at, "%d bits; expected at most 32", n)
			return
		}
		p.Count, p.Bits = uint32(n), 0
	}
	for i := range n {
		bit := p.Bits >> i & 1
		integer(l, &bit, d)
		if bit != 0 {
			p.Bits |= 1 << i
		}
	}
	l.blank()
}

func aioState(l *text, p *iface.AIOData) { numbers32(l, &p.Voltages, d04) }

// joystickState has three axes; buttons are hexadecimal.
func joystickState(l *text, p *iface.JoystickData) {
	for i := range 3 {
		integer(l, &p.Pos[i], plus)
	}
	for i := range 3 {
		integer(l, &p.Scale[i], d)
	}
	if l.writing {
		l.out = fmt.Appendf(l.out, " %X", p.Buttons)
		l.made++
		return
	}
	clear(p.Pos[3:])
	clear(p.Scale[3:])
	p.AxesCount = 3
	token, at, ok := l.value("buttons in hexadecimal digits")
	if !ok {
		return
	}
	p.Buttons = 0
	for i, c := range token {
		if !isHex(c) {
			l.notWhole(token, i, at, "buttons in hexadecimal digits")
			break
		}
		p.Buttons = p.Buttons<<4 | nibble(c)
	}
}

func nibble(c byte) uint32 {
	if isDigit(c) {
		return uint32(c - '0')
	}
	return uint32(c|0x20-'a') + 10
}

// wifiState is only read when there are links: Player's reader corrupts its
// memory with them.
func wifiState(l *text, p *iface.WifiData) {
	for i := range elements(l, &p.Links, 9, d04) {
		k := &p.Links[i]
		l.quoted(&k.MAC)
		l.quoted(&k.IP)
		l.quoted(&k.ESSID)
		for _, v := range []*uint32{&k.Mode, &k.Freq, &k.Encrypt, &k.Qual, &k.Level, &k.Noise} {
			integer(l, v, d)
		}
	}
	if !l.writing {
		*p = iface.WifiData{Links: p.Links}
	}
	l.blank()
}

// quoted is a text in single quotes, which may hold blanks.
func (l *text) quoted(s *string) {
	if l.writing {
		l.out = append(append(append(l.out, " '"...), strings.TrimRight(*s, "\x00")...), '\'')
		l.made++
		return
	}
	if l.bad != "" {
		return
	}
	i := l.at
	for i < len(l.in) && l.in[i] <= ' ' {
		i++
	}
	end := i + 1
	for end < len(l.in) && (l.in[end] != '\'' || end+1 < len(l.in) && l.in[end+1] > ' ') {
		end++
	}
	l.read++
	if i >= len(l.in) || l.in[i] != '\'' || end >= len(l.in) {
		l.fail(i, "no text in single quotes; expected one as value %d", l.read)
		return
	}
	*s = string(l.in[i+1 : end])
	l.at = end + 1
}

func opaqueState(l *text, p *iface.OpaqueData) {
	for i := range elements(l, &p.Data, 1, d04) {
		integer(l, &p.Data[i], d03)
	}
	l.blank()
}

func pointcloud3DState(l *text, p *iface.Pointcloud3DData) {
	for i := range elements(l, &p.Points, 3, d) {
		q := &p.Points[i]
		l.float(&q.Point.Px, f6)
		l.float(&q.Point.Py, f6)
		l.float(&q.Point.Pz, f6)
	}
	l.blank()
}

func actarrayState(l *text, p *iface.ActarrayData) {
	for i := range elements(l, &p.Actuators, 5, d) {
		a := &p.Actuators[i]
		l.float32(&a.Position, f6)
		l.float32(&a.Speed, f6)
		l.float32(&a.Acceleration, f6)
		l.float32(&a.Current, f6)
		integer(l, &a.State, d)
	}
	integer(l, &p.MotorState, d)
}

func wsnState(l *text, p *iface.WSNData) {
	integer(l, &p.NodeType, d)
	integer(l, &p.NodeID, d)
	integer(l, &p.NodeParentID, d)
	n := &p.DataPacket
	for _, v := range []*float32{&n.Light, &n.Mic, &n.AccelX, &n.AccelY, &n.AccelZ, &n.MagnX, &n.MagnY, &n.MagnZ, &n.Temperature, &n.Battery} {
		l.float32(v, f6)
	}
}

func rfidTags(l *text, p *iface.RFIDData) {
	for i := range elements(l, &p.Tags, 2, d04) {
		integer(l, &p.Tags[i].Type, d04)
		l.hex(&p.Tags[i].GUID)
	}
	l.blank()
}

func cameraState(l *text, p *iface.CameraData) {
	n := uint32(len(p.Image))
	for _, v := range []*uint32{&p.Width, &p.Height, &p.BPP, &p.Format, &p.Compression, &n} {
		integer(l, v, d)
	}
	at := l.at
	l.hex(&p.Image)
	if !l.writing {
		p.Fdiv = 1
		if l.bad == "" && uint64(n) != uint64(len(p.Image)) {
			l.fail(at, "an image of %d bytes; expected the %d announced", len(p.Image), n)
		}
	}
}

// hex is bytes as one token of hexadecimal digits, written in capitals, the
// only ones that Player's reader knows.
func (l *text) hex(b *[]uint8) {
	if l.writing {
		l.out = fmt.Appendf(l.out, " %X", *b)
		l.made++
		return
	}
	token, at, ok := l.value("hexadecimal digits")
	if !ok {
		return
	}
	if n := hex.DecodedLen(len(token)); cap(*b) < n {
		*b = make([]uint8, n)
	} else {
		*b = (*b)[:n]
	}
	if _, err := hex.Decode(*b, token); err != nil {
		l.fail(at, "%q are no hexadecimal digits, two for each byte", short(token))
	}
}
