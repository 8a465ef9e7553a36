package multicast

import (
	"bytes"
	"net/netip"
	"testing"
	"time"
)

// lab is a sender's segment with its members', whose network loses nothing and
// takes no time, unless it is told to.
type lab struct {
	t        *testing.T
	now      time.Duration
	segments []*Segment // 0: the sender's
	got      []int      // frames, by member
	ends     []error    // of sessions, as the sender or a member ends them
	lose     func(to int, d []byte) bool
	tell     func(to int, m Message) bool // false: not passed on
	box      *box
}

func newLab(t *testing.T, members int, change func(*Config)) *lab {
	l := &lab{t: t, box: newBox(testStream), got: make([]int, members+1), lose: func(int, []byte) bool { return false }, tell: func(int, Message) bool { return true }}
	for i := range members + 1 {
		cfg := Config{Sender: SenderConfig{Stream: testStream, Group: netip.MustParseAddrPort("239.255.67.66:8803")}}
		cfg.Sender.Stream.ID[3] += byte(i)
		if change != nil {
			change(&cfg)
		}
		l.segments = append(l.segments, NewSegment(cfg, 0))
	}
	for i := 1; i <= members; i++ {
		l.segments[0].Step(0, &Up{Session: uint64(i)})
		l.segments[i].Step(0, &Up{Session: 1000})
		offers := l.carried(i)
		l.carry(0)
		l.deliver(offers)
	}
	l.pass(time.Second)
	return l
}

// delivery is an input that a segment's output makes for another.
type delivery struct {
	to int
	in Input
}

// step steps a segment and carries out what it puts out.
func (l *lab) step(i int, in Input) {
	l.segments[i].Step(l.now, in)
	l.carry(i)
}

func (l *lab) carry(i int) { l.deliver(l.carried(i)) }

func (l *lab) deliver(all []delivery) {
	for _, d := range all {
		l.step(d.to, d.in)
	}
}

func (l *lab) carried(i int) (all []delivery) {
	for _, out := range l.segments[i].Outputs() {
		switch out := out.(type) {
		case *Send:
			for to := range l.segments {
				if (out.Session == 0 || (out.Session == 1000) == (to == 0)) && !l.lose(to, out.Datagram) {
					all = append(all, delivery{to, &Received{Datagram: bytes.Clone(out.Datagram)}})
				}
			}
		case *Tell:
			to, session := 0, uint64(i)
			if i == 0 {
				to, session = int(out.Session), 1000
			}
			if l.tell(to, out.Message) {
				all = append(all, delivery{to, &Told{session, out.Message}})
			}
		case *Arrived:
			l.got[i]++
		case *End:
			l.ends = append(l.ends, out.Reason)
		}
	}
	return all
}

// pass lets time pass, to the deadlines.
func (l *lab) pass(d time.Duration) {
	for end := l.now + d; ; {
		next := end
		for _, g := range l.segments {
			next = min(next, max(g.Deadline(), l.now))
		}
		l.now = next
		due := false
		for i, g := range l.segments {
			if g.Deadline() <= l.now {
				due = true
				l.step(i, nil)
			}
		}
		if next >= end && !due {
			return
		}
	}
}

// say sends all members something.
func (l *lab) say(size int) {
	var s Series
	for session := 1; session < len(l.segments); session++ {
		if rank, ok := l.segments[0].Rank(uint64(session)); ok {
			s.Sections = append(s.Sections, Section{rank, l.segments[0].Number(uint64(session)), make([]byte, size)})
		}
	}
	l.step(0, &Put{Series: [][]byte{s.Append(nil)}})
}

func (l *lab) member(i int) *Member { return l.segments[i].follow[1000].member }

// TestStarted: all neighbours become members of each other's streams, and what is
// said arrives.
func TestStarted(t *testing.T) {
	l := newLab(t, 3, nil)
	for i := 1; i <= 3; i++ {
		if rank, ok := l.segments[0].Rank(uint64(i)); !ok || rank == 0 {
			t.Errorf("session %d has rank %d, %v", i, rank, ok)
		}
		if _, ok := l.segments[i].Rank(1000); !ok {
			t.Errorf("the first is no member of broker %d", i)
		}
		if m := l.member(i); m.place != (Place{uint16(i - 1), 3}) {
			t.Errorf("member %d has place %v", i, m.place)
		}
	}
	for range 10 {
		l.say(5000)
	}
	l.pass(time.Second)
	for i := 1; i <= 3; i++ {
		if l.got[i] != 10 {
			t.Errorf("member %d has %d frames of 10", i, l.got[i])
		}
	}
	l.step(0, &Down{2})
	l.say(10)
	if l.got[2] != 10 || l.got[3] != 11 || l.member(3).place != (Place{1, 2}) {
		t.Errorf("after the session of 2 has ended: %v, place %v", l.got, l.member(3).place)
	}
	if len(l.ends) > 0 {
		t.Error(l.ends)
	}
}

