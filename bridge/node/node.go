// Package node runs a broker: one goroutine at a time feeds the overlay's state
// machine what clients and robots send, and carries out what it says. The
// rules are in bridge/overlay; nothing is decided here. See DESIGN.md.
package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/clock"
	"callboard/bridge/link"
	"callboard/bridge/metric"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/bridge/shadow"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// Store keeps what must outlive a crash. bridge/node/storetest holds every kind of
// store against this.
type Store interface {
	// Append takes the records of the steps since the last call as one batch, and
	// returns its number, which is one more than that of the last. It waits for
	// nothing. A batch of no records may be none of its own: then the number is
	// that of the last. Givens are valid until it returns.
	Append(records []overlay.Record) (batch uint64)
	// Kept returns up to which batch all outlives a crash: what those steps put
	// out may go. refused says why nothing that comes behind is ever kept (another
	// one goes on in this broker's place): the broker ends.
	Kept() (batch uint64, refused error)
	// Changed returns a channel that has a token when Kept says something new. Nil:
	// each batch is kept when Append returns, and none is refused.
	Changed() <-chan struct{}
}

// Terms is what the store of one side of a pair of brokers says beside: the store
// is one that outputs wait for.
type Terms interface {
	// Term returns the term in which what a batch puts out goes out. Connections are
	// told of it before. Batches are asked for in order.
	Term(batch uint64) uint64
	// Served reports whether a client that was last served in a term has had nothing
	// that the store does not lead through.
	Served(term uint64) bool
	// AppendBeside is Append, with something for the standby that is not stored. It is
	// a batch of its own also without records.
	AppendBeside(records []overlay.Record, beside []byte) (batch uint64)
	// Followed reports whether there is a standby that what is beside is for.
	Followed() bool
	// Full reports whether so much waits for the standby that nothing more is to be
	// taken in. Changed tells of it, too.
	Full() bool
}

// Links carries frames to neighbours.
type Links interface {
	// Send sends frames over the sessions that they name, all of a step at once; to
	// those that have ended, nothing. It never blocks.
	Send(all ...*overlay.Frame)
	// Status describes the links, for lists.
	Status() []link.Status
}

// Config is what a Node needs.
type Config struct {
	Overlay  overlay.Config
	URL      string             // where clients reach this broker, for lists
	Coverage *Coverage          // where programs hang on it, for lists; nil: not told
	Restore  []overlay.Record   // of an earlier life
	Lost     bool               // records may be missing at their end
	GoOn     []string           // robots whose sessions go on from that life
	Store    Store              // nil: nothing outlives the process
	Matcher  *subscribe.Matcher // required
	// Sides returns where the sides of the pair are that this broker is one of; nil:
	// of none.
	Sides func() []protocol.SideURL
	// Recorder notes what is tested, for the standby of that pair, which is told each
	// RecordEach at least.
	Recorder   *shadow.Recorder
	RecordEach time.Duration

	Metrics *metric.Set  // callboard_node_* and callboard_overlay_* are added; nil: none
	Logger  *slog.Logger // default: discard
	Clock   clock.Clock  // default: one that begins now

	// QueueLength is how many readings may wait for the broker's goroutine
	// before further ones are dropped, counted and told as overflow. Default
	// 65,536. With all that they match they take a sixteenth of Overlay.Memory at most.
	QueueLength int
}

const (
	defaultQueue = 65536
	clientQueue  = 4096    // inputs that may wait before clients are made to
	minQueue     = 1 << 20 // bytes of readings that may wait at least
	chunk        = 512     // inputs between two writes to the store

	// writtenAtOnce is how many notifications of one step the stepping goroutine
	// writes itself while nothing else waits for it: that saves waking as many
	// goroutines. What is beyond is left to those, on all processors.
	writtenAtOnce = 16
)

var errStopped = errors.New("the broker is shutting down")

