package overlay

import (
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"callboard/subscribe/protocol"
)

var trace = flag.Bool("steps", false, "log every input and output of a failing schedule")

// world is one broker with what surrounds it: a matcher whose robots see
// changes of the sets at different times, clients that check what they get,
// and an observer who knows every number that was given.
type world struct {
	t       *rapid.T
	cfg     Config
	b       *Broker
	now     Instant
	records []Record
	lives   []life // of brokers: to be run again
	robots  []string
	reading int

	installs []*Install // of the present life
	views    []view     // of each robot
	answered int

	clients  []*client
	byConn   map[Conn]*client
	lastConn Conn
	keys     map[Handle]*truth
	truths   []*truth // all there ever were
	lost     bool     // a store was lost: what a client unsubscribed may come back until its hello
	marks    map[string]int
}

// life is a broker's life as it was: its inputs and the hash of its outputs.
type life struct {
	inputs []timed
	hash   uint64
}

// take adds outputs to the hash.
func (l *life) take(outputs []Output) {
	for _, o := range outputs {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %s", l.hash, (&script{}).describe(o))
		l.hash = h.Sum64()
	}
}

type timed struct {
	at Instant
	in Input
}

// view is what a robot's session tests readings by.
type view struct {
	seen int // of installs
	sets map[Handle]*viewed
}

type viewed struct {
	set  uint64
	subs map[string]*Subscription
}

// truth is what the observer knows of a key.
type truth struct {
	client  *client
	word    string
	session string
	given   map[uint64]*given
	handed  map[int]*given // by reading, of named clients
	last    uint64
	lost    map[uint64]bool // numbers that a buffer gave up
	passed  map[uint64]bool
	ended   bool
	set     uint64 // of the last given
}

type given struct {
	reading int
	robot   string
	names   map[string]*Subscription // the versions that matched
	owners  map[string]*owned
	set     uint64
}

// owned is a subscription of a client, with all its versions.
type owned struct {
	id    string
	keep  string
	ended bool
}

type message struct {
	send   any
	notify *Notify
}

// client is a program that checks what it is told.
type client struct {
	w           *world
	name        string // "" for one without id
	session     string
	attachment  uint64
	conn        Conn
	welcomed    bool
	queue       []message
	subs        map[string]*owned
	versions    map[string]*Subscription
	owner       map[*Subscription]*owned
	nums        map[string]uint64 // processed
	acked       map[string]uint64
	told        map[string]bool            // ids that have had their subscribed on this connection
	awaits      map[string][]*Subscription // versions whose subscribed has not come
	unsubscribe []string                   // replies to come
	ending      map[string]*owned
}

func newWorld(t *rapid.T) *world {
	cfg := Config{ID: "b1", Inbox: Limits{Keep: 30 * Second}}
	if rapid.Bool().Draw(t, "small") {
		cfg.Inbox.Count, cfg.Window = rapid.IntRange(1, 10).Draw(t, "count"), rapid.IntRange(1, 5).Draw(t, "window")
	} else if rapid.Bool().Draw(t, "few bytes") {
		cfg.Inbox.Bytes, cfg.WindowBytes = 4000, 700
	} else if rapid.Bool().Draw(t, "little disk") {
		cfg.Disk = rapid.Int64Range(2_000, 20_000).Draw(t, "disk")
	}
	w := &world{t: t, cfg: cfg, now: 10 * Instant(Second), robots: []string{"r0", "r1"}, byConn: map[Conn]*client{}, keys: map[Handle]*truth{}, marks: map[string]int{}}
	for _, name := range []string{"x", "y", ""} {
		w.clients = append(w.clients, &client{w: w, name: name})
	}
	for _, c := range w.clients {
		c.reset()
	}
	w.newLife(nil, false)
	for i, c := range w.clients {
		c.version("a", 1+i%2, protocol.KeepAll)
		c.version("l", 1, protocol.KeepLatest)
		c.hello(false, false, true)
		c.process()
	}
	w.settle()
	return w
}

func (c *client) reset() {
	c.subs, c.versions, c.owner = map[string]*owned{}, map[string]*Subscription{}, map[*Subscription]*owned{}
	c.session, c.nums, c.acked, c.ending = "", map[string]uint64{}, map[string]uint64{}, map[string]*owned{}
	c.offline()
}

