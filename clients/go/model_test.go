package callboard

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
	"pgregory.net/rapid"
)

// modelNetwork is a network of brokers that share one client's session: they
// keep what is not acknowledged, and check what each hello says of it.
type modelNetwork struct {
	mu         sync.Mutex
	attachment uint64               // newest
	told       atomic.Bool          // the client has read a welcome: of one that was lost on the way it knows nothing
	last       map[string]uint64    // numbers given by source
	acked      map[string]uint64    // acknowledged, or told by a hello that was welcomed
	sets       map[string]bool      // subscriptions in force
	known      map[*peer]modelState // connections
	faults     []string
	hellos     int
	refuse     func() string // what to do with a hello: welcome, refuse, cut, hang, late
}

type modelState struct {
	attachment uint64
	welcomed   bool
}

func (m *modelNetwork) fault(format string, values ...any) {
	m.faults = append(m.faults, fmt.Sprintf(format, values...))
}

// serve plays a broker for one connection.
func (m *modelNetwork) serve(p *peer) {
	defer p.cut()
	for {
		_, text, err := p.socket.ReadMessage()
		if err != nil {
			return
		}
		message, problem := protocol.Decode(text)
		if problem != nil {
			m.mu.Lock()
			m.fault("%s: %v", text, problem)
			m.mu.Unlock()
			return
		}
		m.mu.Lock()
		goes := m.take(p, message)
		m.mu.Unlock()
		if !goes {
			return
		}
	}
}

// write sends without waiting for ever; mu is held.
func (m *modelNetwork) write(p *peer, message any) {
	text, _ := json.Marshal(message)
	p.socket.SetWriteDeadline(time.Now().Add(time.Minute))
	p.socket.WriteMessage(websocket.TextMessage, text)
}

// take carries out a client's message; mu is held.
func (m *modelNetwork) take(p *peer, message any) bool {
	s := m.known[p]
	switch v := message.(type) {
	case *protocol.Hello:
		return m.hello(p, v)
	case *protocol.Ack:
		if v.Num > m.last[v.Source] || v.Num < m.acked[v.Source] {
			m.fault("ack %d of %d, told before %d", v.Num, m.last[v.Source], m.acked[v.Source])
		}
		if s.attachment < m.attachment {
			return true // an older edge: what it hears does not count
		}
		m.acked[v.Source] = v.Num
	case *protocol.Subscribe:
		if s.welcomed && s.attachment == m.attachment {
			m.sets[v.ID] = true
			m.write(p, protocol.Subscribed{Op: protocol.OpSubscribed, ID: v.ID})
		}
	case *protocol.Unsubscribe:
		if s.welcomed && s.attachment == m.attachment {
			delete(m.sets, v.ID)
			m.write(p, protocol.Reply{Op: protocol.OpReply, ID: v.ID, OK: true})
		}
	}
	return true
}

func (m *modelNetwork) hello(p *peer, h *protocol.Hello) bool {
	m.hellos++
	number := m.attachment + 1 // a fresh take-over
	if h.Attachment != nil {
		number = *h.Attachment
	}
	if m.told.Load() && h.Attachment == nil {
		m.fault("a fresh take-over")
	}
	if number <= m.attachment {
		m.fault("attachment %d after %d", number, m.attachment)
	}
	if m.told.Load() && h.Session != "one" {
		m.fault("session %q", h.Session)
	}
	for source, num := range h.Num {
		if num < m.acked[source] || num > m.last[source] {
			m.fault("hello tells %s %d, acknowledged %d, given %d", source, num, m.acked[source], m.last[source])
		}
	}
	for source, acked := range m.acked {
		if acked > 0 && h.Num[source] < acked {
			m.fault("hello tells %d of %s, acknowledged %d", h.Num[source], source, acked)
		}
	}
	what := m.refuse()
	if what == "refuse" {
		m.write(p, protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "full"})
		return false
	}
	if what == "hang" {
		return true
	}
	m.attachment = number
	for old, s := range m.known { // L4
		if s.welcomed && s.attachment < number {
			m.write(old, protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "attached elsewhere", Attachment: &number})
		}
	}
	if what == "cut" { // the network has it, the client does not know
		return false
	}
	m.known[p] = modelState{attachment: number, welcomed: true}
	w := welcomeFor(*h, "one")
	w.Attachment, w.Brokers, w.Heartbeat = number, nil, 3600
	m.write(p, w)
	listed := map[string]bool{}
	for _, s := range h.Subscriptions {
		listed[s.ID] = true
		m.write(p, protocol.Subscribed{Op: protocol.OpSubscribed, ID: s.ID})
	}
	m.sets = listed
	for _, source := range slices.Sorted(maps.Keys(m.last)) { // the replay
		m.acked[source] = h.Num[source]
		for seq := h.Num[source] + 1; seq <= m.last[source]; seq++ {
			skipped := uint64(0)
			if seq%3 == 0 && seq < m.last[source] { // conflated now
				skipped, seq = 1, seq+1
			}
			m.write(p, notify(source, seq, skipped))
		}
	}
	return true
}

