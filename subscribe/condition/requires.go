package condition

import (
	"math"
	"slices"
	"strings"
)

// Requirement is something without which a condition is never true, of a value
// of the arriving robot: that it lies between Lo and Hi, or is one of Texts.
type Requirement struct {
	Name   string // of the value: "laser.min", "index"; of a text: "robot", "world", "interface"
	Lo, Hi float64
	Texts  []string // nil: it is a number
}

// maxRequirements bounds what Requires returns.
const maxRequirements = 16

// Requires returns what must hold for the condition to be true: what it says
// is certain, but not all that is.
func (p *Program) Requires() []Requirement {
	pl := planner{program: p}
	var out []Requirement
	for v := range variables {
		if variables[v].text == nil {
			continue
		}
		if texts := p.texts(v); texts != nil && !p.possible(p.start, v, "", false) {
			slices.Sort(texts)
			texts = slices.DeleteFunc(texts, func(t string) bool { return !p.possible(p.start, v, t, true) })
			out = append(out, Requirement{Name: variables[v].Name, Texts: texts})
		}
	}
	for i := range p.tests {
		t := &p.tests[i]
		if len(out) >= maxRequirements {
			break
		}
		if t.kind != testSpan || int(t.value) >= len(schemaValues) || math.IsInf(t.lo, -1) && math.IsInf(t.hi, 1) {
			continue
		}
		name := schemaValues[t.value].key
		if !strings.HasPrefix(name, "prev.") && !pl.without(p.start, uint8(i), new([maxTests]bool)) {
			out = append(out, Requirement{Name: name, Lo: t.lo, Hi: t.hi})
		}
	}
	return out
}

// texts lists the texts that a variable is compared with; nil for none.
func (p *Program) texts(variable int) (texts []string) {
	for i := range p.tests {
		if t := &p.tests[i]; t.kind == testText && int(t.value) == variable && !slices.Contains(texts, p.operands.texts[t.text]) {
			texts = append(texts, p.operands.texts[t.text])
		}
	}
	return texts
}

// possible reports whether the condition can be true, from a test on, while a
// variable is a text (known), or none that it is compared with.
func (p *Program) possible(at uint8, variable int, text string, known bool) bool {
	var seen [maxTests]bool
	var walk func(at uint8) bool
	walk = func(at uint8) bool {
		if at >= endTrue {
			return at != endFalse
		}
		if seen[at] {
			return false
		}
		seen[at] = true
		t := &p.tests[at]
		if t.kind != testText || int(t.value) != variable {
			return walk(t.yes) || walk(t.no)
		}
		if known && p.operands.texts[t.text] == text {
			return walk(t.yes)
		}
		return walk(t.no)
	}
	return walk(at)
}
