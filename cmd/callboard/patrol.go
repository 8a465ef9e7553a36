package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"
	"callboard/worlds"

	"golang.org/x/sync/errgroup"
)

// Subscriptions of a robot's program.
const (
	subPose  = "pose"  // where its robot is, with every reading
	subFront = "front" // how much room is before it
	subNear  = "near"  // any robot of the fleet that comes near something
)

// commandTime is how long a steering command may take: a later one is better.
const commandTime = 500 * time.Millisecond

// guide is the program of one robot. It knows where brokers cover the floor,
// attaches to the one whose coverage its robot is in, and steers the robot.
type guide struct {
	n      *cluster
	robot  string
	client *callboard.Client
	steer  *steering // nil: the robot drives by itself
	ended  atomic.Bool

	// of the events' goroutine
	cell   int    // it is to hang on; -1: not known
	source string // the word of the broker that reads its robot
	delays delays
	roam   *roamed // the hand-over that the new broker has agreed to
	first  bool    // and its first notification comes now

	moves chan string     // cap 1: the newest wins
	turns chan [2]float64 // cap 1: speed and turn rate
}

// roam runs a program for each robot and shows the count until ctx ends.
func (n *cluster) roam(ctx context.Context, p *program, patrols bool) error {
	group, ctx := errgroup.WithContext(ctx)
	for i, robot := range n.robots {
		g := &guide{n: n, robot: robot, cell: -1, moves: make(chan string, 1), turns: make(chan [2]float64, 1)}
		if patrols {
			g.steer = newSteering(worlds.Round(i), 0.75+0.05*float64(i%4))
		}
		group.Go(func() error { return g.run(ctx, i%len(n.brokers)) })
	}
	group.Go(func() error {
		c := counter{w: p.stdout, live: p.terminal(p.stdout), style: style{p.colours(p.stdout)}}
		ticker := time.NewTicker(c.every())
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.show(n.tally.told())
			case <-ctx.Done():
				c.end()
				return nil
			}
		}
	})
	return group.Wait()
}

// run attaches to a broker, subscribes, and works until ctx ends.
func (g *guide) run(ctx context.Context, first int) error {
	client, err := callboard.New(callboard.Config{
		Brokers: []string{g.n.brokers[first].WebSocketURL()}, Client: g.robot + "-guide", Token: g.n.token, Handle: g.handle,
	})
	if err != nil {
		return err
	}
	g.client = client
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return client.Run(ctx) })
	group.Go(func() error { return g.subscribe(ctx) })
	group.Go(func() error { return g.move(ctx) })
	group.Go(func() error { return g.command(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		g.ended.Store(true) // brokers end too: what comes now is no fault
		return nil
	})
	if err := group.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the program of %s: %w", g.robot, err)
	}
	return nil
}

func (g *guide) subscribe(ctx context.Context) error {
	for _, s := range []callboard.Subscription{
		{ID: subPose, Condition: "position.time >= 0", Robots: []string{g.robot}, Select: map[string]string{"x": "position.x", "y": "position.y", "yaw": "position.yaw"}},
		{ID: subFront, Condition: "laser.count > 0", Robots: []string{g.robot}, Select: map[string]string{"front": "laser.front"}},
		{ID: subNear, Condition: "laser.min < 0.7", Trigger: protocol.TriggerRising, Select: map[string]string{"min": "laser.min"}},
	} {
		if _, err := g.client.Subscribe(ctx, s); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("subscribing to %s: %w", s.Condition, err)
		}
	}
	g.n.tally.guide(g.client.ID(), g.robot)
	return nil
}

// handle takes an event.
func (g *guide) handle(e callboard.Event) {
	if g.ended.Load() {
		return
	}
	switch e := e.(type) {
	case *callboard.Notification:
		g.notified(e)
	case *callboard.Gap:
		g.n.tally.gap(g.robot, e)
	case *callboard.Fault:
		g.n.tally.add(func(t *total) { t.Lost++ })
	case *callboard.Robot:
		if e.State == protocol.RobotOverflow && e.Robot.Robot == g.robot && e.Lost != nil {
			g.n.tally.overflow(g.robot, *e.Lost)
		}
	case *callboard.Attached:
		if h := e.Handover; h != nil && h.From != e.URL {
			g.roam = &roamed{Program: g.client.ID(), From: g.n.idOf(h.From), To: g.n.idOf(e.URL), Took: h.Took.Seconds()}
		}
	case *callboard.HandedOver:
		// Its robot's readings are the frequent ones; the next event is the first
		// of them that came by the new broker.
		g.first = g.roam != nil && e.Source == g.source
	case *callboard.Stayed:
		if !errors.Is(e.Err, callboard.ErrOvertaken) {
			g.n.tally.add(func(t *total) { t.Stayed++ })
		}
	}
}

// idOf names the broker at a URL.
func (n *cluster) idOf(url string) string {
	for i, b := range n.brokers {
		if b.WebSocketURL() == url {
			return n.ids[i]
		}
	}
	return url
}

