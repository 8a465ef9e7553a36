package node

import (
	"context"
	"slices"

	"callboard/bridge/few"
	"callboard/bridge/overlay"
	"callboard/subscribe"
)

// install is a change of a key's set that is to be carried out, with the
// compiled forms of its Put, nil for those that no message of a client here has
// brought (they come from another broker, or from an earlier life) and for those
// that do not compile any more.
type install struct {
	*overlay.Install
	programs []*subscribe.Subscription
	ends     bool // the key has ended
	tells    bool // instead: all sets are told to the standby
	restored bool // an earlier life has left it
}

// missing counts the subscriptions that have no compiled form yet.
func (in *install) missing() (n int) {
	for _, p := range in.programs {
		if p == nil {
			n++
		}
	}
	return n
}

// prepareInstall has a change carried out beside the broker's goroutine, once its
// conditions are compiled.
func (n *Node) prepareInstall(o *overlay.Install) {
	if n.tested[o.Handle] == nil {
		n.tested[o.Handle] = &tested{}
	}
	in := &install{Install: o, programs: make([]*subscribe.Subscription, len(o.Put)), restored: !n.started}
	for i, sub := range o.Put {
		in.programs[i] = n.compiled[sub]
		if in.programs[i] == nil && in.restored {
			in.programs[i] = n.followed.program(o.Handle, sub)
		}
	}
	if in.restored {
		n.restoring++
	}
	if n.waiting[o.Handle] != nil || in.missing() > 0 {
		n.compileLater(in)
	} else {
		n.installs.must(in)
	}
}

// uninstall ends a key. A reading that names it from now on is of nobody.
func (n *Node) uninstall(h overlay.Handle) {
	n.endWaiting(h)
	delete(n.tested, h)
	n.installs.must(&install{Install: &overlay.Install{Handle: h}, ends: true})
}

// maxTogether is how many changes are carried out as one: so many keys the
// broker's goroutine goes through when they become visible.
const maxTogether = 1024

// installer carries changes of keys' sets into the matcher, in order. All work
// that grows with the sets is done in its goroutine, beside the broker's.
type installer struct {
	node *Node
	sets map[overlay.Handle]*set
}

// run carries out what is to be installed, until ctx ends.
func (i *installer) run(ctx context.Context) {
	var spent []*install
	for {
		select {
		case <-i.node.installs.ready:
		case <-ctx.Done():
			return
		}
		spent = i.node.installs.take(spent)
		for left := spent; len(left) > 0; {
			some := left[:min(len(left), maxTogether)]
			if at := slices.IndexFunc(some, func(in *install) bool { return in.tells }); at == 0 {
				i.tell()
				left = left[1:]
				continue
			} else if at > 0 {
				some = some[:at]
			}
			if !i.install(ctx, some) {
				return
			}
			left = left[len(some):]
		}
		clear(spent)
	}
}

// install carries changes out, those of one key as one: what came in between
// has tested no reading. The matcher's next version is made here; the broker's
// goroutine only makes it visible, at a point between two steps, so that it knows
// by which set a reading of that version was tested. Installed goes to the queue's
// end: behind all readings that were tested before. It returns false if ctx has ended.
func (i *installer) install(ctx context.Context, some []*install) bool {
	newest := i.change(some)
	sets := make([]subscribe.Set, len(newest))
	for k, in := range newest {
		sets[k].Key = subscribe.Key(in.Handle)
		if s := i.sets[in.Handle]; s != nil {
			sets[k].Subscriptions = s.order
		}
	}
	change := i.node.config.Matcher.Prepare(sets)
	if !i.publish(ctx, change, newest, some) {
		return false
	}
	if len(newest) > 0 {
		i.node.robots.Barrier()
	}
	for _, in := range some {
		if in.ends {
			continue
		}
		counts := make(map[string]int, len(in.Count))
		if s := i.sets[in.Handle]; s != nil {
			for _, id := range in.Count {
				if sub := s.members.Get(id); sub != nil {
					counts[id] = i.node.robots.Count(sub)
				}
			}
		}
		i.node.queue.must(item{in: &overlay.Installed{Handle: in.Handle, Set: in.Set, Robots: counts}})
	}
	return true
}

// change changes the sets and returns the last change of each, in the order of
// their first.
func (i *installer) change(some []*install) (newest []*install) {
	place := map[overlay.Handle]int{} // in newest
	for _, in := range some {
		s := i.sets[in.Handle]
		switch {
		case in.ends:
			delete(i.sets, in.Handle)
		case s == nil || in.Whole:
			s = &set{}
			i.sets[in.Handle] = s
			s.change(in)
		case len(in.Drop)+len(in.Put) == 0:
			continue
		default:
			s.change(in)
		}
		at, known := place[in.Handle]
		if !known {
			at = len(newest)
			place[in.Handle] = at
			newest = append(newest, nil)
		}
		newest[at] = in
	}
	return newest
}

// publish has the broker's goroutine make a change visible and waits for it. It
// returns false if ctx has ended.
func (i *installer) publish(ctx context.Context, change *subscribe.Change, newest, all []*install) bool {
	done := make(chan struct{})
	i.node.queue.must(item{ask: func() {
		i.node.tellSets(change, all)
		i.node.publish(change, newest)
		for _, in := range all {
			i.node.settle(in)
		}
		close(done)
	}})
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// publish makes a change of the matcher visible, in the broker's goroutine.
func (n *Node) publish(change *subscribe.Change, newest []*install) {
	version := change.Publish()
	for _, in := range newest {
		if t := n.tested[in.Handle]; t != nil && !in.ends {
			t.add(version, in.Set)
		}
	}
}

// settle counts a change that has become visible, or has ended before.
func (n *Node) settle(in *install) {
	if in.restored {
		n.restoring--
	}
}

// set is what the matcher holds for one key.
type set struct {
	members few.Map[string, *subscribe.Subscription]
	order   []*subscribe.Subscription // in the order of their coming
}

// change changes a key's set. What did not compile is left out.
func (s *set) change(in *install) {
	ended := make(map[string]bool, len(in.Drop))
	for _, id := range in.Drop {
		s.members.Delete(id)
		ended[id] = true
	}
	var last []*subscribe.Subscription
	replaced := false
	for i, sub := range in.Put {
		if c := in.programs[i]; c != nil {
			if !s.members.Has(sub.ID) {
				last = append(last, c)
			} else {
				replaced = true
			}
			s.members.Put(sub.ID, c)
		}
	}
	if len(ended) > 0 || replaced {
		order := make([]*subscribe.Subscription, 0, s.members.Len())
		for _, old := range s.order {
			if ended[old.Spec.ID] {
				continue // if the id comes again, it comes last
			}
			order = append(order, s.members.Get(old.Spec.ID))
		}
		s.order = order
	}
	s.order = append(s.order, last...)
}

// tested returns by which set of a key a reading was tested: by which Install.Set
// from a version of the matcher on.
type tested struct{ from []versionOf }

type versionOf struct{ version, set uint64 }

// maxVersions is how many are kept. Readings that wait are of the last few.
const maxVersions = 64

func (t *tested) add(version, set uint64) {
	if len(t.from) == maxVersions {
		t.from = append(t.from[:0], t.from[maxVersions/2:]...)
	}
	t.from = append(t.from, versionOf{version, set})
}

// by returns the set of a version.
func (t *tested) by(version uint64) uint64 {
	for i := len(t.from) - 1; i >= 0; i-- {
		if t.from[i].version <= version {
			return t.from[i].set
		}
	}
	if len(t.from) > 0 {
		return t.from[0].set
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
