package multicasttest

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"time"

	"callboard/bridge/multicast"
)

// said is a message to a neighbour.
type said struct {
	number uint64 // of the session's, from 1
	id     uint64
	at     time.Duration
	group  uint64 // came by multicast, in that datagram
	stream multicast.StreamID
}

type broker struct {
	net     *Network
	index   int
	life    int
	address netip.Addr
	segment *multicast.Segment
	ends    []*end // by broker
	bySess  map[uint64]*end
	wake    time.Duration
	line    time.Duration // free from then on

	still   time.Duration // it stands still until then
	socket  []event
	dropped uint32
	blocked time.Duration // it takes nothing until then

	lossIn, lossOut float64 // beside the network's
	deaf, mute      bool    // cut off from the group: nothing comes, nothing goes
	lonely          bool    // its datagrams to one neighbour are lost
	arrive          []time.Duration
	recorded        [][]byte
}

// end is one end of a link session.
type end struct {
	of      *broker
	session uint64
	other   *end
	up      bool
	down    bool
	cut     bool
	arrive  time.Duration // the last piece

	sent    uint64 // messages
	got     uint64
	merge   multicast.Merge[said]
	waiting []said
}

func (b *broker) boot() {
	n := b.net
	b.life++
	cfg := b.net.cfg.Segment
	cfg.Sender.Stream = n.stream()
	cfg.Sender.Group = netip.MustParseAddrPort("239.255.67.66:8803")
	cfg.Sender.Port = 1
	b.segment = multicast.NewSegment(cfg, n.Now)
	b.ends = make([]*end, n.cfg.Brokers)
	b.bySess = map[uint64]*end{}
	b.arrive = make([]time.Duration, n.cfg.Brokers)
	b.wake, b.still, b.blocked, b.socket, b.dropped = never, 0, 0, nil, 0
}

func (b *broker) happens(e event) {
	n := b.net
	if b.still > n.Now {
		switch {
		case e.kind != eventDatagram:
			e.at = b.still
			n.agenda.add(e)
		case n.cfg.Socket > 0 && len(b.socket) >= n.cfg.Socket:
			b.dropped++
		default:
			b.socket = append(b.socket, e)
		}
		return
	}
	if e.kind == eventPiece && !e.end.up { // its Up was put off
		n.agenda.add(e)
		return
	}
	switch e.kind {
	case eventDatagram:
		b.step(&multicast.Received{From: e.from.address, Datagram: e.data})
	case eventResume:
		waiting := b.socket
		b.socket = nil
		if b.dropped > 0 {
			b.step(&multicast.SocketDropped{Total: b.dropped})
		}
		for _, w := range waiting {
			b.happens(w)
		}
	case eventWake:
		b.wake = never
		b.step(nil)
	case eventTake:
		for _, end := range b.ends {
			if end != nil {
				end.take()
			}
		}
	case eventUp:
		e.end.up = true
		b.step(&multicast.Up{Session: e.end.session, Address: e.end.other.of.address})
	case eventDown:
		b.downed(e.end)
	case eventPiece:
		if e.end.down {
			return
		}
		if e.piece.message != nil {
			b.step(&multicast.Told{Session: e.end.session, Message: e.piece.message})
		} else {
			e.end.arrived(e.piece.number, e.piece.said)
		}
	}
}

func (b *broker) downed(e *end) {
	if e.down {
		return
	}
	e.down = true
	delete(b.bySess, e.session)
	b.ends[e.other.of.index] = nil
	b.step(&multicast.Down{Session: e.session})
}

