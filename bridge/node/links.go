package node

import (
	"context"

	"callboard/bridge/overlay"
)

// Neighbours is the node as the handler of its links.
type Neighbours struct{ node *Node }

// Neighbours returns the node as the handler of its links.
func (n *Node) Neighbours() *Neighbours { return &Neighbours{n} }

// Up says that a session with a neighbour has begun.
func (h *Neighbours) Up(neighbour overlay.BrokerID, session uint64) {
	h.node.queue.must(item{in: &overlay.LinkUp{Neighbour: neighbour, Session: session}})
}

// Frame takes what one step of a neighbour sent. It waits for room, also for
// changes of the matcher, and so holds the neighbour back rather than lose
// anything; a node that has ended drops it. Large sets are taken in one after the
// other, and what others have posted meanwhile comes between.
func (h *Neighbours) Frame(neighbour overlay.BrokerID, session uint64, messages []overlay.Message) {
	seal(messages)
	for _, full := range []<-chan struct{}{h.node.jobs.full(), h.node.installs.full()} {
		if full != nil {
			<-full
		}
	}
	left := len(messages)
	for step := range overlay.Steps(messages, overlay.StepMembers) {
		_ = h.node.queue.post(context.Background(), item{in: &overlay.FrameReceived{Neighbour: neighbour, Session: session, Messages: step}})
		if left -= len(step); left > 0 {
			h.awaitStep()
		}
	}
}

// awaitStep waits until all that was posted has been taken in, or the node ends.
func (h *Neighbours) awaitStep() {
	done := make(chan struct{})
	if h.node.queue.post(context.Background(), item{ask: func() { close(done) }}) == nil {
		select {
		case <-done:
		case <-h.node.queue.ended:
		}
	}
}

// Down says that the session has ended.
func (h *Neighbours) Down(neighbour overlay.BrokerID, session uint64) {
	h.node.queue.must(item{in: &overlay.LinkDown{Neighbour: neighbour, Session: session}})
}

// seal does beside the broker's goroutine what it need not do for each
// subscription.
func seal(messages []overlay.Message) {
	for _, m := range messages {
		if m, ok := m.(*overlay.SubscribeMessage); ok && m.Set != nil {
			for _, member := range m.Set.Put {
				if member.Subscription != nil {
					member.Subscription.Seal()
				}
			}
		}
	}
}