// TestHostile: what is wrong ends the session of who has sealed it, and nobody
// else's; what nobody has sealed changes nothing.
func TestHostile(t *testing.T) {
	data := func(b beat, fragments ...byte) []byte { return append(appendBeat(nil, b), fragments...) }
	for _, tt := range []struct {
		name string
		to   int
		in   func(l *lab) Input
		want string // "": nothing ends
	}{
		{"held over number", 1, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 9, held: 9}, 0xc0, 1, 1))}
		}, "number 9 with 9 held before it"},
		{"a fragment beyond the datagram", 1, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 9}, 0xc0, 2, 1))}
		}, "byte 0 of the fragments: a fragment of 2 bytes where 1 are left"},
		{"overlapping sections", 1, func(l *lab) Input {
			s := Series{Sections: []Section{{Rank: 1}, {Rank: 1}}}
			b := s.Append(nil)
			return &Received{Datagram: seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 1}, append([]byte{0xc0, byte(len(b))}, b...)...))}
		}, "section 1 of a series is rank 1's, behind rank 1's"},
		{"a series that goes on without a beginning", 1, func(l *lab) Input {
			l.say(10)
			return &Received{Datagram: seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 2}, 0x40, 1, 1))}
		}, "a series goes on that has not begun"},
		{"a series that begins in another", 1, func(l *lab) Input {
			l.step(1, &Received{Datagram: seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 1}, 0x80, 1, 1))})
			return &Received{Datagram: seal(Head{Kind: KindData, Packet: 1<<40 + 1}, data(beat{number: 2}, 0xc0, 1, 1))}
		}, "a series begins in the middle of another"},
		{"a NACK beyond the next", 0, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindNACK, Rank: 1, Packet: 1 << 40}, appendSpan(nil, span{1, 1}))}
		}, "it asks for datagrams up to 1 where 1 is the next one"},
		{"a NACK that is none", 0, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindNACK, Rank: 1, Packet: 1 << 40}, []byte{1})}
		}, "a NACK of 1 bytes; expected 1 to 100 ranges of 10"},
		{"a status beyond the next", 0, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindStatus, Rank: 1, Packet: 1 << 40}, appendStatus(nil, status{want: 2}))}
		}, "it wants datagram 2 where 1 is the next one"},
		{"an ask beyond the next", 0, func(l *lab) Input { return &Told{1, &Ask{testStream.ID, 1, 1}} }, "it asks for datagrams up to 1 where 1 is the next one"},
		{"a fill beyond the window", 1, func(l *lab) Input { return &Told{1000, &Fill{testStream.ID, 3000, []byte{0xc0, 1, 1}}} }, "it fills in datagram 3000 where 1 is wanted"},
		{"a start that nobody asked for", 1, func(l *lab) Input {
			return &Told{1000, &Start{Stream: testStream.ID, Rank: 9, Place: Place{0, 1}, Number: 5}}
		}, "it starts rank 9 with number 5, which nobody asked for"},
		{"another stream", 1, func(l *lab) Input {
			o := *each()[0].(*Offer)
			o.Stream.ID = StreamID{9}
			return &Told{1000, &o}
		}, "it offers another stream while the one before goes on"},
		{"forged", 1, func(l *lab) Input {
			d := seal(Head{Kind: KindData, Packet: 1 << 40}, data(beat{number: 9, held: 9}, 0xc0, 1, 1))
			d[20]++
			return &Received{Datagram: d}
		}, ""},
		{"a sender's NACK", 1, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindNACK, Packet: 1 << 40}, []byte{1})}
		}, ""},
		{"another member's data", 1, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindData, Rank: 2, Packet: 1 << 40}, []byte{1})}
		}, ""},
		{"another member's NACK that is none", 1, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindNACK, Rank: 2, Packet: 1 << 40}, []byte{1})}
		}, ""},
		{"a status of nobody", 0, func(l *lab) Input {
			return &Received{Datagram: seal(Head{Kind: KindStatus, Rank: 77, Packet: 1}, appendStatus(nil, status{want: 2}))}
		}, ""},
		{"a message of nobody", 0, func(l *lab) Input { return &Told{77, &Ask{testStream.ID, 1, 1}} }, ""},
		{"no datagram of ours", 0, func(l *lab) Input { return &Received{Datagram: []byte("hello")} }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLab(t, 2, nil)
			in := tt.in(l)
			l.step(tt.to, in)
			said := ""
			for _, err := range l.ends {
				said += err.Error()
			}
			if said != tt.want {
				t.Errorf("%q; expected %q", said, tt.want)
			}
			if tt.want == "" {
				before := l.got[1]
				l.say(10)
				if l.got[1] != before+1 {
					t.Error("what is said afterwards does not arrive")
				}
			}
		})
	}
}

// TestFromElsewhere: the sender's datagrams come from the link's address.
func TestFromElsewhere(t *testing.T) {
	g := NewSegment(Config{Sender: SenderConfig{Stream: Stream{ID: StreamID{9}}}}, 0)
	here, elsewhere := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	g.Step(0, &Up{Session: 1, Address: here})
	g.Step(0, &Told{1, each()[0]})
	for packet, from := range []netip.Addr{elsewhere, elsewhere, here, here} {
		g.Step(0, &Received{From: from, Datagram: seal(Head{Kind: KindHeartbeat, Packet: uint64(packet + 1)}, appendBeat(nil, beat{number: 1}))})
		if joins := len(g.Outputs()) == 1; joins != (packet == 3) {
			t.Errorf("datagram %d: %v", packet, g.Outputs())
		}
	}
}

