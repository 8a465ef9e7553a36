package overlaytest

import (
	"fmt"
	"testing"

	"callboard/bridge/overlay"
)

// TestWarm: a broker that was restored record by record while another one lived
// does the same as one that is restored at once.
func TestWarm(t *testing.T) {
	for _, kind := range []Kind{Faults, Amnesia} {
		starts := 0
		for seed := range uint64(200) {
			r, err := Run(Seed(seed), Config{Kind: kind, Warm: true})
			if err != nil {
				t.Fatalf("kind %d, seed %d: %v", kind, seed, err)
			}
			starts += r.Marks["warm starts"]
		}
		if starts < 20 {
			t.Errorf("kind %d: %d warm starts only", kind, starts)
		}
	}
}

// warmth is beside a broker of a cluster: a standby, which restores each of its
// records as it comes, and the twin that it had as a standby in its life before,
// which was started when it was.
type warmth struct{ standby, twin *overlay.Broker }

// followAll gives each broker a standby.
func (c *cluster) followAll() {
	beside := map[*broker]*warmth{}
	c.starts = func(x *broker, records []overlay.Record) {
		w := &warmth{standby: c.follower(x, records)}
		if len(records) == len(x.records) { // else its store has lost something
			w.twin = beside[x].standby
			c.marks["warm starts"]++
		}
		beside[x] = w
	}
	c.steps = func(x *broker, in overlay.Input) {
		w := beside[x]
		if again := Own(in); w.twin != nil {
			w.twin.Step(c.now, again)
		}
		x.b.Step(c.now, in)
		for _, r := range x.b.Records() {
			w.standby.Step(c.now, &overlay.Restore{Records: []overlay.Record{keep(r)}})
		}
		if w.twin != nil && !Same(x.b, w.twin) {
			failf("at %s %s does:%s\nand its twin, which was restored record by record:%s", describeInput(in), x.name, does(x.b), does(w.twin))
		}
	}
	for _, x := range c.brokers {
		beside[x] = &warmth{standby: c.follower(x, x.records)}
	}
}

func (c *cluster) follower(x *broker, records []overlay.Record) *overlay.Broker {
	cfg := c.cfg
	cfg.ID, cfg.Registry, cfg.URL = x.name, c.registryOf(), "ws://"+string(x.name)
	b, err := overlay.New(cfg)
	if err != nil {
		failf("%v", err)
	}
	b.Step(c.now, &overlay.Restore{Records: KeepAll(records)})
	return b
}

func does(b *overlay.Broker) (all string) {
	for _, r := range b.Records() {
		all += fmt.Sprintf("\n%T %+v", r, r)
	}
	for _, o := range b.Outputs() {
		all += "\n" + describeOutput(o)
	}
	return all
}
