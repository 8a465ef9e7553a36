package node

import (
	"context"
	"sync"

	"callboard/bridge/overlay"
)

// Neighbours is the node as the handler of its links.
type Neighbours struct {
	node *Node

	mu       sync.Mutex
	costs    map[overlay.BrokerID]overlay.Cost // of neighbours that have been given one
	sessions map[overlay.BrokerID]uint64       // that are up
}

// Neighbours returns the node as the handler of its links: one handler for all of them.
func (n *Node) Neighbours() *Neighbours {
	return &Neighbours{node: n, costs: map[overlay.BrokerID]overlay.Cost{}, sessions: map[overlay.BrokerID]uint64{}}
}

// Up says that a session with a neighbour has begun.
func (h *Neighbours) Up(neighbour overlay.BrokerID, session uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[neighbour] = session
	h.node.queue.must(item{in: &overlay.LinkUp{Neighbour: neighbour, Session: session, Cost: h.costs[neighbour]}})
}

// SetCost says what the link with a neighbour costs from now on, also while it is not
// up; 0 forgets it.
func (h *Neighbours) SetCost(neighbour overlay.BrokerID, cost overlay.Cost) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if cost == 0 {
		delete(h.costs, neighbour)
		return
	}
	h.costs[neighbour] = cost
	if session, up := h.sessions[neighbour]; up {
		h.node.queue.must(item{in: &overlay.LinkCost{Neighbour: neighbour, Session: session, Cost: cost}})
	}
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
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, neighbour)
	h.node.queue.must(item{in: &overlay.LinkDown{Neighbour: neighbour, Session: session}})
}

// seal does beside the broker's goroutine what it need not do for each
// subscription.
func seal(messages []overlay.Message) {
	for _, m := range messages {
		if m, ok := m.(*overlay.SubscribeMessage); ok && m.Set != nil {
			for _, member := range m.Set.Put {
				if member.Subscription != nil {
					giveWay()
					member.Subscription.Seal()
				}
			}
		}
	}
}
