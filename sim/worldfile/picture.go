package worldfile

import (
	"bytes"
	"callboard/player/problem"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // as Stage's picture library reads them
	_ "image/jpeg" // likewise
	_ "image/png"  // likewise
	"strings"

	_ "golang.org/x/image/bmp" // likewise
)

// Limits of pictures.
const (
	maxPixels        = 100 << 20
	maxDecoded       = 256 << 20 // bytes of a picture's pixels as they are read
	maxOutlinePoints = 4 << 20   // of all pictures of a world
	// maxPerByte is how many pixels the best packed picture has for each of its
	// bytes: in PNG a byte unpacks to 1,032 at most, of 8 pixels each.
	maxPerByte = 8 * 1032
)

// maxSolid is the greatest value of a solid pixel's first channel.
const maxSolid = 127

// picture is a bitmap that has been read: its outlines, in pixels from the
// lower left corner of the box of its solid ones.
type picture struct {
	info   Bitmap
	shapes []shape
	failed string // why it could not be read
}

// bitmap returns the outlines of a model's picture. A picture that is missing or
// cannot be read leaves the model without a body.
func (in *interpreter) bitmap(m *Model, e *Entity) []shape {
	p := e.Get("bitmap")
	name := in.text(e, "bitmap", "")
	if name == "" {
		in.Warnf(p.Pos, "bitmap names no file; %s has no body", m.Name)
		return nil
	}
	pic := in.pictures[name]
	if pic == nil {
		pic = in.readPicture(name)
		in.pictures[name] = pic
		in.world.Bitmaps = append(in.world.Bitmaps, pic.info)
	}
	switch {
	case pic.failed != "":
		in.Warnf(p.Pos, "bitmap %q: %s; %s has no body", problem.Short(name), pic.failed, m.Name)
	case pic.info.Solid == 0:
		in.Warnf(p.Pos, "bitmap %q has no solid pixel (first channel 127 or less); %s has no body", problem.Short(name), m.Name)
	}
	for _, s := range pic.shapes {
		if in.budget -= len(s.points); in.budget < 0 {
			in.Errorf(p.Pos, "bitmap %q: the outlines of all bitmaps have more than %d corners", problem.Short(name), maxOutlinePoints)
			return nil
		}
	}
	return pic.shapes
}

// readPicture finds and reads a picture.
func (in *interpreter) readPicture(name string) *picture {
	pic := &picture{info: Bitmap{File: name, MinX: -1, MinY: -1, MaxX: -1, MaxY: -1}}
	var data []byte
	var first error
	for _, try := range candidates(in.file.Name, name) {
		b, err := in.open(try)
		if err == nil {
			data = b
			break
		}
		if first == nil {
			first = err
		}
	}
	if data == nil {
		pic.info.Missing = true
		pic.failed = problem.OfFile(first)
		return pic
	}
	mask, err := decodeMask(data)
	if err != nil {
		pic.failed = err.Error()
		return pic
	}
	pic.info.Width, pic.info.Height = mask.width, mask.height
	if mask.crop(&pic.info); pic.info.Solid == 0 {
		return pic
	}
	shapes, ok := mask.trace(&pic.info, in.budget)
	if !ok {
		pic.failed = fmt.Sprintf("its outlines have more than %d corners", in.budget)
		return pic
	}
	pic.shapes = shapes
	return pic
}

// mask says which pixels of a picture are solid, row by row from the top.
type mask struct {
	width, height int
	solid         bits
}

// bits are many truths in little memory.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(i int) bool { return b[i>>6]>>(uint(i)&63)&1 != 0 }

func (b bits) set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// decodeMask reads a picture in any of the formats that Stage reads.
func decodeMask(data []byte) (*mask, error) {
	if m, ok, err := decodePNM(data); ok {
		return m, err
	}
	cfg, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("is no picture of a known format; expected PNG, JPEG, GIF, BMP or PNM")
	}
	if cfg.Width <= 0 || cfg.Height <= 0 || cfg.Width > maxPixels/cfg.Height {
		return nil, fmt.Errorf("has %d x %d pixels; expected at most %d", cfg.Width, cfg.Height, maxPixels)
	}
	pixels := cfg.Width * cfg.Height
	if pixels > maxPerByte*len(data) {
		return nil, fmt.Errorf("has %d bytes, which cannot hold its %d x %d pixels", len(data), cfg.Width, cfg.Height)
	}
	if need := pixels * pixelSize(cfg.ColorModel); need > maxDecoded {
		return nil, fmt.Errorf("has %d x %d pixels, which take %d bytes; expected at most %d: save it as greyscale, or smaller", cfg.Width, cfg.Height, need, maxDecoded)
	}
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot be read as %s: %v", strings.ToUpper(format), err)
	}
	return maskOf(img), nil
}

