package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
)

// What schedules do and look at with a registry at every broker, beside the rest.

// deadline is after how many periods a link ends whose other end says nothing.
const deadline = 3

// breakStill ends the links of brokers that have stood still for that long.
func (s *schedule) breakStill() {
	if !s.every() {
		return
	}
	for i := range s.brokers {
		if _, still := s.held[i]; !still {
			delete(s.stood, i)
			continue
		}
		if s.stood[i]++; s.stood[i] < deadline {
			continue
		}
		for _, l := range s.links {
			if l.a == i || l.b == i {
				s.down(l)
			}
		}
	}
}

// part cuts the network in two for longer than a lease. Each part works on; maybe
// they meet again at once.
func (s *schedule) part() {
	there := map[int]bool{}
	for i := range s.brokers {
		there[i] = s.choice.Intn(2) == 0
	}
	var across []link
	for _, l := range s.links {
		if there[l.a] != there[l.b] && !s.cut[l] {
			across = append(across, l)
			s.down(l)
		}
	}
	if len(across) == 0 {
		return
	}
	s.marks["parts"]++
	for range 5 + s.choice.Intn(10) {
		for range s.choice.Intn(40) {
			s.move()
		}
		i := pick(s.choice, s.sources)
		s.publish(i)
		s.readTwin(i)
		s.period()
	}
	if s.choice.Intn(3) > 0 {
		for _, l := range across {
			if s.cut[l] {
				s.up(l)
			}
		}
	}
}

// worksAlone looks whether each part of the network serves the subscriptions of its
// clients at the brokers that it reaches, and whether all brokers of a part come to
// the same owner of each name.
func (s *schedule) worksAlone() {
	if !s.every() {
		return
	}
	s.ownersAgree()
	for _, i := range s.sources {
		for range 6 {
			s.publish(i)
		}
	}
	for range 6 { // the window lets no more come at once
		s.settle()
		for _, p := range s.clients {
			p.acknowledge()
		}
	}
	for _, p := range s.clients {
		if _, still := s.held[p.at]; still || !p.connected() || p.next != nil || p.doubted || p.lazy || len(p.subs) == 0 {
			continue
		}
		reached := s.reachedFrom(p.at)
		for _, i := range s.sources {
			if !reached[i] || !s.appeared[i] || !s.robots[i].up {
				continue
			}
			s.marks["served by a part"]++
			if at := slices.IndexFunc(sortedKeys(p.nums), func(w string) bool { return p.key(w).Source == brokerName(i) }); at < 0 {
				failf("%s does not know %s, which is in its part of the network", p.name, brokerName(i))
			}
		}
	}
}

// quietSubscribe subscribes. In a calm schedule that costs a subscribe to each source
// broker, and nothing beside, with a registry at every broker.
func (s *schedule) quietSubscribe(p *client) {
	known := len(p.subs)
	if !s.every() || !s.quietNow(p) {
		s.subscribeAny(p)
		return
	}
	before := s.messages()
	s.subscribeAny(p)
	s.settle()
	if len(p.subs) == known {
		return
	}
	after := s.messages()
	if after.subscribe-before.subscribe != s.hops(p) || after.registry != before.registry {
		failf("a subscribe cost %d subscribes and %d messages beside, at best it is %d and none", after.subscribe-before.subscribe, after.registry-before.registry, s.hops(p))
	}
	s.marks["quiet subscribe"]++
}

// ownersAgree fails if two brokers of a part take a name for different brokers'.
func (s *schedule) ownersAgree() {
	if !s.every() {
		return
	}
	names := []string{twin}
	for _, i := range s.sources {
		names = append(names, robotName(i))
	}
	differ := func() (what string) {
		for i, x := range s.brokers {
			if _, still := s.held[i]; still {
				continue
			}
			for _, name := range names {
				owner, _ := x.b.Reader(name)
				for y := range s.reachedFrom(i) {
					if other, _ := s.brokers[y].b.Reader(name); other != owner {
						what = string(x.name) + " takes " + name + " for " + string(owner) + "'s, " + string(brokerName(y)) + " for " + string(other) + "'s"
					}
				}
			}
		}
		return what
	}
	for range 8 { // they forget a broker that is out of reach as far apart as they heard of that
		if differ() == "" {
			break
		}
		s.period()
		s.settle()
	}
	if what := differ(); what != "" {
		failf("%s", what)
	}
}

// ownersAreOldest fails if the twins' name is not that of the oldest claim, once all
// brokers have met, or if another broker than the owner was not refused it.
func (s *schedule) ownersAreOldest() {
	if !s.every() {
		return
	}
	var want overlay.BrokerID
	oldest := overlay.Instant(0)
	for i := range s.brokers { // by id
		if since := s.claims[i][twin]; s.twins[i] && (want == "" || since < oldest) {
			want, oldest = brokerName(i), since
		}
	}
	readers := 0
	for i, x := range s.brokers {
		if got, _ := x.b.Reader(twin); got != want {
			failf("%s takes %s for %q's, the oldest claim is %q's", x.name, twin, got, want)
		}
		if s.twins[i] {
			readers++
			if refused := s.refused[i][twin]; refused != (x.name != want) {
				failf("%s: %s refused is %v, the name is %s's", x.name, twin, refused, want)
			}
		}
	}
	if readers > 1 {
		s.marks["refused in the end"]++
	}
}
