package multicasttest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"callboard/bridge/multicast"
)

// Load is a stream to measure: one sender, and members that all want all of it.
type Load struct {
	Seed     uint64
	Members  int
	Bytes    int // of a message
	Rate     int // messages/s
	Messages int
	Loss     float64       // of each receiver alone
	Shared   float64       // of all at once
	Last     bool          // only messages' own datagrams are lost, and no repairs, NACKs and heartbeats
	Delay    time.Duration // one way, half of it more or less; 0: 200 µs
	Segment  multicast.Config
	Stop     func() bool // asked for each message; nil: nothing stops it
}

// Figures are what was measured.
type Figures struct {
	Delivered, Expected uint64
	Delays              Delays
	Losses, NACKs       uint64  // what all lose at once is one loss
	Wire                float64 // bytes a message on all wires
	Counts              Counts
}

// Each is how many NACKs there were for each loss.
func (f *Figures) Each() float64 { return float64(f.NACKs) / float64(max(1, f.Losses)) }

// Measure runs a load over a network of 1 Gbit/s. It fails if anything is lost,
// comes twice or out of order.
func Measure(l Load) (*Figures, error) {
	delay := cmp.Or(l.Delay, 200*time.Microsecond)
	n := New(Config{
		Seed: l.Seed, Brokers: l.Members + 1, Segment: l.Segment, Delay: delay, Jitter: delay / 2,
		Link: 300 * time.Microsecond, Bits: 1e9,
	})
	to := make([]int, l.Members)
	for i := range to {
		to[i] = i + 1
		n.Connect(0, i+1)
	}
	if err := n.Run(time.Second); err != nil {
		return nil, err
	}
	if m := n.Members(0); m != l.Members {
		return nil, fmt.Errorf("%d members after a second; expected %d", m, l.Members)
	}
	f := &Figures{Expected: uint64(l.Messages * l.Members)}
	n.OnDeliver = func(_, _ int, after time.Duration) { f.Delays.Add(after) }
	n.cfg.Loss, n.cfg.Shared, n.Wire, n.Losses = l.Loss, l.Shared, 0, 0
	before := n.Gather()
	every := time.Second / time.Duration(l.Rate)
	for range l.Messages {
		if l.Stop != nil && l.Stop() {
			return nil, context.Canceled
		}
		n.Say(0, to, l.Bytes)
		if l.Last { // what comes later arrives
			n.cfg.Loss = 0
		}
		if err := n.Run(n.Now + every); err != nil {
			return nil, err
		}
		n.cfg.Loss = l.Loss
	}
	n.cfg.Loss, n.cfg.Shared = 0, 0
	if err := n.Run(n.Now + 10*time.Second); err != nil {
		return nil, err
	}
	if err := n.Settled(); err != nil {
		return nil, err
	}
	f.Counts = n.Gather()
	f.Delivered, f.Losses, f.NACKs = n.Delivered, n.Losses, f.Counts.Received.NACKs-before.Received.NACKs
	f.Wire = float64(n.Wire) / float64(l.Messages)
	return f, nil
}

// Delays are times, in buckets 3 % apart or less.
type Delays struct {
	buckets [64 * perOctave]uint64
	count   uint64
}

const perOctave = 32

// Add adds a time.
func (d *Delays) Add(t time.Duration) {
	d.buckets[bucket(uint64(max(t, 0)))]++
	d.count++
}

func bucket(t uint64) int {
	if t < perOctave {
		return int(t)
	}
	shift := 0
	for t>>shift >= 2*perOctave {
		shift++
	}
	return min((shift+1)*perOctave+int(t>>shift)-perOctave, 64*perOctave-1)
}

// Above returns those that are longer than a time.
func (d *Delays) Above(t time.Duration) *Delays {
	above := new(Delays)
	for i, n := range d.buckets {
		if upper(i) > t {
			above.buckets[i] = n
			above.count += n
		}
	}
	return above
}

// Count is how many times there are.
func (d *Delays) Count() uint64 { return d.count }

// upper is the end of a bucket.
func upper(i int) time.Duration {
	if i < perOctave {
		return time.Duration(i)
	}
	shift := i/perOctave - 1
	return time.Duration((i%perOctave+perOctave+1)<<shift) - 1
}

// Quantile returns a time that a share of all do not exceed.
func (d *Delays) Quantile(q float64) time.Duration {
	rank := uint64(q * float64(d.count))
	sum := uint64(0)
	for i, n := range d.buckets {
		if sum += n; sum > rank {
			return upper(i)
		}
	}
	return 0
}
