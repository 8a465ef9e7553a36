package overlay

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"callboard/subscribe/protocol"
)

// TestBroker runs random schedules of one broker, three clients and two
// robots, and checks after every step what is promised.
func TestBroker(t *testing.T) {
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		actions := w.actions()
		names := weighted(actions)
		for range rapid.IntRange(5, 250).Draw(t, "steps") {
			actions[rapid.SampledFrom(names).Draw(t, "action")](t)
			w.advance()
		}
		w.finale()
		for mark, n := range w.marks {
			reached[mark] += n
		}
	})
	for _, mark := range []string{"notified", "skipped", "conflated", "gaps", "gap overflow", "gap expired", "passed", "ends", "early", "taken over", "crash", "lost store", "forgotten", "refused"} {
		if reached[mark] == 0 {
			t.Errorf("no schedule reached: %s", mark)
		}
	}
	t.Log(reached)
}

// weighted gives the names of the actions, each as often as it is to be drawn.
func weighted(actions map[string]func(*rapid.T)) (names []string) {
	weights := map[string]int{"publish": 10, "process": 8, "ack": 4, "see": 4, "settle": 2, "subscribe": 3, "update": 2}
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		for range max(1, weights[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (w *world) advance() {
	w.now += 1000
	for _, c := range w.clients {
		if c.name != "" && c.session != "" && w.b.sessions[c.name] == nil {
			w.marks["forgotten"]++
		}
	}
}

func (w *world) actions() map[string]func(*rapid.T) {
	pick := func(t *rapid.T) *client { return w.clients[rapid.IntRange(0, len(w.clients)-1).Draw(t, "client")] }
	attached := func(t *rapid.T) *client {
		c := pick(t)
		if c.conn == 0 || !c.welcomed {
			return nil
		}
		return c
	}
	keep := func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"", protocol.KeepAll, protocol.KeepLatest}).Draw(t, "keep")
	}
	publish := func(t *rapid.T) {
		for range rapid.IntRange(1, 6).Draw(t, "readings") {
			w.publish(rapid.IntRange(0, 1).Draw(t, "robot"), rapid.IntRange(0, 200).Draw(t, "size"))
		}
	}
	process := func(t *rapid.T) {
		c := pick(t)
		for range rapid.IntRange(1, 10).Draw(t, "messages") {
			if len(c.queue) > 0 {
				c.process()
			}
		}
	}
	return map[string]func(*rapid.T){
		"publish": publish,
		"process": process,
		"hello": func(t *rapid.T) {
			c := pick(t)
			if c.conn != 0 {
				w.marks["taken over"]++
				if c.name == "" {
					w.step(&Disconnected{Conn: c.conn})
				}
			}
			c.mayEndSome(t)
			c.hello(rapid.IntRange(0, 9).Draw(t, "resume") > 0, rapid.IntRange(0, 4).Draw(t, "back") == 0, rapid.IntRange(0, 4).Draw(t, "fresh") == 0)
		},
		"refused": func(t *rapid.T) {
			c := pick(t)
			if c.name == "" || w.b.sessions[c.name] == nil {
				return
			}
			w.lastConn++
			attachment := w.b.sessions[c.name].epoch.Attachment
			before := c.conn
			w.step(&Hello{Conn: w.lastConn, Client: c.name, Attachment: &attachment})
			if c.conn != before || w.b.conns[w.lastConn] != nil {
				t.Fatal("an old attachment was taken")
			}
			w.marks["refused"]++
		},
		"subscribe": func(t *rapid.T) {
			c := attached(t)
			if c == nil {
				return
			}
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			if c.subs[id] != nil {
				return
			}
			sub := c.version(id, rapid.IntRange(1, 3).Draw(t, "every"), keep(t))
			c.awaits[id] = []*Subscription{sub}
			c.told[id] = false
			w.step(&Subscribe{Conn: c.conn, Subscription: sub})
		},
		"update": func(t *rapid.T) {
			c := attached(t)
			if c == nil {
				return
			}
			id := c.some(t)
			if id == "" {
				return
			}
			sub := c.version(id, rapid.IntRange(1, 3).Draw(t, "every"), keep(t))
			c.awaits[id] = append(c.awaits[id], sub)
			w.step(&Update{Conn: c.conn, Subscription: sub})
		},
		"unsubscribe": func(t *rapid.T) {
			c := attached(t)
			if c == nil {
				return
			}
			id := c.some(t)
			if id == "" {
				return
			}
			for len(c.queue) > 0 { // what was sent before the reply may name it
				c.process()
			}
			c.end(id)
			w.step(&Unsubscribe{Conn: c.conn, ID: id})
		},
		"ack": func(t *rapid.T) {
			c := attached(t)
			if c == nil {
				return
			}
			for _, word := range slices.Sorted(maps.Keys(c.nums)) {
				if num := c.nums[word]; num > c.acked[word] {
					c.acked[word] = rapid.Uint64Range(c.acked[word], num).Draw(t, "num")
					w.step(&Ack{Conn: c.conn, Source: word, Num: c.acked[word]})
				}
			}
		},
		"drop": func(t *rapid.T) {
			c := pick(t)
			if c.conn == 0 {
				return
			}
			conn := c.conn
			c.offline()
			w.step(&Disconnected{Conn: conn})
			if c.name == "" {
				c.begin()
			}
		},
		"see": func(t *rapid.T) {
			for range rapid.IntRange(1, 4).Draw(t, "installs") {
				w.see(rapid.IntRange(0, 1).Draw(t, "robot"))
			}
			for _, e := range w.b.entries {
				w.marks["early"] += len(e.early)
			}
			w.answer()
		},
		"settle": func(t *rapid.T) { w.settle() },
		"wait": func(t *rapid.T) {
			w.now += Instant(rapid.IntRange(1, 20).Draw(t, "s")) * Instant(Second)
			w.step(&Tick{})
		},
		"crash": func(t *rapid.T) {
			if rapid.IntRange(0, 2).Draw(t, "really") == 0 {
				w.crash(t, rapid.IntRange(0, 3).Draw(t, "lost") == 0)
			}
		},
	}
}

