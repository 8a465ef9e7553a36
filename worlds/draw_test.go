package worlds_test

import (
	"bytes"
	"callboard/worlds"
	"errors"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"testing"
)

// Colours of a plan.
const (
	free  = 0
	solid = 1
)

// scale of the plans, pixels per metre.
const scale = 50

// plans returns all plans by the names of their files.
func plans() map[string]*image.Paletted {
	return map[string]*image.Paletted{"cave.png": drawCave(), "office.png": drawOffice(), "patrol.png": drawPatrol()}
}

// newPlan makes a free plan of a size in m.
func newPlan(width, height float64) *image.Paletted {
	return image.NewPaletted(image.Rect(0, 0, int(width*scale), int(height*scale)), color.Palette{color.White, color.Black})
}

var draw = flag.Bool("draw", false, "write the floor plans anew")

// TestPicturesAreDrawn draws the floor plans of the bundled worlds anew, the same
// each time: they are what is bundled. With -draw they are written.
func TestPicturesAreDrawn(t *testing.T) {
	for name, drawn := range plans() {
		if *draw {
			var out bytes.Buffer
			enc := png.Encoder{CompressionLevel: png.BestCompression}
			if err := errors.Join(enc.Encode(&out, drawn), os.WriteFile(name, out.Bytes(), 0o644)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		file, err := worlds.FS.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		bundled, err := png.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := bundled.(*image.Paletted)
		if !ok || p.Rect != drawn.Rect || !bytes.Equal(p.Pix, drawn.Pix) {
			t.Errorf("%s is not what is drawn: go generate ./worlds writes it anew", name)
		}
	}
}
