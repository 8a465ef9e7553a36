package main

import (
	"encoding/json"
	"fmt"

	"callboard/sim"
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
