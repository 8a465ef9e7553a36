package overlay

import (
	"cmp"
	"fmt"
	"strconv"

	"callboard/subscribe/protocol"
)

// taskEdge is the broker as the edge of clients that ask for tasks or serve queues. All
// that it knows of a client goes with its connection: a hello brings it again. Only
// what servers have done stays until its home has it.
type taskEdge struct {
	*step
	edge      tasksToEdge
	source    tasksToSource
	network   tasksToNetwork
	registry  tasksToRegistry
	directory *queueDirectory
	home      *taskHome

	conns   map[Conn]*taskClient
	clients map[string]*taskClient // by client: its newest connection
	dones   map[string]*pendingDone
	last    uint64 // key that was given, or number of a TaskServing
	bytes   int64  // of requests and answers that their home does not have yet
}

// taskClient is a client's connection that has to do with tasks.
type taskClient struct {
	conn       Conn
	client     string
	attachment uint64
	anonymous  bool
	waits      map[string]*taskWait   // by key
	serves     map[string]*TaskServe  // by id
	homes      map[string]BrokerID    // of those: where they were said to be served last
	hands      map[string]*taskInHand // by word
	told       map[BrokerID]bool      // homes that know it as a server
}

// taskInHand is a task that a client has.
type taskInHand struct {
	number uint64
	home   BrokerID
}

// taskWait is a task whose answer a client waits for.
type taskWait struct {
	key, id   string
	robot     string
	request   *TaskRequest // until it is accepted
	home      BrokerID     // "": not known
	accepted  bool
	told      bool // that to the client
	replied   bool // and the answer: it waits for the client's acknowledgement
	cancelled bool
	began     Instant
	until     Instant
	ttl       Duration
	asked     Instant           // when its home was asked last
	pause     Instant           // between two times
	lacking   map[BrokerID]bool // of a task that hello has named: brokers that do not have it
}

// pendingDone is an answer that its task's home may not have yet.
type pendingDone struct {
	message *TaskDone
	home    BrokerID
	since   Instant
}

func newTaskEdge(s *step, edge tasksToEdge, source tasksToSource, network tasksToNetwork, registry tasksToRegistry) *taskEdge {
	return &taskEdge{
		step: s, edge: edge, source: source, network: network, registry: registry,
		conns: map[Conn]*taskClient{}, clients: map[string]*taskClient{}, dones: map[string]*pendingDone{},
	}
}

// client returns the client on a connection, or answers that there is none.
func (e *taskEdge) client(c Conn, id string) *taskClient {
	name, attachment, anonymous, ok := e.edge.clientOn(c)
	if !ok {
		e.fail(c, id, protocol.BadMessage, "hello must come first")
		return nil
	}
	if known := e.conns[c]; known != nil {
		return known
	}
	p := &taskClient{
		conn: c, client: name, attachment: attachment, anonymous: anonymous,
		waits: map[string]*taskWait{}, serves: map[string]*TaskServe{}, homes: map[string]BrokerID{}, hands: map[string]*taskInHand{}, told: map[BrokerID]bool{},
	}
	e.conns[c], e.clients[name] = p, p
	return p
}

// here returns a client's connection, if it is not a newer one than was meant.
func (e *taskEdge) here(client string, attachment uint64) *taskClient {
	p := e.clients[client]
	if p == nil || p.attachment > attachment && attachment != 0 {
		return nil
	}
	if _, _, _, ok := e.edge.clientOn(p.conn); !ok {
		return nil
	}
	return p
}

// hello takes the tasks that a client waits for, and those that it has in hand.
func (e *taskEdge) hello(h *Hello) {
	if len(h.Tasks) == 0 {
		return
	}
	if _, _, _, ok := e.edge.clientOn(h.Conn); !ok {
		return // it was refused
	}
	p := e.client(h.Conn, "")
	for _, word := range h.Tasks {
		if number, home, ok := parseTaskWord(word); ok {
			p.hands[word] = &taskInHand{number, home}
		} else if p.waits[word] == nil {
			p.waits[word] = &taskWait{
				key: word, accepted: true, told: true, began: e.now, until: e.now + Instant(maxTTL), asked: e.now, pause: Instant(e.cfg.Heartbeat), lacking: map[BrokerID]bool{},
			}
		}
	}
	e.tellServing(p)
	e.poll(p, true)
}

