package overlay

import (
	"maps"
	"slices"

	"callboard/subscribe/protocol"
)

// maxCalls bounds the questions of this broker that wait for their answer, and
// the robots whose place is remembered.
const maxCalls = 65536

// calls are questions to other brokers: commands for their robots, what they
// know. They are no notifications: one that is lost on its way stays
// unanswered, and whoever asked gives up.
type calls struct {
	waiting map[uint64]*waitingCall
	places  map[string]BrokerID // where robots answered from
}

// waitingCall is a question of this broker.
type waitingCall struct {
	to    BrokerID // "": whoever reads the robot; the registry passes it on
	robot string
	body  []byte
	until Instant
}

func newCalls() calls {
	return calls{waiting: map[uint64]*waitingCall{}, places: map[string]BrokerID{}}
}

// ask sends a question on its way, or says at once that there is none.
func (b *network) ask(in *Ask) {
	c := &waitingCall{to: in.To, robot: in.Robot, body: in.Body, until: in.Until}
	if len(b.calls.waiting) >= maxCalls {
		b.put(&Answered{Call: in.Call, Code: protocol.Overloaded, Message: "too many questions to other brokers wait for an answer"})
		return
	}
	if c.to == "" {
		c.to = b.calls.places[c.robot]
	}
	b.calls.waiting[in.Call] = c
	b.sendCall(in.Call, c)
}

// sendCall sends it to the broker that is to answer it, or to the registry,
// which knows that.
func (b *network) sendCall(number uint64, c *waitingCall) {
	to := c.to
	if to == "" {
		to = b.cfg.Registry
	}
	if b.path(to) == nil {
		b.unreachable(number, c)
		return
	}
	b.route(to, &Call{Number: number, Robot: c.robot, Registry: c.to == "", Left: Duration(max(0, c.until-b.now)), Body: c.body})
}

func (b *network) unreachable(number uint64, c *waitingCall) {
	delete(b.calls.waiting, number)
	answer := &Answered{Call: number, From: c.to, Code: protocol.Unavailable}
	switch {
	case c.to != "":
		answer.Message = "broker " + string(c.to) + " is out of reach"
	default:
		answer.Message = "the registry at broker " + string(b.cfg.Registry) + " is out of reach, and which broker reads the robot is not known here"
	}
	b.put(answer)
}

// onCall takes a question of another broker; the registry passes on what is
// for a robot of a third.
func (b *network) onCall(from BrokerID, m *Call) {
	if m.Registry {
		if !b.registryIs() {
			return
		}
		at := b.registry.readerOf(m.Robot)
		switch {
		case at == "":
			b.route(from, &CallAnswer{Number: m.Number, Code: protocol.NotFound, Message: "no robot is named \"" + clip(m.Robot) + "\""})
			return
		case b.path(at) == nil:
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
	switch {
	case c.robot == "":
	case m.Code == protocol.NotFound && b.calls.places[c.robot] == from && c.to == from: // it has moved
		delete(b.calls.places, c.robot)
		c.to = ""
		b.sendCall(m.Number, c)
		return
	case m.Code == "":
		if len(b.calls.places) >= maxCalls {
			clear(b.calls.places)
		}
		b.calls.places[c.robot] = from
	}
	delete(b.calls.waiting, m.Number)
	b.put(&Answered{Call: m.Number, From: from, Body: m.Body, Code: m.Code, Message: m.Message})
}

// failCalls answers the questions whose broker is out of reach now.
func (b *network) failCalls() {
	if len(b.calls.waiting) == 0 {
		return
	}
	for _, number := range slices.Sorted(maps.Keys(b.calls.waiting)) {
		c := b.calls.waiting[number]
		if to := c.to; to != "" && b.path(to) == nil || to == "" && b.path(b.cfg.Registry) == nil {
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
	for _, id := range slices.Sorted(maps.Keys(b.topology.states)) {
		if id != b.cfg.ID && b.path(id) != nil {
			all = append(all, id)
		}
	}
	return all
}
