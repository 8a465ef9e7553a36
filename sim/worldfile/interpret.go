package worldfile

import (
	"callboard/player/problem"
	"callboard/player/problem/lexer"
	"image/color"
	"math"
	"path"
	"strings"
	"time"
)

// maxLength is the largest length or coordinate that a file may give, m.
const maxLength = 1e6

// interpreter turns a parsed File into a World.
type interpreter struct {
	file     *File
	open     Open
	world    *World
	length   float64 // m of a unit
	angle    float64 // rad of a unit
	dialect  int
	pictures map[string]*picture
	colors   map[string]color.NRGBA // by X11 name, made when first needed
	budget   int                    // outline points that pictures may still make
	told     map[string]bool        // notices that are given once
	problem.List
}

// interpret returns the World that f describes.
func interpret(f *File, open Open) (*World, problem.List) {
	in := &interpreter{
		file: f, open: open, length: 1, angle: math.Pi / 180,
		pictures: map[string]*picture{}, budget: maxOutlinePoints, told: map[string]bool{},
	}
	in.dialect = dialectOf(&f.World)
	in.settings(&f.World)
	counts := map[string]int{"model": 1} // the ground is model:0
	in.topLevel(f.World.Children, counts)
	in.unread(&f.World, knownWorld)
	return in.world, in.List
}

// once warns unless a warning of that kind was given before.
func (in *interpreter) once(kind string, pos problem.Place, format string, args ...any) {
	if !in.told[kind] {
		in.told[kind] = true
		in.Warnf(pos, format, args...)
	}
}

// settings reads the properties of the top level.
func (in *interpreter) settings(e *Entity) {
	switch in.text(e, "unit_length", "m") {
	case "m":
	case "cm":
		in.length = 0.01
	case "mm":
		in.length = 0.001
	default:
		in.Warnf(e.Get("unit_length").Pos, "unit_length %q is unknown; expected \"m\", \"cm\" or \"mm\", m is taken", problem.Short(in.text(e, "unit_length", "")))
	}
	switch in.text(e, "unit_angle", "degrees") {
	case "degrees":
	case "radians":
		in.angle = 1
	default:
		in.Warnf(e.Get("unit_angle").Pos, "unit_angle %q is unknown; expected \"degrees\" or \"radians\", degrees are taken", problem.Short(in.text(e, "unit_angle", "")))
	}
	w := &World{File: in.file.Name, Dialect: in.dialect, Speed: 1}
	in.world = w
	w.Name = in.text(e, "name", path.Base(in.file.Name))
	w.Interval = in.milliseconds(e, "interval_sim", 100)
	if w.Interval < time.Microsecond {
		in.Errorf(e.Get("interval_sim").Pos, "interval_sim is %v; expected more than 0 ms", w.Interval)
	}
	w.QuitTime = in.quitTime(e)
	w.Resolution = in.number(e, "resolution", 0.02)
	if !(w.Resolution >= 1e-4) {
		in.Errorf(e.Get("resolution").Pos, "resolution is %v m; expected at least 0.0001", w.Resolution)
	}
	w.Speed = in.speed(e, w.Interval)
	if p := e.Get("test"); p != nil && in.integer(e, "test", 0) != 0 {
		in.Warnf(p.Pos, "test is set: Stage would show how it reads the file and refuse to run it")
	}
}

