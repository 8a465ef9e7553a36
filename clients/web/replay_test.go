package web_test

import (
	"bytes"
	"context"
	"math"
	"net"
	"sync"
	"testing"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/clients/web"
	"callboard/player"
	"callboard/player/floorplan"
	"callboard/player/iface"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/player/server"
)

// testReplay runs the page against a broker that reads a replay beside which
// the floor plan of the recorded world is served, as callboard replay does: the
// page draws the robot in it.
func testReplay(t *testing.T, chromium context.Context) {
	r, err := replay.New(replay.Config{Sources: []replay.Source{circles(t)}, Speed: 1, Loop: true})
	if err != nil {
		t.Fatal(err)
	}
	square := [][2]float64{{-3, -2}, {3, -2}, {3, 2}, {-3, 2}, {-3, -2}}
	pillar := [][2]float64{{-0.3, -0.3}, {0.3, -0.3}, {0.3, 0.3}, {-0.3, 0.3}, {-0.3, -0.3}}
	plan, err := floorplan.NewDriver(floorplan.Plan{World: "yard", Min: [2]float64{-3, -2}, Max: [2]float64{3, 2}, Outlines: [][][2]float64{square, pillar}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := r.Ports()[0]
	player, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{port, plan}, Clock: port.Clock})
	if err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	c.Players = []config.Player{{Address: listener.Addr().String(), Robot: "r0"}}
	c.Complete()
	b, err := bridge.New(bridge.Config{Config: c, Page: web.FS()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, part := range []func(context.Context) error{player.Run, r.Run, b.Run} {
		running.Go(func() {
			if err := part(ctx); err != nil {
				t.Errorf("it ended with: %v", err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })

	p := open(t, chromium, b.URL())
	p.until(`callboard.map.world === "yard" && callboard.map.plan`)
	p.until(`callboard.robots.length === 1 && callboard.robots[0].x > 1`)
	p.until(`callboard.robots[0].x < -1`)
	p.shot("replay")
}

// circles is a recording of a robot that drives around a pillar.
func circles(t *testing.T) replay.Source {
	t.Helper()
	var out bytes.Buffer
	w, err := run.NewLogWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	device := &player.Device{
		Addr: player.Addr{Host: 0x0100007f, Robot: 6665, Interf: player.InterfacePosition2D}, Robot: "r0",
		Geometry: &player.Geometry{Size: player.Size{W: 0.4, L: 0.5}},
	}
	write := func(rec run.Record) {
		rec.Robot, rec.Player = "r0", "127.0.0.1:6665"
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	write(run.Record{Kind: run.Up, Devices: []*player.Device{device}})
	for i := range 40 {
		angle := float64(i) * math.Pi / 20
		write(run.Record{
			Kind: run.Data, Device: device,
			Header:  player.Header{Addr: device.Addr, Type: player.Data, Subtype: iface.DataPosition2DState, Timestamp: float64(i) / 10},
			Payload: &iface.Position2DData{Pos: iface.Pose2D{Px: 1.5 * math.Cos(angle), Py: math.Sin(angle), Pa: angle + math.Pi/2}},
		})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := run.New(run.Config{R: bytes.NewReader(out.Bytes()), Size: int64(out.Len()), Name: "circles.log"})
	if err != nil {
		t.Fatal(err)
	}
	survey, err := f.Survey(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Source{File: f, Survey: survey}
}