// TestNACKLimits: what a member asks for too often is dropped and counted.
func TestNACKLimits(t *testing.T) {
	l := newLab(t, 2, nil)
	for range 3000 {
		l.say(1000)
	}
	packet := uint64(1 << 40)
	for range maxNACKs + 10 {
		packet++
		l.step(0, &Received{Datagram: seal(Head{Kind: KindNACK, Rank: 1, Packet: packet}, appendSpan(nil, span{1, 1}))})
	}
	if c := l.segments[0].Status().Sent; c.NACKsDropped != 10 || c.NACKs != maxNACKs {
		t.Errorf("%d dropped, %d taken", c.NACKsDropped, c.NACKs)
	}
	l.step(0, &Received{Datagram: seal(Head{Kind: KindNACK, Rank: 2, Packet: packet}, appendSpan(nil, span{1, maxAsked + 1}))})
	if c := l.segments[0].Status().Sent; c.NACKsDropped != 11 {
		t.Errorf("%d dropped", c.NACKsDropped)
	}
	if len(l.ends) > 0 {
		t.Error(l.ends)
	}
}

// TestManyMembers: beyond 64 neighbours one has all over TCP.
func TestManyMembers(t *testing.T) {
	l := newLab(t, maxMembers+1, nil)
	members := 0
	for i := 1; i <= maxMembers+1; i++ {
		if _, ok := l.segments[0].Rank(uint64(i)); ok {
			members++
		}
	}
	if members != maxMembers {
		t.Errorf("%d members; expected %d", members, maxMembers)
	}
	l.say(10)
	if len(l.ends) > 0 {
		t.Error(l.ends)
	}
}

// TestQueueIsBounded: when too much waits, the owner is to send over TCP.
func TestQueueIsBounded(t *testing.T) {
	l := newLab(t, 2, func(c *Config) { c.Sender.Queue, c.Sender.Rate = 100_000, 1e6 })
	for i := 0; !l.segments[0].Full(); i++ {
		if i > 1000 {
			t.Fatal("it is never full")
		}
		l.say(1000)
	}
	if waiting := l.segments[0].Status().Waiting; waiting > 100_000+2048 {
		t.Errorf("%d bytes wait", waiting)
	}
}

// TestNothingIsAllocated: sending, receiving and telling that it was taken.
func TestNothingIsAllocated(t *testing.T) {
	step := route(t)
	for range 3 * DefaultWindow { // buffers grow
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// route is the way of a series from one sender to one of two members.
func route(t testing.TB) func() {
	sender, member := NewSegment(Config{Sender: SenderConfig{Stream: testStream, Rate: 1e12}}, 0), NewSegment(Config{Sender: SenderConfig{Stream: Stream{ID: StreamID{9}}}}, 0)
	member.Step(0, &Up{Session: 1})
	sender.Step(0, &Up{Session: 1})
	now := time.Duration(0)
	var relay func(from, to *Segment)
	relay = func(from, to *Segment) {
		for _, out := range append([]Output(nil), from.Outputs()...) {
			switch out := out.(type) {
			case *Send:
				to.Step(now, &Received{Datagram: bytes.Clone(out.Datagram)})
				relay(to, from)
			case *Tell:
				to.Step(now, &Told{1, out.Message})
				relay(to, from)
			}
		}
	}
	relay(sender, member)
	for range 10 {
		now += 100 * time.Millisecond
		sender.Step(now, nil)
		relay(sender, member)
	}
	rank, ok := sender.Rank(1)
	if !ok {
		t.Fatal("no member")
	}
	reading := [][]byte{make([]byte, 200)}
	var received Received
	put, taken := &Put{Series: make([][]byte, 1)}, &Taken{Session: 1, Stream: testStream.ID}
	s := Series{Readings: reading, Sections: []Section{{Rank: rank, Frame: make([]byte, 40)}}}
	var series, datagram []byte
	return func() {
		now += 50 * time.Microsecond
		s.Sections[0].Pair = sender.Number(1)
		series = s.Append(series[:0])
		put.Series[0] = series
		sender.Step(now, put)
		for _, out := range sender.Outputs() {
			datagram = append(datagram[:0], out.(*Send).Datagram...)
		}
		received.Datagram = datagram
		member.Step(now, &received)
		var status []byte
		for _, out := range member.Outputs() {
			switch out := out.(type) {
			case *Arrived:
				taken.Number = out.Number
			case *Send:
				status = out.Datagram
			}
		}
		if status != nil {
			received.Datagram = append(datagram[:0], status...)
			sender.Step(now, &received)
		}
		member.Step(now, taken)
	}
}

func BenchmarkRoute(b *testing.B) {
	step := route(b)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}