// item is one thing for the broker's goroutine to do.
type item struct {
	in       overlay.Input
	compiled []*subscribe.Subscription // of the subscriptions in in, in their order
	matched  *subscribe.Matched        // instead of in: a reading
	together []*subscribe.Matched      // instead of matched: those of one message, perhaps none
	piece    *shadow.Piece             // with together: what the session has done
	robot    string                    // that they are of
	decoded  overlay.Instant           // when it was decoded from Player's bytes
	ask      func()                    // instead of in: a question to the state machine
}

// Node is the runtime of one broker. It is a attach.Broker and a robots.Sink.
type Node struct {
	config   Config
	log      *slog.Logger
	queue    *queue[item]
	jobs     *queue[*job]     // conditions to compile
	installs *queue[*install] // changes of the matcher to carry out
	robots   *robots.Robots
	links    Links         // nil: a broker without neighbours
	restored chan struct{} // closed once an earlier life is back
	rests    atomic.Bool   // it only restores, until Begin

	// stepping is held by whoever has the state machine take something in or
	// carries out what it says; all below is under it.
	stepping  sync.Mutex
	broker    *overlay.Broker
	tested    map[overlay.Handle]*tested // of the keys that are installed, or will be
	compiled  map[*overlay.Subscription]*subscribe.Subscription
	kept      <-chan struct{}             // nil: outputs wait for no store
	terms     Terms                       // nil: the broker is of no pair
	term      uint64                      // that connections have been told of
	held      held                        // outputs that wait for it
	beside    []byte                      // for the standby, with the next batch
	followed  *followed                   // of a standby: the sets of the active's matcher
	started   bool                        // Run is on
	stepped   bool                        // there are records and outputs to carry out
	waiting   map[overlay.Handle]*waiting // changes whose conditions are being compiled
	restoring int                         // changes of an earlier life that are not visible yet
	soon      attach.Outbox               // has notifications that are written together; nil: none does
	frames    []*overlay.Frame            // scratch, of doAll
	timer     *time.Timer                 // runs out at armed
	armed     overlay.Instant

	conns    sync.Map // overlay.Conn → *conn
	lastConn atomic.Uint64

	names     sync.Map // robot → *overlay.RobotRefused: names that another broker has too
	calls     sync.Map // number → chan *overlay.Answered: questions to other brokers
	lastCall  atomic.Uint64
	answering atomic.Int64    // questions of other brokers
	asking    context.Context // of those: until Run ends
	running   sync.WaitGroup  // those that are being answered

	lostMu sync.Mutex
	lost   map[string]uint64 // readings dropped for want of room, by robot

	backpressure backpressure
	dropped      *metric.Counter // readings for which the queue had no room
}

// conn is a client's connection.
type conn struct {
	out    attach.Outbox
	remote string
	grant  attach.Grant // set by Hello, in the connection's goroutine
	loads  loads        // of that goroutine too
}

