// Package multicast is NACK-based reliable multicast between the brokers of one
// LAN segment: a second way for the frames of link sessions. Segment, with a
// Sender and a Member for each neighbour's stream, is a pure machine: datagrams,
// messages of the links and the time go in; datagrams, messages and frames come
// out. See DESIGN.md.
package multicast

import (
	"net/netip"
	"time"
)

const (
	holdOff        = 700 * time.Microsecond // in which asking again changes nothing
	firstBeat      = 2 * time.Millisecond   // of heartbeats, behind the last datagram
	longestBeat    = 100 * time.Millisecond
	maxClosed      = 250 * time.Millisecond // that a member may hold the window closed
	silence        = 5 * longestBeat        // that ends a membership
	tick           = 100 * time.Millisecond // of the rate, and of what is looked at now and then
	ticksOfSecond  = 10
	burst          = 50_000 // bytes
	minWidth       = 10     // that the first duplicate makes
	minWindow      = 16     // datagrams
	maxWindow      = 2048
	maxMembers     = 64
	maxNACKs       = 2000 // that are taken from one member in a second
	maxDatagrams   = 1 << 32
	firstWait      = 10 * time.Second // until who was turned off may join again
	longestWait    = 10 * time.Minute
	maxLoss        = 0.20 // of a second, that a member may lack
	maxLossAlone   = 0.05 // the same, of one that lacks so many times the median:
	timesMedian    = 4
	minLacksSecond = 20   // that a share of a second is judged by
	rateLoss       = 0.10 // lacked by the worst in a tick, that lowers the rate
	minLacksTick   = 10
	rateDown       = 0.7
	rateUp         = 0.02 // of the configured rate
	rateLeast      = 0.01
)

// Defaults.
const (
	DefaultRate   = 200_000_000 // bits/s
	DefaultWindow = 2048        // datagrams
	DefaultQueue  = 64 << 20    // bytes
)

// SenderConfig says how a stream is sent.
type SenderConfig struct {
	Stream   Stream
	Group    netip.AddrPort // told in offers
	Port     uint16         // where statuses are taken, told in offers
	Datagram int            // bytes of the longest; default 1,400
	Window   int            // datagrams that may be on their way; default 2,048
	Rate     float64        // bits/s; default 200 Mbit/s
	Queue    int            // bytes that may wait; default 64 MiB
	Limit    uint64         // datagrams until the stream is over; default 2^32
}

