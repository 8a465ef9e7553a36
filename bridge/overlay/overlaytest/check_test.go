package overlaytest

import (
	"fmt"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// messages counts what a change cost.
type messages struct{ subscribe, fetch, replay, unsubscribe, gone, broken, head, refresh, registry uint64 }

func (c *cluster) messages() messages {
	m := c.stats().Messages
	return messages{m.Subscribe, m.Fetch, m.Replay, m.Unsubscribe, m.Gone, m.Broken, m.Head, m.Refresh, m.Routed + m.Bulletin + m.Known}
}

// hops adds up the lengths of the paths of a client's keys.
func (s *schedule) hops(p *client) (n uint64) {
	for _, r := range s.brokers[p.at].b.Routes() {
		if r.Key.Client == p.name && r.Key.Session == p.birth() && r.Down == s.brokers[p.at].name {
			n += uint64(max(0, len(s.chain(r.Key))-1))
		}
	}
	return n
}

// quietNow reports whether nothing is new that a roam would bring with it.
func (s *schedule) quietNow(p *client) bool {
	if !s.calm || s.away > 0 || p.session == "" || p.anonymous || s.limited && s.behind(p) { // small inboxes may not have what is to be handed over
		return false
	}
	keys := 0
	for _, i := range s.sources {
		if s.appeared[i] && !slices.ContainsFunc(sortedKeys(p.nums), func(w string) bool { return p.key(w).Source == brokerName(i) }) && len(p.subs) > 0 {
			return false
		}
		for _, k := range s.brokers[i].b.Keys() {
			if k.Key.Client == p.name {
				keys++
			}
		}
	}
	return keys == len(p.nums)
}

// behind reports whether a source has given what the client has not had.
func (s *schedule) behind(p *client) bool {
	for word, num := range p.nums {
		if t := s.truth[p.key(word)]; t != nil && t.last > num {
			return true
		}
	}
	return false
}

// priceOfRoam is what it costs at best to roam to y.
func (s *schedule) priceOfRoam(p *client, y int) (price messages) {
	for _, word := range sortedKeys(p.nums) {
		k := p.key(word)
		path, chain := s.path(y, s.index(k.Source)), s.chain(k)
		junction := path[slices.IndexFunc(path, func(x int) bool { return slices.Contains(chain, x) })]
		toNew := slices.Index(path, junction)
		toOld := len(chain) - 1 - slices.Index(chain, junction)
		price.subscribe += uint64(toNew)
		price.fetch += uint64(toOld)
		price.replay += uint64(toOld)
		if t := s.truth[k]; t != nil && t.last > p.nums[word] {
			price.replay += uint64(toNew)
		}
	}
	return price
}

// quiet makes a change. In a calm schedule it costs exactly that.
func (s *schedule) quiet(what string, change func(), price messages) {
	if !s.calm || s.away > 0 {
		change()
		return
	}
	before := s.messages()
	change()
	s.settle()
	after := s.messages()
	cost := messages{
		after.subscribe - before.subscribe, after.fetch - before.fetch, after.replay - before.replay, after.unsubscribe - before.unsubscribe,
		after.gone - before.gone, after.broken - before.broken, after.head - before.head, after.refresh - before.refresh, 0,
	}
	if cost != price {
		failf("a %s cost %+v, at best it is %+v", what, cost, price)
	}
	if what != "roam" && s.every() && after.registry != before.registry {
		failf("a %s needs %d messages beside its own way", what, after.registry-before.registry)
	}
	s.marks["quiet "+what]++
}

// complete returns what a client still lacks; "" if nothing.
func (s *schedule) complete(p *client) string {
	if !p.connected() {
		return "it is not attached"
	}
	if waits := p.owed[p.conn]; len(waits) > 0 {
		return fmt.Sprintf("it is not answered: %v", waits)
	}
	for _, word := range sortedKeys(p.nums) {
		k := p.key(word)
		t := s.truth[k]
		if t == nil && p.unstored(k.Source) {
			if key, found := s.brokers[p.at].b.Key(k); !found || key.Retained > 0 {
				return word + " is behind, or has no key"
			}
			continue
		}
		if t == nil {
			return word + " is unknown"
		}
		if had := p.lives[word]; had.seq > t.common(had.life, len(t.past)) && !t.unknown {
			return fmt.Sprintf("%s has gone back, which it was not told: it had #%d of life %d", word, had.seq, had.life)
		}
		chain := s.chain(k)
		attached := len(chain) > 0 && chain[len(chain)-1] == p.at
		// A client that dropped its last subscription before its new edge knew
		// of the source wants nothing of it: there need be no way.
		if !attached && len(p.subs) > 0 {
			return word + " has no way"
		}
		for seq := p.nums[word] + 1; seq <= t.last; seq++ {
			if !s.passable(p, t, seq) {
				return fmt.Sprintf("%s is behind: %d of %d, %d names %v", word, p.nums[word], t.last, seq, ids(t.given(seq).names))
			}
		}
		if !attached {
			continue
		}
		var hash overlay.Hash
		for _, a := range p.subs {
			h := a.sub.Hash()
			carry := uint64(0)
			if hash.Lo += h.Lo; hash.Lo < h.Lo {
				carry = 1
			}
			hash.Hi += h.Hi + carry
		}
		if key, found := s.brokers[s.index(k.Source)].b.Key(k); !found || key.Hash != hash {
			return word + " has another set"
		}
	}
	if len(p.subs) == 0 {
		return ""
	}
	for _, i := range s.sources {
		if !slices.ContainsFunc(sortedKeys(p.nums), func(w string) bool { return p.key(w).Source == brokerName(i) }) {
			return "it does not know " + string(brokerName(i))
		}
	}
	return ""
}

func (s *schedule) passable(p *client, t *truth, seq uint64) bool {
	g := t.given(seq)
	if g.passed {
		return true
	}
	for _, s := range g.by {
		if a := p.subs[s.ID]; a != nil && a.isFor(g, s) && s.Trigger != protocol.TriggerChange {
			return false
		}
	}
	return g.is()
}

// finale repairs all. Everything arrives, then what is not in use goes, and
// when the clients stay away all goes.
func (s *schedule) finale() {
	s.registryUp = true
	for _, i := range s.sources {
		if !s.appeared[i] {
			s.appear(i)
		}
	}
	for _, i := range s.still() {
		s.release(i)
	}
	for _, i := range s.sources {
		s.robotState(i, protocol.RobotUp)
	}
	for _, l := range s.cuts() {
		s.up(l)
	}
	for _, d := range s.doubles {
		s.step(d.at, &overlay.Disconnected{Conn: d.conn})
	}
	for _, p := range s.clients {
		p.lazy = false
	}
	before := ""
	for i := 0; ; i++ {
		for _, p := range s.clients {
			for !p.connected() {
				p.attach(s.choice.Intn(len(s.brokers)))
			}
		}
		for range 6 { // the window lets no more come at once
			for _, p := range s.clients {
				p.acknowledge()
			}
			s.settle()
		}
		if i == 3 { // sources that were not named yet are, once something comes
			for _, x := range s.sources {
				for range 6 {
					s.publish(x)
				}
			}
			s.settle()
		}
		lacks := ""
		for _, p := range s.clients {
			l := s.complete(p)
			if l == "" {
				l = p.truthful()
			}
			if l == "" && i > 3 {
				l = p.changed()
			}
			if l != "" {
				lacks = p.name + ": " + l
			}
		}
		if lacks == "" && before == "" && i > 15 { // three leases, and some more; sources have been told what is acknowledged
			break
		}
		before = lacks
		if i > 60 {
			failf("in the end %s", lacks)
		}
		s.period()
	}
	s.nothingStray()
	s.undisturbed()
	s.onBestPaths()
	s.ownersAgree()
	s.ownersAreOldest()
	for _, p := range s.clients {
		p.detach()
	}
	for range 3 {
		s.now += overlay.Instant(s.cfg.Inbox.Keep)
		for range 3 {
			s.period()
			s.settle()
		}
	}
	for _, x := range s.brokers {
		fetches, dead, inboxes := x.b.Left()
		if st := x.b.Stats(); fetches+dead+inboxes+len(x.b.Routes())+len(x.b.Keys())+st.Clients != 0 || st.HeldBytes != 0 {
			failf("%s keeps %d fetches, %d tombstones, %d inboxes, %d routes, %d keys, %d clients, %d bytes", x.name, fetches, dead, inboxes, len(x.b.Routes()), len(x.b.Keys()), st.Clients, st.HeldBytes)
		}
	}
}

// nothingStray looks whether more is left than is in use.
func (s *schedule) nothingStray() {
	used := map[overlay.Key][]int{}
	for _, p := range s.clients {
		for _, r := range s.brokers[p.at].b.Routes() { // the client may not have been told of all
			if r.Key.Client == p.name && r.Key.Session == p.birth() && r.Down == s.brokers[p.at].name {
				used[r.Key] = s.chain(r.Key)
			}
		}
	}
	for i, x := range s.brokers {
		fetches, _, inboxes := x.b.Left()
		if fetches > 0 {
			failf("%s has a fetch left", x.name)
		}
		far := 0
		for _, r := range x.b.Routes() {
			chain := used[r.Key]
			if owner, _ := overlay.ClientOf(r.Key.Client); owner != otherToken && !slices.Contains(chain, i) {
				failf("%s has a stray route %s", x.name, describeKey(r.Key))
			}
			if r.Down == x.name && r.Key.Source != x.name {
				far++
			}
		}
		if inboxes != far {
			failf("%s has %d inboxes, %d in use", x.name, inboxes, far)
		}
		for _, k := range x.b.Keys() {
			if len(used[k.Key]) > 0 && k.Retained > 0 && !s.anyPassable(k) {
				failf("%s retains %d of %s", x.name, k.Retained, describeKey(k.Key))
			}
		}
	}
}

// anyPassable reports whether what is retained are numbers that were passed over
// towards the client. It cannot acknowledge them: what came over a connection
// before counts once the connection in use has gone that far.
func (s *schedule) anyPassable(k overlay.KeyInfo) bool {
	p := s.clients[slices.IndexFunc(s.clients, func(p *client) bool { return p.name == k.Key.Client })]
	word := overlay.SourceWord(k.Key.Source, k.Key.Stamp)
	done := min(p.wire[word], p.nums[word])
	for seq := done + 1; seq <= k.Last; seq++ {
		if !s.passable(p, s.truth[k.Key], seq) {
			return false
		}
	}
	return done >= k.Num && done < k.Last
}

// undisturbed looks whether anything was asked for twice without a fault.
func (s *schedule) undisturbed() {
	st := s.stats()
	if s.faults || s.away > 0 {
		return
	}
	if s.marks["gaps"] > 0 && !s.limited {
		failf("a fault without a fault: %d gaps", s.marks["gaps"])
	}
	// A change of the set that a hello has overtaken is not known to the source
	// yet (S7): it answers broken, and a renewal brings the set.
	if st.Messages.Broken > 0 && st.Unclear == 0 {
		failf("a fault without a fault: %d broken", st.Messages.Broken)
	}
	if (st.Renewals > 0 || st.Resent > 0) && !s.limited && st.Unclear == 0 {
		failf("the source was asked twice: %d renewals, %d sent again", st.Renewals, st.Resent)
	}
	if st.Expired > 0 {
		failf("%d routes expired", st.Expired)
	}
	for _, p := range s.clients {
		for word := range p.nums {
			k := p.key(word)
			chain := s.chain(k)
			if len(p.subs) == 0 && (len(chain) == 0 || chain[len(chain)-1] != p.at) {
				continue // as in complete
			}
			if len(chain) != len(s.path(p.at, s.index(k.Source))) {
				failf("%s takes %v, which is not the shortest way", describeKey(k), chain)
			}
		}
	}
}

// outOfReach lets periods pass in which nothing changes: who has got readings of a
// source broker that is out of reach by then has been told that its robot is away,
// if any broker in reach has heard of that broker's robots, and not forgotten it.
func (s *schedule) outOfReach() {
	s.settle()
	for range 8 {
		s.period()
		s.settle()
	}
	for _, p := range s.clients {
		if _, still := s.held[p.at]; still || !p.lists || !p.connected() || p.next != nil || p.doubted || len(p.subs) == 0 {
			continue
		}
		reached := s.reachedFrom(p.at)
		for _, i := range s.sources {
			robot := robotName(i)
			if _, had := p.had[robot]; !had || reached[i] || !s.heardBy(reached, i) {
				continue
			}
			s.marks["out of reach"]++
			if !p.processed.away[robot] {
				failf("%s was not told that %s is away, whose broker has been out of reach for 8 periods", p.name, robot)
			}
		}
	}
}
