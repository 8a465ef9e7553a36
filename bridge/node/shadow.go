package node

import (
	"callboard/bridge/overlay"
	"callboard/bridge/shadow"
	"callboard/subscribe"
)

// What a pair's active tells its standby, beside what it stores, and what the standby
// makes of it.

// takeBeside takes what goes to the standby with the next batch. Without one nothing
// is noted.
func (n *Node) takeBeside() []byte {
	r := n.config.Recorder
	if r == nil || n.terms == nil || !r.Wanted() {
		n.beside = nil
		return nil
	}
	if !n.terms.Followed() {
		r.Want(false)
		n.beside = nil
		return nil
	}
	beside := r.Take(n.beside)
	n.beside = nil
	return beside
}

// tellStandby does so though nothing else is to be stored.
func (n *Node) tellStandby() {
	n.stepping.Lock()
	defer n.stepping.Unlock()
	if n.started && !n.stepped {
		n.hold(nil, nil)
	}
}

// TellAll has the standby, which asks for it, be told all that the matcher holds, and
// from now on what is tested.
func (n *Node) TellAll() {
	if n.config.Recorder != nil {
		n.config.Recorder.Want(true)
		n.installs.must(&install{tells: true})
	}
}

// tellSets says that a change becomes visible, in the broker's goroutine.
func (n *Node) tellSets(change *subscribe.Change, all []*install) {
	if n.config.Recorder == nil || !n.config.Recorder.Wanted() {
		return
	}
	x := &shadow.Sets{Version: change.Version()}
	for _, in := range all {
		if in.ends || in.Whole || len(in.Drop)+len(in.Put) > 0 {
			x.Changes = append(x.Changes, shadow.SetChange{Handle: in.Handle, Ends: in.ends, Whole: in.Whole, Drop: in.Drop, Put: bare(in.Put)})
		}
	}
	if len(x.Changes) > 0 {
		n.beside = shadow.Append(n.beside, x)
	}
}

// bare are subscriptions without what the matcher does not need.
func bare(all []*overlay.Subscription) []*overlay.Subscription {
	out := make([]*overlay.Subscription, len(all))
	for i, s := range all {
		out[i] = &overlay.Subscription{Subscription: s.Subscription, Allowed: s.Allowed}
	}
	return out
}

// maxTold is how many subscriptions go into one batch.
const maxTold = 1000

// tell tells the standby all sets, in several batches.
func (i *installer) tell() {
	n := i.node
	version := n.config.Matcher.Version()
	var changes []shadow.SetChange
	count := 0
	send := func(more bool) {
		x := &shadow.Sets{Version: version, Whole: true, More: more, Changes: changes}
		changes, count = nil, 0
		n.queue.must(item{ask: func() {
			n.carryOut() // before it
			n.beside = shadow.Append(n.beside, x)
			n.hold(nil, nil)
		}})
	}
	for h, s := range i.sets { // each by itself: order decides nothing
		c := shadow.SetChange{Handle: h, Whole: true}
		for _, sub := range s.order {
			c.Put = append(c.Put, &overlay.Subscription{Subscription: sub.Spec, Allowed: sub.Allowed})
		}
		changes = append(changes, c)
		if count += 1 + len(c.Put); count >= maxTold {
			send(true)
		}
	}
	send(false)
}

// followed are the sets of the active's matcher, at the standby. It belongs to the
// goroutine that the active's items are followed in, until Run.
type followed struct {
	keys     map[overlay.Handle]*set
	hashes   map[overlay.Handle]map[string]overlay.Hash
	versions []followedVersion
	whole    []shadow.SetChange // of what is coming
	complete bool
}

type followedVersion struct {
	version uint64
	change  *subscribe.Change
}

// maxFollowed is how many versions a robot's readings may be behind.
const maxFollowed = 64

// FollowSets has a broker that is not run take what the active's matcher holds.
func (n *Node) FollowSets(x *shadow.Sets) {
	f := n.followed
	switch {
	case f == nil:
		f = &followed{keys: map[overlay.Handle]*set{}, hashes: map[overlay.Handle]map[string]overlay.Hash{}}
		n.followed = f
	case x.Whole && f.complete:
		return // asked for twice
	}
	changes := x.Changes
	if x.Whole {
		if f.whole = append(f.whole, x.Changes...); x.More {
			return
		}
		changes, f.whole = f.whole, nil
		for h := range f.keys {
			changes = append([]shadow.SetChange{{Handle: h, Ends: true}}, changes...)
		}
		f.complete = true
	} else if !f.complete {
		return
	}
	change := n.config.Matcher.Prepare(f.change(n.config.Matcher, changes))
	change.Publish()
	if len(f.versions) == maxFollowed {
		f.versions = f.versions[1:]
	}
	f.versions = append(f.versions, followedVersion{x.Version, change})
}

// change carries changes out in the sets.
func (f *followed) change(m *subscribe.Matcher, changes []shadow.SetChange) []subscribe.Set {
	var changed []overlay.Handle
	for _, c := range changes {
		changed = append(changed, c.Handle)
		if c.Ends {
			delete(f.keys, c.Handle)
			delete(f.hashes, c.Handle)
			continue
		}
		s := f.keys[c.Handle]
		if s == nil || c.Whole {
			s = &set{}
			f.keys[c.Handle], f.hashes[c.Handle] = s, map[string]overlay.Hash{}
		}
		in := &install{Install: &overlay.Install{Handle: c.Handle, Drop: c.Drop, Put: c.Put}}
		for _, sub := range c.Put {
			program, problem := m.Compile(sub.Subscription)
			if problem != nil { // so it did at the active, which has told it
				in.programs = append(in.programs, nil)
				continue
			}
			program.Allowed = sub.Allowed
			in.programs = append(in.programs, program)
			f.hashes[c.Handle][sub.ID] = sub.Hash()
		}
		s.change(in)
	}
	sets := make([]subscribe.Set, 0, len(changed))
	for _, h := range changed {
		of := subscribe.Set{Key: subscribe.Key(h)}
		if s := f.keys[h]; s != nil {
			of.Subscriptions = s.order
		}
		sets = append(sets, of)
	}
	return sets
}

// HasSets reports whether the active's sets are all here.
func (n *Node) HasSets() bool { return n.followed != nil && n.followed.complete }

// ForgetSets says that the active begins to tell anew.
func (n *Node) ForgetSets() {
	if n.followed != nil {
		n.followed.complete, n.followed.whole, n.followed.versions = false, nil, nil
	}
}

// By returns the change in which what the active tested by a version became visible;
// nil: it is not known.
func (n *Node) By(version uint64) *subscribe.Change {
	if n.followed == nil {
		return nil
	}
	all := n.followed.versions
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].version <= version {
			return all[i].change
		}
	}
	return nil
}

// program returns the compiled form of a subscription that the active had installed
// for a key, as it is: so its policies go on (R4).
func (f *followed) program(h overlay.Handle, sub *overlay.Subscription) *subscribe.Subscription {
	if f == nil || f.hashes[h][sub.ID] != bare([]*overlay.Subscription{sub})[0].Hash() {
		return nil
	}
	return f.keys[h].members.Get(sub.ID)
}

// sets are those that there are.
func (f *followed) sets() map[overlay.Handle]*set {
	if f == nil {
		return nil
	}
	return f.keys
}

// hand hands them to an installer.
func (f *followed) hand() map[overlay.Handle]*set {
	if f == nil {
		return map[overlay.Handle]*set{}
	}
	return f.keys
}