// checkTasks returns what is wrong with the tasks that a hello lists, "" if nothing.
func checkTasks(words []string) string {
	if len(words) > maxTaskWords {
		return fmt.Sprintf("tasks lists %d; expected up to %d", len(words), maxTaskWords)
	}
	for i, word := range words {
		most := maxKey
		if number, _, ok := parseTaskWord(word); ok && number > 0 {
			most = maxWord
		}
		if wrong := checkText("is", word, most); wrong != "" {
			return fmt.Sprintf("tasks[%d] %s", i, wrong)
		}
	}
	return ""
}

// disconnected says that a connection is gone. Servers keep what they have in hand for
// a while, unless they have closed it or cannot come back.
func (e *taskEdge) disconnected(c Conn, closed bool) {
	p := e.conns[c]
	if p == nil {
		return
	}
	delete(e.conns, c)
	for _, w := range p.waits { // each by itself
		e.dropRequest(w)
	}
	for _, home := range sortedKeys(p.told) {
		m := e.serving(p, home)
		m.Away, m.Closed = true, closed || p.anonymous
		e.network.route(home, m)
	}
	if e.clients[p.client] == p {
		delete(e.clients, p.client)
	}
}

// request asks for a task. The same key again is the same task.
func (e *taskEdge) request(in *RequestTask) {
	p := e.client(in.Conn, in.ID)
	if p == nil {
		return
	}
	key := in.Key
	if key == "" {
		e.last = max(e.last+1, uint64(max(e.now, 1)))
		key = strconv.FormatUint(e.last, 36) + "." + string(e.cfg.ID)
	}
	w := p.waits[key]
	switch {
	case w != nil:
	case len(p.waits) >= maxWaits:
		e.refuse(p, in, key, protocol.Overloaded, fmt.Sprintf("%d tasks of this connection wait for their answers or acknowledgements; expected fewer at a time", len(p.waits)))
		return
	case e.bytes > e.cfg.Memory/8:
		e.refuse(p, in, key, protocol.Overloaded, "requests that no queue has taken yet take all the memory that they may")
		return
	}
	if w != nil {
		e.dropRequest(w)
	}
	ttl := cmp.Or(min(in.TTL, maxTTL), defaultTTL)
	w = &taskWait{
		key: key, id: in.ID, robot: in.Robot, began: e.now, until: e.now + Instant(ttl), ttl: ttl, asked: e.now, pause: Instant(e.cfg.Heartbeat),
		request: &TaskRequest{Client: p.client, Attachment: p.attachment, Key: key, ID: in.ID, Queue: in.Queue, Robot: in.Robot, TTL: ttl, Body: in.Body},
	}
	e.bytes += int64(len(in.Body))
	p.waits[key] = w
	e.sendRequest(p, w)
}

// refuse answers a request that nobody has taken.
func (e *taskEdge) refuse(p *taskClient, in *RequestTask, key string, code protocol.Code, message string) {
	e.send(p.conn, &protocol.Reply{Op: protocol.OpReply, ID: in.ID, Key: key, Error: &protocol.ErrorInfo{Code: code, Message: message}})
}

// dropRequest lets go of what a task's home has.
func (e *taskEdge) dropRequest(w *taskWait) {
	if w.request != nil {
		e.bytes -= int64(len(w.request.Body))
		w.request = nil
	}
}

// sendRequest sends a request to the home of its queue, if that is known.
func (e *taskEdge) sendRequest(p *taskClient, w *taskWait) {
	if e.now >= w.until {
		return
	}
	m := *w.request
	m.Left = Duration(max(0, w.until-e.now))
	to := BrokerID("")
	switch {
	case m.Robot == "":
		at := e.directory.place(m.Queue)
		to, m.Life = at.at, max(m.Life, at.since)
	case e.source.readsRobot(m.Robot):
		to = e.cfg.ID
	default:
		if to, m.Registry = e.registry.whereIs(m.Robot); to == "" {
			e.reply(p, w, &outcome{code: protocol.NotFound, message: noRobot(m.Robot)})
			return
		}
	}
	if !m.Registry {
		w.home = to
	}
	if to != "" && e.network.reaches(to) {
		e.network.route(to, &m)
	}
}

