package multicasttest

import (
	"os"
	"strconv"
	"testing"

	"callboard/bridge/multicast"
)

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
