package overlay

import (
	"fmt"
	"maps"
	"slices"

	"callboard/subscribe/protocol"
)

// version makes a subscription as a client would write it.
func (c *client) version(id string, every int, keep string) *Subscription {
	sub := &Subscription{Subscription: protocol.Subscription{ID: id, Condition: fmt.Sprint(every), Keep: keep}}
	c.versions[id] = sub
	o := c.subs[id]
	if o == nil {
		o = &owned{id: id}
		c.subs[id] = o
	}
	o.keep = keep
	c.owner[sub] = o
	return sub
}

// hello attaches; back lowers the nums, as a client does that has forgotten
// what it processed last.
func (c *client) hello(resume bool, back bool, keepAttachment bool) {
	w := c.w
	if !resume || c.name == "" {
		c.begin()
	}
	c.offline()
	w.lastConn++
	c.conn = w.lastConn
	w.byConn[c.conn] = c
	h := &Hello{Conn: c.conn, Client: c.name, Session: c.session}
	if c.name != "" && !keepAttachment {
		c.attachment++
		attachment := c.attachment
		h.Attachment = &attachment
	}
	if c.session != "" {
		h.Num = map[string]uint64{}
		for word, num := range c.nums {
			if back {
				num = c.acked[word]
				c.nums[word] = num
			}
			h.Num[word], c.acked[word] = num, num
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.subs)) {
		h.Subscriptions = append(h.Subscriptions, c.versions[id])
		c.awaits[id] = []*Subscription{c.versions[id]}
	}
	w.step(h)
}

// end ends a subscription in the model: from now on nothing names it.
func (c *client) end(id string) {
	c.subs[id].ended = true
	delete(c.subs, id)
	delete(c.versions, id)
	delete(c.awaits, id)
	delete(c.told, id)
}

// process takes the next message.
func (c *client) process() {
	m := c.queue[0]
	c.queue = c.queue[1:]
	t := c.w.t
	if m.notify != nil {
		c.notified(m.notify)
		return
	}
	switch m := m.send.(type) {
	case *protocol.Welcome:
		c.session, c.attachment, c.welcomed = m.Session, m.Attachment, true
	case *protocol.Subscribed:
		if len(c.awaits[m.ID]) > 0 {
			c.awaits[m.ID] = c.awaits[m.ID][1:]
		} else if c.subs[m.ID] != nil {
			t.Fatalf("%q: subscribed %q twice", c.name, m.ID)
		}
		c.told[m.ID] = true
		for _, word := range m.Sources {
			if _, known := c.nums[word]; !known {
				c.nums[word] = 0
			}
		}
	case *protocol.Gap:
		c.gap(m)
	case *protocol.Error:
		if m.Code != protocol.Conflict {
			t.Fatalf("%q: error %v", c.name, m)
		}
		if m.Attachment != nil {
			c.attachment = max(c.attachment, *m.Attachment)
		}
	case *protocol.Reply:
		if !m.OK {
			t.Fatalf("%q: reply %v", c.name, m.Error)
		}
	case *protocol.Robot:
	default:
		t.Fatalf("%q: message %T", c.name, m)
	}
}

func (c *client) truth(word string) *truth {
	for _, k := range c.w.truths {
		if k.client == c && k.word == word && k.session == c.session {
			return k
		}
	}
	return nil
}

func (c *client) notified(n *Notify) {
	t := c.w.t
	num := c.nums[n.Source]
	if n.Seq != num+1+n.Skipped {
		t.Fatalf("%q: %s #%d skipped %d after %d", c.name, n.Source, n.Seq, n.Skipped, num)
	}
	if len(n.Subscriptions) == 0 {
		t.Fatalf("%q: %s #%d names none", c.name, n.Source, n.Seq)
	}
	c.nums[n.Source] = n.Seq
	k := c.truth(n.Source)
	for _, name := range n.Subscriptions {
		if !c.told[name.ID] && c.subs[name.ID] != nil {
			t.Fatalf("%q: %s #%d names %q before its subscribed", c.name, n.Source, n.Seq, name.ID)
		}
		if k == nil {
			continue // without id: the observer has no records
		}
		g := k.given[n.Seq]
		if g == nil || g.names[name.ID] == nil {
			t.Fatalf("%q: %s #%d names %q, which did not match", c.name, n.Source, n.Seq, name.ID)
		}
		if slices.Contains(c.awaits[name.ID], g.names[name.ID]) && len(c.awaits[name.ID]) > 0 && c.told[name.ID] {
			t.Fatalf("%q: %s #%d was tested by a version of %q that has not had its subscribed", c.name, n.Source, n.Seq, name.ID)
		}
		if o := g.owners[name.ID]; o == nil || o.ended && !c.w.lost && c.ending[name.ID] != o {
			t.Fatalf("%q: %s #%d names %q, which has ended", c.name, n.Source, n.Seq, name.ID)
		}
	}
	if k == nil {
		return
	}
	for seq := num + 1; seq < n.Seq; seq++ {
		c.mayPass(k, seq)
	}
	c.w.marks["notified"]++
	if n.Skipped > 0 {
		c.w.marks["skipped"]++
	}
}

// mayPass checks that a number was passed over with a reason.
func (c *client) mayPass(k *truth, seq uint64) {
	g := k.given[seq]
	if g == nil {
		c.w.t.Fatalf("%q: %s #%d was skipped, but it was lost", c.name, k.word, seq)
	}
	if !k.passed[seq] {
		c.w.t.Fatalf("%q: %s #%d was skipped, but the store has it", c.name, k.word, seq)
	}
	for id, o := range g.owners {
		if o == nil || o.ended || c.w.lost {
			continue
		}
		newer := false
		for later, h := range k.given {
			newer = newer || later > seq && h.robot == g.robot && h.names[id] != nil
		}
		if !newer {
			c.w.t.Fatalf("%q: %s #%d was skipped, but nothing newer names %q", c.name, k.word, seq, id)
		}
		c.w.marks["conflated"]++
	}
}

func (c *client) gap(m *protocol.Gap) {
	t := c.w.t
	num := c.nums[m.Source]
	if m.From != num+1 {
		t.Fatalf("%q: gap from %d after %d", c.name, m.From, num)
	}
	if m.To == nil {
		if _, known := c.nums[m.Next]; !known && m.Next != "" {
			c.nums[m.Next] = 0
		}
		if m.Next == "" || m.Next == m.Source {
			t.Fatalf("%q: %s ends and nothing follows: %q", c.name, m.Source, m.Next)
		}
		delete(c.nums, m.Source)
		delete(c.acked, m.Source)
		c.w.marks["ends"]++
		if k := c.truth(m.Source); k != nil && !k.ended {
			t.Fatalf("%q: %s ended, but nothing was lost", c.name, m.Source)
		}
		return
	}
	if *m.To < m.From {
		t.Fatalf("%q: gap %d…%d", c.name, m.From, *m.To)
	}
	c.nums[m.Source] = *m.To
	c.w.marks["gaps"]++
	if k := c.truth(m.Source); k != nil && !k.lost[*m.To] {
		t.Fatalf("%q: %s: gap to %d, which was not lost", c.name, m.Source, *m.To)
	}
}
