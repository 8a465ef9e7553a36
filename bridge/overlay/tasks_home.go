package overlay

import (
	"fmt"
	"slices"

	"callboard/subscribe/protocol"
)

// taskHome is the broker as the home of queues: what waits, whose hands tasks are in,
// and how they have ended.
type taskHome struct {
	*step
	network   tasksToNetwork
	registry  tasksToRegistry
	directory *queueDirectory

	queues  map[string]*taskQueue
	tasks   map[uint64]*task
	byKey   map[taskKey]*task
	holders map[string]*taskHolder // by client
	tombs   tombs
	timers  taskTimers

	last  uint64 // number that was given
	bytes int64  // of bodies and answers
	disk  int64  // of those that are stored
	count TaskCounts
}

// TaskCounts counts what has become of tasks that live at a broker.
type TaskCounts struct {
	Accepted, Refused, Answered, Failed, Expired, Cancelled, Unavailable, Unknown, Again uint64
}

// taskKey names a task as its client does.
type taskKey struct{ client, key string }

// task is one task at its home.
type task struct {
	number   uint64
	key      taskKey
	id       string // of the request
	queue    *taskQueue
	body     []byte
	until    Instant
	ttl      Duration
	asker    binding // where its client hangs, as far as is known
	accepted Instant

	waits     bool // in its queue
	tries     int  // how often it has come back
	again     bool // somebody had it in hand before
	cancelled bool // it is not wanted any more
	had       []string
	holder    *taskHolder // whose hands it is in; nil: nobody's
	server    *taskServer // of those, what it was given for; nil: that has ended
	sent      Instant     // when it was given, or given again
	confirmed bool        // the holder's edge has it

	answer *outcome // nil: it goes on
	keep   Instant  // until when the answer is kept
	gone   bool     // it has been taken out
	heldBy string   // in whose hands an earlier life had it, while that is restored
}

// taskOverhead is about what a task takes beside its body, bytes.
const taskOverhead = 400

func newTaskHome(s *step, network tasksToNetwork, registry tasksToRegistry) *taskHome {
	return &taskHome{
		step: s, network: network, registry: registry,
		queues: map[string]*taskQueue{}, tasks: map[uint64]*task{}, byKey: map[taskKey]*task{}, holders: map[string]*taskHolder{},
		tombs: tombs{until: map[taskKey]Instant{}},
	}
}

// onRequest takes a task in, unless it is here already: the same key is the same task.
func (h *taskHome) onRequest(from BrokerID, m *TaskRequest) {
	if m.Registry && !h.isReader(from, m) {
		return
	}
	key := taskKey{m.Client, m.Key}
	asker := binding{m.Attachment, from}
	if t := h.byKey[key]; t != nil {
		h.bind(t, asker)
		h.accept(t, t.queue.ahead(t))
		if t.answer != nil {
			h.tellAnswer(t)
		}
		return
	}
	q, refusal := h.admit(m)
	if h.tombs.has(key, h.now) {
		refusal = &outcome{code: protocol.Conflict, message: "the task with this key has been answered, and the answer was acknowledged"}
	}
	if refusal != nil {
		h.count.Refused++
		h.network.route(from, &TaskAnswer{Client: m.Client, Attachment: m.Attachment, Key: m.Key, ID: m.ID, Refused: true, Code: refusal.code, Message: refusal.message})
		return
	}
	if from != h.cfg.ID && m.Life != q.since && h.now < q.since+leasePeriods*Instant(h.cfg.Heartbeat) {
		h.network.route(from, &TaskRenew{Client: m.Client, Key: m.Key, Life: q.since})
		h.tidy(q)
		return
	}
	h.last = max(h.last+1, uint64(max(h.now, 1)))
	t := &task{
		number: h.last, key: key, id: m.ID, queue: q, body: m.Body, asker: asker, accepted: h.now,
		until: h.now + Instant(max(m.Left, 0)), ttl: m.TTL,
	}
	h.add(t)
	if q.stored() {
		h.record(&TaskRecord{
			Number: t.number, Queue: q.recorded(), Robot: q.robot, Client: m.Client, Key: m.Key, ID: m.ID,
			Edge: from, Attachment: m.Attachment, Until: t.until, TTL: t.ttl, Body: t.body,
		})
	}
	h.count.Accepted++
	q.accepted++
	h.accept(t, q.waiting)
	q.push(t)
	h.pump(q)
}

