package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"callboard/bridge/benchtest"
)

// Program is a robot program: it subscribes to all readings of some robots,
// roams, and checks what it gets.
type Program struct {
	Name   string
	Robots []int // whose readings it gets
	Client *callboard.Client

	network *Network
	events  func(callboard.Event, time.Time)

	mu      sync.Mutex
	conns   map[net.Conn]bool
	away    time.Time         // it is out of reach until then
	target  string            // where it comes back to
	last    map[int]int       // by robot, the last reading that came; 0: none
	states  map[string]string // by robot, whether it is up or away as far as it was told
	missing map[int][]span    // by robot, readings that were left out
	numbers map[string]uint64
	counts  Counts
	faults  []string
}

// span is readings from … to of a robot.
type span struct{ from, to int }

// Counts are what a program got.
type Counts struct {
	Notifications uint64
	Declared      uint64 // numbers in gaps
	Ended         uint64 // sequences that ended
	Doubled       uint64
	Disordered    uint64
	Missing       uint64 // readings that neither came nor were declared
	Moves         uint64 // attachments that went on from another
	Faults        uint64 // whatever else was wrong
}

// Add adds up.
func (c *Counts) Add(d Counts) {
	c.Notifications += d.Notifications
	c.Declared += d.Declared
	c.Ended += d.Ended
	c.Doubled += d.Doubled
	c.Disordered += d.Disordered
	c.Missing += d.Missing
	c.Moves += d.Moves
	c.Faults += d.Faults
}

// errAway is what a program's connections end with while it is out of reach.
var errAway = errors.New("network: the program is out of reach of all brokers")

// NewProgram starts a program at a broker, subscribed to all readings of the
// robots. events, if there is one, is told each event as it comes.
func (n *Network) NewProgram(ctx context.Context, name string, at int, robots []int, events func(callboard.Event, time.Time)) (*Program, error) {
	p := &Program{
		Name: name, Robots: robots, network: n, events: events,
		conns: map[net.Conn]bool{}, last: map[int]int{}, states: map[string]string{}, missing: map[int][]span{}, numbers: map[string]uint64{},
		target: n.brokers[at].URL(),
	}
	names := make([]string, len(robots))
	for i, r := range robots {
		names[i] = RobotName(r)
	}
	var err error
	p.Client, err = callboard.Dial(ctx, callboard.Config{
		Brokers: n.URLs(), Client: name, Choose: p.choose, Dial: p.dial, Handle: p.handle,
		ConnectTimeout: n.config.ConnectTimeout, BackoffMin: 20 * time.Millisecond, BackoffMax: 300 * time.Millisecond,
	})
	if err != nil {
		return nil, fmt.Errorf("network: %s attaches: %w", name, err)
	}
	if _, err := p.Client.Subscribe(ctx, protocol.Subscription{ID: "near", Condition: benchtest.Near, Robots: names}); err != nil {
		p.Client.Close()
		return nil, fmt.Errorf("network: %s subscribes: %w", name, err)
	}
	return p, nil
}

// choose prefers the broker that the program is to come back to.
func (p *Program) choose(current string, known []callboard.Broker) []string {
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	if current != "" {
		return nil
	}
	urls := []string{target}
	for _, b := range known {
		if b.URL != target {
			urls = append(urls, b.URL)
		}
	}
	return urls
}

// dial connects unless the program is out of reach.
func (p *Program) dial(ctx context.Context, network, address string) (net.Conn, error) {
	p.mu.Lock()
	away, back := time.Until(p.away), strings.TrimPrefix(p.target, "ws://")
	p.mu.Unlock()
	if away > 0 {
		if !strings.HasPrefix(back, address+"/") { // the one that it comes back at is reached first
			return nil, errAway
		}
		select {
		case <-time.After(away):
		case <-ctx.Done():
			return nil, errAway
		}
	}
	c, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Until(p.away) > 0 {
		c.Close()
		return nil, errAway
	}
	tracked := &trackedConn{Conn: c, program: p}
	p.conns[tracked] = true
	return tracked, nil
}

type trackedConn struct {
	net.Conn
	program *Program
}

func (c *trackedConn) Close() error {
	c.program.mu.Lock()
	delete(c.program.conns, c)
	c.program.mu.Unlock()
	return c.Conn.Close()
}

// Leave goes out of reach of all brokers for some time, and comes back at one.
func (p *Program) Leave(length time.Duration, to int) {
	p.mu.Lock()
	p.away, p.target = time.Now().Add(length), p.network.brokers[to].URL()
	var all []net.Conn
	for c := range p.conns {
		all = append(all, c)
	}
	p.mu.Unlock()
	for _, c := range all {
		c.(*trackedConn).Conn.Close()
	}
}

