package condition

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Example is a condition of the help text and what it means.
type Example struct{ Condition, Meaning string }

// Examples are the conditions of the help text.
func Examples() []Example {
	return []Example{
		{`laser.min < 1`, "something is nearer than 1 m"},
		{`laser.front < 0.5 && position.vx > 0`, "driving towards something near"},
		{`sector(laser, 150, -150) < 0.3`, "something is near behind; the sector crosses the back"},
		{`any(laser.ranges, # < 0.4)`, "some range is below 0.4 m"},
		{`count(laser.ranges, # < 1) >= 10`, "ten ranges or more are below 1 m"},
		{`sonar.nearest in [0, 1, 7] and sonar.min < 0.5`, "one of three sonars has something near"},
		{`position.stall`, "the robot is stuck"},
		{`distance(2, 3) < 1`, "the robot is within 1 m of a point"},
		{`abs(angle_diff(position.yaw, deg(90))) < deg(5)`, "it faces along y"},
		{`position.x - prev.position.x > 0.1`, "it moved by more than 0.1 m along x since the reading before"},
		{`bumper.any`, "something touches the robot"},
		{`fiducial.range < 2 && abs(fiducial.bearing) < deg(10)`, "a mark is near, straight ahead"},
		{`5 in fiducial.ids`, "it sees mark 5"},
		{`power.percent < 20 && power.charging != 1`, "the battery is low and is not charged"},
		{`!gps.fix && prev.gps.fix`, "it does not know any more where it is"},
		{`imu.tilt > deg(30)`, "it tips over"},
		{`blobfinder.area > 500 && blobfinder.color == 0xff0000`, "the largest patch of colour is large, and red"},
		{`gripper.closed && gripper.broken > 0`, "the gripper holds something"},
		{`localize.spread > 1 || localize.count > 1`, "it is not sure where it is"},
		{`any(ir.ranges, # < 0.1)`, "an infrared sensor has something near"},
		{`planner.done && !prev.planner.done`, "it has reached its goal"},
		{`"e0040100" in rfid.tags`, "a radio tag is in reach"},
		{`speech_recognition.text contains "stop"`, "somebody says so"},
		{`robot startsWith "r" && interface == "laser" && index == 0`, "the first lasers of some robots"},
		{`0.5 < laser.min < 1`, "comparisons chain"},
		{`let ahead = sector(laser, -10, 10); ahead < 2 && ahead > 1`, "a name for a value"},
	}
}

// Help is the description of the condition language for people, generated
// from the schema.
func Help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, p := range helpParts() {
		b.WriteString("\n" + p.text)
	}
	fmt.Fprintf(&b, helpLimits, DefaultLength, MaxDepth, MaxNodes)
	return b.String()
}

// HelpParts lists the names that HelpOn knows.
func HelpParts() []string {
	var names []string
	for _, p := range helpParts() {
		names = append(names, p.name)
	}
	return names
}

// HelpOn returns the part of Help of that name, and "" if there is none: of an
// interface, or one of reading, functions, operators and examples.
func HelpOn(name string) string {
	for _, p := range helpParts() {
		if p.name == name {
			return p.text
		}
	}
	return ""
}

// helpPart is a part of the help that can be asked for.
type helpPart struct{ name, text string }

func helpParts() []helpPart {
	var parts []helpPart
	var b strings.Builder
	end := func(name string) {
		parts = append(parts, helpPart{name, b.String()})
		b.Reset()
	}
	b.WriteString("Of the arriving reading:\n\n")
	var rows []row
	for _, v := range variables {
		rows = append(rows, row{v.Name, v.Type, v.Unit, v.Doc})
	}
	writeRows(&b, rows)
	end("reading")
	for i := range interfaces {
		in := &interfaces[i]
		fmt.Fprintf(&b, "%s: %s\n\n", in.Name(), in.Kind.Doc())
		rows = rows[:0]
		for _, a := range in.Attributes {
			rows = append(rows, row{in.Name() + "." + a.Name, a.Type, a.Unit, a.Doc})
		}
		writeRows(&b, rows)
		end(in.Name())
	}
	b.WriteString("Functions:\n\n")
	for _, f := range functionTable() {
		fmt.Fprintf(&b, "  %-28s %s\n", f.Name+"("+f.Args+")", f.Doc)
	}
	end("functions")
	b.WriteString(helpOperators)
	end("operators")
	b.WriteString("Examples:\n\n")
	for _, e := range Examples() {
		fmt.Fprintf(&b, "  %s\n      %s\n", e.Condition, e.Meaning)
	}
	end("examples")
	return parts
}

// row describes a name.
type row struct {
	name string
	typ  Type
	unit string
	doc  string
}

func (r *row) what() string {
	if r.unit == "" {
		return r.typ.Name()
	}
	return r.typ.Name() + ", " + r.unit
}

// writeRows writes names in columns.
func writeRows(b *strings.Builder, rows []row) {
	name, what := 20, 14
	for i := range rows {
		name, what = max(name, len(rows[i].name)), max(what, utf8.RuneCountInString(rows[i].what()))
	}
	for _, r := range rows {
		fmt.Fprintf(b, "  %-*s %-*s %s\n", name, r.name, what, r.what(), r.doc)
	}
}

const helpHead = `A condition is an expression that gives true or false. It is tested when a
reading of an interface that it names arrives; if it names none, when any
reading arrives. Each arriving device is tested by itself; another interface
stands for the latest reading of the same robot's device with the same index,
or else the lowest. While an interface that it names has none, it is false.
Under prev stand the readings before: prev.position.x. Lengths are in m,
angles in rad, times in s, unless it says otherwise. What is no number is
neither below nor above anything, nor equal to it.
`

const helpOperators = `Operators: + - * / % **   < <= > >= == !=   && || ! (and or not)   in   ? :
           contains startsWith endsWith matches (texts)   let name = value; …
           list[0] list[-1] list[2:5]
`

const helpLimits = `
Limits: %d characters (unless configured), brackets %d deep, %d names,
constants, operators and calls; one loop inside another is refused. A
condition that fails while it runs, as by an index out of range, is false.
`