// some picks one of the client's subscriptions.
func (c *client) some(t *rapid.T) string {
	if len(c.subs) == 0 {
		return ""
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(c.subs))).Draw(t, "id")
}

// mayEndSome leaves one out of the next hello, or changes it.
func (c *client) mayEndSome(t *rapid.T) {
	if len(c.subs) == 0 {
		return
	}
	id := c.some(t)
	switch rapid.IntRange(0, 5).Draw(t, "change") {
	case 0:
		c.end(id)
	case 1:
		c.version(id, rapid.IntRange(1, 3).Draw(t, "every"), protocol.KeepAll)
	}
}

// crash begins another life from the records, all of them or without the last.
func (w *world) crash(t *rapid.T, lost bool) {
	w.marks["crash"]++
	before := fingerprint(w.b)
	records := w.records
	if lost {
		w.marks["lost store"]++
		w.lost = true
		records = records[:rapid.IntRange(0, len(records)).Draw(t, "records left")]
		for _, k := range w.truths {
			k.ended = true
		}
	}
	for _, c := range w.clients {
		c.offline()
		if c.name == "" {
			c.begin()
		}
	}
	// What the store has lost was not handed on to anybody after the cut; what
	// was handed in and not numbered is lost in any crash.
	for _, k := range w.keys {
		clear(k.handed)
	}
	if !lost {
		probe := newBroker(t, w.cfg)
		probe.Step(w.now, &Restore{Records: copyRecords(records)})
		probe.Step(w.now, &Start{})
		if after := fingerprint(probe); after != before {
			t.Fatalf("restored:\n%s\nbefore:\n%s", after, before)
		}
	}
	w.newLife(records, lost)
}

