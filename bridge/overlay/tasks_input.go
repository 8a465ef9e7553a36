package overlay

import "callboard/subscribe/protocol"

// Serve says that a client does the tasks of a queue.
type Serve struct {
	Conn   Conn
	ID     string
	Queue  string
	AtOnce int // tasks in hand at a time
}

// Unserve says that it takes no further ones.
type Unserve struct {
	Conn Conn
	ID   string
}

// RequestTask asks for a task; or with Robot for a command to it, which is carried
// out once.
type RequestTask struct {
	Conn  Conn
	ID    string
	Queue string
	Robot string // instead of Queue
	Key   string // "": the broker's
	Body  []byte
	TTL   Duration // 0: 10 s
}

// CancelTask says that a client does not want a task done any more.
type CancelTask struct {
	Conn Conn
	Key  string
}

// DoneTask is a server's answer: Body, or with Failed the Message of an error.
type DoneTask struct {
	Conn    Conn
	Task    string // its word
	Body    []byte
	Failed  bool
	Message string
}

// ProgressTask tells how a task comes on.
type ProgressTask struct {
	Conn Conn
	Task string
	Body []byte
}

// AckTask says that a client has the answer to a task.
type AckTask struct {
	Conn Conn
	Key  string
}

// Executed answers an Execute: Body, or Code and Message of an error.
type Executed struct {
	Task    uint64
	Body    []byte
	Code    protocol.Code
	Message string
}

// Execute has a command carried out by the robots of this broker. That it is about
// to be has been recorded.
type Execute struct {
	Task   uint64
	Client string // that asks, as in Key
	Robot  string
	Body   []byte
	Left   Duration
}

func (*Serve) input() {}

func (*Unserve) input() {}

func (*RequestTask) input() {}

func (*CancelTask) input() {}

func (*DoneTask) input() {}

func (*ProgressTask) input() {}

func (*AckTask) input() {}

func (*Executed) input() {}

func (*Execute) output() {}
