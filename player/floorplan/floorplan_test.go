package floorplan_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/floorplan"
	"callboard/player/iface"
	"callboard/player/server"

	"github.com/google/go-cmp/cmp"
)

var hall = floorplan.Plan{
	World: "hall", Min: [2]float64{-3, -2}, Max: [2]float64{3, 2},
	Outlines: [][][2]float64{
		{{-3, -2}, {3, -2}, {3, 2}, {-3, 2}, {-3, -2}},
		{{-3, -2}, {-1, -2}, {-1, -1}, {-3, -2}}, // begins where the one before ends
		{{1, 1}, {1.5, 1.5}},                     // open
	},
}

// up is a client's handler that reports when the session stands.
type up struct{ done chan struct{} }

func (u up) Up([]client.Device)         { close(u.done) }
func (u up) Changed(client.Device)      {}
func (u up) Message(player.Header, any) {}
func (u up) Round()                     {}
func (u up) Overflow(uint64)            {}
func (u up) Down(error)                 {}

// serve serves drivers and returns a client with them.
func serve(t *testing.T, drivers ...server.Driver) *client.Client {
	t.Helper()
	pipe := server.NewPipeListener("map", 0)
	s, err := server.New(server.Config{Listener: pipe, Drivers: drivers})
	if err != nil {
		t.Fatal(err)
	}
	handler := up{make(chan struct{})}
	c, err := client.New(client.Config{Address: "map", Dial: pipe.Dial, Handler: handler})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended; <-ended })
	<-handler.done
	return c
}

