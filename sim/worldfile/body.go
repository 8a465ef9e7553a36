package worldfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// wallThickness is that of the walls which boundary adds, m.
const wallThickness = 0.01

// shape is a part of a body before it is scaled to the model's size.
type shape struct {
	points    []Point
	low, high float64
}

// body returns the outlines of a model's body: a box, or what its bitmap and
// blocks make of it, all together scaled and moved to fill its size.
func (in *interpreter) body(m *Model, e *Entity, box bool) []Block {
	// What the file gives counts all the same.
	box = !in.flag(e, "noblocks", false) && box
	var shapes []shape
	picture := e.Get("bitmap") != nil
	if picture {
		shapes = in.bitmap(m, e)
	}
	blocks := false
	for _, c := range e.Children {
		if c.Type == "block" {
			if s, ok := in.block(c); ok {
				shapes = append(shapes, s)
			}
			blocks = true
		}
	}
	if old := in.polygons(e); old != nil {
		shapes = append(shapes, old...)
		blocks = true
	}
	if box && !picture && !blocks {
		shapes = []shape{{points: []Point{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}, high: 1}}
	}
	out := scale(shapes, m.Size)
	if picture {
		// Stage does it again and again while it loads. The last bit counts: the
		// borders of pixels often are borders of cells.
		for range pictureScalings - 1 {
			out = scale(shapesOf(out), m.Size)
		}
	}
	// Stage makes the walls before it reads the blocks, the first of which
	// replaces all there is. Round nothing they have no thickness.
	switch {
	case !in.flag(e, "boundary", false) || blocks && !picture:
	case len(out) == 0:
		out = walls(Size{-m.Size.X, -m.Size.Y, m.Size.Z}, 0)
	default:
		out = append(out, walls(m.Size, wallThickness)...)
	}
	return out
}

// block reads a block's outline and heights. Without z it is flat.
func (in *interpreter) block(e *Entity) (shape, bool) {
	n := in.integer(e, "points", 0)
	if n < 0 || n > maxOutlinePoints {
		in.Errorf(e.Pos, "a block of %d points; expected 2 or more", n)
		return shape{}, false
	}
	if n < 2 {
		in.Warnf(e.Pos, "a block of %d points has no outline, and nothing meets it; expected 2 or more", n)
	}
	// An index without entry is (0, 0), as in Stage; more of them than there are
	// properties would only make memory of nothing.
	if n > len(e.Properties)+1000 {
		in.Errorf(e.Get("points").Pos, "a block of %d points, of which at most %d are given", n, len(e.Properties))
		return shape{}, false
	}
	s := shape{points: make([]Point, n)}
	for _, p := range e.Properties {
		p.Used = true
		i, ok := pointIndex(p.Name)
		if !ok || i >= n {
			continue
		}
		if len(p.Values) < 2 {
			in.Errorf(p.Pos, "%s has %d values; expected [x y]", p.Name, len(p.Values))
			return s, false
		}
		s.points[i] = Point{in.metres(p, 0), in.metres(p, 1)}
	}
	if p := in.tuple(e, "z", 2, "[bottom top]"); p != nil {
		s.low, s.high = in.metres(p, 0), in.metres(p, 1)
	}
	anticlockwise(s.points)
	return s, true
}

// pointIndex returns i of a name point[i].
func pointIndex(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "point[")
	if !ok {
		return 0, false
	}
	if digits, ok = strings.CutSuffix(digits, "]"); !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0
}

// polygons reads the body of a Stage 2 model.
func (in *interpreter) polygons(e *Entity) []shape {
	n := in.integer(e, "polygons", 0)
	if n <= 0 {
		return nil
	}
	if n > len(e.Properties) {
		in.Errorf(e.Get("polygons").Pos, "%d polygons, of which at most %d are given", n, len(e.Properties))
		return nil
	}
	var out []shape
	for i := 0; i < n; i++ {
		prefix := fmt.Sprintf("polygon[%d].", i)
		count := in.integer(e, prefix+"points", 0)
		e.Get(prefix + "filled")
		e.Get(prefix + "fill")
		if count < 2 || count > len(e.Properties) {
			in.Errorf(e.Pos, "polygon %d has %d points; expected 2 or more, each given", i, count)
			return out
		}
		s := shape{points: make([]Point, count), high: 1}
		for j := range s.points {
			if p := in.tuple(e, fmt.Sprintf("%spoint[%d]", prefix, j), 2, "[x y]"); p != nil {
				s.points[j] = Point{in.metres(p, 0), in.metres(p, 1)}
			}
		}
		anticlockwise(s.points)
		out = append(out, s)
	}
	return out
}

