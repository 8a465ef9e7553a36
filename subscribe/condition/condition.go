// Package condition compiles conditions, the expr language over a robot's
// readings. It guards against texts that would hurt, checks names and types
// against one schema, and words its own errors, with places.
package condition

import (
	"fmt"
	"sort"
	"strconv"

	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr/conf"
)

// Limits of one text.
const (
	DefaultLength = 4096  // characters, unless configured
	MaxLength     = 65536 // characters that may be configured
	MaxDepth      = 32    // brackets in each other
	MaxNodes      = 200   // names, constants, operators and calls
	MaxCost       = 64    // steps for each range of a scan, of all loops together
)

// Config configures a Compiler.
type Config struct {
	Zones  map[string][][2]float64 // polygons for inside(), in m; default none
	Length int                     // characters that a text may have; default DefaultLength
}

// Compiler compiles conditions and selected expressions. It is immutable and
// safe for concurrent use.
type Compiler struct {
	length    int
	zones     map[string]zone
	zoneNames []string     // sorted
	names     *conf.Config // what the parser needs; it is only read
}

// New makes a Compiler. A zone that is no polygon is an error.
func New(c Config) (*Compiler, error) {
	k := &Compiler{length: c.Length, zones: map[string]zone{}, names: parserConfig()}
	if k.length == 0 {
		k.length = DefaultLength
	}
	if k.length < 0 || k.length > MaxLength {
		return nil, fmt.Errorf("condition: length %d; expected 1 to %d characters", c.Length, MaxLength)
	}
	for name := range c.Zones {
		k.zoneNames = append(k.zoneNames, name)
	}
	sort.Strings(k.zoneNames)
	for _, name := range k.zoneNames {
		z, err := newZone(c.Zones[name])
		if err != nil {
			return nil, fmt.Errorf("condition: zone %q: %w", name, err)
		}
		k.zones[name] = z
	}
	return k, nil
}

// Error says what is wrong with a text, and where. Message is for people;
// Line and Column count from 1, columns in characters.
type Error struct {
	Code    protocol.Code // BadCondition or TooCostly
	Message string
	Line    int
	Column  int
}

// Error returns place and message.
func (e *Error) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// Program is a compiled expression. It is immutable and shared.
type Program struct {
	text  string
	typ   Type
	cost  int
	named view.Kinds
	needs view.Kinds
	prev  view.Kinds

	// What tests a condition: its parts, and for what they do not know closures
	// that may fail, or expr's machine.
	tests    []test
	start    uint8 // the first test, or an end
	operands *operands
	rest     func(*Env) (bool, error) // what may fail

	// What evaluates an expression: closures over the views if they know all
	// that it uses, else expr's machine.
	append func([]byte, *Env) []byte
	expr   *exprProgram
}

// Text returns the expression's text.
func (p *Program) Text() string { return p.text }

// Named returns the kinds of readings that test the condition: those that it
// names, also under prev or by a function. None means every reading.
func (p *Program) Named() view.Kinds { return p.named }

// Cost is what evaluating it takes, in about one step of an interpreter.
func (p *Program) Cost() int { return p.cost }

// Condition compiles a condition: an expression that is true or false.
func (c *Compiler) Condition(text string) (*Program, *Error) { return c.compile(text, true) }

// Expression compiles an expression that may give anything: what select
// sends.
func (c *Compiler) Expression(text string) (*Program, *Error) { return c.compile(text, false) }

func (c *Compiler) compile(text string, condition bool) (p *Program, problem *Error) {
	place := placer{text}
	defer func() {
		// What a library makes of a text is never a reason to fall.
		if r := recover(); r != nil {
			p, problem = nil, place.error(0, protocol.BadCondition, "this cannot be compiled")
		}
	}()
	open, problem := c.guard(text)
	if problem != nil {
		return nil, problem
	}
	tree, problem := parse(text, open, c.names)
	if problem != nil {
		return nil, problem
	}
	k := &checker{compiler: c, place: place, types: map[node]Type{}}
	typ, problem := k.root(tree.Node, condition)
	if problem != nil {
		return nil, problem
	}
	p = &Program{text: text, start: endRun, typ: typ, cost: k.visits + k.cost*assumedRanges, named: k.named, needs: k.needs, prev: k.prev}
	b := builder{compiler: c, types: k.types}
	if condition {
		if !b.condition(p, tree.Node) {
			return p, nil
		}
	} else if p.append = b.appender(tree.Node); p.append != nil {
		return p, nil
	}
	if p.expr, problem = compileExpr(tree, c.exprConfig(), place); problem != nil {
		return nil, problem
	}
	return p, nil
}

// assumedRanges is how many ranges a scan has, for costs.
const assumedRanges = 181

// Ready reports whether all that the program names has a reading; while not, a
// condition is false and a selected expression null.
func (p *Program) Ready(e *Env) bool { return e.Have.Has(p.needs) && e.HavePrev.Has(p.prev) }

// Test evaluates a condition. What fails while it runs is false, with an
// error. slots say where e keeps the program's own values (see Env.Value), in
// the order of Own; nil means that it does not keep them.
func (p *Program) Test(m *Machine, e *Env, slots []uint32) (bool, error) {
	if !p.Ready(e) {
		return false, nil
	}
	if end := p.verdict(e, slots); end != endRun {
		return end == endTrue, nil
	}
	if p.rest != nil {
		return p.rest(e)
	}
	if p.expr == nil {
		return false, errNoTruth
	}
	v, err := p.expr.run(m, e)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, errNoTruth
	}
	return b, nil
}

// AppendValue evaluates an expression and appends its value as text for
// protocol.Seal. What fails while it runs, or names what has no reading, is null.
func (p *Program) AppendValue(dst []byte, m *Machine, e *Env) ([]byte, error) {
	if !p.Ready(e) {
		return append(dst, "null"...), nil
	}
	if p.append != nil {
		return p.append(dst, e), nil
	}
	if p.start != endRun || p.expr == nil {
		truth, err := p.Test(m, e, nil)
		return strconv.AppendBool(dst, truth), err
	}
	v, err := p.expr.run(m, e)
	if err != nil {
		return append(dst, "null"...), err
	}
	return appendAny(dst, v), nil
}
