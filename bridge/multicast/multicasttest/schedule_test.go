package multicasttest

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"callboard/bridge/multicast"
)

// TestSchedules runs random schedules of each kind, CALLBOARD_SOAK of them, and sees
// that they reach the hard cases.
func TestSchedules(t *testing.T) {
	seeds := count(t, "CALLBOARD_SOAK", 12)
	for kind := range Kinds {
		t.Run(kind.String(), func(t *testing.T) {
			var sum Counts
			for seed := range uint64(seeds) {
				n, err := Schedule(kind, seed)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if seed%10 == 0 {
					if again, _ := Schedule(kind, seed); again.Hash() != n.Hash() {
						t.Fatalf("seed %d makes two traces", seed)
					}
				}
				c := n.Gather()
				sum.Sent.Add(&c.Sent)
				sum.Received.Add(&c.Received)
			}
			for mark, n := range marks(kind, &sum) {
				if n == 0 && !testing.Short() {
					t.Errorf("no schedule has reached: %s", mark)
				}
			}
			t.Logf("%+v", sum)
		})
	}
}

// marks are the hard cases that schedules of a kind are to reach.
func marks(kind Kind, c *Counts) map[string]uint64 {
	all := map[string]uint64{
		"a repair": c.Sent.Repairs, "a duplicate NACK": c.Sent.Duplicates, "a NACK that another suppresses": c.Received.Suppressed,
		"a datagram that comes late": c.Received.Reordered, "a repair that is late": c.Received.LateRepairs,
	}
	if kind == Troubled {
		all["a slow member"] = c.Sent.Offs[multicast.WhySlow]
		all["a silent member"] = c.Sent.Offs[multicast.WhySilent]
		all["a member that loses too much"] = c.Sent.Offs[multicast.WhyLossy]
		all["a member that hears nothing"] = c.Sent.Offs[multicast.WhyDeaf]
		all["a stream that is renewed"] = c.Sent.Offs[multicast.WhyRenewed]
		all["what is asked for over the link"] = c.Received.Asks
		all["what is filled in"] = c.Received.Fills
		all["a socket that overflows"] = c.Sent.SocketDrops
		all["what is forged"] = c.Received.Forged
		all["what is sent again by others"] = c.Received.Replayed
	}
	return all
}

// TestSeed runs the schedule CALLBOARD_SEED of the kind CALLBOARD_KIND.
func TestSeed(t *testing.T) {
	seed := count(t, "CALLBOARD_SEED", -4)
	if seed < 0 {
		t.Skip("CALLBOARD_SEED is not set")
	}
	kind := Kind(count(t, "CALLBOARD_KIND", 0))
	n, err := Schedule(kind, uint64(seed))
	t.Logf("%v seed %d: %d frames, %d sessions ended, %+v", kind, seed, n.Delivered, n.Ended, n.Gather())
	if err != nil {
		t.Error(err)
	}
}

