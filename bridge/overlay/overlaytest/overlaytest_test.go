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
	name  string
	kind  Kind
	marks []string // hard cases that the schedules must reach
}{
	{"no faults", NoFaults, []string{"notified", "skipped", "gaps", "warned", "quiet roam", "quiet update", "quiet unsubscribe", "robot up", "robot away", "robot overflow"}},
	{"faults", Faults, []string{"notified", "skipped", "gaps", "warned", "cuts", "frames lost", "crashes", "paused", "doubles", "taken over", "repeated"}},
	{"amnesia", Amnesia, []string{"notified", "gaps", "cuts", "frames lost", "crashes", "doubles", "taken over", "paused", "stores lost", "stores torn", "ends"}},
}

// TestSchedules runs random schedules of each kind, each seed twice.
// CALLBOARD_SOAK says how many seeds, or how long ("60s"), CALLBOARD_SOAK_FROM
// the first.
func TestSchedules(t *testing.T) {
	n, from, until := uint64(400), uint64(0), time.Time{}
	if soak := os.Getenv("CALLBOARD_SOAK"); soak != "" {
		if length, err := time.ParseDuration(soak); err == nil {
			n, until = 1<<40, time.Now().Add(length)
		} else if n, err = strconv.ParseUint(soak, 10, 64); err != nil {
			t.Fatalf("CALLBOARD_SOAK: %q is neither a number nor a time", soak)
		}
		if text := os.Getenv("CALLBOARD_SOAK_FROM"); text != "" {
			var err error
			if from, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatalf("CALLBOARD_SOAK_FROM: %v", err)
			}
		}
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			s := seeds{kind: k.kind, next: from, end: from + n, until: until, reached: map[string]int{}}
			began := time.Now()
			var workers sync.WaitGroup
			for range max(1, runtime.GOMAXPROCS(0)/len(kinds)) {
				workers.Go(s.run)
			}
			workers.Wait()
			if s.wrong != "" {
				t.Fatal(s.wrong)
			}
			for _, m := range k.marks {
				if s.reached[m] == 0 && s.next-from >= 400 {
					t.Errorf("no schedule reached: %s", m)
				}
			}
			t.Logf("%d schedules in %s: %v", s.next-from, time.Since(began).Round(time.Second), s.reached)
		})
	}
}

// seeds is what several workers run.
type seeds struct {
	kind  Kind
	end   uint64
	until time.Time // zero: not bounded

	mu      sync.Mutex
	next    uint64
	reached map[string]int
	wrong   string
}

func (s *seeds) run() {
	for {
		s.mu.Lock()
		seed := s.next
		if seed >= s.end || s.wrong != "" || !s.until.IsZero() && time.Now().After(s.until) {
			s.mu.Unlock()
			return
		}
		s.next++
		s.mu.Unlock()
		marks, wrong := twice(seed, s.kind)
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

// twice runs a seed two times, which must do the same.
func twice(seed uint64, kind Kind) (marks map[string]int, wrong string) {
	r, err := Run(Seed(seed), Config{Kind: kind})
	if err != nil {
		return nil, fmt.Sprintf("seed %d: %v\n(CALLBOARD_KIND=%d CALLBOARD_SEED=%d go test -run TestSeed shows its steps)", seed, err, kind, seed)
	}
	if again, err := Run(Seed(seed), Config{Kind: kind}); err != nil || again.Hash != r.Hash {
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
				if _, err := Run(choice, Config{Kind: k.kind}); err != nil {
					t.Fatal(err)
				}
			})
		})
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
		if _, err := Run(Bytes(b[1:]), Config{Kind: Kind(b[0] % 3)}); err != nil {
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
	if _, err := Run(Seed(seed), Config{Kind: Kind(kind), Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
}
