package server

import (
	"math/bits"
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

// messages wait for their next use. Those with a buffer above smallBuffer wait
// by the size of it, so that a queue of small messages holds no large buffers: a
// buffer is at most twice what is in it, or smallBuffer.
var (
	messages = sync.Pool{New: func() any { return new(message) }}
	large    [33]sync.Pool // by the bits of the buffer's capacity
)

const smallBuffer = 64 << 10 // bytes

// newMessage returns a message of header h without its body; the caller holds it.
// The body is appended to raw, then sealed.
func newMessage(h player.Header) *message {
	return messages.Get().(*message).begin(h)
}

func (m *message) begin(h player.Header) *message {
	m.sig = signatureOf(h)
	m.raw = h.Append(m.raw[:0])
	m.refs.Store(1)
	return m
}

// bodyMessage returns a message of header h with a body that is encoded already.
func bodyMessage(h player.Header, body []byte) *message {
	size := player.HeaderSize + len(body)
	var m *message
	if size > smallBuffer {
		m, _ = large[bits.Len(uint(size))].Get().(*message)
		if m == nil || cap(m.raw) < size {
			// An eighth more, so that what varies a little fits it next time, but
			// no more than others of its class have.
			m = &message{raw: make([]byte, 0, min(size+size/8, 1<<bits.Len(uint(size))-1))}
		}
		m.begin(h)
	} else {
		m = newMessage(h)
	}
	m.raw = append(m.raw, body...)
	m.seal()
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
	if n := cap(m.raw); n > smallBuffer {
		large[bits.Len(uint(n))].Put(m)
		return
	}
	messages.Put(m)
}
