package bridge

import (
	"context"
	"time"

	"callboard/bridge/shadow"
	"callboard/bridge/standby"
)

// What a standby makes of what the active tells beside its records: which readings it
// has tested, and by which sets (bridge/shadow).

// What is lacking is looked for so often, and asked for again after so long.
const (
	askEach  = 50 * time.Millisecond
	askAgain = time.Second
)

// follow follows what has come with a batch.
func (s *side) follow(b standby.Batch) {
	l := s.next
	if b.ID != s.term {
		s.term, s.told = b.ID, map[string]time.Time{}
		l.node.ForgetSets()
		if l.robots != nil {
			l.robots.Forget()
		}
		s.lookBehind()
	}
	if len(b.Beside) == 0 || l.robots == nil {
		return
	}
	items, err := shadow.Parse(b.Beside)
	if err != nil {
		s.log.Error("what the active side tells of its robots makes no sense", "error", err)
	}
	for i := 0; i < len(items); {
		if sets, is := items[i].(*shadow.Sets); is {
			l.node.FollowSets(sets)
			i++
			continue
		}
		from := i
		for i < len(items) && !isSets(items[i]) {
			i++
		}
		l.robots.Follow(items[from:i], l.node.By)
	}
}

func isSets(x shadow.Item) bool { _, is := x.(*shadow.Sets); return is }

// askAgain asks the active for what is lacking.
func (s *side) askAgain(context.Context) error {
	s.asks.Reset(askEach)
	s.lookBehind()
	if s.next == nil || s.next.robots == nil || s.term == 0 {
		return nil
	}
	if !s.next.node.HasSets() {
		s.want("")
		return nil
	}
	for _, name := range s.next.robots.Wants() {
		s.want(name)
	}
	return nil
}

// lookBehind counts the robots that do not follow the active.
func (s *side) lookBehind() {
	n := 0
	if s.next != nil && s.next.robots != nil {
		n = s.next.robots.Behind()
	}
	s.behind.Store(int64(n))
}

func (s *side) want(what string) {
	if time.Since(s.told[what]) > askAgain {
		s.told[what] = time.Now()
		s.pair.Want(what)
	}
}
