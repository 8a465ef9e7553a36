package overlay

import (
	"testing"
)

// TestLatestIsNew: a reader that takes 200 ms a reading, of devices at 100 Hz,
// gets no old ones: each is at most two of its periods old when it has been read,
// for each device.
func TestLatestIsNew(t *testing.T) {
	const period, pace = 200_000, 10_000 // µs
	for _, devices := range []int{1, 3} {
		b, hits := busy(t, 1, "latest", Config{})
		var out []*Notify // written to the client, which reads them in order
		var last, oldest, done uint64
		read, begun := 0, Instant(-1)
		for now := Instant(pace); now < 60*Instant(Second); now += pace {
			for d := range devices {
				b.Step(now, &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", Index: d, Time: float64(now), JSON: []byte("{}")}, Hits: hits})
			}
			if begun >= 0 && now-begun >= period {
				n := out[read]
				read++
				oldest = max(oldest, uint64(now-Instant(n.Reading.Time)))
				begun, done = -1, done+1
				b.Step(now, &Ack{Conn: 1, Source: n.Source, Num: n.Seq})
			}
			for _, o := range b.Outputs() {
				if n, ok := o.(*Notify); ok {
					if n.Seq != last+1+n.Skipped {
						t.Fatalf("#%d with %d skipped after %d", n.Seq, n.Skipped, last)
					}
					last, out = n.Seq, append(out, n)
				}
			}
			if begun < 0 && read < len(out) {
				begun = now
			}
		}
		if most := uint64(2 * period * devices); oldest > most {
			t.Errorf("%d devices: a reading was %d µs old when it had been read; expected %d at most", devices, oldest, most)
		}
		if done < 290 {
			t.Errorf("%d devices: %d readings were read, expected one each 200 ms", devices, done)
		}
	}
}

// TestWindowOfHello: a client may ask for fewer to go out unacknowledged.
func TestWindowOfHello(t *testing.T) {
	for _, c := range []struct {
		ask  uint64
		want int
	}{{3, 3}, {1, 1}, {1 << 63, 1024}} {
		b, hits := busy(t, 1, "", Config{})
		first := Conn(1)
		b.Step(3, &Hello{Conn: 2, Client: "c00000", Session: b.edge.conns[first].session.birth.String(), Window: &c.ask, Subscriptions: []*Subscription{b.edge.order[0].sorted()[0].Subscription}})
		b.edge.order[0].pending = nil
		b.edge.becomeReady(b.edge.order[0])
		b.Outputs()
		for range 2000 {
			b.Step(4, &Matched{Reading: &Reading{Robot: "r0", Interface: "laser", JSON: []byte("{}")}, Hits: hits})
		}
		sent := 0
		for _, o := range b.Outputs() {
			if _, ok := o.(*Notify); ok {
				sent++
			}
		}
		if sent != c.want {
			t.Errorf("window %d: %d notifications went out, expected %d", c.ask, sent, c.want)
		}
	}
	b, _ := busy(t, 0, "", Config{})
	none := uint64(0)
	b.Step(3, &Hello{Conn: 1, Window: &none})
	if out := b.Outputs(); len(out) != 2 || b.edge.conns[1] != nil {
		t.Errorf("window 0 was taken: %v", out)
	}
}