// pixelSize is how many bytes a pixel takes once it is read.
func pixelSize(m color.Model) int {
	switch m {
	case color.GrayModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	case color.YCbCrModel:
		return 3
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// maskOf looks at the first channel alone, never at alpha.
func maskOf(img image.Image) *mask {
	b := img.Bounds()
	m := &mask{width: b.Dx(), height: b.Dy(), solid: newBits(b.Dx() * b.Dy())}
	first := firstChannel(img)
	i := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if first(x, y) <= maxSolid {
				m.solid.set(i)
			}
			i++
		}
	}
	return m
}

// firstChannel returns a pixel's red or grey value as it is stored.
func firstChannel(img image.Image) func(x, y int) uint8 {
	switch p := img.(type) {
	case *image.Gray:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.Gray16:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.NRGBA:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.RGBA:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.NRGBA64:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.RGBA64:
		return func(x, y int) uint8 { return p.Pix[p.PixOffset(x, y)] }
	case *image.Paletted:
		var palette [256]uint8
		for i, c := range p.Palette {
			palette[i&255] = stored(c)
		}
		return func(x, y int) uint8 { return palette[p.Pix[p.PixOffset(x, y)]] }
	}
	return func(x, y int) uint8 { return stored(img.At(x, y)) }
}

// stored returns a colour's red before alpha.
func stored(c color.Color) uint8 {
	if n, ok := c.(color.NRGBA); ok {
		return n.R
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA).R
}

func (m *mask) at(x, y int) bool {
	return x >= 0 && y >= 0 && x < m.width && y < m.height && m.solid.has(y*m.width+x)
}

// crop finds the box of the solid pixels.
func (m *mask) crop(b *Bitmap) {
	for y := 0; y < m.height; y++ {
		for x := 0; x < m.width; x++ {
			if !m.solid.has(y*m.width + x) {
				continue
			}
			if b.Solid == 0 {
				b.MinX, b.MinY, b.MaxX, b.MaxY = x, y, x, y
			}
			b.Solid++
			b.MinX, b.MaxX = min(b.MinX, x), max(b.MaxX, x)
			b.MinY, b.MaxY = min(b.MinY, y), max(b.MaxY, y)
		}
	}
}

// Directions in a picture, whose y goes down, in the order of right turns.
const (
	east = iota
	south
	west
	north
)

var step = [4][2]int{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}

// trace follows the outlines of solid regions, holes too: corner by corner,
// the solid on the right hand. Regions that meet at a corner only are apart.
// It gives up beyond most corners.
func (m *mask) trace(b *Bitmap, most int) ([]shape, bool) {
	var out []shape
	done := newBits(m.width * m.height) // upper edges of pixels that a loop went along
	for y := b.MinY; y <= b.MaxY; y++ {
		for x := b.MinX; x <= b.MaxX; x++ {
			if at := y*m.width + x; !m.solid.has(at) || m.at(x, y-1) || done.has(at) {
				continue
			}
			s := shape{points: m.loop(x, y, done), high: 1}
			if most -= len(s.points); most < 0 {
				return nil, false
			}
			for i, p := range s.points {
				s.points[i] = Point{p.X - float64(b.MinX), float64(b.MaxY+1) - p.Y}
			}
			out = append(out, s)
		}
	}
	return out, true
}

// loop follows one outline from the upper left corner of pixel (x, y). Its
// points are the corners, in pixels.
func (m *mask) loop(x, y int, done bits) []Point {
	var points []Point
	startX, startY, d := x, y, east
	for first := true; first || x != startX || y != startY || d != east; first = false {
		if d == east {
			done.set(y*m.width + x)
		}
		x, y = x+step[d][0], y+step[d][1]
		right, left := m.sides(x, y, d)
		switch {
		case !right:
			d = (d + 1) % 4
			points = append(points, Point{float64(x), float64(y)})
		case left:
			d = (d + 3) % 4
			points = append(points, Point{float64(x), float64(y)})
		}
	}
	return points
}

// sides reports whether the pixels ahead, to the right and to the left of
// someone at corner (x, y) who looks in direction d are solid.
func (m *mask) sides(x, y, d int) (right, left bool) {
	switch d {
	case east:
		return m.at(x, y), m.at(x, y-1)
	case south:
		return m.at(x-1, y), m.at(x, y)
	case west:
		return m.at(x-1, y-1), m.at(x-1, y)
	}
	return m.at(x, y-1), m.at(x-1, y-1)
}
