package standbytest

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"callboard/bridge/overlay/overlaytest"
)

// kinds are those of schedules, with the hard cases that each must reach.
var kinds = []struct {
	name    string
	faults  Faults
	witness bool
	marks   []string
}{
	{"calm with a witness", Calm, true, []string{"stops", "notifications"}},
	{"calm", Calm, false, []string{"stops", "notifications"}},
	{"single with a witness", Single, true, []string{"take", "alone", "lost starts", "foreign", "gaps", "twins", "switches", "power cuts", "new witness"}},
	{"single", Single, false, []string{"take", "alone", "by silence", "forks", "lost starts", "foreign", "gaps", "twins", "full", "switches"}},
	{"line with a witness", Line, true, []string{"new witness", "take", "alone", "lost starts", "foreign", "gaps", "twins", "switches"}},
	{"line", Line, false, []string{"take", "alone", "by silence", "lost starts", "foreign", "gaps", "twins", "full", "switches"}},
	{"many with a witness", Many, true, []string{"new witness", "take", "alone", "lost starts", "foreign", "gaps", "twins", "switches"}},
	{"many", Many, false, []string{"take", "alone", "by silence", "forks", "lost starts", "foreign", "gaps", "twins", "switches", "ordered"}},
}

// known is how many schedules of each kind a run has: up to there marks are known
// to be reached.
const known = 300

// TestSchedules runs random schedules of each kind from seed 0. CALLBOARD_SOAK says
// how many.
func TestSchedules(t *testing.T) {
	count := uint64(known)
	if text := os.Getenv("CALLBOARD_SOAK"); text != "" {
		var err error
		if count, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("CALLBOARD_SOAK: %v", err)
		}
	}
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			reached := map[string]int{}
			for seed := range count {
				marks, err := Run(overlaytest.Seed(seed), Config{Faults: k.faults, Witness: k.witness})
				if err != nil {
					t.Fatalf("seed %d: %v\n(CALLBOARD_KIND=%d CALLBOARD_SEED=%d go test -run TestSeed -v shows its steps)", seed, err, i, seed)
				}
				for m, n := range marks {
					reached[m] += n
				}
			}
			for _, m := range k.marks {
				if reached[m] == 0 && count >= known {
					t.Errorf("no schedule reached: %s", m)
				}
			}
			t.Logf("%d schedules: %v", count, reached)
		})
	}
}

// TestEven: where no chance helps any more, since every message takes the same time,
// the pair comes back in step all the same.
func TestEven(t *testing.T) {
	for i, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(known) {
				if _, err := Run(overlaytest.Seed(seed), Config{Faults: k.faults, Witness: k.witness, Even: true}); err != nil {
					t.Fatalf("kind %d, seed %d: %v", i, seed, err)
				}
			}
		})
	}
}

// TestSame: the same choices make the same trace.
func TestSame(t *testing.T) {
	for _, k := range kinds {
		for seed := range uint64(10) {
			trace := func() uint64 {
				h := fnv.New64a()
				if _, err := Run(overlaytest.Seed(seed), Config{Faults: k.faults, Witness: k.witness, Log: func(format string, args ...any) { fmt.Fprintf(h, format, args...) }}); err != nil {
					t.Fatal(err)
				}
				return h.Sum64()
			}
			if trace() != trace() {
				t.Errorf("%s, seed %d: it runs another way the second time", k.name, seed)
			}
		}
	}
}

// TestRapid lets rapid choose, which shrinks what it finds.
func TestRapid(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				left := 2000
				choice := overlaytest.Draw(func(n int) int {
					if left--; left < 0 || n == 1 {
						return 0
					}
					return rapid.IntRange(0, n-1).Draw(t, "")
				})
				if _, err := Run(choice, Config{Faults: k.faults, Witness: k.witness}); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
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
	k := kinds[kind%len(kinds)]
	if _, err := Run(overlaytest.Seed(seed), Config{Faults: k.faults, Witness: k.witness, Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
}