func (cfg *SenderConfig) complete() {
	setDefault(&cfg.Datagram, DefaultDatagram)
	setDefault(&cfg.Window, DefaultWindow)
	setDefault(&cfg.Rate, DefaultRate)
	setDefault(&cfg.Queue, DefaultQueue)
	setDefault(&cfg.Limit, maxDatagrams)
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Sender is the sending end of one stream: rules X1 to X8.
type Sender struct {
	cfg SenderConfig
	box *box
	out outputs

	now, last time.Duration
	awake     time.Duration // as now, but time in which the machine stood still counts little
	packet    uint64

	next, low uint64 // numbers: of the next datagram, and the lowest that can be resent
	bound     uint64 // numbers below are in every member's window
	ring      []sent // by number

	queue  []waiting
	queued int    // bytes in queue
	series uint64 // put so far
	done   uint64 // series of which all has been sent

	repairs []uint64   // that wait, in the order in which they were asked for
	share   int        // bytes that repairs were ahead of data while both waited
	judged  []repaired // repairs of which it is not known yet whether they were asked for twice
	width   float64

	tokens  float64 // bytes that may be sent now
	pace    float64 // bytes/s
	dropped bool    // a socket has dropped something in this tick

	beatWait, beatAt time.Duration
	tickAt           time.Duration
	ticks            int
	marks            [ticksOfSecond]uint64 // next, at the last ticks

	peers    map[uint64]*peer // by session
	order    []*peer          // in the order of their sessions
	members  []*peer          // started, by rank
	leaving  []*peer
	slots    [maxMembers]bool
	rank     uint16 // given last
	retired  bool   // no one joins any more
	over     bool
	content  []byte // scratch
	spans    []span // scratch
	counters SenderCounters
}

// sent is a datagram that can be resent.
type sent struct {
	number    uint64
	fragments []byte
	asked     uint64 // members that have asked for it, by slot
	resent    time.Duration
	again     bool // resent at all
	waits     bool // in repairs
	doubled   bool // asked for within the hold-off
}

// waiting is a series in the queue.
type waiting struct {
	rest  []byte
	begun bool
	kept  bool // rest is the sender's own
}

type repaired struct {
	number uint64
	at     time.Duration
}

// NewSender begins a stream at a time.
func NewSender(cfg SenderConfig, now time.Duration) *Sender {
	cfg.complete()
	s := &Sender{
		cfg: cfg, box: newBox(cfg.Stream), now: now, last: now, next: 1, low: 1, ring: make([]sent, cfg.Window),
		tokens: burst, pace: cfg.Rate / 8, beatWait: longestBeat, tickAt: now + tick, beatAt: now + longestBeat, peers: map[uint64]*peer{},
	}
	s.rebound()
	for i := range s.marks {
		s.marks[i] = s.next
	}
	return s
}

// begin is the beginning of a step.
func (s *Sender) begin(now time.Duration) {
	s.out.begin()
	s.now = max(now, s.now)
	passed := s.now - s.last
	s.last = s.now
	s.awake += min(passed, tick)
	s.tokens = min(burst, s.tokens+s.pace*passed.Seconds())
}

// Step takes an input: *Up, *Down, *Told, *Received, *Put, *Retire or nil.
func (s *Sender) Step(now time.Duration, in Input) {
	s.begin(now)
	switch in := in.(type) {
	case *Up:
		s.up(in.Session)
	case *Down:
		s.down(in.Session)
	case *Told:
		s.told(in)
	case *Received:
		s.received(in)
	case *Put:
		s.put(in.Series)
	case *Retire:
		s.retire()
	}
	s.finish()
}

// finish does what is due by the end of a step.
func (s *Sender) finish() {
	s.judge()
	if s.now >= s.tickAt {
		s.passTick()
	}
	s.pump()
	for s.watchWindow() {
		s.pump()
	}
	if s.now >= s.beatAt && s.heard() {
		s.heartbeat()
	}
	for i := range s.queue {
		if w := &s.queue[i]; !w.kept {
			w.rest, w.kept = append([]byte(nil), w.rest...), true
		}
	}
}

// heard reports whether there is anybody to hear the stream.
func (s *Sender) heard() bool { return len(s.peers) > 0 }

// put takes series to be sent (X1).
func (s *Sender) put(series [][]byte) {
	for _, b := range series {
		s.series++
		s.queued += len(b)
		s.queue = append(s.queue, waiting{rest: b})
	}
}

// Full reports whether no more may wait.
func (s *Sender) Full() bool { return s.queued >= s.cfg.Queue }

// Outputs returns what the last step put out.
func (s *Sender) Outputs() []Output { return s.out.all }

// Deadline returns when a step is due, if nothing else happens before.
func (s *Sender) Deadline() time.Duration {
	if !s.heard() && len(s.queue) == 0 {
		return never
	}
	at := min(s.beatAt, s.tickAt)
	if s.tokens < 0 && (len(s.repairs) > 0 || s.mayGo()) {
		at = min(at, s.now+time.Duration(-s.tokens/s.pace*1e9)+1)
	}
	for _, p := range s.members {
		if p.closes {
			at = min(at, s.now+max(0, maxClosed-(s.awake-p.closed)))
		}
	}
	return at
}

// never is a deadline that does not come.
const never = time.Duration(1<<63 - 1)

// heartbeat tells the next number (X2).
func (s *Sender) heartbeat() {
	h := s.head(KindHeartbeat)
	start := s.out.datagram(h, beatSize)
	s.out.bytes = appendBeat(s.out.bytes, beat{number: s.next, held: uint32(s.next - s.low), width: s.turn()})
	s.tokens -= float64(s.out.send(s.box, 0, start, h))
	s.counters.Heartbeats++
	s.beatWait = min(2*s.beatWait, longestBeat)
	s.beatAt = s.now + s.beatWait
}

func (s *Sender) head(kind Kind) Head {
	s.packet++
	return Head{Kind: kind, Stream: s.cfg.Stream.ID, Packet: s.packet}
}

// turn is the width of a turn as it is told.
func (s *Sender) turn() uint8 { return uint8(s.width + 0.5) }

// mayGo reports whether the next of what waits is in every member's window.
func (s *Sender) mayGo() bool { return len(s.queue) > 0 && s.next < s.bound }

// pump sends what may go: repairs first, but no more than half of the tokens
// while data waits.
func (s *Sender) pump() {
	for s.tokens >= 0 {
		s.skipRepairs()
		data, repair := s.mayGo(), len(s.repairs) > 0
		if !data || !repair {
			s.share = 0
		}
		switch {
		case repair && (!data || s.share <= 0):
			s.repair()
		case data:
			s.sendData()
		default:
			return
		}
	}
}

// sendData sends the next datagram, with as much as fits of what waits.
func (s *Sender) sendData() {
	slot := &s.ring[s.next%uint64(len(s.ring))]
	*slot = sent{number: s.next, fragments: slot.fragments[:0]}
	completed := 0
	for free := s.cfg.Datagram - Overhead; free > fragmentHead && completed < len(s.queue); {
		w := &s.queue[completed]
		n := min(len(w.rest), free-fragmentHead)
		head := uint16(n)
		if !w.begun {
			head |= fragmentFirst
		}
		if n == len(w.rest) {
			head |= fragmentLast
			completed++
		}
		slot.fragments = append(append(slot.fragments, byte(head>>8), byte(head)), w.rest[:n]...)
		w.rest, w.begun = w.rest[n:], true
		s.queued -= n
		free -= fragmentHead + n
	}
	s.queue = append(s.queue[:0], s.queue[completed:]...)
	s.done += uint64(completed)
	n := s.transmit(slot, false)
	s.share -= n
	s.next++
	s.counters.Datagrams++
	if len(s.members) == 0 {
		s.low = s.next
	}
	s.beatWait, s.beatAt = firstBeat, s.now+firstBeat
	for _, p := range s.leaving {
		s.fillOne(p, slot.number)
	}
	s.leave()
	if s.next > s.cfg.Limit || s.rank == 1<<16-1 {
		s.retire()
	}
}

// transmit multicasts a datagram. It returns its length.
func (s *Sender) transmit(slot *sent, again bool) int {
	h := s.head(KindData)
	start := s.out.datagram(h, beatSize+len(slot.fragments))
	s.out.bytes = appendBeat(s.out.bytes, beat{number: slot.number, held: uint32(slot.number - s.low), width: s.turn(), repair: again})
	s.out.bytes = append(s.out.bytes, slot.fragments...)
	n := s.out.send(s.box, 0, start, h)
	s.tokens -= float64(n)
	s.counters.Bytes += uint64(n)
	return n
}