// anticlockwise puts an outline's points in order, as Stage does: unless the
// turns from side to side come to more than nothing, they are reversed. So is a
// line there and back, of which there is no other way to tell.
func anticlockwise(ps []Point) {
	turned := 0.0
	for i, p := range ps {
		q, r := ps[(i+1)%len(ps)], ps[(i+2)%len(ps)]
		turned += turn(Point{q.X - p.X, q.Y - p.Y}, Point{r.X - q.X, r.Y - q.Y})
	}
	if !(turned > 0) {
		slices.Reverse(ps)
	}
}

// turn is the angle from one direction to another, -π…π.
func turn(from, to Point) float64 {
	t := direction(to) - direction(from)
	for t < -math.Pi {
		t += 2 * math.Pi
	}
	for t > math.Pi {
		t -= 2 * math.Pi
	}
	return t
}

// direction is the angle of a side, 0…2π.
func direction(p Point) float64 {
	a := math.Atan2(p.Y, p.X)
	if a < 0 {
		a += 2 * math.Pi
	}
	return a
}

// pictureScalings is how often Stage scales a picture's outlines.
const pictureScalings = 3

// shapesOf returns blocks as what they may be scaled from.
func shapesOf(blocks []Block) []shape {
	shapes := make([]shape, len(blocks))
	for i, b := range blocks {
		shapes[i] = shape{points: b.Points, low: b.Low, high: b.High}
	}
	return shapes
}

// scale moves and stretches the shapes so that the box around them fills size,
// centred, and stretches their heights without moving them. Shapes of less than
// two points take part in that, and leave nothing.
func scale(shapes []shape, size Size) []Block {
	minX, minY, minZ := math.Inf(1), math.Inf(1), math.Inf(1)
	maxX, maxY, maxZ := math.Inf(-1), math.Inf(-1), math.Inf(-1)
	for _, s := range shapes {
		for _, p := range s.points {
			minX, maxX = math.Min(minX, p.X), math.Max(maxX, p.X)
			minY, maxY = math.Min(minY, p.Y), math.Max(maxY, p.Y)
		}
		minZ, maxZ = math.Min(minZ, s.low), math.Max(maxZ, s.high)
	}
	extentX, extentY := extent(minX, maxX), extent(minY, maxY)
	x, y, z := size.X/extentX, size.Y/extentY, size.Z/extent(minZ, maxZ)
	centreX, centreY := minX+extentX/2, minY+extentY/2
	var out []Block
	for _, s := range shapes {
		if len(s.points) < 2 {
			continue
		}
		b := Block{Points: make([]Point, len(s.points)), Low: s.low * z, High: s.high * z}
		for j, p := range s.points {
			b.Points[j] = Point{(p.X - centreX) * x, (p.Y - centreY) * y}
		}
		out = append(out, b)
	}
	return out
}

// extent is from least to most. What has none gets the least that doubles tell
// from 1, as in Stage: a line at 0 comes to lie on the side of its box.
func extent(least, most float64) float64 {
	const epsilon = 0x1p-52
	if d := most - least; math.Abs(d) >= epsilon {
		return d
	}
	return epsilon
}

// walls returns four walls just within a body's box.
func walls(size Size, t float64) []Block {
	x, y := size.X/2, size.Y/2
	rect := func(x0, y0, x1, y1 float64) Block {
		return Block{Points: []Point{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}, High: size.Z}
	}
	return []Block{
		rect(-x, -y, -x+t, y),
		rect(-x, -y, x, -y+t),
		rect(-x, y-t, x, y),
		rect(x-t, -y, x, y),
	}
}
