package multicast

import (
	"fmt"
	"time"
)

const (
	statusEvery  = 64 // datagrams delivered until a status
	statusWithin = 50 * time.Millisecond
	leastRetry   = time.Millisecond
	mostRetry    = 100 * time.Millisecond
	mostBackoff  = 64 // times the retry time, until a round trip was taken
	fastRounds   = 3  // of asking, before the retry time doubles
	askLinkAfter = 400 * time.Millisecond
	fillWithin   = 3 // heartbeats of the link
	mostReorder  = 2 * time.Millisecond
	calmDown     = 10 * time.Second // in which the time allowed for reordering halves
	provedBy     = 2                // datagrams of a stream, that it arrives
	maxRanks     = 2 * maxMembers   // whose packet numbers are known
)

// MemberConfig says how a neighbour's stream is followed.
type MemberConfig struct {
	Session   uint64 // of the link with the sender
	Offer     Offer
	Window    int           // datagrams taken at a time; at most the offer's, which is the default
	Heartbeat time.Duration // of the link; default 1 s
}

// Member is the receiving end of one stream: rules Y1 to Y9, and Y11.
type Member struct {
	cfg    MemberConfig
	stream StreamID
	box    *box
	out    outputs

	now, last, awake time.Duration
	phase            phase
	proved           int // datagrams of the sender that were heard
	rank             uint16
	packet           uint64
	place            Place
	ranks            map[uint16]*packets
	oldest           []uint16 // ranks, in the order of their first datagram
	heard            time.Duration

	want, top uint64 // the next to be delivered, and the highest known of
	low       uint64 // the lowest that the sender can resend
	untaken   uint64 // the first that was handed over and not taken yet; 0: none
	given     uint64 // the last that was handed over
	width     uint8
	ring      []slot
	holes     []uint64 // ascending
	earliest  time.Duration

	trips   trips
	backoff int // times the retry time
	reorder time.Duration
	calmAt  time.Duration
	drops   uint32 // of the socket,
	before  uint32 // and when it joined

	edge     uint64        // want and room as they were told last
	untold   time.Duration // since when that has changed
	fresh    bool          // it has not
	content  []byte        // scratch
	spans    []span        // scratch
	counters MemberCounters
}

type phase byte

const (
	phaseOffered phase = iota // hears whether the stream arrives
	phaseJoining              // has asked to join
	phaseProving              // has a rank, and sends statuses
	phaseStarted
	phaseLeaving // has asked to be turned off: what it lacks comes over the link
	phaseOff     // waits for another offer
)

// slot is what is known of a number: the datagram is there, or it is a hole.
type slot struct {
	there   bool
	content []byte // with the fragments
	from    int    // where they begin

	due    time.Duration // when to ask for it
	since  time.Duration // when it became a hole,
	awake  time.Duration // and in time awake
	last   time.Duration // when it was asked for last, by whomever
	linked time.Duration // when over the link, in time awake; 0: not yet
	rounds int           // how often it was asked for
	own    bool          // the last time by this member
}

// trips estimates round trips as TCP does.
type trips struct {
	known           bool
	mean, deviation time.Duration
}

func (t *trips) take(trip time.Duration) {
	if !t.known {
		*t = trips{true, trip, trip / 2}
		return
	}
	t.deviation += (max(trip-t.mean, t.mean-trip) - t.deviation) / 4
	t.mean += (trip - t.mean) / 8
}

// NewMember follows a stream that was offered, from a time on.
func NewMember(cfg MemberConfig, now time.Duration) *Member {
	setDefault(&cfg.Heartbeat, time.Second)
	setDefault(&cfg.Window, int(cfg.Offer.Window))
	cfg.Window = max(minWindow, min(cfg.Window, int(cfg.Offer.Window)))
	return &Member{
		cfg: cfg, stream: cfg.Offer.Stream.ID, box: newBox(cfg.Offer.Stream), now: now, last: now, ranks: map[uint16]*packets{},
		ring: make([]slot, cfg.Window), earliest: never, backoff: 1, calmAt: never,
	}
}

func (m *Member) begin(now time.Duration) {
	m.out.begin()
	m.now = max(now, m.now)
	m.awake += min(m.now-m.last, tick)
	m.last = m.now
}

// Step takes an input: *Told with an Offer (again), Start, Placed, Fill or Off;
// *Received, *Taken, *SocketDropped or nil.
func (m *Member) Step(now time.Duration, in Input) {
	m.begin(now)
	switch in := in.(type) {
	case *Told:
		if err := m.told(in.Message); err != nil {
			m.out.end(m.cfg.Session, err)
		}
	case *Received:
		m.received(in)
	case *Taken:
		m.take(in.Number)
	case *SocketDropped:
		m.drops = in.Total
	}
	m.finish()
}

