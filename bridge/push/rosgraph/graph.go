// Package rosgraph shows a broker's robots as programs for ROS see them: topics,
// services, frames and maps, named as stage_ros names them. The dialects of such
// programs (rosbridge, foxglove) say what it has in their words. See DESIGN.md.
package rosgraph

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/floorplan"
	"callboard/subscribe/protocol"
)

// Config is what a Graph needs.
type Config struct {
	Broker attach.Broker // required
	// World returns the floor plan of a world as /api/worlds has it; nil: there is
	// none.
	World func(ctx context.Context, name string, grant attach.Grant) ([]byte, bool)
	// Grid returns a world's map in cells, if one is known, instead; nil: none is.
	Grid   func(world string) *floorplan.Grid
	Logger *slog.Logger // default: discard
}

// Graph is what all clients see of the robots. It asks the broker for them while
// anybody is there who wants to know.
type Graph struct {
	config   Config
	log      *slog.Logger
	snapshot atomic.Pointer[Snapshot]
	shared   shared
	started  ros.Stamp

	refreshing sync.Mutex // held while the broker is asked
	refreshed  time.Time  // when it was asked last; zero: never
	numbers    map[string]int
	probed     map[string]bool // robots whose simulation was asked for since they came up
	starts     map[string]*player.Pose
	plans      map[string]*Plan
	same       string

	mu      sync.Mutex
	members map[*Member]struct{}
	truths  map[string]*truth // by robot
	drives  map[string]drive  // by robot
	closed  bool
	running sync.WaitGroup
	context context.Context // ends with Run
	cancel  context.CancelFunc
	joined  chan struct{} // holds one: somebody came, or a robot that is not known
}

const (
	freshFor    = time.Second     // what the broker said is true for so long
	refreshTime = 3 * time.Second // in which it must say it
	loadFactor  = 20              // it is asked for a twentieth of the time at most,
	maxRest     = 5 * time.Second // but not more seldom than this
)

// everything is the grant for what the graph asks by itself.
var everything = attach.Grant{Subscribe: true, Command: true}

// New makes a Graph.
func New(c Config) *Graph {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	g := &Graph{
		config: c, log: c.Logger, numbers: map[string]int{}, probed: map[string]bool{}, starts: map[string]*player.Pose{}, plans: map[string]*Plan{},
		members: map[*Member]struct{}{}, truths: map[string]*truth{}, drives: map[string]drive{}, joined: make(chan struct{}, 1),
	}
	g.started = Now()
	g.context, g.cancel = context.WithCancel(context.Background())
	g.snapshot.Store(build(known{}))
	return g
}

// Now returns the time, as ROS has it.
func Now() ros.Stamp { return ros.StampOf(float64(time.Now().UnixMicro()) / 1e6) }

// Started returns when the graph was made.
func (g *Graph) Started() ros.Stamp { return g.started }

// Snapshot returns what there is now.
func (g *Graph) Snapshot() *Snapshot { return g.snapshot.Load() }

// Run keeps the snapshot up to date until ctx ends. It may be called once.
func (g *Graph) Run(ctx context.Context) error {
	defer g.close()
	timer := time.NewTimer(freshFor)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-g.joined:
		case <-timer.C:
		}
		if !g.watched() {
			continue // until somebody joins
		}
		began := time.Now()
		g.refresh(ctx)
		timer.Reset(min(max(freshFor, loadFactor*time.Since(began)), maxRest))
	}
}

// close stops what was begun.
func (g *Graph) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.cancel()
	g.running.Wait()
}

func (g *Graph) watched() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.members) > 0
}

// fresh asks the broker unless it was asked just now.
func (g *Graph) fresh(ctx context.Context) {
	g.refreshing.Lock()
	old := g.refreshed.IsZero() || time.Since(g.refreshed) > freshFor
	g.refreshing.Unlock()
	if old {
		g.refresh(ctx)
	}
}

