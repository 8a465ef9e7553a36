package condition

import (
	"math"

	"github.com/expr-lang/expr/ast"
)

// formula is a condition in terms of tests. What it may do: no part of it can
// fail, so that its parts may be tested in any order.
type formula struct {
	op    operator
	parts []*formula
	truth bool // of opConstant
	test  test // of opTest
}

type operator uint8

const (
	opConstant operator = iota
	opTest
	opNot
	opAnd
	opOr
	opChoose // parts: by which, if true, if false
)

// interval is the numbers from lo to hi, both included.
type interval struct{ lo, hi float64 }

func yes(truth bool) *formula              { return &formula{op: opConstant, truth: truth} }
func not(f *formula) *formula              { return &formula{op: opNot, parts: []*formula{f}} }
func span(value int, in interval) *formula { return &formula{op: opTest, test: spanTest(value, in)} }

func spanTest(value int, in interval) test {
	return test{kind: testSpan, value: uint16(value), lo: in.lo, hi: in.hi}
}

// intervalOf returns the numbers x for which `x op c`; for != those for which
// not. Numbers next to c make < and > exact.
func intervalOf(op string, c float64) (in interval, negated, ok bool) {
	in = interval{math.Inf(-1), math.Inf(1)}
	switch op {
	case "==":
		in.lo, in.hi = c, c
	case "!=":
		in.lo, in.hi, negated = c, c, true
	case "<":
		in.hi = math.Nextafter(c, math.Inf(-1))
	case "<=":
		in.hi = c
	case ">":
		in.lo = math.Nextafter(c, math.Inf(1))
	case ">=":
		in.lo = c
	default:
		return in, false, false
	}
	return in, negated, true
}

