package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	callboard "callboard/clients/go"
	"callboard/sim"
	"callboard/sim/worldfile"

	"golang.org/x/sync/errgroup"
)

const (
	adhocRange  = 8.0 // m, unless told otherwise
	adhocRobots = 10  // as many robots carry a broker unless told otherwise
	nearShare   = 0.6 // of the range, within which all beacons arrive
	leastShare  = 0.5 // of beacons that arrive at its end
	fieldLook   = 100 * time.Millisecond
	maxMeetings = 20 // that are told of
)

// checkAdhoc completes what the flags say of robots that carry brokers.
func (d *demo) checkAdhoc() error {
	switch {
	case !d.adhoc:
		return usagef("--range and --sight are of --adhoc; give that, too")
	case d.roam || d.brokers > 0 || d.registry != "":
		return usagef("--adhoc contradicts --roam, --brokers and --registry: each robot carries a broker, and each broker has the registry")
	case !(d.c.Float64("range") > 0):
		return usagef("--range %g: expected more than 0 m", d.c.Float64("range"))
	case d.robots == 1 || d.robots > maxBrokers:
		return usagef("--robots %d: with --adhoc each carries a broker, and the demo runs 2 to %d", d.robots, maxBrokers)
	}
	if d.robots == 0 && d.c.String("world") == "" {
		d.robots = adhocRobots
	}
	return nil
}

// carriers counts the robots of a world, which carry brokers.
func carriers(file *worldfile.World) (n int) {
	w, err := sim.New(sim.Config{World: file})
	if err != nil {
		return 0
	}
	return len(w.Robots())
}

// field is where robots wander that carry brokers: who is in range of whom, and what
// their programs have got.
type field struct {
	s     *simulation
	n     *cluster
	reach float64 // m
	sight bool
	key   []byte
	walls [][2]sim.Point

	mu       sync.Mutex
	places   []sim.Point
	ears     []func(datagram []byte, host string) // of antennas that listen
	newest   map[[2]string]float64                // by program's robot and robot: when its last reading arrived, in simulated s
	began    time.Time
	islands  map[string]int
	meetings []meeting
}

// meeting is when two islands became one.
type meeting struct {
	Ago  float64  `json:"ago"`  // s
	With []string `json:"with"` // brokers of the smaller one
	at   time.Time
}

// antenna is what a broker on a robot sends and hears beacons by.
type antenna struct {
	field *field
	i     int
}

func newField(s *simulation, reach float64, sight bool) *field {
	f := &field{s: s, reach: reach, sight: sight, key: make([]byte, 32), newest: map[[2]string]float64{}, began: time.Now(), islands: map[string]int{}}
	rand.Read(f.key) // never fails
	for _, o := range s.world.Still() {
		for i, p := range o.Points {
			f.walls = append(f.walls, [2]sim.Point{p, o.Points[(i+1)%len(o.Points)]})
		}
	}
	f.places, f.ears = placesOf(s.world), make([]func([]byte, string), len(s.world.Robots()))
	return f
}

func placesOf(w *sim.World) (all []sim.Point) {
	for _, r := range w.Robots() {
		all = append(all, sim.Point{X: r.Global().X, Y: r.Global().Y})
	}
	return all
}

func (f *field) antenna(i int) *antenna { return &antenna{f, i} }

// Send implements bridge.Air: a beacon arrives the less often the farther it has to go.
func (a *antenna) Send(datagram []byte) error {
	f := a.field
	f.mu.Lock()
	var ears []func([]byte, string)
	for j, ear := range f.ears {
		if j != a.i && ear != nil && mathrand.Float64() < f.share(f.places[a.i], f.places[j]) {
			ears = append(ears, ear)
		}
	}
	f.mu.Unlock()
	for _, ear := range ears {
		ear(datagram, "127.0.0.1")
	}
	return nil
}

// Receive implements bridge.Air.
func (a *antenna) Receive(ctx context.Context, take func(datagram []byte, host string)) error {
	a.field.hear(a.i, take)
	<-ctx.Done()
	a.field.hear(a.i, nil)
	return nil
}

func (f *field) hear(i int, take func([]byte, string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ears[i] = take
}

// share returns the share of beacons that arrive from one place at another.
func (f *field) share(a, b sim.Point) float64 {
	d := math.Hypot(a.X-b.X, a.Y-b.Y) / f.reach
	if d > 1 || f.sight && slices.ContainsFunc(f.walls, func(w [2]sim.Point) bool { return crosses(a, b, w[0], w[1]) }) {
		return 0
	}
	return 1 - (1-leastShare)*max(0, d-nearShare)/(1-nearShare)
}

// crosses reports whether two lines cross.
func crosses(a, b, c, d sim.Point) bool {
	side := func(p, q, r sim.Point) bool { return (q.X-p.X)*(r.Y-p.Y)-(q.Y-p.Y)*(r.X-p.X) > 0 }
	return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b)
}

// run follows the robots and runs their programs until ctx ends.
func (f *field) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, robot := range f.n.robots {
		group.Go(func() error { return f.program(ctx, i, robot) })
	}
	ticker := time.NewTicker(fieldLook)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return group.Wait()
		case <-ticker.C:
		}
		var places []sim.Point
		if f.s.driver.Do(ctx, func(w *sim.World) { places = placesOf(w) }) == nil {
			f.mu.Lock()
			f.places = places
			f.mu.Unlock()
		}
		f.meet()
	}
}

