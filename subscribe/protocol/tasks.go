package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Operations of tasks: requests that one program does for another.
const (
	OpServe   = "serve"
	OpUnserve = "unserve"
	OpRequest = "request"
	OpCancel  = "cancel"
	OpDone    = "done"

	OpAccepted  = "accepted"
	OpTask      = "task"
	OpCancelled = "cancelled"
	OpProgress  = "progress"
)

// Limits of tasks.
const (
	MaxQueue     = 200    // characters of a queue's name
	MaxAtOnce    = 1000   // tasks of one serve in hand at a time
	MaxTTL       = 86_400 // s
	MaxTaskWords = 1 << 17
)

// Serve says that a client does the tasks of a queue.
type Serve struct {
	Op     string  `json:"op"`
	ID     string  `json:"id"`
	Queue  string  `json:"queue"`
	AtOnce *uint64 `json:"at_once,omitempty"` // tasks in hand at a time; left out: 1
}

// Unserve says that it takes no further ones. Those in hand may still be done.
type Unserve struct {
	Op string `json:"op"`
	ID string `json:"id"`
}

// Request asks for a task.
type Request struct {
	Op    string          `json:"op"`
	ID    string          `json:"id"`
	Queue string          `json:"queue"`
	Body  json.RawMessage `json:"body,omitempty"`
	TTL   *float64        `json:"ttl,omitempty"` // s that it may wait and take; left out: 10
	Key   string          `json:"key,omitempty"` // lasting name, unique for the client; "": the broker's
}

// Cancel says that a client does not want a task done any more.
type Cancel struct {
	Op  string `json:"op"`
	Key string `json:"key"`
}

// Done is a server's answer to a task: Body or Error; or with Progress how it comes on.
type Done struct {
	Op       string          `json:"op"`
	Task     string          `json:"task"`
	Body     json.RawMessage `json:"body,omitempty"`
	Error    *TaskError      `json:"error,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`
}

// TaskError says why a server could not do a task.
type TaskError struct {
	Message string `json:"message"`
}

// Accepted says that a task is stored where its queue lives, and will be answered.
type Accepted struct {
	Op    string `json:"op"`
	ID    string `json:"id"`
	Key   string `json:"key"`
	Ahead uint64 `json:"ahead"` // tasks before it
}

// Task puts a task into a server's hands.
type Task struct {
	Op    string          `json:"op"`
	ID    string          `json:"id"`   // of the serve
	Task  string          `json:"task"` // a lasting word
	Queue string          `json:"queue"`
	From  string          `json:"from,omitempty"` // client; left out: one without an id
	Body  json.RawMessage `json:"body,omitempty"`
	Left  float64         `json:"left"`            // s
	Again bool            `json:"again,omitempty"` // somebody had it in hand before
}

// CancelledTask tells a server that its answer is not wanted any more.
type CancelledTask struct {
	Op   string `json:"op"`
	Task string `json:"task"`
}

// Progress tells who asked how a task comes on.
type Progress struct {
	Op       string          `json:"op"`
	ID       string          `json:"id"`
	Key      string          `json:"key"`
	Progress json.RawMessage `json:"progress"`
}

// RawResult returns the body of an answer as a reply's result: nil if there is none.
func RawResult(body []byte) any {
	if len(body) == 0 {
		return nil
	}
	result := json.RawMessage(body)
	return &result
}

// raw takes any JSON value.
func raw(to *json.RawMessage) setter {
	return func(_ string, value json.RawMessage) *Invalid {
		*to = bytes.Clone(value) // it is part of the message's text
		return nil
	}
}

// taskError takes the error of a task.
func taskError(to **TaskError) setter {
	return func(field string, value json.RawMessage) *Invalid {
		if value[0] != '{' {
			return wrongType(field, value, "an object with message")
		}
		o, problem := readObject(value, field)
		if problem != nil {
			return problem
		}
		*to = &TaskError{}
		return o.take(false, fields{"message": text(&(*to).Message)})
	}
}

// validQueue checks the name of a queue.
func validQueue(name string) *Invalid {
	if i := required("queue", name); i != nil {
		return i
	}
	if n := utf8.RuneCountInString(name); n > MaxQueue {
		return &Invalid{Code: BadMessage, Field: "queue", Message: fmt.Sprintf("%d characters; the limit is %d", n, MaxQueue)}
	}
	return plainText("queue", name)
}

