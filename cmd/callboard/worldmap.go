package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"callboard/player/floorplan"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"
)

// worldMap serves a world's floor plan as the device map:0.
func worldMap(name string, w *sim.World) (*floorplan.Driver, error) {
	low, high := w.Bounds()
	plan := floorplan.Plan{World: name, Min: [2]float64{low.X, low.Y}, Max: [2]float64{high.X, high.Y}}
	for _, o := range w.Still() {
		points := make([][2]float64, 0, len(o.Points)+1)
		for _, p := range o.Points {
			points = append(points, [2]float64{p.X, p.Y})
		}
		plan.Outlines = append(plan.Outlines, append(points, points[0]))
	}
	return floorplan.NewDriver(plan)
}

// runMaps makes the maps of the worlds that were recorded with the runs, nil
// where there is none. A world that cannot be read is told, and the run is
// replayed without it.
func runMaps(sources []replay.Source, logger *slog.Logger) []*floorplan.Driver {
	maps := make([]*floorplan.Driver, len(sources))
	for i, s := range sources {
		m, err := runMap(s.File, s.Survey)
		if err != nil {
			logger.Warn("the world that was recorded with a run cannot be shown", slog.String("file", s.File.Name()), slog.Any("error", err))
			continue
		}
		maps[i] = m
	}
	return maps
}

func runMap(file *run.File, survey *run.Survey) (*floorplan.Driver, error) {
	recorded, err := file.World()
	if err != nil || recorded == nil {
		return nil, err
	}
	if recorded.File() == "" {
		return planMap(recorded, survey)
	}
	world, problems := worldfile.Load(recorded.Open, recorded.File())
	if err := problems.First(); err != nil {
		return nil, err
	}
	made, err := sim.New(sim.Config{World: world})
	if err != nil {
		return nil, err
	}
	return worldMap(worldNameOf(recorded.File(), survey), made)
}

// planMap makes a map of a floor plan that was recorded from a broker: of the first
// robot's world, nil if there is none.
func planMap(recorded *run.World, survey *run.Survey) (*floorplan.Driver, error) {
	for _, data := range recorded.Plans() {
		var drawn floorPlan
		if err := json.Unmarshal(data, &drawn); err != nil {
			return nil, fmt.Errorf("the floor plan: %w", err)
		}
		if drawn.Name != worldNameOf(drawn.Name, survey) {
			continue
		}
		plan := floorplan.Plan{World: drawn.Name, Min: [2]float64(drawn.Bounds[:2]), Max: [2]float64(drawn.Bounds[2:])}
		for _, o := range drawn.Outlines {
			if o.Closed && len(o.Points) > 0 {
				o.Points = append(o.Points, o.Points[0])
			}
			plan.Outlines = append(plan.Outlines, o.Points)
		}
		return floorplan.NewDriver(plan)
	}
	return nil, nil
}

// runPlans returns the floor plans that were recorded from brokers, by world, as
// pages draw them: with the worlds' colours.
func runPlans(sources []replay.Source) func(world string) ([]byte, bool) {
	plans := map[string][]byte{}
	for _, s := range sources {
		recorded, err := s.File.World()
		if err != nil || recorded == nil {
			continue // runMaps has told
		}
		for _, data := range recorded.Plans() {
			var drawn floorPlan
			if err := json.Unmarshal(data, &drawn); err == nil { // likewise
				plans[drawn.Name] = data
			}
		}
	}
	return func(world string) ([]byte, bool) { plan := plans[world]; return plan, plan != nil }
}

// worldNameOf is the name that the recorded robots' world had, or else its
// file's.
func worldNameOf(file string, survey *run.Survey) string {
	for _, r := range survey.Robots {
		if r.World != "" {
			return r.World
		}
	}
	return worldName(file)
}

// worldName is the name of a world: that of its file.
func worldName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
}

// withMap adds the map to a port's driver, unless it has one of its own.
func withMap(port *replay.Port, maps []*floorplan.Driver) []server.Driver {
	drivers := []server.Driver{port}
	m := maps[port.Source]
	if m == nil {
		return drivers
	}
	for _, d := range port.Devices() {
		if d.Interf == floorplan.Addr.Interf && d.Index == floorplan.Addr.Index {
			return drivers
		}
	}
	return append(drivers, m)
}
