package overlay

import "slices"

// crowd is what is more than half full of what clients have not acknowledged.
// Whoever reads robots that can wait (a replay as fast as possible) waits as
// long as there is any, and then nothing is given up. A full inbox of a client
// that is away counts like any other, until its session ends.
type crowd struct{ sequences []*sequence }

// note adds a sequence to the crowd if it is more than half full.
func (b *step) note(q *sequence) {
	if b.fuller(q, 2) && !slices.Contains(b.crowd.sequences, q) {
		b.crowd.sequences = append(b.crowd.sequences, q)
	}
}

// fuller reports whether a sequence is fuller than a part of an inbox's limits.
func (b *step) fuller(q *sequence, part int) bool {
	return q.buf.count > b.cfg.Inbox.Count/part || q.buf.bytes > b.cfg.Inbox.Bytes/part
}

// Crowded returns how many inboxes were more than half full and are not less
// than a quarter full since.
func (b *Broker) Crowded() int {
	if len(b.crowd.sequences) > 0 {
		b.crowd.sequences = slices.DeleteFunc(b.crowd.sequences, func(q *sequence) bool { return !b.fuller(q, 4) })
	}
	return len(b.crowd.sequences)
}