// count returns what an environment variable says, or else a default; of that a
// quarter in a short run.
func count(t *testing.T, variable string, otherwise int) int {
	s := os.Getenv(variable)
	switch {
	case s == "" && testing.Short():
		return otherwise / 4
	case s == "":
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// Kind is what trouble a schedule has.
type Kind int

// Kinds.
const (
	Lossy    Kind = iota // datagrams are lost, and come late
	Troubled             // and brokers stand still or take nothing, begin anew, are cut off; links are cut; datagrams are forged
	Kinds
)

func (k Kind) String() string { return [...]string{"lossy", "troubled"}[k] }

// Schedule runs a random schedule and returns the network as it is in the end, with
// what is wrong.
func Schedule(kind Kind, seed uint64) (*Network, error) {
	s := newSchedule(kind, seed)
	s.OnEnd = func(reason error) {
		if kind != Troubled || !strings.Contains(reason.Error(), "came neither") {
			s.fail("a session ends: %v", reason)
		}
	}
	for i := range s.brokers {
		for j := range i {
			s.Connect(i, j)
		}
	}
	until := s.Now + time.Duration(1+s.rng.IntN(4))*time.Second
	pace := []time.Duration{100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}[s.rng.IntN(3)]
	for s.Now < until && s.failed == nil {
		s.act()
		s.Run(s.Now + time.Duration(s.rng.Int64N(int64(2*pace))))
	}
	s.heal()
	for i := 0; i < 40 && s.failed == nil && (i < 3 || !s.whole()); i++ {
		s.Run(s.Now + time.Second)
	}
	for range 50 { // all say something that all can hear
		for i := range s.brokers {
			s.Say(i, s.others(i), 100)
		}
		s.Run(s.Now + time.Millisecond)
	}
	s.Run(s.Now + 3*time.Second)
	if s.failed == nil {
		s.Settled()
	}
	return s.Network, s.failed
}

type schedule struct {
	*Network
	kind    Kind
	talkers int
	busy    int // bytes of the longest
}

func newSchedule(kind Kind, seed uint64) *schedule {
	n := New(Config{Seed: seed, Brokers: 0})
	rng := n.rng
	pick := func(all ...float64) float64 { return all[rng.IntN(len(all))] }
	cfg := Config{
		Seed: seed, Brokers: 2 + rng.IntN(5), Delay: 200 * time.Microsecond, Jitter: time.Duration(rng.IntN(150)) * time.Microsecond,
		Link: time.Duration(100+rng.IntN(2000)) * time.Microsecond, Bits: 1e9,
		Loss: pick(0, 0.001, 0.01, 0.05), Shared: pick(0, 0, 0.01), Reorder: pick(0, 0, 0.01, 0.2), Late: 3 * time.Millisecond, Socket: 200,
	}
	cfg.Segment.Sender.Datagram = int(pick(512, 1400, 8900))
	cfg.Segment.Sender.Window = int(pick(16, 64, 256, 2048))
	cfg.Segment.Sender.Rate = pick(5e6, 50e6, 200e6)
	cfg.Segment.Sender.Queue = int(pick(20_000, 10_000_000))
	cfg.Segment.Window = int(pick(16, 100, 2048))
	if kind == Troubled && rng.IntN(4) == 0 {
		cfg.Segment.Sender.Limit = uint64(50 + rng.IntN(1000))
	}
	n = New(cfg)
	n.Checked = true
	return &schedule{Network: n, kind: kind, talkers: 1 + n.rng.IntN(cfg.Brokers), busy: int(pick(300, 3000, 200_000))}
}

func (s *schedule) others(i int) (all []int) {
	for j := range s.brokers {
		if j != i {
			all = append(all, j)
		}
	}
	return all
}

// whole reports whether all are members of all streams.
func (s *schedule) whole() bool {
	for i := range s.brokers {
		if s.Members(i) < len(s.brokers)-1 {
			return false
		}
	}
	return true
}

// act does one thing.
func (s *schedule) act() {
	if s.kind == Troubled && s.rng.IntN(60) == 0 {
		s.trouble()
		return
	}
	i := s.rng.IntN(s.talkers)
	to := s.others(i)
	s.rng.Shuffle(len(to), func(a, b int) { to[a], to[b] = to[b], to[a] })
	size := 16 + s.rng.IntN(300)
	if s.rng.IntN(10) == 0 {
		size = 16 + s.rng.IntN(s.busy)
	}
	s.Say(i, to[:1+s.rng.IntN(len(to))], size)
}

// trouble makes some.
func (s *schedule) trouble() {
	rng := s.rng
	i := rng.IntN(len(s.brokers))
	b := s.brokers[i]
	j := s.others(i)[rng.IntN(len(s.brokers)-1)]
	some := func(of time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(of))) }
	switch rng.IntN(14) {
	case 0:
		s.Cut(i, j, 50*time.Millisecond)
	case 1, 2:
		s.Connect(i, j)
	case 3:
		s.StandStill(i, some(150*time.Millisecond))
	case 4:
		if rng.IntN(4) == 0 {
			s.StandStill(i, some(3*time.Second))
		}
	case 5:
		s.Block(i, some(time.Second))
	case 6:
		if rng.IntN(2) == 0 {
			s.Restart(i)
		}
	case 7:
		b.deaf = !b.deaf
	case 8:
		b.mute = !b.mute
	case 9:
		b.lonely = !b.lonely
	case 10:
		b.lossIn = []float64{0, 0, 0.1, 0.4}[rng.IntN(4)]
	case 11:
		b.lossOut = []float64{0, 0, 0.1, 0.4}[rng.IntN(4)]
	case 12:
		s.forge(b)
	case 13:
		if rng.IntN(5) == 0 && b.still <= s.Now {
			b.step(&multicast.Retire{})
		}
	}
}

// forge sends a broker's datagrams again, some of them changed.
func (s *schedule) forge(b *broker) {
	for _, data := range b.recorded {
		if s.rng.IntN(2) == 0 {
			data = append([]byte(nil), data...)
			data[s.rng.IntN(len(data))] ^= 1 << s.rng.IntN(8)
		}
		for _, to := range s.brokers {
			s.agenda.add(event{at: s.Now, kind: eventDatagram, to: to, life: to.life, from: b, data: data})
		}
	}
}

// heal ends all trouble.
func (s *schedule) heal() {
	s.cfg.Loss, s.cfg.Shared, s.cfg.Reorder = 0, 0, 0
	for _, b := range s.brokers {
		b.deaf, b.mute, b.lonely, b.lossIn, b.lossOut = false, false, false, 0, 0
	}
	s.Run(s.Now + 5*time.Second)
	for i := range s.brokers {
		for j := range i {
			s.Connect(i, j)
		}
	}
}
