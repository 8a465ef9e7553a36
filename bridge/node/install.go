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
	for _, o := range n.installs {
		s := n.sets[o.Handle]
		if s == nil || o.Whole {
			s = &set{members: map[string]*subscribe.Subscription{}}
			n.sets[o.Handle] = s
		}
		if len(o.Drop) > 0 || len(o.Put) > 0 || o.Whole {
			n.change(s, o)
			if _, known := newest[o.Handle]; !known {
				changed = append(changed, o.Handle)
			}
			newest[o.Handle] = o.Set
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
	for _, o := range n.installs {
		s := n.sets[o.Handle]
		counts := make(map[string]int, len(o.Count))
		for _, id := range o.Count {
			if sub := s.members[id]; sub != nil {
				counts[id] = n.robots.Count(sub)
			}
		}
		n.queue.must(item{in: &overlay.Installed{Handle: o.Handle, Set: o.Set, Robots: counts}})
	}
	clear(n.installs)
	n.installs = n.installs[:0]
}

// change changes a key's set.
func (n *Node) change(s *set, o *overlay.Install) {
	ended := make(map[string]bool, len(o.Drop))
	for _, id := range o.Drop {
		delete(s.members, id)
		ended[id] = true
	}
	var last []*subscribe.Subscription
	replaced := false
	for _, sub := range o.Put {
		if c := n.compiledOf(o, sub); c != nil {
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

// compiledOf gives the compiled form of a subscription: from the message that
// brought it, else (after a restart) compiled now. One that does not compile
// any more is reported and matches nothing.
func (n *Node) compiledOf(o *overlay.Install, sub *overlay.Subscription) *subscribe.Subscription {
	if c := n.compiled[sub]; c != nil {
		return c
	}
	c, problem := n.config.Matcher.Compile(sub.Subscription)
	if problem != nil {
		n.queue.must(item{in: &overlay.RunFailed{
			Handle: o.Handle, ID: sub.ID, Code: problem.Code, Message: problem.Message, Position: problem.Position,
		}})
		return nil
	}
	c.Allowed = sub.Allowed
	return c
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
