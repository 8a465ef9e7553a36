package overlay

import "slices"

// crowd is what is more than half full of what clients have not acknowledged.
// Whoever reads robots that can wait (a replay as fast as possible) waits as
// long as there is any, and then nothing is given up. A full inbox of a client
// that is away counts like any other, until its session ends.
type crowd struct{ inboxes []*inbox }

// note adds an inbox to the crowd if it is more than half full.
func (b *step) note(in *inbox) {
	if b.fuller(in, 2) && !slices.Contains(b.crowd.inboxes, in) {
		b.crowd.inboxes = append(b.crowd.inboxes, in)
	}
}

// fuller tells whether an inbox is fuller than a part of its limits.
func (b *step) fuller(in *inbox, part int) bool {
	return in.buf.count > b.cfg.Inbox.Count/part || in.buf.bytes > b.cfg.Inbox.Bytes/part
}

// Crowded tells how many inboxes were more than half full and are not less
// than a quarter full since.
func (b *Broker) Crowded() int {
	if len(b.crowd.inboxes) > 0 {
		b.crowd.inboxes = slices.DeleteFunc(b.crowd.inboxes, func(in *inbox) bool { return !b.fuller(in, 4) })
	}
	return len(b.crowd.inboxes)
}