// publish gives a source's next notification to whoever is attached; an old
// edge that does not know better yet goes on for its own.
func (m *modelNetwork) publish(source string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last[source]++
	for p, s := range m.known {
		if s.welcomed && s.attachment == m.attachment {
			m.write(p, notify(source, m.last[source], 0))
		}
	}
}

// Whatever a program does and the brokers do to it: each hello tells what was
// handled and goes on with the attachments, and the program gets each number
// once, in order, but for those that were passed over.
func TestRoamingModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		hosts := []string{"a", "b", "c"}
		type step struct{ what, host, hello string }
		var steps []step
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			steps = append(steps, step{
				what:  rapid.SampledFrom([]string{"move", "move", "publish", "publish", "publish", "settle", "subscribe", "unsubscribe", "cut", "slow"}).Draw(rt, "what"),
				host:  rapid.SampledFrom(hosts).Draw(rt, "host"),
				hello: rapid.SampledFrom([]string{"welcome", "welcome", "welcome", "refuse", "cut", "hang"}).Draw(rt, "hello"),
			})
		}
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t, hosts...)
			answer := "welcome"
			m := &modelNetwork{
				last: map[string]uint64{}, acked: map[string]uint64{}, sets: map[string]bool{}, known: map[*peer]modelState{},
				refuse: func() string { return answer },
			}
			stop := make(chan struct{})
			var serving sync.WaitGroup
			for _, host := range hosts {
				serving.Go(func() {
					for {
						select {
						case p := <-n[host].peers:
							serving.Go(func() {
								m.serve(p)
								m.mu.Lock()
								delete(m.known, p)
								m.mu.Unlock()
							})
						case <-stop:
							return
						}
					}
				})
			}
			given, slow := map[string]uint64{}, atomic.Bool{}
			config := Config{Client: "me", ConnectTimeout: 3 * time.Second, AckCount: 2, Dial: n.dial}
			for _, host := range hosts {
				config.Brokers = append(config.Brokers, "ws://"+host+"/ws")
			}
			config.Handle = func(e Event) {
				switch e := e.(type) {
				case *Attached:
					m.told.Store(true)
				case *Notification:
					if e.Seq != given[e.Source]+1+e.Skipped {
						faults = append(faults, fmt.Sprintf("%s: %d (skipped %d) after %d", e.Source, e.Seq, e.Skipped, given[e.Source]))
					}
					given[e.Source] = e.Seq
					if slow.Load() {
						<-time.After(300 * time.Millisecond)
					}
				case *Gap, *Fault, *Failure:
					faults = append(faults, fmt.Sprintf("%T %+v", e, e))
				}
			}
			r := start(t, nil, config)
			var calls sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			for i, s := range steps {
				m.mu.Lock()
				answer = s.hello
				m.mu.Unlock()
				switch s.what {
				case "move":
					calls.Go(func() { r.Move(ctx, s.host) })
				case "publish":
					m.publish("s" + s.host)
				case "settle":
					<-time.After(time.Second)
				case "subscribe":
					calls.Go(func() { r.Subscribe(ctx, Subscription{ID: fmt.Sprint("x", i), Condition: "true"}) })
				case "unsubscribe":
					calls.Go(func() { r.Unsubscribe(ctx, fmt.Sprint("x", i-1)) })
				case "slow":
					slow.Store(!slow.Load())
				case "cut":
					m.mu.Lock()
					for _, p := range slices.Collect(maps.Keys(m.known)) {
						p.socket.Close()
					}
					m.mu.Unlock()
				}
				if i%2 == 0 {
					synctest.Wait()
				}
			}
			m.mu.Lock()
			answer = "welcome"
			slow.Store(false)
			m.mu.Unlock()
			calls.Wait()
			<-time.After(time.Minute)
			synctest.Wait()
			m.mu.Lock()
			faults = append(faults, m.faults...)
			if !maps.Equal(given, m.last) {
				faults = append(faults, fmt.Sprintf("given %v of %v", given, m.last))
			}
			if !maps.Equal(m.acked, m.last) {
				faults = append(faults, fmt.Sprintf("acknowledged %v of %v", m.acked, m.last))
			}
			want := []string{}
			for _, s := range r.State().Subscriptions {
				want = append(want, s.ID)
			}
			if got := slices.SortedFunc(maps.Keys(m.sets), cmp.Compare[string]); !slices.Equal(got, want) {
				faults = append(faults, fmt.Sprintf("in force %v, the client has %v", got, want))
			}
			m.mu.Unlock()
			r.cancel()
			<-r.Done()
			close(stop)
			for _, host := range hosts {
				n[host].pipes.Close()
			}
			serving.Wait()
		})
		if len(faults) > 0 {
			rt.Fatalf("%s", strings.Join(faults, "\n"))
		}
	})
}
