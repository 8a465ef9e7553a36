package adhoc

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

// TestAnyMoves: whoever moves how, a link is with somebody who has been heard lately;
// and once all stand still, links are between those who hear each other.
func TestAnyMoves(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(r, "brokers")
		a := newAir(t, n)
		last := map[[2]int]overlay.Instant{}
		near := make([][]int, n) // how many of 4 beacons arrive
		for i := range near {
			near[i] = make([]int, n)
		}
		count := 0
		a.heard = func(from, to int) bool {
			count++
			if near[from][to] < 4 && count%4 >= near[from][to] {
				return false
			}
			last[[2]int{to, from}] = a.now
			return true
		}
		for range rapid.IntRange(1, 30).Draw(r, "moves") {
			i, j := rapid.IntRange(0, n-1).Draw(r, "i"), rapid.IntRange(0, n-1).Draw(r, "j")
			near[i][j] = rapid.SampledFrom([]int{0, 0, 2, 3, 4, 4}).Draw(r, "near")
			if rapid.Bool().Draw(r, "alike") {
				near[j][i] = near[i][j]
			}
			for range rapid.IntRange(1, 8).Draw(r, "beats") {
				a.run(1)
				for i, f := range a.finders {
					for _, l := range f.Neighbours() {
						j := slices.IndexFunc(a.finders, func(f *Finder) bool { return f.cfg.Self == l.ID })
						if since := a.now - last[[2]int{i, j}]; since > (silent+2)*200_000 {
							r.Fatalf("b%d has a link with %s, which it has not heard for %d µs", i, l.ID, since)
						}
						if l.Cost < overlay.CostOne || l.Cost > overlay.MaxCost || l.Address == "" {
							r.Fatalf("%+v", l)
						}
					}
				}
			}
		}
		for i := range near {
			for j := range near {
				if near[i][j] < 4 {
					near[i][j] = 0
				}
			}
		}
		a.run(20)
		for i := range a.finders {
			var want []overlay.BrokerID
			for j := range a.finders {
				if i != j && near[i][j] == 4 && near[j][i] == 4 {
					want = append(want, id(j))
				}
			}
			if got := a.linked(i); !slices.Equal(got, want) {
				r.Fatalf("b%d has links with %v; expected %v", i, got, want)
			}
		}
	})
}

// FuzzHear takes any datagram, and any content that is sealed rightly.
func FuzzHear(f *testing.F) {
	a := newAir(&testing.T{}, 2)
	a.run(4)
	for _, d := range a.sent {
		f.Add(d, false)
		boot, number, _ := a.finders[0].seal.head(d)
		with := a.finders[0].seal.of(boot)
		plain, err := with.Open(nil, nonce(number), d[headBytes:], d[:headBytes])
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain, true)
	}
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		finder, err := New(Config{Network: "field", Key: key, Self: "b0", Boot: 1}, 0)
		if err != nil {
			t.Fatal(err)
		}
		finder.Tick(1e6)
		if sealed {
			d := append([]byte{magic, version}, finder.seal.tag[:]...)
			d = append(d, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9)
			data = finder.seal.of(7).Seal(d, nonce(9), data, d)
		}
		err = finder.Hear(1e6, data, "10.0.0.1")
		s := finder.Stats()
		if counted := s.Taken + s.Malformed + s.Foreign + s.Forged + s.Replayed + s.OwnID + s.TakenID + s.Crowded; counted != 1 || (err == nil) != (s.Taken == 1) {
			t.Fatalf("%+v for %v", s, err)
		}
		finder.Tick(2e6)
		for _, out := range finder.Outputs() {
			if send, is := out.(*Send); is && len(send.Datagram) > MaxDatagram {
				t.Fatalf("a beacon of %d bytes", len(send.Datagram))
			}
		}
	})
}
