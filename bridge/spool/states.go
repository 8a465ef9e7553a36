package spool

import "callboard/bridge/overlay"

// stateKey names a state of a subscription to changes and a robot that was given
// as true.
type stateKey struct {
	handle    overlay.Handle
	id, robot string
}

func (k stateKey) bytes() []byte {
	return append(append(memberKey(k.handle, k.id), 0), k.robot...)
}

// states follows the states of subscriptions to changes. Those that are true are
// kept, each with the reading that it was given with.
func (x *index) states(r *overlay.GivenRecord) {
	for i := range r.Hits {
		h := &r.Hits[i]
		e := x.entries[h.Handle]
		if e == nil {
			continue
		}
		for j := range h.Names {
			n := &h.Names[j]
			switch k := (stateKey{h.Handle, n.ID, r.Reading.Robot}); {
			case n.State == nil:
			case *n.State:
				x.isTrue(e, k, &overlay.StateRecord{Handle: h.Handle, ID: n.ID, Seq: h.Seq, Reading: r.Reading, Values: n.Values})
			default:
				x.isTrue(e, k, nil)
			}
		}
	}
}

// isTrue takes a state that is true, or (nil) one that is not any more.
func (x *index) isTrue(e *entryState, k stateKey, r *overlay.StateRecord) {
	if r == nil && !e.trues[k] {
		return
	}
	if e.trues == nil {
		e.trues = map[stateKey]bool{}
	}
	if r == nil {
		delete(e.trues, k)
		x.put(bucketStates, k.bytes(), nil)
	} else {
		e.trues[k] = true
		x.put(bucketStates, k.bytes(), r)
	}
}

// endStates forgets the states of a subscription, or ("") of all.
func (x *index) endStates(e *entryState, id string) {
	for k := range e.trues { // each by itself: the order decides nothing
		if id == "" || k.id == id {
			x.isTrue(e, k, nil)
		}
	}
}
