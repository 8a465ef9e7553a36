package overlay

import "callboard/subscribe/protocol"

// What brokers say to each other of tasks. Each may be lost with a link. An edge asks
// again once a period for what it lacks; the home sends nothing again by itself but
// what a server's edge does not list.

// QueuesMessage tells which queues live at a broker. It is flooded as link states are.
type QueuesMessage struct {
	Broker BrokerID
	Number uint64 // a newer one replaces an older one
	Queues []QueueAd
}

// QueueAd is a queue that lives at a broker.
type QueueAd struct {
	Name     string
	Declared bool    // by the broker's configuration: it is there without servers
	Since    Instant // when it began to live there
}

// TaskRequest asks the home of a queue, or the broker that reads a robot, for a task.
// It is sent again until it is answered by a TaskAccepted or a TaskAnswer.
type TaskRequest struct {
	Client     string
	Attachment uint64
	Key        string
	ID         string // of the request, for the reply
	Queue      string
	Robot      string  // instead of Queue: a command for it
	Registry   bool    // for the registry, which passes it on to the broker that reads Robot
	Life       Instant // since when the queue lives at its home, as far as the sender knows
	Left       Duration
	TTL        Duration
	Body       []byte
}

// TaskRenew asks for a TaskRequest once more, if its client still waits: it may be
// of before the queue began to live at the sender, and done there or elsewhere.
type TaskRenew struct {
	Client string
	Key    string
	Life   Instant
}

// TaskAccepted says that the task is stored at the sender.
type TaskAccepted struct {
	Client string
	Key    string
	Ahead  uint64
	Left   Duration
}

// TaskAnswer is how a task has ended: Body, or Code and Message of an error.
type TaskAnswer struct {
	Client     string
	Attachment uint64 // the newest that the home knows
	Key        string
	ID         string
	Refused    bool // it was never accepted
	Body       []byte
	Code       protocol.Code
	Message    string
}

// TaskPoll asks for the answers to tasks, and says where they go from now on.
type TaskPoll struct {
	Client     string
	Attachment uint64
	Keys       []string
	Cancelled  []string // of those the ones that are not wanted any more
}

// TaskPolled answers a TaskPoll of what has no answer yet; answers are TaskAnswers.
type TaskPolled struct {
	Client     string
	Attachment uint64
	Waiting    []TaskWaiting
	Unknown    []string // keys that the sender does not have
}

// TaskWaiting is a task that the sender has.
type TaskWaiting struct {
	Key  string
	Left Duration
}

// TaskCancel takes a task back that nobody has in hand. Who has it is told.
type TaskCancel struct {
	Client string
	Key    string
}

// TaskAck says that the client has an answer.
type TaskAck struct {
	Client string
	Key    string
}

// TaskServing is all that a client serves at the receiver, and has in hand of it. It
// is sent when that changes and once a period.
type TaskServing struct {
	Client     string
	Attachment uint64
	Number     uint64 // counts those of one edge
	Serves     []TaskServe
	Hands      []uint64 // numbers of tasks
	Away       bool     // its connection is gone
	Closed     bool     // and was closed by the client, or it cannot come back
}

// TaskServe is one queue that a client serves.
type TaskServe struct {
	ID     string
	Queue  string
	AtOnce uint64
}

// TaskGive puts a task into a server's hands. It is sent again while the server's
// edge does not list it.
type TaskGive struct {
	Client     string
	Attachment uint64
	Serve      string // id
	Task       uint64
	Queue      string
	From       string // client id
	Body       []byte
	Left       Duration
	Again      bool
}

// TaskStop tells a server that its answer is not wanted any more.
type TaskStop struct {
	Client     string
	Attachment uint64
	Task       uint64
}

// TaskDone is a server's answer. It is sent again until TaskTaken comes.
type TaskDone struct {
	Client  string
	Task    uint64
	Body    []byte
	Failed  bool // Message instead of Body
	Message string
}

// TaskTaken says that a TaskDone has arrived, whatever has become of it.
type TaskTaken struct {
	Client string
	Task   uint64
}

// TaskProgress tells how a task comes on: from a server's edge to the home, and with
// Asker and Key from there to who asked.
type TaskProgress struct {
	Client string
	Task   uint64
	Asker  string
	Key    string
	ID     string
	Body   []byte
}

func (*QueuesMessage) message() {}

func (*TaskRequest) registryMessage() {}

func (*TaskRenew) registryMessage() {}

func (*TaskAccepted) registryMessage() {}

func (*TaskAnswer) registryMessage() {}

func (*TaskPoll) registryMessage() {}

func (*TaskPolled) registryMessage() {}

func (*TaskCancel) registryMessage() {}

func (*TaskAck) registryMessage() {}

func (*TaskServing) registryMessage() {}

func (*TaskGive) registryMessage() {}

func (*TaskStop) registryMessage() {}

func (*TaskDone) registryMessage() {}

func (*TaskTaken) registryMessage() {}

func (*TaskProgress) registryMessage() {}
