package multicasttest

import (
	"strings"
	"testing"
	"time"

	"callboard/bridge/multicast"
)

// told is a network in which broker 0 talks to all others, as often as every says.
func told(t *testing.T, members int, change func(*Config)) *Network {
	cfg := Config{Brokers: members + 1, Delay: 200 * time.Microsecond, Jitter: 100 * time.Microsecond, Link: 500 * time.Microsecond, Bits: 1e9, Socket: 2000}
	if change != nil {
		change(&cfg)
	}
	n := New(cfg)
	n.Checked = true
	n.OnEnd = func(reason error) { t.Errorf("at %v a session ends: %v", n.Now, reason) }
	for i := range members {
		n.Connect(0, i+1)
	}
	talk(t, n, time.Second, time.Millisecond)
	if got := n.Members(0); got != members {
		t.Fatalf("%d members; expected %d", got, members)
	}
	return n
}

// talk has broker 0 talk for a time.
func talk(t *testing.T, n *Network, d, every time.Duration) {
	t.Helper()
	var to []int
	for i := range len(n.brokers) - 1 {
		to = append(to, i+1)
	}
	for end := n.Now + d; n.Now < end; {
		n.Say(0, to, 256)
		if err := n.Run(n.Now + every); err != nil {
			t.Fatal(err)
		}
	}
}

// finish sees that all arrived.
func finish(t *testing.T, n *Network) {
	t.Helper()
	if err := n.Run(n.Now + 2*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := n.Settled(); err != nil {
		t.Error(err)
	}
}

func offs(n *Network) [6]uint64 { return [6]uint64(n.Gather().Sent.Offs) }

// TestOneStandsStill: who stands still for 3 s holds the others up for no more than
// 300 ms (X6 a), gets all that it lacks over its link, and becomes a member again.
func TestOneStandsStill(t *testing.T) {
	n := told(t, 5, func(c *Config) { c.Segment.Sender.Window = 256 })
	longest := time.Duration(0)
	n.OnDeliver = func(_, to int, after time.Duration) {
		if to != 2 {
			longest = max(longest, after)
		}
	}
	n.StandStill(2, 3*time.Second)
	talk(t, n, 4*time.Second, time.Millisecond)
	if longest < 100*time.Millisecond || longest > 300*time.Millisecond {
		t.Errorf("the others waited for up to %v", longest)
	}
	if got := offs(n); got[multicast.WhySlow] != 1 || n.Members(0) != 4 {
		t.Errorf("turned off: %v; %d members", got, n.Members(0))
	}
	talk(t, n, 12*time.Second, 10*time.Millisecond)
	if got := n.Members(0); got != 5 {
		t.Errorf("%d members 12 s later", got)
	}
	finish(t, n)
}

// TestShortStandstill: one of 0.1 s costs nobody the membership.
func TestShortStandstill(t *testing.T) {
	n := told(t, 3, nil)
	for range 5 {
		n.StandStill(2, 100*time.Millisecond)
		talk(t, n, 500*time.Millisecond, time.Millisecond)
	}
	if got := offs(n); got != [6]uint64{} {
		t.Errorf("turned off: %v", got)
	}
	finish(t, n)
}

// TestSenderStandsStill: its members are not silent, it was.
func TestSenderStandsStill(t *testing.T) {
	n := told(t, 3, nil)
	n.StandStill(0, 450*time.Millisecond)
	talk(t, n, 3*time.Second, time.Millisecond)
	if got := offs(n); got != [6]uint64{} {
		t.Errorf("turned off: %v", got)
	}
	finish(t, n)
}

// TestSilentMember: whose statuses do not arrive is turned off (X6 b), and not
// started again before they do.
func TestSilentMember(t *testing.T) {
	n := told(t, 3, nil)
	n.brokers[2].lonely, n.brokers[2].mute = true, true
	talk(t, n, time.Second, 30*time.Millisecond)
	if got := offs(n); got[multicast.WhySilent] != 1 || n.Members(0) != 2 {
		t.Errorf("turned off: %v; %d members", got, n.Members(0))
	}
	talk(t, n, 12*time.Second, 30*time.Millisecond)
	if n.Members(0) != 2 {
		t.Error("it is started though nothing is heard of it")
	}
	n.brokers[2].lonely, n.brokers[2].mute = false, false
	talk(t, n, time.Second, 30*time.Millisecond)
	if n.Members(0) != 3 {
		t.Error("it is not started though it is heard")
	}
	finish(t, n)
}

// TestDeafMember: who hears nothing asks to be turned off (Y11), after half a
// second.
func TestDeafMember(t *testing.T) {
	n := told(t, 3, nil)
	longest := time.Duration(0)
	n.OnDeliver = func(_, to int, after time.Duration) { longest = max(longest, after) }
	n.brokers[2].deaf = true
	talk(t, n, 2*time.Second, 10*time.Millisecond)
	if got := offs(n); got[multicast.WhyDeaf] != 1 || n.Members(0) != 2 {
		t.Errorf("turned off: %v; %d members", got, n.Members(0))
	}
	if longest > 700*time.Millisecond {
		t.Errorf("it had its frames after %v", longest)
	}
	talk(t, n, 20*time.Second, 50*time.Millisecond)
	if n.Members(0) != 2 {
		t.Error("it joined what it does not hear")
	}
	n.brokers[2].deaf = false
	talk(t, n, time.Second, 10*time.Millisecond)
	if n.Members(0) != 3 {
		t.Error("it does not join what it hears again")
	}
	finish(t, n)
}

// TestLossyMember: who loses much more than the others is turned off (X6 c); who
// loses as much as the others is not.
func TestLossyMember(t *testing.T) {
	for _, tt := range []struct {
		name        string
		all, one    float64
		off, lowers bool
	}{
		{"all lose 5 %", 0.05, 0, false, false},
		{"one loses 4 %", 0, 0.04, false, false},
		{"one loses 10 %", 0.005, 0.095, true, true},
		{"one loses 10 %, the others 4 %", 0.04, 0.06, false, true},
		{"one loses 40 %", 0.05, 0.35, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := told(t, 4, nil)
			n.cfg.Loss, n.brokers[2].lossIn = tt.all, tt.one
			talk(t, n, 4*time.Second, time.Millisecond)
			if got := offs(n); (got[multicast.WhyLossy] > 0) != tt.off || got[multicast.WhySilent]+got[multicast.WhySlow]+got[multicast.WhyDeaf] > 0 {
				t.Errorf("turned off: %v", got)
			}
			n.cfg.Loss, n.brokers[2].lossIn = 0, 0
			finish(t, n)
		})
	}
}