// flipped are the comparisons with left and right exchanged.
var flipped = map[string]string{"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}

// formula returns what a condition tests; nil if it has parts that only expr's
// machine knows.
func (b *builder) formula(n node) *formula {
	switch n := n.(type) {
	case *ast.BoolNode:
		return yes(n.Value)
	case *ast.UnaryNode:
		if f := b.formula(n.Node); f != nil {
			return not(f)
		}
		return nil
	case *ast.BinaryNode:
		if f, known := b.binaryFormula(n); known {
			return f
		}
	case *ast.ConditionalNode:
		c, x, y := b.formula(n.Cond), b.formula(n.Exp1), b.formula(n.Exp2)
		if c == nil || x == nil || y == nil {
			return nil
		}
		return &formula{op: opChoose, parts: []*formula{c, x, y}}
	case *ast.MemberNode:
		if v, ok := b.valueOf(n); ok && b.types[n] == Bool {
			return span(v, interval{1, 1})
		}
	case *ast.BuiltinNode:
		if f := b.overElements(n); f != nil {
			return f
		}
	}
	if closure := b.bool(n); closure != nil {
		b.closures = append(b.closures, closure)
		return &formula{op: opTest, test: test{kind: testClosure, value: uint16(len(b.closures) - 1)}}
	}
	return nil
}

// binaryFormula returns the formula of an operator that it knows.
func (b *builder) binaryFormula(n *ast.BinaryNode) (f *formula, known bool) {
	switch n.Operator {
	case "&&", "and", "||", "or":
		x := b.formula(n.Left)
		if x == nil {
			return nil, true
		}
		y := b.formula(n.Right)
		if y == nil {
			return nil, true
		}
		if n.Operator == "||" || n.Operator == "or" {
			return &formula{op: opOr, parts: []*formula{x, y}}, true
		}
		return conjunction([]*formula{x, y}), true
	case "in":
		f = b.inFormula(n)
		return f, f != nil
	}
	if f = b.compareFormula(n.Operator, n.Left, n.Right); f == nil {
		f = b.compareFormula(flipped[n.Operator], n.Right, n.Left)
	}
	return f, f != nil
}

// conjunction joins parts that all must hold. Spans of one value become one.
func conjunction(parts []*formula) *formula {
	and := &formula{op: opAnd}
	for _, p := range parts {
		if p.op == opAnd {
			for _, q := range p.parts {
				and.join(q)
			}
		} else {
			and.join(p)
		}
	}
	if len(and.parts) == 1 {
		return and.parts[0]
	}
	return and
}

func (f *formula) join(p *formula) {
	if p.op == opTest && p.test.kind == testSpan {
		for _, q := range f.parts {
			if q.op == opTest && q.test.kind == testSpan && q.test.value == p.test.value {
				q.test.lo, q.test.hi = math.Max(q.test.lo, p.test.lo), math.Min(q.test.hi, p.test.hi)
				return
			}
		}
		p = span(int(p.test.value), interval{p.test.lo, p.test.hi})
	}
	f.parts = append(f.parts, p)
}

// exact is how large a whole number may be to be the same as float64.
const exact = 1 << 53

// compareFormula returns the formula of a value or text compared with a
// constant, nil if it is something else.
func (b *builder) compareFormula(op string, x, y node) *formula {
	if text, ok := y.(*ast.StringNode); ok {
		return b.textFormula(op, x, text.Value)
	}
	if !b.types[x].number() {
		return nil
	}
	c, ok := b.fixed(y)
	if !ok || b.types[y] == Int && math.Abs(c) > exact {
		return nil
	}
	in, negated, ok := intervalOf(op, c)
	if !ok {
		return nil
	}
	if f := b.countFormula(x, in); f != nil {
		return maybeNot(f, negated)
	}
	v, ok := b.valueOf(x)
	if !ok {
		return nil
	}
	return maybeNot(span(v, in), negated)
}

func maybeNot(f *formula, negated bool) *formula {
	if negated {
		return not(f)
	}
	return f
}

// fixed returns the value of a number that no reading changes.
func (b *builder) fixed(n node) (c float64, ok bool) {
	if !b.types[n].number() || !isFixed(n) {
		return 0, false
	}
	if c, ok := constant(n); ok {
		return c, !math.IsInf(c, 0)
	}
	f := b.float(n)
	if f == nil {
		return 0, false
	}
	c = f(&Env{})
	return c, !math.IsNaN(c) && !math.IsInf(c, 0)
}

func isFixed(n node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	case *ast.UnaryNode:
		return isFixed(n.Node)
	case *ast.BinaryNode:
		return n.Operator != "%" && isFixed(n.Left) && isFixed(n.Right)
	case *ast.CallNode:
		id, ok := n.Callee.(*ast.IdentifierNode)
		return ok && id.Value == "deg" && isFixed(n.Arguments[0])
	}
	return false
}

// textFormula returns the formula of a variable compared with a text.
func (b *builder) textFormula(op string, x node, text string) *formula {
	id, ok := x.(*ast.IdentifierNode)
	if !ok || op != "==" && op != "!=" {
		return nil
	}
	for i := range variables {
		if variables[i].Name == id.Value && variables[i].text != nil {
			b.texts = append(b.texts, text)
			f := &formula{op: opTest, test: test{kind: testText, value: uint16(i), text: uint16(len(b.texts) - 1)}}
			return maybeNot(f, op == "!=")
		}
	}
	return nil
}

// inFormula returns the formula of a search in a list of constants, or of a
// constant in a list of the schema.
func (b *builder) inFormula(n *ast.BinaryNode) *formula {
	if list, ok := b.listNumber(n.Right); ok {
		c, ok := b.fixed(n.Left)
		if !ok || math.Abs(c) >= exact {
			return nil
		}
		return b.anyOf(list, interval{c, c}, false)
	}
	array, ok := n.Right.(*ast.ArrayNode)
	if !ok || len(array.Nodes) == 0 || b.types[n.Right].element().number() != b.types[n.Left].number() {
		return nil
	}
	if call, ok := n.Left.(*ast.BuiltinNode); ok && call.Name == "count" {
		return nil // each element would be two tests
	}
	or := &formula{op: opOr}
	for _, c := range array.Nodes {
		f := b.compareFormula("==", n.Left, c)
		if f == nil {
			return nil
		}
		or.parts = append(or.parts, f)
	}
	return or
}