// step steps a broker's segment and carries out what it puts out.
func (b *broker) step(in multicast.Input) {
	n, life := b.net, b.life
	b.segment.Step(n.Now, in)
	var frames []*multicast.Arrived
	var ended []uint64
	var complete *multicast.Complete
	for _, out := range b.segment.Outputs() {
		switch out := out.(type) {
		case *multicast.Send:
			b.send(out)
		case *multicast.Tell:
			if e := b.bySess[out.Session]; e != nil && (n.Swallow == nil || !n.Swallow(out.Message)) {
				e.push(piece{message: out.Message})
			}
		case *multicast.Arrived:
			a := *out
			frames = append(frames, &a)
		case *multicast.Complete:
			complete = out
		case *multicast.End:
			ended = append(ended, out.Session)
			if n.OnEnd != nil {
				n.OnEnd(out.Reason)
			}
		case *multicast.NewStream:
			n.agenda.add(event{at: n.Now, kind: eventWake, to: b, life: life})
		}
	}
	b.check()
	renew := false
	for _, out := range b.segment.Outputs() {
		_, asked := out.(*multicast.NewStream)
		renew = renew || asked
	}
	for _, a := range frames {
		if e := b.bySess[a.Session]; e == nil || e.down {
			n.fail("broker %d was handed a frame of session %d, which has ended", b.index, a.Session)
		} else {
			e.arrived(a.Pair, said{
				number: binary.BigEndian.Uint64(a.Frame), id: binary.BigEndian.Uint64(a.Readings[0]), at: time.Duration(binary.BigEndian.Uint64(a.Readings[0][8:])),
				group: a.Number, stream: a.Stream,
			})
		}
	}
	if complete != nil {
		if e := b.bySess[complete.Session]; e != nil && !e.cut && e.merge.Next() != complete.Pair {
			n.fail("broker %d still waits for frame %d of session %d, and all below %d have been sent", b.index, e.merge.Next(), e.session, complete.Pair)
		}
	}
	for _, session := range ended {
		if e := b.bySess[session]; e != nil {
			n.Ended++
			e.hangUp(0)
		}
	}
	if renew {
		b.step(&multicast.Renewed{Stream: n.stream()})
		return
	}
	if at := b.segment.Deadline(); at < b.wake {
		b.wake = max(at, n.Now)
		n.agenda.add(event{at: b.wake, kind: eventWake, to: b, life: b.life})
	}
}

// push puts a piece on the link.
func (e *end) push(p piece) {
	if e.cut || e.down {
		return
	}
	n := e.of.net
	e.arrive = max(e.arrive, n.Now+n.cfg.Link)
	n.agenda.add(event{at: e.arrive, kind: eventPiece, to: e.other.of, life: e.other.of.life, end: e.other, piece: p})
}

// arrived takes a frame of either channel.
func (e *end) arrived(number uint32, s said) {
	if e.down || e.cut {
		return
	}
	err := e.merge.Add(number, s, 256, func(s said) {
		if s.number != e.got+1 {
			e.of.net.fail("broker %d got message %d of broker %d in session %d; expected %d", e.of.index, s.number, e.other.of.index, e.session, e.got+1)
		}
		e.got++
		e.waiting = append(e.waiting, s)
	})
	if err != nil {
		if e.of.net.OnEnd != nil {
			e.of.net.OnEnd(err)
		}
		e.of.net.Ended++
		e.hangUp(0)
		return
	}
	e.take()
}

// take has the broker take what waits, unless it takes nothing now.
func (e *end) take() {
	b := e.of
	n := b.net
	if b.blocked > n.Now {
		return
	}
	taken := e.waiting
	e.waiting = nil
	var last *said
	for i := range taken {
		s := &taken[i]
		n.Delivered++
		var buf [24]byte
		binary.BigEndian.PutUint64(buf[:], s.id)
		binary.BigEndian.PutUint64(buf[8:], uint64(n.Now))
		binary.BigEndian.PutUint64(buf[16:], uint64(b.index))
		n.trace.Write(buf[:])
		if n.OnDeliver != nil {
			n.OnDeliver(e.other.of.index, b.index, n.Now-s.at)
		}
		if s.group > 0 {
			last = s
		}
	}
	if last != nil {
		b.step(&multicast.Taken{Session: e.session, Stream: last.stream, Number: last.group})
	}
}

