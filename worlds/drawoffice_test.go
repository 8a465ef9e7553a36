package worlds_test

import "image"

// The office's size and that of its parts, m.
const (
	officeWidth  = 20
	officeHeight = 12
	wall         = 0.14
	door         = 1.2
)

// drawOffice draws rooms on both sides of a corridor, with doors.
func drawOffice() *image.Paletted {
	img := newPlan(officeWidth, officeHeight)
	const w, h = officeWidth, officeHeight
	// around
	box(img, 0, 0, w, wall)
	box(img, 0, h-wall, w, h)
	box(img, 0, 0, wall, h)
	box(img, w-wall, 0, w, h)
	// the corridor's walls, with a door into each room
	north, south := []float64{0, 5, 9.5, 14, w}, []float64{0, 6.5, 12.5, w}
	across(img, 7.0, north, []float64{2.4, 7.2, 11.7, 16.8})
	across(img, 4.8, south, []float64{3.2, 9.4, 16.0})
	// between the rooms
	for _, x := range north[1:4] {
		box(img, x-wall/2, 7.0, x+wall/2, h)
	}
	for _, x := range south[1:3] {
		box(img, x-wall/2, 0, x+wall/2, 4.8)
	}
	// a passage between two rooms, and pillars in the hall
	empty(img, 9.5-wall, 9.2, 9.5+wall, 9.2+door)
	for _, x := range []float64{14.2, 17.8} {
		box(img, x-0.15, 2.2, x+0.15, 2.5)
	}
	return img
}

// across draws a wall along the corridor at height y with doors centred at
// the given places.
func across(img *image.Paletted, y float64, rooms, doors []float64) {
	box(img, rooms[0], y-wall/2, rooms[len(rooms)-1], y+wall/2)
	for _, x := range doors {
		empty(img, x-door/2, y-wall, x+door/2, y+wall)
	}
}

// box makes a rectangle solid, given in m from the lower left.
func box(img *image.Paletted, x0, y0, x1, y1 float64) { paint(img, x0, y0, x1, y1, solid) }

// empty makes a rectangle free.
func empty(img *image.Paletted, x0, y0, x1, y1 float64) { paint(img, x0, y0, x1, y1, free) }

func paint(img *image.Paletted, x0, y0, x1, y1 float64, index uint8) {
	h := img.Rect.Dy()
	at := func(v float64) int { return int(v*scale + 0.5) }
	for y := at(y0); y < at(y1); y++ {
		for x := at(x0); x < at(x1); x++ {
			if (image.Point{X: x, Y: h - 1 - y}).In(img.Rect) {
				img.SetColorIndex(x, h-1-y, index)
			}
		}
	}
}
