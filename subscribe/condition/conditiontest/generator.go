// Package conditiontest writes random conditions, and evaluates them as plain
// expr would, to hold all that evaluates conditions to the same answers.
package conditiontest

import (
	"fmt"
	"math"
	"strconv"

	"pgregory.net/rapid"
)

// Condition draws a condition that is right, of some depth, over readings of
// all kinds.
func Condition(t *rapid.T, depth int) string { return ConditionOf(t, depth, allNames) }

// ConditionOf draws a condition over lasers, sonars, positions and what names
// has.
func ConditionOf(t *rapid.T, depth int, names Names) string {
	return generator{t, names}.bool(rapid.IntRange(0, depth).Draw(t, "depth"), false)
}

var odd = []float64{0, math.Copysign(0, -1), 1, 0.5, -1, 2, 8, math.NaN(), math.NaN(), math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 5e-324}

// Float draws a number, often an odd one.
func Float(t *rapid.T) float64 {
	return rapid.OneOf(rapid.SampledFrom(odd), rapid.Float64Range(-3, 9)).Draw(t, "float")
}

// generator writes conditions that are right.
type generator struct {
	t     *rapid.T
	names Names
}

func (g generator) pick(options ...func() string) string {
	return rapid.SampledFrom(options).Draw(g.t, "part")()
}

func (g generator) of(texts ...string) string { return rapid.SampledFrom(texts).Draw(g.t, "text") }

// bool writes an expression that is true or false; in a predicate # stands for a number.
func (g generator) bool(depth int, in bool) string {
	if depth == 0 {
		return g.pick(
			func() string {
				return g.of("true", "position.stall", "prev.position.stall", `inside("dock")`, "(laser.min < 1)", `(robot == "r1")`, "(index == 1)", "(sonar.nearest in [0, 1])")
			},
			func() string { return g.further(g.names.truths) })
	}
	d := depth - 1
	if !in && rapid.Bool().Draw(g.t, "known") {
		return g.known()
	}
	compare := func() string {
		return "(" + g.number(d, in) + g.of(" < ", " <= ", " > ", " >= ", " == ", " != ") + g.number(d, in) + ")"
	}
	options := []func() string{
		compare, compare,
		func() string {
			return "(" + g.bool(d, in) + g.of(" && ", " || ", " and ", " or ", " == ", " != ") + g.bool(d, in) + ")"
		},
		func() string { return g.of("!", "not ") + "(" + g.bool(d, in) + ")" },
		func() string { return "(" + g.bool(d, in) + " ? " + g.bool(d, in) + " : " + g.bool(d, in) + ")" },
		func() string {
			return "(robot " + g.of("==", "!=", "<", "contains", "startsWith", "endsWith", "matches") + g.of(` "r1"`, ` "r"`, ` ""`) + ")"
		},
		func() string {
			return "(" + g.further(g.names.texts) + g.of(" == ", " != ", " contains ", " startsWith ") + g.of(`"r1"`, `"r"`, "robot") + ")"
		},
		func() string {
			return "(" + g.of(`"r1"`, `"e0040100"`, "robot") + g.of(" in ", " not in ") + g.further(g.names.textLists) + ")"
		},
		func() string {
			return "(" + g.number(d, in) + g.of(" in ", " not in ") + g.list() + ")"
		},
		func() string {
			return "(" + g.of("robot", `"r1"`) + g.of(" in ", " not in ") + g.of(`["r1", "x"]`, `["r2"]`) + ")"
		},
		func() string {
			return "(" + g.number(d, in) + g.of(" in ", " not in ") + g.of("[1, 2]", "[0.5, 1]", "[-1, 0, 8.0]") + ")"
		},
		func() string { return "(" + g.number(d, in) + " < " + g.number(d, in) + " <= " + g.number(d, in) + ")" },
	}
	if !in {
		options = append(options, func() string {
			return g.of("any", "all", "none", "one") + "(" + g.list() + ", " + g.bool(d, true) + ")"
		})
	}
	return g.pick(options...)
}

