//go:build linux

package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/sim/simtest"
)

// follower is a program of one library that follows two robots, with what the model
// says of it: each number of a source once, in order, without a gap, whatever dies.
type follower struct {
	t       *testing.T
	library library
	brokers []any
	driver  *driver
	taken   chan struct{} // closed when the driver's last event was taken
	tag     int
	kept    map[string]object
	asked   int      // tasks
	waits   []string // those that wait for their answers

	mu      sync.Mutex
	last    map[string]float64 // number by source
	latest  map[string]float64 // time by robot and interface
	holes   map[string]int     // by robot: readings that nobody has sent
	count   map[string]int     // notifications by robot
	at      string             // URL of the broker
	others  map[string]int     // events by name
	lossy   bool               // gaps are right
	changed chan struct{}      // closed at each change
}

// lossy begins the client id of a follower for which gaps are right.
const lossy = "lossy"

func newFollower(t *testing.T, l library, brokers []any, client string) *follower {
	f := &follower{
		lossy: strings.HasPrefix(client, lossy), t: t, library: l, brokers: brokers, kept: map[string]object{}, last: map[string]float64{}, latest: map[string]float64{},
		holes: map[string]int{}, others: map[string]int{}, count: map[string]int{}, changed: make(chan struct{}),
	}
	f.start(object{"brokers": brokers, "client": client})
	f.does("subscribe", object{"id": "pose", "condition": "position.time >= 0"})
	f.does("subscribe", object{"id": "scan", "condition": "laser.count >= 0", "select": object{"min": "laser.min"}})
	return f
}

func (f *follower) start(configuration object) {
	configuration["backoff"] = []any{0.02, 0.2}
	f.driver, f.taken = f.library.start(f.t, configuration), make(chan struct{})
	go func(d *driver, taken chan struct{}) {
		defer close(taken)
		for m := range d.events {
			f.take(m)
		}
	}(f.driver, f.taken)
}

func (f *follower) take(m object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.others[fmt.Sprint(m["event"])]++
	switch m["event"] {
	case "notification":
		f.notification(m)
	case "attached":
		f.at = fmt.Sprint(m["url"])
		if m["resumed"] != true && len(f.last) > 0 {
			f.t.Errorf("%s: another session: %s", f.library.name, shown(m))
		}
	case "detached":
		f.at = ""
	case "gap":
		if to, has := m["to"].(float64); f.lossy && has {
			f.last[fmt.Sprint(m["source"])] = to
			break
		}
		fallthrough
	case "fault", "failure":
		f.t.Errorf("%s: %s", f.library.name, shown(m))
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *follower) notification(m object) {
	source, seq := fmt.Sprint(m["source"]), m["seq"].(float64)
	skipped, _ := m["skipped"].(float64)
	if seq != f.last[source]+1+skipped {
		f.t.Errorf("%s: %s %v (skipped %v) after %v", f.library.name, source, seq, skipped, f.last[source])
	}
	f.last[source] = seq
	robot, at := fmt.Sprint(m["robot"]), m["time"].(float64)
	key := fmt.Sprint(robot, " ", m["interface"])
	if before, known := f.latest[key]; known {
		switch step := at - before; {
		case step <= 0:
			f.t.Errorf("%s: %s at %v after %v", f.library.name, key, at, before)
		case step > 0.15:
			f.holes[key]++
		}
	}
	f.latest[key] = at
	f.count[robot]++
}

// until waits for something; f.mu is held while it looks.
func (f *follower) until(what string, right func() bool) {
	f.t.Helper()
	late := time.After(2 * patience)
	for {
		f.mu.Lock()
		ok, changed := right(), f.changed
		f.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-late:
			f.mu.Lock()
			defer f.mu.Unlock()
			f.t.Fatalf("%s waited in vain: %s; it is attached to %q and has %v", f.library.name, what, f.at, f.count)
		}
	}
}

