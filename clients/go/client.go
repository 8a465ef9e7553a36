package callboard

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callboard/subscribe/protocol"
)

// maxSources bounds the sources that a broker may name.
const maxSources = 1 << 16

// Client is a program's attachment to a network of brokers. Its methods may
// be called from any goroutine.
type Client struct {
	config Config
	log    *slog.Logger
	queue  *queue
	events chan Event // nil with Config.Handle
	random bool       // the client id is a random one: nobody comes back to it

	delivered chan struct{} // closed when the program gets no more events

	mu         sync.Mutex
	conn       *connection   // in use, which means welcome; nil while detached
	attached   chan struct{} // closed while there is conn
	next       *connection   // has said hello and waits for its welcome; nil without
	retired    *connection   // was replaced, waits for answers; nil without
	held       []func()      // what conn has answered since next said hello, in case next fails
	owed       *Detached     // conn was lost since next said hello
	lost       time.Time     // when conn was last lost
	last       string        // URL of the last broker that took this client
	leaving    bool          // the end: no more welcomes
	session    string
	attachment uint64      // highest known
	fresh      bool        // no hello has been answered by a welcome yet
	unanswered []time.Time // when hellos without a number were let go: each may take this client over still
	brokers    []protocol.BrokerURL
	sides      sides
	terms      map[string]uint64 // of pairs of brokers, the newest in which each served the client, by their URLs
	roster     roster
	inReach    bool // a broker has come into reach since the last attempt
	sources    map[string]*sequence
	away       map[string]bool     // robots, and devices, that the broker has told are away
	entries    map[string]*entry   // subscriptions by id
	requests   map[string]*request // commands and lists by id
	asked      map[string]*asked   // tasks and commands by key
	askedByID  map[string]*asked
	servers    map[string]*Server   // by id
	cancels    map[string]time.Time // by key: until when their cancelling is said behind each hello
	hands      map[string]*Task     // by name
	dones      []answered           // answers that were sent lately
	doneBytes  int                  // of their bodies
	nextID     uint64
	started    bool
	ended      bool          // no call is answered any more
	err        error         // why Run ended
	done       chan struct{} // closed when Run has ended

	moves chan *move    // to Run
	news  chan struct{} // cap 1: the roster has some
	sided chan struct{} // cap 1: sides may be another one

	listening atomic.Bool // to the side of a pair that the client does not hang on

	handling     context.Context // of tasks in hand
	stopHandling context.CancelFunc
	working      sync.WaitGroup // handlers of tasks

	cancel context.CancelFunc // of Dial's Run; nil without Dial
}

// New makes a client; Run brings it to life.
func New(config Config) (*Client, error) {
	config, err := config.defaulted()
	if err != nil {
		return nil, err
	}
	c := &Client{
		config: config, log: config.Logger,
		queue:     newQueue(config.QueueCount, config.QueueBytes),
		fresh:     true,
		roster:    newRoster(config),
		moves:     make(chan *move),
		news:      make(chan struct{}, 1),
		sided:     make(chan struct{}, 1),
		terms:     map[string]uint64{},
		sources:   map[string]*sequence{},
		away:      map[string]bool{},
		entries:   map[string]*entry{},
		requests:  map[string]*request{},
		asked:     map[string]*asked{},
		askedByID: map[string]*asked{},
		servers:   map[string]*Server{},
		cancels:   map[string]time.Time{},
		hands:     map[string]*Task{},
		attached:  make(chan struct{}),
		delivered: make(chan struct{}),
		done:      make(chan struct{}),
	}
	c.handling, c.stopHandling = context.WithCancel(context.Background())
	if config.Handle == nil && config.HandleMany == nil {
		c.events = make(chan Event)
	}
	if r := config.Resume; r != nil {
		c.restore(r)
	}
	if c.config.Client == "" && !config.Anonymous {
		c.config.Client, c.random = randomClient(), true
	}
	c.log = c.log.With("client", c.config.Client)
	return c, nil
}

