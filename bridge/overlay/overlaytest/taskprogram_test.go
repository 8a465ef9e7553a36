package overlaytest

import (
	"cmp"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// attach says hello at a broker, as client libraries do.
func (p *program) attach(y int) {
	w := p.w
	w.conn++
	p.attachment++
	p.conn, p.at, p.inbox = w.conn, y, nil
	w.byConn[p.conn] = p
	h := &overlay.Hello{Conn: p.conn, Client: p.name, Session: p.session}
	if p.anonymous {
		h.Session = ""
	} else {
		attachment := p.attachment
		h.Attachment = &attachment
		for _, key := range sortedKeys(p.asks) {
			if a := p.asks[key]; a.accepted && a.reply == nil {
				h.Tasks = append(h.Tasks, key)
			}
		}
		h.Tasks = append(h.Tasks, sortedKeys(p.hands)...)
		for _, d := range p.dones {
			if p.hands[d.Task] == nil {
				h.Tasks = append(h.Tasks, d.Task)
			}
		}
	}
	w.step(y, h)
	for _, d := range p.dones {
		if p.conn != 0 {
			again := *d
			again.Conn = p.conn
			w.step(y, &again)
		}
	}
	for _, id := range sortedKeys(p.serves) {
		if p.conn != 0 {
			w.step(y, &overlay.Serve{Conn: p.conn, ID: id, Queue: p.serves[id], AtOnce: 1 + len(id)%2})
		}
	}
	for _, key := range sortedKeys(p.asks) {
		if a := p.asks[key]; !a.accepted && a.reply == nil && p.conn != 0 {
			p.say(a)
		}
	}
}

// detach ends its connection, by a close frame or without.
func (p *program) detach(closed bool) {
	if p.conn == 0 {
		return
	}
	c, at := p.conn, p.at
	delete(p.w.byConn, c)
	p.gone()
	if closed {
		clear(p.hands)
		p.dones = nil
	}
	p.w.step(at, &overlay.Disconnected{Conn: c, Closed: closed})
}

// gone says that its connection is gone: what it had not read is lost.
func (p *program) gone() {
	p.conn, p.inbox = 0, nil
	if p.anonymous { // nothing goes on
		clear(p.hands)
		clear(p.serves)
		p.dones = nil
		for key, a := range p.asks {
			if a.reply == nil {
				p.w.left[a.queue]++
				delete(p.asks, key)
			}
		}
	}
}

// ask asks for a task, or has a robot do something.
func (p *program) ask(queue, robot string, ttl overlay.Duration) {
	p.w.next++
	a := &asking{key: fmt.Sprintf("k%d", p.w.next), queue: queue, robot: robot, ttl: ttl, since: p.w.now}
	p.asks[a.key] = a
	p.say(a)
}

func (p *program) say(a *asking) {
	body := p.name + "/" + a.key
	left := a.ttl - overlay.Duration(p.w.now-a.since)
	if left <= 0 { // nobody can say any more whether it was done
		a.reply = &protocol.Reply{Key: a.key}
		p.w.marks["given up"]++
		return
	}
	p.w.step(p.at, &overlay.RequestTask{Conn: p.conn, ID: "r" + a.key, Queue: a.queue, Robot: a.robot, Key: a.key, Body: []byte(body), TTL: left})
}

// process takes the next message in.
func (p *program) process() {
	m := p.inbox[0]
	p.inbox = p.inbox[1:]
	switch m := m.(type) {
	case *protocol.Welcome:
		p.session = m.Session
	case *protocol.Accepted:
		if a := p.asks[m.Key]; a != nil {
			a.accepted = true
		}
	case *protocol.Reply:
		p.replied(m)
	case *protocol.Task:
		if p.hands[m.Task] != nil {
			failf("%s gets %s twice on its way", p.name, m.Task)
		}
		p.hands[m.Task] = m
	case *protocol.Error:
		if m.Code == protocol.Conflict && m.Attachment != nil {
			p.attachment = max(p.attachment, *m.Attachment)
		}
	}
}

func (p *program) replied(m *protocol.Reply) {
	a := p.asks[m.Key]
	switch {
	case m.Key == "":
		return
	case a == nil:
		failf("%s gets an answer to %s, which it has not asked for", cmp.Or(p.name, "anonymous"), m.Key)
	case a.reply != nil && a.reply.Op == "":
		return
	case a.reply != nil:
		failf("%s gets a second answer to %s: %s, and %s", p.name, m.Key, describeReply(a.reply), describeReply(m))
	}
	a.reply = m
	name := p.name + "/" + m.Key
	if m.OK {
		if got := resultOf(m); got != "done "+name {
			failf("%s gets %q as the answer to %s", p.name, got, m.Key)
		}
		if p.w.did[name] == 0 {
			failf("%s is answered, and nobody has done it", name)
		}
	} else if a.robot == "" || m.Error.Code != protocol.Unknown {
		p.mayEnd(a, m)
	} else if !p.w.unsure[name] {
		failf("%s: %s, and its broker was not killed meanwhile", name, m.Error.Message)
	}
	p.w.marks["reply "+string(codeOf(m))]++
	if p.conn != 0 && p.w.choice.Intn(5) > 0 {
		p.w.step(p.at, &overlay.AckTask{Conn: p.conn, Key: m.Key})
	}
}

func codeOf(m *protocol.Reply) protocol.Code {
	if m.Error == nil {
		return ""
	}
	return m.Error.Code
}

// mayEnd fails if a task may not end so.
func (p *program) mayEnd(a *asking, m *protocol.Reply) {
	e := m.Error
	switch {
	case e.Code == protocol.Cancelled && !a.cancelled, e.Code == protocol.Expired && a.ttl > 1000*overlay.Second:
		failf("%s ends by %s: %s", a.key, e.Code, e.Message)
	case e.Code == protocol.Unavailable && a.accepted && (a.queue == declaredQueue && !p.w.stray || a.robot != "") && a.ttl > 1000*overlay.Second:
		failf("%s of %s%s ends by %s: %s", a.key, a.queue, a.robot, e.Code, e.Message)
	}
}

// work has a server do something with what it has in hand.
func (p *program) work() {
	if len(p.hands) == 0 || p.conn == 0 {
		return
	}
	word := pick(p.w.choice, sortedKeys(p.hands))
	t := p.hands[word]
	switch p.w.choice.Intn(10) {
	case 0:
		p.w.step(p.at, &overlay.ProgressTask{Conn: p.conn, Task: word, Body: []byte("half")})
		return
	case 1:
		p.w.marks["held on"]++
		return
	}
	delete(p.hands, word)
	p.w.did[string(t.Body)]++
	if p.w.did[string(t.Body)] > 1 {
		p.w.marks["done twice"]++
		if !t.Again && p.w.did[string(t.Body)] > 1 {
			p.w.marks["done twice, untold"]++
		}
	}
	d := &overlay.DoneTask{Conn: p.conn, Task: word, Body: []byte("done " + string(t.Body))}
	p.dones = append(p.dones, d)
	if len(p.dones) > 4 {
		p.dones = p.dones[1:]
	}
	p.w.step(p.at, d)
}
