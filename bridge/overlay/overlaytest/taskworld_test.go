package overlaytest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// declaredQueue lives at one broker of a schedule; passing ones live where they may.
const declaredQueue = "docks"

var taskQueues = []string{declaredQueue, "p", "q"}

// TaskConfig says what schedules of tasks to run.
type TaskConfig struct {
	Faults bool // links are cut, brokers are killed, messages are late
	Every  bool // each broker has the registry
	Log    func(string, ...any)
}

// program is a client that asks for tasks, serves queues, or both.
type program struct {
	w          *taskWorld
	name       string
	anonymous  bool
	attachment uint64
	conn       overlay.Conn // 0: none
	at         int
	session    string
	inbox      []any // what the present connection has brought

	asks   map[string]*asking
	serves map[string]string // id → queue
	hands  map[string]*protocol.Task
	dones  []*overlay.DoneTask // said lately: said again on another connection
	lost   bool                // its hands are forgotten: the process was started again
}

// asking is a task that a program has asked for.
type asking struct {
	key, queue, robot string
	ttl               overlay.Duration
	accepted          bool
	since             overlay.Instant
	reply             *protocol.Reply
	cancelled         bool
}

// storedTask is what a broker has stored of a task.
type storedTask struct {
	queue, robot, client, key, held string
	back, answered                  bool
}

// execution is a command that is being carried out.
type execution struct {
	at   int
	out  *overlay.Execute
	life int
}

// taskWorld is a network with programs that do tasks for each other.
type taskWorld struct {
	*cluster
	cfg      TaskConfig
	home     int // of the declared queue
	programs []*program
	byConn   map[overlay.Conn]*program
	next     int            // task
	did      map[string]int // by client and key: how often a server has answered
	executed map[string]int // commands that robots were given
	running  []execution
	lives    map[int]int
	stored   map[overlay.BrokerID]map[uint64]*storedTask
	firsts   map[string]uint64 // by queue: the number that was given last, of those that had not come back
	stray    bool              // the declared queue's name was another broker's passing queue, since its own was out of reach
	left     map[string]int    // by queue: tasks of programs without an id that have gone, which nobody waits for
	unsure   map[string]bool   // commands whose broker was killed meanwhile
}

// RunTasks runs one schedule of tasks.
func RunTasks(choice Choice, cfg TaskConfig) (result Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("%s", f.text)
		}
	}()
	w := newTaskWorld(choice, cfg)
	w.run()
	w.finale()
	return Result{Hash: uint64(w.trace), Marks: w.marks, Stats: w.stats()}, nil
}

func newTaskWorld(choice Choice, cfg TaskConfig) *taskWorld {
	n := 1 + choice.Intn(5)
	var links []link
	add := func(l link) {
		if l.a != l.b && !slices.Contains(links, l) {
			links = append(links, l)
		}
	}
	for i := 1; i < n; i++ {
		add(linkOf(i, choice.Intn(i)))
	}
	for range choice.Intn(3) {
		add(linkOf(choice.Intn(n), choice.Intn(n)))
	}
	oc := overlay.Config{Neighbours: n > 1, Mode: overlay.ModeOne, Inbox: overlay.Limits{Keep: 60 * overlay.Second}}
	if cfg.Every {
		oc.Mode = overlay.ModeEvery
	}
	w := &taskWorld{
		cfg: cfg, home: choice.Intn(n), byConn: map[overlay.Conn]*program{}, did: map[string]int{}, executed: map[string]int{}, lives: map[int]int{},
		stored: map[overlay.BrokerID]map[uint64]*storedTask{}, firsts: map[string]uint64{}, left: map[string]int{}, unsure: map[string]bool{},
	}
	limit := overlay.QueueConfig{Name: declaredQueue, Tries: 50}
	if choice.Intn(4) == 0 {
		limit.Count = 3
	}
	w.cluster = newClusterOf(choice, n, links, oc, choice.Intn(n), cfg.Log, map[int][]overlay.QueueConfig{w.home: {limit}})
	w.traced = true
	w.tasksOf, w.stores, w.steps = w.take, w.store, w.stepped
	for i := range n {
		w.appeared[i] = true
		w.advertise(i)
	}
	for i := range 2 + choice.Intn(3) {
		w.programs = append(w.programs, newProgram(w, fmt.Sprintf("c%d", i+1)))
	}
	if choice.Intn(4) == 0 {
		p := newProgram(w, "")
		p.anonymous = true
		w.programs = append(w.programs, p)
	}
	return w
}

