package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
)

// truth is what the observer knows of a key.
type truth struct {
	last uint64
	life        // the present one
	past []life // those that the source's store has gone back from

	unknown bool // and only its client may know of it: nobody can tell
	oldSet  bool // the client's edge has gone back: its renewal may bring an older set back, until the client's hello
}

// life is what a key's source has given since its store went back last. What it
// gave before, up to where the store went back to, is in it too.
type life struct {
	given map[uint64]given
	lost  map[uint64]bool // given up by the source
	pass  map[uint64]bool // passed over by the source
	back  uint64          // of a past one: the last number that the next one has too
}

type given struct {
	reading string
	names   []string
	by      []*overlay.Subscription // the versions that matched
	set     overlay.Epoch           // of the source's set, when it was given
}

func newTruth() *truth {
	return &truth{life: life{given: map[uint64]given{}, lost: map[uint64]bool{}, pass: map[uint64]bool{}}}
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
		if g, ok := t.at(life).given[seq]; ok && g.reading == reading {
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
	now := t.life
	t.life.back = last
	t.past = append(t.past, t.life)
	t.life, t.last = newTruth().life, last
	for seq := uint64(1); seq <= last; seq++ {
		if g, ok := now.given[seq]; ok {
			t.given[seq] = g
		}
		if now.lost[seq] {
			t.lost[seq] = true
		}
		if now.pass[seq] {
			t.pass[seq] = true
		}
	}
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
			if r, found := c.route(i, k); found && r.Down == x.name {
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
			if r, found := c.route(i, k); found && i != y && r.Down == x.name {
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
		if r, found := c.route(i, k); found && r.Down == x.name {
			t.oldSet = true
		}
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
