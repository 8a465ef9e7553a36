package multicast

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Config says how a broker takes part in a segment.
type Config struct {
	Sender    SenderConfig
	Window    int           // datagrams of each stream that are taken at a time; default what the sender offers
	Heartbeat time.Duration // of links; default 1 s
}

// maxStreams is how many streams are followed: others' frames come over TCP.
const maxStreams = maxMembers

// Segment is a broker's part in a segment: the sender of its own stream and a
// member of its neighbours'. Whoever owns it asks for Rank and Number between
// steps, writes series by them and puts them in.
type Segment struct {
	cfg     Config
	sender  *Sender
	follow  map[uint64]*following // by session
	streams map[StreamID]*following
	order   []*following // sessions in the order in which they began
	out     []Output
	frames  slab[Arrived]
	now     time.Duration
	read    Received // scratch
	dropped uint32
	strange uint64
	past    MemberCounters // of streams that are not followed any more
}

// following is what is known of a session.
type following struct {
	session uint64
	address netip.Addr
	pair    uint32 // number of the last frame that was sent in it
	member  *Member
	offer   Offer
	parts   assembler
}

// NewSegment takes part in a segment from a time on.
func NewSegment(cfg Config, now time.Duration) *Segment {
	return &Segment{cfg: cfg, sender: NewSender(cfg.Sender, now), follow: map[uint64]*following{}, streams: map[StreamID]*following{}}
}

// Rank returns the rank of a session's neighbour, if it is a member of this
// broker's stream, so that series may name it.
func (g *Segment) Rank(session uint64) (rank uint16, member bool) {
	if p := g.sender.peers[session]; p != nil && p.state == peerStarted {
		return p.rank, true
	}
	return 0, false
}

// Full reports whether so much waits that frames are to go over TCP.
func (g *Segment) Full() bool { return g.sender.Full() }

// Number returns the pair number of the next frame to a session's neighbour, over
// either channel. It is to be called once for each, in the order of the frames.
func (g *Segment) Number(session uint64) uint32 {
	f := g.follow[session]
	if f == nil {
		return 0
	}
	f.pair++
	return f.pair
}

// Step takes an input; nil is that time has passed.
func (g *Segment) Step(now time.Duration, in Input) {
	clear(g.out)
	g.out, g.frames.used = g.out[:0], 0
	g.now = max(now, g.now)
	switch in := in.(type) {
	case nil:
		g.pass()
	case *Up:
		g.up(in)
	case *Down:
		g.down(in)
	case *Told:
		g.told(in)
	case *Received:
		g.received(in)
	case *Put, *Retire:
		g.stepSender(in)
	case *Taken:
		if f := g.follow[in.Session]; f != nil && f.member != nil && f.offer.Stream.ID == in.Stream {
			g.stepMember(f, in)
		}
	case *SocketDropped:
		g.dropped = in.Total
		for _, f := range g.order {
			if f.member != nil {
				g.stepMember(f, in)
			}
		}
	case *Renewed:
		g.renewed(in)
	}
}

// Outputs returns what the last step put out. It is valid until the next.
func (g *Segment) Outputs() []Output { return g.out }

// Deadline returns when a step is due, if nothing else happens before.
func (g *Segment) Deadline() time.Duration {
	at := g.sender.Deadline()
	for _, f := range g.order {
		if f.member != nil {
			at = min(at, f.member.Deadline())
		}
	}
	return at
}

// pass has time pass where something is due.
func (g *Segment) pass() {
	if g.sender.Deadline() <= g.now {
		g.stepSender(nil)
	}
	for _, f := range g.order {
		if f.member != nil && f.member.Deadline() <= g.now {
			g.stepMember(f, nil)
		}
	}
}

func (g *Segment) up(in *Up) {
	f := &following{session: in.Session, address: in.Address}
	g.follow[in.Session] = f
	g.order = append(g.order, f)
	g.stepSender(in)
}

func (g *Segment) down(in *Down) {
	f := g.follow[in.Session]
	if f == nil {
		return
	}
	g.forget(f)
	delete(g.follow, in.Session)
	g.order = slices.DeleteFunc(g.order, func(o *following) bool { return o == f })
	g.stepSender(in)
}

// forget gives a followed stream up.
func (g *Segment) forget(f *following) {
	if f.member != nil {
		g.past.Add(&f.member.counters)
		delete(g.streams, f.offer.Stream.ID)
		f.member = nil
	}
}

