package push

import (
	"compress/flate"
	"encoding/binary"
	"io"
	"sync"
)

// WebSocket opcodes (RFC 6455, 5.2).
const (
	opText   = 0x1
	opBinary = 0x2
	opClose  = 0x8
	opPing   = 0x9
	opPong   = 0xA
)

const (
	finBit  = 0x80
	rsv1Bit = 0x40 // the message is compressed (RFC 7692)
)

// headRoom is what beginFrame leaves for a frame's header: enough for payloads
// of 126 to 65,535 bytes, which nearly all are.
const headRoom = 4

// beginFrame leaves room for a header; the payload is then appended.
func beginFrame(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// endFrame puts the header before the payload that begins at from+headRoom.
// Frames of a server are not masked, so a payload stays as it was appended.
func endFrame(dst []byte, from int, first byte) []byte { return endFrameBefore(dst, from, first, 0) }

// endFrameBefore is endFrame of a payload of which so many bytes more are
// written behind.
func endFrameBefore(dst []byte, from int, first byte, more int) []byte {
	size := len(dst) - from - headRoom + more
	switch {
	case size < 126:
		copy(dst[from+2:], dst[from+headRoom:])
		dst = dst[:len(dst)-2]
		dst[from+1] = byte(size)
	case size <= 0xffff:
		dst[from+1] = 126
		binary.BigEndian.PutUint16(dst[from+2:], uint16(size))
	default:
		dst = append(dst, 0, 0, 0, 0, 0, 0)
		copy(dst[from+10:], dst[from+headRoom:len(dst)-6])
		dst[from+1] = 127
		binary.BigEndian.PutUint64(dst[from+2:], uint64(size))
	}
	dst[from] = finBit | first
	return dst
}

// appendControl appends a control frame; a payload above 125 bytes is cut.
func appendControl(dst []byte, op byte, payload []byte) []byte {
	payload = payload[:min(len(payload), 125)]
	dst = append(dst, finBit|op, byte(len(payload)))
	return append(dst, payload...)
}

// appendClose appends a close frame. A reason that does not fit is cut, at a
// character's border since it must be UTF-8.
func appendClose(dst []byte, status int, reason string) []byte {
	if most := 123; len(reason) > most {
		for most > 0 && reason[most]&0xc0 == 0x80 {
			most--
		}
		reason = reason[:most]
	}
	payload := binary.BigEndian.AppendUint16(make([]byte, 0, 125), uint16(status))
	return appendControl(dst, opClose, append(payload, reason...))
}

// deflateLeast is from how many bytes on a message is compressed.
const deflateLeast = 128

// deflater compresses messages one by one (no context takeover), so that it
// can be shared: a flate writer is large.
type deflater struct{ pool sync.Pool }

func (d *deflater) append(dst, payload []byte) []byte {
	w, _ := d.pool.Get().(*flate.Writer)
	sink := &appender{b: dst}
	if w == nil {
		w, _ = flate.NewWriter(sink, flate.BestSpeed) // the level is valid
	} else {
		w.Reset(sink)
	}
	// An appender does not fail, and so neither do these.
	_, _ = w.Write(payload)
	_ = w.Flush()
	w.Reset(io.Discard)
	d.pool.Put(w)
	// Flush ends with an empty block, whose last four bytes RFC 7692 leaves out.
	return sink.b[:len(sink.b)-4]
}

type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}
