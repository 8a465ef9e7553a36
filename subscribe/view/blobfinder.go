package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Blobfinder is the patches of colour in one image, and of the largest one all
// that the finder tells.
type Blobfinder struct {
	Count   int       `expr:"count" doc:"how many patches"`
	ID      int       `expr:"id" doc:"of the largest, the number of its colour, from the driver; -1 if there is none"`
	Color   int       `expr:"color" doc:"of the largest, its colour, 0xRRGGBB; -1 if there is none"`
	Area    float64   `expr:"area" unit:"px" doc:"of the largest, its area; 0 if there is none"`
	X       float64   `expr:"x" unit:"px" doc:"of the largest, its centre; no number if there is none, as what follows"`
	Y       float64   `expr:"y" unit:"px" doc:"of the largest, its centre"`
	Left    float64   `expr:"left" unit:"px" doc:"of the largest, its border"`
	Right   float64   `expr:"right" unit:"px" doc:"of the largest, its border"`
	Top     float64   `expr:"top" unit:"px" doc:"of the largest, its border"`
	Bottom  float64   `expr:"bottom" unit:"px" doc:"of the largest, its border"`
	Range   float64   `expr:"range" unit:"m" doc:"of the largest, how far it is, if the driver knows"`
	Largest int       `expr:"largest" doc:"which one of the lists is the largest, from 0; -1 if there is none"`
	Width   int       `expr:"width" unit:"px" doc:"of the image"`
	Height  int       `expr:"height" unit:"px" doc:"of the image"`
	IDs     []float64 `expr:"ids" doc:"the number of the colour of each"`
	Colors  []float64 `expr:"colors" doc:"the colour of each, 0xRRGGBB"`
	Areas   []float64 `expr:"areas" unit:"px" doc:"the area of each"`
	Xs      []float64 `expr:"xs" unit:"px" doc:"the centre of each"`
	Ys      []float64 `expr:"ys" unit:"px" doc:"the centre of each"`
	Ranges  []float64 `expr:"ranges" unit:"m" doc:"how far each is"`
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
