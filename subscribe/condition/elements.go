package condition

import (
	"math"

	"github.com/expr-lang/expr/ast"
)

// overElements returns the formula of any, all, none and one over a list of the
// schema whose elements are compared with constants; nil if it is something
// else.
func (b *builder) overElements(n *ast.BuiltinNode) *formula {
	list, in, negated, ok := b.elements(n)
	if !ok {
		return nil
	}
	switch n.Name {
	case "any":
		return b.anyOf(list, in, negated)
	case "none":
		return not(b.anyOf(list, in, negated))
	case "all":
		return not(b.anyOf(list, in, !negated))
	case "one":
		return b.counted(list, in, negated, interval{1, 1})
	}
	return nil
}

// elements takes a loop over a list of the schema apart: its elements are
// tested for being in an interval, or for not being.
func (b *builder) elements(n *ast.BuiltinNode) (list int, in interval, negated, ok bool) {
	if len(n.Arguments) != 2 {
		return 0, in, false, false
	}
	predicate, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return 0, in, false, false
	}
	if list, ok = b.listNumber(n.Arguments[0]); !ok {
		return 0, in, false, false
	}
	in, negated, ok = b.element(predicate.Node)
	return list, in, negated, ok
}

func (b *builder) element(n node) (in interval, negated, ok bool) {
	switch n := n.(type) {
	case *ast.UnaryNode:
		in, negated, ok = b.element(n.Node)
		return in, !negated, ok && (n.Operator == "!" || n.Operator == "not")
	case *ast.BinaryNode:
		if n.Operator == "&&" || n.Operator == "and" {
			x, xn, xok := b.element(n.Left)
			y, yn, yok := b.element(n.Right)
			return interval{math.Max(x.lo, y.lo), math.Min(x.hi, y.hi)}, false, xok && yok && !xn && !yn
		}
		x, y, op := n.Left, n.Right, n.Operator
		if _, left := x.(*ast.PointerNode); !left {
			x, y, op = y, x, flipped[op]
		}
		if _, left := x.(*ast.PointerNode); !left || b.types[x] != Float {
			return in, false, false
		}
		c, ok := b.fixed(y)
		if !ok {
			return in, false, false
		}
		return intervalOf(op, c)
	}
	return in, false, false
}

// anyOf reports that some element is in an interval, or that some is not.
func (b *builder) anyOf(list int, in interval, negated bool) *formula {
	key := listTable[list].key
	below, above := math.IsInf(in.lo, -1), math.IsInf(in.hi, 1)
	switch {
	case !negated && below:
		return span(schemaNumbers["least "+key], in)
	case !negated && above:
		return span(schemaNumbers["greatest "+key], in)
	case negated && below:
		return not(span(schemaNumbers["upper "+key], in))
	case negated && above:
		return not(span(schemaNumbers["lower "+key], in))
	}
	return span(b.within(list, in, negated), interval{1, math.Inf(1)})
}

// countFormula returns the formula of count(list, predicate) within an
// interval, nil if x is something else.
func (b *builder) countFormula(x node, of interval) *formula {
	n, ok := x.(*ast.BuiltinNode)
	if !ok || n.Name != "count" {
		return nil
	}
	list, in, negated, ok := b.elements(n)
	if !ok {
		return nil
	}
	return b.counted(list, in, negated, of)
}

// counted reports that so many elements are in an interval, or are not.
func (b *builder) counted(list int, in interval, negated bool, of interval) *formula {
	below, above := math.IsInf(in.lo, -1), math.IsInf(in.hi, 1)
	if negated || !below && !above {
		return span(b.within(list, in, negated), of)
	}
	// So many are low if the one with that number is.
	atLeast := func(k float64) *formula {
		switch {
		case k <= 0:
			return yes(true)
		case k > 1e9:
			return yes(false)
		case k == 1 && below:
			return span(schemaNumbers["least "+listTable[list].key], in)
		case k == 1:
			return span(schemaNumbers["greatest "+listTable[list].key], in)
		}
		return span(b.ordinal(list, int(k), below), in)
	}
	return conjunction([]*formula{atLeast(math.Ceil(of.lo)), not(atLeast(math.Floor(of.hi) + 1))})
}
