// Package worlds holds the bundled worlds: Stage world files with their
// pictures, drawn for Callboard, and others made to measure.
package worlds

import (
	"embed"
	"fmt"
	"io/fs"
	"math"
	"strings"
)

//go:generate go test -run TestPicturesAreDrawn . -args -draw

// FS holds the bundled worlds.
//
//go:embed *.world *.inc *.png
var FS embed.FS

// Default is the demo's world.
const Default = "cave.world"

// Open reads a bundled file by its name: a worldfile.Open.
func Open(name string) ([]byte, error) { return FS.ReadFile(strings.TrimPrefix(name, "./")) }

// most is how many robots find room in the cave.
var most = len(spots)

// Robots returns a world with n robots r0, r1, …: the cave as long as they find
// room in it, else a swarm. open reads it and all that it includes.
func Robots(n int) (open func(name string) ([]byte, error), name string) {
	if n > most {
		return Swarm(n)
	}
	return made("cave.world", cave(n))
}

// Swarm returns a world of n robots r0, r1, … with a scanner each, 2 m apart on a
// square floor with walls around.
func Swarm(n int) (open func(name string) ([]byte, error), name string) {
	return made("swarm.world", swarm(n))
}

// made opens a text under a name, and the bundled files under theirs.
func made(name, text string) (func(string) ([]byte, error), string) {
	return func(asked string) ([]byte, error) {
		if asked == name {
			return []byte(text), nil
		}
		return Open(asked)
	}, name
}

// colors of robots, in turn.
var colors = []string{"firebrick", "RoyalBlue", "ForestGreen", "DarkOrange", "MediumOrchid", "turquoise4", "sienna", "DeepPink"}

// cave is the cave's world with n robots instead of its own.
func cave(n int) string {
	text, err := fs.ReadFile(FS, Default)
	if err != nil {
		panic(err) // embedded
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "rover (") {
			b.WriteString(line)
		}
	}
	for i := range n {
		s := spots[i]
		fmt.Fprintf(&b, "rover ( name \"r%d\" color %q pose [ %.2f %.2f 0 %d ] )\n", i, colors[i%len(colors)], s.x, s.y, s.a)
	}
	return b.String()
}

// swarm is a world of n robots on a square grid.
func swarm(n int) string {
	const apart = 2.0
	side := int(math.Ceil(math.Sqrt(float64(n))))
	if side < 1 {
		side = 1
	}
	width := float64(side)*apart + apart
	var b strings.Builder
	b.WriteString(`# A swarm.
name "swarm"
resolution 0.02
interval_sim 100
include "rover.inc"
define fence model ( color "gray35" )
define mote position
(
  size [ 0.44 0.38 0.22 ]
  drive "diff"
  localization "gps"
  localization_origin [ 0 0 0 0 ]
  ranger_return 0.5
  ranger ( pose [ 0.10 0 -0.08 0 ] size [ 0.14 0.14 0.1 ] sensor ( range [ 0 8 ] fov 180 samples 180 ) )
)
`)
	fmt.Fprintf(&b, "fence ( name \"east\" size [ 0.2 %[1]g 1 ] pose [ %[2]g 0 0 0 ] )\n", width+0.2, width/2)
	fmt.Fprintf(&b, "fence ( name \"west\" size [ 0.2 %[1]g 1 ] pose [ %[2]g 0 0 0 ] )\n", width+0.2, -width/2)
	fmt.Fprintf(&b, "fence ( name \"north\" size [ %[1]g 0.2 1 ] pose [ 0 %[2]g 0 0 ] )\n", width+0.2, width/2)
	fmt.Fprintf(&b, "fence ( name \"south\" size [ %[1]g 0.2 1 ] pose [ 0 %[2]g 0 0 ] )\n", width+0.2, -width/2)
	for i := range n {
		x := (float64(i%side) - float64(side-1)/2) * apart
		y := (float64(i/side) - float64(side-1)/2) * apart
		// A heading that looks like chance and is not.
		a := (i*137)%360 - 180
		fmt.Fprintf(&b, "mote ( name \"r%d\" color %q pose [ %g %g 0 %d ] )\n", i, colors[i%len(colors)], x, y, a)
	}
	return b.String()
}