// refresh asks the broker for its robots and tells the members what has changed.
func (g *Graph) refresh(ctx context.Context) {
	g.refreshing.Lock()
	defer g.refreshing.Unlock()
	if time.Since(g.refreshed) < freshFor/4 { // somebody else did meanwhile, or robots come one after the other
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	list, err := g.list(ctx)
	if err != nil {
		if ctx.Err() == nil || !errors.Is(err, ctx.Err()) {
			g.log.Warn("the robots cannot be listed for ROS programs", slog.Any("error", err))
		}
		return
	}
	g.number(list)
	g.findSimulations(ctx, list)
	g.findPlans(ctx, list)
	next := build(known{robots: list, numbers: g.numbers, starts: g.starts, plans: g.plans, before: g.snapshot.Load()})
	g.refreshed = time.Now()
	if same := next.same(); same != g.same {
		g.same = same
		g.snapshot.Store(next)
		g.tell(&Changed{})
	}
}

// list asks the broker for all robots.
func (g *Graph) list(ctx context.Context) ([]robots.Robot, error) {
	answer, err := g.config.Broker.List(ctx, "robots", everything)
	if err != nil {
		return nil, err
	}
	var list []robots.Robot
	if err := json.Unmarshal(protocol.AppendJSON(nil, answer), &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(r robots.Robot) bool { return r.Robot == "" }), nil
}

// number numbers the robots that are new: those that come together by their
// names, digits in them by value.
func (g *Graph) number(list []robots.Robot) {
	var names []string
	for _, r := range list {
		if _, known := g.numbers[r.Robot]; !known {
			names = append(names, r.Robot)
		}
	}
	slices.SortFunc(names, natural)
	for _, name := range names {
		g.numbers[name] = len(g.numbers)
	}
}

// natural compares names so that r2 comes before r10.
func natural(a, b string) int {
	trim := func(s string) (string, string) {
		digits := strings.TrimLeft(s[len(strings.TrimRight(s, "0123456789")):], "0")
		return strings.TrimRight(s, "0123456789"), digits
	}
	x, n := trim(a)
	y, m := trim(b)
	return cmp.Or(strings.Compare(x, y), cmp.Compare(len(n), len(m)), strings.Compare(n, m), strings.Compare(a, b))
}

// findSimulations asks where simulations have the robots that came up: those that
// are in none have no ground truth.
func (g *Graph) findSimulations(ctx context.Context, list []robots.Robot) {
	for _, r := range list {
		if r.State != protocol.RobotUp {
			delete(g.probed, r.Robot)
			continue
		}
		if g.probed[r.Robot] || ctx.Err() != nil {
			continue
		}
		g.probed[r.Robot] = true
		if at, err := g.pose(ctx, r.Robot); err == nil && g.starts[r.Robot] == nil {
			g.starts[r.Robot] = &at
		}
	}
}

// findPlans makes maps of the worlds that robots are in.
func (g *Graph) findPlans(ctx context.Context, list []robots.Robot) {
	if g.config.World == nil {
		return
	}
	there := map[string]bool{}
	for _, r := range list {
		if r.World == "" || there[r.World] {
			continue
		}
		there[r.World] = true
		source, ok := g.config.World(ctx, r.World, everything)
		var cells *floorplan.Grid
		if g.config.Grid != nil {
			cells = g.config.Grid(r.World)
		}
		if old := g.plans[r.World]; !ok || old != nil && old.cells == cells && bytes.Equal(old.source, source) {
			continue
		}
		plan, err := newPlan(r.World, source, cells, g.started)
		if err != nil {
			g.log.Warn("a floor plan is no map", slog.String("world", r.World), slog.Any("error", err))
			continue
		}
		g.plans[r.World] = plan
	}
	for world := range g.plans {
		if !there[world] {
			delete(g.plans, world)
		}
	}
}

// tell sends a message to all members.
func (g *Graph) tell(m any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for member := range g.members {
		member.Conn.Send(m)
	}
}

// Changed tells a Speaker that there is another snapshot.
type Changed struct{}

// Op names it for metrics.
func (*Changed) Op() string { return "graph" }
