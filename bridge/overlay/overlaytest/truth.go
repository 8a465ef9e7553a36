package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// truth is what the observer knows of a key.
type truth struct {
	last uint64
	life        // the present one
	past []life // those that the source's store has gone back from

	unknown bool // and only its client may know of it: nobody can tell
}

// life is what a key's source has given since its store went back last. What it
// gave before, up to where the store went back to, is in it too.
type life struct {
	numbers   []given // from the first that is not forgotten
	forgotten uint64
	back      uint64 // of a past one: the last number that the next one has too
}

// given is a number, and what it was given as.
type given struct {
	reading string // "": nothing
	names   []protocol.Matched
	by      []*overlay.Subscription // the versions that matched
	set     overlay.Epoch           // of the source's set, when it was given
	lost    bool                    // given up by the source
	passed  bool                    // passed over by the source
}

// is reports whether the number was given.
func (g *given) is() bool { return g.reading != "" }

// given returns what a number was given as.
func (l *life) given(seq uint64) (g given) {
	if seq > l.forgotten && seq-l.forgotten <= uint64(len(l.numbers)) {
		g = l.numbers[seq-l.forgotten-1]
	}
	return g
}

// number is where what is known of a number is kept, which is not forgotten.
func (l *life) number(seq uint64) *given {
	for seq-l.forgotten > uint64(len(l.numbers)) {
		l.numbers = append(l.numbers, given{})
	}
	return &l.numbers[seq-l.forgotten-1]
}

// forget forgets all up to a number.
func (l *life) forget(seq uint64) {
	l.numbers, l.forgotten = l.numbers[min(uint64(len(l.numbers)), seq-l.forgotten):], seq
}

func (t *truth) give(seq uint64, g given) {
	n := t.number(seq)
	g.lost, g.passed = n.lost, n.passed
	t.last, *n = seq, g
	if past := len(t.past) - 1; past >= 0 && t.past[past].back == seq-1 && g.alike(t.past[past].given(seq)) {
		t.past[past].back = seq
	}
}

// alike reports whether two numbers were given alike: a source that starts again ends
// the states that its store has as true, and does so again when that has gone back.
func (g *given) alike(other given) bool {
	return g.is() && g.reading == other.reading && slices.EqualFunc(g.names, other.names, func(a, b protocol.Matched) bool {
		return a.ID == b.ID && (a.State == nil) == (b.State == nil) && (a.State == nil || *a.State == *b.State)
	})
}

func (t *truth) lose(from, to uint64) {
	for seq := max(from, t.forgotten+1); seq <= to; seq++ {
		t.number(seq).lost = true
	}
	t.last = max(t.last, to)
}

func (t *truth) passOver(from, to uint64) {
	for seq := max(from, t.forgotten+1); seq <= to; seq++ {
		t.number(seq).passed = true
	}
}

// at returns a life by its number: past ones from 0, then the present one.
func (t *truth) at(life int) *life {
	if life < len(t.past) {
		return &t.past[life]
	}
	return &t.life
}

// lifeOf returns the newest life in which a number was given as this reading.
func (t *truth) lifeOf(seq uint64, reading string) (life int, found bool) {
	for life = len(t.past); life >= 0; life-- {
		if g := t.at(life).given(seq); g.is() && g.reading == reading {
			return life, true
		}
	}
	return 0, false
}

// common is the highest number that is the same in two lives.
func (t *truth) common(one, other int) uint64 {
	common := ^uint64(0)
	for i := min(one, other); i < max(one, other); i++ {
		common = min(common, t.past[i].back)
	}
	return common
}

// goBack begins another life, which has what was given up to a number.
func (t *truth) goBack(last uint64) {
	t.life.back = last
	t.past = append(t.past, t.life)
	t.life, t.last = life{numbers: slices.Clone(t.numbers[:min(last, uint64(len(t.numbers)))])}, last
}

// lasts returns the last number of each key of a source broker as a store has
// it, by what the store's records say.
func lasts(records []overlay.Record, source overlay.BrokerID) (last map[overlay.Key]uint64, keys map[overlay.Handle]overlay.Key) {
	last, keys = map[overlay.Key]uint64{}, map[overlay.Handle]overlay.Key{}
	reach := func(h overlay.Handle, seq uint64) {
		if k, known := keys[h]; known && k.Source == source {
			last[k] = max(last[k], seq)
		}
	}
	for _, r := range records {
		switch r := r.(type) {
		case *overlay.EntryRecord:
			keys[r.Handle] = r.Key
			reach(r.Handle, r.Next-1)
		case *overlay.GivenRecord:
			for _, h := range r.Hits {
				reach(h.Handle, h.Seq)
			}
		case *overlay.GapRecord:
			reach(r.Handle, r.To)
		}
	}
	return last, keys
}

// leftBehind reports whether an edge that a key's client has left, or is about
// to attach to, has a route for it, or a hello that it has not taken yet. Such an edge may get what a source that has
// gone back gives anew before anybody who knows has told it.
func (c *cluster) leftBehind(k overlay.Key) bool {
	for _, p := range c.clients {
		for i, x := range c.brokers {
			if p.name != k.Client || i == p.at {
				continue
			}
			says := func(in overlay.Input) bool { h, hello := in.(*overlay.Hello); return hello && h.Client == p.name }
			if slices.ContainsFunc(c.held[i], says) {
				return true
			}
			if r, found := c.brokers[i].b.Route(k); found && r.Down == x.name {
				return true
			}
		}
	}
	return false
}

// cutOff takes note of a client that attaches to y while another edge has numbers
// of a source's earlier life, of which the source has not heard yet: when the
// client comes back there, nobody can tell whose number it says.
func (c *cluster) cutOff(p *client, y int) {
	for k, t := range c.truth {
		if k.Client != p.name || len(t.past) == 0 {
			continue
		}
		for i, x := range c.brokers {
			if r, found := c.brokers[i].b.Route(k); found && i != y && r.Down == x.name {
				t.unknown = true
			}
		}
	}
}

// goBack starts a broker with its store as it was after one of its earlier
// steps: somebody has put an old copy of its data in the place of what it had.
func (c *cluster) goBack(i, steps int) {
	x := c.brokers[i]
	at := max(0, len(x.stored)-1-steps)
	if at == len(x.stored) {
		return // it has stored nothing yet
	}
	records := slices.Clone(x.records[:x.stored[at]])
	last, keys := lasts(records, x.name)
	for k, t := range c.truth {
		if k.Source == x.name && t.last > last[k] {
			t.goBack(last[k])
			t.unknown = t.unknown || c.leftBehind(k)
			c.marks["went back"]++
		}
	}
	c.keyOf[i] = keys
	c.lost[x.name] = true
	c.start(i, records, false)
}
