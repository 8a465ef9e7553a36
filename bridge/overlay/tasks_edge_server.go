package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// serve has a client do the tasks of a queue. If nobody has the queue, it lives here
// from now on.
func (e *taskEdge) serve(in *Serve) {
	p := e.client(in.Conn, in.ID)
	switch {
	case p == nil:
		return
	case p.serves[in.ID] != nil:
		e.fail(in.Conn, in.ID, protocol.Conflict, "the id %q is in use", clip(in.ID))
		return
	case len(p.serves) >= maxServes:
		e.fail(in.Conn, in.ID, protocol.Overloaded, "this connection serves %d queues, which is the limit", len(p.serves))
		return
	case e.directory.where(in.Queue) == "" && len(e.home.queues) >= maxQueues:
		e.fail(in.Conn, in.ID, protocol.Overloaded, "%d queues live at this broker, which is the limit", len(e.home.queues))
		return
	}
	p.serves[in.ID] = &TaskServe{ID: in.ID, Queue: in.Queue, AtOnce: uint64(max(1, min(in.AtOnce, maxAtOnce)))}
	e.tellServing(p)
}

// unserve has it get no further tasks.
func (e *taskEdge) unserve(in *Unserve) {
	p := e.client(in.Conn, in.ID)
	if p == nil {
		return
	}
	if p.serves[in.ID] == nil {
		e.send(in.Conn, &protocol.Reply{Op: protocol.OpReply, ID: in.ID, Error: &protocol.ErrorInfo{Code: protocol.NotFound, Message: "nothing is served by the id \"" + clip(in.ID) + "\""}})
		return
	}
	delete(p.serves, in.ID)
	delete(p.homes, in.ID)
	e.tellServing(p)
	e.send(in.Conn, &protocol.Reply{Op: protocol.OpReply, ID: in.ID, OK: true})
}

// tellServing tells all homes of a client's queues, and of what it has in hand.
func (e *taskEdge) tellServing(p *taskClient) {
	homes := map[BrokerID]bool{}
	for id := range p.told {
		homes[id] = true
	}
	for id, s := range p.serves { // the order decides nothing
		at := e.directory.where(s.Queue)
		if at == "" {
			at = e.cfg.ID
		}
		p.homes[id] = at
		homes[at] = true
	}
	for _, t := range p.hands {
		homes[t.home] = true
	}
	for _, home := range sortedKeys(homes) {
		m := e.serving(p, home)
		if p.told[home] = len(m.Serves)+len(m.Hands) > 0; !p.told[home] {
			delete(p.told, home)
		}
		e.network.route(home, m)
	}
}

// serving is what a home is told of a client.
func (e *taskEdge) serving(p *taskClient, home BrokerID) *TaskServing {
	e.last = max(e.last+1, uint64(max(e.now, 1)))
	m := &TaskServing{Client: p.client, Attachment: p.attachment, Number: e.last}
	for _, id := range sortedKeys(p.serves) {
		if p.homes[id] == home {
			m.Serves = append(m.Serves, *p.serves[id])
		}
	}
	for _, t := range p.hands {
		if t.home == home {
			m.Hands = append(m.Hands, t.number)
		}
	}
	slices.Sort(m.Hands)
	return m
}

// onGive puts a task into a client's hands.
func (e *taskEdge) onGive(from BrokerID, m *TaskGive) {
	p := e.clients[m.Client]
	if p == nil || p.attachment != m.Attachment {
		return
	}
	word := taskWord(m.Task, from)
	if p.hands[word] != nil || p.serves[m.Serve] == nil {
		return
	}
	if _, _, _, ok := e.edge.clientOn(p.conn); !ok {
		return
	}
	p.hands[word] = &taskInHand{m.Task, from}
	e.send(p.conn, &protocol.Task{
		Op: protocol.OpTask, ID: m.Serve, Task: word, Queue: m.Queue, From: m.From, Body: m.Body, Left: float64(m.Left) / float64(Second), Again: m.Again,
	})
}

// onStop tells a client that its answer is not wanted any more. It still says when it
// is done.
func (e *taskEdge) onStop(from BrokerID, m *TaskStop) {
	p := e.clients[m.Client]
	if p == nil || p.attachment != m.Attachment {
		return
	}
	if word := taskWord(m.Task, from); p.hands[word] != nil && e.dones[doneName(p.client, word)] == nil {
		e.send(p.conn, &protocol.CancelledTask{Op: protocol.OpCancelled, Task: word})
	}
}

// doneName names a server's answer.
func doneName(client, word string) string { return client + "\n" + word }

// done takes a server's answer to a task's home.
func (e *taskEdge) done(in *DoneTask) {
	p := e.client(in.Conn, "")
	if p == nil {
		return
	}
	number, home, ok := parseTaskWord(in.Task)
	known := p.hands[in.Task] != nil
	switch {
	case !ok || !known && !e.network.knows(home) && home != e.cfg.ID:
		e.fail(in.Conn, "", protocol.NotFound, "no task is named %q", clip(in.Task))
		return
	case e.dones[doneName(p.client, in.Task)] != nil:
		return // it said so already
	case e.bytes > e.cfg.Memory/8:
		e.fail(in.Conn, "", protocol.Overloaded, "answers that no queue has taken yet take all the memory that they may; say done again later")
		return
	}
	d := &pendingDone{home: home, since: e.now, message: &TaskDone{Client: p.client, Task: number, Body: in.Body, Failed: in.Failed, Message: in.Message}}
	e.dones[doneName(p.client, in.Task)] = d
	e.bytes += int64(len(in.Body) + len(in.Message) + taskOverhead)
	e.network.route(home, d.message)
}

// onTaken says that a task's home has an answer.
func (e *taskEdge) onTaken(from BrokerID, m *TaskTaken) {
	word := taskWord(m.Task, from)
	e.dropDone(doneName(m.Client, word))
	if p := e.clients[m.Client]; p != nil {
		delete(p.hands, word)
	}
}

func (e *taskEdge) dropDone(name string) {
	if d := e.dones[name]; d != nil {
		e.bytes -= int64(len(d.message.Body) + len(d.message.Message) + taskOverhead)
		delete(e.dones, name)
	}
}

// progress passes on how a task comes on.
func (e *taskEdge) progress(in *ProgressTask) {
	p := e.client(in.Conn, "")
	if p == nil {
		return
	}
	t := p.hands[in.Task]
	if t == nil {
		e.fail(in.Conn, "", protocol.NotFound, "no task %q is in hand here", clip(in.Task))
		return
	}
	e.network.route(t.home, &TaskProgress{Client: p.client, Task: t.number, Body: in.Body})
}
