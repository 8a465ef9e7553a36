package overlaytest

import (
	"slices"
	"strconv"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// client is a robot program that roams, and checks what it is told.
type client struct {
	c          *cluster
	name       string
	session    string
	attachment uint64
	at         int // its edge, the last one
	conn       overlay.Conn
	queue      []any // what the edge has pushed
	subs       map[string]*asked
	nums       map[string]uint64
	ids        int
	lazy       bool // it acknowledges late
}

// asked is a subscription as the client has it.
type asked struct {
	sub      *overlay.Subscription
	versions []*overlay.Subscription // all, since its subscribe
}

// truth is what the observer knows of a key.
type truth struct {
	last  uint64
	given map[uint64]given
	lost  map[uint64]bool // given up by the source
	pass  map[uint64]bool // passed over by the source
}

type given struct {
	reading string
	names   []string
	by      []*overlay.Subscription // the versions that matched
}

// observe learns the truth from what a broker stores.
func (c *cluster) observe(i int, r overlay.Record) {
	keys := c.keyOf[i]
	of := func(h overlay.Handle) *truth {
		k, known := keys[h]
		if !known || k.Source != brokerName(i) {
			return nil
		}
		t := c.truth[k]
		if t == nil {
			t = &truth{given: map[uint64]given{}, lost: map[uint64]bool{}, pass: map[uint64]bool{}}
			c.truth[k] = t
		}
		return t
	}
	switch r := r.(type) {
	case *overlay.EntryRecord:
		keys[r.Handle] = r.Key
		of(r.Handle)
	case *overlay.GivenRecord:
		for _, h := range r.Hits {
			t := of(h.Handle)
			if t == nil || h.Seq != t.last+1 {
				failf("%s gives %v out of turn", brokerName(i), h)
			}
			g := given{reading: string(r.Reading.JSON)}
			n, _ := strconv.Atoi(g.reading)
			for _, name := range h.Names {
				g.names = append(g.names, name.ID)
				for _, s := range c.tested[n][h.Handle] {
					if s.ID == name.ID {
						g.by = append(g.by, s)
					}
				}
			}
			t.last, t.given[h.Seq] = h.Seq, g
		}
	case *overlay.GapRecord:
		if t := of(r.Handle); t != nil {
			for seq := r.New; seq <= r.To; seq++ {
				t.lost[seq] = true
			}
			t.last = max(t.last, r.To)
			c.marks["retained too much"]++
		}
	case *overlay.PassedRecord:
		if t := of(r.Handle); t != nil {
			for seq := r.From; seq <= r.To; seq++ {
				t.pass[seq] = true
			}
		}
	}
}

// key gives the key of one of the client's sources.
func (p *client) key(word string) overlay.Key {
	source, stamp, err := overlay.ParseSourceWord(word)
	if err != nil {
		failf("%s: %v", p.name, err)
	}
	session, err := overlay.ParseSession(p.session)
	if err != nil {
		failf("%s: %v", p.name, err)
	}
	return overlay.Key{Client: p.name, Session: session, Source: source, Stamp: stamp}
}

// attach says hello at a broker.
func (p *client) attach(y int) {
	p.attachment++
	p.at = y
	p.conn = p.hello(y, p.attachment)
	p.c.conns[p.conn] = p
	p.c.step(y, p.message(p.conn, p.attachment))
	for len(p.queue) > 0 { // the welcome, and what comes with it
		p.process()
	}
}

func (p *client) hello(int, uint64) overlay.Conn {
	p.c.conn++
	return p.c.conn
}

func (p *client) message(conn overlay.Conn, attachment uint64) *overlay.Hello {
	h := &overlay.Hello{Conn: conn, Client: p.name, Attachment: &attachment, Session: p.session}
	if p.session != "" {
		h.Num = map[string]uint64{}
		for word, num := range p.nums {
			h.Num[word] = num
		}
	}
	for _, id := range sortedKeys(p.subs) {
		h.Subscriptions = append(h.Subscriptions, p.subs[id].sub)
	}
	return h
}

// detach goes out of reach. What was pushed is lost.
func (p *client) detach() {
	if p.conn == 0 {
		return
	}
	conn := p.conn
	delete(p.c.conns, conn)
	p.conn, p.queue = 0, nil
	p.c.step(p.at, &overlay.Disconnected{Conn: conn})
}

func (p *client) connected() bool { return p.conn != 0 }

func (p *client) subscription(id string, every int, keep string) *overlay.Subscription {
	s := &overlay.Subscription{}
	s.ID, s.Condition, s.Keep = id, strings.Repeat("x", every), keep
	return s
}

func (p *client) subscribe(id string, every int, keep string) {
	s := p.subscription(id, every, keep)
	p.subs[id] = &asked{s, []*overlay.Subscription{s}}
	p.c.step(p.at, &overlay.Subscribe{Conn: p.conn, Subscription: s})
}

func (p *client) update(id string, every int) {
	s := p.subscription(id, every, p.subs[id].sub.Keep)
	p.subs[id].sub, p.subs[id].versions = s, append(p.subs[id].versions, s)
	p.c.step(p.at, &overlay.Update{Conn: p.conn, Subscription: s})
}

func (p *client) unsubscribe(id string) {
	delete(p.subs, id)
	p.c.step(p.at, &overlay.Unsubscribe{Conn: p.conn, ID: id})
}

// process takes the next of what was pushed.
func (p *client) process() {
	m := p.queue[0]
	p.queue = p.queue[1:]
	switch m := m.(type) {
	case *protocol.Welcome:
		if p.session != "" && p.session != m.Session {
			failf("%s: session %s became %s", p.name, p.session, m.Session)
		}
		p.session, p.attachment = m.Session, m.Attachment
	case *protocol.Subscribed:
		if m.Warning != "" && strings.Contains(m.Warning, "out of reach") {
			p.c.marks["warned"]++
		}
		for _, word := range m.Sources {
			if _, known := p.nums[word]; !known {
				p.nums[word] = 0
			}
		}
	case *overlay.Notify:
		p.notified(m)
	case *protocol.Gap:
		p.gap(m)
	case *protocol.Error:
		if m.Code != protocol.Conflict {
			failf("%s was told: %+v", p.name, *m)
		}
	}
}

func (p *client) notified(m *overlay.Notify) {
	num := p.nums[m.Source]
	if m.Seq <= num {
		failf("%s: %s #%d comes again, %d are processed", p.name, m.Source, m.Seq, num)
	}
	if m.Seq-m.Skipped != num+1 {
		failf("%s: %s #%d with %d skipped, but %d are processed", p.name, m.Source, m.Seq, m.Skipped, num)
	}
	k := p.key(m.Source)
	t := p.c.truth[k]
	if t == nil {
		failf("%s: %s is no sequence", p.name, m.Source)
	}
	for seq := num + 1; seq < m.Seq; seq++ {
		p.mayPass(t, m.Source, seq)
	}
	g, ok := t.given[m.Seq]
	if !ok || g.reading != string(m.Reading.JSON) {
		failf("%s: %s #%d is reading %s, given was %s", p.name, m.Source, m.Seq, m.Reading.JSON, g.reading)
	}
	for _, n := range m.Subscriptions {
		if !contains(g.names, n.ID) {
			failf("%s: %s #%d names %s, given were %v", p.name, m.Source, m.Seq, n.ID, g.names)
		}
	}
	p.nums[m.Source] = m.Seq
	p.c.marks["notified"]++
	if p.conn != 0 && (!p.lazy || p.c.choice.Intn(3) == 0) {
		p.c.step(p.at, &overlay.Ack{Conn: p.conn, Source: m.Source, Num: m.Seq})
	}
}

// acknowledge acknowledges all that is processed.
func (p *client) acknowledge() {
	for _, word := range sortedKeys(p.nums) {
		if p.conn != 0 && p.nums[word] > 0 {
			p.c.step(p.at, &overlay.Ack{Conn: p.conn, Source: word, Num: p.nums[word]})
		}
	}
}

func contains(all []string, s string) bool {
	for _, t := range all {
		if s == t {
			return true
		}
	}
	return false
}

// mayPass fails if a number was passed over that the client wants.
func (p *client) mayPass(t *truth, word string, seq uint64) {
	g, ok := t.given[seq]
	if t.pass[seq] {
		return
	}
	if !ok || t.lost[seq] && !ok {
		failf("%s: %s #%d was skipped, but it was never given", p.name, word, seq)
	}
	if id := p.wants(g); id != "" {
		failf("%s: %s #%d was skipped, but %s has matched it", p.name, word, seq, id)
	}
	p.c.marks["skipped"]++
}

// wants gives a subscription that a notification is for and that goes on, "" if there is none.
func (p *client) wants(g given) string {
	for _, s := range g.by {
		if a := p.subs[s.ID]; a != nil && slices.Contains(a.versions, s) && a.sub.Keep != protocol.KeepLatest {
			return s.ID
		}
	}
	return ""
}

func (p *client) gap(m *protocol.Gap) {
	num := p.nums[m.Source]
	p.c.marks["gaps"]++
	if m.From != num+1 {
		failf("%s: %s has a gap from %d, but %d are processed", p.name, m.Source, m.From, num)
	}
	k := p.key(m.Source)
	t := p.c.truth[k]
	if m.To == nil {
		x := p.c.brokers[p.c.index(k.Source)]
		st := added(x.before, x.b.Stats())
		if !p.c.lost[k.Source] && st.Forgotten+st.ForgottenKeys == 0 {
			failf("%s: %s ends after %d, but its store was not lost", p.name, m.Source, num)
		}
		delete(p.nums, m.Source)
		p.c.marks["ends"]++
		if m.Next != "" {
			if _, known := p.nums[m.Next]; !known {
				p.nums[m.Next] = 0
			}
		}
		return
	}
	for seq := m.From; seq <= *m.To; seq++ {
		if t == nil || !t.lost[seq] && !p.c.overflowed() {
			failf("%s: %s has a gap %d…%d (%s), but #%d was not lost", p.name, m.Source, m.From, *m.To, m.Why, seq)
		}
	}
	p.nums[m.Source] = *m.To
	if p.conn != 0 {
		p.c.step(p.at, &overlay.Ack{Conn: p.conn, Source: m.Source, Num: *m.To})
	}
}

// overflowed tells whether an inbox at an edge has given anything up.
func (c *cluster) overflowed() bool {
	for _, x := range c.brokers {
		if s := added(x.before, x.b.Stats()); s.Lost[overlay.WhyOverflow]+s.Lost[overlay.WhyExpired] > 0 {
			return true
		}
	}
	return false
}
