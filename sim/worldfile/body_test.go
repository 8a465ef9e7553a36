package worldfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBodiesLikeStage: outlines, corner by corner, as real Stage 4.3 has them
// after it has read the file.
func TestBodiesLikeStage(t *testing.T) {
	const triangle = "block ( points 3 point[0] [ 0 0 ] point[1] [ 1 0 ] point[2] [ 1 1 ] z [ 0 1 ] )"
	for text, want := range map[string]string{
		"model ( )":                              "0..1: -0.2,-0.2 0.2,-0.2 0.2,0.2 -0.2,0.2",
		"model ( noblocks 1 )":                   "",
		"model ( noblocks \"true\" )":            "0..1: -0.2,-0.2 0.2,-0.2 0.2,0.2 -0.2,0.2",
		"model ( noblocks 1 " + triangle + " )":  "0..1: -0.2,-0.2 0.2,-0.2 0.2,0.2",
		"ranger ( )":                             "",
		"ranger ( " + triangle + " )":            "0..0.2: -0.075,-0.075 0.075,-0.075 0.075,0.075",
		"model ( boundary 1 " + triangle + " )":  "0..1: -0.2,-0.2 0.2,-0.2 0.2,0.2",
		"model ( size [ 8 6 1 ] boundary 1 )":    "0..1: -4,-3 4,-3 4,3 -4,3; 0..1: -4,-3 -3.99,-3 -3.99,3 -4,3; 0..1: -4,-3 4,-3 4,-2.99 -4,-2.99; 0..1: -4,2.99 4,2.99 4,3 -4,3; 0..1: 3.99,-3 4,-3 4,3 3.99,3",
		"ranger ( size [ 2 1 1 ] boundary 1 )":   "0..1: 1,0.5 1,0.5 1,-0.5 1,-0.5; 0..1: 1,0.5 -1,0.5 -1,0.5 1,0.5; 0..1: 1,-0.5 -1,-0.5 -1,-0.5 1,-0.5; 0..1: -1,0.5 -1,0.5 -1,-0.5 -1,-0.5",
		"model ( block ( ) )":                    "",
		"model ( block ( points 1 z [ 0 2 ] ) )": "",
		// The order of clockwise corners, and of a line's ends, is reversed.
		"model ( block ( points 3 point[0] [ 0 0 ] point[1] [ 1 1 ] point[2] [ 1 0 ] z [ 0 1 ] ) )": "0..1: 0.2,-0.2 0.2,0.2 -0.2,-0.2",
		"model ( block ( points 2 point[0] [ 0 0 ] point[1] [ 1 1 ] z [ 0 1 ] ) )":                  "0..1: 0.2,0.2 -0.2,-0.2",
		// A line along the axis that it has no extent across lies on the side.
		"model ( block ( points 2 point[0] [ 0 0 ] point[1] [ 0 1 ] z [ 0 1 ] ) )": "0..1: -0.2,0.2 -0.2,-0.2",
		"model ( block ( points 2 point[0] [ 3 0 ] point[1] [ 3 1 ] z [ 0 1 ] ) )": "0..1: 0,0.2 0,-0.2",
		// Heights upside down, and one that only takes part in the scale.
		"model ( block ( points 2 point[0] [ 0 0 ] point[1] [ 1 1 ] z [ 1 0 ] ) )":      "-1..0: 0.2,0.2 -0.2,-0.2",
		"model ( size [ 1 1 1 ] " + triangle + " block ( points 1 z [ 0 4 ] ) )":        "0..0.25: -0.5,-0.5 0.5,-0.5 0.5,0.5",
		"model ( size [ 1 1 1 ] " + triangle + " block ( points 1 point[0] [ 3 0 ] ) )": "0..1: -0.5,-0.5 -0.166667,-0.5 -0.166667,0.5",
	} {
		w, problems := Load(files(map[string]string{"a.world": text}), "a.world")
		if w == nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		var got []string
		for _, b := range w.Models[0].Body {
			s := fmt.Sprintf("%s..%s:", num(b.Low), num(b.High))
			for _, p := range b.Points {
				s += fmt.Sprintf(" %s,%s", num(p.X), num(p.Y))
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s (-Stage +ours):\n%s", text, diff)
		}
	}
}

// TestDefaultsLikeStage: colours and update intervals of the types.
func TestDefaultsLikeStage(t *testing.T) {
	for text, want := range map[string]string{
		"model ( )":                           "255 0 0, 100ms",
		"fiducial ( )":                        "255 0 0, 100ms",
		"blobfinder ( )":                      "255 0 0, 100ms",
		"ranger ( )":                          "0 0 128, 100ms",
		"gripper ( )":                         "77 77 77, 100ms",
		"blinkenlight ( )":                    "0 255 0, 100ms",
		"model ( update_interval 33.3 )":      "255 0 0, 33ms",
		"model ( update_interval \"250ms\" )": "255 0 0, 250ms",
	} {
		w, problems := Load(files(map[string]string{"a.world": text}), "a.world")
		if w == nil {
			t.Errorf("%s: %v", text, problems)
			continue
		}
		m := w.Models[0]
		if got := fmt.Sprintf("%d %d %d, %s", m.Color.R, m.Color.G, m.Color.B, m.Interval); got != want {
			t.Errorf("%s: %s, Stage %s", text, got, want)
		}
	}
	if w, _ := Load(files(map[string]string{"a.world": "model ( update_interval 0.5 )"}), "a.world"); w != nil {
		t.Errorf("updates come every %v; Stage, in whole milliseconds, would never go on", w.Models[0].Interval)
	}
}
