package robots

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"callboard/player/floorplan"
)

// planTime is how long a Player server may take to tell its map.
const planTime = time.Minute

// fetchPlans asks the Player server for its map whenever a session begins, for
// the page, until ctx ends. Its world gets the name that the configuration
// gives it, or that the server does, or else the server's address.
func (s *session) fetchPlans(ctx context.Context) {
	for {
		select {
		case <-s.upped:
		case <-ctx.Done():
			return
		}
		asking, cancel := context.WithTimeout(ctx, planTime)
		plan, err := floorplan.Fetch(asking, s.client)
		cancel()
		switch {
		case err != nil:
			s.owner.log.Debug("no floor plan", slog.String("player", s.server.Address), slog.Any("error", err))
		case plan != nil:
			s.keepPlan(plan)
		}
	}
}

func (s *session) keepPlan(plan *floorplan.Plan) {
	name := plan.World
	if name == "" {
		name = s.server.Address
	}
	if s.server.World != "" {
		name = s.server.World
	}
	text, err := planJSON(name, plan)
	if err != nil {
		s.owner.log.Warn("a Player server's floor plan cannot be told", slog.String("player", s.server.Address), slog.Any("error", err))
		return
	}
	s.owner.grids.keep(name, plan.Grid)
	s.planMu.Lock()
	s.world, s.plan = name, text
	s.planMu.Unlock()
	for _, r := range s.robots {
		r.placed()
	}
}

// planJSON is the plan as the page draws it.
func planJSON(name string, plan *floorplan.Plan) ([]byte, error) {
	type outline struct {
		Points [][2]float64 `json:"points"` // m
		Closed bool         `json:"closed"`
	}
	out := struct {
		Name     string     `json:"name"`
		Bounds   [4]float64 `json:"bounds"` // xmin, ymin, xmax, ymax, m
		Outlines []outline  `json:"outlines"`
	}{Name: name, Bounds: [4]float64{plan.Min[0], plan.Min[1], plan.Max[0], plan.Max[1]}, Outlines: []outline{}}
	for _, o := range plan.Outlines {
		closed := len(o) > 3 && o[0] == o[len(o)-1]
		if closed {
			o = o[:len(o)-1]
		}
		out.Outlines = append(out.Outlines, outline{o, closed})
	}
	return json.Marshal(out)
}

// worldName is the name of the world of the session's robots, "" if not known.
func (s *session) worldName() string {
	if s.server.World != "" {
		return s.server.World
	}
	s.planMu.Lock()
	defer s.planMu.Unlock()
	return s.world
}

// Plan returns the floor plan of a world that a Player server has told, as JSON.
func (r *Robots) Plan(world string) ([]byte, bool) {
	for _, s := range r.sessions {
		s.planMu.Lock()
		name, plan := s.world, s.plan
		s.planMu.Unlock()
		if plan != nil && name == world {
			return plan, true
		}
	}
	return nil, false
}

// grids are the maps in cells that Player servers have told, by world. Many servers
// may tell the same one.
type grids struct {
	mu  sync.Mutex
	all map[string]*floorplan.Grid
}

// keep keeps what was told last of a world; nil: a server told no grid, another one may.
func (g *grids) keep(world string, told *floorplan.Grid) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.all == nil {
		g.all = map[string]*floorplan.Grid{}
	}
	if told != nil && !told.Equal(g.all[world]) {
		g.all[world] = told
	}
}

// Grid returns the map in cells of a world, nil if no Player server has told one. It
// is the same pointer as long as it is the same map.
func (r *Robots) Grid(world string) *floorplan.Grid {
	r.grids.mu.Lock()
	defer r.grids.mu.Unlock()
	return r.grids.all[world]
}
