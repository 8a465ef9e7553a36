package condition

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// compare builds a comparison.
func compare[T int | float64 | string](op string, x, y func(*Env) T) boolFunc {
	switch op {
	case "==":
		return func(e *Env) bool { return x(e) == y(e) }
	case "!=":
		return func(e *Env) bool { return x(e) != y(e) }
	case "<":
		return func(e *Env) bool { return x(e) < y(e) }
	case "<=":
		return func(e *Env) bool { return x(e) <= y(e) }
	case ">":
		return func(e *Env) bool { return x(e) > y(e) }
	case ">=":
		return func(e *Env) bool { return x(e) >= y(e) }
	}
	return nil
}

// constant returns the value of a number in the text.
func constant(n node) (float64, bool) {
	switch n := n.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.IntegerNode:
		return float64(n.Value), true
	}
	return 0, false
}

// compareTo is compare with a constant, the most frequent condition.
func compareTo(op string, x floatFunc, c float64) boolFunc {
	if x == nil {
		return nil
	}
	switch op {
	case "==":
		return func(e *Env) bool { return x(e) == c }
	case "!=":
		return func(e *Env) bool { return x(e) != c }
	case "<":
		return func(e *Env) bool { return x(e) < c }
	case "<=":
		return func(e *Env) bool { return x(e) <= c }
	case ">":
		return func(e *Env) bool { return x(e) > c }
	case ">=":
		return func(e *Env) bool { return x(e) >= c }
	}
	return nil
}

func (b *builder) textOperator(n *ast.BinaryNode) boolFunc {
	x, y := b.text(n.Left), b.text(n.Right)
	if x == nil || y == nil {
		return nil
	}
	test := map[string]func(s, t string) bool{
		"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
	}[n.Operator]
	return func(e *Env) bool { return test(x(e), y(e)) }
}

// in builds a search in a list of constants or of the schema.
func (b *builder) in(n *ast.BinaryNode) boolFunc {
	if l := b.list(n.Right); l != nil && b.types[n.Left] == Float {
		return within(b.float(n.Left), l)
	}
	if l := b.textList(n.Right); l != nil && b.types[n.Left] == String {
		return within(b.text(n.Left), l)
	}
	array, ok := n.Right.(*ast.ArrayNode)
	if !ok {
		return nil
	}
	var texts []string
	var ints []int
	var floats []float64
	for _, c := range array.Nodes {
		switch c := c.(type) {
		case *ast.StringNode:
			texts = append(texts, c.Value)
		case *ast.IntegerNode:
			ints = append(ints, c.Value)
			floats = append(floats, float64(c.Value))
		case *ast.FloatNode:
			floats = append(floats, c.Value)
		default:
			return nil
		}
	}
	t := b.types[n.Left]
	switch {
	case len(array.Nodes) == 0:
		return nil
	case t == String && len(texts) == len(array.Nodes):
		return member(b.text(n.Left), texts)
	case t == Int && len(ints) == len(array.Nodes):
		return member(b.int(n.Left), ints)
	case t.number() && len(floats) == len(array.Nodes):
		return member(b.float(n.Left), floats)
	}
	return nil
}

func member[T comparable](x func(*Env) T, list []T) boolFunc {
	if x == nil {
		return nil
	}
	return func(e *Env) bool {
		v := x(e)
		for _, c := range list {
			if c == v {
				return true
			}
		}
		return false
	}
}

func within[T comparable](x func(*Env) T, list func(*Env) []T) boolFunc {
	if x == nil {
		return nil
	}
	return func(e *Env) bool { return slices.Contains(list(e), x(e)) }
}
