package overlaytest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// script runs a cluster by commands, and tells what the brokers say to each other.
type script struct {
	*cluster
	out   strings.Builder
	saved map[string]uint64 // a client's numbers

	counted overlay.MessageCounts // when that was asked last
}

// TestTranscripts runs the scripts in testdata.
//
//	network 6 b4 b5                               a row of six brokers, all links up; two of them have a robot
//	network 4 b1 +b1-b4 inbox=3                   with a further link, and small inboxes
//	network 4 b1 keep=5 registry=b4               with a short session time (s), and the registry not at b1
//	network 4 b1 every                            with a registry at every broker: bulletins are told, too
//	attach c b6 | detach c | roam c b1            a client; roam is both
//	move c b1                                     with the old connection until the new one is welcome
//	take c                                        it takes what has come over the connection in use
//	forget c                                      the program starts anew
//	save c | resume c                             it notes its numbers, and starts anew with those
//	double c b3 2                                 another process says hello with c's id and that attachment
//	knows c b1 50                                 it has had up to that number of b1, which nobody else knows
//	intrude c b3 [anew]                           another token's program says hello with what it knows of c, or only with its id
//	kill b2 [lost|torn N|back N]                  and starts again, its links down: with its store, with none, without its last N records, or with that before its last N steps
//	hold b2 | release b2                          it stands still (SIGSTOP), and goes on
//	subscribe c id every | update … | unsubscribe c id
//	changes c id every                            a subscription to changes
//	publish b4 n                                  readings
//	again b4                                      the last one once more, of the same time: its simulation stands still
//	settle                                        all that is under way happens; tells it
//	step n                                        only so many frames
//	tick                                          time goes on, and what that has brokers send is on its way
//	period                                        time goes on, all that follows happens
//	carry b1 b2 n                                 n frames of that link, whatever waits on others
//	cut b1 b2 | heal b1 b2 | registry up|down
//	cost b1 b2 8                                  of that link, in quarters, now and whenever it is up again
//	routes | client c | where c
//	reader r1                                     whose that name is, at each broker
//	counted                                       how many messages crossed a link since this was asked last
//	left                                          what brokers keep beside routes
//	robot b4 r up|away [laser:0] | withdraw b4 r  a robot beside the broker's own, or a device of it
//	read b4 r                                     a reading of it, which all sets there match
//	ask b1 r                                      a question to whoever reads it, which answers with its name
//	hear c                                        from now on said tells its notifications, too
//	said                                          what brokers said of robots' names, and clients were told beside notifications
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			defer func() {
				if p := recover(); p != nil {
					if f, ok := p.(failure); ok {
						d.Fatalf(t, "%s", f.text)
					}
					panic(p)
				}
			}()
			s.out.Reset()
			for _, line := range strings.Split(d.Input, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					s.do(t, d, strings.Fields(line))
				}
			}
			return s.out.String()
		})
	})
}

func (s *script) broker(name string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "b"))
	if err != nil || n < 1 || s.cluster != nil && n > len(s.brokers) {
		failf("%q is no broker", name)
	}
	return n - 1
}

func (s *script) client(name string) *client {
	name = strings.Replace(name, ":", "\x00", 1) // lab:c is a token's
	for _, p := range s.clients {
		if p.name == name {
			return p
		}
	}
	p := newClient(s.cluster, name)
	s.clients = append(s.clients, p)
	return p
}

