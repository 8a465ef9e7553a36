package condition

import "callboard/subscribe/view"

// The schema says all that a condition may name. Checks, evaluation and the
// help text follow it; a test holds it against the fields that expr sees.

// Attribute is a value of a view.
type Attribute struct {
	Name string
	Type Type
	Unit string // "" for none
	Doc  string

	// One of these, by the type, reads it from a state that has the view.
	float  func(*view.State) float64
	int    func(*view.State) int
	truth  func(*view.State) bool
	floats func(*view.State) []float64
}

// Interface is a kind of view and its attributes.
type Interface struct {
	Kind       view.Kind
	Doc        string
	Attributes []Attribute
}

// Name gives the name that conditions use.
func (i *Interface) Name() string { return i.Kind.String() }

func floatOf(name, unit, doc string, get func(*view.State) float64) Attribute {
	return Attribute{Name: name, Type: Float, Unit: unit, Doc: doc, float: get}
}

func intOf(name, doc string, get func(*view.State) int) Attribute {
	return Attribute{Name: name, Type: Int, Doc: doc, int: get}
}

func truthOf(name, doc string, get func(*view.State) bool) Attribute {
	return Attribute{Name: name, Type: Bool, Doc: doc, truth: get}
}

func floatsOf(name, unit, doc string, get func(*view.State) []float64) Attribute {
	return Attribute{Name: name, Type: Floats, Unit: unit, Doc: doc, floats: get}
}

var interfaces = []Interface{laserSchema, sonarSchema, positionSchema}

var laserSchema = Interface{
	Kind: view.KindLaser,
	Doc:  "scans: of lasers, and of rangers with one element",
	Attributes: []Attribute{
		floatsOf("ranges", "m", "the ranges; what is not finite or beyond the maximum is max_range", func(s *view.State) []float64 { return s.Laser.Ranges }),
		floatsOf("intensities", "", "the intensities, if the device gives any", func(s *view.State) []float64 { return s.Laser.Intensities }),
		intOf("count", "how many ranges", func(s *view.State) int { return s.Laser.Count }),
		floatOf("min", "m", "the nearest range; max_range for an empty scan", func(s *view.State) float64 { return s.Laser.Min }),
		floatOf("max", "m", "the farthest range; max_range for an empty scan", func(s *view.State) float64 { return s.Laser.Max }),
		floatOf("bearing", "rad", "the bearing of the nearest; 0 for an empty scan", func(s *view.State) float64 { return s.Laser.Bearing }),
		floatOf("angle_min", "rad", "the bearing of the first range", func(s *view.State) float64 { return s.Laser.AngleMin }),
		floatOf("angle_max", "rad", "the bearing of the last range", func(s *view.State) float64 { return s.Laser.AngleMax }),
		floatOf("resolution", "rad", "from one bearing to the next", func(s *view.State) float64 { return s.Laser.Resolution }),
		floatOf("max_range", "m", "the maximum of the device", func(s *view.State) float64 { return s.Laser.MaxRange }),
		floatOf("front", "m", "the nearest within ±30°", func(s *view.State) float64 { return s.Laser.Front }),
		floatOf("left", "m", "the nearest from 30° to 90°", func(s *view.State) float64 { return s.Laser.Left }),
		floatOf("right", "m", "the nearest from -90° to -30°", func(s *view.State) float64 { return s.Laser.Right }),
		floatOf("time", "s", "the time of the scan", func(s *view.State) float64 { return s.Laser.Time }),
		intOf("index", "the index of the device", func(s *view.State) int { return s.Laser.Index }),
	},
}

