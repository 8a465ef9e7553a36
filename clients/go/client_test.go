package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player/deadline/deadlinetest"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

func TestAckDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0), notify("s1", 4, 2))
		for range 2 {
			n := next[*Notification](r)
			var raw protocol.Notify
			if err := json.Unmarshal(n.Raw, &raw); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(n.Notify, raw); diff != "" {
				t.Error(diff)
			}
		}
		began := time.Now()
		if a := expect[protocol.Ack](p, protocol.OpAck); a.Num != 4 {
			t.Errorf("%+v", a)
		}
		if waited := time.Since(began); waited != 100*time.Millisecond {
			t.Errorf("acknowledged after %s, expected 100ms", waited)
		}
	})
}

func TestAcksInBatches(t *testing.T) {
	for name, config := range map[string]Config{
		"count": {AckCount: 10, AckDelay: time.Hour},
		"bytes": {AckBytes: 1700, AckDelay: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeBroker(t)
				r := start(t, f, config)
				p := r.attachedTo(f, "one")
				for seq := range uint64(10) {
					synctest.Wait()
					p.send(notify("s1", seq+1, 0), protocol.Heartbeat{Op: protocol.OpHeartbeat})
				}
				if a := expect[protocol.Ack](p, protocol.OpAck); a.Num < 5 || a.Num > 10 {
					t.Errorf("acknowledged %d", a.Num)
				}
			})
		})
	}
}

// TestHandleMany: a program that keeps what it gets has all that came meanwhile at
// once, and none of it is acknowledged before it returns.
func TestHandleMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var r *running
		kept, together := make(chan bool), []int{}
		r = start(t, f, Config{Client: "me", HandleMany: func(events []Event) bool {
			n := 0
			for _, e := range events {
				if _, is := e.(*Notification); is {
					n++
				}
				r.events <- e
			}
			if n == 0 {
				return true
			}
			together = append(together, n)
			return <-kept
		}})
		p := r.attachedTo(f, "one")
		for seq := range uint64(5) {
			p.send(notify("s1", seq+1, 0))
			synctest.Wait()
		}
		first := make(chan protocol.Ack, 1)
		go func() { first <- expect[protocol.Ack](p, protocol.OpAck) }()
		<-time.After(2 * time.Second)
		select {
		case a := <-first:
			t.Errorf("%+v before anything was kept", a)
		default:
		}
		kept <- true
		if a := <-first; a.Num != 1 {
			t.Errorf("%+v", a)
		}
		kept <- true
		if a := expect[protocol.Ack](p, protocol.OpAck); a.Num != 5 {
			t.Errorf("%+v", a)
		}
		p.send(notify("s1", 6, 0))
		kept <- false
		p.send(notify("s1", 7, 0))
		synctest.Wait()
		r.cancel()
		if texts := p.end(); len(texts) > 0 {
			t.Errorf("%q after what was not kept", texts)
		}
		if diff := cmp.Diff([]int{1, 4, 1}, together); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHeartbeatsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		for range 10 {
			<-time.After(2 * time.Second)
			p.send(protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: "b1"})
		}
		began := time.Now()
		d := next[*Detached](r)
		if waited := time.Since(began); waited != 3*time.Second || !strings.Contains(d.Err.Error(), "silent for 3s") {
			t.Errorf("after %s: %v", waited, d.Err)
		}
		f.accept().welcome("one")
		next[*Attached](r)
	})
}

// TestStoodStill: a client that stood still for longer than three heartbeats
// goes on with the broker whose heartbeats wait to be read.
func TestStoodStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var still deadlinetest.Standstill
		r := start(t, f, Config{Dial: still.Dial(f.pipes.dial)})
		p := r.attachedTo(f, "one")
		for seq := range uint64(3) {
			synctest.Wait()
			still.End()
			synctest.Wait()
			p.send(notify("s1", seq+1, 0))
			next[*Notification](r)
		}
	})
}

