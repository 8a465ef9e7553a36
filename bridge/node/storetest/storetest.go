// Package storetest says what every store of a broker does (node.Store): one test
// for all kinds of them.
package storetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

// Store is what a broker uses; node.Store says what its methods promise.
type Store interface {
	Append(records []overlay.Record) (batch uint64)
	Kept() (batch uint64, refused error)
	Changed() <-chan struct{}
}

// TB is what a test and a property have in common.
type TB interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Life is a store from its opening to a crash.
type Life struct {
	Store
	Records []overlay.Record     // what earlier lives have left
	Lost    bool                 // some may be missing at the end
	Crash   func(t TB) *Life     // ends it as a killed process does, and opens it again
	Close   func()               // ends it for good
	Rest    func(t TB)           // brings what has been appended to where it stays; nil: it is there
	Keep    func(t TB, more int) // lets so many batches more be kept; nil: each is when it is appended
	Refuse  func(why error)      // has what is not kept refused; nil: that does not happen
}

// Test holds a kind of store against the rules; open begins the first life of one.
func Test(t *testing.T, open func(t TB) *Life) {
	t.Run("restored", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { restored(t, open(t)) }) })
	t.Run("refused", func(t *testing.T) { refused(t, open(t)) })
}

// restored: whatever a broker did, and wherever the store was brought to rest or
// crashed, it gives back what all records in order give, up to one that is not
// before what was said to be kept; and a broker that has followed them warm is the
// same as one that gets them from the store.
func restored(t *rapid.T, life *Life) {
	defer func() { life.Close() }()
	h := &history{t: t}
	r := h.begin(life, 1_000_000)
	conns := map[string]overlay.Conn{}
	last := overlay.Conn(0)
	for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
		client := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "client")
		id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
		keep := rapid.SampledFrom([]string{"all", "latest"}).Draw(t, "keep")
		switch rapid.SampledFrom([]string{"hello", "drop", "subscribe", "unsubscribe", "update", "ack", "publish", "publish", "publish", "rest", "keep", "crash"}).Draw(t, "do") {
		case "hello":
			last++
			hello := &overlay.Hello{Conn: last, Client: client}
			if c := conns[client]; c != 0 && rapid.Bool().Draw(t, "resume") {
				if info, ok := r.Broker.Client(c); ok {
					hello.Session = info.Session
				}
			}
			hello.Subscriptions = []*overlay.Subscription{Subscription(id, keep)}
			conns[client] = last
			r.Step(hello)
		case "drop":
			r.Step(&overlay.Disconnected{Conn: conns[client]})
		case "subscribe":
			r.Step(&overlay.Subscribe{Conn: conns[client], Subscription: Subscription(id, keep)})
		case "unsubscribe":
			r.Step(&overlay.Unsubscribe{Conn: conns[client], ID: id})
		case "update":
			changed := Subscription(id, keep)
			changed.Condition = fmt.Sprint("laser.min < ", n)
			r.Step(&overlay.Update{Conn: conns[client], Subscription: changed})
		case "ack":
			if info, ok := r.Broker.Client(conns[client]); ok && len(info.Sources) > 0 {
				src := info.Sources[len(info.Sources)-1]
				r.Step(&overlay.Ack{Conn: conns[client], Source: src.Source, Num: rapid.Uint64Range(src.Num, src.Last).Draw(t, "num")})
			}
		case "publish":
			for i := range rapid.IntRange(1, 5).Draw(t, "readings") {
				r.Publish(10*n+i, id, "a")
			}
		case "rest":
			if life.Rest != nil {
				life.Rest(t)
			}
		case "keep":
			if life.Keep != nil {
				life.Keep(t, rapid.IntRange(0, 10).Draw(t, "more"))
			}
		case "crash":
			life, r = h.crash(life, r)
			clear(conns)
		}
	}
	life, _ = h.crash(life, r)
}

// refused: what is refused is never kept, nor what comes behind it, and the broker
// is told.
func refused(t *testing.T, life *Life) {
	defer func() { life.Close() }()
	if life.Refuse == nil {
		t.Skip("it refuses nothing")
	}
	h := &history{t: t}
	r := h.begin(life, 1_000_000)
	life.Keep(t, 1000)
	before := len(h.records)
	r.Step(&overlay.Hello{Conn: 1, Client: "x", Subscriptions: []*overlay.Subscription{Subscription("a", "")}})
	why := errors.New("another one has followed this broker")
	for len(life.Changed()) > 0 {
		<-life.Changed()
	}
	life.Refuse(why)
	<-life.Changed()
	kept, err := life.Kept()
	if !errors.Is(err, why) {
		t.Fatalf("it says %v, expected why it refuses", err)
	}
	r.Publish(1, "a")
	life.Keep(t, 1000)
	if again, err := life.Kept(); again != kept || !errors.Is(err, why) {
		t.Fatalf("kept is %d, %v; it was %d when it refused", again, err, kept)
	}
	life = life.Crash(t)
	if diff := cmp.Diff(Finds(t, r.now, h.records[:before], false), Finds(t, r.now, life.Records, false)); diff != "" {
		t.Fatalf("what was refused has come back (-kept +restored):\n%s", diff)
	}
}
