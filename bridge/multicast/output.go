package multicast

// Output is what the runtime is to do. The types of this file are all there are.
// They are valid until the machine's next step.
type Output interface{ output() }

// Send sends a datagram: to the group, or to the neighbour of a session, to the
// port that its offer named.
type Send struct {
	Session  uint64 // 0: the group
	Datagram []byte
}

// Tell sends a neighbour a message over its link.
type Tell struct {
	Session uint64
	Message Message
}

// Arrived hands over a frame of a neighbour, to be merged with those of its link
// by the pair number. Frame and Readings may not be changed, and not be kept.
type Arrived struct {
	Session  uint64
	Stream   StreamID
	Number   uint64 // of the datagram: Taken reports that it was taken
	Pair     uint32
	Frame    []byte
	Readings [][]byte
}

// Complete says that a neighbour has sent all frames below a pair number, by
// whichever channel: a session that lacks one cannot go on.
type Complete struct {
	Session uint64
	Pair    uint32
}

// End ends a session: what its neighbour sends is wrong, or cannot be completed.
type End struct {
	Session uint64
	Reason  error
}

// NewStream asks for a stream in the place of one that is over: the answer is
// Renewed.
type NewStream struct{}

// delivered is a datagram's fragments, in order: a member's output.
type delivered struct {
	number    uint64
	fragments []byte
}

func (*Send) output()      {}
func (*Tell) output()      {}
func (*Arrived) output()   {}
func (*Complete) output()  {}
func (*End) output()       {}
func (*NewStream) output() {}
func (*delivered) output() {}

// outputs are those of a step, in memory that the next step uses again.
type outputs struct {
	all   []Output
	bytes []byte // datagrams
	sends slab[Send]
	gives slab[delivered]
}

func (o *outputs) begin() {
	clear(o.all)
	o.all, o.bytes = o.all[:0], o.bytes[:0]
	o.sends.used, o.gives.used = 0, 0
}

func (o *outputs) put(out Output) { o.all = append(o.all, out) }

func (o *outputs) tell(session uint64, m Message) { o.put(&Tell{session, m}) }

func (o *outputs) end(session uint64, reason error) { o.put(&End{session, reason}) }

// datagram begins a datagram with room for a content: its head is written.
func (o *outputs) datagram(h Head, content int) (start int) {
	o.bytes = room(o.bytes, content)
	start = len(o.bytes)
	o.bytes = appendHead(o.bytes, h)
	return start
}

// send seals the datagram that began at start and puts it out.
func (o *outputs) send(b *box, session uint64, start int, h Head) int {
	o.bytes = b.seal(o.bytes, start, h)
	s := o.sends.take()
	*s = Send{session, o.bytes[start:len(o.bytes):len(o.bytes)]}
	o.put(s)
	return len(s.Datagram)
}

func (o *outputs) deliver(number uint64, fragments []byte) {
	d := o.gives.take()
	*d = delivered{number, fragments}
	o.put(d)
}

// slab has values that are used again.
type slab[T any] struct {
	values []*T
	used   int
}

func (s *slab[T]) take() *T {
	if s.used == len(s.values) {
		s.values = append(s.values, new(T))
	}
	s.used++
	return s.values[s.used-1]
}