func newProgram(w *taskWorld, name string) *program {
	return &program{w: w, name: name, asks: map[string]*asking{}, serves: map[string]string{}, hands: map[string]*protocol.Task{}}
}

// take takes what brokers put out of tasks.
func (w *taskWorld) take(x *broker, out overlay.Output) bool {
	switch o := out.(type) {
	case *overlay.Send:
		if p := w.byConn[o.Conn]; p != nil {
			if a, is := o.Message.(*protocol.Accepted); is {
				w.mustBeStored(p, a.Key)
			}
			p.inbox = append(p.inbox, o.Message)
		}
		return true
	case *overlay.Close:
		if p := w.byConn[o.Conn]; p != nil {
			delete(w.byConn, o.Conn)
			p.gone()
			w.step(x.id, &overlay.Disconnected{Conn: o.Conn})
		}
		return true
	case *overlay.Execute:
		name := o.Client + " " + string(o.Body)
		if w.executed[name]++; w.executed[name] > 1 {
			failf("%s is carried out twice", name)
		}
		w.running = append(w.running, execution{x.id, o, w.lives[x.id]})
		return true
	}
	return false
}

// stepped has a broker take an input in.
func (w *taskWorld) stepped(x *broker, in overlay.Input) {
	x.b.Step(w.now, in)
	for _, q := range x.b.Queues() {
		if q.Name == declaredQueue && !q.Declared && !w.stray {
			w.stray = true
			w.marks["strays"]++
			if !w.cfg.Faults {
				failf("%s begins the queue that %s declares", x.name, brokerName(w.home))
			}
		}
	}
}

// store follows what brokers store of tasks: it is what they know.
func (w *taskWorld) store(x *broker, r overlay.Record) {
	all := w.stored[x.name]
	if all == nil {
		all = map[uint64]*storedTask{}
		w.stored[x.name] = all
	}
	switch r := r.(type) {
	case *overlay.TaskRecord:
		all[r.Number] = &storedTask{queue: r.Queue, robot: r.Robot, client: r.Client, key: r.Key}
	case *overlay.TaskHeldRecord:
		t := all[r.Number]
		switch {
		case t == nil || t.answered:
			failf("%s stores that task %d is in %q's hands, which it does not have any more", x.name, r.Number, r.Server)
		case r.Server == "":
			t.held, t.back = "", true
		case t.held != "":
			failf("task %d of %s is in the hands of %s and of %s", r.Number, t.queue, t.held, r.Server)
		default:
			t.held = r.Server
			if !t.back && t.robot == "" {
				if last := w.firsts[string(x.name)+t.queue]; last > r.Number {
					failf("task %d of %s is given behind task %d", r.Number, t.queue, last)
				}
				w.firsts[string(x.name)+t.queue] = r.Number
			}
		}
	case *overlay.TaskAnsweredRecord:
		if t := all[r.Number]; t == nil || t.answered {
			failf("%s stores two answers to task %d", x.name, r.Number)
		} else {
			t.answered = true
		}
	case *overlay.TaskEndedRecord:
		if t := all[r.Number]; t == nil || !t.answered {
			failf("%s forgets task %d, which has no answer", x.name, r.Number)
		}
		delete(all, r.Number)
	}
}

// mustBeStored fails if a task of the declared queue was accepted and is not stored.
func (w *taskWorld) mustBeStored(p *program, key string) {
	a := p.asks[key]
	if a == nil || a.queue != declaredQueue && a.robot == "" || p.anonymous || w.stray && a.robot == "" {
		return
	}
	for _, all := range w.stored {
		for _, t := range all {
			if t.client == p.name && t.key == key {
				return
			}
		}
	}
	failf("%s is told that %s is accepted, and no broker has stored it", p.name, key)
}

