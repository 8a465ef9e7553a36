package condition

import "callboard/subscribe/view"

// The schema says all that a condition may name. Checks, evaluation and the
// help text follow it; a test holds it against the fields that expr sees.

// Attribute is a value of a view.
type Attribute struct {
	view.Field
	Type Type
}

// Interface is a kind of view and its attributes.
type Interface struct {
	Kind       view.Kind
	Attributes []Attribute
}

// Name returns the name that conditions use.
func (i *Interface) Name() string { return i.Kind.String() }

// interfaces are what the views have, by kind.
var interfaces = makeInterfaces()

func makeInterfaces() []Interface {
	all := make([]Interface, view.NumKinds)
	for k := range all {
		all[k].Kind = view.Kind(k)
		for _, f := range all[k].Kind.Fields() {
			all[k].Attributes = append(all[k].Attributes, Attribute{f, typeOf(&f)})
		}
	}
	return all
}

func typeOf(f *view.Field) Type {
	switch {
	case f.Float != nil:
		return Float
	case f.Int != nil:
		return Int
	case f.Bool != nil:
		return Bool
	case f.Text != nil:
		return String
	case f.Floats != nil:
		return Floats
	}
	return Texts
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