func TestLateHello(t *testing.T) {
	conflict := func(n uint64) protocol.Error {
		return protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "attached elsewhere", Attachment: number(n)}
	}
	// A first hello that nobody answered has no number that this client knows:
	// the broker takes it late, and that is no other program, but for once.
	for name, late := range map[string]time.Duration{"own hello that comes late": time.Minute, "another program long after": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeBroker(t)
				r := start(t, f, Config{})
				p := f.accept()
				expect[protocol.Hello](p, protocol.OpHello)
				p.end() // it gives up
				p = r.attachedTo(f, "one")
				for range late / time.Second {
					p.send(`{"op":"heartbeat"}`)
					<-time.After(time.Second)
				}
				p.send(conflict(2))
				if late > unansweredFor {
					if err := <-r.result; !errors.Is(err, ErrTakenOver) {
						t.Errorf("ended with %v", err)
					}
					return
				}
				next[*Detached](r)
				p = f.accept()
				if hello := p.welcome("one"); *hello.Attachment != 3 || hello.Session != "one" || len(hello.Subscriptions) != 1 {
					t.Errorf("%+v", hello)
				}
				next[*Attached](r)
				p.send(conflict(4))
				if err := <-r.result; !errors.Is(err, ErrTakenOver) {
					t.Errorf("ended with %v", err)
				}
			})
		})
	}
}

// A hello that is too large for a client whose token is not known yet has it in
// the request too.
func TestLargeHelloShowsItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{Token: "s3cret"})
		p := r.attachedTo(f, "s")
		if p.authorization != "" {
			t.Errorf("a small hello came with %q", p.authorization)
		}
		done := make(chan error, 1)
		go func() {
			_, err := r.Subscribe(context.Background(), Subscription{ID: "large", Condition: strings.Repeat("true && ", 10_000) + "true"})
			done <- err
		}()
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		p.send(subscribedTo("large"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.cut()
		p = f.accept()
		if p.authorization != "Bearer s3cret" {
			t.Errorf("a large hello came with %q", p.authorization)
		}
		if hello := p.welcome("s"); len(hello.Subscriptions) != 2 {
			t.Errorf("hello lists %d subscriptions", len(hello.Subscriptions))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		state := State{Client: "guard", Session: "s", Attachment: 1}
		for i := range 10_000 {
			state.Away = append(state.Away, fmt.Sprintf("robot%d", i))
		}
		start(t, f, Config{Token: "s3cret", Resume: &state})
		p := f.accept()
		if p.authorization != "Bearer s3cret" {
			t.Errorf("a hello with many robots that are away came with %q", p.authorization)
		}
		if hello := p.welcome("s"); hello.Away == nil || len(*hello.Away) != len(state.Away) {
			t.Errorf("hello tells %v of robots that are away", hello.Away)
		}
	})
}

func TestGoodbyeOfLastingClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		var r *running
		r = start(t, f, Config{Client: "me", Handle: func(e Event) {
			if _, ok := e.(*Notification); ok {
				r.cancel() // what is handled at the end is acknowledged still
				<-time.After(100 * time.Millisecond)
			}
			r.events <- e
		}})
		p := r.attachedTo(f, "one")
		p.send(notify("s1", 1, 0))
		if diff := cmp.Diff([]string{`{"op":"ack","source":"s1","num":1}`}, p.end()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSlowProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		turn := make(chan struct{})
		var seqs []uint64
		r := start(t, f, Config{QueueCount: 10, Handle: func(e Event) {
			if n, ok := e.(*Notification); ok {
				<-turn
				seqs = append(seqs, n.Seq)
			}
		}})
		p := f.accept()
		p.welcome("one")
		for seq := range uint64(20) {
			text, _ := json.Marshal(notify("s1", seq+1, 0))
			p.socket.WriteMessage(1, text) // fails once the client has given up
		}
		p.end()
		<-time.After(time.Minute) // as long as the program takes nothing, nothing is asked for
		select {
		case <-f.peers:
			t.Fatal("the client came back with its queue full")
		default:
		}
		close(turn)
		p = f.accept()
		hello := p.welcome("one")
		for seq := hello.Num["s1"] + 1; seq <= 20; seq++ {
			synctest.Wait() // a window keeps the queue small
			p.send(notify("s1", seq, 0))
		}
		synctest.Wait()
		for i, seq := range seqs {
			if seq != uint64(i+1) {
				t.Fatalf("got %v", seqs)
			}
		}
		if len(seqs) != 20 {
			t.Fatalf("got %v", seqs)
		}
		_ = r
	})
}
