package overlay

// dearPeriods is for how many periods a way up is to be dearer than the best path
// before its key moves there.
const dearPeriods = 2

// tooDear reports, once a period, whether a key's way up has been dearer than the best
// path for long enough (H4).
func (b *edge) tooDear(in *inbox, r *route) bool {
	if in.far.dear++; !b.network.dearer(r) {
		in.far.dear = 0
	}
	return in.far.dear >= dearPeriods
}

// improve subscribes again, along the best path and all the way to the source. Nothing
// is missing, so nothing is sent again: what still comes down the old way ends there
// with a fetch, which this edge answers. If a link of the old way is lost meanwhile nobody
// says so, since it is this key's no more: a gap that stays is renewed a period sooner.
func (b *edge) improve(in *inbox) {
	s := in.session
	b.stats.Improved++
	b.nextRevision(s)
	b.recordSession(s)
	in.far.dear, in.far.moved = 0, true
	b.network.subscribe(&SubscribeMessage{Key: in.key, Epoch: s.epoch, Num: in.buf.last, Known: in.known(), Hash: s.hash, Missing: &Missing{}})
}
