package condition

import (
	"errors"
	"strings"

	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	exprchecker "github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"reflect"
)

// exprProgram is what runs in expr's machine.
type exprProgram struct{ program *vm.Program }

// Machine evaluates programs. It keeps memory between them and belongs to one
// goroutine. The zero value is ready.
type Machine struct{ vm vm.VM }

// What fails while an expression runs.
var (
	errNoTruth = errors.New("the condition gave neither true nor false")
	errFailed  = errors.New("the expression failed while it ran")
)

// parserConfig is the part of expr's configuration that its parser asks for:
// which names are functions of our own.
func parserConfig() *conf.Config {
	config := conf.CreateNew()
	config.MaxNodes = MaxNodes
	for _, name := range functionNames() {
		if ours(name) {
			config.Functions[name] = &builtin.Function{Name: name}
		}
	}
	return config
}

// exprConfig is expr's configuration: our environment and functions.
func (c *Compiler) exprConfig() *conf.Config {
	config := conf.New(Env{})
	config.MaxNodes = MaxNodes
	add := func(name string, fn func(...any) (any, error), types ...any) {
		f := &builtin.Function{Name: name, Func: fn}
		for _, t := range types {
			f.Types = append(f.Types, reflect.TypeOf(t))
		}
		config.Functions[name] = f
	}
	add("sector", exprSector,
		(func(*view.Laser, any, any) float64)(nil), (func(*view.Sonar, any, any) float64)(nil))
	add("distance", exprDistance, (func(*view.Position, any, any) float64)(nil))
	add("inside", c.exprInside, (func(*view.Position, string) bool)(nil))
	add("deg", exprDeg, (func(any) float64)(nil))
	add("angle_diff", exprAngleDiff, (func(any, any) float64)(nil))
	return config
}

// The functions as expr calls them. distance and inside get the position as
// first argument (see implicit).

func exprSector(args ...any) (any, error) {
	return sectorOf(args[0].(view.View), toFloat(args[1]), toFloat(args[2])), nil
}

func exprDistance(args ...any) (any, error) {
	return args[0].(*view.Position).Distance(toFloat(args[1]), toFloat(args[2])), nil
}

func (c *Compiler) exprInside(args ...any) (any, error) {
	p := args[0].(*view.Position)
	return c.zones[args[1].(string)].has(p.X, p.Y), nil
}

func exprDeg(args ...any) (any, error) { return radians(toFloat(args[0])), nil }

func exprAngleDiff(args ...any) (any, error) {
	return angleDiff(toFloat(args[0]), toFloat(args[1])), nil
}

// toFloat takes integers and floats alike.
func toFloat(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	panic("expected a number")
}

// implicit adds the robot's position, to functions that read it, as their first
// argument.
type implicit struct{ done map[*ast.CallNode]bool }

// Visit rewrites a call.
func (i implicit) Visit(n *ast.Node) {
	k, ok := (*n).(*ast.CallNode)
	if !ok || i.done[k] {
		return
	}
	i.done[k] = true
	if id, ok := k.Callee.(*ast.IdentifierNode); ok && (id.Value == "distance" || id.Value == "inside") {
		position := &ast.IdentifierNode{Value: "position"}
		position.SetLocation(id.Location())
		k.Arguments = append([]ast.Node{position}, k.Arguments...)
	}
}

// compileExpr compiles a checked tree for expr's machine.
func compileExpr(tree *parser.Tree, config *conf.Config, place placer) (*exprProgram, *Error) {
	ast.Walk(&tree.Node, implicit{map[*ast.CallNode]bool{}})
	if _, err := exprchecker.Check(tree, config); err != nil {
		return nil, exprError(err, place)
	}
	if err := optimizer.Optimize(&tree.Node, config); err != nil {
		return nil, exprError(err, place)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, exprError(err, place)
	}
	return &exprProgram{program}, nil
}

// exprError words what expr refuses although our checks do not.
func exprError(err error, place placer) *Error {
	at := 0
	var e *file.Error
	if errors.As(err, &e) {
		at = e.From
	}
	if strings.Contains(err.Error(), "divide by zero") {
		return place.error(at, protocol.BadCondition, "division by zero")
	}
	return place.error(at, protocol.BadCondition, "this does not fit together")
}

// run evaluates the program.
func (p *exprProgram) run(m *Machine, e *Env) (any, error) {
	v, err := m.vm.Run(p.program, e)
	if err == nil {
		return v, nil
	}
	return nil, runError(err)
}

// runError words what failed while an expression ran.
func runError(err error) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return errFailed
	}
	switch m := e.Message; {
	case strings.HasPrefix(m, "index out of range"):
		return errors.New(m)
	case strings.Contains(m, "divide by zero"):
		return errors.New("division by zero")
	case strings.HasPrefix(m, "invalid operation: int("), strings.HasPrefix(m, "invalid operation: float("):
		return errors.New("a text is no number: " + strings.TrimPrefix(m, "invalid operation: "))
	case strings.Contains(m, "memory budget"):
		return errors.New("the expression took too much memory")
	}
	return errFailed
}