// does tells the driver to do something and waits for the answer.
func (f *follower) does(what string, args object) object {
	f.t.Helper()
	f.tag++
	tag := strconv.Itoa(f.tag)
	f.driver.say(f.t, object{"tag": tag, "do": what, "args": args})
	m, err := f.driver.result(tag, f.kept)
	if err != nil {
		f.t.Fatalf("%s: %s: %v", f.library.name, what, err)
	}
	return m
}

// again kills the program; another goes on where it said to be.
func (f *follower) again() {
	f.answered() // or it would not be known which the program had
	state := f.does("state", object{})["value"].(object)
	f.driver.kill()
	<-f.taken
	f.mu.Lock()
	clear(f.latest)
	num, _ := state["num"].(object)
	clear(f.last)
	for source, n := range num {
		f.last[source] = n.(float64)
	}
	f.mu.Unlock()
	f.start(object{"brokers": f.brokers, "resume": state})
	f.serve()
}

// progress waits until each has so many more notifications of the robots.
func progress(all []*follower, robots ...string) {
	for _, f := range all {
		f.mu.Lock()
		before := maps.Clone(f.count)
		f.mu.Unlock()
		f.until(fmt.Sprintf("notifications of %v", robots), func() bool {
			return !slices.ContainsFunc(robots, func(r string) bool { return f.count[r] < before[r]+5 })
		})
	}
}

// TestKills has a program of each library follow two robots, each of which another
// broker reads, serve a queue and ask for tasks, while brokers are killed and come back,
// connections are cut or fall silent, programs move, stand still, die and are started
// again.
func TestKills(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	seed := uint64(1)
	if text := os.Getenv("CALLBOARD_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	p := newPair(t, 0.4, [2]string{queue}, simtest.Wander(t, 1, "r0", "r1"), nil)
	brokers := []any{p.relays[0].url(), p.relays[1].url()}
	var all []*follower
	for _, l := range libraries {
		if l.there() == nil {
			f := newFollower(t, l, brokers, "model-"+l.name)
			f.serve()
			all = append(all, f)
		}
	}
	robots := []string{"r0", "r1"}
	progress(all, robots...)
	kills := map[string]int{}
	actions := map[string]func(i int){
		"kill": func(i int) {
			p.brokers[i].kill()
			kills[robots[i]]++
			progress(all, robots[1-i])
			p.brokers[i].start()
		},
		"cut": func(i int) { p.relays[i].cut() },
		"silence": func(i int) {
			p.relays[i].silent(true)
			for _, f := range all {
				f.until("another broker", func() bool { return f.at == p.relays[1-i].url() })
			}
			p.relays[i].silent(false)
		},
		"move": func(i int) {
			for _, f := range all {
				f.does("move", object{"url": p.relays[i].url()})
			}
		},
		"hold": func(int) {
			for _, f := range all {
				f.mu.Lock()
				before := f.others["notification"]
				f.mu.Unlock()
				f.does("hold", object{})
				f.until("one in the program's hands", func() bool { return f.others["notification"] > before })
			}
			for _, r := range p.relays {
				r.cut()
			}
			for _, f := range all {
				f.does("list", object{"what": "brokers"})
				f.does("release", object{})
			}
		},
		"again": func(int) {
			for _, f := range all {
				f.again()
			}
		},
	}
	names := slices.Sorted(maps.Keys(actions))
	var trace []string
	for range 2 {
		for _, n := range random.Perm(len(names)) {
			i := random.IntN(2)
			trace = append(trace, fmt.Sprintf("%s %d", names[n], i+1))
			for _, f := range all {
				f.ask()
			}
			actions[names[n]](i)
			progress(all, robots...)
			for _, f := range all {
				f.answered()
			}
		}
	}
	for _, f := range all {
		f.mu.Lock()
		for key, n := range f.holes {
			robot, _, _ := strings.Cut(key, " ")
			if n > kills[robot] {
				t.Errorf("%s: readings of %s are missing %d times, its broker was killed %d times", f.library.name, key, n, kills[robot])
			}
		}
		t.Logf("%s: %v notifications, %d connections lost, %d tasks asked for", f.library.name, f.count, f.others["detached"], f.asked)
		f.mu.Unlock()
	}
	t.Logf("seed %d: %s", seed, strings.Join(trace, ", "))
}
