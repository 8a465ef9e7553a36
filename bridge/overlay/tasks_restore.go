package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// restore takes a record of an earlier life. What does not fit together is left out.
func (h *taskHome) restore(r Record) {
	switch r := r.(type) {
	case *TaskRecord:
		key := taskKey{r.Client, r.Key}
		if h.tasks[r.Number] != nil || h.byKey[key] != nil {
			return
		}
		h.last = max(h.last, r.Number)
		t := &task{
			number: r.Number, key: key, id: r.ID, body: r.Body, until: r.Until, ttl: r.TTL, asker: binding{r.Attachment, r.Edge},
			queue: &taskQueue{name: r.Queue, robot: r.Robot, declared: r.Robot == ""}, // start finds the queue
		}
		h.tasks[t.number], h.byKey[key] = t, t
		h.weigh(t, len(t.body)+taskOverhead)
	case *TaskHeldRecord:
		if t := h.tasks[r.Number]; t != nil && t.answer == nil {
			t.tries, t.again = int(r.Tries), r.Server == "" || t.again
			t.heldBy = r.Server
			if r.Server != "" && !slices.Contains(t.had, r.Server) {
				t.had = append(t.had, r.Server)
			}
		}
	case *TaskAnsweredRecord:
		if t := h.tasks[r.Number]; t != nil && t.answer == nil {
			o := outcome{r.Body, r.Code, r.Message}
			h.weigh(t, o.size()-len(t.body))
			t.answer, t.body, t.keep = &o, nil, r.Until
		}
	case *TaskEndedRecord:
		if t := h.tasks[r.Number]; t != nil {
			size := len(t.body)
			if t.answer != nil {
				size = t.answer.size()
			}
			h.weigh(t, -size-taskOverhead)
			delete(h.tasks, t.number)
			delete(h.byKey, t.key)
		}
	}
}

// start begins the broker's life with the queues that its configuration declares. A
// task that was in a server's hands stays there for as long as one may be away.
func (h *taskHome) start() {
	h.directory.running = h.now
	for _, c := range h.cfg.Queues {
		h.queues[c.Name] = &taskQueue{name: c.Name, declared: true, since: h.now, limits: c}
	}
	if len(h.cfg.Queues) > 0 {
		h.directory.changed()
	}
	for _, number := range sortedKeys(h.tasks) {
		h.startTask(h.tasks[number])
	}
	for _, name := range sortedKeys(h.queues) {
		h.pump(h.queues[name])
	}
}

func (h *taskHome) startTask(t *task) {
	t.accepted = h.now
	robot, name := t.queue.robot, t.queue.name
	if robot != "" {
		t.queue = h.commandQueue(robot, t.key.client)
	} else if q := h.queues[name]; q != nil {
		t.queue = q
	}
	if t.answer != nil {
		t.keep = min(t.keep, h.now+Instant(maxTTL)) // the clock may have been set otherwise
		h.timers.push(t.keep, t)
		return
	}
	t.until = min(t.until, h.now+Instant(maxTTL))
	h.timers.push(t.until, t)
	switch {
	case robot != "" && t.heldBy != "":
		h.finish(t, outcome{code: protocol.Unknown, message: "the broker was stopped while the command was being carried out; it may have been"})
	case robot != "":
		t.queue.push(t)
	case h.queues[name] == nil:
		h.finish(t, outcome{code: protocol.Unavailable, message: "broker " + string(h.cfg.ID) + " does not declare the queue any more"})
	case t.heldBy != "":
		s := h.holders[t.heldBy]
		if s == nil {
			s = &taskHolder{client: t.heldBy, heard: h.now, away: true, serves: map[string]*taskServer{}, hands: map[uint64]*task{}}
			h.holders[t.heldBy] = s
		}
		t.holder = s
		s.hands[t.number] = t
		t.queue.inHand++
	case t.again:
		t.queue.pushBack(t)
	default:
		t.queue.push(t)
	}
	t.heldBy = ""
}
