package overlaytest

import (
	"slices"

	"callboard/bridge/overlay"
)

// keep copies a record that is valid until the next step only.
func keep(r overlay.Record) overlay.Record {
	g, ok := r.(*overlay.GivenRecord)
	if !ok {
		return r
	}
	return &overlay.GivenRecord{
		Reading: copied(g.Reading),
		At:      g.At, Hits: slices.Clone(g.Hits),
	}
}

// KeepAll copies records that are valid until the next step only, or that belong to
// another broker.
func KeepAll(records []overlay.Record) []overlay.Record {
	own := make([]overlay.Record, 0, len(records))
	for _, r := range records {
		own = append(own, keep(r))
	}
	return own
}

// Own returns an input for a second broker: what it points to belongs to the first.
func Own(in overlay.Input) overlay.Input {
	switch in := in.(type) {
	case *overlay.Matched:
		return &overlay.Matched{Hits: in.Hits, Reading: copied(in.Reading)}
	case *overlay.FrameReceived:
		return &overlay.FrameReceived{Neighbour: in.Neighbour, Session: in.Session, Messages: clone(in.Messages)}
	}
	return in
}

// Same reports whether two brokers did the same in their last step.
func Same(a, b *overlay.Broker) bool {
	of := func(b *overlay.Broker) digest {
		d := newDigest
		for _, r := range b.Records() {
			d.all(r)
		}
		for _, o := range b.Outputs() {
			d.all(o)
		}
		return d
	}
	return of(a) == of(b)
}