// TestWaits: who is turned off may join again after 10 s, then 20, 40, …; after
// having been a member for longer than that, after 10 s again.
func TestWaits(t *testing.T) {
	n := told(t, 2, nil)
	var waits []time.Duration
	for range 4 {
		n.brokers[2].deaf = true
		for n.Members(0) == 2 {
			talk(t, n, 100*time.Millisecond, 20*time.Millisecond)
		}
		n.brokers[2].deaf = false
		since := n.Now
		for n.Members(0) == 1 {
			talk(t, n, 100*time.Millisecond, 100*time.Millisecond)
		}
		waits = append(waits, (n.Now - since).Round(time.Second))
		if len(waits) == 3 {
			talk(t, n, 90*time.Second, 100*time.Millisecond)
		}
	}
	want := []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 10 * time.Second}
	for i := range want {
		if d := waits[i] - want[i]; d < -time.Second || d > time.Second {
			t.Errorf("waits %v; expected %v", waits, want)
			break
		}
	}
	finish(t, n)
}

// TestRate: the rate falls when sockets overflow, and rises again (X8). It is
// never exceeded.
func TestRate(t *testing.T) {
	n := told(t, 3, func(c *Config) { c.Socket = 52 })
	pace := func() float64 { return n.brokers[0].segment.Status().Pace }
	full := pace()
	for range 4 {
		n.StandStill(2, 60*time.Millisecond)
		talk(t, n, 150*time.Millisecond, time.Millisecond)
	}
	fallen := pace()
	if fallen > 0.5*full {
		t.Errorf("%v of %v bits/s while a socket overflows", fallen, full)
	}
	talk(t, n, 6*time.Second, 5*time.Millisecond)
	if pace() != full {
		t.Errorf("%v bits/s later; expected %v", pace(), full)
	}
	finish(t, n)

	n = told(t, 2, func(c *Config) { c.Segment.Sender.Rate = 10e6 })
	n.Wire = 0
	at := n.Now
	for range 2000 {
		n.Say(0, []int{1, 2}, 1200)
	}
	for n.brokers[0].segment.Status().Waiting > 0 {
		if err := n.Run(n.Now + time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if rate := float64(n.Wire) * 8 / (n.Now - at).Seconds(); rate < 9.5e6 || rate > 11e6 {
		t.Errorf("%v bits/s; expected 10 Mbit/s", rate)
	}
	finish(t, n)
}

// TestRenewal: a stream gives way to another while all talk, and nobody sees it.
func TestRenewal(t *testing.T) {
	n := told(t, 3, func(c *Config) { c.Segment.Sender.Limit = 1200; c.Loss = 0.01 })
	talk(t, n, 5*time.Second, time.Millisecond)
	if got := offs(n); got[multicast.WhyRenewed] < 6 || n.Members(0) != 3 {
		t.Errorf("turned off: %v; %d members", got, n.Members(0))
	}
	if datagrams := n.Gather().Sent.Datagrams; datagrams < 4000 {
		t.Errorf("%d of 6,000 messages went by multicast", datagrams)
	}
	finish(t, n)
}

// TestTakesNothing: a broker that takes nothing of what is delivered closes its
// window (Y9), and goes over its link after a while.
func TestTakesNothing(t *testing.T) {
	n := told(t, 3, func(c *Config) { c.Segment.Sender.Window = 128 })
	n.Block(2, 3*time.Second)
	talk(t, n, 4*time.Second, time.Millisecond)
	if got := offs(n); got[multicast.WhySlow] != 1 {
		t.Errorf("turned off: %v", got)
	}
	finish(t, n)
}

// TestGapThatStays: what neither repairs nor the link bring ends the session (Y7).
func TestGapThatStays(t *testing.T) {
	n := told(t, 2, nil)
	var reasons []string
	n.OnEnd = func(reason error) { reasons = append(reasons, reason.Error()) }
	n.Swallow = func(m multicast.Message) bool {
		switch m.(type) {
		case *multicast.Fill, *multicast.Off:
			return true
		}
		return false
	}
	n.brokers[2].mute = true // its NACKs
	n.brokers[2].lossIn = 0.2
	talk(t, n, 300*time.Millisecond, time.Millisecond)
	n.brokers[2].lossIn = 0
	talk(t, n, 5*time.Second, time.Millisecond)
	if len(reasons) == 0 || !strings.Contains(reasons[0], "came neither by multicast nor over the link") {
		t.Errorf("%q", reasons)
	}
}
