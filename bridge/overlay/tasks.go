package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callboard/subscribe/protocol"
)

// Tasks are requests that one program does for another. They wait in a queue, which
// lives at one broker, its home (tasks_home.go). Who asks and who serves hang on
// edges (tasks_edge.go). Brokers tell each other by floods which queues live where
// (tasks_directory.go). TASKS.md says how it is built.

// QueueConfig declares a queue that lives at this broker, with or without servers.
// Zero values are the defaults.
type QueueConfig struct {
	Name  string
	Count int // tasks that wait; default 10,000
	Bytes int // of their bodies; default 64 MiB
	Tries int // how often a task may come back from servers; default 3
}

// complete fills in the defaults.
func (c *QueueConfig) complete() error {
	if wrong := checkQueue(c.Name); wrong != "" {
		return fmt.Errorf("overlay: a queue's name %s", wrong)
	}
	for _, v := range []struct {
		value *int
		name  string
		def   int
	}{{&c.Count, "Count", 10_000}, {&c.Bytes, "Bytes", 64 << 20}, {&c.Tries, "Tries", 3}} {
		if *v.value < 0 {
			return fmt.Errorf("overlay: %s of the queue %q is %d; expected 1 or more", v.name, c.Name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.def
		}
	}
	return nil
}

// completeQueues fills in the defaults of all.
func (c *Config) completeQueues() error {
	c.Queues = slices.Clone(c.Queues)
	seen := map[string]bool{}
	for i := range c.Queues {
		if err := c.Queues[i].complete(); err != nil {
			return err
		}
		if name := c.Queues[i].Name; seen[name] {
			return fmt.Errorf("overlay: the queue %q is declared twice", name)
		}
		seen[c.Queues[i].Name] = true
	}
	return nil
}

// Bounds of what clients may ask for.
const (
	maxQueueName = 200     // characters
	maxKey       = 256     // bytes
	maxAtOnce    = 1000    // tasks of one serve in hand
	maxServes    = 1000    // of one connection
	maxWaits     = 131_072 // tasks of one connection whose answers are awaited
	maxTaskWords = 131_072 // that a hello may list
	maxQueues    = 10_000  // that live at one broker
	maxPassing   = 100_000 // tasks that wait in a passing queue
	maxTTL       = 86_400 * Second
	defaultTTL   = 10 * Second
	maxTombs     = 1 << 18 // of tasks that were acknowledged
	awayPeriods  = 3       // how long a server that is away keeps what it has in hand
)

// checkQueue returns what is wrong with a queue's name, "" if nothing.
func checkQueue(name string) string {
	if wrong := checkText("is", name, 4*maxQueueName); wrong != "" {
		return wrong
	}
	if n := len([]rune(name)); n > maxQueueName {
		return fmt.Sprintf("has %d characters; expected up to %d", n, maxQueueName)
	}
	return ""
}

// checkText returns what is wrong with a name that a client chose, "" if nothing.
func checkText(verb, text string, most int) string {
	switch {
	case text == "":
		return verb + " empty; expected text"
	case len(text) > most:
		return fmt.Sprintf("%s too long; expected up to %d bytes", verb, most)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }):
		return "has control characters, or is not UTF-8"
	}
	return ""
}

// wordMark begins the words for tasks, and no key that a client chooses: a hello lists
// both.
const wordMark = "~"

// taskWord returns the lasting word for a task: its number, and where it lives.
func taskWord(number uint64, home BrokerID) string {
	return wordMark + strconv.FormatUint(number, 10) + "." + string(home)
}

// parseTaskWord reads it.
func parseTaskWord(word string) (number uint64, home BrokerID, ok bool) {
	rest, marked := strings.CutPrefix(word, wordMark)
	digits, id, found := strings.Cut(rest, ".")
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, BrokerID(id), marked && found && err == nil && number > 0 && id != "" && len(id) <= maxID
}

// binding says where a client hangs: what comes of an older one is late.
type binding struct {
	attachment uint64
	edge       BrokerID
}

func (b binding) compare(c binding) int {
	return cmp.Or(cmp.Compare(b.attachment, c.attachment), cmp.Compare(b.edge, c.edge))
}

// outcome is how a task ends: Body, or Code and Message of an error.
type outcome struct {
	body    []byte
	code    protocol.Code
	message string
}

func (o *outcome) size() int { return len(o.body) + len(o.message) }

// tasks are all that a broker has to do with tasks.
type tasks struct {
	directory *queueDirectory
	home      *taskHome
	edge      *taskEdge
}

func newTasks(s *step, edge tasksToEdge, source tasksToSource, network tasksToNetwork, registry tasksToRegistry) *tasks {
	t := &tasks{
		directory: &queueDirectory{step: s, network: network, heard: map[BrokerID]*heardQueues{}, places: map[string]queuePlace{}},
		home:      newTaskHome(s, network, registry),
		edge:      newTaskEdge(s, edge, source, network, registry),
	}
	t.directory.home, t.home.directory, t.edge.directory, t.edge.home = t.home, t.directory, t.directory, t.home
	return t
}

// take takes what other brokers, or this one, say of tasks.
func (t *tasks) take(from BrokerID, m RegistryMessage) {
	switch m := m.(type) {
	case *TaskRequest:
		t.home.onRequest(from, m)
	case *TaskPoll:
		t.home.onPoll(from, m)
	case *TaskCancel:
		t.home.onCancel(m)
	case *TaskAck:
		t.home.onAck(m)
	case *TaskServing:
		t.home.onServing(from, m)
	case *TaskDone:
		t.home.onDone(from, m)
	case *TaskRenew:
		t.edge.onRenew(m)
	case *TaskAccepted:
		t.edge.onAccepted(from, m)
	case *TaskAnswer:
		t.edge.onAnswer(from, m)
	case *TaskPolled:
		t.edge.onPolled(from, m)
	case *TaskGive:
		t.edge.onGive(from, m)
	case *TaskTaken:
		t.edge.onTaken(from, m)
	case *TaskStop:
		t.edge.onStop(from, m)
	case *TaskProgress:
		if m.Asker == "" {
			t.home.onProgress(m)
		} else {
			t.edge.onProgress(m)
		}
	}
}

// hear takes what a broker says of its queues.
func (t *tasks) hear(from BrokerID, m *QueuesMessage) { t.directory.hear(from, m) }

// linkUp tells a new neighbour all queues that are known.
func (t *tasks) linkUp(neighbour BrokerID) { t.directory.linkUp(neighbour) }

// do takes what clients say of tasks, and the runtime of commands.
func (t *tasks) do(in Input) {
	switch in := in.(type) {
	case *Serve:
		t.edge.serve(in)
	case *Unserve:
		t.edge.unserve(in)
	case *RequestTask:
		t.edge.request(in)
	case *CancelTask:
		t.edge.cancel(in)
	case *DoneTask:
		t.edge.done(in)
	case *ProgressTask:
		t.edge.progress(in)
	case *AckTask:
		t.edge.ack(in)
	case *Executed:
		t.home.executed(in)
	}
}

// pass does what a period asks for.
func (t *tasks) pass() {
	t.home.pass()
	t.edge.pass()
	t.directory.pass()
}

// endStep does what is due, and tells what is new.
func (t *tasks) endStep() {
	t.home.expire()
	t.directory.endStep()
	t.edge.endStep()
}

// due is when that is to be done next.
func (t *tasks) due() Instant { return min(t.home.due(), t.directory.due()) }
