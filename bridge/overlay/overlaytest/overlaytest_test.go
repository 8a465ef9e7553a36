package overlaytest

import (
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

var kinds = []struct {
	name  string
	kind  Kind
	marks []string // hard cases that the schedules must reach
}{
	{"no faults", NoFaults, []string{"notified", "skipped", "gaps", "warned", "quiet roam", "quiet update", "quiet unsubscribe"}},
	{"faults", Faults, []string{"notified", "skipped", "gaps", "warned", "cuts", "frames lost", "crashes", "doubles", "taken over"}},
	{"amnesia", Amnesia, []string{"notified", "gaps", "cuts", "frames lost", "crashes", "doubles", "taken over", "stores lost", "ends"}},
}

// TestSchedules runs random schedules of each kind, each seed twice.
// CALLBOARD_SOAK says how many seeds, CALLBOARD_SOAK_FROM the first.
func TestSchedules(t *testing.T) {
	n, from := uint64(250), uint64(0)
	if soak := os.Getenv("CALLBOARD_SOAK"); soak != "" {
		var err error
		if n, err = strconv.ParseUint(soak, 10, 64); err != nil {
			t.Fatalf("CALLBOARD_SOAK: %v", err)
		}
		if text := os.Getenv("CALLBOARD_SOAK_FROM"); text != "" {
			if from, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatalf("CALLBOARD_SOAK_FROM: %v", err)
			}
		}
	}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			reached := map[string]int{}
			for seed := from; seed < from+n; seed++ {
				r, err := Run(Seed(seed), Config{Kind: k.kind})
				if err != nil {
					t.Fatalf("seed %d: %v\n(CALLBOARD_KIND=%d CALLBOARD_SEED=%d go test -run TestSeed shows its steps)", seed, err, k.kind, seed)
				}
				if again, err := Run(Seed(seed), Config{Kind: k.kind}); err != nil || again.Hash != r.Hash {
					t.Fatalf("seed %d: it runs another way the second time: %x, %x (%v)", seed, r.Hash, again.Hash, err)
				}
				for m, n := range r.Marks {
					reached[m] += n
				}
			}
			for _, m := range k.marks {
				if reached[m] == 0 && n >= 250 {
					t.Errorf("no schedule reached: %s", m)
				}
			}
			t.Log(reached)
		})
	}
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
