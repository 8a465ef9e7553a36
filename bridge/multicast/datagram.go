package multicast

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
)

// A datagram is a head, the sealed content, and the tag of the seal: AES-128-GCM
// with the head as additional data, and rank, zero (2 bytes) and packet number as
// nonce.
//
//	0      0xCB
//	1      version (high 4 bits, 1), kind (low 4)
//	2–3    rank of who sealed it
//	4–7    stream
//	8–15   packet number
//	16–…   content
//	last 16  tag
const (
	magic    = 0xCB
	version  = 1
	headSize = 16
	tagSize  = 16

	// MinDatagram and MaxDatagram are the bounds of what a stream's datagrams may
	// be set to, bytes; the default is for networks with tunnels and VLANs.
	MinDatagram     = 512
	MaxDatagram     = 8900
	DefaultDatagram = 1400
)

// Kind is what a datagram is.
type Kind byte

// Kinds of datagrams.
const (
	KindData Kind = iota + 1
	KindHeartbeat
	KindNACK
	KindStatus
)

// StreamID names a stream.
type StreamID [4]byte

// Stream is what one broker multicasts on a segment from one boot: its name and
// the key that its datagrams are sealed with. Both are random.
type Stream struct {
	ID  StreamID
	Key [16]byte
}

// Head is the part of a datagram that is not sealed.
type Head struct {
	Kind   Kind
	Rank   uint16 // of who sealed it; 0: the sender
	Stream StreamID
	Packet uint64 // counts what one rank seals
}

func appendHead(b []byte, h Head) []byte {
	b = append(b, magic, version<<4|byte(h.Kind))
	b = binary.BigEndian.AppendUint16(b, h.Rank)
	b = append(b, h.Stream[:]...)
	return binary.BigEndian.AppendUint64(b, h.Packet)
}

// ReadHead reads a datagram's head. It believes nothing of what it reads: only
// the seal proves it.
func ReadHead(datagram []byte) (Head, error) {
	switch {
	case len(datagram) < headSize+tagSize:
		return Head{}, fmt.Errorf("a datagram of %d bytes; expected %d at least", len(datagram), headSize+tagSize)
	case datagram[0] != magic:
		return Head{}, fmt.Errorf("a datagram that begins with 0x%02x; expected 0x%02x", datagram[0], magic)
	case datagram[1]>>4 != version:
		return Head{}, fmt.Errorf("a datagram of version %d; expected %d", datagram[1]>>4, version)
	}
	h := Head{
		Kind: Kind(datagram[1] & 15), Rank: binary.BigEndian.Uint16(datagram[2:]),
		Stream: StreamID(datagram[4:8]), Packet: binary.BigEndian.Uint64(datagram[8:]),
	}
	if h.Kind < KindData || h.Kind > KindStatus {
		return h, fmt.Errorf("a datagram of kind %d; expected %d to %d", h.Kind, KindData, KindStatus)
	}
	return h, nil
}

// box seals and opens the datagrams of one stream.
type box struct {
	stream StreamID
	aead   cipher.AEAD
	nonce  [12]byte
}

func newBox(s Stream) *box {
	block, err := aes.NewCipher(s.Key[:])
	if err != nil {
		panic(err) // a key of another length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // a cipher with other blocks
	}
	return &box{stream: s.ID, aead: aead}
}

func (b *box) of(h Head) []byte {
	binary.BigEndian.PutUint16(b.nonce[:], h.Rank)
	binary.BigEndian.PutUint64(b.nonce[4:], h.Packet)
	return b.nonce[:]
}

// seal completes the datagram that begins at start of out: its head and its
// content are there.
func (b *box) seal(out []byte, start int, h Head) []byte {
	head, content := out[start:start+headSize], out[start+headSize:]
	return out[:start+headSize+len(b.aead.Seal(content[:0], b.of(h), content, head))]
}

// room makes room for a datagram's content and seal behind out.
func room(out []byte, content int) []byte {
	if free := cap(out) - len(out); free < headSize+content+tagSize {
		return make([]byte, 0, max(64<<10, headSize+content+tagSize)) // what was put out before stays where it is
	}
	return out
}

// open appends a datagram's content to into.
func (b *box) open(into, datagram []byte, h Head) ([]byte, error) {
	return b.aead.Open(into, b.of(h), datagram[headSize:], datagram[:headSize])
}
