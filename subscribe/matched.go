package subscribe

import (
	"cmp"
	"slices"

	"callboard/player"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Matched is one reading that subscriptions matched.
type Matched struct {
	Device    *player.Device
	Interface string // as Player names it: laser, ranger, …
	Index     int
	Time      float64 // s, the reading's
	// Reading is the reading as an object (protocol.Seal), encoded once for all; nil if every
	// matching subscription selects or asks for messages, or nobody wants it.
	Reading []byte
	// Messages are those that the reading came of, as Player sends them; nil if
	// no matching subscription asks for them. See protocol.Notify.
	Messages []byte
	Matches  []KeyMatches // by ascending key
	// Version is that of the matcher by which the reading was tested.
	Version uint64
}

// KeyMatches are the subscriptions of one key that a reading matched.
type KeyMatches struct {
	Key           Key
	Subscriptions []Match // by ascending id
}

// Match is one subscription that a reading matched.
type Match struct {
	ID     string
	State  *bool  // for the trigger "change": the state that it changed to
	Values []byte // for select: an object; protocol.NoValues: the messages go out; nil: the reading
	Latest bool   // keep is "latest": of what waits only the newest counts
}

// emit hands over what was found for a reading.
func (s *Session) emit(a *view.Arrival) {
	if s.mute {
		return
	}
	slices.SortFunc(s.found, func(x, y found) int {
		if x.key != y.key {
			return cmp.Compare(x.key, y.key)
		}
		return cmp.Compare(x.entry.sub.Spec.ID, y.entry.sub.Spec.ID)
	})
	m := &Matched{Device: a.Device, Interface: a.Interface, Index: int(a.Device.Index), Time: a.Time, Version: s.snapshot.version}
	matches := make([]Match, 0, len(s.found))
	keys, whole, messages := 0, false, false
	for i, f := range s.found {
		if i == 0 || f.key != s.found[i-1].key {
			keys++
		}
		whole = whole || f.entry.sub.whole()
		messages = messages || f.entry.sub.Spec.Messages
		matches = append(matches, s.content(f))
	}
	m.Matches = make([]KeyMatches, 0, keys)
	for i := 0; i < len(s.found); {
		end := i + 1
		for end < len(s.found) && s.found[end].key == s.found[i].key {
			end++
		}
		m.Matches = append(m.Matches, KeyMatches{s.found[i].key, matches[i:end:end]})
		i = end
	}
	if whole && !s.config.Bare {
		m.Reading = s.encode(a)
	}
	if messages && !s.config.Bare {
		m.Messages = slices.Clone(a.Messages)
	}
	s.config.Emit(m)
}

// encode encodes a reading for all that match it. A device's readings are
// about equally long: its last one says how much room to make, and what stays
// of it is little, for readings may wait long in inboxes.
func (s *Session) encode(a *view.Arrival) []byte {
	length := s.lengths[a.Device]
	b := protocol.Seal(view.AppendText(make([]byte, 0, length+length/32), a.View))
	if cap(b)-len(b) > len(b)/8 {
		b = slices.Clone(b)
	}
	if len(b) != length {
		s.lengths[a.Device] = len(b)
	}
	return b
}

// states that matches point to.
var isTrue, isFalse = true, false

// content is what a match sends.
func (s *Session) content(f found) Match {
	spec := &f.entry.sub.Spec
	m := Match{ID: spec.ID, Latest: spec.Keep == protocol.KeepLatest}
	if trigger(spec) == protocol.TriggerChange {
		m.State = &isFalse
		if f.state {
			m.State = &isTrue
		}
	}
	switch {
	case spec.Messages:
		m.Values = protocol.NoValues
	case len(f.entry.sub.selected) > 0:
		m.Values = s.values(f.entry)
	}
	return m
}

// values evaluates what a subscription selects.
func (s *Session) values(e *entry) []byte {
	b := append(s.buffer[:0], '{')
	for i, sel := range e.sub.selected {
		if i > 0 {
			b = append(b, ',')
		}
		b = view.AppendString(b, sel.name)
		b = append(b, ':')
		var err error
		if b, err = sel.program.AppendValue(b, &s.machine, &s.env); err != nil {
			s.counts.failures++
			s.failed(e, "select "+sel.name+": "+err.Error())
		}
	}
	s.buffer = append(b, '}')
	return slices.Clone(protocol.Seal(s.buffer))
}
