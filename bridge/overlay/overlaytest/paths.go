package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
)

// added adds up what two lives of a broker have counted.
func added(a, b overlay.Stats) overlay.Stats {
	for i := range a.Lost {
		b.Lost[i] += a.Lost[i]
	}
	b.Resent += a.Resent
	b.Unclear += a.Unclear
	b.Renewals += a.Renewals
	b.Improved += a.Improved
	b.Expired += a.Expired
	b.Fetches += a.Fetches
	b.Orphaned += a.Orphaned
	b.Declared += a.Declared
	b.Doubted += a.Doubted
	b.ForgottenKeys += a.ForgottenKeys
	b.Forgotten += a.Forgotten
	m, o := &b.Messages, a.Messages
	m.Subscribe += o.Subscribe
	m.Refresh += o.Refresh
	m.Head += o.Head
	m.Unsubscribe += o.Unsubscribe
	m.Gone += o.Gone
	m.Notify += o.Notify
	m.Fetch += o.Fetch
	m.Replay += o.Replay
	m.Event += o.Event
	m.Broken += o.Broken
	m.LinkState += o.LinkState
	m.Bulletin += o.Bulletin
	m.Known += o.Known
	m.Routed += o.Routed
	return b
}

// stats adds up what all brokers have counted.
func (c *cluster) stats() (all overlay.Stats) {
	for _, x := range c.brokers {
		all = added(all, added(x.before, x.b.Stats()))
	}
	return all
}

// chain returns the brokers that a notification of a key passes now.
func (c *cluster) chain(k overlay.Key) []int {
	var chain []int
	x := c.index(k.Source)
	for x >= 0 && !slices.Contains(chain, x) {
		r, found := c.brokers[x].b.Route(k)
		if !found {
			break
		}
		chain = append(chain, x)
		if r.Down == c.brokers[x].name {
			break
		}
		x = c.index(r.Down)
	}
	return chain
}

func (c *cluster) index(id overlay.BrokerID) int {
	return slices.IndexFunc(c.brokers, func(x *broker) bool { return x.name == id })
}

// path is the shortest path: of several the one whose next broker has the
// lowest id, at every step.
func (c *cluster) path(from, to int) []int {
	near := func(x int) (all []int) {
		for _, l := range c.links {
			if (l.a == x || l.b == x) && !c.cut[l] {
				all = append(all, l.a+l.b-x)
			}
		}
		slices.Sort(all)
		return all
	}
	hops := map[int]int{to: 0}
	for todo := []int{to}; len(todo) > 0; todo = todo[1:] {
		for _, y := range near(todo[0]) {
			if _, seen := hops[y]; !seen {
				hops[y] = hops[todo[0]] + 1
				todo = append(todo, y)
			}
		}
	}
	path := []int{from}
	for x := from; x != to; {
		for _, y := range near(x) {
			if h, seen := hops[y]; seen && h == hops[x]-1 {
				x = y
				break
			}
		}
		path = append(path, x)
	}
	return path
}
