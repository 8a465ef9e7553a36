package overlaytest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMain lets garbage grow: schedules make much of it, and keep little. And
// it has rapid choose the same every time, as everything here does:
// -rapid.seed looks further.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	flag.Parse()
	if seed := flag.Lookup("rapid.seed"); seed.Value.String() == "0" {
		if err := seed.Value.Set("1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

var kinds = []struct {
	name string
	Config
	marks []string // hard cases that the schedules must reach
}{
	{"no faults", Config{Kind: NoFaults}, []string{"notified", "skipped", "gaps", "warned", "quiet roam", "quiet update", "quiet unsubscribe", "cut replays", "notified without a store", "notified with messages", "robot up", "robot away", "robot overflow"}},
	{"faults", Config{Kind: Faults}, []string{"notified", "skipped", "gaps", "warned", "cuts", "frames lost", "cut replays", "crashes", "paused", "doubles", "intruders", "taken over", "repeated", "out of reach"}},
	{"old store", Config{Kind: OldStore}, []string{"notified", "gaps", "cuts", "frames lost", "crashes", "paused", "went back", "ends"}},
	{"amnesia", Config{Kind: Amnesia}, []string{"notified", "gaps", "cuts", "frames lost", "cut replays", "crashes", "doubles", "intruders", "taken over", "paused", "stores lost", "stores torn", "ends"}},
	{"absent", Config{Kind: Absent}, []string{"notified", "skipped", "gaps", "cuts", "frames lost", "crashes", "changed away", "changes"}},
	{"no faults, every", Config{Kind: NoFaults, Every: true}, []string{"notified", "skipped", "gaps", "quiet roam", "quiet subscribe", "quiet update", "quiet unsubscribe", "cut replays", "notified without a store", "notified with messages", "robot up", "robot away", "robot overflow", "bulletins", "twins", "refused in the end"}},
	{"faults, every", Config{Kind: Faults, Every: true}, []string{"notified", "skipped", "gaps", "cuts", "frames lost", "cut replays", "crashes", "paused", "doubles", "intruders", "taken over", "repeated", "out of reach", "parts", "served by a part", "twins", "twin's readings", "refused in the end"}},
	{"old store, every", Config{Kind: OldStore, Every: true}, []string{"notified", "gaps", "cuts", "frames lost", "crashes", "paused", "went back", "ends", "parts", "served by a part", "twins", "twin's readings", "refused in the end"}},
	{"absent, every", Config{Kind: Absent, Every: true}, []string{"notified", "skipped", "gaps", "cuts", "frames lost", "crashes", "changed away", "changes"}},
	{"anew", Config{Kind: Anew}, []string{"notified", "cuts", "crashes", "changes", "begun anew"}},
	{"anew, every", Config{Kind: Anew, Every: true}, []string{"notified", "cuts", "crashes", "changes", "begun anew"}},
	{"mobile", Config{Kind: Mobile}, []string{"notified", "skipped", "gaps", "cuts", "frames lost", "cut replays", "crashes", "paused", "parts", "met", "served by a part", "costs changed", "improved"}},
	{"amnesia, every", Config{Kind: Amnesia, Every: true}, []string{"notified", "gaps", "cuts", "frames lost", "cut replays", "crashes", "doubles", "intruders", "taken over", "paused", "stores lost", "stores torn", "ends", "parts", "served by a part", "twins", "twin's readings", "refused in the end"}},
}

// known is how many schedules of each kind a run has at least; up to there
// marks are known to be reached. held is how many have been seen to hold:
// CALLBOARD_SEEDS_FOR does not look further, so that what it finds is what a
// change has broken.
const (
	known = 400
	held  = 2_000
)

// TestSchedules runs random schedules of each kind from seed 0, each twice, far
// ones mostly once.
// CALLBOARD_SEEDS_FOR says how long to go on, in one goroutine a kind ("60s").
// CALLBOARD_SOAK says how many seeds, or how long, on all processors;
// CALLBOARD_SOAK_FROM the first.
func TestSchedules(t *testing.T) {
	plan := seeds{count: known}
	workers := 1
	if length := os.Getenv("CALLBOARD_SEEDS_FOR"); length != "" {
		plan.goOn(t, length)
		plan.most = held
	}
	if soak := os.Getenv("CALLBOARD_SOAK"); soak != "" {
		workers = max(1, runtime.GOMAXPROCS(0)/len(kinds))
		if n, err := strconv.ParseUint(soak, 10, 64); err == nil {
			plan.count, plan.length, plan.most = n, 0, 0
		} else {
			plan.goOn(t, soak)
			plan.most = 0
		}
		if text := os.Getenv("CALLBOARD_SOAK_FROM"); text != "" {
			var err error
			if plan.from, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatalf("CALLBOARD_SOAK_FROM: %v", err)
			}
		}
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := seeds{from: plan.from, count: plan.count, length: plan.length, most: plan.most, Config: k.Config, began: time.Now(), reached: map[string]int{}}
			var running sync.WaitGroup
			for range workers {
				running.Go(s.run)
			}
			running.Wait()
			if s.wrong != "" {
				t.Fatal(s.wrong)
			}
			for _, m := range k.marks {
				if s.reached[m] == 0 && s.given >= known {
					t.Errorf("no schedule reached: %s", m)
				}
			}
			t.Logf("%d schedules in %s: %v", s.given, time.Since(s.began).Round(time.Second), s.reached)
		})
	}
}

// seeds is what several workers run.
type seeds struct {
	Config
	from   uint64        // the first
	count  uint64        // how many at least
	length time.Duration // and how long; 0: no longer
	most   uint64        // but no more than these; 0: not bounded
	began  time.Time

	mu      sync.Mutex
	given   uint64
	reached map[string]int
	wrong   string
}

