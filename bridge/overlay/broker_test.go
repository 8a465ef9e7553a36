package overlay

import (
	"flag"
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
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("1000"); err != nil { // the rare cases need some more
			t.Fatal(err)
		}
		defer f.Value.Set(f.DefValue)
	}
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
	for _, mark := range []string{"notified", "skipped", "conflated", "gaps", "gap overflow", "gap expired", "passed", "ends", "early", "early lost", "taken over", "crash", "lost store", "forgotten", "refused"} {
		if reached[mark] == 0 {
			t.Errorf("no schedule reached: %s", mark)
		}
	}
	t.Log(reached)
}

// weighted returns the names of the actions, each as often as it is to be drawn.
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
		if c.name != "" && c.session != "" && w.b.edge.sessions[c.name] == nil {
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
			if c.name == "" || w.b.edge.sessions[c.name] == nil {
				return
			}
			w.lastConn++
			attachment := w.b.edge.sessions[c.name].epoch.Attachment
			before := c.conn
			w.step(&Hello{Conn: w.lastConn, Client: c.name, Attachment: &attachment})
			if c.conn != before || w.b.edge.conns[w.lastConn] != nil {
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
			w.step(&Unsubscribe{Conn: c.conn, ID: id})
			for replied := false; !replied; { // what was sent before the reply may name it
				_, replied = c.queue[0].send.(*protocol.Reply)
				c.process()
			}
			if waits := len(c.awaits[id]); waits > 0 {
				t.Fatalf("%q has ended and %d changes of it were not answered", id, waits)
			}
			c.end(id)
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
			conn, goodbye := c.conn, rapid.IntRange(0, 19).Draw(t, "goodbye") == 0
			c.offline()
			w.step(&Disconnected{Conn: conn, Goodbye: goodbye})
			if goodbye && w.b.edge.sessions[c.name] != nil {
				t.Fatalf("%q has said goodbye, and is there", c.name)
			}
			if c.name == "" || goodbye {
				c.begin()
			}
		},
		"see": func(t *rapid.T) {
			for range rapid.IntRange(1, 4).Draw(t, "installs") {
				w.see(rapid.IntRange(0, 1).Draw(t, "robot"))
			}
			for _, e := range w.b.source.entries {
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
	w.now += Instant(Second) // a store that is lost whole does not know its stamp: it takes the time
	before, waits := w.fingerprint(w.b)
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
		cfg := w.cfg
		cfg.Disk = 0 // nothing gives way that was there before
		probe := newBroker(t, cfg)
		probe.Step(w.now, &Restore{Records: copyRecords(records)})
		probe.Step(w.now, &Start{})
		after, found := w.fingerprint(probe)
		if after != before {
			t.Fatalf("restored:\n%s\nbefore:\n%s", after, before)
		}
		for line := range waits {
			if !found[line] {
				t.Fatalf("%s waited, and is not restored; there is %v", line, found)
			}
		}
	}
	w.newLife(records, lost)
}

// fingerprint returns all that a crash must not change, and what an absent
// client would find. After a crash it may find more: names that latest took
// out come back if what took their place was lost, or is to be kept now.
func (w *world) fingerprint(b *Broker) (text string, waits map[string]bool) {
	text, waits = fmt.Sprintln("stamp", b.source.stamp), map[string]bool{}
	for _, s := range b.edge.order {
		if s.anonymous {
			continue
		}
		text += fmt.Sprintf("%q %v %d", s.client, s.birth, s.epoch.Attachment)
		for _, sub := range s.sorted() {
			text += fmt.Sprintf(" %s@%d:%v", sub.ID, sub.born, sub.hash)
		}
		text += "\n"
		for _, in := range s.inboxes {
			if !in.own || in.ended && in.buf.empty() {
				continue // known from the next hello again
			}
			text += fmt.Sprintf("  %d %s set=%d next=%d num=%d ended=%t\n", in.handle, in.word, b.source.entries[in.handle].set, b.source.entries[in.handle].next, in.buf.num, in.ended)
			k := w.keys[in.handle]
			if in.ended {
				k = nil // what was given after the cut is no part of it
			}
			for _, line := range waiting(s, &in.buf, k) {
				waits[fmt.Sprintf("%d: %s", in.handle, line)] = true
			}
		}
	}
	return text, waits
}

// waiting returns what of a buffer would be sent to a client that comes back:
// every notification that not only latest subscriptions want, and every
// number that is lost.
func waiting(s *session, buf *buffer, k *truth) (lines []string) {
	for i := len(buf.items) - 1; i >= buf.head; i-- {
		it := &buf.items[i]
		if it.dead() {
			continue
		}
		if it.gap() {
			for seq := it.from; seq <= it.to(); seq++ {
				if k != nil && k.lost[seq] {
					lines = append(lines, fmt.Sprint(seq, " lost"))
				}
			}
			continue
		}
		wanted := false
		for _, n := range it.names {
			sub := (&sequence{members: s.set, own: true}).live(n.ID, it.revision)
			wanted = wanted || sub != nil && !sub.latest()
		}
		if wanted {
			lines = append(lines, fmt.Sprint(it.from))
		}
	}
	return lines
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
		e := w.b.source.entries[h]
		if e == nil || e.ended || e.word != k.word || e.key.Session.String() != k.session {
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
		declared := 0
		for seq := range k.lost {
			if k.given[seq] == nil {
				declared++
			}
		}
		if missing > declared {
			w.t.Fatalf("%s: %d readings matched and were not given a number; %d were declared lost", k.word, missing, declared)
		}
		if declared > 0 {
			w.marks["early lost"]++
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
