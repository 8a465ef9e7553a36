package overlay

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"

	"callboard/subscribe/protocol"
)

// taskHolder is a client that serves queues which live here, or has tasks of them in
// hand.
type taskHolder struct {
	client string
	at     binding
	number uint64  // of its edge's newest TaskServing
	heard  Instant // when its edge told of it last, or that it is away
	away   bool
	moved  Instant                // when it came to its present edge
	serves map[string]*taskServer // by id
	hands  map[uint64]*task       // until it says that they are done, whatever has become of them
}

// taskServer is a client as one that serves a queue.
type taskServer struct {
	holder *taskHolder
	id     string
	queue  *taskQueue
	listed binding // under which its edge named it last: one of an older attachment gets nothing
	atOnce int
	inHand int
	idle   Instant // when it had something to do last
	free   bool    // it may be given a task
	place  int     // in its queue's servers
}

// before reports whether s is next, before u: the one with the fewest in hand, then
// the one that has been idle longest.
func (s *taskServer) before(u *taskServer) bool {
	return cmp.Or(cmp.Compare(s.inHand, u.inHand), cmp.Compare(s.idle, u.idle), cmp.Compare(s.holder.client, u.holder.client), cmp.Compare(s.id, u.id)) < 0
}

// changed says that something of a server has: others may come before it now.
func (s *taskServer) changed() {
	s.free = !s.holder.away && s.listed == s.holder.at && s.inHand < s.atOnce
	heap.Fix(&s.queue.servers, s.place)
}

// taskServers are a queue's servers, as a heap: the next one first.
type taskServers []*taskServer

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (all taskServers) Len() int { return len(all) }

func (all taskServers) Less(i, j int) bool {
	if all[i].free != all[j].free {
		return all[i].free
	}
	return all[i].before(all[j])
}

func (all taskServers) Swap(i, j int) {
	all[i], all[j] = all[j], all[i]
	all[i].place, all[j].place = i, j
}

func (all *taskServers) Push(x any) {
	s := x.(*taskServer)
	s.place = len(*all)
	*all = append(*all, s)
}

func (all *taskServers) Pop() any {
	old := *all
	s := old[len(old)-1]
	old[len(old)-1] = nil
	*all = old[:len(old)-1]
	return s
}

// next returns the server that gets the next task; nil if none has a hand free.
func (q *taskQueue) next() *taskServer {
	if len(q.servers) == 0 || !q.servers[0].free {
		return nil
	}
	return q.servers[0]
}

// pump puts what waits into the hands that are free.
func (h *taskHome) pump(q *taskQueue) {
	if q.robot != "" {
		h.pumpCommands(q)
		return
	}
	for q.waiting > 0 {
		s := q.next()
		if s == nil {
			return
		}
		h.assign(q.take(), s)
	}
}

// assign puts a task into a server's hands.
func (h *taskHome) assign(t *task, s *taskServer) {
	t.holder, t.server, t.confirmed = s.holder, s, false
	s.inHand++
	s.idle = h.now
	s.changed()
	s.holder.hands[t.number] = t
	t.queue.inHand++
	if !slices.Contains(t.had, s.holder.client) {
		t.had = append(t.had, s.holder.client)
	}
	if t.queue.stored() {
		h.record(&TaskHeldRecord{Number: t.number, Server: s.holder.client, Tries: uint64(t.tries)})
	}
	h.give(t)
}

// give sends it there.
func (h *taskHome) give(t *task) {
	t.sent = h.now
	id := ""
	if t.server != nil {
		id = t.server.id
	}
	_, from := ClientOf(t.key.client)
	h.network.route(t.holder.at.edge, &TaskGive{
		Client: t.holder.client, Attachment: t.holder.at.attachment, Serve: id, Task: t.number, Queue: t.queue.name,
		From: from, Body: t.body, Left: Duration(max(0, t.until-h.now)), Again: t.again,
	})
}

// free takes a task out of the hands that it is in.
func (h *taskHome) free(t *task) {
	delete(t.holder.hands, t.number)
	t.queue.inHand--
	if t.server != nil {
		t.server.inHand--
		t.server.idle = h.now
		t.server.changed()
	}
	t.holder, t.server = nil, nil
}

// handBack puts a task back at the head of its queue: its server has gone, or never
// got it.
func (h *taskHome) handBack(t *task) {
	if t.confirmed {
		t.tries++
	}
	h.free(t)
	t.again = true
	q := t.queue
	switch {
	case t.answer != nil:
	case t.cancelled:
		h.finish(t, outcome{code: protocol.Cancelled, message: "it was cancelled, and who had it in hand has gone"})
	case t.tries > q.limits.Tries:
		h.finish(t, outcome{code: protocol.Unavailable, message: fmt.Sprintf("%d servers had it in hand, and none answered", t.tries)})
	case q.over:
		h.finish(t, outcome{code: protocol.Unavailable, message: noQueue(q.name)})
	default:
		h.count.Again++
		q.pushBack(t)
		if q.stored() {
			h.record(&TaskHeldRecord{Number: t.number, Tries: uint64(t.tries)})
		}
	}
}