// told takes a neighbour's message: about its stream or this broker's.
func (g *Segment) told(in *Told) {
	f := g.follow[in.Session]
	if f == nil {
		return
	}
	if offer, ok := in.Message.(*Offer); ok {
		g.offered(f, offer, in)
		return
	}
	of := streamOf(in.Message)
	switch {
	case of == g.sender.cfg.Stream.ID:
		g.stepSender(in)
	case f.member != nil && of == f.offer.Stream.ID:
		if _, begins := in.Message.(*Start); begins {
			f.parts = assembler{}
		}
		g.stepMember(f, in)
	}
	// Else it is about a stream that one of the two has just given up.
}

func streamOf(m Message) StreamID {
	switch m := m.(type) {
	case *Join:
		return m.Stream
	case *Start:
		return m.Stream
	case *Placed:
		return m.Stream
	case *Ask:
		return m.Stream
	case *Fill:
		return m.Stream
	case *Off:
		return m.Stream
	}
	return StreamID{}
}

// offered takes an offer: of another stream than before, or again.
func (g *Segment) offered(f *following, offer *Offer, in *Told) {
	other := g.streams[offer.Stream.ID]
	switch {
	case other == f && offer.Stream == f.offer.Stream:
		g.stepMember(f, in)
		return
	case other != nil || offer.Stream.ID == g.sender.cfg.Stream.ID:
		return // two streams of one name: one of them goes over TCP
	case len(g.streams) >= maxStreams && f.member == nil:
		return
	case f.member != nil && (f.member.phase == phaseStarted || f.member.phase == phaseLeaving):
		g.out = append(g.out, &End{f.session, fmt.Errorf("it offers another stream while the one before goes on")})
		return
	}
	g.forget(f)
	f.offer, f.parts = *offer, assembler{}
	f.member = NewMember(MemberConfig{Session: f.session, Offer: *offer, Window: g.cfg.Window, Heartbeat: g.cfg.Heartbeat}, g.now)
	f.member.drops = g.dropped
	g.streams[offer.Stream.ID] = f
}

// received finds out whose stream a datagram is of.
func (g *Segment) received(in *Received) {
	h, err := ReadHead(in.Datagram)
	if err != nil {
		g.strange++
		return
	}
	g.read = Received{From: in.From, Datagram: in.Datagram, head: h}
	if h.Stream == g.sender.cfg.Stream.ID {
		g.stepSender(&g.read)
		return
	}
	f := g.streams[h.Stream]
	if f == nil || h.Rank == 0 && f.address.IsValid() && in.From.IsValid() && f.address != in.From {
		g.strange++
		return
	}
	g.stepMember(f, &g.read)
}

// renewed begins another stream in the place of one that is over.
func (g *Segment) renewed(in *Renewed) {
	if !g.sender.over {
		return
	}
	cfg := g.sender.cfg
	cfg.Stream = in.Stream
	before := g.sender.counters
	g.sender = NewSender(cfg, g.now)
	g.sender.counters = before
	for _, f := range g.order {
		g.stepSender(&Up{Session: f.session, Address: f.address})
	}
}

// stepSender steps the sender and passes on what it puts out.
func (g *Segment) stepSender(in Input) {
	g.sender.Step(g.now, in)
	for _, out := range g.sender.Outputs() {
		if tell, ok := out.(*Tell); ok {
			switch m := tell.Message.(type) {
			case *Start:
				if m.Number > 0 {
					m.Pair = g.follow[tell.Session].pair + 1
				}
			case *Off:
				m.Pair = g.follow[tell.Session].pair + 1
			}
		}
		g.out = append(g.out, out)
	}
}

// stepMember steps a member. What it delivers is put together to series, and what
// they say to this broker handed over.
func (g *Segment) stepMember(f *following, in Input) {
	m := f.member
	m.Step(g.now, in)
	for _, out := range m.Outputs() {
		d, ok := out.(*delivered)
		if !ok {
			g.out = append(g.out, out)
			continue
		}
		if err := f.parts.take(d.fragments, func(series []byte) error { return g.arrived(f, d.number, series) }); err != nil {
			g.out = append(g.out, &End{f.session, err})
			return
		}
	}
}

// arrived hands over what a series says to this broker.
func (g *Segment) arrived(f *following, number uint64, series []byte) error {
	a := g.frames.take()
	section, readings, found, err := ReadSeries(a.Readings[:0], series, f.member.rank)
	a.Readings = readings
	if err != nil || !found {
		g.frames.used-- // to be taken again
		return err
	}
	f.member.gave(number)
	*a = Arrived{Session: f.session, Stream: f.offer.Stream.ID, Number: number, Pair: section.Pair, Frame: section.Frame, Readings: readings}
	g.out = append(g.out, a)
	return nil
}
