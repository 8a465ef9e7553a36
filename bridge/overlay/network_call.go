package overlay

import "callboard/subscribe/protocol"

// maxCalls bounds the questions of this broker that wait for their answer, and
// in mode one the robots whose place is remembered.
const maxCalls = 65536

// calls are questions to other brokers: commands for their robots, what they
// know. They are no notifications: one that is lost on its way stays
// unanswered, and whoever asked gives up.
type calls struct {
	waiting map[uint64]*waitingCall
}

// waitingCall is a question of this broker.
type waitingCall struct {
	to       BrokerID
	passesOn bool   // to whoever reads the robot
	robot    string // that it is about, unless it is for a broker
	body     []byte
	until    Instant
}

func newCalls() calls {
	return calls{waiting: map[uint64]*waitingCall{}}
}

// ask sends a question on its way, or says at once that there is none.
func (b *network) ask(in *Ask) {
	c := &waitingCall{to: in.To, body: in.Body, until: in.Until}
	if len(b.calls.waiting) >= maxCalls {
		b.put(&Answered{Call: in.Call, Code: protocol.Overloaded, Message: "too many questions to other brokers wait for an answer"})
		return
	}
	if c.to == "" {
		c.robot = in.Robot
		c.to, c.passesOn = b.registry.whereIs(c.robot)
	}
	b.calls.waiting[in.Call] = c
	b.sendCall(in.Call, c)
}

// sendCall sends it to the broker that is to answer it, or to one that knows
// which that is.
func (b *network) sendCall(number uint64, c *waitingCall) {
	switch {
	case c.to == "":
		delete(b.calls.waiting, number)
		b.put(&Answered{Call: number, Code: protocol.NotFound, Message: noRobot(c.robot)})
	case !b.reaches(c.to):
		b.unreachable(number, c)
	default:
		b.route(c.to, &Call{Number: number, Robot: c.robot, Registry: c.passesOn, Left: Duration(max(0, c.until-b.now)), Body: c.body})
	}
}

func noRobot(name string) string { return "no robot is named \"" + clip(name) + "\"" }

func (b *network) unreachable(number uint64, c *waitingCall) {
	delete(b.calls.waiting, number)
	answer := &Answered{Call: number, Code: protocol.Unavailable}
	if c.passesOn {
		answer.Message = "the registry at broker " + string(c.to) + " is out of reach, and which broker reads the robot is not known here"
	} else {
		answer.From, answer.Message = c.to, "broker "+string(c.to)+" is out of reach"
	}
	b.put(answer)
}

// onCall takes a question of another broker; the registry passes on what is
// for a robot of a third.
func (b *network) onCall(from BrokerID, m *Call) {
	if m.Registry {
		at, known := b.registry.readerOf(m.Robot)
		switch {
		case !known:
			return
		case at == "":
			b.route(from, &CallAnswer{Number: m.Number, Code: protocol.NotFound, Message: noRobot(m.Robot)})
			return
		case !b.reaches(at):
			b.route(from, &CallAnswer{Number: m.Number, Code: protocol.Unavailable, Message: "broker " + string(at) + ", which reads the robot, is out of reach"})
			return
		case at != b.cfg.ID:
			on := *m
			on.Registry = false
			b.routeFor(from, at, &on)
			return
		}
	}
	b.put(&Asked{From: from, Call: m.Number, Left: m.Left, Body: m.Body})
}

// onCallAnswer takes the answer in.
func (b *network) onCallAnswer(from BrokerID, m *CallAnswer) {
	c := b.calls.waiting[m.Number]
	if c == nil {
		return
	}
	if c.robot != "" && (m.Code == "" || m.Code == protocol.NotFound && c.to == from) && b.registry.answeredFrom(c.robot, from, m.Code == "") {
		c.to, c.passesOn = b.registry.whereIs(c.robot)
		b.sendCall(m.Number, c)
		return
	}
	delete(b.calls.waiting, m.Number)
	b.put(&Answered{Call: m.Number, From: from, Body: m.Body, Code: m.Code, Message: m.Message})
}

// failCalls answers the questions whose broker is out of reach now.
func (b *network) failCalls() {
	if len(b.calls.waiting) == 0 {
		return
	}
	for _, number := range sortedKeys(b.calls.waiting) {
		c := b.calls.waiting[number]
		if !b.reaches(c.to) {
			b.unreachable(number, c)
		}
	}
}

// forgetCalls forgets questions that nobody waits for any more.
func (b *network) forgetCalls() {
	for number, c := range b.calls.waiting {
		if c.until < b.now {
			delete(b.calls.waiting, number)
		}
	}
}

// Reachable lists the other brokers that a path leads to, by id.
func (b *Broker) Reachable() []BrokerID { return b.network.reachable() }

func (b *network) reachable() []BrokerID {
	var all []BrokerID
	for _, id := range sortedKeys(b.topology.states) {
		if id != b.cfg.ID && b.reaches(id) {
			all = append(all, id)
		}
	}
	return all
}
