package simdriver

import (
	"math"

	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim/worldfile"
)

// Cells of a map.
const (
	mapFree     = -1
	mapOccupied = 1
	maxMapSide  = 1 << 15 // cells
)

// mapEndpoint serves a model's own body as a map, as Stage did up to version 2:
// cells of map_resolution, free but for those on outlines. The map's frame is
// the model's: its pose is not added.
type mapEndpoint struct{ *binding }

func (e *mapEndpoint) publish(float64) {}

func (e *mapEndpoint) handle(c *server.Call) {
	var reply any
	ok := false
	switch c.Header.Subtype {
	case iface.ReqMapGetInfo:
		reply, ok = e.info()
	case iface.ReqMapGetData:
		if req, given := c.Payload.(*iface.MapData); given {
			reply, ok = e.tile(req)
		}
	case iface.ReqMapGetVector:
		reply, ok = e.vector(), true
	}
	if ok {
		c.Ack(reply)
	} else {
		c.Nack(nil)
	}
}

// info returns what the map covers; false: it would have too many cells.
func (e *mapEndpoint) info() (*iface.MapInfo, bool) {
	spec := e.model.Spec()
	scale := spec.MapResolution
	width, height := math.Floor(spec.Size.X/scale+1e-9), math.Floor(spec.Size.Y/scale+1e-9)
	if !(scale > 0) || width > maxMapSide || height > maxMapSide {
		return nil, false
	}
	return &iface.MapInfo{
		Scale: float32(scale), Width: uint32(width), Height: uint32(height),
		Origin: iface.Pose2D{Px: spec.Origin.X - spec.Size.X/2, Py: spec.Origin.Y - spec.Size.Y/2, Pa: spec.Origin.A},
	}, true
}

// tile draws the outlines into a part of the map.
func (e *mapEndpoint) tile(req *iface.MapData) (*iface.MapData, bool) {
	info, ok := e.info()
	if !ok || uint64(req.Col)+uint64(req.Width) > uint64(info.Width) || uint64(req.Row)+uint64(req.Height) > uint64(info.Height) ||
		uint64(req.Width)*uint64(req.Height) > iface.MaxTile {
		return nil, false
	}
	g := grid{col: int(req.Col), row: int(req.Row), width: int(req.Width), height: int(req.Height), columns: int(info.Width), rows: int(info.Height)}
	g.cells = make([]int8, g.width*g.height)
	for i := range g.cells {
		g.cells[i] = mapFree
	}
	spec := e.model.Spec()
	at := func(p worldfile.Point) (x, y float64) {
		return (p.X + spec.Size.X/2) / spec.MapResolution, (p.Y + spec.Size.Y/2) / spec.MapResolution
	}
	for _, b := range spec.Body {
		for i, p := range b.Points {
			ax, ay := at(p)
			bx, by := at(b.Points[(i+1)%len(b.Points)])
			g.line(ax, ay, bx, by)
		}
	}
	tile := &iface.MapData{Col: req.Col, Row: req.Row, Width: req.Width, Height: req.Height, DataRange: mapOccupied}
	return tile, tile.SetCells(g.cells) == nil
}

// vector returns the outlines as lines in the map's frame.
func (e *mapEndpoint) vector() *iface.MapDataVector {
	size := e.model.Spec().Size
	v := &iface.MapDataVector{MinX: float32(-size.X / 2), MaxX: float32(size.X / 2), MinY: float32(-size.Y / 2), MaxY: float32(size.Y / 2)}
	for _, b := range e.model.Spec().Body {
		for i, p := range b.Points {
			q := b.Points[(i+1)%len(b.Points)]
			v.Segments = append(v.Segments, iface.Segment{X0: p.X, Y0: p.Y, X1: q.X, Y1: q.Y})
		}
	}
	return v
}

// grid is a tile that is drawn.
type grid struct {
	cells                   []int8
	col, row, width, height int // of the tile in the map
	columns, rows           int // of the map
}

// line marks the cells that a line in cells of the map goes through.
func (g *grid) line(ax, ay, bx, by float64) {
	if math.Max(ax, bx) < float64(g.col)-1 || math.Min(ax, bx) > float64(g.col+g.width)+1 ||
		math.Max(ay, by) < float64(g.row)-1 || math.Min(ay, by) > float64(g.row+g.height)+1 {
		return
	}
	// Two points in every cell that it crosses more than the corner of.
	n := int(2*math.Max(math.Abs(bx-ax), math.Abs(by-ay))) + 1
	for i := 0; i <= n; i++ {
		part := float64(i) / float64(n)
		g.mark(ax+(bx-ax)*part, ay+(by-ay)*part)
	}
}

// mark marks a cell; what lies on the far rim belongs to the last one.
func (g *grid) mark(x, y float64) {
	col, row := min(int(x), g.columns-1)-g.col, min(int(y), g.rows-1)-g.row
	if x >= 0 && y >= 0 && col >= 0 && col < g.width && row >= 0 && row < g.height {
		g.cells[row*g.width+col] = mapOccupied
	}
}
