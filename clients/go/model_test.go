package callboard

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
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
// keep what is not acknowledged, and check what each hello says of it. A hello
// may arrive long after the client has let go of its connection, also behind a
// later one.
type modelNetwork struct {
	mu         sync.Mutex
	attachment uint64                // newest
	told       atomic.Bool           // the client has read a welcome: of one that was lost on the way it knows nothing
	last       map[string]uint64     // numbers given by source
	ended      map[string]string     // sources whose store was lost, and which follow them
	acked      map[string]uint64     // acknowledged, or told by a hello that was welcomed
	sets       map[string]bool       // subscriptions in force
	known      map[*peer]*modelState // connections
	behind     map[*peer][]any       // what has come behind hellos that are not answered yet
	said       []said                // the hellos that have arrived
	faults     []string
	answer     string // what to do with a hello
	later      sync.WaitGroup
}

// modelState is what an edge knows of a client over one connection.
type modelState struct {
	attachment uint64
	knows      map[string]bool   // sources
	sent       map[string]uint64 // by source, what came over the connection, or was told in its hello
	acked      map[string]uint64
}

// said is a hello: the client's count of its connections, and the attachment.
type said struct {
	order  int
	number uint64
}

// dialed is the broker's end of a connection with what the client knew when it
// began.
type dialed struct {
	net.Conn
	order int
	told  bool
}

// number has the connections of a network counted as the client makes them: at
// most one attempt is under way, so hellos are said in this order.
func (m *modelNetwork) number(n network) {
	var order atomic.Int64
	for _, f := range n {
		f.pipes.wrap = func(c net.Conn) net.Conn {
			return &dialed{Conn: c, order: int(order.Add(1)), told: m.told.Load()}
		}
	}
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
	if hello, is := message.(*protocol.Hello); is {
		return m.hello(p, hello)
	}
	if s == nil {
		m.behind[p] = append(m.behind[p], message)
		return true
	}
	newest := s.attachment == m.attachment // else what this edge hears does not count
	switch v := message.(type) {
	case *protocol.Ack:
		if v.Num > s.sent[v.Source] || v.Num <= s.acked[v.Source] {
			m.fault("ack %d of %s, of which %d was sent and %d acknowledged over this connection", v.Num, v.Source, s.sent[v.Source], s.acked[v.Source])
		}
		s.acked[v.Source] = v.Num
		if newest {
			m.acked[v.Source] = v.Num
		}
	case *protocol.Subscribe:
		if newest {
			m.sets[v.ID] = true
			m.subscribed(p, s, v.ID)
		}
	case *protocol.Unsubscribe:
		if newest {
			delete(m.sets, v.ID)
			m.write(p, protocol.Reply{Op: protocol.OpReply, ID: v.ID, OK: true})
		}
	}
	return true
}

func (m *modelNetwork) subscribed(p *peer, s *modelState, id string) {
	m.write(p, protocol.Subscribed{Op: protocol.OpSubscribed, ID: id, Sources: slices.DeleteFunc(slices.Sorted(maps.Keys(s.knows)), m.hasEnded)})
}

func (m *modelNetwork) hasEnded(source string) bool { _, ended := m.ended[source]; return ended }

// hello checks a hello, and answers it at once, later, or never.
func (m *modelNetwork) hello(p *peer, h *protocol.Hello) bool {
	from := p.socket.NetConn().(*dialed)
	if from.told && (h.Attachment == nil || h.Session != "one") {
		m.fault("a fresh take-over, session %q", h.Session)
	}
	if h.Attachment != nil {
		for _, s := range m.said {
			if s.number != 0 && (s.order < from.order) != (s.number < *h.Attachment) {
				m.fault("connection %d says attachment %d, connection %d %d", from.order, *h.Attachment, s.order, s.number)
			}
		}
	}
	for source, num := range h.Num {
		if num > m.last[source] {
			m.fault("hello tells %d of %s, given were %d", num, source, m.last[source])
		}
	}
	if !m.overtaken(from) {
		for source, acked := range m.acked {
			if acked > h.Num[source] && !m.hasEnded(source) {
				m.fault("hello tells %d of %s, acknowledged were %d", h.Num[source], source, acked)
			}
		}
	}
	one := said{order: from.order}
	if h.Attachment != nil {
		one.number = *h.Attachment
	}
	m.said = append(m.said, one)
	knows := map[string]bool{}
	for source := range m.last {
		knows[source] = true
	}
	what, delay := m.answer, time.Duration(0)
	switch what {
	case "refuse":
		m.write(p, protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "full"})
		return false
	case "hang":
		return true
	case "slow":
		delay = time.Second
	case "late": // the client has let go by then
		delay = 5 * time.Second
	default:
		return m.attach(p, h, knows, what == "cut")
	}
	m.later.Go(func() {
		<-time.After(delay)
		m.mu.Lock()
		defer m.mu.Unlock()
		if !m.attach(p, h, knows, false) {
			p.cut()
		}
	})
	return true
}