// fingerprint tells all that a crash must not change: what an absent client
// would find.
// Names are left out: those that latest took out for what was lost
// since come back, which does no harm.
func fingerprint(b *Broker) (text string) {
	text = fmt.Sprintln("stamp", b.stamp)
	for _, s := range b.order {
		if s.anonymous {
			continue
		}
		text += fmt.Sprintf("%q %v %d", s.client, s.birth, s.epoch.Attachment)
		for _, sub := range s.sorted() {
			text += fmt.Sprintf(" %s@%d:%v", sub.ID, sub.born, sub.hash)
		}
		text += "\n"
		for _, in := range s.inboxes {
			if in.entry == nil || in.ended && in.buf.empty() {
				continue // known from the next hello again
			}
			text += fmt.Sprintf("  %d %s set=%d next=%d num=%d ended=%t:", in.entry.handle, in.word, in.entry.set, in.entry.next, in.buf.num, in.ended)
			text += describeItems(s, in.buf) + "\n"
		}
	}
	return text
}

// describeItems tells what of a buffer would be sent to a client that comes back.
func describeItems(s *session, buf *buffer) (text string) {
	type line struct {
		from, to uint64
		text     string
	}
	var lines []line
	newer := map[string]bool{}
	for i := len(buf.items) - 1; i >= buf.head; i-- {
		it := &buf.items[i]
		switch {
		case it.dead:
		case it.gap():
			if n := len(lines); n > 0 && lines[n-1].text == "gap" {
				lines[n-1].from = it.from
			} else {
				lines = append(lines, line{it.from, it.to, "gap"})
			}
		default:
			wanted := false
			for _, n := range it.names {
				sub := s.live(n.ID, it.revision)
				key := n.ID + it.reading.Robot
				if sub != nil && !(sub.latest() && newer[key]) {
					wanted = true
				}
				newer[key] = newer[key] || sub != nil
			}
			if wanted {
				lines = append(lines, line{it.from, it.to, "notify"})
			}
		}
	}
	slices.Reverse(lines)
	for _, l := range lines {
		text += fmt.Sprintf(" %d-%d:%s", l.from, l.to, l.text)
	}
	return text
}

// finale brings all clients back and all that waits to them; then nothing is
// left. The lives are run again and must give the same.
func (w *world) finale() {
	w.settle()
	for _, c := range w.clients {
		for tries := 0; c.conn == 0; tries++ {
			c.hello(true, false, false)
			if tries > 2 {
				w.t.Fatalf("%q cannot attach", c.name)
			}
		}
	}
	w.settle()
	for busy := true; busy; {
		busy = false
		for _, c := range w.clients {
			for len(c.queue) > 0 {
				busy = true
				c.process()
			}
			for word, num := range c.nums {
				if num > c.acked[word] {
					busy = true
					c.acked[word] = num
					w.step(&Ack{Conn: c.conn, Source: word, Num: num})
				}
			}
		}
	}
	for h, k := range w.keys {
		e := w.b.entries[h]
		if e == nil || e.inbox.ended || e.inbox.word != k.word || e.key.Session.String() != k.session {
			continue
		}
		missing := 0
		for _, g := range k.handed {
			for _, o := range g.owners {
				if o != nil && !o.ended && !w.lost {
					missing++
					break
				}
			}
		}
		if missing > k.early {
			w.t.Fatalf("%s: %d readings matched and were not given a number; %d were declared lost", k.word, missing, k.early)
		}
		for seq := k.client.nums[k.word] + 1; seq < e.next; seq++ {
			k.client.mayPass(k, seq)
		}
		if !e.buf.empty() {
			w.t.Fatalf("%s: %d notifications are left", k.word, e.buf.count)
		}
	}
	for i, l := range w.lives {
		if got := runAgain(w, l); got != l.hash {
			w.t.Fatalf("life %d: the same inputs gave other outputs", i)
		}
	}
}

func runAgain(w *world, l life) uint64 {
	b := newBroker(w.t, w.cfg)
	again := life{hash: fnvStart}
	for _, in := range l.inputs {
		switch i := in.in.(type) {
		case *Restore:
			in.in = &Restore{Records: copyRecords(i.Records)}
		case *Matched:
			r := *i.Reading
			r.refs = 0
			in.in = &Matched{Reading: &r, Hits: i.Hits}
		}
		b.Step(in.at, in.in)
		again.take(b.Outputs())
	}
	return again.hash
}
