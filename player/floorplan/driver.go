package floorplan

import (
	"fmt"
	"sync"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// WorldProperty is the property of a map device with the world's name.
const WorldProperty = "world"

// Addr is the device that a Driver serves.
var Addr = player.Addr{Interf: player.InterfaceMap}

// maxSegments is how many lines a GET_VECTOR answer has at most: Player's
// programs take 8 MiB, unpacked.
const maxSegments = 200_000

// Driver serves a plan as map:0.
type Driver struct {
	plan   Plan
	vector *iface.MapDataVector
	grid   func() *grid // made when a client asks for it
}

// NewDriver makes a Driver. One may stand on several ports.
func NewDriver(p Plan) (*Driver, error) {
	segments := p.segments()
	if len(segments) > maxSegments {
		return nil, fmt.Errorf("floorplan: world %q has %d lines, expected at most %d", p.World, len(segments), maxSegments)
	}
	d := &Driver{plan: p, vector: &iface.MapDataVector{
		MinX: float32(p.Min[0]), MaxX: float32(p.Max[0]), MinY: float32(p.Min[1]), MaxY: float32(p.Max[1]), Segments: segments,
	}}
	d.grid = sync.OnceValue(func() *grid { return newGrid(&d.plan, minCell, maxSide) })
	return d, nil
}

// Devices is map:0.
func (d *Driver) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: Addr.Interf, Index: Addr.Index, Driver: "mapfile"}}
}

// Attach does nothing: a plan does not change.
func (d *Driver) Attach(server.Publisher) {}

// Open does nothing.
func (d *Driver) Open(player.Addr) error { return nil }

// Close does nothing.
func (d *Driver) Close(player.Addr) {}

// Handle answers what a client asks of the map.
func (d *Driver) Handle(c *server.Call) {
	if c.Header.Type != player.Request {
		return
	}
	switch c.Header.Subtype {
	case iface.ReqMapGetInfo:
		info := d.grid().info
		c.Ack(&info)
	case iface.ReqMapGetVector:
		c.Ack(d.vector)
	case iface.ReqMapGetData:
		d.tile(c)
	case iface.ReqGetStrprop:
		if asked, ok := c.Payload.(*iface.StrpropReq); ok && iface.GoString(asked.Key) == WorldProperty {
			c.Ack(&iface.StrpropReq{Key: asked.Key, Value: iface.CString(d.plan.World)})
			return
		}
		c.Nack(nil)
	default:
		c.Nack(nil)
	}
}

// Handles reports whether a message is answered.
func (d *Driver) Handles(_ player.Addr, t player.Type, subtype uint8) bool {
	switch subtype {
	case iface.ReqMapGetInfo, iface.ReqMapGetVector, iface.ReqMapGetData, iface.ReqGetStrprop:
		return t == player.Request
	}
	return false
}

// tile answers with a part of the grid, of the size that was asked for: cells
// off the grid are unknown, as from the real server.
func (d *Driver) tile(c *server.Call) {
	asked, ok := c.Payload.(*iface.MapData)
	if !ok || uint64(asked.Width)*uint64(asked.Height) > iface.MaxTile || asked.Width == 0 || asked.Height == 0 {
		c.Nack(nil)
		return
	}
	g := d.grid()
	answer := &iface.MapData{Col: asked.Col, Row: asked.Row, Width: asked.Width, Height: asked.Height, DataRange: 1}
	cells := make([]int8, int(asked.Width)*int(asked.Height))
	for row := range int(asked.Height) {
		for col := range int(asked.Width) {
			cells[row*int(asked.Width)+col] = g.at(int(asked.Col)+col, int(asked.Row)+row)
		}
	}
	if err := answer.SetCells(cells); err != nil {
		c.Nack(nil)
		return
	}
	c.Ack(answer)
}
