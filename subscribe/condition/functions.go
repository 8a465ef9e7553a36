package condition

import (
	"math"

	"callboard/subscribe/view"
)

// Function is a function of the schema.
type Function struct {
	Name string
	Args string // as the help text shows them
	Doc  string

	// check checks a call's arguments and returns the type of its value.
	check func(*checker, call) (Type, *Error)
}

// functions in the order of the help text: first our own, then those of the
// language that conditions have.
func functionTable() []Function {
	return []Function{
		{"sector", "laser, from, to", "the nearest range between two bearings in degrees, counter-clockwise; max_range if there is none. Takes laser or sonar, also of prev", checkSector},
		{"distance", "x, y", "from the robot's position to a point, in m", checkDistance},
		{"inside", `"zone"`, "the robot's position is in a zone of the broker's configuration", checkInside},
		{"deg", "a", "degrees as rad", numbersTo(1, Float)},
		{"angle_diff", "a, b", "from bearing b to bearing a, in rad, the short way round", numbersTo(2, Float)},

		{"any", "list, predicate", "the predicate holds for some element `#`", predicateTo(Bool)},
		{"all", "list, predicate", "it holds for all", predicateTo(Bool)},
		{"none", "list, predicate", "it holds for none", predicateTo(Bool)},
		{"one", "list, predicate", "it holds for exactly one", predicateTo(Bool)},
		{"count", "list, predicate", "for how many it holds", predicateTo(Int)},
		{"filter", "list, predicate", "the elements for which it holds", checkFilter},
		{"map", "list, expression", "the expression of each element", checkMap},
		{"sum", "list", "the sum; with an expression as second argument of its values", checkSum},
		{"mean", "list", "the mean", listTo(Float)},
		{"median", "list", "the median", listTo(Float)},
		{"min", "list or numbers", "the least", checkExtreme},
		{"max", "list or numbers", "the greatest", checkExtreme},
		{"len", "list or text", "how many elements or characters", checkLen},
		{"abs", "a", "without its sign", checkAbs},
		{"floor", "a", "rounded down", numbersTo(1, Float)},
		{"ceil", "a", "rounded up", numbersTo(1, Float)},
		{"round", "a", "rounded", numbersTo(1, Float)},
		{"int", "a", "without what is behind the point", checkConvert(Int)},
		{"float", "a", "as a number with a point", checkConvert(Float)},
		{"lower", "text", "in lower case", textsTo(1, String)},
		{"upper", "text", "in upper case", textsTo(1, String)},
		{"trim", "text", "without blanks around it", textsTo(1, String)},
		{"hasPrefix", "text, start", "the text begins so", textsTo(2, Bool)},
		{"hasSuffix", "text, end", "the text ends so", textsTo(2, Bool)},
	}
}

// findFunction finds a function by name.
func findFunction(name string) *Function {
	table := functionTable()
	for k := range table {
		if table[k].Name == name {
			return &table[k]
		}
	}
	return nil
}

// ours are the functions that are not the language's own.
func ours(name string) bool {
	switch name {
	case "sector", "distance", "inside", "deg", "angle_diff":
		return true
	}
	return false
}

// Radians converts degrees to rad.
func radians(degrees float64) float64 { return degrees * (math.Pi / 180) }

// angleDiff is a − b, wrapped to (−π, π].
func angleDiff(a, b float64) float64 {
	d := math.Remainder(a-b, 2*math.Pi)
	if d <= -math.Pi {
		d += 2 * math.Pi
	}
	return d
}

// sectorOf is the nearest range of a laser or sonar between two bearings in
// degrees.
func sectorOf(v view.View, from, to float64) float64 {
	switch v := v.(type) {
	case *view.Laser:
		return v.Sector(from, to)
	case *view.Sonar:
		return v.Sector(from, to)
	}
	return math.NaN()
}
