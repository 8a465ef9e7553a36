package overlay

import "slices"

// A robot's name that several brokers advertise is that of the older claim, then of
// the lower broker id: who has the same bulletins comes to the same answer (D4). The
// others are refused.

// holdAll gives names to brokers, and has clients and the source here hear of what
// has changed. They are those of one broker's bulletin that have.
func (b *flooded) holdAll(names map[string]bool, of BrokerID) {
	contested := false
	for name := range names { // each by itself: order decides nothing
		before := b.holders[name]
		if after := b.holderOf(name, of); after != before {
			b.fresh[name] = true
			if b.holders[name] = after; after == "" {
				delete(b.holders, name)
			}
		}
		contested = contested || b.robots[b.cfg.ID][name] != nil
	}
	if contested {
		b.refuse(false)
	}
	b.nameFresh()
}

// holderOf returns the broker that a name belongs to, "" if none advertises it: one
// that may be the only one is named.
func (b *flooded) holderOf(name string, only BrokerID) (holder BrokerID) {
	switch {
	case b.claims[name] == 0:
		return ""
	case b.claims[name] == 1 && b.robots[only][name] != nil:
		return only
	}
	oldest := never
	for id, all := range b.robots { // the oldest, then the lowest: order decides nothing
		if one := all[name]; one != nil && (one.claimed < oldest || one.claimed == oldest && id < holder) {
			holder, oldest = id, one.claimed
		}
	}
	return holder
}

// refuse tells the source which of its robots are refused, and which others are for
// the sake of one of its own: if that is news, or again.
func (b *flooded) refuse(again bool) {
	m := Refusals{}
	for _, name := range sortedKeys(b.robots[b.cfg.ID]) {
		switch holder := b.holders[name]; {
		case holder != b.cfg.ID:
			m.Refused = append(m.Refused, Refusal{Robot: name, Broker: holder})
		case b.claims[name] > 1:
			m.Rivals = append(m.Rivals, Refusal{Robot: name, Broker: b.rival(name, b.cfg.ID)})
		}
	}
	if !again && slices.Equal(m.Refused, b.refusals.Refused) && slices.Equal(m.Rivals, b.refusals.Rivals) {
		return
	}
	m.Version = max(b.refusals.Version+1, uint64(max(b.now, 1)))
	b.refusals = m
	b.source.onRefusals(&m)
}

// whereIs returns the broker that reads a robot (D6); "" if none is known to.
func (b *flooded) whereIs(robot string) (to BrokerID, passesOn bool) { return b.holders[robot], false }

// answeredFrom learns nothing: the bulletins say where robots are.
func (b *flooded) answeredFrom(string, BrokerID, bool) (elsewhere bool) { return false }

func (b *flooded) readerOf(robot string) (at BrokerID, known bool) { return b.holders[robot], true }