func (s *script) do(t *testing.T, d *datadriven.TestData, f []string) {
	number := func(i int) int {
		n, err := strconv.Atoi(f[i])
		if err != nil {
			failf("%v", err)
		}
		return n
	}
	switch f[0] {
	case "network":
		s.network(number(1), f[2:])
	case "attach":
		s.client(f[1]).attach(s.broker(f[2]))
	case "detach":
		s.client(f[1]).detach()
	case "roam":
		s.client(f[1]).detach()
		s.client(f[1]).attach(s.broker(f[2]))
	case "move":
		s.client(f[1]).move(s.broker(f[2]))
	case "double":
		p := s.client(f[1])
		s.conn++
		s.step(s.broker(f[2]), p.message(s.conn, uint64(number(3))))
	case "intrude":
		p := s.client(f[1])
		s.conn++
		hello := p.message(s.conn, p.attachment+10)
		hello.Owner, hello.Subscriptions = otherToken, nil
		if len(f) > 3 {
			hello.Session, hello.Num = "", nil
		}
		s.intruders[s.conn] = true
		s.step(s.broker(f[2]), hello)
	case "kill":
		s.kill(s.broker(f[1]), f[2:])
	case "forget": // the program starts anew, without its session
		p := s.client(f[1])
		p.detach()
		p.session, p.subs, p.nums, p.lives = "", map[string]*asked{}, map[string]uint64{}, map[string]notified{}
		p.processed, p.written = newStates(), newStates()
	case "save":
		s.saved = maps.Clone(s.client(f[1]).nums)
	case "resume":
		p := s.client(f[1])
		p.detach()
		p.nums = maps.Clone(s.saved)
	case "knows":
		p := s.client(f[1])
		for word := range p.nums {
			if p.key(word).Source == overlay.BrokerID(f[2]) {
				p.nums[word] = uint64(number(3))
				s.lost[p.key(word).Source] = true
			}
		}
	case "take":
		for p := s.client(f[1]); len(p.queue) > 0; {
			m := p.queue[0]
			p.queue = p.queue[1:]
			p.take(m)
		}
	case "silent":
		s.client(f[1]).silent = true
	case "hear":
		p := s.client(f[1])
		p.told = func(m *overlay.Notify) {
			p.heard = append(p.heard, fmt.Sprintf("%s #%d, reading %s, of%s", p.key(m.Source).Source, m.Seq, numberOf(m.Reading), ofNames(m.Subscriptions)))
		}
	case "hold":
		s.hold(s.broker(f[1]))
	case "release":
		s.release(s.broker(f[1]))
	case "subscribe":
		p := s.client(f[1])
		sub := p.subscription(f[2], number(3), protocol.KeepAll)
		if len(f) > 4 {
			sub.Robots = f[4:]
		}
		p.subscribes(sub)
	case "changes":
		sub := s.client(f[1]).subscription(f[2], number(3), protocol.KeepAll)
		sub.Trigger = protocol.TriggerChange
		s.client(f[1]).subscribes(sub)
	case "update":
		s.client(f[1]).update(f[2], number(3))
	case "unsubscribe":
		s.client(f[1]).unsubscribe(f[2])
	case "publish":
		for range number(2) {
			s.publish(s.broker(f[1]))
		}
	case "again":
		s.match(s.broker(f[1]), (*testedSet).test)
	case "settle":
		s.settle(1 << 30)
	case "step":
		s.settle(number(1))
	case "carry":
		w := s.between[[2]int{s.broker(f[1]), s.broker(f[2])}]
		for range number(3) {
			if !w.busy() {
				failf("nothing is on its way from %s to %s", f[1], f[2])
			}
			s.say(w)
			s.deliver(w)
		}
		s.seeAll()
	case "tick":
		s.tick()
	case "period":
		s.tick()
		s.settle(1 << 30)
	case "cut":
		s.down(linkOf(s.broker(f[1]), s.broker(f[2])))
	case "heal":
		s.up(linkOf(s.broker(f[1]), s.broker(f[2])))
	case "cost":
		s.cost(linkOf(s.broker(f[1]), s.broker(f[2])), overlay.Cost(number(3)))
	case "registry":
		s.registryUp = f[1] == "up"
	case "robot":
		i := s.broker(f[1])
		s.step(i, &overlay.Advertise{Robot: f[2], Devices: []string{"laser:0"}})
		in := &overlay.RobotState{Robot: f[2], State: protocol.RobotUp, Since: s.now}
		if f[3] == "away" {
			in.State = protocol.RobotAway
		}
		if len(f) > 4 {
			in.Device = f[4]
		}
		s.step(i, in)
	case "withdraw":
		s.step(s.broker(f[1]), &overlay.Withdraw{Robot: f[2]})
	case "read":
		x := s.brokers[s.broker(f[1])]
		before := x.b.Stats().Given
		s.reading++
		m := &overlay.Matched{Reading: &overlay.Reading{Robot: f[2], Interface: "laser", Time: float64(s.reading), JSON: fmt.Appendf(nil, "%d", s.reading)}}
		for _, set := range x.sets { // one at most in these scripts
			hit := overlay.Hit{Handle: set.handle, Set: set.set}
			for _, sub := range set.subs {
				hit.Names = append(hit.Names, protocol.Matched{ID: sub.ID})
			}
			m.Hits = append(m.Hits, hit)
		}
		s.step(x.id, m)
		fmt.Fprintf(&s.out, "%d given\n", x.b.Stats().Given-before)
	case "ask":
		s.asked++
		s.step(s.broker(f[1]), &overlay.Ask{Call: uint64(s.asked), Robot: f[2], Body: []byte(f[2]), Until: s.now + 5*second})
	case "said":
		for _, text := range s.said {
			fmt.Fprintln(&s.out, text)
		}
		s.said = nil
		for _, p := range s.clients {
			for _, text := range p.heard {
				fmt.Fprintf(&s.out, "%s was told: %s\n", shown(p.name), text)
			}
			p.heard = nil
		}
	case "routes":
		for _, x := range s.brokers {
			for _, r := range x.b.Routes() {
				up := string(r.Up)
				if up == "" {
					up = "-"
				}
				fmt.Fprintf(&s.out, "%s: %s down %s up %s\n", x.name, describeKey(r.Key), r.Down, up)
			}
		}
	case "client":
		p := s.client(f[1])
		for _, word := range sortedKeys(p.nums) {
			fmt.Fprintf(&s.out, "%s has %s up to %d of %d, %d gaps\n", shown(p.name), p.key(word).Source, p.nums[word], s.truth[p.key(word)].last, s.marks["gaps"])
		}
	case "where":
		if p := s.client(f[1]); p.connected() {
			fmt.Fprintf(&s.out, "%s is attached to %s\n", shown(p.name), brokerName(p.at))
		} else {
			fmt.Fprintf(&s.out, "%s is attached nowhere\n", shown(p.name))
		}
	case "reader":
		for _, x := range s.brokers {
			at, _ := x.b.Reader(f[1])
			fmt.Fprintf(&s.out, "%s: %q\n", x.name, at)
		}
	case "counted":
		s.count()
	case "left":
		for _, x := range s.brokers {
			fetches, tombstones, inboxes := x.b.Left()
			fmt.Fprintf(&s.out, "%s: %d clients, %d inboxes, %d keys, %d fetches, %d tombstones\n", x.name, x.b.Stats().Clients, inboxes, len(x.b.Keys()), fetches, tombstones)
		}
	default:
		d.Fatalf(t, "%q is no command", f[0])
	}
}

