package overlay

import "slices"

// A robot's name is one broker's in the whole network: that of the broker which
// the registry has heard of it first. Another that reads a robot of that name
// is refused: its readings go to nobody, and both brokers say so.

// gracePeriods is for how many periods a registry that has just begun leaves a
// name to nobody rather than to a broker that was refused it before.
const gracePeriods = leasePeriods

// claim brings what a broker advertises up to date, and returns the names in it
// to brokers.
func (b *registry) claim(id BrokerID, robots []*robot) {
	stays := make(map[string]bool, len(robots))
	touched := map[string]bool{}
	for _, one := range robots {
		stays[one.name] = true
		if old := b.advertise(id, one); old == nil || old.refused != one.refused {
			touched[one.name] = true
		}
	}
	for name := range b.robots[id] { // order decides nothing
		if !stays[name] {
			b.withdraw(id, name)
			touched[name] = true
		}
	}
	b.holdAll(touched, id)
}

// holdAll gives names to brokers, and tells those whose refusals have changed,
// one of which is named.
func (b *registry) holdAll(names map[string]bool, also BrokerID) {
	settled := b.began+gracePeriods*Instant(b.cfg.Heartbeat) <= b.now
	contested := false
	for name := range names { // each by itself: order decides nothing
		before := b.holders[name]
		b.hold(name, settled)
		if b.holders[name] != before {
			b.fresh[name] = true
		}
		contested = contested || b.claims[name] > 1 || b.holders[name] != before && before != ""
	}
	if contested {
		for _, id := range sortedKeys(b.brokers) {
			b.refuse(id)
		}
	} else if b.brokers[also] != nil {
		b.refuse(also)
	}
}

// hold gives a name to a broker: the one that has it, as long as it advertises
// it; else the lowest that was not refused it; else, after a while, the lowest.
func (b *registry) hold(name string, settled bool) {
	before := b.holders[name]
	if b.robots[before][name] != nil {
		return
	}
	var first, refused BrokerID
	for id, all := range b.robots { // the lowest: order decides nothing
		switch one := all[name]; {
		case one == nil:
		case one.refused && (refused == "" || id < refused):
			refused = id
		case !one.refused && (first == "" || id < first):
			first = id
		}
	}
	if first == "" && (settled || before != "") { // whoever had it has it no more
		first = refused
	}
	if first == "" {
		delete(b.holders, name)
	} else {
		b.holders[name] = first
	}
}

// holdRefused looks once a period at the names that nobody has.
func (b *registry) holdRefused() {
	free := map[string]bool{}
	for _, r := range b.brokers { // all of them: order decides nothing
		for _, f := range r.refused {
			if b.holders[f.Robot] == "" {
				free[f.Robot] = true
			}
		}
	}
	if len(free) > 0 {
		b.holdAll(free, "")
	}
}

// refuse tells a broker which of its robots are refused, and which others were
// for the sake of one of its own, if that is news.
func (b *registry) refuse(id BrokerID) {
	r := b.brokers[id]
	var refused, rivals []Refusal
	for _, name := range sortedKeys(b.robots[id]) {
		holder := b.holders[name]
		switch {
		case holder != id:
			refused = append(refused, Refusal{Robot: name, Broker: holder})
		case b.claims[name] > 1:
			rivals = append(rivals, Refusal{Robot: name, Broker: b.rival(name, id)})
		}
	}
	if slices.Equal(refused, r.refused) && slices.Equal(rivals, r.rivals) {
		return
	}
	r.refused, r.rivals = refused, rivals
	r.refusals = max(r.refusals+1, uint64(max(b.now, 0)))
	b.tellRefusals(id)
}

func (b *registry) tellRefusals(id BrokerID) {
	r := b.brokers[id]
	b.network.route(id, &Refusals{Version: r.refusals, Refused: r.refused, Rivals: r.rivals})
}
