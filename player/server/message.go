package server

import (
	"sync"
	"sync/atomic"

	"callboard/player"
)

// signature identifies what a replace rule calls the same message. Host and
// robot are the same for all messages of a server.
type signature uint64

func signatureOf(h player.Header) signature {
	return signature(h.Interf)<<32 | signature(h.Index)<<16 | signature(h.Type)<<8 | signature(h.Subtype)
}

func (s signature) typ() player.Type { return player.Type(s >> 8) }
func (s signature) device() uint32   { return uint32(s >> 16) }
func (s signature) isReply() bool    { return s.typ() == player.Ack || s.typ() == player.Nack }

// deviceKey identifies a device within a server.
func deviceKey(interf player.Interface, index uint16) uint32 {
	return uint32(interf)<<16 | uint32(index)
}

// message is an encoded message, shared by the queues of all clients that it
// goes to. Whoever holds it releases it once; its buffer is then used again.
type message struct {
	raw  []byte // header and body
	sig  signature
	refs atomic.Int32
}

// keepBuffer bounds the buffers that wait for their next use.
const keepBuffer = 1 << 20

var messages = sync.Pool{New: func() any { return new(message) }}

// newMessage gives a message of header h without its body; the caller holds it.
// The body is appended to raw, then sealed.
func newMessage(h player.Header) *message {
	m := messages.Get().(*message)
	m.sig = signatureOf(h)
	m.raw = h.Append(m.raw[:0])
	m.refs.Store(1)
	return m
}

// seal writes the body's size into the header.
func (m *message) seal() {
	size := uint32(len(m.raw) - player.HeaderSize)
	b := m.raw[player.HeaderSize-4 : player.HeaderSize]
	b[0], b[1], b[2], b[3] = byte(size>>24), byte(size>>16), byte(size>>8), byte(size)
}

func (m *message) hold() *message {
	m.refs.Add(1)
	return m
}

func (m *message) release() {
	if m.refs.Add(-1) > 0 {
		return
	}
	if cap(m.raw) > keepBuffer {
		m.raw = nil
	}
	messages.Put(m)
}
