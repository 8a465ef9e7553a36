package multicasttest

import (
	"fmt"
	"testing"
	"time"
)

// measured runs a load, all of whose messages must arrive.
func measured(t *testing.T, l Load) *Figures {
	t.Helper()
	f, err := Measure(l)
	if err != nil {
		t.Fatalf("%+v: %v", l, err)
	}
	if f.Delivered != f.Expected {
		t.Fatalf("%+v: %d delivered of %d", l, f.Delivered, f.Expected)
	}
	q := f.Delays.Quantile
	t.Logf("k=%d, %d/s, %.2f %% own and %.2f %% shared loss, %d delivered: p50 %v p99 %v p99.9 %v p99.99 %v; %d losses, %.2f NACKs each; %.0f bytes a message",
		l.Members, l.Rate, 100*l.Loss, 100*l.Shared, f.Delivered, q(.5), q(.99), q(.999), q(.9999), f.Losses, f.Each(), f.Wire)
	return f
}

// TestNothingIsLost: whatever is lost on the way, all arrives once and in order:
// CALLBOARD_DELIVERIES of them at each loss.
func TestNothingIsLost(t *testing.T) {
	deliveries := count(t, "CALLBOARD_DELIVERIES", 60_000)
	for _, loss := range []float64{0.0001, 0.001, 0.01, 0.05} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			measured(t, Load{Members: 15, Bytes: 256, Rate: 20_000, Messages: deliveries / 15, Loss: loss, Shared: 0.0001})
		})
	}
}

// TestAskedOnce: for each datagram that is lost there is little more than one NACK,
// however many members there are.
func TestAskedOnce(t *testing.T) {
	messages := count(t, "CALLBOARD_DELIVERIES", 40_000)
	for _, k := range []int{2, 5, 15, 50} {
		f := measured(t, Load{Members: k, Bytes: 256, Rate: 1000, Messages: max(messages/k, 2000), Loss: 0.01})
		if f.Each() > 1.2 {
			t.Errorf("%d members: %.2f NACKs for each loss", k, f.Each())
		}
	}
	if f := measured(t, Load{Members: 15, Bytes: 256, Rate: 1000, Messages: max(messages/15, 4000), Shared: 0.01}); f.Each() > 1.5 {
		t.Errorf("%.2f NACKs for each loss that all share", f.Each())
	}
}

// TestAskedOnceFar: also where an answer takes much longer than the least retry time,
// as over a radio, or from a machine that is slow.
func TestAskedOnceFar(t *testing.T) {
	f := measured(t, Load{Members: 5, Bytes: 256, Rate: 1000, Messages: 8000, Loss: 0.01, Delay: 6 * time.Millisecond})
	if f.Each() > 1.5 {
		t.Errorf("%.2f NACKs for each loss", f.Each())
	}
}

// TestDelays: repairs are quick.
func TestDelays(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run has too few losses")
	}
	messages := count(t, "CALLBOARD_DELIVERIES", 40_000)
	for _, k := range []int{2, 15} {
		f := measured(t, Load{Members: k, Bytes: 256, Rate: 20_000, Messages: messages / k * 2, Loss: 0.0001})
		if p := f.Delays.Quantile(0.999); p > 350*time.Microsecond {
			t.Errorf("%d members: p99.9 %v", k, p)
		}
		if p := f.Delays.Quantile(0.9999); p > 800*time.Microsecond {
			t.Errorf("%d members: p99.99 %v", k, p)
		}
	}
	for _, tt := range []struct {
		members   int
		loss      float64
		p99, p999 time.Duration
	}{
		{5, 0.01, 2 * time.Millisecond, 3 * time.Millisecond},
		{5, 0.05, 3 * time.Millisecond, 6 * time.Millisecond},
		{15, 0.01, 3 * time.Millisecond, 5 * time.Millisecond},
	} {
		f := measured(t, Load{Members: tt.members, Bytes: 256, Rate: 1000, Messages: max(10_000, messages/tt.members), Loss: tt.loss})
		if p99, p999 := f.Delays.Quantile(0.99), f.Delays.Quantile(0.999); p99 > tt.p99 || p999 > tt.p999 {
			t.Errorf("%d members, %v: p99 %v, p99.9 %v; expected %v, %v", tt.members, tt.loss, p99, p999, tt.p99, tt.p999)
		}
	}
}

// TestLastOneLost: no gap shows that a datagram before a silence is lost;
// heartbeats do.
func TestLastOneLost(t *testing.T) {
	if testing.Short() {
		t.Skip("a short run has too few losses")
	}
	f := measured(t, Load{Members: 2, Bytes: 256, Rate: 200, Messages: 15_000, Loss: 0.005, Last: true})
	repaired := f.Delays.Above(310 * time.Microsecond)
	p := repaired.Quantile(0.99)
	t.Logf("%d repaired: p50 %v p99 %v max %v, %d duplicates, %d late", repaired.Count(), repaired.Quantile(.5), p, repaired.Quantile(.9999), f.Counts.Sent.Duplicates, f.Counts.Received.Reordered)
	if repaired.Count() < 100 || p > 3*time.Millisecond {
		t.Errorf("%d repaired, p99 %v", repaired.Count(), p)
	}
}
