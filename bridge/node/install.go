package node

import (
	"callboard/bridge/overlay"
	"callboard/subscribe"
)

// set is what the matcher holds for one key.
type set struct {
	members map[string]*subscribe.Subscription
	order   []*subscribe.Subscription // in the order of their coming
	tested  []tested
}

// tested tells by which Install.Set readings are tested from a version of the
// matcher on.
type tested struct{ version, set uint64 }

// installAll carries changes of keys' sets into the matcher, those of one key
// as one: what came in between has tested no reading. Installed goes to the
// queue's end: behind all readings that were tested before.
func (n *Node) installAll() {
	if len(n.installs) == 0 {
		return
	}
	var changed []overlay.Handle // in the order of their first change
	newest := map[overlay.Handle]uint64{}
	installs := n.installs
	n.installs = nil
	for _, in := range installs {
		s := n.sets[in.Handle]
		if s == nil || in.Whole {
			s = &set{members: map[string]*subscribe.Subscription{}}
			n.sets[in.Handle] = s
		}
		if len(in.Drop) > 0 || len(in.Put) > 0 || in.Whole {
			s.change(in)
			if _, known := newest[in.Handle]; !known {
				changed = append(changed, in.Handle)
			}
			newest[in.Handle] = in.Set
		}
	}
	var version uint64
	if len(changed) > 0 {
		sets := make([]subscribe.Set, len(changed))
		for i, h := range changed {
			sets[i] = subscribe.Set{Key: subscribe.Key(h), Subscriptions: n.sets[h].order}
		}
		version = n.config.Matcher.InstallAll(sets)
		n.robots.Barrier()
	}
	// After the barrier nothing older than the changes is tested any more, but
	// what was tested by the sets before may still wait in the queue.
	for _, h := range changed {
		s := n.sets[h]
		s.tested = append(s.tested, tested{version, newest[h]})
		if len(s.tested) > 64 {
			s.tested = append(s.tested[:0], s.tested[len(s.tested)-32:]...)
		}
	}
	for _, in := range installs {
		s := n.sets[in.Handle]
		counts := make(map[string]int, len(in.Count))
		for _, id := range in.Count {
			if sub := s.members[id]; sub != nil {
				counts[id] = n.robots.Count(sub)
			}
		}
		n.queue.must(item{in: &overlay.Installed{Handle: in.Handle, Set: in.Set, Robots: counts}})
	}
}

// change changes a key's set. What did not compile is left out.
func (s *set) change(in *install) {
	ended := make(map[string]bool, len(in.Drop))
	for _, id := range in.Drop {
		delete(s.members, id)
		ended[id] = true
	}
	var last []*subscribe.Subscription
	replaced := false
	for i, sub := range in.Put {
		if c := in.programs[i]; c != nil {
			if s.members[sub.ID] == nil {
				last = append(last, c)
			} else {
				replaced = true
			}
			s.members[sub.ID] = c
		}
	}
	if len(ended) > 0 || replaced {
		order := make([]*subscribe.Subscription, 0, len(s.members))
		for _, old := range s.order {
			if ended[old.Spec.ID] {
				continue // if the id comes again, it comes last
			}
			order = append(order, s.members[old.Spec.ID])
		}
		s.order = order
	}
	s.order = append(s.order, last...)
}

// prepareInstall has a change carried out with the others of its step, or once its
// conditions are compiled.
func (n *Node) prepareInstall(o *overlay.Install) {
	in := &install{Install: o, programs: make([]*subscribe.Subscription, len(o.Put))}
	for i, sub := range o.Put {
		in.programs[i] = n.compiled[sub]
	}
	if n.waiting[o.Handle] != nil || in.missing() > 0 {
		n.compileLater(in)
	} else {
		n.installs = append(n.installs, in)
	}
}

// setAt tells by which set a reading was tested.
func (s *set) setAt(version uint64) uint64 {
	for i := len(s.tested) - 1; i >= 0; i-- {
		if s.tested[i].version <= version {
			return s.tested[i].set
		}
	}
	if len(s.tested) > 0 {
		return s.tested[0].set
	}
	return 0
}

// subscriptionsOf lists the subscriptions that an input brings.
func subscriptionsOf(in overlay.Input) []*overlay.Subscription {
	switch in := in.(type) {
	case *overlay.Hello:
		return in.Subscriptions
	case *overlay.Subscribe:
		return []*overlay.Subscription{in.Subscription}
	case *overlay.Update:
		return []*overlay.Subscription{in.Subscription}
	}
	return nil
}