// inOrder lists what a client has in hand.
func (s *taskHolder) inOrder() []*task {
	all := make([]*task, 0, len(s.hands))
	for _, number := range sortedKeys(s.hands) {
		all = append(all, s.hands[number])
	}
	return all
}

// onServing takes what a client's edge tells of it as a server.
func (h *taskHome) onServing(from BrokerID, m *TaskServing) {
	at := binding{m.Attachment, from}
	s := h.holders[m.Client]
	if s == nil {
		if m.Away || len(m.Serves) == 0 { // what it has in hand, if anything, was taken back
			return
		}
		s = &taskHolder{client: m.Client, at: at, moved: h.now, serves: map[string]*taskServer{}, hands: map[uint64]*task{}}
		h.holders[m.Client] = s
	}
	c := at.compare(s.at)
	if c < 0 || c == 0 && m.Number <= s.number {
		return
	}
	moved := c > 0
	if moved {
		s.moved = h.now
	}
	s.at, s.number, s.heard, s.away = at, m.Number, h.now, m.Away
	if m.Closed {
		h.endHolder(s)
		return
	}
	for _, old := range s.serves { // each by itself
		old.changed()
	}
	touched := map[*taskQueue]bool{}
	h.setServes(s, m.Serves, touched)
	h.setHands(s, m.Hands, moved, touched)
	h.pumpAll(touched)
	if len(s.serves)+len(s.hands) == 0 {
		delete(h.holders, s.client)
	}
}

// setServes makes what a client serves what its edge says.
func (h *taskHome) setServes(s *taskHolder, serves []TaskServe, touched map[*taskQueue]bool) {
	kept := map[string]bool{}
	for _, m := range serves {
		old := s.serves[m.ID]
		if old != nil && old.queue.name != m.Queue {
			h.endServer(old, touched)
			old = nil
		}
		if old == nil {
			q := h.queues[m.Queue]
			if q == nil && h.directory.where(m.Queue) == "" && h.directory.settled() {
				q = h.begin(m.Queue)
			}
			if q == nil {
				continue
			}
			old = &taskServer{holder: s, id: m.ID, queue: q, idle: h.now}
			s.serves[m.ID] = old
			heap.Push(&q.servers, old)
			old.adopt()
		}
		old.listed = s.at
		old.atOnce = int(min(m.AtOnce, maxAtOnce))
		old.changed()
		kept[m.ID] = true
		touched[old.queue] = true
	}
	for _, id := range sortedKeys(s.serves) {
		if old := s.serves[id]; !kept[id] && old.listed == s.at {
			h.endServer(old, touched)
		}
	}
}

// adopt counts what its client has in hand of the queue by another serve, which has
// ended or was of an older attachment.
func (s *taskServer) adopt() {
	for _, t := range s.holder.hands { // each by itself
		if t.queue == s.queue && (t.server == nil || t.server.listed != s.holder.at) {
			if t.server != nil {
				t.server.inHand--
				t.server.changed()
			}
			t.server = s
			s.inHand++
			s.changed()
		}
	}
}

// endStale ends what a client served at an older edge and has not said again within
// three periods.
func (h *taskHome) endStale(s *taskHolder) {
	touched := map[*taskQueue]bool{}
	for _, id := range sortedKeys(s.serves) {
		if old := s.serves[id]; old.listed != s.at {
			h.endServer(old, touched)
		}
	}
	h.pumpAll(touched)
}

// setHands takes what a client has in hand. What it lacks goes back if it has come
// from elsewhere since, or serves it no more; else it was lost on its way and is sent
// again.
func (h *taskHome) setHands(s *taskHolder, hands []uint64, moved bool, touched map[*taskQueue]bool) {
	listed := make(map[uint64]bool, len(hands))
	for _, number := range hands {
		listed[number] = true
	}
	for _, t := range s.inOrder() {
		late := h.now-t.sent > 3*Instant(h.cfg.Heartbeat)/2
		switch {
		case listed[t.number]:
			t.confirmed = true
		case moved || late && (t.server == nil || t.answer != nil):
			touched[t.queue] = true
			h.handBack(t)
		case late:
			h.give(t)
		}
	}
}

// endServer ends what a client does for a queue. What it has in hand stays there.
func (h *taskHome) endServer(s *taskServer, touched map[*taskQueue]bool) {
	delete(s.holder.serves, s.id)
	heap.Remove(&s.queue.servers, s.place)
	for _, t := range s.holder.hands { // each by itself
		if t.server == s {
			t.server = nil
		}
	}
	touched[s.queue] = true
}

// endHolder takes back all that a client has in hand, and ends what it serves.
func (h *taskHome) endHolder(s *taskHolder) {
	touched := map[*taskQueue]bool{}
	for _, t := range s.inOrder() {
		touched[t.queue] = true
		h.handBack(t)
	}
	for _, id := range sortedKeys(s.serves) {
		h.endServer(s.serves[id], touched)
	}
	delete(h.holders, s.client)
	h.pumpAll(touched)
}

