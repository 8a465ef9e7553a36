package ros

import "callboard/player"

// Grid is a map: cells row by row from the origin, which is its lower left corner.
// 0 is free, 100 occupied, -1 unknown.
type Grid struct {
	Frame         string
	Resolution    float64 // m
	Width, Height int
	Origin        player.Pose
	Cells         []int8
	Loaded        Stamp // when it was made
}

// AppendMetaData appends a MapMetaData.
func (g *Grid) AppendMetaData(b []byte, f Format) []byte {
	e := Begin(b, f)
	g.metaData(&e)
	return e.Bytes()
}

func (g *Grid) metaData(e *Encoder) {
	e.Time("map_load_time", g.Loaded)
	e.Float32("resolution", float32(g.Resolution))
	e.Uint32("width", uint32(g.Width))
	e.Uint32("height", uint32(g.Height))
	pose(e, "origin", g.Origin)
}

// Append appends an OccupancyGrid.
func (g *Grid) Append(b []byte, f Format) []byte {
	e := Begin(b, f)
	g.Write(&e)
	return e.Bytes()
}

// Write writes the fields of an OccupancyGrid.
func (g *Grid) Write(e *Encoder) {
	e.Begin("header")
	e.Uint32("seq", 0)
	e.Time("stamp", g.Loaded)
	e.String("frame_id", g.Frame)
	e.End()
	e.Begin("info")
	g.metaData(e)
	e.End()
	e.Int8s("data", g.Cells)
}
