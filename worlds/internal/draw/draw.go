// Package draw draws the floor plans of the bundled worlds, the same each time.
package draw

import (
	"image"
	"image/color"
)

// Colours of a plan.
const (
	free  = 0
	solid = 1
)

// scale of the plans, pixels per metre.
const scale = 50

// Plans returns all plans by the names of their files.
func Plans() map[string]*image.Paletted {
	return map[string]*image.Paletted{"cave.png": Cave(), "office.png": Office(), "patrol.png": Patrol()}
}

// newPlan makes a free plan of a size in m.
func newPlan(width, height float64) *image.Paletted {
	return image.NewPaletted(image.Rect(0, 0, int(width*scale), int(height*scale)), color.Palette{color.White, color.Black})
}
