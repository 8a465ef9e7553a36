package condition

import (
	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
)

// view builds a closure that returns a whole reading.
func (b *builder) view(n node) viewFunc {
	t := b.types[n]
	if t.base != baseView {
		return nil
	}
	kind := t.kind
	return reading(func(s *view.State) view.View { return s.Of(kind) }, t.prev)
}

// call builds a call of one of our functions that give a number.
func (b *builder) call(n *ast.CallNode) floatFunc {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	var first viewFunc
	numbers := n.Arguments
	if id.Value == "sector" {
		first, numbers = b.view(numbers[0]), numbers[1:]
	}
	var args []floatFunc
	for _, a := range numbers {
		f := b.float(a)
		if f == nil {
			return nil
		}
		args = append(args, f)
	}
	switch id.Value {
	case "sector":
		if first == nil {
			return nil
		}
		from, to := args[0], args[1]
		return func(e *Env) float64 { return sectorOf(first(e), from(e), to(e)) }
	case "distance":
		x, y := args[0], args[1]
		return func(e *Env) float64 { return e.Position.Distance(x(e), y(e)) }
	case "deg":
		a := args[0]
		return func(e *Env) float64 { return radians(a(e)) }
	case "angle_diff":
		x, y := args[0], args[1]
		return func(e *Env) float64 { return angleDiff(x(e), y(e)) }
	}
	return nil
}

// inside builds a zone test.
func (b *builder) inside(n *ast.CallNode) boolFunc {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || id.Value != "inside" {
		return nil
	}
	name, ok := n.Arguments[0].(*ast.StringNode)
	if !ok {
		return nil
	}
	z := b.compiler.zones[name.Value]
	return func(e *Env) bool { return z.has(e.Position.X, e.Position.Y) }
}

// each builds a list and a predicate of its elements.
func (b *builder) each(n *ast.BuiltinNode) (listFunc, boolFunc) {
	if len(n.Arguments) != 2 {
		return nil, nil
	}
	p, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return nil, nil
	}
	l, test := b.list(n.Arguments[0]), b.bool(p.Node)
	if l == nil || test == nil {
		return nil, nil
	}
	return l, test
}

// quantifier builds any, all, none and one.
func (b *builder) quantifier(n *ast.BuiltinNode) boolFunc {
	l, test := b.each(n)
	if l == nil {
		return nil
	}
	switch n.Name {
	case "any":
		return func(e *Env) bool { return first(e, l(e), test, true) }
	case "none":
		return func(e *Env) bool { return !first(e, l(e), test, true) }
	case "all":
		return func(e *Env) bool { return !first(e, l(e), test, false) }
	case "one":
		return func(e *Env) bool { return howMany(e, l(e), test) == 1 }
	}
	return nil
}

// first reports whether some element's test returns want.
func first(e *Env, list []float64, test boolFunc, want bool) bool {
	for _, v := range list {
		e.element = v
		if test(e) == want {
			return true
		}
	}
	return false
}

func howMany(e *Env, list []float64, test boolFunc) int {
	n := 0
	for _, v := range list {
		e.element = v
		if test(e) {
			n++
		}
	}
	return n
}

func (b *builder) count(n *ast.BuiltinNode) intFunc {
	l, test := b.each(n)
	if l == nil {
		return nil
	}
	return func(e *Env) int { return howMany(e, l(e), test) }
}