// restore takes over what an earlier process left.
func (c *Client) restore(r *State) {
	c.config.Client, c.session, c.attachment = r.Client, r.Session, r.Attachment
	for source, num := range r.Num {
		c.sources[source] = &sequence{given: num, handled: num, acked: num}
	}
	for _, robot := range r.Away {
		c.away[robot] = true
	}
	maps.Copy(c.terms, r.Terms)
	for _, s := range r.Subscriptions {
		c.entries[s.ID] = &entry{current: s, confirmed: true}
	}
}

// Dial makes a client and attaches it. That no broker takes it is an error at
// once; later on a lost connection is resumed until Close. ctx bounds the
// attaching only.
func Dial(ctx context.Context, config Config) (*Client, error) {
	c, err := New(config)
	if err != nil {
		return nil, err
	}
	run, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	first := make(chan error, 1)
	c.started = true
	go c.run(run, func(err error) {
		select {
		case first <- err:
		default:
		}
	})
	select {
	case err = <-first:
	case <-c.done:
		err = c.Err()
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Run attaches and stays attached until ctx ends, which is no error, or until
// going on makes no sense: taken over, unauthorized, forbidden. It patiently
// waits for a broker. It runs once.
func (c *Client) Run(ctx context.Context) error {
	c.mu.Lock()
	started := c.started
	c.started = true
	c.mu.Unlock()
	if started {
		return errors.New("callboard: the client runs already, or has run")
	}
	c.run(ctx, nil)
	return c.Err()
}

// Close ends a client made by Dial and waits for its goroutines. Not to be
// called from Config.Handle.
func (c *Client) Close() {
	if c.cancel == nil {
		return
	}
	c.cancel()
	<-c.done
}

// Done is closed when the client has ended; Err returns why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is why the client has ended: nil while it runs and after a clean end.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Events returns what comes. An event is acknowledged when it was received, so
// a program that stops receiving is sent no more than the broker's window. It
// is closed at the client's end, and nil with Config.Handle.
func (c *Client) Events() <-chan Event { return c.events }

// ID is the client id in use.
func (c *Client) ID() string { return c.config.Client }

// State is what a later process needs to go on from here.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return State{
		Client: c.config.Client, Session: c.session, Attachment: c.attachment,
		Num: c.handledNums(), Subscriptions: c.confirmed(), Away: sortedKeys(c.away),
		Terms: maps.Clone(c.terms),
	}
}

// remove ends a subscription, and with it what is known of robots that no other
// one matches: the broker tells no more of them. mu is held.
func (c *Client) remove(id string) {
	delete(c.entries, id)
	maps.DeleteFunc(c.away, func(name string, _ bool) bool {
		robot, _ := protocol.SplitAwayName(name)
		for _, e := range c.entries {
			if e.names(robot) {
				return false
			}
		}
		return true
	})
}

// names reports whether the subscription is to a robot.
func (e *entry) names(robot string) bool {
	return len(e.current.Robots) == 0 || slices.ContainsFunc(e.current.Robots, func(pattern string) bool {
		ok, _ := path.Match(pattern, robot) // the broker has taken the pattern
		return ok
	})
}

// Brokers are the brokers of the network, as the last welcome named them.
func (c *Client) Brokers() []protocol.BrokerURL {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]protocol.BrokerURL(nil), c.brokers...)
}

// Known are the brokers that the client may attach to: those of the
// configuration, of the last welcome, and those that were heard.
func (c *Client) Known() []Broker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.roster.known(time.Now())
}

// handledNums is how far each source is handled. mu is held.
func (c *Client) handledNums() map[string]uint64 {
	num := make(map[string]uint64, len(c.sources))
	for source, s := range c.sources {
		num[source] = s.handled
	}
	return num
}

// run delivers events and keeps the client attached. first, if there is one,
// gets the outcome of the first round of attempts.
func (c *Client) run(ctx context.Context, first func(error)) {
	delivering, stop := context.WithCancel(ctx)
	go func() {
		defer close(c.delivered)
		c.deliver(delivering)
	}()
	var hearing sync.WaitGroup
	if c.config.Heard != nil {
		hearing.Go(func() { c.config.Heard(delivering, c.hear) })
	}
	hearing.Go(func() { c.watch(delivering) })
	err := c.stayAttached(ctx, first)
	// What has come before a fatal end still belongs to the program.
	c.queue.close()
	if ctx.Err() != nil {
		stop()
	}
	<-c.delivered
	stop()
	hearing.Wait()
	c.mu.Lock()
	c.err, c.ended = err, true
	c.failPending()
	c.mu.Unlock()
	c.stopHandling()
	c.working.Wait()
	if c.events != nil {
		close(c.events)
	}
	close(c.done)
}