// quitTime is the simulated time after which Stage ends. Nothing, what is below
// 0 and what a Duration cannot hold never comes.
func (in *interpreter) quitTime(e *Entity) time.Duration {
	s := in.number(e, "quit_time", 0)
	if s <= 0 || s > math.MaxInt64/float64(time.Second) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

// speed is the multiple of real time that the author wanted: speedup, or in
// files of Stage 3 the quotient of the intervals. A world in which the programs
// of its robots are to live cannot ask for as fast as possible.
func (in *interpreter) speed(e *Entity, interval time.Duration) float64 {
	asked, speed := e.Get("speedup"), 0.0
	if asked != nil {
		speed = in.number(e, "speedup", 1)
	} else if asked = e.Get("interval_real"); asked == nil {
		return 1
	} else if real := in.number(e, "interval_real", 100); real > 1 {
		speed = interval.Seconds() * 1000 / real
	}
	if speed > 0 {
		return speed
	}
	in.Warnf(asked.Pos, "%s %s means as fast as possible in Stage's window; expected a multiple of real time, 1 is taken: ask for more when the world is run (--speed max)",
		asked.Name, problem.Short(strings.Join(asked.Values, " ")))
	return 1
}

// text returns a property's first value.
func (in *interpreter) text(e *Entity, name, otherwise string) string {
	p := e.Get(name)
	if p == nil || len(p.Values) == 0 {
		return otherwise
	}
	return p.Values[0]
}

// value returns the i-th value of a property as a number.
func (in *interpreter) value(p *Property, i int) float64 {
	v, whole := lexer.Float(p.Values[i])
	if !whole {
		in.Warnf(p.Pos, "%q in %s is no number; it counts as %v, as in Stage", problem.Short(p.Values[i]), p.Name, v)
	}
	if math.Abs(v) > 1e12 || math.IsInf(v, 0) {
		in.Errorf(p.Pos, "%s of %s is too large", problem.Short(p.Values[i]), p.Name)
		return 0
	}
	return v
}

// number returns a property's first value as a number.
func (in *interpreter) number(e *Entity, name string, otherwise float64) float64 {
	p := e.Get(name)
	if p == nil || len(p.Values) == 0 {
		return otherwise
	}
	return in.value(p, 0)
}

// integer returns a property's first value as C's atoi reads it.
func (in *interpreter) integer(e *Entity, name string, otherwise int) int {
	p := e.Get(name)
	if p == nil || len(p.Values) == 0 {
		return otherwise
	}
	v := math.Trunc(in.value(p, 0))
	if math.Abs(v) > math.MaxInt32 {
		in.Errorf(p.Pos, "%s of %s is too large", problem.Short(p.Values[0]), name)
		return otherwise
	}
	return int(v)
}

func (in *interpreter) flag(e *Entity, name string, otherwise bool) bool {
	if p := e.Get(name); p == nil || len(p.Values) == 0 {
		return otherwise
	}
	return in.integer(e, name, 0) != 0
}

// lengthOf returns a property's first value in m.
func (in *interpreter) lengthOf(e *Entity, name string, otherwise float64) float64 {
	p := e.Get(name)
	if p == nil || len(p.Values) == 0 {
		return otherwise
	}
	return in.metres(p, 0)
}

func (in *interpreter) angleOf(e *Entity, name string, otherwise float64) float64 {
	p := e.Get(name)
	if p == nil || len(p.Values) == 0 {
		return otherwise
	}
	return in.value(p, 0) * in.angle
}

// metres returns the i-th value of a property as a length.
func (in *interpreter) metres(p *Property, i int) float64 {
	v := in.value(p, i) * in.length
	if math.Abs(v) > maxLength {
		in.Errorf(p.Pos, "%s of %s is %v m; expected at most %v", problem.Short(p.Values[i]), p.Name, v, maxLength)
		return 0
	}
	return v
}

func (in *interpreter) milliseconds(e *Entity, name string, otherwise float64) time.Duration {
	ms := in.number(e, name, otherwise)
	if ms < 0 || ms > 1e9 {
		in.Errorf(e.Get(name).Pos, "%s is %v ms; expected 0 to 1000000000", name, ms)
		return time.Duration(otherwise) * time.Millisecond
	}
	return time.Duration(ms * float64(time.Millisecond))
}

// pose returns a property [x y z heading]; three values are x, y and heading, two
// x and y, as Stage 2 has them.
func (in *interpreter) pose(e *Entity, name string, otherwise Pose) Pose {
	p := e.Get(name)
	if p == nil {
		return otherwise
	}
	out := otherwise
	switch n := len(p.Values); {
	case n >= 4:
		out = Pose{in.metres(p, 0), in.metres(p, 1), in.metres(p, 2), in.value(p, 3) * in.angle}
	case n == 3:
		in.once("pose3", p.Pos, "%s has 3 values, as in Stage 2: x, y and heading are taken; Stage 4 expects [x y z heading]", name)
		out = Pose{in.metres(p, 0), in.metres(p, 1), 0, in.value(p, 2) * in.angle}
	case n == 2:
		in.once("pose2", p.Pos, "%s has 2 values: x and y are taken; expected [x y z heading]", name)
		out.X, out.Y = in.metres(p, 0), in.metres(p, 1)
	default:
		in.Errorf(p.Pos, "%s has %d values; expected [x y z heading]", name, n)
	}
	out.A = NormalizeAngle(out.A)
	return out
}

// size returns a property [x y z]; of two values z keeps its default.
func (in *interpreter) size(e *Entity, name string, otherwise Size) Size {
	p := e.Get(name)
	if p == nil {
		return otherwise
	}
	out := otherwise
	switch n := len(p.Values); {
	case n >= 3:
		out = Size{in.metres(p, 0), in.metres(p, 1), in.metres(p, 2)}
	case n == 2:
		in.once("size2", p.Pos, "%s has 2 values, as in Stage 2: x and y are taken; Stage 4 expects [x y z]", name)
		out.X, out.Y = in.metres(p, 0), in.metres(p, 1)
	default:
		in.Errorf(p.Pos, "%s has %d values; expected [x y z]", name, n)
	}
	if out.X < 0 || out.Y < 0 || out.Z < 0 {
		in.Errorf(p.Pos, "%s has a value below 0", name)
		return otherwise
	}
	return out
}

// tuple returns the values of a property that has n at least, or nil without one.
func (in *interpreter) tuple(e *Entity, name string, n int, what string) *Property {
	p := e.Get(name)
	if p == nil {
		return nil
	}
	if len(p.Values) < n {
		in.Errorf(p.Pos, "%s has %d values; expected %s", name, len(p.Values), what)
		return nil
	}
	return p
}

// dialectOf returns which Stage a file was written for.
func dialectOf(e *Entity) int {
	d := 4
	for _, c := range e.Children {
		switch {
		case c.Type == "laser", c.Type == "ranger" && has(c, "scount"), c.Type == "sonar":
			d = min(d, 3)
		case c.Type == "map" || c.Type == "gui" || c.Type == "puck":
			d = min(d, 2)
		}
		for _, p := range c.Properties {
			if p.Name == "pose" && len(p.Values) == 3 && c.Type != "sensor" || p.Name == "size" && len(p.Values) == 2 && c.Type != "window" {
				d = min(d, 2)
			}
		}
		d = min(d, dialectOf(c))
	}
	return d
}

// has reports whether an entity has a property, without counting it as read.
func has(e *Entity, name string) bool {
	for _, p := range e.Properties {
		if p.Name == name {
			return true
		}
	}
	return false
}