// send puts a datagram on the wire.
func (b *broker) send(out *multicast.Send) {
	n := b.net
	data := bytes.Clone(out.Datagram)
	length := len(data) + 42 // Ethernet, IP and UDP
	n.Wire += uint64(length)
	b.line = max(b.line, n.Now)
	if n.cfg.Bits > 0 {
		b.line += time.Duration(float64(length) * 8e9 / n.cfg.Bits)
	}
	head, _ := multicast.ReadHead(data)
	if len(b.recorded) < 64 {
		b.recorded = append(b.recorded, data)
	}
	if out.Session != 0 {
		if e := b.bySess[out.Session]; e != nil && !b.lonely {
			n.carry(b, e.other.of, data, head)
		}
		return
	}
	if b.mute || n.cfg.Shared > 0 && n.rng.Float64() < n.cfg.Shared {
		n.lost(head)
		return
	}
	for _, to := range n.brokers {
		if !to.deaf {
			n.carry(b, to, data, head)
		}
	}
}

func (n *Network) lost(h multicast.Head) {
	if h.Kind == multicast.KindData {
		n.Losses++
	}
}

// carry brings a datagram to one broker, or loses it.
func (n *Network) carry(from, to *broker, data []byte, h multicast.Head) {
	if loss := n.cfg.Loss + from.lossOut + to.lossIn; from != to && loss > 0 && n.rng.Float64() < loss {
		n.lost(h)
		return
	}
	at := from.line + n.cfg.Delay
	if n.cfg.Jitter > 0 {
		at += time.Duration(n.rng.Int64N(int64(2*n.cfg.Jitter))) - n.cfg.Jitter
	}
	if n.cfg.Reorder > 0 && n.rng.Float64() < n.cfg.Reorder {
		at += time.Duration(n.rng.Int64N(int64(n.cfg.Late)))
	} else {
		at = max(at, to.arrive[from.index]) // in order
		to.arrive[from.index] = at
	}
	n.agenda.add(event{at: at, kind: eventDatagram, to: to, life: to.life, from: from, data: data})
}

// Say has a broker say one thing to several, in one step: by multicast where they
// are members, else over their links. It returns how many are to hear it.
func (n *Network) Say(i int, to []int, size int) int {
	b := n.brokers[i]
	if b.still > n.Now {
		return 0
	}
	n.said++
	reading := make([]byte, 16, max(16, size))
	binary.BigEndian.PutUint64(reading, n.said)
	binary.BigEndian.PutUint64(reading[8:], uint64(n.Now))
	var series multicast.Series
	var over []*end
	for _, j := range to {
		e := b.ends[j]
		if e == nil || !e.up || e.down || e.cut {
			continue
		}
		if rank, ok := b.segment.Rank(e.session); ok && !b.segment.Full() {
			series.Sections = append(series.Sections, multicast.Section{Rank: rank})
			over = append(over, e)
			continue
		}
		b.sayOverLink(e)
	}
	if len(over) == 1 {
		b.sayOverLink(over[0])
		return len(to)
	}
	if len(over) == 0 {
		return len(to)
	}
	for at, e := range over {
		e.sent++
		series.Sections[at].Pair = b.segment.Number(e.session)
		series.Sections[at].Frame = binary.BigEndian.AppendUint64(nil, e.sent)
	}
	sortSections(series.Sections)
	series.Readings = [][]byte{reading}
	if more := size - series.Size(); more > 0 {
		series.Readings[0] = append(reading, make([]byte, more)...)
	}
	b.step(&multicast.Put{Series: [][]byte{series.Append(nil)}})
	return len(to)
}

func (b *broker) sayOverLink(e *end) {
	e.sent++
	e.push(piece{number: b.segment.Number(e.session), said: said{number: e.sent, id: b.net.said, at: b.net.Now}})
}
