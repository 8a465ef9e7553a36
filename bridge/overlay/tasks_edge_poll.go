package overlay

import (
	"cmp"

	"callboard/subscribe/protocol"
)

// maxPause is the longest between two questions for one task's answer, in periods:
// messages are lost with links only, and when ways have changed all homes are asked
// again at once.
const maxPause = 16

// endStep sends on their way the requests and serves whose queue has appeared or moved.
func (e *taskEdge) endStep() {
	if !e.directory.news {
		return
	}
	e.directory.news = false
	for _, p := range e.inOrder() {
		if len(p.serves)+len(p.told)+len(p.hands) > 0 {
			e.tellServing(p)
		}
		for _, w := range p.waits { // each by itself; asked in order at the next period
			w.pause = Instant(e.cfg.Heartbeat)
		}
		for _, key := range sortedKeys(p.waits) {
			if w := p.waits[key]; w.request != nil && w.home == "" {
				e.sendRequest(p, w)
			}
		}
	}
}

// inOrder lists the connections that have to do with tasks.
func (e *taskEdge) inOrder() []*taskClient {
	if len(e.conns) == 0 {
		return nil
	}
	all := make([]*taskClient, 0, len(e.conns))
	for _, c := range sortedKeys(e.conns) {
		all = append(all, e.conns[c])
	}
	return all
}

// pass asks again for what may have been lost, tells homes that their servers live, and
// answers what nobody else will.
func (e *taskEdge) pass() {
	for _, p := range e.inOrder() {
		if _, _, _, ok := e.edge.clientOn(p.conn); !ok {
			continue // its client has gone elsewhere
		}
		if len(p.serves)+len(p.told)+len(p.hands) > 0 {
			e.tellServing(p)
		}
		e.giveUp(p)
		e.poll(p, false)
	}
	for _, name := range sortedKeys(e.dones) {
		switch d := e.dones[name]; {
		case e.now-d.since > Instant(e.cfg.Inbox.Keep):
			e.dropDone(name)
		case e.now-d.since >= Instant(e.cfg.Heartbeat):
			e.network.route(d.home, d.message)
		}
	}
}

// giveUp answers tasks whose home will not: nobody has the queue, or their time is
// over and their home is out of reach.
func (e *taskEdge) giveUp(p *taskClient) {
	period := Instant(e.cfg.Heartbeat)
	for _, key := range sortedKeys(p.waits) {
		w := p.waits[key]
		switch {
		case w.replied:
			if e.now > w.until+Instant(w.ttl)+period {
				delete(p.waits, key) // its home has forgotten it
			}
		case w.lacking != nil && w.home == "" && e.now-w.began >= 2*period && e.nobodyHas(w):
			e.reply(p, w, &outcome{code: protocol.Unavailable, message: "no broker knows this task: its answer was not kept for longer, or the broker that had it has lost it"})
		case w.request != nil && w.home == "" && w.robot == "" && e.now-w.began >= 2*period && e.directory.where(w.request.Queue) == "" && e.directory.settled():
			e.reply(p, w, &outcome{code: protocol.Unavailable, message: noQueue(w.request.Queue)})
		case e.now > w.until+2*period:
			home := w.home
			w.home = "" // it needs no acknowledgement
			message := "the broker where the queue lives cannot be reached"
			if home != "" {
				message = "broker " + string(home) + ", where the queue lives, does not answer; the task may have been done"
			}
			e.reply(p, w, &outcome{code: protocol.Unavailable, message: message})
		}
	}
}

// nobodyHas reports whether all brokers have said that they do not have a task. Which
// there are a broker knows once it has run for the session time.
func (e *taskEdge) nobodyHas(w *taskWait) bool {
	if e.cfg.Neighbours && e.now-max(w.began-Instant(e.cfg.Inbox.Keep), e.directory.running) < Instant(e.cfg.Inbox.Keep) {
		return false
	}
	for _, id := range e.network.others() {
		if !w.lacking[id] {
			return false
		}
	}
	return w.lacking[e.cfg.ID]
}

// poll asks homes for the answers that are due to be asked for, and sends requests again
// that were not accepted.
func (e *taskEdge) poll(p *taskClient, all bool) {
	polls := map[BrokerID]*TaskPoll{}
	ask := func(home BrokerID, w *taskWait) {
		m := polls[home]
		if m == nil {
			m = &TaskPoll{Client: p.client, Attachment: p.attachment}
			polls[home] = m
		}
		m.Keys = append(m.Keys, w.key)
		if w.cancelled {
			m.Cancelled = append(m.Cancelled, w.key)
		}
	}
	for _, key := range sortedKeys(p.waits) {
		w := p.waits[key]
		if w.replied || !all && e.now-w.asked < w.pause {
			continue
		}
		w.asked = e.now
		w.pause = min(2*w.pause, maxPause*Instant(e.cfg.Heartbeat))
		switch {
		case w.request != nil && !(w.cancelled && w.home != ""):
			w.pause = Instant(e.cfg.Heartbeat)
			e.sendRequest(p, w)
		case w.home != "":
			ask(w.home, w)
		default:
			w.pause = Instant(e.cfg.Heartbeat)
			for _, id := range append(e.network.reachable(), e.cfg.ID) {
				ask(id, w)
			}
		}
	}
	for _, home := range sortedKeys(polls) {
		e.network.route(home, polls[home])
	}
}

// onPolled takes what a home has, and what it does not have.
func (e *taskEdge) onPolled(from BrokerID, m *TaskPolled) {
	p := e.here(m.Client, 0)
	if p == nil || p.attachment != m.Attachment {
		return
	}
	for i := range m.Waiting {
		if w := p.waits[m.Waiting[i].Key]; w != nil && !w.replied {
			w.home, w.accepted, w.lacking = from, true, nil
			w.until = e.now + Instant(max(m.Waiting[i].Left, 0))
			w.ttl = cmp.Or(w.ttl, maxTTL)
			e.dropRequest(w)
		}
	}
	for _, key := range m.Unknown {
		w := p.waits[key]
		switch {
		case w == nil || w.replied:
		case w.lacking != nil:
			w.lacking[from] = true
		case w.home != from:
		case w.request != nil && w.cancelled:
			w.home = ""
			e.reply(p, w, &outcome{code: protocol.Cancelled, message: "it was cancelled before any broker had it"})
		case w.request == nil:
			w.home = ""
			e.reply(p, w, &outcome{code: protocol.Unavailable, message: "broker " + string(from) + ", where the queue lived, has lost the task; it may have been done"})
		}
	}
}
