package standby

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"callboard/bridge/overlay"
)

// TestRingModel has rings do what those of an executable model have done, reading by
// reading and mark by mark: testdata/ring.txt.gz.
//
//	r 3 53075 7	reading 7 of time 3, with its hash
//	m 0 3 53075 1	a mark: run, time, hashes, fresh
//	s		the session begins anew
//	= 0 1 8,9	the run is 0, it is aligned, 8 and 9 are kept
func TestRingModel(t *testing.T) {
	f, err := os.Open("testdata/ring.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var r *Ring[string]
	name, rings := "", 0
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		f := strings.Fields(lines.Text())
		float := func(i int) float64 { return float64(number(f[i])) }
		switch f[0] {
		case "ring":
			r, name = &Ring[string]{}, f[1]
			rings++
		case "r":
			r.Put(0, float(1), number(f[2]), f[3])
		case "s":
			r.Begin()
		case "m":
			m := Mark{Run: int64(number(f[1])), Time: float(2), Fresh: f[4] == "1"}
			for one := range strings.SplitSeq(f[3], ",") {
				m.Hashes = append(m.Hashes, number(one))
			}
			r.Pass(m)
		case "=":
			run, _ := strconv.ParseInt(f[1], 10, 64)
			all, _ := r.Rest()
			if is := fmt.Sprintf("%d %d %s", r.run, bit(r.aligned), strings.Join(append(all, "-")[:max(1, len(all))], ",")); r.run != run || is != strings.Join(f[1:], " ") {
				t.Fatalf("ring %s, line %d: it is %q; the model's %q", name, n, is, strings.Join(f[1:], " "))
			}
		}
	}
	if err := lines.Err(); err != nil || rings < 100 {
		t.Fatalf("%d rings, %v", rings, err)
	}
}

// read is a reading as a session of one side has it.
type read struct {
	number int
	time   float64
	hash   uint64
}

// sessions are what a robot gave, and what each side's session has of it.
type sessions struct {
	all          []read
	active, here []read
	first        int // of the standby's session
	exact        bool
}

// newSessions has time run back now and then, and some readings of one time. Half of
// the sessions lose readings, each its own; in some readings are alike.
func newSessions(random *rand.Rand) (s sessions) {
	lossy, alike := random.IntN(2) == 0, random.IntN(10) < 3
	s.exact = !lossy && !alike
	time := 0
	for i := range 5 + random.IntN(56) {
		switch u := random.IntN(100); {
		case u < 6:
			time = random.IntN(4) // a simulation that was set back
		case u < 75:
			time += 1 + random.IntN(2)
		}
		hash := random.Uint64()
		if alike {
			hash = uint64(time*7+1) % 5
		}
		s.all = append(s.all, read{i, float64(time), hash})
	}
	s.first = random.IntN(len(s.all)/2 + 1)
	for i, r := range s.all {
		if !lossy || random.IntN(10) > 0 {
			s.active = append(s.active, r)
		}
		if i >= s.first && (!lossy || random.IntN(10) > 0) {
			s.here = append(s.here, r)
		}
	}
	return s
}

// takeOver has the active test some readings and die, with some of its marks
// shipped. It returns the last one that was, and what the standby has kept.
func (s *sessions) takeOver(random *rand.Rand) (mark int, rest []int, sure bool) {
	dies := random.IntN(len(s.active) + 1)
	shipped := max(0, dies-random.IntN(5))
	var marker Marker
	var ring Ring[int]
	due := func(i int, delays ...float64) float64 { return float64(i) + delays[random.IntN(len(delays))] }
	next, arrives, comes := 0, 0.0, 0.0
	put := func(until float64) {
		for next < len(s.here) {
			if arrives = max(arrives, due(s.here[next].number, 0, .2, 1, 3)); arrives > until {
				return
			}
			r := s.here[next]
			ring.Put(0, r.time, r.hash, r.number)
			next++
		}
	}
	mark = -1
	for _, r := range s.active[:shipped] {
		comes = max(comes, due(r.number, .1, .5, 2, 5))
		put(comes)
		m := marker.Test(r.time, r.hash)
		m.Fresh = r.number >= s.first
		ring.Pass(m)
		mark = r.number
	}
	put(1e9)
	rest, sure = ring.Rest()
	return mark, rest, sure
}

// TestRing: whatever the active has tested when it dies, the standby has kept just the
// rest, or says that it does not know. Where sessions lose readings or these are
// alike it cannot always be so: then in 99 of 100.
func TestRing(t *testing.T) {
	sure, wrong := 0, 0
	for seed := range uint64(4000) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := newSessions(random)
		mark, rest, aligned := s.takeOver(random)
		if mark >= 0 && !aligned {
			continue
		}
		sure++
		near := func(i int) bool {
			return !s.exact && mark >= 0 && max(i-mark, mark-i) <= 8 && s.all[i].time == s.all[mark].time
		} // of one time the order is not sure
		var want, got []uint64
		for _, r := range s.here {
			if r.number > mark && !near(r.number) {
				want = append(want, r.hash)
			}
		}
		for _, i := range rest {
			if !near(i) {
				got = append(got, s.all[i].hash)
			}
		}
		switch {
		case slices.Equal(want, got):
		case s.exact:
			t.Fatalf("seed %d: %d is the last mark, and %v are kept", seed, mark, rest)
		default:
			wrong++
		}
	}
	t.Logf("%d of 4,000 are sure, %d wrong", sure, wrong)
	if sure < 2000 || wrong*100 > sure {
		t.Errorf("%d of 4,000 are sure, %d of them wrong; expected 1 in 100 at most", sure, wrong)
	}
}

// TestRingIsBounded: a ring that has had to let go of readings does not say that it is
// aligned.
func TestRingIsBounded(t *testing.T) {
	for name, step := range map[string]overlay.Instant{"many": 1, "old": maxKept / 10} {
		var r Ring[int]
		var m Marker
		r.Put(0, 0, 1, 0)
		mark := m.Test(0, 1)
		mark.Fresh = true
		if passed := r.Pass(mark); len(passed) != 1 {
			t.Fatalf("%s: passed %v", name, passed)
		}
		for i := range maxRing + 10 {
			r.Put(overlay.Instant(i)*step, float64(i+1), uint64(i+2), i+1)
		}
		if all, aligned := r.Rest(); aligned || len(all) > maxRing {
			t.Errorf("%s: %d are kept, aligned %t", name, len(all), aligned)
		}
	}
}

// TestRingOfAnotherRun: the active's time has run back, and this side has not seen
// that: it does not know what is behind the mark.
func TestRingOfAnotherRun(t *testing.T) {
	var r Ring[int]
	r.Put(0, 5, 50, 1)
	r.Pass(Mark{Time: 5, Hashes: []uint64{50}, Fresh: true})
	r.Put(0, 6, 60, 2)
	if all, aligned := r.Rest(); !aligned || !slices.Equal(all, []int{2}) {
		t.Fatalf("%v are kept, aligned %t", all, aligned)
	}
	r.Pass(Mark{Run: 1, Time: 0, Hashes: []uint64{70}, Fresh: true})
	if all, aligned := r.Rest(); aligned {
		t.Errorf("%v are kept, and it says that these are all", all)
	}
	r.Put(0, 0, 70, 3)
	r.Put(0, 1, 80, 4)
	if all, aligned := r.Rest(); !aligned || !slices.Equal(all, []int{4}) {
		t.Errorf("the reading is there: %v are kept, aligned %t", all, aligned)
	}
}