// execute ends a command that is being carried out.
func (w *taskWorld) execute() {
	at := w.choice.Intn(len(w.running))
	e := w.running[at]
	w.running = slices.Delete(w.running, at, at+1)
	if e.life == w.lives[e.at] {
		w.did[string(e.out.Body)]++
		w.step(e.at, &overlay.Executed{Task: e.out.Task, Body: []byte("done " + string(e.out.Body))})
	}
}

// crash kills a broker, and starts it again with what it has stored.
func (w *taskWorld) crash(x int) {
	w.marks["crashes"]++
	w.now += 1000
	for _, e := range w.running {
		if e.at == x && e.life == w.lives[x] {
			w.unsure[string(e.out.Body)] = true
		}
	}
	w.lives[x]++
	for _, p := range w.programs {
		if p.conn != 0 && p.at == x {
			delete(w.byConn, p.conn)
			p.gone()
		}
	}
	for _, l := range w.links {
		if l.a != x && l.b != x || w.cut[l] {
			continue
		}
		w.cut[l] = true
		y := l.a + l.b - x
		w.between[[2]int{x, y}].lose()
		w.between[[2]int{y, x}].lose()
		session := w.brokers[y].sessions[x]
		delete(w.brokers[y].sessions, x)
		w.step(y, &overlay.LinkDown{Neighbour: brokerName(x), Session: session})
	}
	w.start(x, w.brokers[x].records, false)
	for _, l := range w.links {
		if (l.a == x || l.b == x) && w.choice.Intn(4) > 0 {
			w.up(l)
		}
	}
}

func (w *taskWorld) move() bool {
	links := w.busy()
	n := len(links) + len(w.running)
	for _, p := range w.programs {
		if len(p.inbox) > 0 {
			n++
		}
	}
	if n == 0 {
		return false
	}
	at := w.choice.Intn(n)
	if at < len(links) {
		w.deliver(links[at])
		return true
	}
	if at -= len(links); at < len(w.running) {
		w.execute()
		return true
	}
	at -= len(w.running)
	for _, p := range w.programs {
		if len(p.inbox) > 0 {
			if at == 0 {
				p.process()
				return true
			}
			at--
		}
	}
	return false
}

func (w *taskWorld) settle() {
	for range 100_000 {
		if !w.move() {
			return
		}
	}
	failf("it does not settle")
}

func (w *taskWorld) period() {
	if !w.cfg.Faults {
		w.settle()
	} else {
		for w.oldest() < w.now-second/2 { // no message takes longer than about a period
			if !w.move() {
				break
			}
		}
	}
	w.now += second
	left := make([]int, len(w.brokers))
	for i := range left {
		left[i] = i
	}
	for len(left) > 0 {
		at := w.choice.Intn(len(left))
		w.step(left[at], &overlay.Tick{})
		left = slices.Delete(left, at, at+1)
	}
}

func (w *taskWorld) act(p *program) {
	u := w.choice.Intn(100)
	switch {
	case p.conn == 0:
		p.attach(w.choice.Intn(len(w.brokers)))
	case u < 8:
		p.detach(w.choice.Intn(3) == 0)
	case u < 20 && !p.anonymous: // it roams
		c, at := p.conn, p.at
		delete(w.byConn, c)
		p.attach(w.choice.Intn(len(w.brokers)))
		w.step(at, &overlay.Disconnected{Conn: c})
	case u < 35:
		id := []string{"s", "ss"}[w.choice.Intn(2)]
		if p.serves[id] == "" {
			p.serves[id] = pick(w.choice, taskQueues)
			w.step(p.at, &overlay.Serve{Conn: p.conn, ID: id, Queue: p.serves[id], AtOnce: 1 + len(id)%2})
		} else if w.choice.Intn(2) == 0 {
			delete(p.serves, id)
			w.step(p.at, &overlay.Unserve{Conn: p.conn, ID: id})
		}
	case u < 60:
		ttl := overlay.Duration(80_000 * overlay.Second)
		if w.choice.Intn(5) == 0 {
			ttl = 5 * overlay.Second
		}
		if w.choice.Intn(5) == 0 && !p.anonymous {
			p.ask("", robotName(w.choice.Intn(len(w.brokers))), ttl)
		} else {
			p.ask(pick(w.choice, taskQueues), "", ttl)
		}
	case u < 66:
		if open := p.open(); len(open) > 0 {
			key := pick(w.choice, open)
			p.asks[key].cancelled = true
			w.step(p.at, &overlay.CancelTask{Conn: p.conn, Key: key})
		}
	default:
		p.work()
	}
}

