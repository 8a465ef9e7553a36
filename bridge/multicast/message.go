package multicast

import (
	"encoding/binary"
	"fmt"
	"net/netip"
)

// Message is what two neighbours tell each other of a stream over their link. The
// types of this file are all there are.
type Message interface {
	// Append appends the message as it crosses the link, behind its kind.
	Append(b []byte) []byte
	kind() byte
}

// Kinds of messages.
const (
	kindOffer = iota + 1
	kindJoin
	kindStart
	kindPlace
	kindAsk
	kindFill
	kindOff
)

// Offer invites a neighbour to join the stream of who sends it.
type Offer struct {
	Group    netip.AddrPort // where the stream goes; IPv4
	Port     uint16         // where its sender takes statuses
	Stream   Stream
	Datagram uint16 // bytes of the longest
	Window   uint32 // datagrams that may be on their way
}

// Join accepts an offer: the stream is heard.
type Join struct {
	Stream StreamID
	Room   uint32 // datagrams that the member takes
}

// Start makes a neighbour a member. With number 0 it only has a rank, to prove by
// statuses that they arrive: another Start follows then.
type Start struct {
	Stream StreamID
	Rank   uint16
	Place  Place
	Number uint64 // of the first datagram that may name it
	Pair   uint32 // number of the first frame that may come by multicast
}

// Place is a member's turn: I of N, from 0.
type Place struct{ I, N uint16 }

// Placed tells a member its turn anew.
type Placed struct {
	Stream StreamID
	Place  Place
}

// Ask asks for what repairs have not brought, both ends included.
type Ask struct {
	Stream   StreamID
	From, To uint64
}

// Fill is a datagram's fragments over the link.
type Fill struct {
	Stream    StreamID
	Number    uint64
	Fragments []byte
}

// Why says why a neighbour's frames come over its link.
type Why byte

// Reasons.
const (
	WhySlow    Why = iota + 1 // X6 (a): it holds the others back
	WhySilent                 // X6 (b): it is not heard
	WhyLossy                  // X6 (c): it loses too much
	WhyDeaf                   // Y11: it hears nothing
	WhyRenewed                // another stream takes the place of this one
)

var whys = [...]string{
	WhySlow: "it held the others back", WhySilent: "nothing was heard of it", WhyLossy: "it lost too much",
	WhyDeaf: "it heard nothing", WhyRenewed: "the stream was renewed",
}

func (w Why) String() string {
	if w < WhySlow || int(w) >= len(whys) {
		return fmt.Sprintf("reason %d", byte(w))
	}
	return whys[w]
}

// Off ends a membership: from the pair number on, frames come over the link. A
// member asks for it with the pair number 0.
type Off struct {
	Stream StreamID
	Pair   uint32
	Why    Why
}

func (*Offer) kind() byte  { return kindOffer }
func (*Join) kind() byte   { return kindJoin }
func (*Start) kind() byte  { return kindStart }
func (*Placed) kind() byte { return kindPlace }
func (*Ask) kind() byte    { return kindAsk }
func (*Fill) kind() byte   { return kindFill }
func (*Off) kind() byte    { return kindOff }

// Append implements Message.
func (m *Offer) Append(b []byte) []byte {
	group := m.Group.Addr().As4()
	b = append(append(b, kindOffer), group[:]...)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, m.Group.Port()), m.Port)
	b = append(append(b, m.Stream.ID[:]...), m.Stream.Key[:]...)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, m.Datagram), m.Window)
}

// Append implements Message.
func (m *Join) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint32(head(b, kindJoin, m.Stream), m.Room)
}

// Append implements Message.
func (m *Start) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(head(b, kindStart, m.Stream), m.Rank)
	b = binary.BigEndian.AppendUint64(m.Place.append(b), m.Number)
	return binary.BigEndian.AppendUint32(b, m.Pair)
}

// Append implements Message.
func (m *Placed) Append(b []byte) []byte { return m.Place.append(head(b, kindPlace, m.Stream)) }

// Append implements Message.
func (m *Ask) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(head(b, kindAsk, m.Stream), m.From), m.To)
}

// Append implements Message.
func (m *Fill) Append(b []byte) []byte {
	return append(binary.BigEndian.AppendUint64(head(b, kindFill, m.Stream), m.Number), m.Fragments...)
}