func (m *Member) told(message Message) error {
	switch message := message.(type) {
	case *Offer:
		if m.phase == phaseOff {
			m.phase, m.proved = phaseOffered, 0
		}
	case *Start:
		return m.start(message)
	case *Placed:
		m.place = message.Place
	case *Fill:
		return m.filled(message)
	case *Off:
		return m.off(message)
	}
	return nil
}

func (m *Member) finish() {
	if m.phase == phaseStarted && m.awake-m.heard >= silence { // Y11
		m.phase = phaseLeaving
		m.out.tell(m.cfg.Session, &Off{Stream: m.stream, Why: WhyDeaf})
	}
	if m.phase != phaseStarted && m.phase != phaseLeaving {
		return
	}
	if m.phase == phaseStarted {
		if m.now >= m.earliest {
			m.ask()
		}
		if m.now >= m.calmAt {
			m.calm()
		}
		if edge := m.want + m.room(); edge >= m.edge+statusEvery || !m.fresh && m.now-m.untold >= statusWithin {
			m.status()
		} else if m.fresh && edge != m.edge {
			m.fresh, m.untold = false, m.now
		}
	}
	m.askLink()
}

// Outputs returns what the last step put out.
func (m *Member) Outputs() []Output { return m.out.all }

// Deadline returns when a step is due, if nothing else happens before.
func (m *Member) Deadline() time.Duration {
	if m.phase != phaseStarted && m.phase != phaseLeaving {
		return never
	}
	at := m.now + tick // so that time counts as awake
	if len(m.holes) > 0 && m.slot(m.holes[0]).linked == 0 {
		at = min(at, m.now+max(0, askLinkAfter-(m.awake-m.slot(m.holes[0]).awake)))
	}
	if m.phase == phaseStarted {
		at = min(at, m.earliest)
		if !m.fresh {
			at = min(at, m.untold+statusWithin)
		}
	}
	return at
}

// start takes a rank, or becomes a member.
func (m *Member) start(s *Start) error {
	switch {
	case s.Number == 0 && m.phase == phaseJoining:
		m.phase, m.rank, m.packet, m.before = phaseProving, s.Rank, 0, m.drops
		m.status()
	case s.Number > 0 && m.phase == phaseProving && s.Rank == m.rank:
		m.phase, m.place, m.heard = phaseStarted, s.Place, m.awake
		m.want, m.top, m.low, m.untaken, m.given = s.Number, s.Number-1, s.Number, 0, 0
		m.status()
	default:
		return fmt.Errorf("it starts rank %d with number %d, which nobody asked for", s.Rank, s.Number)
	}
	return nil
}

// off takes that the membership is over.
func (m *Member) off(o *Off) error {
	if m.phase == phaseOff {
		return fmt.Errorf("it turns off a member that is none")
	}
	if m.phase == phaseStarted || m.phase == phaseLeaving {
		m.out.put(&Complete{m.cfg.Session, o.Pair})
	}
	m.phase, m.holes, m.earliest = phaseOff, m.holes[:0], never
	return nil
}

// filled takes a datagram's fragments that came over the link.
func (m *Member) filled(f *Fill) error {
	if m.phase != phaseStarted && m.phase != phaseLeaving || f.Number < m.want {
		return nil
	}
	if f.Number >= m.want+uint64(len(m.ring)) {
		return fmt.Errorf("it fills in datagram %d where %d is wanted", f.Number, m.want)
	}
	m.counters.Fills++
	m.content = append(m.content[:0], f.Fragments...)
	m.arrive(f.Number, 0, viaLink)
	return nil
}

// gave notes that something of a datagram was handed over.
func (m *Member) gave(number uint64) {
	m.given = number
	if m.untaken == 0 {
		m.untaken = number
	}
}

// take takes that what was handed over has been taken up to a number.
func (m *Member) take(number uint64) {
	switch {
	case number >= m.given:
		m.untaken = 0
	case m.untaken > 0:
		m.untaken = max(m.untaken, number+1)
	}
}

// room is how many datagrams may come from want on: fewer while what was handed
// over is not taken (Y9).
func (m *Member) room() uint64 {
	window := uint64(len(m.ring))
	if m.untaken == 0 {
		return window
	}
	return window - min(window, m.want-m.untaken)
}
