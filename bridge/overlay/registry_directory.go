package overlay

// directory is what brokers advertise, and whose each robot's name is.
type directory struct {
	robots  map[BrokerID]map[string]*robot // by broker and name
	holders map[string]BrokerID            // of robots' names
	claims  map[string]int                 // how many brokers advertise a name
	fresh   map[string]bool                // names of robots that a set may match now and could not before
}

func newDirectory() directory {
	return directory{robots: map[BrokerID]map[string]*robot{}, holders: map[string]BrokerID{}, claims: map[string]int{}, fresh: map[string]bool{}}
}

// advertise takes what a broker advertises of a robot. It returns what it did before;
// nil: nothing.
func (b *directory) advertise(id BrokerID, one *robot) (old *robot) {
	all := b.robots[id]
	if all == nil {
		all = map[string]*robot{}
		b.robots[id] = all
	}
	if old = all[one.name]; old == nil {
		b.claims[one.name]++
	}
	if old == nil || !old.matchesAs(one) {
		b.fresh[one.name] = true
	}
	all[one.name] = one
	return old
}

// withdraw takes an advertisement back.
func (b *directory) withdraw(id BrokerID, name string) {
	all := b.robots[id]
	if all[name] == nil {
		return
	}
	if delete(all, name); len(all) == 0 {
		delete(b.robots, id)
	}
	if b.claims[name]--; b.claims[name] == 0 {
		delete(b.claims, name)
	}
}

// matching finds the brokers that have registered a robot that s can match, of
// the given robots (nil: all), until found returns false. Those to be skipped
// are not looked at.
func (b *directory) matching(s *sub, robots map[string]bool, skip, found func(BrokerID) bool) {
	test := func(name string) (goOn bool) {
		id := b.holders[name]
		return id == "" || skip(id) || !b.robots[id][name].mayMatch(s) || found(id)
	}
	switch {
	case s.selector.names != nil: // only these can
		for _, name := range s.selector.names {
			if (robots == nil || robots[name]) && !test(name) {
				return
			}
		}
	case robots != nil:
		for name := range robots { // all are asked: order decides nothing
			if !test(name) {
				return
			}
		}
	default:
		for id := range b.robots { // the same
			if !skip(id) && b.canMatch(id, s) && !found(id) {
				return
			}
		}
	}
}

// anyCanMatch reports whether a robot is registered that s can match.
func (b *directory) anyCanMatch(s *sub) (can bool) {
	b.matching(s, nil, func(BrokerID) bool { return false }, func(BrokerID) bool { can = true; return false })
	return can
}

// canMatch reports whether a broker has registered a robot that s can match.
func (b *directory) canMatch(id BrokerID, s *sub) bool {
	for _, robot := range b.robots[id] { // one is enough, whichever
		if b.holders[robot.name] == id && robot.mayMatch(s) {
			return true
		}
	}
	return false
}

// rival returns the lowest broker beside one that advertises a name.
func (b *directory) rival(name string, but BrokerID) (lowest BrokerID) {
	for id, all := range b.robots { // the lowest: order decides nothing
		if id != but && all[name] != nil && (lowest == "" || id < lowest) {
			lowest = id
		}
	}
	return lowest
}