// known writes what the index knows.
func (g generator) known() string {
	op := func() string { return g.of(" < ", " <= ", " > ", " >= ", " == ", " != ") }
	constant := func() string { return g.of("0", "1", "2", "0.5", "-1", "8", "deg(30)", "1e300", "-0.0", "5e-324") }
	list := func() string {
		return g.pick(func() string { return g.of("laser.ranges", "prev.laser.ranges", "sonar.ranges") }, func() string { return g.further(g.names.lists) })
	}
	value := func() string {
		if rapid.Bool().Draw(g.t, "further") {
			return g.further(g.names.numbers)
		}
		return g.of("laser.min", "laser.front", "laser.count", "prev.laser.min", "position.x", "time", "index", "sonar.nearest", "len(laser.ranges)",
			"sector(laser, -20, 20)", "(position.x - prev.position.x)", "distance(1, 1)", "abs(position.yaw)")
	}
	element := func() string {
		return g.pick(
			func() string { return "#" + op() + constant() },
			func() string { return constant() + op() + "#" },
			func() string { return "!(#" + op() + constant() + ")" },
			func() string { return "# > " + constant() + " && # <= " + constant() })
	}
	count := func() string { return "count(" + list() + ", " + element() + ")" }
	return "(" + g.pick(
		func() string { return value() + op() + constant() },
		func() string { return constant() + op() + value() },
		func() string { return "!(" + value() + op() + constant() + ")" },
		func() string { return "!(position.x" + op() + constant() + ")" },
		func() string {
			return value() + op() + constant() + " && (true || " + value() + op() + constant() + ")"
		},
		func() string {
			return value() + g.of(" > ", " >= ") + constant() + " && " + value() + g.of(" < ", " <= ") + constant()
		},
		func() string {
			return "robot" + g.of(" == ", " != ") + g.of(`"r1"`, `"r2"`, `"x"`) + " && " + value() + op() + constant()
		},
		func() string { return g.of("any", "all", "none", "one") + "(" + list() + ", " + element() + ")" },
		func() string { return constant() + g.of(" in ", " not in ") + list() },
		func() string { return g.of("", "!") + g.further(g.names.truths) },
		func() string { return count() + op() + g.of("0", "1", "2", "3", "-1", "1.5") },
		func() string { return count() + g.of(" in ", " not in ") + "[0, 2]" },
	) + ")"
}

// further writes a value of the kinds that are not named elsewhere.
func (g generator) further(of []string) string {
	name := rapid.SampledFrom(of).Draw(g.t, "name")
	if rapid.IntRange(0, 3).Draw(g.t, "before") == 0 {
		return "prev." + name
	}
	return name
}

func (g generator) list() string {
	if rapid.IntRange(0, 2).Draw(g.t, "list") == 0 {
		return g.further(g.names.lists)
	}
	return g.of("laser.ranges", "prev.laser.ranges", "sonar.ranges", "laser.ranges[1:3]", "filter(laser.ranges, # > 0)")
}

func (g generator) number(depth int, in bool) string {
	if depth == 0 {
		leaves := []string{"laser.min", "laser.max", "laser.bearing", "laser.count", "laser.index", "laser.front", "prev.laser.min", "sonar.nearest", "sonar.min",
			"position.x", "position.speed", "prev.position.x", "time", "index", "0", "1", "2.5", "0.5", "8"}
		if in {
			leaves = append(leaves, "#", "#", "#")
		}
		if rapid.IntRange(0, 2).Draw(g.t, "leaf") == 0 {
			return g.further(g.names.numbers)
		}
		return g.of(leaves...)
	}
	d := depth - 1
	options := []func() string{
		func() string {
			return "(" + g.number(d, in) + g.of(" + ", " - ", " * ", " / ", " ** ") + g.number(d, in) + ")"
		},
		func() string { return g.of("-", "+") + "(" + g.number(d, in) + ")" },
		func() string { return g.of("abs", "floor", "ceil", "round", "deg") + "(" + g.number(d, in) + ")" },
		func() string {
			return g.of("distance", "angle_diff", "min", "max") + "(" + g.number(d, in) + ", " + g.number(d, in) + ")"
		},
		func() string {
			return "(" + g.of("laser.count", "index", "len(laser.ranges)") + " % " + g.of("2", "3", "laser.index", "(index - 1)") + ")"
		},
		func() string { return strconv.Itoa(rapid.IntRange(-2, 9).Draw(g.t, "int")) },
		func() string { return "laser.ranges[" + strconv.Itoa(rapid.IntRange(-3, 3).Draw(g.t, "at")) + "]" },
	}
	if !in {
		options = append(options,
			func() string { return "count(" + g.list() + ", " + g.bool(d, true) + ")" },
			func() string { return g.of("sum", "mean", "median") + "(" + g.list() + ")" },
			func() string {
				return fmt.Sprintf("sector(%s, %s, %s)", g.of("laser", "sonar", "prev.laser"), g.number(d, in), g.number(d, in))
			},
		)
	}
	return g.pick(options...)
}