// begin leaves the session: what it asked for is asked for anew.
func (c *client) begin() {
	versions := maps.Clone(c.versions)
	for _, id := range slices.Sorted(keysOf(versions)) {
		c.end(id)
	}
	c.reset()
	for _, id := range slices.Sorted(keysOf(versions)) {
		every, _ := strconv.Atoi(versions[id].Condition)
		c.version(id, every, versions[id].Keep)
	}
}

func (c *client) offline() {
	delete(c.w.byConn, c.conn)
	c.conn, c.welcomed, c.queue, c.told, c.awaits, c.unsubscribe = 0, false, nil, map[string]bool{}, map[string][]*Subscription{}, nil
}

func (w *world) newLife(records []Record, lost bool) {
	w.b = newBroker(w.t, w.cfg)
	w.installs, w.answered, w.views = nil, 0, nil
	for range w.robots {
		w.views = append(w.views, view{sets: map[Handle]*viewed{}})
	}
	w.lives = append(w.lives, life{hash: fnvStart})
	w.records = nil
	if records != nil {
		w.records = slices.Clone(records)
		w.step(&Restore{Records: copyRecords(records)})
	}
	w.step(&Start{StoreLost: lost})
	for _, r := range w.robots {
		w.step(&Advertise{Robot: r})
		w.step(&RobotState{Robot: r, State: protocol.RobotUp, Since: w.now})
	}
}

const fnvStart = 14695981039346656037

func copyRecords(records []Record) (all []Record) {
	for _, r := range records {
		all = append(all, keepRecord(r))
	}
	return all
}

// step hands an input in and carries out what comes.
func (w *world) step(in Input) {
	l := &w.lives[len(w.lives)-1]
	l.inputs = append(l.inputs, timed{w.now, in})
	early := map[Handle]bool{} // more has waited for its set than there was room for
	for h, e := range w.b.source.entries {
		early[h] = e.earlyLost > 0
	}
	w.b.Step(w.now, in)
	if *trace {
		w.t.Logf("> %T%+v", in, in)
		for _, o := range w.b.Outputs() {
			w.t.Logf("  %s", (&script{}).describe(o))
		}
	}
	for _, r := range w.b.Records() {
		w.observe(r, early)
		w.records = append(w.records, keepRecord(r))
	}
	outputs := w.b.Outputs()
	l.take(outputs)
	for _, o := range outputs {
		switch o := o.(type) {
		case *Install:
			w.installs = append(w.installs, o)
		case *Uninstall:
			for i := range w.views {
				delete(w.views[i].sets, o.Handle)
			}
		case *Send:
			w.deliver(o.Conn, message{send: o.Message})
		case *Notify:
			w.deliver(o.Conn, message{notify: o})
		case *Close:
			if c := w.byConn[o.Conn]; c != nil {
				for len(c.queue) > 0 {
					c.process()
				}
				c.offline()
			}
		}
	}
	check(w.t, w.b)
}

func (w *world) deliver(conn Conn, m message) {
	if c := w.byConn[conn]; c != nil {
		c.queue = append(c.queue, m)
	}
}

// observe learns the truth from the records.
func (w *world) observe(r Record, early map[Handle]bool) {
	switch r := r.(type) {
	case *EntryRecord:
		k := w.keys[r.Handle]
		if k == nil || k.word != SourceWord(r.Key.Source, r.Key.Stamp) || k.session != r.Key.Session.String() { // handles of a lost store are given again
			k = &truth{word: SourceWord(r.Key.Source, r.Key.Stamp), session: r.Key.Session.String(), given: map[uint64]*given{}, handed: map[int]*given{}, lost: map[uint64]bool{}, passed: map[uint64]bool{}}
			for _, c := range w.clients {
				if c.name == r.Key.Client {
					k.client = c
				}
			}
			w.keys[r.Handle] = k
			w.truths = append(w.truths, k)
		}
		k.ended = k.ended || r.Ended
	case *EntryEnded:
		w.keys[r.Handle].ended = true
	case *GivenRecord:
		n, _ := strconv.Atoi(string(r.Reading.JSON[:8]))
		for _, hit := range r.Hits {
			w.observeGiven(w.keys[hit.Handle], n, hit)
		}
	case *GapRecord:
		k := w.keys[r.Handle]
		for seq := r.New; seq <= r.To; seq++ {
			k.lost[seq] = true
		}
		k.last = max(k.last, r.To)
		in := w.b.source.entries[r.Handle]
		full := in.buf.count >= w.cfg.Inbox.Count-1 || in.buf.bytes+400 > w.b.cfg.Inbox.Bytes || w.cfg.Disk > 0
		if r.Why == WhyOverflow && !full && !early[r.Handle] {
			w.t.Fatalf("a gap %d…%d although only %d (%d bytes) wait", r.From, r.To, in.buf.count, in.buf.bytes)
		}
		w.marks["gap "+r.Why.String()]++
	case *PassedRecord:
		for seq := r.From; seq <= r.To; seq++ {
			w.keys[r.Handle].passed[seq] = true
		}
		w.marks["passed"]++
	}
}

