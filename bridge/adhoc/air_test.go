package adhoc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"callboard/bridge/overlay"
)

// air is finders in reach of each other, on one clock.
type air struct {
	t       *testing.T
	now     overlay.Instant
	finders []*Finder
	heard   func(from, to int) bool // whether a beacon arrives
	sent    [][]byte                // all beacons
	costs   int                     // told
}

var key = []byte("a key of the field")

func newAir(t *testing.T, n int) *air {
	a := &air{t: t, now: 1e9, heard: func(int, int) bool { return true }}
	for i := range n {
		a.add(Config{Network: "field", Key: key, Self: id(i), Boot: uint64(i + 1)})
	}
	return a
}

func id(i int) overlay.BrokerID { return overlay.BrokerID(fmt.Sprintf("b%d", i)) }

func (a *air) add(cfg Config) *Finder {
	cfg.Address = ":8801"
	f, err := New(cfg, a.now)
	if err != nil {
		a.t.Fatal(err)
	}
	a.finders = append(a.finders, f)
	return f
}

// run lets some beats pass.
func (a *air) run(beats int) {
	until := a.now + overlay.Instant(beats)*200_000
	for {
		next := -1
		for i, f := range a.finders {
			if f.Deadline() <= until && (next < 0 || f.Deadline() < a.finders[next].Deadline()) {
				next = i
			}
		}
		if next < 0 {
			a.now = until
			return
		}
		a.now = a.finders[next].Deadline()
		a.finders[next].Tick(a.now)
		a.carry(next)
	}
}

func (a *air) carry(from int) {
	for _, out := range a.finders[from].Outputs() {
		switch out := out.(type) {
		case *Cost:
			a.costs++
		case *Send:
			a.sent = append(a.sent, out.Datagram)
			for to, f := range a.finders {
				if to != from && a.heard(from, to) {
					f.Hear(a.now, out.Datagram, fmt.Sprintf("10.0.0.%d", from))
				}
			}
		}
	}
}

// linked names a finder's neighbours.
func (a *air) linked(i int) (ids []overlay.BrokerID) {
	for _, n := range a.finders[i].Neighbours() {
		ids = append(ids, n.ID)
	}
	return ids
}

func (a *air) expect(i int, want ...overlay.BrokerID) {
	a.t.Helper()
	if got := a.linked(i); !slices.Equal(got, want) {
		a.t.Errorf("b%d has links with %v; expected %v", i, got, want)
	}
}

// TestLinksBegin: brokers that hear each other have links, which cost one.
func TestLinksBegin(t *testing.T) {
	a := newAir(t, 3)
	a.run(3)
	a.expect(0, "b1", "b2")
	a.expect(1, "b0", "b2")
	a.expect(2, "b0", "b1")
	if n := a.finders[0].Neighbours()[0]; n.Cost != overlay.CostOne || n.Address != "10.0.0.1:8801" {
		t.Errorf("%+v", n)
	}
}

// TestOneWay: who is heard but does not hear is no neighbour; who ceases to hear is
// none any more.
func TestOneWay(t *testing.T) {
	a := newAir(t, 2)
	a.heard = func(from, to int) bool { return from == 0 }
	a.run(20)
	a.expect(0)
	a.expect(1)
	a.heard = func(from, to int) bool { return true }
	a.run(3)
	a.expect(0, "b1")
	a.heard = func(from, to int) bool { return from == 0 }
	a.run(7)
	a.expect(0)
	a.expect(1)
}

// TestSilence: a link ends with 5 beacons in a row, and not before (H3).
func TestSilence(t *testing.T) {
	a := newAir(t, 2)
	a.run(10)
	a.heard = func(int, int) bool { return false }
	a.run(5)
	a.expect(0, "b1")
	a.run(1)
	a.expect(0)
	a.expect(1)
	a.heard = func(int, int) bool { return true }
	a.run(3)
	a.expect(0, "b1")
}

// TestCost: a link that loses beacons costs as many sendings as it takes (H2), and
// that is not told with each beacon.
func TestCost(t *testing.T) {
	for _, loss := range []float64{0, 0.1, 0.3, 0.5} {
		a := newAir(t, 2)
		r := rand.New(rand.NewPCG(1, 2))
		a.heard = func(int, int) bool { return r.Float64() >= loss }
		a.run(20)
		a.costs = 0
		sum, n := 0.0, 0
		for range 2000 {
			a.run(1)
			if len(a.finders[0].Neighbours()) > 0 {
				sum += float64(a.finders[0].Neighbours()[0].Cost) / float64(overlay.CostOne)
				n++
			}
		}
		mean, want := sum/float64(n), 1/(1-loss)/(1-loss)
		if mean < want*0.9 || mean > want*1.35 { // the mean of a reciprocal is more than that of the mean
			t.Errorf("a loss of %v costs %.2f on average; expected about %.2f", loss, mean, want)
		}
		if told := float64(a.costs) / 2 / 2000; told > 0.45 || loss == 0 && told > 0 {
			t.Errorf("a loss of %v: a cost is told with %.2f of the beats", loss, told)
		}
	}
}

// TestCostIsSteady: a cost is told when it has been another for two beats.
func TestCostIsSteady(t *testing.T) {
	a := newAir(t, 2)
	a.run(30)
	f := a.finders[0]
	o := f.others[0]
	a.heard = func(int, int) bool { return false }
	beats := 0
	for a.costs == 0 && beats < 10 {
		differed := f.costOf(o, a.now) != o.cost
		a.run(1)
		if beats++; differed {
			if f.costOf(o, a.now) == o.cost {
				t.Error("a cost was told at once")
			}
			a.run(1)
			if a.finders[0].Neighbours()[0].Cost == overlay.CostOne {
				t.Error("a cost was not told after two beats")
			}
			return
		}
	}
	t.Errorf("%d beats and %d costs", beats, a.costs)
}