// overtaken reports whether a later hello has arrived.
func (m *modelNetwork) overtaken(from *dialed) bool {
	return slices.ContainsFunc(m.said, func(s said) bool { return s.order > from.order })
}

// attach carries a hello out. knows are the sources that the edge has heard of
// beside those that the hello names. silent: the welcome is lost.
func (m *modelNetwork) attach(p *peer, h *protocol.Hello, knows map[string]bool, silent bool) bool {
	number := m.attachment + 1 // a fresh take-over
	if h.Attachment != nil {
		number = *h.Attachment
	}
	if newest := m.attachment; number <= newest {
		m.write(p, protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "not above", Attachment: &newest})
		return false
	}
	m.attachment = number
	for old, s := range m.known { // L4
		if s.attachment < number {
			m.write(old, protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "attached elsewhere", Attachment: &number})
		}
	}
	if silent { // the network has it, the client does not know
		return false
	}
	s := &modelState{attachment: number, knows: knows, sent: map[string]uint64{}, acked: map[string]uint64{}}
	m.known[p] = s
	w := welcomeFor(*h, "one")
	w.Attachment, w.Brokers, w.Heartbeat = number, nil, 3600
	m.write(p, w)
	for source, num := range h.Num {
		s.knows[source], s.sent[source], s.acked[source] = true, num, num
	}
	listed := map[string]bool{}
	for _, sub := range h.Subscriptions {
		listed[sub.ID] = true
		m.subscribed(p, s, sub.ID)
	}
	m.sets = listed
	for _, source := range slices.Sorted(maps.Keys(s.knows)) {
		m.replay(p, s, source)
	}
	for _, message := range m.behind[p] {
		m.take(p, message)
	}
	return true
}

// replay returns what the network has of a source that the edge has come to know.
func (m *modelNetwork) replay(p *peer, s *modelState, source string) {
	from := s.sent[source]
	if m.hasEnded(source) {
		if _, told := s.acked[source]; told {
			m.end(p, s, source)
		}
		return
	}
	m.acked[source] = from
	for seq := from + 1; seq <= m.last[source]; seq++ {
		skipped := uint64(0)
		if seq%3 == 0 && seq < m.last[source] { // conflated now
			skipped, seq = 1, seq+1
		}
		m.notify(p, s, source, seq, skipped)
	}
}

func (m *modelNetwork) notify(p *peer, s *modelState, source string, seq, skipped uint64) {
	s.sent[source] = seq
	m.write(p, notify(source, seq, skipped))
}

// end reports that a sequence has ended, and returns what follows.
func (m *modelNetwork) end(p *peer, s *modelState, source string) {
	next := m.ended[source]
	m.write(p, protocol.Gap{Op: protocol.OpGap, Source: source, From: s.sent[source] + 1, Why: "lost", Next: next})
	if !s.knows[next] {
		s.knows[next] = true
		m.replay(p, s, next)
	}
}

// attached returns the newest connection; nil without.
func (m *modelNetwork) attached() (*peer, *modelState) {
	for p, s := range m.known {
		if s.attachment == m.attachment {
			return p, s
		}
	}
	return nil, nil
}

// source returns a host's present sequence.
func (m *modelNetwork) source(host string) string {
	word := "s" + host
	for m.hasEnded(word) {
		word = m.ended[word]
	}
	return word
}

