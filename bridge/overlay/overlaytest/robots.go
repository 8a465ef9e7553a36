package overlaytest

import (
	"cmp"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// robot is what is true of the robot of a source broker.
type robot struct {
	known, up bool

	gone int // how often it has gone away, by the cluster's count of such
}

// robotName names the robot of a source broker.
func robotName(i int) string {
	if i < len(robotNames) {
		return robotNames[i]
	}
	return "r" + string(brokerName(i))
}

// robotNames are those of the first brokers' robots.
var robotNames = [...]string{"rb1", "rb2", "rb3", "rb4", "rb5", "rb6", "rb7", "rb8", "rb9"}

// knows takes note of what a broker is told of its robot: one that is new to it
// is away at first.
func (c *cluster) knows(i int, in overlay.Input) {
	r := c.robots[i]
	if r == nil {
		r = &robot{}
		c.robots[i] = r
	}
	known, up := r.known, r.up
	switch in := in.(type) {
	case *overlay.Start:
		known, up = false, false
	case *overlay.Withdraw:
		if in.Robot == robotName(i) {
			known, up = false, false
		}
	case *overlay.Advertise:
		known = known || in.Robot == robotName(i)
	case *overlay.RobotState:
		if in.Robot == robotName(i) && in.Device == "" && in.State != protocol.RobotOverflow {
			known, up = true, in.State == protocol.RobotUp
		}
	default:
		return
	}
	if r.up && !up || !r.known && known {
		c.departed = append(c.departed, c.now)
		r.gone = len(c.departed)
	}
	r.known, r.up = known, up
}

// states is what a client was told of robots.
type states struct {
	loose bool            // it has had subscriptions before that were told of robots
	away  map[string]bool // the last word was that it is away
	last  map[string]int  // the cluster's departures at that word
	knew  map[string]int  // those that all brokers had heard of when that word was written
}

// heardOf returns how many departures all brokers have heard of without faults:
// a message takes up to two periods.
func (c *cluster) heardOf() int {
	n := len(c.departed)
	for n > 0 && c.departed[n-1] > c.now-2*second {
		n--
	}
	return n
}

// toldState takes a robot's state: away and up take turns, and begin with away.
func (p *client) toldState(s *states, m *protocol.Robot) {
	switch m.State {
	case protocol.RobotAway:
		if s.away[m.Name()] {
			failf("%s is told twice that %s is away", p.name, m.Name())
		}
		if m.Device == "" {
			p.mayBeAway(s, m)
		}
		s.away[m.Name()] = true
	case protocol.RobotUp:
		if !s.away[m.Name()] {
			failf("%s is told that %s is up, but was not told that it was away", p.name, m.Name())
		}
		delete(s.away, m.Name())
	default:
		return
	}
	s.last[m.Name()], s.knew[m.Name()] = len(p.c.departed), p.knew[m]
}

// mayBeAway fails if the robot has been up and in reach since the client was
// told of it last. With faults its broker may have been out of reach.
func (p *client) mayBeAway(s *states, m *protocol.Robot) {
	i := slices.IndexFunc(p.c.brokers, func(x *broker) bool { return robotName(x.id) == m.Robot })
	if i < 0 { // a twin
		return
	}
	if r := p.c.robots[i]; p.c.calmRobots && r.up && r.gone <= s.knew[m.Robot] {
		failf("%s is told that %s is away, which it has not been since the last word of it", p.name, m.Robot)
	}
}

// truthful reports whether what the client was told last is true; "" if it is.
// In the end all robots are up.
func (p *client) truthful() string {
	if len(p.subs) == 0 {
		return ""
	}
	for _, s := range p.judged() {
		for _, robot := range sortedKeys(s.away) {
			if robot == twin {
				continue
			}
			return "it takes " + robot + " for away"
		}
		if !p.c.calmRobots || p.anonymous || p.lists { // what was written in vain may have been the word
			continue
		}
		for i := range p.c.brokers {
			r, name := p.c.robots[i], robotName(i)
			if since, had := p.had[name]; r != nil && had && since < r.gone && s.last[name] < r.gone {
				return "it was not told that " + name + " was away"
			}
		}
	}
	return ""
}

// judged returns what is to be right: what a client that tells in its hello what
// it was told has processed; and, without faults, what was written to any.
func (p *client) judged() (all []*states) {
	if p.lists {
		all = append(all, &p.processed)
	}
	if p.c.calmRobots && !p.lists && !p.written.loose {
		all = append(all, &p.written)
	}
	return all
}

func newStates() states {
	return states{away: map[string]bool{}, last: map[string]int{}, knew: map[string]int{}}
}

// awayList is what a hello tells of it.
func (p *client) awayList() *[]string {
	if !p.lists {
		return nil
	}
	list := sortedKeys(p.processed.away)
	return &list
}

// writtenState takes what a broker writes to a connection.
func (p *client) writtenState(m any) {
	r, is := m.(*protocol.Robot)
	if !is {
		return
	}
	p.knew[r] = p.c.heardOf()
	if !p.written.loose && p.c.calmRobots && !p.lists && !p.anonymous {
		p.toldState(&p.written, r)
	}
}

// hasHad notes that the client gets a robot's readings. An edge that it leaves
// before two periods may never have heard of the robot: then no edge knows up to
// when the client was told.
func (p *client) hasHad(n *overlay.Notify) {
	if p.c.now < p.since+2*second {
		return
	}
	if _, had := p.had[n.Reading.Robot]; !had {
		p.had[n.Reading.Robot] = len(p.c.departed)
	}
}

// hearRobots notes of which source brokers' robots a broker is told: first of all of
// them, then of what has changed since. A change from a version that it has known in
// an earlier life says nothing to it.
func (c *cluster) hearRobots(i int, messages []overlay.Message) {
	for _, m := range messages {
		var of overlay.BrokerID
		all := false
		switch m := m.(type) {
		case *overlay.BulletinMessage:
			of, all = m.Broker, m.From == 0
		case *overlay.RoutedMessage:
			if robots, are := m.Body.(*overlay.Robots); are && m.To == brokerName(i) {
				of, all = cmp.Or(robots.Of, m.From), robots.Whole || robots.From == 0
			}
		}
		if _, before := c.heard[i][of]; of == "" || !before && !all {
			continue
		}
		if c.heard[i] == nil {
			c.heard[i] = map[overlay.BrokerID]overlay.Instant{}
		}
		c.heard[i][of] = c.now
	}
}

// heardBy reports whether any of some brokers has heard of a source broker's robots,
// and has not forgotten that broker since: for a session time it knows it certainly.
func (c *cluster) heardBy(brokers map[int]bool, source int) bool {
	for i := range brokers {
		reader, _ := c.brokers[i].b.Reader(robotName(source))
		heard, ever := c.heard[i][brokerName(source)]
		if ever && heard+overlay.Instant(c.cfg.Inbox.Keep) > c.now && (!c.every() || reader != "") {
			return true
		}
	}
	return false
}

// reachedFrom returns the brokers that messages of one can reach.
func (c *cluster) reachedFrom(i int) map[int]bool {
	reached := map[int]bool{i: true}
	for more := true; more; {
		more = false
		for _, l := range c.links {
			if c.cut[l] || reached[l.a] == reached[l.b] {
				continue
			}
			to := l.a
			if reached[l.a] {
				to = l.b
			}
			if _, still := c.held[to]; !still {
				reached[to], more = true, true
			}
		}
	}
	return reached
}
