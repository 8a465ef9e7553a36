package overlaytest

import (
	"fmt"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Roaming is a workload: clients that roam along a row of brokers while the
// broker at its one end gives readings. Nothing breaks; all takes the time that
// it takes on the links.
type Roaming struct {
	Brokers  int
	Clients  int
	Share    float64          // of the clients that move within a period (1 s)
	Distance int              // hops of each move; 0: any
	Away     overlay.Duration // between the old broker and the new one; 0: the old connection goes on until the new one is welcome
	Hop      overlay.Duration // that a frame takes over a link
	Interval overlay.Duration // between two readings
	Until    uint64           // ends after so many notifications
	Seed     uint64
	Size     func([]overlay.Message) int // bytes of a frame; nil: not counted
	Stop     func() bool                 // asked now and then whether to end early; nil: no
}

// Cost counts what a change makes brokers tell each other: each message is one hop.
type Cost struct{ Subscribe, Fetch, Replay uint64 }

// Sum is all of it.
func (c Cost) Sum() uint64 { return c.Subscribe + c.Fetch + c.Replay }

// Roamed is what came of it. Anything lost, doubled or out of order is an
// error of Roam.
type Roamed struct {
	Notifications uint64
	Gaps          int
	Moves         int
	Cost, Optimum Cost
	Renewals      uint64
	Resent        uint64
	ControlBytes  int                // of frames with nothing but subscribes, fetches and replays of moves
	ReplayBytes   int                // part of them: of frames with replayed items
	HighWater     int                // notifications that waited at one broker
	Silent        []overlay.Duration // of each move: from the last at the old broker to the first at the new
	Complete      []overlay.Duration // from the hello to the first reading that was given after it
	Trips         []float64          // Complete in round trips of the path: to the old broker by way of the junction, or to the source if that is longer
}

// handOver is a move that is under way.
type handOver struct {
	began, last overlay.Instant
	first       bool
	reading     int // the last that was given before
	hops        int
}

// roaming is a workload that runs.
type roaming struct {
	*cluster
	Roaming
	result  Roamed
	moves   map[*client]*handOver
	back    map[*client]comeback
	lastGot map[*client]overlay.Instant
	next    overlay.Instant // reading
}

type comeback struct {
	at overlay.Instant
	to int
}

// Roam runs a workload.
func Roam(w Roaming) (result Roamed, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, ok := p.(failure)
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("%s", f.text)
		}
	}()
	r := newRoaming(w)
	r.run()
	return r.result, nil
}

func newRoaming(w Roaming) *roaming {
	var links []link
	for i := 1; i < w.Brokers; i++ {
		links = append(links, linkOf(i-1, i))
	}
	r := &roaming{Roaming: w, moves: map[*client]*handOver{}, back: map[*client]comeback{}, lastGot: map[*client]overlay.Instant{}}
	r.cluster = newCluster(Seed(w.Seed), w.Brokers, links, overlay.Config{}, 0, nil)
	r.forgetful = true
	r.appeared[0] = true
	r.advertise(0)
	r.rest()
	for i := range w.Clients {
		p := newClient(r.cluster, fmt.Sprintf("c%d", i+1))
		p.forgets = true
		p.told = func(m *overlay.Notify) { r.arrived(p, m) }
		r.clients = append(r.clients, p)
		p.attach(r.choice.Intn(w.Brokers))
		p.subscribe("near", 1, protocol.KeepAll, protocol.TriggerEvery)
	}
	r.rest()
	r.publish(0) // all sources are known to all
	r.rest()
	r.result = Roamed{}
	return r
}

// attend has matchers and clients do at once what they are told.
func (r *roaming) attend() {
	for again := true; again; {
		again = false
		for _, x := range r.brokers {
			for r.see(x) {
				again = true
			}
		}
		for _, p := range r.clients {
			for p.due() {
				p.process()
				again = true
			}
		}
	}
}

// rest lets all happen that is under way, without time.
func (r *roaming) rest() {
	for {
		r.attend()
		busy := r.busy()
		if len(busy) == 0 {
			return
		}
		r.deliver(busy[0])
	}
}

func (r *roaming) run() {
	ticks, moves := r.now+second, r.now+r.pause()
	r.next = r.now + overlay.Instant(r.Interval)
	before := r.stats()
	for r.result.Notifications < r.Until {
		var soonest *way
		for _, w := range r.ways {
			if w.busy() && (soonest == nil || w.next().number < soonest.next().number) {
				soonest = w
			}
		}
		now := min(r.next, ticks, moves)
		if soonest != nil {
			now = min(now, soonest.next().born+overlay.Instant(r.Hop))
		}
		for _, p := range r.clients {
			if b, away := r.back[p]; away {
				now = min(now, b.at)
			}
		}
		r.now = max(r.now, now)
		switch {
		case soonest != nil && soonest.next().born+overlay.Instant(r.Hop) <= r.now:
			r.weigh(soonest.next().messages)
			r.deliver(soonest)
		case ticks <= r.now:
			ticks += second
			for i := range r.brokers {
				r.step(i, &overlay.Tick{})
			}
		case r.comeBack():
		case moves <= r.now:
			moves += r.pause()
			r.move(r.clients[r.choice.Intn(len(r.clients))])
		default:
			r.next += overlay.Instant(r.Interval)
			r.publish(0)
			r.measure()
		}
		r.attend()
	}
	r.end(before)
}

