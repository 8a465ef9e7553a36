package worldfile

import (
	"callboard/player/problem"
	_ "embed"
	"image/color"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// colorTable is the X11 colour list: red, green, blue and name in each line.
//
//go:embed colors.txt
var colorTable string

// colorNames returns the X11 colours by name; the table is made when first needed.
func (in *interpreter) colorNames() map[string]color.NRGBA {
	if in.colors == nil {
		in.colors = ColorNames()
	}
	return in.colors
}

// ColorNames makes a table of the X11 colours by name, as world files use them.
func ColorNames() map[string]color.NRGBA {
	out := map[string]color.NRGBA{}
	for line := range strings.Lines(colorTable) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(f) < 4 {
			continue
		}
		var v [3]uint8
		for i := range v {
			n, _ := strconv.ParseUint(f[i], 10, 8)
			v[i] = uint8(n)
		}
		if _, taken := out[f[3]]; !taken {
			out[f[3]] = color.NRGBA{v[0], v[1], v[2], 255}
		}
	}
	return out
}

// colorOf reads color or, in its absence, color_rgba.
func (in *interpreter) colorOf(e *Entity, otherwise color.NRGBA) color.NRGBA {
	rgba := e.Get("color_rgba")
	if p := e.Get("color"); p != nil && len(p.Values) > 0 {
		c, _ := in.namedColor(p, p.Values[0])
		return c
	}
	if rgba == nil {
		return otherwise
	}
	if rgba = in.tuple(e, "color_rgba", 4, "[red green blue alpha], each 0 to 1"); rgba == nil {
		return otherwise
	}
	part := func(i int) uint8 { return uint8(math.Round(255 * math.Max(0, math.Min(1, in.value(rgba, i))))) }
	return color.NRGBA{part(0), part(1), part(2), part(3)}
}

// namedColor returns a colour of the list; what is not in it is red.
func (in *interpreter) namedColor(p *Property, name string) (color.NRGBA, bool) {
	if c, ok := in.colorNames()[name]; ok {
		return c, true
	}
	switch name {
	case "":
		return red, true
	case "random":
		r := rand.New(rand.NewPCG(uint64(p.Pos.Line), uint64(len(in.List))))
		return color.NRGBA{uint8(r.UintN(256)), uint8(r.UintN(256)), uint8(r.UintN(256)), 255}, true
	}
	if in.told["colour "+name] {
		return red, false
	}
	in.once("colour "+name, p.Pos, "colour %q is unknown; expected a name of the X11 list, red is taken%s", problem.Short(name), didYouMean(name, slices.Sorted(maps.Keys(in.colorNames()))))
	return red, false
}