// ofNames lists what a notification names.
func ofNames(all []protocol.Matched) (text string) {
	for _, m := range all {
		if text += " " + m.ID; m.State != nil {
			text += fmt.Sprintf("=%v", *m.State)
		}
	}
	return text
}

func (s *script) network(n int, sources []string) {
	s.cluster = nil
	var links []link
	for i := 1; i < n; i++ {
		links = append(links, linkOf(i-1, i))
	}
	var cfg overlay.Config
	var robots []string
	registry := 0
	for _, word := range sources {
		if ends, ok := strings.CutPrefix(word, "+"); ok {
			a, b, _ := strings.Cut(ends, "-")
			links = append(links, linkOf(s.broker(a), s.broker(b)))
		} else if limit, ok := strings.CutPrefix(word, "inbox="); ok {
			cfg.Inbox.Count, _ = strconv.Atoi(limit)
		} else if seconds, ok := strings.CutPrefix(word, "keep="); ok {
			n, _ := strconv.Atoi(seconds)
			cfg.Inbox.Keep = overlay.Duration(n) * overlay.Second
		} else if word == "every" {
			cfg.Mode = overlay.ModeEvery
		} else if name, ok := strings.CutPrefix(word, "registry="); ok {
			registry = s.broker(name)
		} else {
			robots = append(robots, word)
		}
	}
	s.cluster = newCluster(Bytes(nil), n, links, cfg, registry, nil)
	s.settle(1 << 30)
	for _, name := range robots {
		s.appeared[s.broker(name)] = true
		s.advertise(s.broker(name))
	}
	s.settle(1 << 30)
	s.out.Reset()
	s.counted = s.stats().Messages
}

