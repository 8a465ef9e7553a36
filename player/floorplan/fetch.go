package floorplan

import (
	"context"
	"errors"
	"fmt"

	"callboard/player"
	"callboard/player/iface"
)

// Requester asks a Player server; a *client.Client is one.
type Requester interface {
	Request(ctx context.Context, addr player.Addr, subtype uint8, req, resp any) error
}

// maxCells is how many cells a grid has that is fetched.
const maxCells = 16 << 20

// tileSize is that of the tiles of a grid, as stock clients ask for them.
const tileSize = 640

// errNone is the error of a server without a map.
var errNone = errors.New("floorplan: the Player server has no map")

// Fetch asks a Player server for the plan of its first map device, which is open
// (a driver that nobody has open may not answer): its lines, or else its grid.
// Without map device the plan is nil.
func Fetch(ctx context.Context, r Requester) (*Plan, error) {
	addr, err := find(ctx, r)
	if err != nil {
		if errors.Is(err, errNone) {
			err = nil
		}
		return nil, err
	}
	p := &Plan{}
	name := &iface.StrpropReq{Key: iface.CString(WorldProperty)}
	if r.Request(ctx, addr, iface.ReqGetStrprop, name, name) == nil {
		p.World = iface.GoString(name.Value)
	}
	var vector iface.MapDataVector
	if r.Request(ctx, addr, iface.ReqMapGetVector, nil, &vector) == nil && len(vector.Segments) > 0 {
		p.ofSegments(vector.Segments)
	} else if err := p.fetchGrid(ctx, r, addr); err != nil {
		return nil, err
	}
	p.bound()
	return p, nil
}

// find returns the server's first map device.
func find(ctx context.Context, r Requester) (player.Addr, error) {
	self := player.Addr{Interf: player.InterfacePlayer}
	var list iface.DeviceDevlist
	if err := r.Request(ctx, self, player.PlayerDevlist, nil, &list); err != nil {
		return player.Addr{}, fmt.Errorf("floorplan: asking for the devices: %w", err)
	}
	for _, addr := range list.Devices {
		if addr.Interf == player.InterfaceMap {
			return addr, nil
		}
	}
	return player.Addr{}, errNone
}

// fetchGrid takes the outlines from the map's grid.
func (p *Plan) fetchGrid(ctx context.Context, r Requester, addr player.Addr) error {
	g := &grid{}
	if err := r.Request(ctx, addr, iface.ReqMapGetInfo, nil, &g.info); err != nil {
		return fmt.Errorf("floorplan: asking what %s covers: %w", addr, err)
	}
	width, height := int(g.info.Width), int(g.info.Height)
	if n := uint64(g.info.Width) * uint64(g.info.Height); n > maxCells || !(g.info.Scale > 0) {
		return fmt.Errorf("floorplan: %s has %d × %d cells of %v m, expected at most %d cells", addr, width, height, g.info.Scale, maxCells)
	}
	var cells []int8
	for row := 0; row < height; row += tileSize {
		for col := 0; col < width; col += tileSize {
			tile := &iface.MapData{Col: uint32(col), Row: uint32(row),
				Width: uint32(min(tileSize, width-col)), Height: uint32(min(tileSize, height-row))}
			err := r.Request(ctx, addr, iface.ReqMapGetData, tile, tile)
			if err == nil {
				cells, err = tile.Cells(cells)
			}
			if err != nil {
				return fmt.Errorf("floorplan: asking for a tile of %s: %w", addr, err)
			}
			if g.cells == nil { // memory once there is something to put into it
				g.cells = make([]int8, width*height)
			}
			g.paste(tile, cells)
		}
	}
	p.Outlines = g.outlines()
	if g.cells != nil {
		p.Grid = (&Grid{Info: g.info, Cells: g.cells}).shrink()
	}
	return nil
}

// paste copies a tile into the grid, as far as it lies in it.
func (g *grid) paste(tile *iface.MapData, cells []int8) {
	width, height := int(g.info.Width), int(g.info.Height)
	for i, c := range cells {
		col, row := int(tile.Col)+i%int(tile.Width), int(tile.Row)+i/int(tile.Width)
		if col < width && row < height {
			g.cells[row*width+col] = c
		}
	}
}