// program subscribes at a robot's own broker to where all other robots are.
func (f *field) program(ctx context.Context, i int, robot string) error {
	client, err := callboard.New(callboard.Config{
		Brokers: []string{f.n.brokers[i].WebSocketURL()}, Client: "on-" + robot, Token: f.n.token,
		Handle: func(e callboard.Event) { f.handle(robot, e) },
	})
	if err != nil {
		return err
	}
	f.n.tally.guide(client.ID(), robot)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return client.Run(ctx) })
	group.Go(func() error {
		_, err := client.Subscribe(ctx, callboard.Subscription{
			ID: subPose, Condition: "position.time >= 0", Robots: slices.DeleteFunc(slices.Clone(f.n.robots), func(r string) bool { return r == robot }),
			MinInterval: 0.5, Select: map[string]string{"x": "position.x", "y": "position.y"},
		})
		return err
	})
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the program of %s: %w", robot, err)
	}
	return nil
}

func (f *field) handle(robot string, e callboard.Event) {
	switch e := e.(type) {
	case *callboard.Notification:
		f.n.tally.notified(robot, e, false)
		f.mu.Lock()
		f.newest[[2]string{robot, e.Robot}] = e.Time
		f.mu.Unlock()
	case *callboard.Gap:
		f.n.tally.gap(robot, e)
	case *callboard.Fault:
		f.n.tally.add(func(t *total) { t.Lost++ })
	}
}

// adhocLink is one between brokers, with what it costs in sendings.
type adhocLink struct {
	A    string  `json:"a"`
	B    string  `json:"b"`
	Cost float64 `json:"cost"`
}

// waits is a program that has not heard of a robot for some time.
type waits struct {
	Robot string  `json:"robot"` // whose program it is
	For   string  `json:"for"`
	Since float64 `json:"since"` // s
}

// fieldTold is what the page shows.
type fieldTold struct {
	told
	Range    float64               `json:"range"`    // m
	Carriers map[string]string     `json:"carriers"` // robots by broker
	Places   map[string][2]float64 `json:"places"`   // m, by robot
	Links    []adhocLink           `json:"links"`
	Islands  map[string]int        `json:"islands"` // by broker, from 0
	Waiting  []waits               `json:"waiting"` // the longest first
	Meetings []meeting             `json:"meetings"`
}

func (f *field) links() (all []adhocLink) {
	near := make([]map[string]float64, len(f.n.brokers))
	for i, b := range f.n.brokers {
		near[i] = b.Near()
	}
	for i, a := range f.n.ids {
		for j, b := range f.n.ids[:i] {
			there, found := near[i][b]
			if back, foundBack := near[j][a]; found && foundBack {
				all = append(all, adhocLink{b, a, max(there, back)})
			}
		}
	}
	return all
}

// islandsOf numbers the parts of the network.
func islandsOf(ids []string, links []adhocLink) map[string]int {
	of := map[string]int{}
	for i, id := range ids {
		of[id] = i
	}
	for range ids {
		for _, l := range links {
			least := min(of[l.A], of[l.B])
			of[l.A], of[l.B] = least, least
		}
	}
	numbers := slices.Sorted(maps.Values(of))
	numbers = slices.Compact(numbers)
	for id, n := range of { // each by itself: order decides nothing
		of[id] = slices.Index(numbers, n)
	}
	return of
}

// meet notes when islands have become one.
func (f *field) meet() {
	islands := islandsOf(f.n.ids, f.links())
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.islands
	f.islands = islands
	if len(before) == 0 || time.Since(f.began) < 3*time.Second {
		return
	}
	parts := map[int]map[int][]string{} // of each island now: those before, with their brokers
	for _, id := range f.n.ids {
		now, was := islands[id], before[id]
		if parts[now] == nil {
			parts[now] = map[int][]string{}
		}
		parts[now][was] = append(parts[now][was], id)
	}
	for _, now := range slices.Sorted(maps.Keys(parts)) {
		if all := slices.Collect(maps.Values(parts[now])); len(all) > 1 {
			least := slices.MinFunc(all, func(a, b []string) int { return len(a) - len(b) })
			f.meetings = slices.Insert(f.meetings, 0, meeting{With: least, at: time.Now()})
			f.meetings = f.meetings[:min(len(f.meetings), maxMeetings)]
		}
	}
}

// told is what the page shows.
func (f *field) told() fieldTold {
	if f.n == nil {
		return fieldTold{}
	}
	t := fieldTold{told: f.n.tally.told(), Range: f.reach, Carriers: map[string]string{}, Places: map[string][2]float64{}, Links: f.links()}
	for i, id := range f.n.ids {
		t.Carriers[id] = f.n.robots[i]
	}
	now := f.s.driver.Clock()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Islands, t.Meetings = maps.Clone(f.islands), slices.Clone(f.meetings)
	for i := range t.Meetings {
		t.Meetings[i].Ago = time.Since(t.Meetings[i].at).Seconds()
	}
	for i, robot := range f.n.robots {
		t.Places[robot] = [2]float64{f.places[i].X, f.places[i].Y}
	}
	for _, robot := range f.n.robots {
		for _, other := range f.n.robots {
			if since := now - f.newest[[2]string{robot, other}]; robot != other && since > 2 {
				t.Waiting = append(t.Waiting, waits{robot, other, since})
			}
		}
	}
	slices.SortStableFunc(t.Waiting, func(a, b waits) int { return int(math.Copysign(1, b.Since-a.Since)) })
	t.Waiting = t.Waiting[:min(len(t.Waiting), 200)]
	return t
}