// maxMany is how many events HandleMany gets at once.
const maxMany = 1024

// deliver hands events to the program.
func (c *Client) deliver(ctx context.Context) {
	most := 1
	if c.config.HandleMany != nil {
		most = maxMany
	}
	var items []item
	var many []Event
	for {
		if items = c.queue.take(ctx, items, most); len(items) == 0 {
			return
		}
		switch {
		case c.config.HandleMany != nil:
			many = many[:0]
			for i := range items {
				many = append(many, items[i].event)
			}
			if !c.config.HandleMany(many) {
				return
			}
			clear(many)
		case c.config.Handle != nil:
			c.config.Handle(items[0].event)
		default:
			select {
			case c.events <- items[0].event:
			case <-ctx.Done():
				return
			}
		}
		for i := range items {
			if items[i].sequence != nil {
				c.handled(items[i])
			}
		}
		clear(items)
	}
}

// handled counts an item that the program has handled.
func (c *Client) handled(it item) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		it.sequence.handle(it.seq, it.bytes)
		return
	}
	wire := c.conn.wire[it.source]
	before := it.sequence.due(wire)
	it.sequence.handle(it.seq, it.bytes)
	c.acknowledgeSoon(c.conn, it.sequence, wire, before)
}

// hear takes a beacon.
func (c *Client) hear(id, url string) {
	c.mu.Lock()
	news := c.roster.hear(id, url, time.Now())
	if news {
		c.inReach = true
	}
	c.mu.Unlock()
	if news || c.config.Choose != nil {
		signal(c.news)
	}
}

// acknowledgeSoon wakes the writer to arm its timer, and when a batch is full;
// before is what was due before. mu is held.
func (c *Client) acknowledgeSoon(conn *connection, s *sequence, wire, before uint64) {
	if due := s.due(wire); due > 0 && (before == 0 || c.full(s, due)) {
		signal(conn.wake)
	}
}

// full reports that a batch of acknowledgements is, or that the broker waits for one.
func (c *Client) full(s *sequence, due uint64) bool {
	return s.prompt || due >= uint64(c.config.AckCount) || s.bytes >= c.config.AckBytes
}

// onlyLatest reports whether all subscriptions of a notification keep the
// latest only.
func (c *Client) onlyLatest(all []protocol.Matched) bool {
	return !slices.ContainsFunc(all, func(m protocol.Matched) bool {
		e := c.entries[m.ID]
		return e == nil || e.current.Keep != protocol.KeepLatest
	})
}

// acks returns the acknowledgements to write over conn now; wait: others are due
// later. Once another connection has said hello, the old broker must keep what
// that hello did not tell as handled.
func (c *Client) acks(conn *connection, now bool) (due []protocol.Ack, wait bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.config.Anonymous || c.conn != conn || c.next != nil {
		return nil, false
	}
	for name, s := range c.sources {
		wire := conn.wire[name]
		switch n := s.due(wire); {
		case n == 0:
		case now || c.full(s, n):
			due = append(due, protocol.Ack{Op: protocol.OpAck, Source: name, Num: s.ack(wire)})
		default:
			wait = true
		}
	}
	return due, wait
}

// failPending answers all calls that still wait. mu is held.
func (c *Client) failPending() {
	err := c.closedError()
	for _, e := range c.entries {
		if e.op != nil {
			e.finish(answer{err: err})
		}
	}
	for _, r := range c.requests {
		r.answer <- answer{err: err}
	}
	clear(c.requests)
	for _, key := range sortedKeys(c.asked) {
		a := c.asked[key]
		c.forgetAsked(a)
		a.answer <- answer{err: err}
	}
	for _, s := range c.servers {
		s.end(err)
	}
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