func driver(t *testing.T, p floorplan.Plan) *floorplan.Driver {
	t.Helper()
	d, err := floorplan.NewDriver(p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPlanComesBack(t *testing.T) {
	got, err := floorplan.Fetch(t.Context(), serve(t, driver(t, hall)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&hall, got); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
}

func TestServerWithoutMap(t *testing.T) {
	if got, err := floorplan.Fetch(t.Context(), serve(t)); got != nil || err != nil {
		t.Errorf("got %v, %v, expected nothing", got, err)
	}
}

// gridOnly is a server without lines and names, as Player's mapfile is.
type gridOnly struct{ floorplan.Requester }

func (g gridOnly) Request(ctx context.Context, a player.Addr, subtype uint8, req, resp any) error {
	if a.Interf == player.InterfaceMap && (subtype == iface.ReqMapGetVector || subtype == iface.ReqGetStrprop) {
		return errors.New("refused")
	}
	return g.Requester.Request(ctx, a, subtype, req, resp)
}

// The grid, in several tiles, has the same walls, as broad as a cell.
func TestGrid(t *testing.T) {
	big := floorplan.Plan{Min: [2]float64{-20, -1}, Max: [2]float64{20, 1}, Outlines: [][][2]float64{{{-20, -1}, {20, -1}, {20, 1}, {-20, 1}, {-20, -1}}}}
	got, err := floorplan.Fetch(t.Context(), gridOnly{serve(t, driver(t, big))})
	if err != nil {
		t.Fatal(err)
	}
	if got.World != "" {
		t.Errorf("the world is %q, expected none", got.World)
	}
	const cell = 0.0401 // m: 40 m over some 2,000 cells is finer
	for i := range 2 {
		if math.Abs(got.Min[i]-big.Min[i]) > cell || math.Abs(got.Max[i]-big.Max[i]) > cell {
			t.Errorf("it goes from %v to %v, expected %v to %v", got.Min, got.Max, big.Min, big.Max)
		}
	}
	length := 0.0
	for _, o := range got.Outlines {
		if len(o) != 2 || o[0][0] != o[1][0] && o[0][1] != o[1][1] {
			t.Fatalf("an outline is %v, expected sides of cells", o)
		}
		length += math.Hypot(o[1][0]-o[0][0], o[1][1]-o[0][1])
	}
	if want := 2 * 2 * (40 + 2.0); math.Abs(length-want) > 1 { // both sides of each wall
		t.Errorf("the borders are %.1f m long, expected about %.1f", length, want)
	}
}

// scanned is a server whose map is a grid, as a robot has made it: the cell at
// (col, row) is what at says.
type scanned struct {
	width, height int
	at            func(col, row int) int8
}

func (m scanned) Request(_ context.Context, a player.Addr, subtype uint8, req, resp any) error {
	switch {
	case a.Interf == player.InterfacePlayer:
		*resp.(*iface.DeviceDevlist) = iface.DeviceDevlist{Devices: []player.Addr{floorplan.Addr}}
	case subtype == iface.ReqMapGetInfo:
		*resp.(*iface.MapInfo) = iface.MapInfo{Scale: 0.1, Width: uint32(m.width), Height: uint32(m.height), Origin: iface.Pose2D{Px: -1}}
	case subtype == iface.ReqMapGetData:
		tile := *req.(*iface.MapData)
		cells := make([]int8, tile.Width*tile.Height)
		for i := range cells {
			cells[i] = m.at(int(tile.Col)+i%int(tile.Width), int(tile.Row)+i/int(tile.Width))
		}
		tile.DataRange = 1
		if err := tile.SetCells(cells); err != nil {
			return err
		}
		*resp.(*iface.MapData) = tile
	default:
		return errors.New("refused")
	}
	return nil
}

// TestUnknownCells: of a map in cells it is kept what is free, and what is unknown. A
// large one has larger cells.
func TestUnknownCells(t *testing.T) {
	at := func(col, row int) int8 { return int8((col+row)%3 - 1) }
	plan, err := floorplan.Fetch(t.Context(), scanned{700, 3, at})
	if err != nil {
		t.Fatal(err)
	}
	if g := plan.Grid; g == nil || g.Info != (iface.MapInfo{Scale: 0.1, Width: 700, Height: 3, Origin: iface.Pose2D{Px: -1}}) {
		t.Fatalf("the grid is %+v", g)
	}
	for i, c := range plan.Grid.Cells {
		if want := at(i%700, i/700); c != want {
			t.Fatalf("cell %d is %d, expected %d", i, c, want)
		}
	}
	// Of 5,001 by 4 cells three by three are one. Whole such are free, some with a
	// wall, some with what is unknown.
	plan, err = floorplan.Fetch(t.Context(), scanned{5001, 4, func(col, row int) int8 {
		switch {
		case col == 4 && row == 1:
			return 1
		case col >= 4 && col < 9 && row < 3:
			return 0
		}
		return -1
	}})
	if err != nil {
		t.Fatal(err)
	}
	g := plan.Grid
	if g.Info.Width != 1667 || g.Info.Height != 2 || math.Abs(float64(g.Info.Scale)-0.3) > 1e-6 || !slices.Equal(g.Cells[:4], []int8{-1, 1, 0, -1}) || !slices.Equal(g.Cells[1667:1670], []int8{-1, -1, -1}) {
		t.Errorf("the large grid is %+v, %v", g.Info, g.Cells[:4])
	}
	if again, err := floorplan.Fetch(t.Context(), scanned{700, 3, at}); err != nil || again.Grid.Equal(g) || !again.Grid.Equal(again.Grid) || g.Equal(nil) {
		t.Errorf("which grids are the same is wrong: %v", err)
	}
}

// badMap answers with what no map has.
type badMap struct {
	info iface.MapInfo
	tile iface.MapData
}

func (b badMap) Request(_ context.Context, a player.Addr, subtype uint8, _, resp any) error {
	switch {
	case a.Interf == player.InterfacePlayer:
		*resp.(*iface.DeviceDevlist) = iface.DeviceDevlist{Devices: []player.Addr{floorplan.Addr}}
	case subtype == iface.ReqMapGetInfo:
		*resp.(*iface.MapInfo) = b.info
	case subtype == iface.ReqMapGetData:
		*resp.(*iface.MapData) = b.tile
	default:
		return errors.New("refused")
	}
	return nil
}

func TestBadMaps(t *testing.T) {
	for name, bad := range map[string]badMap{
		"too many cells": {info: iface.MapInfo{Scale: 0.1, Width: math.MaxUint32, Height: math.MaxUint32}},
		"no scale":       {info: iface.MapInfo{Width: 10, Height: 10}},
		"NaN":            {info: iface.MapInfo{Scale: float32(math.NaN()), Width: 10, Height: 10}},
		"no tile":        {info: iface.MapInfo{Scale: 1, Width: 10, Height: 10}, tile: iface.MapData{Width: 10, Height: 10}},
	} {
		if got, err := floorplan.Fetch(t.Context(), bad); err == nil {
			t.Errorf("%s: got %v, expected an error", name, got)
		}
	}
	elsewhere := badMap{info: iface.MapInfo{Scale: 1, Width: 10, Height: 10}, tile: iface.MapData{Col: math.MaxUint32, Row: 7, Width: 2, Height: 2, Data: []int8{1, 1, 1, 1}}}
	if _, err := floorplan.Fetch(t.Context(), elsewhere); err != nil {
		t.Errorf("a tile elsewhere: %v, expected to be passed over", err)
	}
}

func TestTooManyLines(t *testing.T) {
	many := make([][2]float64, 300_000)
	if _, err := floorplan.NewDriver(floorplan.Plan{Outlines: [][][2]float64{many}}); err == nil {
		t.Error("no error")
	}
}