// publish sends a host's next notification to whoever is attached: also a
// source that is new, but not one that the edge should have been told of.
func (m *modelNetwork) publish(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	source := m.source(host)
	_, old := m.last[source]
	m.last[source]++
	if p, s := m.attached(); s != nil && (s.knows[source] || !old) {
		s.knows[source] = true
		m.notify(p, s, source, m.last[source], 0)
	}
}

// lose has a host lose its store: its sequence ends, and another follows.
func (m *modelNetwork) lose(host string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	source := m.source(host)
	if _, given := m.last[source]; !given {
		return
	}
	m.ended[source] = source + "'"
	m.last[source+"'"] = 0
	if p, s := m.attached(); s != nil && s.knows[source] {
		m.end(p, s, source)
	}
}

// name has the edge hear from the registry of the sources of which the client
// has not been told: of the others it must have been told.
func (m *modelNetwork) name(given map[string]uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, s := m.attached()
	if s == nil {
		m.fault("the client is not attached")
		return
	}
	for _, source := range slices.Sorted(maps.Keys(m.last)) {
		if !s.knows[source] && given[source] == 0 {
			s.knows[source] = true
			m.replay(p, s, source)
		}
	}
}

// check compares in the end what the network has with what the client has.
func (m *modelNetwork) check(given map[string]uint64, client *Client) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, source := range slices.Sorted(maps.Keys(m.last)) {
		last := m.last[source]
		if !m.hasEnded(source) && (given[source] != last || m.acked[source] != last) {
			m.fault("of %s %d were given, the client has %d, and has acknowledged %d", source, last, given[source], m.acked[source])
		}
	}
	want := []string{}
	for _, s := range client.State().Subscriptions {
		want = append(want, s.ID)
	}
	if err := client.Err(); err != nil {
		m.fault("the client has ended: %v", err)
	}
	if got := slices.SortedFunc(maps.Keys(m.sets), cmp.Compare[string]); !slices.Equal(got, want) {
		m.fault("in force %v, the client has %v", got, want)
	}
	return m.faults
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
				what:  rapid.SampledFrom([]string{"move", "move", "publish", "publish", "publish", "settle", "subscribe", "unsubscribe", "cut", "slow", "lose"}).Draw(rt, "what"),
				host:  rapid.SampledFrom(hosts).Draw(rt, "host"),
				hello: rapid.SampledFrom([]string{"welcome", "welcome", "welcome", "refuse", "cut", "hang", "slow", "late"}).Draw(rt, "hello"),
			})
		}
		var faults []string
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t, hosts...)
			m := &modelNetwork{
				last: map[string]uint64{}, ended: map[string]string{}, acked: map[string]uint64{}, sets: map[string]bool{},
				known: map[*peer]*modelState{}, behind: map[*peer][]any{}, answer: "welcome",
			}
			m.number(n)
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
				case *Gap:
					if e.To != nil || e.From != given[e.Source]+1 || e.Next != e.Source+"'" {
						faults = append(faults, fmt.Sprintf("%+v after %d", e, given[e.Source]))
					}
				case *Fault, *Failure:
					faults = append(faults, fmt.Sprintf("%T %+v", e, e))
				}
			}
			r := start(t, nil, config)
			var calls sync.WaitGroup
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			for i, s := range steps {
				m.mu.Lock()
				m.answer = s.hello
				m.mu.Unlock()
				switch s.what {
				case "move":
					calls.Go(func() { r.Move(ctx, s.host) })
				case "publish":
					m.publish(s.host)
				case "lose":
					m.lose(s.host)
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
			m.answer = "welcome"
			m.mu.Unlock()
			slow.Store(false)
			calls.Wait()
			<-time.After(time.Minute)
			synctest.Wait()
			m.name(maps.Clone(given))
			<-time.After(time.Second)
			synctest.Wait()
			faults = append(faults, m.check(given, r.Client)...)
			r.cancel()
			<-r.Done()
			close(stop)
			for _, host := range hosts {
				n[host].pipes.Close()
			}
			serving.Wait()
			m.later.Wait()
		})
		if len(faults) > 0 {
			rt.Fatalf("%s", strings.Join(faults, "\n"))
		}
	})
}