// New makes a node. Attach gives it its robots, Run runs it.
func New(c Config) (*Node, error) {
	if c.Matcher == nil {
		return nil, errors.New("node: no matcher given")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if !c.Clock.Started() {
		c.Clock = clock.New()
	}
	if c.QueueLength <= 0 {
		c.QueueLength = defaultQueue
	}
	broker, err := overlay.New(c.Overlay)
	if err != nil {
		return nil, err
	}
	n := &Node{
		config:   c,
		restored: make(chan struct{}),
		log:      c.Logger,
		queue:    newQueue[item](min(clientQueue, c.QueueLength), c.QueueLength),
		jobs:     newQueue[*job](1, 1), // only must is used of it
		installs: newQueue[*install](1, 1),
		broker:   broker,
		waiting:  map[overlay.Handle]*waiting{},
		tested:   map[overlay.Handle]*tested{},
		compiled: map[*overlay.Subscription]*subscribe.Subscription{},
		lost:     map[string]uint64{},
	}
	n.store(c.Store)
	n.rests.Store(c.Sides != nil)
	if m := c.Overlay.Memory; m > 0 {
		n.queue.maxBytes = int(max(m/16, minQueue))
	}
	n.measure(cmp.Or(c.Metrics, metric.New()))
	return n, nil
}

// store has the broker's records go to a store.
func (n *Node) store(s Store) {
	n.config.Store = s
	if s != nil {
		n.kept = s.Changed()
		n.terms, _ = s.(Terms)
	}
}

// Restore has a broker that is not run yet restore what the side of the pair that
// is active has stored.
func (n *Node) Restore(records []overlay.Record) {
	n.stepping.Lock()
	defer n.stepping.Unlock()
	for some := range slices.Chunk(records, chunk) {
		n.broker.Step(n.instant(), &overlay.Restore{Records: some})
	}
}

// Begin says, before Run, how the broker begins that has restored what it has: with
// a store. What robots have told before is not known: they are to tell it again.
// goOn are robots with which its sessions go on as those of the active would have.
func (n *Node) Begin(s Store, lost bool, goOn []string) {
	n.config.Lost, n.config.GoOn = lost, goOn
	n.store(s)
	n.rests.Store(false)
}

// Attach gives the node its robots and its links (nil without neighbours),
// before Run.
func (n *Node) Attach(r *robots.Robots, l Links) { n.robots, n.links = r, l }

// instant is the time that the state machine goes by.
func (n *Node) instant() overlay.Instant { return overlay.Instant(n.config.Clock.Micro()) }

// Run restores the broker's state and serves until ctx ends; what was posted
// before is still done.
func (n *Node) Run(ctx context.Context) error {
	if n.robots == nil {
		return errors.New("node: no robots attached")
	}
	answering, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.asking = answering
	defer n.running.Wait()
	defer cancel()
	n.timer = time.NewTimer(0)
	defer n.timer.Stop()
	n.stepping.Lock()
	begun := n.begin(ctx)
	n.started = begun
	n.stepping.Unlock()
	if !begun {
		n.close()
		return nil
	}
	beside, stop := context.WithCancel(ctx)
	n.running.Go(func() { n.compileAll(beside) })
	n.running.Go(func() { (&installer{n, n.followed.hand()}).run(beside) })
	defer stop()
	var record <-chan time.Time
	if n.terms != nil && n.config.Recorder != nil {
		ticks := time.NewTicker(n.config.RecordEach)
		defer ticks.Stop()
		record = ticks.C
	}
	var spent []item
	for restored := false; ; {
		if !restored && n.restoring == 0 {
			restored = true
			close(n.restored)
		}
		due, ready, timer := false, n.queue.ready, n.timer.C
		if n.held.full() || n.terms != nil && n.terms.Full() { // time stands still, too: what has arrived comes before any verdict
			ready, timer = nil, nil
		}
		select {
		case <-ready:
		case <-timer:
			due = true
		case <-n.kept:
			if err := n.storeSays(); err != nil {
				n.end()
				return fmt.Errorf("the store keeps nothing more of this broker: %w", err)
			}
			continue
		case <-record:
			n.tellStandby()
			continue
		case <-ctx.Done():
			n.end()
			return nil
		}
		spent = n.turn(due, spent)
	}
}

// close refuses what comes from now on.
func (n *Node) close() {
	n.queue.close()
	n.jobs.close()
	n.installs.close()
}

// end does what was posted before and takes nothing more. What the store has not
// kept by then does not go out.
func (n *Node) end() {
	n.stepping.Lock()
	defer n.stepping.Unlock()
	n.close()
	n.work(n.queue.take(nil))
	n.backpressure.set(true)
	n.started = false
}

// turn does all that waits, and what is due.
func (n *Node) turn(due bool, spent []item) []item {
	n.stepping.Lock()
	defer n.stepping.Unlock()
	n.carryOut() // what a reading's step has left
	if due {
		n.take(n.instant(), &overlay.Tick{})
	}
	taken := n.queue.take(spent)
	n.work(taken)
	clear(taken)
	n.tellLost()
	n.carryOut()
	n.backpressure.set(n.broker.Crowded() == 0)
	n.arm()
	return taken
}

// arm sets the timer to the state machine's deadline.
func (n *Node) arm() {
	n.armed = n.broker.Deadline()
	n.timer.Reset(time.Duration(n.armed-n.instant()) * time.Microsecond)
}

// atOnce has the state machine take a reading in, in the goroutine of the
// robot's session, if nothing else is being done or waits: that saves waking
// the broker's goroutine. What could make the session wait (the disk) is left to
// the broker's goroutine, and until that has done it readings go through the queue.
func (n *Node) atOnce(it *item) bool {
	if !n.stepping.TryLock() {
		return false
	}
	defer n.stepping.Unlock()
	if !n.started || n.stepped || n.kept != nil || n.queue.length() > 0 {
		return false
	}
	n.step(n.instant(), it)
	n.backpressure.set(n.broker.Crowded() == 0)
	if !n.light() {
		n.queue.signal()
		return true
	}
	n.carryOut()
	if n.broker.Deadline() < n.armed {
		n.arm()
	}
	return true
}

// Restored is closed once the sets of an earlier life are in the matcher. A
// reading that is tested before is tested by some of them only: robots are not
// to be read until then.
func (n *Node) Restored() <-chan struct{} { return n.restored }

// begin brings the earlier life back and makes the robots known. It returns
// false if ctx ended meanwhile: then nothing has begun.
func (n *Node) begin(ctx context.Context) bool {
	now := n.instant()
	for some := range slices.Chunk(n.config.Restore, chunk) {
		if ctx.Err() != nil {
			return false
		}
		n.take(now, &overlay.Restore{Records: some})
	}
	n.config.Restore = nil
	n.take(now, &overlay.Start{StoreLost: n.config.Lost, Robots: n.config.GoOn})
	for _, r := range n.robots.List() {
		n.take(now, &overlay.Advertise{Robot: r.Robot, World: r.World})
	}
	n.carryOut()
	for h := range n.followed.sets() { // of the active, which has not come to end them
		if n.tested[h] == nil {
			n.uninstall(h)
		}
	}
	return true
}

// light reports whether carrying out what has been stepped waits for nothing.
func (n *Node) light() bool { return n.config.Store == nil || len(n.broker.Records()) == 0 }

// work takes inputs in, in order.
func (n *Node) work(items []item) {
	for len(items) > 0 {
		some := items[:min(chunk, len(items))]
		items = items[len(some):]
		now := n.instant()
		for i := range some {
			n.step(now, &some[i])
		}
		n.carryOut()
		n.backpressure.set(n.broker.Crowded() == 0)
	}
}

func (n *Node) step(now overlay.Instant, it *item) {
	if it.ask != nil {
		it.ask()
		return
	}
	switch {
	case it.matched != nil:
		n.take(now, n.reading(it.matched, it))
		return
	case it.piece != nil:
		for _, m := range it.together {
			n.take(now, n.reading(m, it))
		}
		n.beside = it.piece.Stepped(n.beside)
		return
	}
	for i, s := range subscriptionsOf(it.in) {
		n.compiled[s] = it.compiled[i]
	}
	n.take(now, it.in)
}

// take has the state machine take an input in.
func (n *Node) take(now overlay.Instant, in overlay.Input) {
	n.broker.Step(now, in)
	n.stepped = true
}

// carryOut stores the records of the steps so far, then does what they say.
func (n *Node) carryOut() {
	if n.stepped {
		n.stepped = false
		n.carryOutStep()
	}
	clear(n.compiled)
}

func (n *Node) carryOutStep() {
	records, outputs := n.broker.Records(), n.broker.Outputs()
	if n.kept != nil {
		n.hold(records, outputs)
		return
	}
	if len(records) > 0 && n.config.Store != nil {
		n.config.Store.Append(records)
	}
	n.doAll(outputs)
}

// doAll carries outputs out, in order.
func (n *Node) doAll(outputs []overlay.Output) {
	later := len(outputs) // up to it notifications are left to the connections' own goroutines
	if n.queue.length() == 0 {
		later -= writtenAtOnce
	}
	for i, out := range outputs {
		if frame, ok := out.(*overlay.Frame); ok { // a step's stand together
			n.frames = append(n.frames, frame)
			continue
		}
		n.sendFrames()
		n.do(out, i >= later)
	}
	n.sendFrames()
	if n.soon != nil {
		n.soon.Flush()
		n.soon = nil
	}
}

// sendFrames sends the frames that were put out one after the other.
func (n *Node) sendFrames() {
	if len(n.frames) > 0 && n.links != nil {
		n.links.Send(n.frames...)
	}
	clear(n.frames)
	n.frames = n.frames[:0]
}

func (n *Node) do(out overlay.Output, now bool) {
	switch o := out.(type) {
	case *overlay.Notify:
		c := n.conn(o.Conn)
		switch {
		case c == nil:
		case now:
			c.out.NotifySoon(notification(o), n.arrived(o.Reading))
			n.soon = c.out
		default:
			c.out.Notify(notification(o), n.arrived(o.Reading))
		}
	case *overlay.Send:
		if c := n.conn(o.Conn); c != nil {
			c.out.Send(n.termed(o.Message))
		}
	case *overlay.Heartbeat:
		o.Message.Term = n.term
		n.beat(&o.Message)
	case *overlay.Close:
		if c := n.conn(o.Conn); c != nil {
			c.out.Close(o.Code, o.Reason)
		}
	case *overlay.RobotRefused:
		n.refused(o)
	case *overlay.QueueDoubled:
		n.log.Warn("another broker declares the same queue; take it out of one of the configurations", "queue", o.Queue, "broker", o.Rival, "tasks_go_to", o.Holder)
	case *overlay.Asked:
		n.asked(o)
	case *overlay.Answered:
		n.answered(o)
	case *overlay.Install:
		n.prepareInstall(o)
	case *overlay.Uninstall:
		n.uninstall(o.Handle)
	case *overlay.Execute:
		n.execute(o)
	default:
		panic(fmt.Sprintf("node: the overlay gave a %T", out))
	}
}

// arrived returns when a reading was decoded, zero if it is of an earlier life.
func (n *Node) arrived(r *overlay.Reading) time.Time {
	if r.Arrived == 0 {
		return time.Time{}
	}
	return n.config.Clock.Time(int64(r.Arrived))
}

func notification(o *overlay.Notify) protocol.Notify {
	m := protocol.Notify{
		Op: protocol.OpNotify, Source: o.Source, Seq: o.Seq, Skipped: o.Skipped,
		Robot: o.Reading.Robot, Interface: o.Reading.Interface, Index: o.Reading.Index, Time: o.Reading.Time,
		Subscriptions: o.Subscriptions, Latest: o.Latest,
	}
	if protocol.WantsReading(o.Subscriptions) {
		m.Reading = o.Reading.JSON
	}
	if protocol.WantsMessages(o.Subscriptions) {
		m.Messages = o.Reading.Messages
	}
	return m
}

func (n *Node) conn(c overlay.Conn) *conn {
	if found, ok := n.conns.Load(c); ok {
		return found.(*conn)
	}
	return nil
}

// ask has f run by the broker's goroutine, behind all that was posted before,
// and waits for it.
func (n *Node) ask(ctx context.Context, f func()) error {
	done := make(chan struct{})
	if err := n.queue.post(ctx, item{ask: func() { f(); close(done) }}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
