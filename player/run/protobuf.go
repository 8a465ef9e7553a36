package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"callboard/player"
)

// A Player message stands in an MCAP file as a protobuf message, so that any
// program can take it apart: the header's fields, and the body as Player's
// protocol has it (XDR).
const (
	fieldTime = 1 + iota
	fieldHost
	fieldPort
	fieldInterface
	fieldIndex
	fieldType
	fieldSubtype
	fieldSeq
	fieldBody
)

// MessageSchema is the name of that message.
const MessageSchema = "callboard.PlayerMessage"

// Wire types of protobuf.
const (
	wireVarint = 0
	wireFixed8 = 1
	wireBytes  = 2
	wireFixed4 = 5
)

// appendHead appends the fields of a message's header.
func appendHead(b []byte, h *player.Header) []byte {
	b = append(b, fieldTime<<3|wireFixed8)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(h.Timestamp))
	for i, v := range [...]uint32{h.Host, h.Robot, uint32(h.Interf), uint32(h.Index), uint32(h.Type), uint32(h.Subtype), h.Seq} {
		if v != 0 {
			b = append(b, byte(fieldHost+i)<<3|wireVarint)
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b
}

// bodyRoom is the length of a body's length: a varint of this many bytes, of
// which protobuf readers take leading ones that could be shorter, too.
const bodyRoom = 4

// appendBody appends what encode appends as the body.
func appendBody(b []byte, encode func([]byte) ([]byte, error)) ([]byte, error) {
	b = append(b, fieldBody<<3|wireBytes, 0, 0, 0, 0)
	from := len(b)
	b, err := encode(b)
	if err != nil {
		return b, err
	}
	n := len(b) - from
	if n >= 1<<(7*bodyRoom) {
		return b, fmt.Errorf("a body of %d bytes", n)
	}
	for i := range bodyRoom {
		b[from-bodyRoom+i] = byte(n>>(7*i))&0x7f | 0x80
	}
	b[from-1] &= 0x7f
	return b, nil
}

var errProtobuf = errors.New("it is no protobuf message")

// parseMessage takes a message apart. body is part of b.
func parseMessage(b []byte) (h player.Header, body []byte, err error) {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return h, nil, errProtobuf
		}
		b = b[n:]
		var v uint64
		var text []byte
		switch tag & 7 {
		case wireVarint:
			if v, n = binary.Uvarint(b); n <= 0 {
				return h, nil, errProtobuf
			}
		case wireFixed8:
			if n = 8; len(b) < n {
				return h, nil, errProtobuf
			}
			v = binary.LittleEndian.Uint64(b)
		case wireFixed4:
			if n = 4; len(b) < n {
				return h, nil, errProtobuf
			}
		case wireBytes:
			size, m := binary.Uvarint(b)
			if m <= 0 || size > uint64(len(b)-m) {
				return h, nil, errProtobuf
			}
			text, n = b[m:m+int(size)], m+int(size)
		default:
			return h, nil, errProtobuf
		}
		b = b[n:]
		switch tag {
		case fieldTime<<3 | wireFixed8:
			h.Timestamp = math.Float64frombits(v)
		case fieldHost<<3 | wireVarint:
			h.Host = uint32(v)
		case fieldPort<<3 | wireVarint:
			h.Robot = uint32(v)
		case fieldInterface<<3 | wireVarint:
			h.Interf = player.Interface(v)
		case fieldIndex<<3 | wireVarint:
			h.Index = uint16(v)
		case fieldType<<3 | wireVarint:
			h.Type = player.Type(v)
		case fieldSubtype<<3 | wireVarint:
			h.Subtype = uint8(v)
		case fieldSeq<<3 | wireVarint:
			h.Seq = uint32(v)
		case fieldBody<<3 | wireBytes:
			body = text
		}
	}
	h.Size = uint32(len(body))
	return h, body, nil
}

// descriptor is the schema of the message: a protobuf FileDescriptorSet.
func descriptor() []byte {
	const (
		typeDouble = 1
		typeBytes  = 12
		typeUint32 = 13
	)
	text := func(b []byte, field int, s string) []byte {
		b = append(b, byte(field<<3|wireBytes))
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	number := func(b []byte, field int, v byte) []byte { return append(b, byte(field<<3|wireVarint), v) }
	message := text(nil, 1, "PlayerMessage")
	for i, f := range []struct {
		name string
		typ  byte
	}{
		{"time", typeDouble}, {"host", typeUint32}, {"port", typeUint32}, {"interface", typeUint32}, {"index", typeUint32},
		{"type", typeUint32}, {"subtype", typeUint32}, {"seq", typeUint32}, {"body", typeBytes},
	} {
		field := text(nil, 1, f.name)
		field = number(number(number(field, 3, byte(i+1)), 4, 1), 5, f.typ) // number, optional, type
		message = text(message, 2, string(text(field, 10, f.name)))
	}
	file := text(text(nil, 1, "callboard/player_message.proto"), 2, "callboard")
	file = text(text(file, 4, string(message)), 12, "proto3")
	return text(nil, 1, string(file))
}