// isReader passes a command on to the broker that reads its robot; it returns true if
// that is this one.
func (h *taskHome) isReader(from BrokerID, m *TaskRequest) bool {
	refuse := func(code protocol.Code, message string) {
		h.network.route(from, &TaskAnswer{Client: m.Client, Attachment: m.Attachment, Key: m.Key, ID: m.ID, Refused: true, Code: code, Message: message})
	}
	switch at, known := h.registry.readerOf(m.Robot); {
	case !known:
	case at == h.cfg.ID:
		return true
	case at == "":
		refuse(protocol.NotFound, noRobot(m.Robot))
	case !h.network.reaches(at):
		refuse(protocol.Unavailable, "broker "+string(at)+", which reads the robot, is out of reach")
	default:
		on := *m
		on.Registry = false
		h.network.routeFor(from, at, &on)
	}
	return false
}

// admit returns the queue that takes a task, or why none does.
func (h *taskHome) admit(m *TaskRequest) (*taskQueue, *outcome) {
	size := int64(len(m.Body) + taskOverhead)
	if h.bytes+size > h.cfg.Memory/4 {
		return nil, &outcome{code: protocol.Overloaded, message: "the tasks at broker " + string(h.cfg.ID) + " take all the memory that they may"}
	}
	q := h.queues[m.Queue]
	if m.Robot != "" {
		q = h.commandQueue(m.Robot, m.Client)
	}
	switch {
	case q == nil || q.over:
		return nil, &outcome{code: protocol.Unavailable, message: noQueue(m.Queue)}
	case q.stored() && h.disk+size > h.cfg.Disk/4:
		return nil, &outcome{code: protocol.Overloaded, message: "the tasks at broker " + string(h.cfg.ID) + " take all the disk that they may"}
	case q.waiting >= q.limits.Count:
		return nil, &outcome{code: protocol.Overloaded, message: fmt.Sprintf("%d tasks wait in the queue %q, which is its limit", q.waiting, clip(q.name))}
	case q.bytes+len(m.Body) > q.limits.Bytes:
		return nil, &outcome{code: protocol.Overloaded, message: fmt.Sprintf("%d bytes wait in the queue %q; with %d more they exceed its limit of %d", q.bytes, clip(q.name), len(m.Body), q.limits.Bytes)}
	}
	return q, nil
}

func noQueue(name string) string {
	return fmt.Sprintf("nobody serves the queue %q, and no broker declares it", clip(name))
}

// add puts a task into the lists of the home, but not into its queue.
func (h *taskHome) add(t *task) {
	h.tasks[t.number], h.byKey[t.key] = t, t
	h.weigh(t, len(t.body)+taskOverhead)
	h.timers.push(t.until, t)
}

// weigh counts bytes of a task.
func (h *taskHome) weigh(t *task, bytes int) {
	h.bytes += int64(bytes)
	if t.queue.stored() {
		h.disk += int64(bytes)
	}
}

// bind notes where a task's client hangs now.
func (h *taskHome) bind(t *task, at binding) {
	if at.compare(t.asker) > 0 {
		t.asker = at
	}
}

func (h *taskHome) accept(t *task, ahead int) {
	h.network.route(t.asker.edge, &TaskAccepted{Client: t.key.client, Key: t.key.key, Ahead: uint64(ahead), Left: Duration(max(0, t.until-h.now))})
}

func (h *taskHome) tellAnswer(t *task) {
	h.network.route(t.asker.edge, &TaskAnswer{
		Client: t.key.client, Attachment: t.asker.attachment, Key: t.key.key, ID: t.id,
		Body: t.answer.body, Code: t.answer.code, Message: t.answer.message,
	})
}

// finish ends a task that goes on, and tells who asked. Who has it in hand is told to
// stop, and keeps it until it says that it is done.
func (h *taskHome) finish(t *task, o outcome) {
	if t.answer != nil || t.gone {
		return
	}
	if t.waits {
		t.queue.drop(t)
	}
	h.weigh(t, o.size()-len(t.body))
	t.answer, t.body, t.keep = &o, nil, h.lease()+Instant(t.ttl) // the request may still be under way, for as long as a lease
	h.timers.push(t.keep, t)
	h.countEnd(o.code)
	t.queue.ended++
	if t.queue.stored() {
		h.record(&TaskAnsweredRecord{Number: t.number, Until: t.keep, Body: o.body, Code: o.code, Message: o.message})
	}
	if t.holder != nil {
		h.network.route(t.holder.at.edge, &TaskStop{Client: t.holder.client, Attachment: t.holder.at.attachment, Task: t.number})
	}
	h.tellAnswer(t)
}

