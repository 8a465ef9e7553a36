package main

import (
	"encoding/json"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"callboard/sim"
	"callboard/sim/worldfile"

	"github.com/google/go-cmp/cmp"
)

// testWorld is a robot beside a wall with a window.
func testWorld(t *testing.T) *sim.World {
	const text = `
define rover position ( size [ 1 1 0.2 ] color "red" )
rover ( name "r0" pose [ -2 0 0 0 ] )
model ( name "wall" color "blue" size [ 2 2 1 ] pose [ 1 0 0 0 ]
  block ( points 4 point[0] [ 0 0 ] point[1] [ 4 0 ] point[2] [ 4 4 ] point[3] [ 0 4 ] z [ 0 1 ] )
  block ( points 4 point[0] [ 1 1 ] point[1] [ 3 1 ] point[2] [ 3 3 ] point[3] [ 1 3 ] z [ 0 1 ] )
)`
	file, problems := worldfile.Load(func(string) ([]byte, error) { return []byte(text), nil }, "test.world")
	if err := problems.First(); err != nil {
		t.Fatal(err)
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	return world
}

func TestFloorPlan(t *testing.T) {
	text, err := newFloorPlan("test", testWorld(t))
	if err != nil {
		t.Fatal(err)
	}
	var got floorPlan
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	blue := "#0000ff"
	want := []planOutline{ // without the robot
		{Points: [][2]float64{{0, -1}, {2, -1}, {2, 1}, {0, 1}}, Closed: true, Color: blue},
		{Points: [][2]float64{{0.5, -0.5}, {1.5, -0.5}, {1.5, 0.5}, {0.5, 0.5}}, Closed: true, Color: blue},
	}
	if diff := cmp.Diff(want, got.Outlines); diff != "" {
		t.Error(diff)
	}
	if b := got.Bounds; got.Name != "test" || b[0] > -2.5 || b[2] < 2 || b[1] > -1 || b[3] < 1 {
		t.Errorf("%s, bounds %v", got.Name, b)
	}
}

func TestShot(t *testing.T) {
	world := testWorld(t)
	name := filepath.Join(t.TempDir(), "shot.png")
	if err := shoot(world, name); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds(); max(size.Dx(), size.Dy()) != shotSize {
		t.Errorf("size %v", size)
	}
	c, err := newCanvas(world.Bounds())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		x, y float64
		want color.NRGBA
	}{
		{-2.3, 0.3, color.NRGBA{255, 0, 0, 255}},      // the robot
		{0.25, 0.25, color.NRGBA{0, 0, 255, 255}},     // the wall
		{1.25, 0.25, color.NRGBA{255, 255, 255, 255}}, // its window
		{-1.2, 0.3, color.NRGBA{255, 255, 255, 255}},  // the floor
		{-1.98, 0, color.NRGBA{16, 16, 16, 255}},      // where the robot looks
	} {
		x, y := c.at(sim.Point{X: p.x, Y: p.y})
		if got := color.NRGBAModel.Convert(picture.At(int(x), int(y))); got != p.want {
			t.Errorf("at %v, %v: %v, expected %v", p.x, p.y, got, p.want)
		}
	}
}
