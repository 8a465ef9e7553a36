package overlaytest

import (
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// twin is the name of robots that several brokers read, where each has the registry.
const twin = "twin"

// bulletin is a version of a broker's.
type bulletin struct {
	broker  overlay.BrokerID
	version uint64
}

// floodsOnce fails if a change of a bulletin crosses a link twice in one direction.
func (c *cluster) floodsOnce(w *way, messages []overlay.Message) {
	if c.carried == nil {
		return
	}
	for _, m := range messages {
		b, is := m.(*overlay.BulletinMessage)
		if !is {
			continue
		}
		k := [2]int{w.from, w.to}
		if c.carried[k] == nil {
			c.carried[k] = map[bulletin]bool{}
		}
		if version := (bulletin{b.Broker, b.Version}); c.carried[k][version] {
			failf("%s crosses from %s to %s again", Describe(m), brokerName(w.from), brokerName(w.to))
		} else {
			c.carried[k][version] = true
		}
		c.marks["bulletins"]++
	}
}

// claim takes note of a claim that a broker has stored.
func (c *cluster) claim(i int, r *overlay.ClaimRecord) {
	if c.claims[i] == nil {
		c.claims[i] = map[string]overlay.Instant{}
	}
	if c.claims[i][r.Robot] = r.Since; r.Since <= 0 {
		delete(c.claims[i], r.Robot)
	}
}

// restoreClaims takes note of those that a store has.
func (c *cluster) restoreClaims(i int, records []overlay.Record) {
	delete(c.claims, i)
	for _, r := range records {
		if claim, is := r.(*overlay.ClaimRecord); is {
			c.claim(i, claim)
		}
	}
}

func (c *cluster) advertiseTwin(i int) {
	c.step(i, &overlay.Advertise{Robot: twin, Devices: []string{"laser:0"}})
	c.step(i, &overlay.RobotState{Robot: twin, State: protocol.RobotUp, Since: c.now})
}

// toggleTwin has a broker read a robot of the twins' name, or no more.
func (c *cluster) toggleTwin(i int) {
	if c.twins[i] = !c.twins[i]; c.twins[i] {
		c.marks["twins"]++
		c.advertiseTwin(i)
	} else {
		c.step(i, &overlay.Withdraw{Robot: twin})
		delete(c.refused[i], twin)
	}
}

// readTwin has a broker that was refused the name read something: nobody gets it.
func (c *cluster) readTwin(i int) {
	x := c.brokers[i]
	if _, still := c.held[i]; still || !c.twins[i] || !c.refused[i][twin] || len(x.sets) == 0 {
		return
	}
	before := x.b.Stats().Given
	m := &overlay.Matched{Reading: &overlay.Reading{Robot: twin, Interface: "laser", Time: 1, JSON: []byte("1")}}
	for _, set := range x.sets {
		for _, sub := range set.subs {
			m.Hits = append(m.Hits, overlay.Hit{Handle: set.handle, Set: set.set, Names: []protocol.Matched{{ID: sub.ID}}})
			break
		}
	}
	c.step(i, m)
	if after := x.b.Stats().Given; after != before {
		failf("%s gives readings of %s, which is another broker's", x.name, twin)
	}
	c.marks["twin's readings"]++
}
