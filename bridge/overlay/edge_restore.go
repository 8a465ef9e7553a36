package overlay

import "slices"

// restoreFar brings back the inbox of a key whose source is elsewhere, without
// what it held: the source sends that again.
func (b *edge) restoreFar(r *EntryRecord) {
	s := b.sessionOf(r.Key)
	if s == nil || b.far[r.Handle] != nil || b.inboxOf(r.Key) != nil {
		return
	}
	in := b.emptyInbox(s, r.Key, r.Num)
	in.handle, in.far = r.Handle, &far{stored: true}
	b.far[r.Handle] = in
	b.usage.keys++
	b.addInbox(s, in)
}

// doubt is what becomes of a session whose store has lost its end: what set the
// client has now is not known. Keys to other source brokers, which know it, are
// left to them until the client's hello: a renewal would bring an old set back.
// Without others nothing is left of it, and it is forgotten.
func (b *edge) doubt(s *session) (stays bool) {
	for _, in := range slices.Clone(s.inboxes) {
		if in.far != nil {
			b.dropKey(in)
		}
	}
	if len(s.inboxes) == 0 {
		b.dropSession(s)
		return false
	}
	s.unsure = true
	b.recordSession(s)
	return true
}

// startSession finds the session's live key, or makes the one that follows
// the keys that the store lost.
func (b *edge) startSession(s *session) {
	b.registry.attached(s)
	for _, in := range slices.Clone(s.inboxes) {
		switch {
		case in.ended && in.buf.empty():
			b.leave(in)
		case in.far != nil: // B1: it has no way up
			b.network.begin(in.key, s.epoch, in.buf.num, s.hash)
		case !in.ended && s.local == nil:
			s.local = in
			b.network.begin(in.key, s.epoch, 0, s.hash)
			b.source.restart(in.sequence)
		case !in.ended:
			b.leave(in) // no store of ours has two
		}
	}
	if s.came > 0 {
		b.awaitAll(s, s.came)
	}
	if s.local == nil && slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == b.cfg.ID }) {
		b.enter(s, nil)
	}
}