// pause is the time to the next move: on average such that the share of the
// clients moves in each period.
func (r *roaming) pause() overlay.Instant {
	mean := float64(second) / (r.Share * float64(r.Clients))
	return overlay.Instant(mean/2) + overlay.Instant(r.choice.Intn(int(mean)+1))
}

// move has a client go to another broker.
func (r *roaming) move(p *client) {
	if _, away := r.back[p]; away || p.next != nil || r.moves[p] != nil {
		return // it is under way still
	}
	to := r.choice.Intn(r.Brokers)
	if r.Distance > 0 {
		to = p.at + r.Distance
		if to >= r.Brokers || p.at >= r.Distance && r.choice.Intn(2) == 0 {
			to = p.at - r.Distance
		}
	}
	if to == p.at || to < 0 || to >= r.Brokers {
		return
	}
	if r.Away > 0 {
		p.detach()
		r.back[p] = comeback{r.now + overlay.Instant(r.Away), to}
		return
	}
	r.hello(p, to)
}

func (r *roaming) comeBack() bool {
	for _, p := range r.clients {
		if b, away := r.back[p]; away && b.at <= r.now {
			delete(r.back, p)
			r.hello(p, b.to)
			return true
		}
	}
	return false
}

// hello attaches a client at another broker, and notes what that costs at best.
func (r *roaming) hello(p *client, to int) {
	for _, word := range sortedKeys(p.nums) {
		k := p.key(word)
		path, chain := r.path(to, r.index(k.Source)), r.chain(k)
		junction := path[slices.IndexFunc(path, func(x int) bool { return slices.Contains(chain, x) })]
		toNew, toOld := slices.Index(path, junction), len(chain)-1-slices.Index(chain, junction)
		r.result.Optimum.Subscribe += uint64(toNew)
		r.result.Optimum.Fetch += uint64(toOld)
		r.result.Optimum.Replay += uint64(toOld)
		// What was given before the junction has turned goes to the old broker.
		turned := r.now + overlay.Instant(toNew-slices.Index(chain, junction))*overlay.Instant(r.Hop)
		if r.truth[k].last > p.nums[word] || r.next <= turned {
			r.result.Optimum.Replay += uint64(toNew)
		}
		r.moves[p] = &handOver{began: r.now, last: r.lastGot[p], reading: r.reading, hops: max(toNew+toOld, len(path)-1)}
	}
	r.result.Moves++
	if p.connected() {
		p.move(to)
	} else {
		p.attach(to)
	}
}

// arrived looks whether a notification ends a hand-over.
func (r *roaming) arrived(p *client, m *overlay.Notify) {
	r.result.Notifications++
	if r.Stop != nil && r.result.Notifications%10_000 == 0 && r.Stop() {
		r.Until = 0
	}
	h := r.moves[p]
	r.lastGot[p] = r.now
	if h == nil {
		return
	}
	if !h.first {
		h.first = true
		r.result.Silent = append(r.result.Silent, overlay.Duration(r.now-h.last))
	}
	if int(m.Reading.Time) > h.reading {
		took := overlay.Duration(r.now - h.began)
		r.result.Complete = append(r.result.Complete, took)
		if h.hops > 0 && r.Hop > 0 {
			r.result.Trips = append(r.result.Trips, float64(took)/float64(2*overlay.Duration(h.hops)*r.Hop))
		}
		delete(r.moves, p)
	}
}

// weigh counts the bytes of frames that moves cause.
func (r *roaming) weigh(messages []overlay.Message) {
	if r.Size == nil {
		return
	}
	control, items := true, false
	for _, m := range messages {
		switch m := m.(type) {
		case *overlay.SubscribeMessage, *overlay.FetchMessage:
		case *overlay.ReplayMessage:
			items = items || len(m.Items) > 0
		default:
			control = false
		}
	}
	if !control {
		return
	}
	size := r.Size(messages)
	r.result.ControlBytes += size
	if items {
		r.result.ReplayBytes += size
	}
}

// measure looks how much waits.
func (r *roaming) measure() {
	for _, x := range r.brokers {
		r.result.HighWater = max(r.result.HighWater, x.b.Stats().Waiting)
	}
}

// end lets all come to rest and counts.
func (r *roaming) end(before overlay.Stats) {
	for _, p := range r.clients {
		if b, away := r.back[p]; away {
			delete(r.back, p)
			r.hello(p, b.to)
			r.rest()
		}
	}
	r.rest()
	for _, p := range r.clients {
		for word, num := range p.nums {
			if t := r.truth[p.key(word)]; t.last != num {
				failf("%s has %d of %d notifications of %s", p.name, num, t.last, word)
			}
		}
	}
	after := r.stats()
	r.result.Cost = Cost{
		after.Messages.Subscribe - before.Messages.Subscribe, after.Messages.Fetch - before.Messages.Fetch, after.Messages.Replay - before.Messages.Replay,
	}
	r.result.Renewals, r.result.Resent, r.result.Gaps = after.Renewals, after.Resent, r.marks["gaps"]
}