// count prints what has crossed links since it was asked last.
func (s *script) count() {
	now := s.stats().Messages
	was := s.counted
	s.counted = now
	for _, c := range []struct {
		what string
		n    uint64
	}{
		{"subscribe", now.Subscribe - was.Subscribe}, {"event", now.Event - was.Event}, {"refresh", now.Refresh - was.Refresh},
		{"link state", now.LinkState - was.LinkState}, {"bulletin", now.Bulletin - was.Bulletin}, {"known", now.Known - was.Known}, {"routed", now.Routed - was.Routed},
	} {
		if c.n > 0 {
			fmt.Fprintf(&s.out, "%s: %d\n", c.what, c.n)
		}
	}
}

// tick has a period begin at all brokers.
func (s *script) tick() {
	s.now += second
	for i := range s.brokers {
		s.step(i, &overlay.Tick{})
	}
}

// kill kills a broker and starts it again; its links stay down.
func (s *script) kill(i int, how []string) {
	for _, p := range s.clients {
		if p.conn != 0 && p.at == i {
			delete(s.conns, p.conn)
			p.closed(p.conn)
		}
	}
	for _, l := range s.links {
		if (l.a == i || l.b == i) && !s.cut[l] {
			s.cut[l] = true
			y := l.a + l.b - i
			s.between[[2]int{i, y}].lose()
			s.between[[2]int{y, i}].lose()
			session := s.brokers[y].sessions[i]
			delete(s.brokers[y].sessions, i)
			s.step(y, &overlay.LinkDown{Neighbour: brokerName(i), Session: session})
		}
	}
	s.now += 1000
	records := s.brokers[i].records
	switch {
	case len(how) == 0:
		s.start(i, records, false)
	case how[0] == "lost":
		s.lost[brokerName(i)] = true
		s.start(i, nil, false)
	case how[0] == "back":
		n, _ := strconv.Atoi(how[1])
		s.goBack(i, n)
	default:
		n, _ := strconv.Atoi(how[1])
		s.lost[brokerName(i)] = true
		s.start(i, slices.Clone(records[:len(records)-n]), true)
	}
}

// settle lets things happen, in a fixed order, and tells what brokers say.
func (s *script) settle(steps int) {
	for ; steps > 0; steps-- {
		s.seeAll()
		for _, p := range s.clients {
			for p.due() {
				p.process()
			}
		}
		busy := s.busy()
		if len(busy) == 0 {
			return
		}
		oldest := busy[0]
		for _, w := range busy {
			if w.next().number < oldest.next().number {
				oldest = w
			}
		}
		s.say(oldest)
		s.deliver(oldest)
	}
}

func (s *script) say(w *way) {
	for _, m := range w.next().messages {
		switch m.(type) {
		case *overlay.LinkState, *overlay.RoutedMessage, *overlay.EventMessage:
		default:
			fmt.Fprintf(&s.out, "%s → %s: %s\n", brokerName(w.from), brokerName(w.to), Describe(m))
		}
	}
}
