package worldfile

import (
	"callboard/player/problem"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"
)

// modelType is what a built-in type of model begins with.
type modelType struct {
	size   Size
	color  color.NRGBA
	body   bool
	old    bool // of Stage 3 or older
	inert  bool // stands, but does nothing
	silent bool // its inertness is not worth a word
}

var (
	red   = color.NRGBA{255, 0, 0, 255}
	navy  = color.NRGBA{0, 0, 128, 255}
	plain = Size{0.4, 0.4, 1}
)

// modelTypes are the types of Stage 4 and, with what they mean now, older ones.
var modelTypes = map[string]modelType{
	"model":          {size: plain, color: red, body: true},
	"position":       {size: plain, color: red, body: true},
	"ranger":         {size: Size{0.15, 0.15, 0.2}, color: navy},
	"fiducial":       {color: red},
	"blobfinder":     {size: plain, color: red},
	"bumper":         {size: plain, color: red, body: true},
	"gripper":        {size: Size{0.2, 0.3, 0.2}, color: color.NRGBA{77, 77, 77, 255}, body: true},
	"camera":         {size: Size{0.1, 0.07, 0.05}, color: color.NRGBA{0, 0, 0, 255}, body: true, inert: true},
	"actuator":       {size: plain, color: red, body: true},
	"blinkenlight":   {size: Size{0.02, 0.02, 0.02}, color: color.NRGBA{0, 255, 0, 255}, body: true, inert: true, silent: true},
	"lightindicator": {size: plain, color: red, body: true, inert: true, silent: true},

	"laser":          {size: Size{0.15, 0.15, 0.2}, color: color.NRGBA{176, 196, 222, 255}, body: true, old: true},
	"sonar":          {size: Size{0.15, 0.15, 0.2}, color: navy, old: true},
	"map":            {size: plain, color: red, body: true, old: true},
	"bitmap":         {size: plain, color: red, body: true, old: true},
	"box":            {size: plain, color: red, body: true, old: true},
	"puck":           {size: Size{0.1, 0.1, 0.1}, color: red, body: true, old: true},
	"charger":        {size: plain, color: red, body: true, old: true, inert: true},
	"ptz":            {color: red, old: true, inert: true},
	"wifi":           {color: red, old: true, inert: true},
	"speech":         {color: red, old: true, inert: true},
	"audio":          {color: red, old: true, inert: true},
	"energy":         {color: red, old: true, inert: true},
	"power":          {color: red, old: true, inert: true},
	"vision":         {color: red, old: true, inert: true},
	"lbd":            {color: red, old: true, inert: true},
	"gps":            {color: red, old: true, inert: true},
	"truth":          {color: red, old: true, inert: true},
	"broadcast":      {color: red, old: true, inert: true},
	"fiducialfinder": {color: red, old: true},
}

// topLevel makes the models of the top level; counts holds how many of each
// type there were.
func (in *interpreter) topLevel(entities []*Entity, counts map[string]int) {
	for _, e := range entities {
		switch e.Type {
		case "window", "gui", "environment":
			// Models in a window are made like any others; the rest of it is
			// for the eye only.
			var models []*Entity
			for _, c := range e.Children {
				if _, ok := modelTypes[c.Type]; ok {
					models = append(models, c)
				}
			}
			in.topLevel(models, counts)
		default:
			if m := in.model(e, nil, counts); m != nil {
				in.world.Models = append(in.world.Models, m)
			}
		}
	}
}

// model makes a model and those below it; nil after an error.
func (in *interpreter) model(e *Entity, parent *Model, counts map[string]int) *Model {
	typ, ok := modelTypes[e.Type]
	if !ok {
		// Old files, and those for somebody's own Stage, name types that lived
		// elsewhere; the rest of the robot still loads. A slip of the pen does not.
		hint := didYouMean(e.Type, typeNames())
		foreign := in.dialect < 4 || parent != nil && hint == ""
		if !foreign || e.Type == "block" || e.Type == "sensor" {
			in.unknownType(e, hint)
			return nil
		}
		typ = modelType{color: red, old: true, inert: true}
	}
	if typ.old {
		in.once("type "+e.Type, e.Pos, "type %q is not one of Stage 4: %s", e.Type, oldMeaning(e.Type, typ))
	} else if typ.inert && !typ.silent {
		in.once("type "+e.Type, e.Pos, "type %q is not simulated: what body it has stands, and it gives no data", e.Type)
	}
	m := &Model{Pos: e.Pos, Type: e.Type, Parent: parent}
	in.nameOf(m, e, counts)
	in.common(m, e, typ)
	in.special(m, e)
	children := map[string]int{}
	for _, c := range e.Children {
		if in.part(m, c) {
			continue
		}
		if child := in.model(c, m, children); child != nil {
			m.Children = append(m.Children, child)
		}
	}
	in.unread(e, knownModel)
	return m
}