// TestHostile: what is not to be taken is counted, and makes no link.
func TestHostile(t *testing.T) {
	a := newAir(t, 2)
	a.run(10)
	own := a.finders[0]
	stranger := func(network string, key []byte, self overlay.BrokerID, boot uint64) [][]byte {
		b := newAir(t, 0)
		f := b.add(Config{Network: network, Key: key, Self: self, Boot: boot})
		for range 3 {
			b.run(1)
			for _, d := range b.sent {
				own.Hear(a.now, d, "10.0.0.9")
			}
			if len(own.others) > 1 { // it hears this one, too
				f.Hear(b.now, a.sent[len(a.sent)-1], "10.0.0.0")
			}
		}
		return b.sent
	}
	links := fmt.Sprint(own.Neighbours())
	for _, tt := range []struct {
		name  string
		hear  func()
		count func(Stats) uint64
	}{
		{"another network's", func() { stranger("forest", key, "x", 77) }, func(s Stats) uint64 { return s.Foreign }},
		{"forged", func() { stranger("field", []byte("guessed"), "x", 78) }, func(s Stats) uint64 { return s.Forged }},
		{"forged, of a life that is known", func() {
			d := slices.Clone(a.sent[len(a.sent)-1])
			d[headBytes-1]++ // the next number
			if boot, _, _ := own.seal.head(d); boot == 1 {
				d = slices.Clone(a.sent[len(a.sent)-2])
				d[headBytes-1]++
			}
			own.Hear(a.now, d, "10.0.0.1")
		}, func(s Stats) uint64 { return s.Forged }},
		{"replayed, the last one", func() {
			for _, d := range a.sent {
				if boot, number, _ := own.seal.head(d); boot == 2 && number == own.others[0].last {
					own.Hear(a.now, d, "10.0.0.9")
				}
			}
		}, func(s Stats) uint64 { return s.Replayed }},
		{"replayed", func() {
			for _, d := range a.sent {
				own.Hear(a.now, d, "10.0.0.9")
			}
		}, func(s Stats) uint64 { return s.Replayed }},
		{"of its own id", func() { stranger("field", key, "b0", 79) }, func(s Stats) uint64 { return s.OwnID }},
		{"of a neighbour's id", func() { stranger("field", key, "b1", 80) }, func(s Stats) uint64 { return s.TakenID }},
		{"garbage", func() {
			for _, d := range [][]byte{nil, {magic}, make([]byte, 3000), a.sent[0][:headBytes-1]} {
				own.Hear(a.now, d, "10.0.0.9")
			}
		}, func(s Stats) uint64 { return s.Malformed }},
	} {
		before := tt.count(own.Stats())
		tt.hear()
		if tt.count(own.Stats()) == before {
			t.Errorf("%s: not counted", tt.name)
		}
		if got := fmt.Sprint(own.Neighbours()); got != links {
			t.Errorf("%s: the links %s became %s", tt.name, links, got)
		}
	}
}

// TestOldBeacons: who records beacons and sends them again later makes no link, even
// if those have been forgotten of whom they are.
func TestOldBeacons(t *testing.T) {
	a := newAir(t, 2)
	a.run(20)
	old := a.sent
	a.heard = func(int, int) bool { return false }
	a.run(30)
	if n := len(a.finders[0].others); n > 0 {
		t.Fatalf("%d brokers are kept in mind", n)
	}
	for _, d := range old {
		for _, f := range a.finders {
			f.Hear(a.now, d, "10.0.0.9")
		}
	}
	a.expect(0)
	a.expect(1)
	if s := a.finders[0].Stats(); s.Taken == 0 {
		t.Errorf("%+v", s)
	}
}

// TestAnotherLife: a broker that starts again is a neighbour anew, once its earlier
// life has been silent.
func TestAnotherLife(t *testing.T) {
	a := newAir(t, 2)
	a.run(10)
	a.finders = a.finders[:1]
	a.add(Config{Network: "field", Key: key, Self: "b1", Boot: 99})
	a.run(12)
	a.expect(0, "b1")
	a.expect(1, "b0")
}

// TestCrowd: a broker keeps a bounded number of others in mind, and of links.
func TestCrowd(t *testing.T) {
	a := newAir(t, 1)
	for i := range maxHeard + 10 {
		b := newAir(t, 0)
		b.add(Config{Network: "field", Key: key, Self: id(i + 1), Boot: uint64(i + 1000)})
		b.run(1)
		for _, d := range b.sent {
			a.finders[0].Hear(a.now, d, "10.0.0.9")
		}
	}
	f := a.finders[0]
	if len(f.others) != maxHeard || f.Stats().Crowded != 10 {
		t.Errorf("%d are kept in mind, %d were not taken", len(f.others), f.Stats().Crowded)
	}
	a.run(1)
	for _, d := range a.sent {
		if len(d) > MaxDatagram {
			t.Errorf("a beacon of %d bytes", len(d))
		}
	}
}

// TestManyNeighbours: of more brokers than a beacon can list some are neighbours, and
// both sides agree.
func TestManyNeighbours(t *testing.T) {
	a := newAir(t, maxNeighbours+6)
	a.run(8)
	least := maxNeighbours
	for i := range a.finders {
		if n := len(a.linked(i)); n > maxNeighbours {
			t.Errorf("b%d has %d links", i, n)
		} else {
			least = min(least, n)
		}
	}
	if least < maxNeighbours/2 {
		t.Errorf("somebody has only %d links", least)
	}
}