var sonarSchema = Interface{
	Kind: view.KindSonar,
	Doc:  "rings of ranges: of sonars, and of rangers with several elements",
	Attributes: []Attribute{
		floatsOf("ranges", "m", "the ranges, one for each element", func(s *view.State) []float64 { return s.Sonar.Ranges }),
		intOf("count", "how many ranges", func(s *view.State) int { return s.Sonar.Count }),
		floatOf("min", "m", "the nearest range", func(s *view.State) float64 { return s.Sonar.Min }),
		floatOf("max", "m", "the farthest range", func(s *view.State) float64 { return s.Sonar.Max }),
		intOf("nearest", "the number of the nearest element, from 0; -1 if there is none", func(s *view.State) int { return s.Sonar.Nearest }),
		floatOf("bearing", "rad", "the bearing of the nearest element", func(s *view.State) float64 { return s.Sonar.Bearing }),
		floatOf("time", "s", "the time of the reading", func(s *view.State) float64 { return s.Sonar.Time }),
		intOf("index", "the index of the device", func(s *view.State) int { return s.Sonar.Index }),
	},
}

var positionSchema = Interface{
	Kind: view.KindPosition,
	Doc:  "odometry: where the robot believes to be, and how fast it goes",
	Attributes: []Attribute{
		floatOf("x", "m", "position", func(s *view.State) float64 { return s.Position.X }),
		floatOf("y", "m", "position", func(s *view.State) float64 { return s.Position.Y }),
		floatOf("yaw", "rad", "heading", func(s *view.State) float64 { return s.Position.Yaw }),
		floatOf("vx", "m/s", "speed forward", func(s *view.State) float64 { return s.Position.VX }),
		floatOf("vy", "m/s", "speed to the left", func(s *view.State) float64 { return s.Position.VY }),
		floatOf("vyaw", "rad/s", "speed of turning", func(s *view.State) float64 { return s.Position.VYaw }),
		floatOf("speed", "m/s", "speed in any direction", func(s *view.State) float64 { return s.Position.Speed }),
		truthOf("stall", "the motors are stalled", func(s *view.State) bool { return s.Position.Stall }),
		floatOf("time", "s", "the time of the reading", func(s *view.State) float64 { return s.Position.Time }),
		intOf("index", "the index of the device", func(s *view.State) int { return s.Position.Index }),
	},
}

// attribute finds an attribute by name.
func (i *Interface) attribute(name string) *Attribute {
	for k := range i.Attributes {
		if i.Attributes[k].Name == name {
			return &i.Attributes[k]
		}
	}
	return nil
}

// findInterface finds an interface by name.
func findInterface(name string) *Interface {
	for k := range interfaces {
		if interfaces[k].Name() == name {
			return &interfaces[k]
		}
	}
	return nil
}

// Variable is a name that stands alone: of the arriving reading.
type Variable struct {
	Name string
	Type Type
	Unit string
	Doc  string

	float func(*Env) float64
	int   func(*Env) int
	text  func(*Env) string
}

var variables = []Variable{
	{Name: "robot", Type: String, Doc: "the robot's name", text: func(e *Env) string { return e.Robot }},
	{Name: "world", Type: String, Doc: "the world it is in", text: func(e *Env) string { return e.World }},
	{Name: "interface", Type: String, Doc: "the device's interface, as Player names it: \"ranger\", \"laser\", …", text: func(e *Env) string { return e.Interface }},
	{Name: "index", Type: Int, Doc: "the device's index", int: func(e *Env) int { return e.Index }},
	{Name: "time", Type: Float, Unit: "s", Doc: "the reading's time, as Player gives it", float: func(e *Env) float64 { return e.Time }},
}

func findVariable(name string) *Variable {
	for k := range variables {
		if variables[k].Name == name {
			return &variables[k]
		}
	}
	return nil
}

// refused are names of the language that conditions do not have, and why.
var refused = map[string]string{
	"$env":     "conditions name what they need, such as `laser.min`",
	"get":      "name the value itself, such as `laser.min` or `laser.ranges[0]`",
	"now":      "conditions know no clock, only the readings' `time`",
	"date":     "conditions know no clock, only the readings' `time`",
	"duration": "times are numbers, in seconds",
	"timezone": "times are numbers, in seconds",
	"reduce":   "use `sum`, `count`, `any` or `all`",
	"first":    "write `laser.ranges[0]`",
	"last":     "write `laser.ranges[-1]`",
	"find":     "use `any`, or `count`",
	"nil":      "nothing is ever missing in a condition that is tested",
}