func (h *taskHome) countEnd(code protocol.Code) {
	switch code {
	case "":
		h.count.Answered++
	case protocol.Expired:
		h.count.Expired++
	case protocol.Cancelled:
		h.count.Cancelled++
	case protocol.Unavailable:
		h.count.Unavailable++
	case protocol.Unknown:
		h.count.Unknown++
	default:
		h.count.Failed++
	}
}

// forget takes a task out that has been answered.
func (h *taskHome) forget(t *task) {
	if t.gone {
		return
	}
	t.gone = true
	h.weigh(t, -t.answer.size()-taskOverhead)
	delete(h.byKey, t.key)
	delete(h.tasks, t.number)
	h.tombs.put(t.key, h.lease())
	if t.queue.stored() {
		h.record(&TaskEndedRecord{Number: t.number})
	}
	*t.answer = outcome{code: t.answer.code}
	h.timers.tidy(len(h.tasks))
}

// onPoll says what is known of tasks, and sends their answers.
func (h *taskHome) onPoll(from BrokerID, m *TaskPoll) {
	out := &TaskPolled{Client: m.Client, Attachment: m.Attachment}
	for _, key := range m.Keys {
		t := h.byKey[taskKey{m.Client, key}]
		if t == nil {
			out.Unknown = append(out.Unknown, key)
			continue
		}
		h.bind(t, binding{m.Attachment, from})
		if t.answer == nil && slices.Contains(m.Cancelled, key) {
			h.cancel(t)
			if t.answer != nil {
				continue
			}
		}
		if t.answer != nil {
			h.tellAnswer(t)
		} else {
			out.Waiting = append(out.Waiting, TaskWaiting{Key: key, Left: Duration(max(0, t.until-h.now))})
		}
	}
	if len(out.Waiting)+len(out.Unknown) > 0 {
		h.network.route(from, out)
	}
}

// onCancel takes a task back that nobody has in hand; who has it is told.
func (h *taskHome) onCancel(m *TaskCancel) {
	if t := h.byKey[taskKey{m.Client, m.Key}]; t != nil && t.answer == nil {
		h.cancel(t)
	}
}

func (h *taskHome) cancel(t *task) {
	switch {
	case t.waits:
		h.finish(t, outcome{code: protocol.Cancelled, message: "it was cancelled before anybody had it in hand"})
	case t.holder != nil && !t.cancelled:
		h.network.route(t.holder.at.edge, &TaskStop{Client: t.holder.client, Attachment: t.holder.at.attachment, Task: t.number})
	}
	t.cancelled = true
}

// onAck forgets a task whose answer its client has.
func (h *taskHome) onAck(m *TaskAck) {
	if t := h.byKey[taskKey{m.Client, m.Key}]; t != nil && t.answer != nil {
		h.forget(t)
	}
}

// onProgress passes on how a task comes on.
func (h *taskHome) onProgress(m *TaskProgress) {
	t := h.tasks[m.Task]
	if t == nil || t.answer != nil || t.holder == nil || t.holder.client != m.Client {
		return
	}
	h.network.route(t.asker.edge, &TaskProgress{Asker: t.key.client, Key: t.key.key, ID: t.id, Body: m.Body})
}

// executed takes what has come of a command.
func (h *taskHome) executed(in *Executed) {
	t := h.tasks[in.Task]
	if t == nil || t.queue.running != t {
		return
	}
	t.queue.running = nil
	h.finish(t, outcome{in.Body, in.Code, in.Message})
	h.pump(t.queue)
}

// expire ends tasks whose time is over, and forgets answers that were kept for long
// enough.
func (h *taskHome) expire() {
	for len(h.timers) > 0 && h.timers[0].at <= h.now {
		at, t := h.timers.pop()
		switch {
		case t.gone:
		case t.answer != nil:
			if at >= t.keep {
				h.forget(t)
			}
		case t.queue.running == t: // the runtime ends it
		default:
			why := "nobody had it done in time"
			if t.waits {
				why = "nobody had it in hand in time"
			}
			q := t.queue
			h.finish(t, outcome{code: protocol.Expired, message: why})
			h.tidy(q)
		}
	}
}

func (h *taskHome) due() Instant {
	if len(h.timers) == 0 {
		return never
	}
	return h.timers[0].at
}

// pass takes tasks back from servers that nobody has heard of for three periods.
func (h *taskHome) pass() {
	h.tombs.pass(h.now)
	if len(h.holders) == 0 {
		return
	}
	for _, client := range sortedKeys(h.holders) {
		away := awayPeriods * Instant(h.cfg.Heartbeat)
		switch s := h.holders[client]; {
		case h.now-s.heard >= away:
			h.endHolder(s)
		case h.now-s.moved >= away:
			h.endStale(s)
		}
	}
}