func (s *seeds) goOn(t *testing.T, length string) {
	var err error
	if s.length, err = time.ParseDuration(length); err != nil {
		t.Fatalf("%q is neither a number nor a time", length)
	}
}

// next returns a seed to run, false when there are enough.
func (s *seeds) next() (seed uint64, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.wrong != "" || s.most > 0 && s.given >= s.most || s.given >= s.count && time.Since(s.began) >= s.length {
		return 0, false
	}
	s.given++
	return s.from + s.given - 1, true
}

func (s *seeds) run() {
	for {
		seed, more := s.next()
		if !more {
			return
		}
		run := twice
		if seed >= alwaysTwice && seed%32 > 0 {
			run = once
		}
		marks, wrong := run(seed, s.Config)
		s.mu.Lock()
		for m, n := range marks {
			s.reached[m] += n
		}
		if wrong != "" && s.wrong == "" {
			s.wrong = wrong
		}
		s.mu.Unlock()
	}
}

// alwaysTwice is up to where each seed runs twice. Of those behind it one in 32
// does: what a second run finds, an order that something decides by, is in many.
const alwaysTwice = 10_000

func once(seed uint64, cfg Config) (marks map[string]int, wrong string) {
	cfg.Once = true
	r, err := Run(Seed(seed), cfg)
	return r.Marks, failed(seed, cfg, err)
}

func failed(seed uint64, cfg Config, err error) string {
	if err == nil {
		return ""
	}
	every := ""
	if cfg.Every {
		every = "CALLBOARD_EVERY=1 "
	}
	return fmt.Sprintf("seed %d: %v\n(%sCALLBOARD_KIND=%d CALLBOARD_SEED=%d go test -run TestSeed shows its steps)", seed, err, every, cfg.Kind, seed)
}

// twice runs a seed two times, which must do the same.
func twice(seed uint64, cfg Config) (marks map[string]int, wrong string) {
	r, err := Run(Seed(seed), cfg)
	if err != nil {
		return nil, failed(seed, cfg, err)
	}
	if again, err := Run(Seed(seed), cfg); err != nil || again.Hash != r.Hash {
		return nil, fmt.Sprintf("seed %d: it runs another way the second time: %x, %x (%v)", seed, r.Hash, again.Hash, err)
	}
	return r.Marks, ""
}

// TestRapid lets rapid choose, which shrinks what it finds.
func TestRapid(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				left := 3000
				choice := Draw(func(n int) int {
					if left--; left < 0 || n == 1 {
						return 0
					}
					return rapid.IntRange(0, n-1).Draw(t, "")
				})
				if _, err := Run(choice, k.Config); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestHardSeeds runs schedules that once failed, each for another reason.
func TestHardSeeds(t *testing.T) {
	for _, hard := range []struct {
		Config
		seeds []uint64
	}{
		{Config{Kind: NoFaults}, []uint64{613, 1466, 1647, 1967, 2229, 2588, 2719, 3722, 6054, 16415, 17578, 21302, 22888, 32720, 34386, 47155}},
		{Config{Kind: Faults}, []uint64{700, 891, 909, 985, 991, 2182, 2245, 9373, 10878, 11207, 15377, 17637, 20041, 22684, 22861, 33767, 36785}},
		{Config{Kind: Absent}, []uint64{2433, 13730}},
		{Config{Kind: Amnesia}, []uint64{3887, 19221, 20129}},
		{Config{Kind: OldStore}, []uint64{1152, 1663, 2137, 5943, 8331, 9653, 10425, 17286, 19380, 21264, 21852, 22985, 35999, 44228, 46815, 49825}},
		{Config{Kind: NoFaults, Every: true}, []uint64{11, 107, 4065, 25370}},
		{Config{Kind: Faults, Every: true}, []uint64{71, 12125, 15263, 19415, 19980}},
		{Config{Kind: Amnesia, Every: true}, []uint64{226, 2318, 12131}},
		{Config{Kind: OldStore, Every: true}, []uint64{13114, 15587}},
		{Config{Kind: Absent, Every: true}, []uint64{9382}},
		{Config{Kind: Anew}, []uint64{16021, 20374}},
		{Config{Kind: Anew, Every: true}, []uint64{24474}},
		{Config{Kind: Mobile}, []uint64{14541, 18182, 18776, 19277}},
	} {
		for _, seed := range hard.seeds {
			if _, wrong := twice(seed, hard.Config); wrong != "" {
				t.Error(wrong)
			}
		}
	}
}

// FuzzSchedule lets a fuzzer's bytes choose.
func FuzzSchedule(f *testing.F) {
	for seed := range uint64(6) {
		c := Seed(seed)
		b := []byte{byte(seed)}
		for range 2000 {
			b = append(b, byte(c.Intn(256)))
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || len(b) > 20_000 {
			return
		}
		if _, err := Run(Bytes(b[1:]), Config{Kind: Kind(b[0] % 7), Every: b[0]/7%2 == 1}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSeed runs the schedule of CALLBOARD_SEED with all its steps.
func TestSeed(t *testing.T) {
	text := os.Getenv("CALLBOARD_SEED")
	if text == "" {
		t.Skip("CALLBOARD_SEED is not set")
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	kind, _ := strconv.Atoi(os.Getenv("CALLBOARD_KIND"))
	if _, err := Run(Seed(seed), Config{Kind: Kind(kind), Every: os.Getenv("CALLBOARD_EVERY") != "", Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
}
