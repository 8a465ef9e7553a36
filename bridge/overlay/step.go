package overlay

import (
	"cmp"
	"fmt"
	"slices"

	"callboard/subscribe/protocol"
)

// step is what the parts of a broker have in common: the configuration, the time,
// and what the present step gives out.
type step struct {
	cfg       Config
	now       Instant
	started   bool
	networked bool    // it has or had a neighbour
	period    Instant // when the next one begins

	lastHandle Handle
	selectors  selectors
	usage      usage
	stats      Stats
	crowd      crowd

	out     []Output
	records []Record
	givens  []*GivenRecord // to be used again
	given   int            // of givens, in records now
	taken   bool           // out and records have been taken
}

func (b *step) begin() {
	if !b.taken {
		return
	}
	b.taken = false
	clear(b.out)
	clear(b.records)
	b.out, b.records = b.out[:0], b.records[:0]
	for _, g := range b.givens[:b.given] {
		clear(g.Hits)
		*g = GivenRecord{Hits: g.Hits[:0]}
	}
	b.given = 0
}

func (b *step) put(o Output) { b.out = append(b.out, o) }

func (b *step) record(r Record) { b.records = append(b.records, r) }

func (b *step) send(c Conn, m any) { b.put(&Send{Conn: c, Message: m}) }

// newGiven returns a record for a reading, which is appended when it has hits.
func (b *step) newGiven(r *Reading) *GivenRecord {
	if b.given == len(b.givens) {
		b.givens = append(b.givens, &GivenRecord{})
	}
	g := b.givens[b.given]
	g.Reading, g.At = r, b.now
	b.given++
	b.record(g)
	return g
}

// fail answers what a client may not do.
func (b *step) fail(c Conn, id string, code protocol.Code, format string, args ...any) {
	b.send(c, &protocol.Error{Op: protocol.OpError, ID: id, Code: code, Message: fmt.Sprintf(format, args...)})
}

// leasePeriods is how many periods a route or tombstone lives without a
// refresh; three do not suffice.
const leasePeriods = 4

func (b *step) lease() Instant { return b.now + leasePeriods*Instant(b.cfg.Heartbeat) }

// local reports whether the client's edge is here.
func (b *step) local(r *route) bool { return r.down == b.cfg.ID }

// sortedKeys returns a map's keys in order; of an empty one, as most are, none.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	if len(m) == 0 {
		return nil
	}
	keys := make([]K, 0, len(m))
	for k := range m { // to be sorted: order decides nothing
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
