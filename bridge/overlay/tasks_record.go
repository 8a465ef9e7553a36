package overlay

import "callboard/subscribe/protocol"

// Records of tasks of declared queues, and of commands with a key. Those of passing
// queues are not stored.

// TaskRecord puts a task into its queue.
type TaskRecord struct {
	Number     uint64
	Queue      string
	Robot      string // instead of Queue: a command for it
	Client     string
	Key        string
	ID         string
	Edge       BrokerID
	Attachment uint64
	Until      Instant
	TTL        Duration
	Body       []byte
}

// TaskHeldRecord says whose hands a task is in; Server "": it is in the queue.
type TaskHeldRecord struct {
	Number uint64
	Server string
	Tries  uint64 // how often it has come back
}

// TaskAnsweredRecord is how a task has ended. It is kept until a time.
type TaskAnsweredRecord struct {
	Number  uint64
	Until   Instant
	Body    []byte
	Code    protocol.Code
	Message string
}

// TaskEndedRecord takes a task out for good.
type TaskEndedRecord struct{ Number uint64 }

func (*TaskRecord) record() {}

func (*TaskHeldRecord) record() {}

func (*TaskAnsweredRecord) record() {}

func (*TaskEndedRecord) record() {}
