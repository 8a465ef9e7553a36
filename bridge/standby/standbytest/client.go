package standbytest

import (
	"fmt"
	"maps"
	"strings"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/subscribe/protocol"
)

// ofClient is what a client says on a connection.
type ofClient struct {
	client *client
	conn   overlay.Conn
	seen   standby.Term // of a hello
	in     overlay.Input
}

// toClient is what a side says on a connection.
type toClient struct {
	conn    overlay.Conn
	term    standby.Term // 0: it does not say
	message any          // nil: only the term
	refused bool
	active  bool // on the second connection
}

// connOf returns the connection that a message is on; 0: on none that can break.
func connOf(message any) overlay.Conn {
	switch m := message.(type) {
	case *ofClient:
		return m.conn
	case *toClient:
		return m.conn
	}
	return 0
}

// client is a robot program that resumes, and checks what it is told. It is
// subscribed to one thing, which it changes now and then.
type client struct {
	w    *world
	at   place
	name string

	conn       overlay.Conn
	with       *side
	seen       standby.Term
	attachment uint64
	session    string
	nums       map[string]uint64
	last       overlay.Instant // when it last heard something
	welcomed   bool
	newest     int // reading

	every     int // the reading's numbers that it wants are its multiples
	revision  int
	asked     []int // revisions that were said on the connection and are not answered
	confirmed int

	got   map[string][]given // by source
	ended map[string]bool
}

// given is a notification.
type given struct {
	seq     uint64
	reading int
}

func newClient(w *world, i int) *client {
	return &client{w: w, at: firstClient + place(i), name: fmt.Sprintf("c%d", i), nums: map[string]uint64{}, every: 1 + w.choice.Intn(3), revision: 1, got: map[string][]given{}, ended: map[string]bool{}}
}

func (c *client) subscription() *overlay.Subscription {
	return &overlay.Subscription{Subscription: protocol.Subscription{ID: "s", Condition: strings.Repeat("c", c.every)}}
}

func (c *client) say(in overlay.Input, seen standby.Term) {
	c.w.send(way{c.at, c.with.at, standby.Outer}, &ofClient{c, c.conn, seen, in}, nil)
}

// attach says hello at a side.
func (c *client) attach(s *side) {
	c.attachment++
	c.w.conn++
	c.conn, c.with, c.last, c.welcomed = c.w.conn, s, c.w.now, false
	c.asked = []int{c.revision}
	attachment := c.attachment
	h := &overlay.Hello{Conn: c.conn, Client: c.name, Attachment: &attachment, Session: c.session, Subscriptions: []*overlay.Subscription{c.subscription()}}
	if c.session != "" {
		h.Num = maps.Clone(c.nums)
	}
	c.say(h, c.seen)
}

// turns is its turn of each T/2.
func (c *client) turns() {
	if c.w.now-c.last >= 4*period {
		next := c.w.sides[c.w.choice.Intn(2)]
		if c.with != nil {
			next = c.with.other()
		}
		c.attach(next)
	}
	if chance(c.w.choice, 200) && !c.w.finale {
		c.change()
	}
	c.w.in(period/2, c.turns)
}

// change updates its subscription.
func (c *client) change() {
	c.revision++
	c.every = 1 + c.w.choice.Intn(3)
	if c.welcomed {
		c.asked = append(c.asked, c.revision)
		c.say(&overlay.Update{Conn: c.conn, Subscription: c.subscription()}, 0)
	}
}

func (c *client) receive(from *side, message any) {
	x := message.(*toClient)
	if x.active {
		if x.term >= c.seen && (c.with != from || !c.welcomed) {
			c.attach(from)
		}
		return
	}
	if x.conn != c.conn {
		return
	}
	if x.refused {
		c.last = min(c.last, c.w.now-3*period)
		return
	}
	if x.term != 0 && x.term < c.seen { // C4
		c.last = c.w.now - 4*period
		c.w.marks["fenced"]++
		return
	}
	c.seen, c.last = max(c.seen, x.term), c.w.now
	switch m := x.message.(type) {
	case *protocol.Welcome:
		c.session, c.welcomed = m.Session, true
	case *protocol.Subscribed:
		if len(c.asked) == 0 {
			failf("%s: a subscribed that nobody asked for", c.name)
		}
		c.confirmed, c.asked = c.asked[0], c.asked[1:]
	case *overlay.Notify:
		c.notified(m)
	case *protocol.Gap:
		c.gap(m)
	case *protocol.Error:
		failf("%s: %s: %s", c.name, m.Code, m.Message)
	case *overlay.Close:
		c.last = c.w.now - 4*period
	}
}

func (c *client) notified(m *overlay.Notify) {
	num := c.nums[m.Source]
	if c.ended[m.Source] {
		failf("%s: #%d of %s, which has ended", c.name, m.Seq, m.Source)
	}
	if m.Seq != num+1 || m.Skipped != 0 {
		failf("%s: #%d (%d skipped) of %s after #%d", c.name, m.Seq, m.Skipped, m.Source, num)
	}
	n := int(m.Reading.Time)
	if n <= c.newest {
		failf("%s: reading %d after %d", c.name, n, c.newest)
	}
	c.newest, c.nums[m.Source] = n, m.Seq
	c.got[m.Source] = append(c.got[m.Source], given{m.Seq, n})
	c.w.marks["notifications"]++
	c.say(&overlay.Ack{Conn: c.conn, Source: m.Source, Num: m.Seq}, 0)
}

func (c *client) gap(m *protocol.Gap) {
	if m.To != nil {
		failf("%s: numbers %d to %d of %s are lost", c.name, m.From, *m.To, m.Source)
	}
	c.w.declared(c, m.Source)
	c.ended[m.Source] = true
	delete(c.nums, m.Source)
	if _, known := c.nums[m.Next]; m.Next != "" && !known {
		c.nums[m.Next] = 0
	}
	c.newest = 0
}