// Append implements Message.
func (m *Off) Append(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(head(b, kindOff, m.Stream), m.Pair), byte(m.Why))
}

func head(b []byte, kind byte, stream StreamID) []byte { return append(append(b, kind), stream[:]...) }

func (p Place) append(b []byte) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, p.I), p.N)
}

// MaxMessage is the length of the longest message, bytes.
const MaxMessage = 1 + 4 + 8 + MaxDatagram

// lengths of messages behind their kind; that of a Fill is its least.
var lengths = [...]int{kindOffer: 34, kindJoin: 8, kindStart: 22, kindPlace: 8, kindAsk: 20, kindFill: 15, kindOff: 9}

// ReadMessage reads what Append has written. It keeps nothing of b.
func ReadMessage(b []byte) (Message, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("an empty message of a stream")
	}
	kind, b := b[0], b[1:]
	if kind < kindOffer || kind > kindOff {
		return nil, fmt.Errorf("a message of a stream of kind %d; expected %d to %d", kind, kindOffer, kindOff)
	}
	if n := lengths[kind]; len(b) < n || len(b) > n && kind != kindFill || len(b) >= MaxMessage {
		return nil, fmt.Errorf("a message of a stream of kind %d with %d bytes; expected %d", kind, len(b), n)
	}
	if kind == kindOffer {
		return readOffer(b)
	}
	stream, b := StreamID(b[:4]), b[4:]
	u16, u32, u64 := binary.BigEndian.Uint16, binary.BigEndian.Uint32, binary.BigEndian.Uint64
	var err error
	var m Message
	switch kind {
	case kindJoin:
		m = &Join{stream, u32(b)}
	case kindStart:
		start := &Start{stream, u16(b), Place{u16(b[2:]), u16(b[4:])}, u64(b[6:]), u32(b[14:])}
		if err = start.Place.check(); err == nil && start.Rank == 0 {
			err = fmt.Errorf("a start with rank 0, which is the sender's")
		}
		m = start
	case kindPlace:
		placed := &Placed{stream, Place{u16(b), u16(b[2:])}}
		err, m = placed.Place.check(), placed
	case kindAsk:
		ask := &Ask{stream, u64(b), u64(b[8:])}
		if ask.From == 0 || ask.From > ask.To || ask.To-ask.From >= maxAsked {
			err = fmt.Errorf("it asks for %d to %d; expected up to %d numbers", ask.From, ask.To, maxAsked)
		}
		m = ask
	case kindFill:
		fill := &Fill{stream, u64(b), append([]byte(nil), b[8:]...)}
		if err = checkFragments(fill.Fragments); err == nil && fill.Number == 0 {
			err = fmt.Errorf("a fill of number 0")
		}
		m = fill
	case kindOff:
		off := &Off{stream, u32(b), Why(b[4])}
		if off.Why < WhySlow || off.Why > WhyRenewed {
			err = fmt.Errorf("the %v for going over TCP; expected %d to %d", off.Why, WhySlow, WhyRenewed)
		}
		m = off
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

func readOffer(b []byte) (Message, error) {
	u16 := binary.BigEndian.Uint16
	m := &Offer{
		Group: netip.AddrPortFrom(netip.AddrFrom4([4]byte(b)), u16(b[4:])), Port: u16(b[6:]),
		Stream:   Stream{StreamID(b[8:12]), [16]byte(b[12:28])},
		Datagram: u16(b[28:]), Window: binary.BigEndian.Uint32(b[30:]),
	}
	switch {
	case !m.Group.Addr().IsMulticast() || m.Group.Port() == 0:
		return nil, fmt.Errorf("an offer for the group %v; expected a multicast address and a port", m.Group)
	case m.Datagram < MinDatagram || m.Datagram > MaxDatagram:
		return nil, fmt.Errorf("an offer with datagrams of %d bytes; expected %d to %d", m.Datagram, MinDatagram, MaxDatagram)
	case m.Window < minWindow || m.Window > maxWindow:
		return nil, fmt.Errorf("an offer with a window of %d datagrams; expected %d to %d", m.Window, minWindow, maxWindow)
	}
	return m, nil
}

func (p Place) check() error {
	if p.I >= p.N {
		return fmt.Errorf("place %d of %d", p.I, p.N)
	}
	return nil
}