// plainText refuses control characters.
func plainText(field, s string) *Invalid {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return &Invalid{Code: BadMessage, Field: field, Message: "it has control characters; expected text without"}
		}
	}
	return nil
}

// validKey checks the lasting name of a task; "" may be left out.
func validKey(key string) *Invalid {
	switch {
	case len(key) > MaxID:
		return &Invalid{Code: BadMessage, Field: "key", Message: fmt.Sprintf("%d bytes; the limit is %d", len(key), MaxID)}
	case key != "" && key[0] == '~':
		return &Invalid{Code: BadMessage, Field: "key", Message: "it begins with ~, as the words for tasks do; expected another first character"}
	}
	return plainText("key", key)
}

func validTTL(ttl *float64) *Invalid {
	if ttl == nil || *ttl > 0 && *ttl <= MaxTTL {
		return nil
	}
	return &Invalid{Code: BadMessage, Field: "ttl", Message: fmt.Sprintf("%g; expected a number of seconds above 0, up to %d", *ttl, MaxTTL)}
}

// checkTask checks a message of a client about tasks.
func checkTask(m any) *Invalid {
	switch m := m.(type) {
	case *Serve:
		if i := firstInvalid(validID(m.ID), validQueue(m.Queue)); i != nil {
			return i
		}
		if n := m.AtOnce; n != nil && (*n < 1 || *n > MaxAtOnce) {
			return &Invalid{Code: BadMessage, Field: "at_once", Message: fmt.Sprintf("%d; expected a number from 1 to %d", *n, MaxAtOnce)}
		}
	case *Unserve:
		return validID(m.ID)
	case *Request:
		return firstInvalid(validID(m.ID), validQueue(m.Queue), validTTL(m.TTL), validKey(m.Key))
	case *Cancel:
		return firstInvalid(required("key", m.Key), validKey(m.Key))
	case *Done:
		return m.check()
	}
	return nil
}

func (m *Done) check() *Invalid {
	if i := required("task", m.Task); i != nil {
		return i
	}
	given := 0
	for _, is := range []bool{m.Body != nil, m.Error != nil, m.Progress != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return &Invalid{Code: BadMessage, Message: "body, error and progress contradict each other; expected one of them"}
	}
	return nil
}

// taskMessage decodes a message about tasks by its op; nil if it is none.
func (o *object) taskMessage(op string) (any, *Invalid) {
	switch op {
	case OpServe:
		m := &Serve{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID), "queue": text(&m.Queue), "at_once": pointer(&m.AtOnce, count)})
	case OpUnserve:
		m := &Unserve{Op: op}
		return m, o.take(false, fields{"id": text(&m.ID)})
	case OpRequest:
		m := &Request{Op: op}
		return m, o.takeRequest(m)
	case OpCancel:
		m := &Cancel{Op: op}
		return m, o.take(false, fields{"key": text(&m.Key)})
	case OpDone:
		m := &Done{Op: op}
		return m, o.takeDone(m)
	}
	return nil, nil
}

// The messages of which there are many are read without a list of their fields.

func (o *object) takeRequest(m *Request) *Invalid {
	return o.each(func(key string) setter {
		switch key {
		case "id":
			return text(&m.ID)
		case "queue":
			return text(&m.Queue)
		case "body":
			return raw(&m.Body)
		case "ttl":
			return pointer(&m.TTL, number)
		case "key":
			return text(&m.Key)
		}
		return nil
	})
}

func (o *object) takeDone(m *Done) *Invalid {
	return o.each(func(key string) setter {
		switch key {
		case "task":
			return text(&m.Task)
		case "body":
			return raw(&m.Body)
		case "error":
			return taskError(&m.Error)
		case "progress":
			return raw(&m.Progress)
		}
		return nil
	})
}

func (o *object) takeAck(m *Ack) *Invalid {
	return o.each(func(key string) setter {
		switch key {
		case "source":
			return text(&m.Source)
		case "num":
			return count(&m.Num)
		case "key":
			return text(&m.Key)
		}
		return nil
	})
}

// each decodes the fields for which there is a setter.
func (o *object) each(setterOf func(key string) setter) *Invalid {
	for i := range o.fields {
		if set := setterOf(o.fields[i].key); set != nil {
			if problem := set(o.field(o.fields[i].key), o.fields[i].value); problem != nil {
				return problem
			}
		}
	}
	return nil
}
