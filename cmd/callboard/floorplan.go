package main

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"callboard/bridge/config"
	"callboard/sim"
	"callboard/sim/worldfile"
)

// floorPlan is a world as the page draws it: what does not move.
type floorPlan struct {
	Name     string        `json:"name"`
	Bounds   [4]float64    `json:"bounds"` // xmin, ymin, xmax, ymax, m
	Outlines []planOutline `json:"outlines"`
}

type planOutline struct {
	Points [][2]float64 `json:"points"` // m
	Closed bool         `json:"closed"`
	Color  string       `json:"color"`
}

// newFloorPlan draws the plan of a world, as JSON.
func newFloorPlan(name string, w *sim.World) ([]byte, error) {
	low, high := w.Bounds()
	plan := floorPlan{Name: name, Bounds: [4]float64{low.X, low.Y, high.X, high.Y}, Outlines: []planOutline{}}
	for _, o := range w.Still() {
		points := make([][2]float64, len(o.Points))
		for i, p := range o.Points {
			points[i] = [2]float64{p.X, p.Y}
		}
		plan.Outlines = append(plan.Outlines, planOutline{
			Points: points, Closed: true, Color: fmt.Sprintf("#%02x%02x%02x", o.Color.R, o.Color.G, o.Color.B),
		})
	}
	return json.Marshal(plan)
}

// floorPlans are the plans of worlds whose files are here, by name.
type floorPlans struct{ by map[string][]byte }

// of returns a world's plan, for the page.
func (f *floorPlans) of(world string) ([]byte, bool) {
	plan := f.by[world]
	return plan, plan != nil
}

// add draws a world.
func (f *floorPlans) add(name string, file *worldfile.World) error {
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		return err
	}
	plan, err := newFloorPlan(name, world)
	if err != nil {
		return fmt.Errorf("drawing the floor plan of %s: %w", name, err)
	}
	f.by[name] = plan
	return nil
}

// read draws the worlds that the Player configurations of robots name. One that
// cannot be read is told: the robots are read all the same.
func (f *floorPlans) read(players []config.Player, logger *slog.Logger) {
	for _, one := range players {
		if _, known := f.by[one.World]; known || one.WorldFile == "" {
			continue
		}
		file, problems := worldfile.Load(openFile, one.WorldFile)
		err := problems.First()
		if err == nil {
			err = f.add(one.World, file)
		}
		if err != nil {
			logger.Warn("the world that a Player configuration names cannot be shown", slog.String("file", one.WorldFile), slog.Any("error", err))
			f.by[one.World] = nil
		}
	}
}