// Move hands over to a broker.
func (p *Program) Move(ctx context.Context, to int) error {
	url := p.network.brokers[to].URL()
	p.mu.Lock()
	p.target = url
	p.mu.Unlock()
	return p.Client.Move(ctx, url)
}

// Close ends the program.
func (p *Program) Close() { p.Client.Close() }

func (p *Program) handle(e callboard.Event) {
	now := time.Now()
	p.mu.Lock()
	switch e := e.(type) {
	case *callboard.Notification:
		p.notified(e)
	case *callboard.Gap:
		p.gap(e)
	case *callboard.Robot:
		p.state(e)
	case *callboard.Attached:
		if e.Resumed {
			p.counts.Moves++
		} else if e.Attachment > 1 && len(p.numbers) > 0 {
			p.fault("its session %s is another than before", e.Session)
		}
	case *callboard.Fault:
		p.fault("%s", e.Error())
	case *callboard.Failure:
		p.fault("%s", e.Error.Error())
	}
	p.mu.Unlock()
	if p.events != nil {
		p.events(e, now)
	}
}

// state checks what is told of a robot, or a device: away and up take turns, and
// begin with away.
func (p *Program) state(e *callboard.Robot) {
	name := e.Name()
	switch before := p.states[name]; {
	case e.State == protocol.RobotAway && before == protocol.RobotAway,
		e.State == protocol.RobotUp && before != protocol.RobotAway:
		p.fault("%s is told to be %s, but was told to be %q before", name, e.State, before)
	case e.State == protocol.RobotAway || e.State == protocol.RobotUp:
		p.states[name] = e.State
	}
}

// State is up or away, as the program was told of a robot last; "" if it was not.
func (p *Program) State(robot int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.states[RobotName(robot)]
}

func (p *Program) fault(format string, args ...any) {
	p.counts.Faults++
	p.tell(format, args...)
}

func (p *Program) tell(format string, args ...any) {
	if len(p.faults) < 20 {
		p.faults = append(p.faults, p.Name+": "+fmt.Sprintf(format, args...))
	}
}

// notified checks a reading against those before it.
func (p *Program) notified(e *callboard.Notification) {
	p.counts.Notifications++
	if want := p.numbers[e.Source] + 1 + e.Skipped; e.Seq != want {
		p.fault("%s #%d (skipped %d) after #%d", e.Source, e.Seq, e.Skipped, p.numbers[e.Source])
	}
	if e.Skipped > 0 {
		p.fault("%s #%d skips %d, but nothing is passed over on purpose", e.Source, e.Seq, e.Skipped)
	}
	p.numbers[e.Source] = e.Seq
	robot, err := strconv.Atoi(strings.TrimPrefix(e.Robot, "r"))
	if err != nil || !slices.Contains(p.Robots, robot) {
		p.fault("a reading of %q came, which it has not asked for", e.Robot)
		return
	}
	n, last := int(e.Time), p.last[robot]
	switch {
	case last == 0: // the first
		p.missing[robot] = append(p.missing[robot], span{1, n - 1})
	case n == last:
		p.counts.Doubled++
		p.tell("reading %d of %s came twice: now as %s #%d", n, e.Robot, e.Source, e.Seq)
		return
	case n < last:
		p.counts.Disordered++
		p.tell("reading %d of %s came after %d, as %s #%d", n, e.Robot, last, e.Source, e.Seq)
		return
	case n > last+1:
		p.missing[robot] = append(p.missing[robot], span{last + 1, n - 1})
	}
	p.last[robot] = n
}

func (p *Program) gap(e *callboard.Gap) {
	if e.To == nil {
		p.counts.Ended++
		p.tell("%s ended after #%d (%s)", e.Source, p.numbers[e.Source], e.Why)
		return
	}
	if e.From != p.numbers[e.Source]+1 {
		p.fault("a gap of %s from #%d after #%d", e.Source, e.From, p.numbers[e.Source])
	}
	p.numbers[e.Source] = *e.To
	p.counts.Declared += *e.To - e.From + 1
}

// Given returns when a robot gave its n-th reading.
func (p *Program) Given(robot, n int) time.Time { return p.network.Robots.When(robot, n) }

// Last returns the last reading of a robot that has come.
func (p *Program) Last(robot int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last[robot]
}

// Counts returns what has been counted so far, without Missing, which Judge finds.
func (p *Program) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts
}
