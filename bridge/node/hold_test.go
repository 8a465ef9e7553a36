package node

import (
	"errors"
	"testing"

	"callboard/bridge/attach"
	"callboard/bridge/node/storetest"
	"callboard/subscribe/protocol"
)

var _ Store = storetest.Store(nil) // what storetest tests is what a node uses

// TestOutputsWaitForTheStore: nothing goes out before the store has kept the
// records of its step, and of all steps before; what is kept goes in order.
func TestOutputsWaitForTheStore(t *testing.T) {
	store := storetest.NewMemory(nil)
	b := begin(t, store)
	out := &recorded{subscribed: make(chan struct{}, 1)}
	c := b.node.Connect(out, "test")
	if err := b.node.Hello(t.Context(), c, protocol.Hello{Client: "c1"}, attach.Grant{Subscribe: true}); err != nil {
		t.Fatal(err)
	}
	if err := b.node.Subscribe(t.Context(), c, protocol.Subscribe{Subscription: protocol.Subscription{ID: "all", Condition: "laser.min < 100"}}); err != nil {
		t.Fatal(err)
	}
	installed := func() bool {
		b.node.stepping.Lock()
		defer b.node.stepping.Unlock()
		return len(b.node.tested) == 1 && b.node.held.count > 2 // welcome, subscribed
	}
	for !installed() {
		b.rest()
		if len(out.subscribed) > 0 {
			t.Fatal("subscribed went out before it was kept")
		}
	}
	b.scan(1) // a set is in force although nobody has been told
	b.rest()
	b.scan(2)
	b.rest()
	if times, _ := out.got(); len(times)+len(out.subscribed) > 0 {
		t.Fatalf("notifications %v and %d subscribed went out before they were kept", times, len(out.subscribed))
	}
	b.node.stepping.Lock()
	batches := b.node.held.steps[len(b.node.held.steps)-1].batch
	b.node.stepping.Unlock()
	store.Keep(int(batches) - 1)
	<-out.subscribed
	b.rest()
	if times, _ := out.got(); len(times) != 1 || times[0] != 1 {
		t.Fatalf("all but the last batch is kept: notifications %v, expected that of reading 1", times)
	}
	store.Keep(1)
	for times, _ := out.got(); len(times) < 2; times, _ = out.got() {
		b.rest()
	}
}

// TestRefused: a broker whose store refuses ends, and what was not kept never goes
// out.
func TestRefused(t *testing.T) {
	store := storetest.NewMemory(nil)
	b := newBench(t, store)
	ended := make(chan error, 1)
	go func() { ended <- b.node.Run(t.Context()) }()
	out := &recorded{subscribed: make(chan struct{}, 1)}
	c := b.node.Connect(out, "test")
	if err := b.node.Hello(t.Context(), c, protocol.Hello{Client: "c1"}, attach.Grant{Subscribe: true}); err != nil {
		t.Fatal(err)
	}
	if err := b.node.Subscribe(t.Context(), c, protocol.Subscribe{Subscription: protocol.Subscription{ID: "all", Condition: "laser.min < 100"}}); err != nil {
		t.Fatal(err)
	}
	why := errors.New("another one has followed")
	store.Refuse(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Fatalf("it ends with %v, expected why the store refuses", err)
	}
	if times, _ := out.got(); len(times)+len(out.subscribed) > 0 {
		t.Fatal("something went out that was refused")
	}
}

// TestFullStore: while too much waits for the store the broker takes nothing more in.
func TestFullStore(t *testing.T) {
	store := storetest.NewMemory(nil)
	b := begin(t, store)
	b.rest()
	b.node.stepping.Lock()
	b.node.held.count += heldOutputs
	b.node.stepping.Unlock()
	asked := make(chan error, 1)
	turned := func() bool { // the broker's goroutine waits for the store
		store.Keep(0)
		return len(store.Changed()) == 0
	}
	for !turned() {
	}
	go func() { asked <- b.node.ask(t.Context(), func() {}) }()
	for b.node.queue.length() == 0 {
		select {
		case <-asked:
			t.Fatal("it takes something in")
		default:
		}
	}
	b.node.stepping.Lock()
	b.node.held.count -= heldOutputs
	b.node.stepping.Unlock()
	store.Keep(0)
	if err := <-asked; err != nil {
		t.Fatal(err)
	}
}