func (g *guide) notified(n *callboard.Notification) {
	if n.Robot == g.robot {
		late := g.delays.late(time.Now(), n.Time)
		if g.first {
			g.roam.Took = max(g.roam.Took, late.Seconds())
			g.roam.Time = float64(time.Now().UnixMilli()) / 1000
			g.n.tally.handedOver(*g.roam)
			g.roam, g.first = nil, false
		}
	}
	regular := false
	for _, m := range n.Subscriptions {
		var values map[string]float64
		if m.Values != nil && json.Unmarshal(m.Values, &values) != nil {
			values = nil
		}
		switch m.ID {
		case subPose:
			regular = true
			g.source = n.Source
			g.at(values["x"], values["y"], values["yaw"])
		case subFront:
			regular = true
			if g.steer != nil {
				g.steer.front = values["front"]
			}
		}
	}
	g.n.tally.notified(g.robot, n, regular)
}

// at takes where the robot is: in whose coverage, and where to go from there.
func (g *guide) at(x, y, yaw float64) {
	if found := at(g.n.cells, x, y, g.cell); found >= 0 && found != g.cell {
		g.cell = found
		newest(g.moves, g.n.brokers[found].WebSocketURL())
	}
	if g.steer != nil {
		v, turn := g.steer.next(x, y, yaw)
		newest(g.turns, [2]float64{v, turn})
	}
}

// delays tells how late readings are: against those of the last seconds that
// came soonest after the time that the simulation gave them.
type delays struct {
	began time.Time
	last  [20]time.Duration // from the readings' times to their arrival, with a constant that does not matter
	n     int
}

func (d *delays) late(now time.Time, reading float64) time.Duration {
	if d.n == 0 {
		d.began = now
	}
	at := now.Sub(d.began) - time.Duration(reading*float64(time.Second))
	d.last[d.n%len(d.last)] = at
	d.n++
	least := at
	for _, other := range d.last[:min(d.n, len(d.last))] {
		least = min(least, other)
	}
	return at - least
}

// newest puts a value into a channel of one place, instead of what waits there.
func newest[T any](c chan T, v T) {
	for {
		select {
		case c <- v:
			return
		default:
		}
		select {
		case <-c:
		default:
		}
	}
}

// move hands over to the brokers that at names.
func (g *guide) move(ctx context.Context) error {
	for {
		select {
		case url := <-g.moves:
			for ctx.Err() == nil && g.client.Move(ctx, url) != nil { // that broker is to be, so once more
				select {
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// command has the robot drive.
func (g *guide) command(ctx context.Context) error {
	for {
		select {
		case t := <-g.turns:
			within, cancel := context.WithTimeout(ctx, 2*commandTime)
			_, err := g.client.Command(within, callboard.Command{
				Robot: g.robot, Name: "velocity", Args: []any{t[0], 0.0, t[1]}, TTL: commandTime.Seconds(),
			})
			cancel()
			if ctx.Err() == nil {
				g.n.tally.add(func(t *total) {
					if t.Commands++; err != nil {
						t.Failed++
					}
				})
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// steering follows a closed way.
type steering struct {
	way    []worlds.Point
	speed  float64 // m/s
	front  float64 // m of free way before the robot
	place  int     // of the way that it is at; -1: not known
	stuck  int     // readings for which it has not got on
	escape int     // readings for which it still backs off
}

func newSteering(way []worlds.Point, speed float64) *steering {
	return &steering{way: way, speed: speed, front: math.Inf(1), place: -1}
}

// next returns speed (m/s) and turn rate (rad/s) for a robot at a pose.
func (s *steering) next(x, y, yaw float64) (v, turn float64) {
	const (
		ahead    = 9   // points of the way, a tenth of a metre apart
		stop     = 0.4 // m of free way
		slow     = 1.1
		maxStuck = 30 // readings
		backing  = 12
	)
	s.locate(x, y)
	goal := s.way[(s.place+ahead)%len(s.way)]
	off := math.Remainder(math.Atan2(goal.Y-y, goal.X-x)-yaw, 2*math.Pi)
	if s.escape > 0 {
		s.escape--
		return -0.25, math.Copysign(0.5, off)
	}
	turn = math.Max(-1.5, math.Min(1.5, 2*off))
	v = s.speed * math.Max(0, math.Cos(off)) * math.Max(0, math.Min(1, (s.front-stop)/(slow-stop)))
	if s.stuck++; v > 0.1 {
		s.stuck = 0
	}
	if s.stuck > maxStuck {
		s.stuck, s.escape = 0, backing
	}
	return v, turn
}

// locate finds the nearest place of the way: near the last one, if that is
// known and the robot has not been carried away.
func (s *steering) locate(x, y float64) {
	from, n := s.place-20, 60
	if s.place < 0 || math.Hypot(s.way[s.place].X-x, s.way[s.place].Y-y) > 3 {
		from, n = 0, len(s.way)
	}
	best := math.Inf(1)
	for k := range n {
		i := ((from+k)%len(s.way) + len(s.way)) % len(s.way)
		if d := math.Hypot(s.way[i].X-x, s.way[i].Y-y); d < best {
			best, s.place = d, i
		}
	}
}
