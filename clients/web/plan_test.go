package web_test

import (
	"encoding/json"

	"callboard/sim"
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// plan returns the floor plan of the hall, and of a bundled world.
func plan(name string) ([]byte, bool) {
	if name == "hall" {
		return []byte(hall), true
	}
	file, _ := worldfile.Load(worlds.Open, name+".world")
	if file == nil {
		return nil, false
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		return nil, false
	}
	outlines := []object{}
	for _, o := range world.Still() {
		var points [][2]float64
		for _, p := range o.Points {
			points = append(points, [2]float64{p.X, p.Y})
		}
		outlines = append(outlines, object{"points": points, "closed": true, "color": ""})
	}
	low, high := world.Bounds()
	text, err := json.Marshal(object{"name": name, "bounds": []float64{low.X, low.Y, high.X, high.Y}, "outlines": outlines})
	return text, err == nil
}