// part reports whether c is part of m rather than a model on it, and checks that
// it may be. What it says was read with m.
func (in *interpreter) part(m *Model, c *Entity) bool {
	switch c.Type {
	case "block":
		return true
	case "sensor":
		if m.Type != "ranger" && m.Type != "sonar" {
			in.Errorf(c.Pos, "sensor cannot stand in a %s; expected it in a ranger", m.Type)
		}
		return true
	}
	return false
}

func oldMeaning(name string, t modelType) string {
	switch name {
	case "laser":
		return "it is taken for a ranger with one sensor"
	case "sonar":
		return "it is taken for a ranger"
	case "fiducialfinder":
		return "it is taken for a fiducial"
	}
	if t.inert {
		return "it is kept without data"
	}
	return "it is taken for a model"
}

// typeNames returns the names of Stage 4's types.
func typeNames() []string {
	names := []string{"window", "block", "sensor"}
	for name, t := range modelTypes {
		if !t.old {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (in *interpreter) unknownType(e *Entity, hint string) {
	switch {
	case e.Type == "block" || e.Type == "sensor":
		in.Errorf(e.Pos, "%s stands outside a model", e.Type)
	case e.Word != e.Type:
		in.Errorf(e.Pos, "unknown model type %q, which %q is defined from%s", problem.Short(e.Type), problem.Short(e.Word), hint)
	default:
		in.Errorf(e.Pos, "unknown model type %q; expected a type or a macro defined before%s", problem.Short(e.Type), hint)
	}
}

// nameOf returns the model its names: the automatic one counts all of its type
// under the same parent, named ones too.
func (in *interpreter) nameOf(m *Model, e *Entity, counts map[string]int) {
	n := counts[m.Type]
	counts[m.Type]++
	prefix := ""
	if m.Parent != nil {
		prefix = m.Parent.Name + "."
	}
	m.Auto = fmt.Sprintf("%s%s:%d", prefix, m.Type, n)
	m.Name = m.Auto
	switch given := in.text(e, "name", ""); {
	case strings.HasPrefix(given, "/"):
		m.Name = given[1:]
	case given != "":
		m.Name = prefix + given
	}
}

// common reads what all types share.
func (in *interpreter) common(m *Model, e *Entity, typ modelType) {
	m.Pose = in.pose(e, "pose", Pose{})
	m.Origin = in.pose(e, "origin", Pose{})
	m.Size = in.size(e, "size", typ.size)
	if p := e.Get("size3"); p != nil {
		m.Size = in.size(e, "size3", typ.size)
	}
	m.Color = in.colorOf(e, typ.color)
	m.StackChildren = in.flag(e, "stack_children", in.dialect > 2)
	m.Obstacle = in.flag(e, "obstacle_return", true)
	m.RangerReturn = in.rangerReturn(e)
	m.BlobReturn = in.flag(e, "blob_return", true)
	m.FiducialReturn = in.integer(e, "fiducial_return", 0)
	m.FiducialKey = in.integer(e, "fiducial_key", 0)
	m.GripperReturn = in.flag(e, "gripper_return", false)
	m.Mass = in.number(e, "mass", 0)
	m.Watts = in.number(e, "watts", 0)
	m.GiveWatts = in.number(e, "give_watts", 0)
	m.TakeWatts = in.number(e, "take_watts", 0)
	m.Pack = in.pack(e)
	m.MapResolution = in.number(e, "map_resolution", 0.1)
	m.Interval = in.milliseconds(e, "update_interval", 100).Truncate(time.Millisecond) // whole ones, as in Stage
	if m.Interval < time.Microsecond {
		in.Errorf(e.Get("update_interval").Pos, "update_interval is %v; expected at least 1 ms", m.Interval)
	}
	m.AlwaysOn = in.flag(e, "alwayson", false)
	if p := e.Get("ctrl"); p != nil {
		in.once("ctrl", p.Pos, "ctrl names a plug-in of Stage, which does not run here")
	}
	m.Body = in.body(m, e, typ.body)
}

// rangerReturn returns the reflectance; an old laser_return stands for it unless
// the file gives both.
func (in *interpreter) rangerReturn(e *Entity) float64 {
	if p := e.Get("ranger_return"); p != nil || in.dialect > 3 {
		r := in.number(e, "ranger_return", 1)
		if in.dialect > 3 || r != 0 {
			return r
		}
		return -1
	}
	p := e.Get("laser_return")
	if p == nil || len(p.Values) == 0 {
		return 1
	}
	in.once("laser_return", p.Pos, "laser_return is of Stage 3 or older: 0 is taken for ranger_return -1, 1 for 0, 2 for 1")
	switch n := in.integer(e, "laser_return", 1); {
	case n <= 0:
		return -1
	case n == 1:
		return 0
	}
	return 1
}

// pack reads the model's power pack, nil without one. A pack whose capacity
// alone is given is empty.
func (in *interpreter) pack(e *Entity) *Pack {
	var p *Pack
	for _, unit := range [...]struct {
		prefix string
		joules float64
	}{{"", 1}, {"k", 1000}} {
		charge, capacity := unit.prefix+"joules", unit.prefix+"joules_capacity"
		if e.Get(charge) == nil && e.Get(capacity) == nil {
			continue
		}
		if p == nil {
			p = &Pack{}
		}
		if e.Get(charge) != nil {
			p.Joules = unit.joules * in.number(e, charge, 0)
			p.Capacity = p.Joules
		}
		p.Capacity = unit.joules * in.number(e, capacity, p.Capacity/unit.joules)
		p.Joules = math.Min(p.Joules, p.Capacity)
	}
	return p
}

// special reads what a type has beyond the common.
func (in *interpreter) special(m *Model, e *Entity) {
	switch m.Type {
	case "position":
		m.Position = in.position(e)
	case "ranger", "sonar":
		m.Ranger = in.ranger(m, e)
	case "laser":
		m.Ranger = in.laser(m, e)
	case "fiducial", "fiducialfinder":
		m.Fiducial = &Fiducial{
			MaxRange:   in.lengthOf(e, "range_max", 8),
			MaxRangeID: in.lengthOf(e, "range_max_id", 5),
			MinRange:   in.lengthOf(e, "range_min", 0),
			FOV:        in.angleOf(e, "fov", math.Pi),
			IgnoreZ:    in.flag(e, "ignore_zloc", false),
		}
	case "blobfinder":
		m.Blobfinder = in.blobfinder(e)
	case "bumper":
		m.Bumper = in.bumper(e)
	case "gripper":
		m.Gripper = in.gripper(e)
		if !m.Gripper.Fixed {
			closed, lift := m.Gripper.Opening()
			m.Body = m.Gripper.Blocks(m.Size, closed, lift)
		}
	case "actuator":
		m.Actuator = in.actuator(m, e)
		in.once("type actuator", e.Pos, "an actuator stands where it starts: as in Stage 4, no command moves it")
	}
}

func (in *interpreter) position(e *Entity) *Position {
	p := &Position{
		Wheelbase:    in.lengthOf(e, "wheelbase", 1),
		Velocity:     in.pose(e, "velocity", Pose{}),
		Velocities:   in.bounds(e, "velocity_bounds"),
		Acceleration: in.bounds(e, "acceleration_bounds"),
	}
	switch drive := in.text(e, "drive", "diff"); drive {
	case "diff":
	case "omni":
		p.Drive = Omnidirectional
	case "car":
		p.Drive = Car
	default:
		in.Warnf(e.Get("drive").Pos, "drive %q is unknown; expected \"diff\", \"omni\" or \"car\", diff is taken", problem.Short(drive))
	}
	if p.Wheelbase <= 0 {
		in.Errorf(e.Get("wheelbase").Pos, "wheelbase is %v m; expected more than 0", p.Wheelbase)
		p.Wheelbase = 1
	}
	switch l := in.text(e, "localization", "gps"); l {
	case "gps":
	case "odom":
		p.Odometry = true
	default:
		in.Warnf(e.Get("localization").Pos, "localization %q is unknown; expected \"gps\" or \"odom\", gps is taken", problem.Short(l))
	}
	if e.Get("localization_origin") != nil {
		o := in.pose(e, "localization_origin", Pose{})
		p.Origin = &o
	}
	p.OdomError = in.odomError(e)
	return p
}

// odomError returns the four proportions [x y z a]; the last is an angle. Three
// are x, y and heading.
func (in *interpreter) odomError(e *Entity) *Pose {
	p := e.Get("odom_error")
	if p == nil {
		return nil
	}
	switch n := len(p.Values); {
	case n >= 4:
		return &Pose{in.metres(p, 0), in.metres(p, 1), in.metres(p, 2), in.value(p, 3) * in.angle}
	case n == 3:
		in.once("odom3", p.Pos, "odom_error has 3 values, as in Stage 2: x, y and heading are taken; Stage 4 expects [x y z heading]")
		return &Pose{X: in.metres(p, 0), Y: in.metres(p, 1), A: in.value(p, 2) * in.angle}
	default:
		in.Errorf(p.Pos, "odom_error has %d values; expected [x y z heading]", n)
	}
	return nil
}

// bounds returns eight limits. Files of Stage 2 and 3 know none.
func (in *interpreter) bounds(e *Entity, name string) Bounds {
	b := Bounds{-1, 1, -1, 1, -1, 1, -math.Pi / 2, math.Pi / 2}
	if in.dialect < 4 {
		const most = 1e6
		b = Bounds{-most, most, -most, most, -most, most, -most, most}
	}
	p := in.tuple(e, name, 8, "[xmin xmax ymin ymax zmin zmax amin amax]")
	if p == nil {
		return b
	}
	return Bounds{
		in.metres(p, 0), in.metres(p, 1), in.metres(p, 2), in.metres(p, 3),
		in.metres(p, 4), in.metres(p, 5), in.value(p, 6) * in.angle, in.value(p, 7) * in.angle,
	}
}

func (in *interpreter) blobfinder(e *Entity) *Blobfinder {
	b := &Blobfinder{
		Width: 80, Height: 60, Any: true,
		Range: in.number(e, "range", 12),
		FOV:   in.angleOf(e, "fov", math.Pi/3),
		Pan:   in.angleOf(e, "pan", 0),
	}
	if p := in.tuple(e, "image", 2, "[columns rows]"); p != nil {
		b.Width, b.Height = int(in.value(p, 0)), int(in.value(p, 1))
		if b.Width < 0 || b.Height < 0 || b.Width > 10000 || b.Height > 10000 {
			in.Errorf(p.Pos, "image is %d x %d pixels; expected 0 to 10000", b.Width, b.Height)
			b.Width, b.Height = 80, 60
		}
	}
	if p := e.Get("colors"); p != nil {
		b.Any = false
		n := in.integer(e, "colors_count", in.integer(e, "channel_count", 0))
		for i := 0; i < n && i < len(p.Values); i++ {
			c, _ := in.namedColor(p, p.Values[i])
			b.Colors = append(b.Colors, c)
		}
	}
	return b
}

func (in *interpreter) bumper(e *Entity) *Bumper {
	n := in.integer(e, "bcount", 0)
	if n < 0 || n > 1000 {
		in.Errorf(e.Get("bcount").Pos, "bcount is %d; expected 0 to 1000", n)
		return &Bumper{}
	}
	length := in.lengthOf(e, "blength", 0)
	b := &Bumper{}
	for i := 0; i < n; i++ {
		b.Bumpers = append(b.Bumpers, BumperLine{
			Pose:   in.pose(e, fmt.Sprintf("bpose[%d]", i), Pose{}),
			Length: in.lengthOf(e, fmt.Sprintf("blength[%d]", i), length),
		})
	}
	return b
}
