package rosgraph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"callboard/bridge/push/ros"
	"callboard/player"
	"callboard/player/floorplan"
)

// A map has cells of minCell m, or larger ones, so that there are at most
// maxCells along a side.
const (
	minCell  = 0.05
	maxCells = 1000
)

// Plan is a world's floor plan as a map of ROS. It is immutable.
type Plan struct {
	World string
	Grid  ros.Grid

	source  []byte          // what it was made of
	cells   *floorplan.Grid // or this
	once    [ros.NumFormats]sync.Once
	encoded [ros.NumFormats][]byte
	meta    [ros.NumFormats][]byte
}

// newPlan makes a map of a world: of its cells, if they are known, or else of a floor
// plan in the JSON of /api/worlds. What is not drawn there is free.
func newPlan(world string, source []byte, known *floorplan.Grid, now ros.Stamp) (*Plan, error) {
	drawn := known
	if drawn == nil {
		var err error
		if drawn, err = draw(source); err != nil {
			return nil, fmt.Errorf("rosgraph: the floor plan of %s: %w", world, err)
		}
	}
	info, cells := drawn.Info, make([]int8, len(drawn.Cells))
	for i, c := range drawn.Cells {
		switch {
		case c < 0:
			cells[i] = 0
		case c > 0:
			cells[i] = 100
		default:
			cells[i] = -1
		}
	}
	return &Plan{World: world, source: bytes.Clone(source), cells: known, Grid: ros.Grid{
		Frame: mapFrame, Resolution: float64(info.Scale), Width: int(info.Width), Height: int(info.Height),
		Origin: player.Pose{X: info.Origin.Px, Y: info.Origin.Py, Yaw: info.Origin.Pa}, Cells: cells, Loaded: now,
	}}, nil
}

// draw draws a floor plan into cells.
func draw(source []byte) (*floorplan.Grid, error) {
	var drawn struct {
		Bounds   [4]float64 `json:"bounds"`
		Outlines []struct {
			Points [][2]float64 `json:"points"`
			Closed bool         `json:"closed"`
		} `json:"outlines"`
	}
	if err := json.Unmarshal(source, &drawn); err != nil {
		return nil, err
	}
	b := drawn.Bounds
	plan := floorplan.Plan{Min: [2]float64{b[0], b[1]}, Max: [2]float64{b[2], b[3]}}
	for _, o := range drawn.Outlines {
		points := o.Points
		if o.Closed && len(points) > 0 {
			points = append(points, points[0])
		}
		plan.Outlines = append(plan.Outlines, points)
	}
	g := &floorplan.Grid{}
	g.Info, g.Cells = plan.Cells(minCell, maxCells)
	return g, nil
}

// mapFrame is the frame of all maps.
const mapFrame = "map"

// Message returns the map as a message, made once. It must not be changed.
func (p *Plan) Message(f ros.Format, use Use) []byte {
	p.once[f].Do(func() {
		p.encoded[f] = p.Grid.Append(nil, f)
		p.meta[f] = p.Grid.AppendMetaData(nil, f)
	})
	if use == MetaData {
		return p.meta[f]
	}
	return p.encoded[f]
}
