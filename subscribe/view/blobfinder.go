package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Blobfinder is the patches of colour in one image, and of the largest one all
// that the finder tells.
type Blobfinder struct {
	Count   int       `expr:"count"`
	ID      int       `expr:"id"`
	Color   int       `expr:"color"`
	Area    float64   `expr:"area"`
	X       float64   `expr:"x"`
	Y       float64   `expr:"y"`
	Left    float64   `expr:"left"`
	Right   float64   `expr:"right"`
	Top     float64   `expr:"top"`
	Bottom  float64   `expr:"bottom"`
	Range   float64   `expr:"range"`
	Largest int       `expr:"largest"`
	Width   int       `expr:"width"`
	Height  int       `expr:"height"`
	IDs     []float64 `expr:"ids"`
	Colors  []float64 `expr:"colors"`
	Areas   []float64 `expr:"areas"`
	Xs      []float64 `expr:"xs"`
	Ys      []float64 `expr:"ys"`
	Ranges  []float64 `expr:"ranges"`
	Stamp
}

func (b *Blobfinder) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.BlobfinderData)
	if !ok {
		return false
	}
	b.Count, b.Width, b.Height, b.Largest = len(d.Blobs), int(d.Width), int(d.Height), -1
	b.IDs, b.Colors, b.Areas = b.IDs[:0], b.Colors[:0], b.Areas[:0]
	b.Xs, b.Ys, b.Ranges = b.Xs[:0], b.Ys[:0], b.Ranges[:0]
	for i := range d.Blobs {
		o := &d.Blobs[i]
		if b.Largest < 0 || o.Area > d.Blobs[b.Largest].Area {
			b.Largest = i
		}
		b.IDs, b.Colors, b.Areas = append(b.IDs, float64(o.ID)), append(b.Colors, float64(o.Color)), append(b.Areas, float64(o.Area))
		b.Xs, b.Ys, b.Ranges = append(b.Xs, float64(o.X)), append(b.Ys, float64(o.Y)), append(b.Ranges, float64(o.Range))
	}
	nan := math.NaN()
	b.ID, b.Color, b.Area, b.X, b.Y, b.Left, b.Right, b.Top, b.Bottom, b.Range = -1, -1, 0, nan, nan, nan, nan, nan, nan, nan
	if b.Largest >= 0 {
		o := &d.Blobs[b.Largest]
		b.ID, b.Color, b.Area, b.X, b.Y = int(o.ID), int(o.Color), float64(o.Area), float64(o.X), float64(o.Y)
		b.Left, b.Right, b.Top, b.Bottom, b.Range = float64(o.Left), float64(o.Right), float64(o.Top), float64(o.Bottom), float64(o.Range)
	}
	return true
}

var blobfinderFields = with(
	whole("count", "", "how many patches", func(b *Blobfinder) int { return b.Count }),
	whole("id", "", "of the largest, the number of its colour, from the driver; -1 if there is none", func(b *Blobfinder) int { return b.ID }),
	whole("color", "", "of the largest, its colour, 0xRRGGBB; -1 if there is none", func(b *Blobfinder) int { return b.Color }),
	number("area", "px", "of the largest, its area; 0 if there is none", func(b *Blobfinder) float64 { return b.Area }),
	number("x", "px", "of the largest, its centre; no number if there is none, as what follows", func(b *Blobfinder) float64 { return b.X }),
	number("y", "px", "of the largest, its centre", func(b *Blobfinder) float64 { return b.Y }),
	number("left", "px", "of the largest, its border", func(b *Blobfinder) float64 { return b.Left }),
	number("right", "px", "of the largest, its border", func(b *Blobfinder) float64 { return b.Right }),
	number("top", "px", "of the largest, its border", func(b *Blobfinder) float64 { return b.Top }),
	number("bottom", "px", "of the largest, its border", func(b *Blobfinder) float64 { return b.Bottom }),
	number("range", "m", "of the largest, how far it is, if the driver knows", func(b *Blobfinder) float64 { return b.Range }),
	whole("largest", "", "which one of the lists is the largest, from 0; -1 if there is none", func(b *Blobfinder) int { return b.Largest }),
	whole("width", "px", "of the image", func(b *Blobfinder) int { return b.Width }),
	whole("height", "px", "of the image", func(b *Blobfinder) int { return b.Height }),
	numbers("ids", "", "the number of the colour of each", func(b *Blobfinder) []float64 { return b.IDs }),
	numbers("colors", "", "the colour of each, 0xRRGGBB", func(b *Blobfinder) []float64 { return b.Colors }),
	numbers("areas", "px", "the area of each", func(b *Blobfinder) []float64 { return b.Areas }),
	numbers("xs", "px", "the centre of each", func(b *Blobfinder) []float64 { return b.Xs }),
	numbers("ys", "px", "the centre of each", func(b *Blobfinder) []float64 { return b.Ys }),
	numbers("ranges", "m", "how far each is", func(b *Blobfinder) []float64 { return b.Ranges }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (b *Blobfinder) AppendText(dst []byte) []byte { return appendFields(dst, b, blobfinderFields) }