func (w *world) observeGiven(k *truth, n int, hit GivenHit) {
	if hit.Seq != k.last+1 {
		// Numbers between are lost ones, declared before or in the same step.
		for seq := k.last + 1; seq < hit.Seq; seq++ {
			if !k.lost[seq] {
				w.t.Fatalf("%s: seq %d given after %d", k.word, hit.Seq, k.last)
			}
		}
	}
	if hit.Revision < k.set {
		w.t.Fatalf("%s: #%d was tested by set %d, but one before it by %d", k.word, hit.Seq, hit.Revision, k.set)
	}
	g := k.handed[n]
	if g == nil {
		w.t.Fatalf("%s: #%d gives reading %d, which did not match or was given before", k.word, hit.Seq, n)
	}
	delete(k.handed, n)
	k.last, k.set, k.given[hit.Seq] = hit.Seq, hit.Revision, g
}

// see lets a robot's session see the next install.
func (w *world) see(robot int) {
	v := &w.views[robot]
	if v.seen == len(w.installs) {
		return
	}
	in := w.installs[v.seen]
	v.seen++
	if w.b.source.entries[in.Handle] == nil {
		return
	}
	s := v.sets[in.Handle]
	if in.Whole || s == nil {
		s = &viewed{subs: map[string]*Subscription{}}
		v.sets[in.Handle] = s
	}
	s.set = in.Set
	for _, id := range in.Drop {
		delete(s.subs, id)
	}
	for _, sub := range in.Put {
		s.subs[sub.ID] = sub
	}
}

// answer says of the installs that all robots have seen that they are in force.
func (w *world) answer() {
	for w.answered < len(w.installs) {
		for i := range w.views {
			if w.views[i].seen <= w.answered {
				return
			}
		}
		in := w.installs[w.answered]
		w.answered++
		a := &Installed{Handle: in.Handle, Set: in.Set, Robots: map[string]int{}}
		for _, id := range in.Count {
			a.Robots[id] = 1
		}
		w.step(a)
	}
}

func (w *world) settle() {
	for w.answered < len(w.installs) {
		for i := range w.views {
			for w.views[i].seen < len(w.installs) {
				w.see(i)
			}
		}
		w.answer()
	}
}

// publish makes a reading of a robot and tests it by what its session sees.
func (w *world) publish(robot int, size int) {
	w.reading++
	m := &Matched{Reading: &Reading{Robot: w.robots[robot], Interface: "laser", JSON: []byte(fmt.Sprintf("%08d%s", w.reading, strings.Repeat(" ", size)))}}
	handles := make([]Handle, 0, len(w.views[robot].sets))
	for h := range w.views[robot].sets {
		handles = append(handles, h)
	}
	slices.Sort(handles)
	for _, h := range handles {
		s := w.views[robot].sets[h]
		hit := Hit{Handle: h, Set: s.set}
		g := &given{reading: w.reading, robot: w.robots[robot], names: map[string]*Subscription{}, owners: map[string]*owned{}, set: s.set}
		for _, id := range slices.Sorted(keysOf(s.subs)) {
			sub := s.subs[id]
			if every, _ := strconv.Atoi(sub.Condition); w.reading%every == 0 {
				match := protocol.Matched{ID: id}
				switch w.reading % 4 { // a state, values, or neither
				case 0:
					match.Values = []byte(fmt.Sprint(w.reading))
				case 1:
					no := false // what is true ends with the broker: states_test.go
					match.State = &no
				}
				hit.Names = append(hit.Names, match)
				g.names[id] = sub
				if k := w.keys[h]; k != nil {
					g.owners[id] = k.client.owner[sub]
				}
			}
		}
		if len(hit.Names) > 0 {
			m.Hits = append(m.Hits, hit)
			if k := w.keys[h]; k != nil {
				k.handed[w.reading] = g
			}
		}
	}
	if len(m.Hits) > 0 {
		w.step(m)
	}
}

func keysOf[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
