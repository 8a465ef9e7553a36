package rosgraph

import (
	"context"
	"strconv"
	"sync"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// Asked are what a client has asked the broker for, by the ids of subscriptions
// there. A lock of the client's guards them.
type Asked[S any] struct {
	lock    sync.Locker
	numbers int // of ids so far
	by      map[string]S
}

// NewAsked returns what a client has asked for that has asked for nothing yet.
func NewAsked[S any](lock sync.Locker) Asked[S] { return Asked[S]{lock: lock, by: map[string]S{}} }

// Ask asks for a subscription, which is known as s, and whose id is then in id: ""
// if the broker refuses. The lock is not held: the broker may let a client wait.
func (a *Asked[S]) Ask(ctx context.Context, c attach.Conn, s S, id *string, asked protocol.Subscription) error {
	a.lock.Lock()
	a.numbers++
	*id = "s" + strconv.Itoa(a.numbers)
	asked.ID = *id
	a.by[asked.ID] = s
	a.lock.Unlock()
	err := c.Subscribe(ctx, protocol.Subscribe{Subscription: asked})
	if err != nil {
		a.lock.Lock()
		delete(a.by, asked.ID)
		*id = ""
		a.lock.Unlock()
	}
	return err
}

// By returns what is known by an id at the broker. The lock is held.
func (a *Asked[S]) By(id string) S { return a.by[id] }

// Forget takes an id away, which the broker is told of by the caller. The lock is
// held.
func (a *Asked[S]) Forget(id string) { delete(a.by, id) }

// Len returns how many there are. The lock is held.
func (a *Asked[S]) Len() int { return len(a.by) }