// open lists the tasks that are not answered.
func (p *program) open() (keys []string) {
	for _, key := range sortedKeys(p.asks) {
		if p.asks[key].reply == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

func (w *taskWorld) fault() {
	cuts := slices.SortedFunc(maps.Keys(w.cut), func(a, b link) int { return cmp.Or(cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b)) })
	switch u := w.choice.Intn(100); {
	case len(cuts) > 0 && u < 45:
		w.up(pick(w.choice, cuts))
	case u < 65 && len(w.links) > 0:
		w.down(pick(w.choice, w.links))
		w.marks["cuts"]++
	default:
		w.crash(w.choice.Intn(len(w.brokers)))
	}
}

func (w *taskWorld) run() {
	if w.choice.Intn(3) > 0 {
		w.settle()
	}
	for range 30 + w.choice.Intn(200) {
		switch u := w.choice.Intn(100); {
		case u < 40:
			w.act(pick(w.choice, w.programs))
		case u < 50:
			w.period()
		case u < 54 && w.cfg.Faults:
			w.fault()
		default:
			w.move()
		}
	}
}

// finale heals all, and sees that each task is answered.
func (w *taskWorld) finale() {
	for _, l := range w.links {
		if w.cut[l] {
			w.up(l)
		}
	}
	for _, p := range w.programs {
		if p.conn == 0 {
			p.attach(w.choice.Intn(len(w.brokers)))
		}
	}
	w.settle()
	server := newProgram(w, "finale")
	w.programs = append(w.programs, server)
	server.attach(w.choice.Intn(len(w.brokers)))
	server.serves["all"] = declaredQueue
	w.step(server.at, &overlay.Serve{Conn: server.conn, ID: "all", Queue: declaredQueue, AtOnce: 1000})
	for range 160 {
		w.settle()
		w.period()
		w.settle()
		open := 0
		for _, p := range w.programs {
			for len(p.hands) > 0 && p.conn != 0 {
				p.work()
			}
			if p.conn == 0 {
				p.attach(w.choice.Intn(len(w.brokers)))
			}
			open += len(p.open())
		}
		if w.settle(); open == 0 {
			for range 2 { // for who has not heard of where queues live
				w.period()
				w.settle()
			}
			w.empty()
			return
		}
	}
	for _, p := range w.programs {
		for _, key := range p.open() {
			failf("%s has no answer to %s of %s%s (accepted: %v)", p.name, key, p.asks[key].queue, p.asks[key].robot, p.asks[key].accepted)
		}
	}
}

// empty sees that nothing of what has ended is left in queues and hands.
func (w *taskWorld) empty() {
	homes := map[string]overlay.BrokerID{}
	for _, x := range w.brokers {
		for _, q := range x.b.Queues() {
			if other := homes[q.Name]; other != "" {
				failf("%s lives at %s and at %s", q.Name, other, x.name)
			}
			homes[q.Name] = x.name
			if (q.Waiting > w.left[q.Name] || q.Waiting == 0 && q.Bytes > 0) && !w.cfg.Faults { // with faults programs may have given up
				failf("%d tasks (%d bytes) wait in %s of %s, and all but %d are answered", q.Waiting, q.Bytes, q.Name, x.name, w.left[q.Name])
			}
		}
		if i := x.b.Tasks(); i.Pending != 0 && !w.cfg.Faults {
			failf("%s counts %d bytes that no home has yet", x.name, i.Pending)
		}
	}
}

func describeReply(m *protocol.Reply) string {
	if m.Error != nil {
		return string(m.Error.Code) + " " + m.Error.Message
	}
	return resultOf(m)
}

func resultOf(m *protocol.Reply) string {
	if raw, is := m.Result.(*json.RawMessage); is {
		return string(*raw)
	}
	return ""
}
