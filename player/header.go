package player

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Header stands before every message body. Size is that of the encoded body.
type Header struct {
	Addr
	Type      Type
	Subtype   uint8
	Timestamp float64 // s: Unix, simulated or log time, as the server has it
	Seq       uint32
	Size      uint32 // bytes
}

// Message is a header and its encoded body. len(Body) == Header.Size.
type Message struct {
	Header
	Body []byte
}

// Append appends the header's 40 bytes to b.
func (h Header) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.Host)
	b = binary.BigEndian.AppendUint32(b, h.Robot)
	b = binary.BigEndian.AppendUint32(b, uint32(h.Interf))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Index))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Type))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Subtype))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(h.Timestamp))
	b = binary.BigEndian.AppendUint32(b, h.Seq)
	return binary.BigEndian.AppendUint32(b, h.Size)
}

// ParseHeader reads a header from the first 40 bytes of b. Of the interface
// and index only the low 16 bits count, of type and subtype the low 8, as in
// the real server. A Size that no message may have is an error.
func ParseHeader(b []byte) (Header, error) {
	if len(b) < HeaderSize {
		return Header{}, fmt.Errorf("player: header of %d bytes, expected %d", len(b), HeaderSize)
	}
	u32 := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	h := Header{
		Addr:      Addr{Host: u32(0), Robot: u32(4), Interf: Interface(u32(8)), Index: uint16(u32(12))},
		Type:      Type(u32(16)),
		Subtype:   uint8(u32(20)),
		Timestamp: math.Float64frombits(binary.BigEndian.Uint64(b[24:])),
		Seq:       u32(32),
		Size:      u32(36),
	}
	if h.Size > MaxBody {
		return h, fmt.Errorf("player: %s announces a body of %d bytes, the limit is %d", h, h.Size, MaxBody)
	}
	return h, nil
}

// SplitMessages returns the messages that stand in b, one behind the other as
// they are on the wire. Their bodies are parts of b.
func SplitMessages(b []byte) (all []Message, err error) {
	for len(b) > 0 {
		h, err := ParseHeader(b)
		if err != nil {
			return all, err
		}
		if b = b[HeaderSize:]; uint32(len(b)) < h.Size {
			return all, fmt.Errorf("player: %s ends after %d bytes of its body, expected %d", h, len(b), h.Size)
		}
		all = append(all, Message{h, b[:h.Size:h.Size]})
		b = b[h.Size:]
	}
	return all, nil
}

// String has type, subtype and device, for errors and logs.
func (h Header) String() string {
	return fmt.Sprintf("%s %d of %s", h.Type, h.Subtype, h.Addr)
}

// String returns the type's name in Player.
func (t Type) String() string {
	switch t {
	case Data:
		return "DATA"
	case Command:
		return "CMD"
	case Request:
		return "REQ"
	case Ack:
		return "ACK"
	case Synch:
		return "SYNCH"
	case Nack:
		return "NACK"
	}
	return fmt.Sprintf("type %d", uint8(t))
}
