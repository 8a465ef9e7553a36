package sim

import (
	"image/color"
	"math"
)

// blobHeight is how high a blob finder takes all things to be, m.
const blobHeight = 0.6

// Blobfinder holds the patches of colour that a blob finder sees.
type Blobfinder struct {
	model   *Model
	blobs   []Blob
	columns []column
}

// Blob is a run of columns whose first hit has the same colour: in pixels from
// the left and from the top, and how far it is on the average, m.
type Blob struct {
	Color                    color.NRGBA
	Left, Right, Top, Bottom int
	Range                    float64
}

// column is what the ray of an image's column hit.
type column struct {
	hit      bool
	color    color.NRGBA
	distance float64
}

// Blobs returns what was seen at the last update, from the right to the left. The
// slice is written anew by the next update.
func (b *Blobfinder) Blobs() []Blob { return b.blobs }

// update looks along a ray for each column, at any height, and makes blobs of
// neighbours of one colour.
func (b *Blobfinder) update() {
	spec := b.model.spec.Blobfinder
	b.blobs = b.blobs[:0]
	b.look()
	for s := 0; s < len(b.columns); s++ {
		if !b.columns[s].hit {
			continue
		}
		first, c := s, b.columns[s].color
		sum := 0.0
		for s < len(b.columns) && b.columns[s].hit && b.columns[s].color == c {
			sum += b.columns[s].distance
			s++
		}
		// The loop goes on behind the column after the blob, as Stage's does.
		if !spec.Any && !tracked(spec.Colors, c) {
			continue
		}
		blob := Blob{Color: c, Left: spec.Width - s, Right: spec.Width - first - 1, Range: sum / float64(s-first)}
		rise := int(math.Atan2(blobHeight/2, blob.Range) / (spec.FOV / float64(spec.Height)))
		blob.Top, blob.Bottom = max(spec.Height/2-rise, 0), min(spec.Height/2+rise, spec.Height)
		b.blobs = append(b.blobs, blob)
	}
}

// look fills the columns, the rightmost direction first.
func (b *Blobfinder) look() {
	spec, m := b.model.spec.Blobfinder, b.model
	if len(b.columns) != spec.Width {
		b.columns = make([]column, spec.Width)
	}
	at := m.global.Add(m.spec.Origin).Add(Pose{A: spec.Pan})
	c := &m.world.caster
	c.begin(at, spec.Range, m.root.index, func(t *tile) bool { return t.root != m.root.index })
	right := spec.FOV/2 - at.A
	for i := range b.columns {
		direction := at.A
		if spec.Width > 1 {
			direction = float64(i)*spec.FOV/float64(spec.Width-1) - right
		}
		sin, cos := aim(direction)
		distance, hit := c.cast(sin, cos)
		b.columns[i] = column{hit: hit != nil, distance: distance}
		if hit != nil {
			b.columns[i].color = opaque(m.world.models[hit.model].Color())
		}
	}
}

// tracked reports whether a colour is one of a list.
func tracked(list []color.NRGBA, c color.NRGBA) bool {
	for _, t := range list {
		if opaque(t) == c {
			return true
		}
	}
	return false
}

// opaque returns a colour without regard to its alpha.
func opaque(c color.NRGBA) color.NRGBA {
	c.A = 255
	return c
}