// pumpAll goes on with queues of which something has changed.
func (h *taskHome) pumpAll(touched map[*taskQueue]bool) {
	for _, q := range slices.SortedFunc(maps.Keys(touched), func(a, b *taskQueue) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.since, b.since))
	}) {
		h.pump(q)
		h.tidy(q)
	}
}

// onDone takes a server's answer. One that was late, and whose task is in another's
// hands by now, counts too: the first answer does.
func (h *taskHome) onDone(from BrokerID, m *TaskDone) {
	if t := h.tasks[m.Task]; t != nil {
		h.doneBy(t, m)
	} else if s := h.holders[m.Client]; s != nil && s.hands[m.Task] != nil { // its answer was acknowledged
		h.doneBy(s.hands[m.Task], m)
	}
	h.network.route(from, &TaskTaken{Client: m.Client, Task: m.Task})
}

func (h *taskHome) doneBy(t *task, m *TaskDone) {
	if !slices.Contains(t.had, m.Client) {
		return
	}
	if s := t.holder; s != nil && s.client == m.Client {
		h.free(t)
		if len(s.serves)+len(s.hands) == 0 {
			delete(h.holders, s.client)
		}
	}
	if m.Failed {
		h.finish(t, outcome{code: protocol.Failed, message: m.Message})
	} else {
		h.finish(t, outcome{body: m.Body})
	}
	h.pump(t.queue)
	h.tidy(t.queue)
}

// begin makes a passing queue, if there is room for it.
func (h *taskHome) begin(name string) *taskQueue {
	if len(h.queues) >= maxQueues {
		return nil
	}
	q := &taskQueue{name: name, since: h.now, limits: QueueConfig{Name: name, Count: maxPassing}}
	_ = q.limits.complete() // of a name that was checked
	h.queues[name] = q
	h.directory.changed()
	return q
}

// tidy ends a passing queue that has no server any more, and forgets one of commands
// that has nothing to do.
func (h *taskHome) tidy(q *taskQueue) {
	switch {
	case q.over:
	case q.robot != "":
		if q.waiting == 0 && q.running == nil {
			delete(h.queues, q.name)
		}
	case !q.declared && len(q.servers) == 0:
		h.end(q, "its last server has gone")
	}
}

// end ends a passing queue: what waits in it is answered.
func (h *taskHome) end(q *taskQueue, why string) {
	q.over = true
	if h.queues[q.name] == q {
		delete(h.queues, q.name)
		h.directory.changed()
	}
	for t := q.oldest(); t != nil; t = q.oldest() {
		h.finish(t, outcome{code: protocol.Unavailable, message: fmt.Sprintf("the queue %q has ended: %s", clip(q.name), why)})
	}
}

// compare reports queues that are declared here and at another broker, each once.
func (h *taskHome) compare(other *heardQueues) {
	rival := other.message.Broker
	for _, c := range h.cfg.Queues {
		q := h.queues[c.Name]
		ad := other.byName[c.Name]
		switch {
		case ad == nil || !ad.Declared:
			delete(q.rivals, rival)
		case !q.rivals[rival]:
			if q.rivals == nil {
				q.rivals = map[BrokerID]bool{}
			}
			q.rivals[rival] = true
			h.put(&QueueDoubled{Queue: c.Name, Rival: rival, Holder: h.directory.where(c.Name)})
		}
	}
}

// yield ends passing queues that another broker has, and had before.
func (h *taskHome) yield(other *heardQueues) {
	for i := range other.message.Queues {
		ad := &other.message.Queues[i]
		q := h.queues[ad.Name]
		if q == nil || q.declared || q.robot != "" {
			continue
		}
		theirs, ours := &queuePlace{other.message.Broker, ad.Declared, ad.Since}, &queuePlace{h.cfg.ID, false, q.since}
		if theirs.before(ours) {
			h.end(q, "it lives at broker "+string(other.message.Broker))
		}
	}
}

// commandQueue returns the queue of a client's commands to a robot.
func (h *taskHome) commandQueue(robot, client string) *taskQueue {
	name := ownerEnd + robot + ownerEnd + client
	q := h.queues[name]
	if q == nil {
		q = &taskQueue{name: name, robot: robot, since: h.directory.running, limits: QueueConfig{Name: robot, Count: 1000, Bytes: 16 << 20}}
		h.queues[name] = q
	}
	return q
}

// pumpCommands has the next command carried out. That it is about to be is recorded.
func (h *taskHome) pumpCommands(q *taskQueue) {
	if q.running == nil && q.waiting > 0 {
		t := q.take()
		q.running = t
		h.record(&TaskHeldRecord{Number: t.number, Server: string(h.cfg.ID)})
		h.put(&Execute{Task: t.number, Client: t.key.client, Robot: q.robot, Body: t.body, Left: Duration(max(0, t.until-h.now))})
	}
	h.tidy(q)
}