// onRenew sends a request again that its home will not take as it was.
func (e *taskEdge) onRenew(m *TaskRenew) {
	p := e.here(m.Client, 0)
	if p == nil {
		return
	}
	if w := p.waits[m.Key]; w != nil && w.request != nil && !w.cancelled {
		w.request.Life = m.Life
		e.sendRequest(p, w)
	}
}

// onAccepted tells a client that its task is stored.
func (e *taskEdge) onAccepted(from BrokerID, m *TaskAccepted) {
	p := e.here(m.Client, 0)
	if p == nil || p.waits[m.Key] == nil {
		return
	}
	w := p.waits[m.Key]
	w.home, w.accepted, w.lacking = from, true, nil
	w.until = e.now + Instant(max(m.Left, 0))
	e.dropRequest(w)
	if !w.told {
		w.told = true
		e.send(p.conn, &protocol.Accepted{Op: protocol.OpAccepted, ID: w.id, Key: w.key, Ahead: m.Ahead})
	}
}

// onAnswer tells a client how its task has ended, once.
func (e *taskEdge) onAnswer(from BrokerID, m *TaskAnswer) {
	p := e.here(m.Client, m.Attachment)
	if p == nil {
		return
	}
	w := p.waits[m.Key]
	if w == nil || w.replied || m.Refused && w.accepted {
		return
	}
	if w.id == "" {
		w.id = m.ID
	}
	if w.robot != "" && m.Code == protocol.NotFound {
		e.registry.answeredFrom(w.robot, from, false) // it reads it no more
	}
	if w.home = from; m.Refused {
		w.home = ""
	}
	e.reply(p, w, &outcome{m.Body, m.Code, m.Message})
}

// reply tells a client how its task has ended. What is not kept anywhere needs no
// acknowledgement.
func (e *taskEdge) reply(p *taskClient, w *taskWait, o *outcome) {
	e.dropRequest(w)
	r := &protocol.Reply{Op: protocol.OpReply, ID: w.id, Key: w.key, OK: o.code == ""}
	if r.OK {
		r.Result = protocol.RawResult(o.body)
	} else {
		r.Error = &protocol.ErrorInfo{Code: o.code, Message: o.message}
	}
	e.send(p.conn, r)
	switch {
	case w.home == "":
		delete(p.waits, w.key)
	case p.anonymous:
		delete(p.waits, w.key)
		e.network.route(w.home, &TaskAck{Client: p.client, Key: w.key})
	default:
		w.replied = true
	}
}

// ack says that a client has an answer: its home forgets the task.
func (e *taskEdge) ack(in *AckTask) {
	p := e.client(in.Conn, "")
	if p == nil {
		return
	}
	if w := p.waits[in.Key]; w != nil && w.replied {
		delete(p.waits, in.Key)
		e.network.route(w.home, &TaskAck{Client: p.client, Key: w.key})
	}
}

// cancel takes a task back.
func (e *taskEdge) cancel(in *CancelTask) {
	p := e.client(in.Conn, "")
	if p == nil {
		return
	}
	w := p.waits[in.Key]
	switch {
	case w == nil: // of an earlier connection, whose hello did not name it
		for _, id := range append(e.network.reachable(), e.cfg.ID) {
			e.network.route(id, &TaskCancel{Client: p.client, Key: in.Key})
		}
	case w.replied:
	case w.home == "" && w.request != nil && w.request.Robot == "": // nobody was asked yet
		e.reply(p, w, &outcome{code: protocol.Cancelled, message: "it was cancelled before any broker had it"})
	default:
		w.cancelled = true
		if w.home != "" {
			e.network.route(w.home, &TaskCancel{Client: p.client, Key: w.key})
		}
	}
}

// onProgress tells a client how its task comes on.
func (e *taskEdge) onProgress(m *TaskProgress) {
	p := e.here(m.Asker, 0)
	if p == nil {
		return
	}
	if w := p.waits[m.Key]; w != nil && !w.replied {
		e.send(p.conn, &protocol.Progress{Op: protocol.OpProgress, ID: cmp.Or(w.id, m.ID), Key: m.Key, Progress: m.Body})
	}
}
