package overlay

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"callboard/subscribe/protocol"
)

// taskInputs are the inputs of a command that is about tasks; nil: it is not.
//
//	serve c s queue=docks [at_once=2] | unserve c s
//	request c key queue=docks [ttl=60] | command c key robot=r0 [ttl=60] | cancel c key | answered c key
//	progress c WORD | done c WORD [error=why]
//	executed NUMBER                                  the runtime has carried a command out
func (s *script) taskInputs(d *datadriven.TestData) []Input {
	word := func(i int) string {
		if i < len(d.CmdArgs) {
			return d.CmdArgs[i].Key
		}
		return ""
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(arg(d, name))
		return n
	}
	c, name := s.conn(word(0)), word(1)
	switch d.Cmd {
	case "serve":
		return []Input{&Serve{Conn: c, ID: name, Queue: arg(d, "queue"), AtOnce: max(1, number("at_once"))}}
	case "unserve":
		return []Input{&Unserve{Conn: c, ID: name}}
	case "request", "command":
		return []Input{&RequestTask{
			Conn: c, ID: "r-" + name, Key: name, Queue: arg(d, "queue"), Robot: arg(d, "robot"), Body: []byte(strconv.Quote(name)), TTL: Duration(number("ttl")) * Second,
		}}
	case "cancel":
		return []Input{&CancelTask{Conn: c, Key: name}}
	case "answered":
		return []Input{&AckTask{Conn: c, Key: name}}
	case "progress":
		return []Input{&ProgressTask{Conn: c, Task: name, Body: []byte(`"half"`)}}
	case "done":
		why := arg(d, "error")
		return []Input{&DoneTask{Conn: c, Task: name, Body: []byte(`"done"`), Failed: why != "", Message: why}}
	case "executed":
		n, _ := strconv.ParseUint(word(0), 10, 64)
		return []Input{&Executed{Task: n, Body: []byte(`"moved"`)}}
	}
	return nil
}

// queuesOf are the queues that a transcript's broker declares.
func queuesOf(d *datadriven.TestData) (all []QueueConfig) {
	for _, name := range strings.FieldsFunc(arg(d, "queues"), func(r rune) bool { return r == ',' }) {
		name, count, _ := strings.Cut(name, ":")
		n, _ := strconv.Atoi(count)
		all = append(all, QueueConfig{Name: name, Count: n})
	}
	return all
}

// describeTask writes a message about tasks; "" for another.
func describeTask(m any) string {
	switch m := m.(type) {
	case *protocol.Accepted:
		return fmt.Sprintf("accepted %s key=%s ahead=%d", m.ID, m.Key, m.Ahead)
	case *protocol.Task:
		text := fmt.Sprintf("task %s %s of %s from=%s body=%s left=%v", m.ID, m.Task, m.Queue, m.From, m.Body, m.Left)
		if m.Again {
			text += " again"
		}
		return text
	case *protocol.CancelledTask:
		return "cancelled " + m.Task
	case *protocol.Progress:
		return fmt.Sprintf("progress %s key=%s %s", m.ID, m.Key, m.Progress)
	case *protocol.Reply:
		switch result, is := m.Result.(*json.RawMessage); {
		case m.Key == "":
		case m.Error != nil:
			return fmt.Sprintf("reply %s key=%s %s: %s", m.ID, m.Key, m.Error.Code, m.Error.Message)
		case is:
			return fmt.Sprintf("reply %s key=%s %s", m.ID, m.Key, *result)
		}
	}
	return ""
}

// describeTaskRecord writes a record of a task; "" for another.
func describeTaskRecord(r Record) string {
	switch r := r.(type) {
	case *TaskRecord:
		return fmt.Sprintf("task %d of %s%s: %s of %q, until %v", r.Number, r.Queue, r.Robot, r.Key, r.Client, r.Until)
	case *TaskHeldRecord:
		return fmt.Sprintf("task %d in the hands of %q, %d tries", r.Number, r.Server, r.Tries)
	case *TaskAnsweredRecord:
		return fmt.Sprintf("task %d answered: %s%s %s", r.Number, r.Body, r.Code, r.Message)
	case *TaskEndedRecord:
		return fmt.Sprintf("task %d ended", r.Number)
	}
	return ""
}
