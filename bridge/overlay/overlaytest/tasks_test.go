package overlaytest

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"
)

var taskKinds = []struct {
	name string
	TaskConfig
}{
	{"calm, one", TaskConfig{}}, {"calm, every", TaskConfig{Every: true}},
	{"faults, one", TaskConfig{Faults: true}}, {"faults, every", TaskConfig{Faults: true, Every: true}},
}

// knownTasks is how many schedules of tasks a run has of each kind; up to there marks
// are known to be reached. heldTasks is how many have been seen to hold: CALLBOARD_SOAK
// goes beyond.
const (
	knownTasks = 250
	heldTasks  = 12_000
)

// TestTasks runs random schedules of tasks, each twice. CALLBOARD_SEEDS_FOR says how
// long to go on, CALLBOARD_SOAK how many at least.
func TestTasks(t *testing.T) {
	length, _ := time.ParseDuration(os.Getenv("CALLBOARD_SEEDS_FOR"))
	count, err := strconv.ParseUint(os.Getenv("CALLBOARD_SOAK"), 10, 64)
	if err != nil {
		count = knownTasks
		if testing.Short() {
			count = 60
		}
	}
	for k, kind := range taskKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			marks, began := map[string]int{}, time.Now()
			for seed := uint64(0); seed < count || seed < heldTasks && time.Since(began) < length; seed++ {
				r, err := RunTasks(Seed(seed), kind.TaskConfig)
				if err != nil {
					t.Fatalf("seed %d: %v\nCALLBOARD_TASKS=%d CALLBOARD_SEED=%d go test ./bridge/overlay/overlaytest -run TestTaskSeed -v", seed, err, k, seed)
				}
				for mark, n := range r.Marks {
					marks[mark] += n
				}
				if again, err := RunTasks(Seed(seed), kind.TaskConfig); err != nil || again.Hash != r.Hash {
					t.Fatalf("seed %d: another run did something else: %v", seed, err)
				}
			}
			want := []string{"reply ", "reply unavailable", "reply expired", "reply cancelled", "reply overloaded", "held on"}
			if kind.Faults {
				want = append(want, "crashes", "cuts", "done twice", "reply unknown")
			}
			for _, mark := range want {
				if marks[mark] == 0 && count >= knownTasks {
					t.Errorf("no schedule has reached %q", mark)
				}
			}
			t.Log(marks)
		})
	}
}

// TestHardTasks runs schedules of tasks that once failed, each for another reason.
func TestHardTasks(t *testing.T) {
	for k, seeds := range [][]uint64{1: {25334}, 2: {6922, 17948}} {
		for _, seed := range seeds {
			if _, err := RunTasks(Seed(seed), taskKinds[k].TaskConfig); err != nil {
				t.Errorf("CALLBOARD_TASKS=%d CALLBOARD_SEED=%d: %v", k, seed, err)
			}
		}
	}
}

// FuzzTasks lets a fuzzer's bytes choose a schedule of tasks.
func FuzzTasks(f *testing.F) {
	for seed := range uint64(len(taskKinds)) {
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
		if _, err := RunTasks(Bytes(b[1:]), taskKinds[int(b[0])%len(taskKinds)].TaskConfig); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTaskSeed runs one schedule and tells all of it: CALLBOARD_TASKS is the kind.
func TestTaskSeed(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("CALLBOARD_SEED"), 10, 64)
	kind, err2 := strconv.Atoi(os.Getenv("CALLBOARD_TASKS"))
	if err != nil || err2 != nil || kind >= len(taskKinds) {
		t.Skip("CALLBOARD_TASKS and CALLBOARD_SEED say which schedule")
	}
	cfg := taskKinds[kind].TaskConfig
	cfg.Log = func(format string, args ...any) { fmt.Printf(format+"\n", args...) }
	if _, err := RunTasks(Seed(seed), cfg); err != nil {
		t.Fatal(err)
	}
}
