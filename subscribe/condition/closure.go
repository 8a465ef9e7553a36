package condition

import (
	"math"
	"strconv"

	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
)

// builder turns checked parts into closures over the views, which neither box
// numbers nor allocate. For what it does not know it returns nil, and the whole
// expression runs in expr's machine. It must agree with expr on everything
// that it knows, NaN included: a property test holds it to that.
type builder struct {
	compiler *Compiler
	types    map[node]Type

	// fallible has it know what can fail while it runs, too: what does tells
	// Env.fail.
	fallible bool

	// Operands of the condition's tests.
	values   []*Value
	texts    []string
	closures []boolFunc
}

type (
	boolFunc  = func(*Env) bool
	intFunc   = func(*Env) int
	floatFunc = func(*Env) float64
	textFunc  = func(*Env) string
	listFunc  = func(*Env) []float64
	textsFunc = func(*Env) []string
	viewFunc  = func(*Env) view.View
)

// bool builds a closure that returns true or false.
func (b *builder) bool(n node) boolFunc {
	switch n := n.(type) {
	case *ast.BoolNode:
		v := n.Value
		return func(*Env) bool { return v }
	case *ast.UnaryNode:
		if x := b.bool(n.Node); x != nil {
			return func(e *Env) bool { return !x(e) }
		}
	case *ast.BinaryNode:
		return b.boolBinary(n)
	case *ast.ConditionalNode:
		c, x, y := b.bool(n.Cond), b.bool(n.Exp1), b.bool(n.Exp2)
		if c != nil && x != nil && y != nil {
			return func(e *Env) bool {
				if c(e) {
					return x(e)
				}
				return y(e)
			}
		}
	case *ast.MemberNode:
		if a, prev := b.attribute(n); a != nil && a.Bool != nil {
			return reading(a.Bool, prev)
		}
	case *ast.BuiltinNode:
		return b.quantifier(n)
	case *ast.CallNode:
		return b.inside(n)
	}
	return nil
}

func (b *builder) boolBinary(n *ast.BinaryNode) boolFunc {
	switch n.Operator {
	case "&&", "and":
		if x, y := b.bool(n.Left), b.bool(n.Right); x != nil && y != nil {
			return func(e *Env) bool { return x(e) && y(e) }
		}
		return nil
	case "||", "or":
		if x, y := b.bool(n.Left), b.bool(n.Right); x != nil && y != nil {
			return func(e *Env) bool { return x(e) || y(e) }
		}
		return nil
	case "in":
		return b.in(n)
	case "contains", "startsWith", "endsWith":
		return b.textOperator(n)
	}
	l, r := b.types[n.Left], b.types[n.Right]
	switch {
	case l == Int && r == Int:
		if x, y := b.int(n.Left), b.int(n.Right); x != nil && y != nil {
			return compare(n.Operator, x, y)
		}
	case l.number() && r.number():
		if c, ok := constant(n.Right); ok {
			return compareTo(n.Operator, b.float(n.Left), c)
		}
		if x, y := b.float(n.Left), b.float(n.Right); x != nil && y != nil {
			return compare(n.Operator, x, y)
		}
	case l == String && r == String:
		if x, y := b.text(n.Left), b.text(n.Right); x != nil && y != nil {
			return compare(n.Operator, x, y)
		}
	case l == Bool && r == Bool:
		x, y := b.bool(n.Left), b.bool(n.Right)
		if x == nil || y == nil {
			return nil
		}
		if n.Operator == "==" {
			return func(e *Env) bool { return x(e) == y(e) }
		}
		return func(e *Env) bool { return x(e) != y(e) }
	}
	return nil
}

// attribute finds the schema's attribute of a name such as laser.min, and
// whether it is of the reading before.
func (b *builder) attribute(n *ast.MemberNode) (a *Attribute, prev bool) {
	t := b.types[n.Node]
	name, ok := n.Property.(*ast.StringNode)
	if !ok || t.base != baseView {
		return nil, false
	}
	return interfaces[t.kind].attribute(name.Value), t.prev
}

// reading reads a value of the views that stand, or of those before them.
func reading[T any](get func(*view.State) T, prev bool) func(*Env) T {
	if prev {
		return func(e *Env) T { return get(&e.Prev) }
	}
	return func(e *Env) T { return get(&e.State) }
}

// float builds a closure that returns a number, as float64.
func (b *builder) float(n node) floatFunc {
	if b.types[n] == Int {
		if x := b.int(n); x != nil {
			return func(e *Env) float64 { return float64(x(e)) }
		}
		return nil
	}
	switch n := n.(type) {
	case *ast.FloatNode:
		v := n.Value
		return func(*Env) float64 { return v }
	case *ast.IdentifierNode:
		if v := findVariable(n.Value); v != nil {
			return v.float
		}
	case *ast.MemberNode:
		if a, prev := b.attribute(n); a != nil && a.Float != nil {
			return reading(a.Float, prev)
		}
		return b.elementOf(n)
	case *ast.PointerNode:
		return func(e *Env) float64 { return e.element }
	case *ast.UnaryNode:
		x := b.float(n.Node)
		if x == nil || n.Operator == "+" {
			return x
		}
		return func(e *Env) float64 { return -x(e) }
	case *ast.BinaryNode:
		if x, y := b.float(n.Left), b.float(n.Right); x != nil && y != nil {
			return arithmetic(n.Operator, x, y)
		}
	case *ast.CallNode:
		return b.call(n)
	case *ast.BuiltinNode:
		return b.rounding(n)
	}
	return nil
}

func arithmetic(op string, x, y floatFunc) floatFunc {
	switch op {
	case "+":
		return func(e *Env) float64 { return x(e) + y(e) }
	case "-":
		return func(e *Env) float64 { return x(e) - y(e) }
	case "*":
		return func(e *Env) float64 { return x(e) * y(e) }
	case "/":
		return func(e *Env) float64 { return x(e) / y(e) }
	case "**", "^":
		return func(e *Env) float64 { return math.Pow(x(e), y(e)) }
	}
	return nil
}

// rounding builds the language's functions of one number.
func (b *builder) rounding(n *ast.BuiltinNode) floatFunc {
	var f func(float64) float64
	switch n.Name {
	case "abs":
		f = func(x float64) float64 {
			if x < 0 {
				return -x
			}
			return x
		}
	case "floor":
		f = math.Floor
	case "ceil":
		f = math.Ceil
	case "round":
		f = math.Round
	default:
		return nil
	}
	x := b.float(n.Arguments[0])
	if x == nil {
		return nil
	}
	return func(e *Env) float64 { return f(x(e)) }
}

// int builds a closure that returns a whole number.
func (b *builder) int(n node) intFunc {
	switch n := n.(type) {
	case *ast.IntegerNode:
		v := n.Value
		return func(*Env) int { return v }
	case *ast.IdentifierNode:
		if v := findVariable(n.Value); v != nil {
			return v.int
		}
	case *ast.MemberNode:
		if a, prev := b.attribute(n); a != nil && a.Int != nil {
			return reading(a.Int, prev)
		}
	case *ast.UnaryNode:
		x := b.int(n.Node)
		if x == nil || n.Operator == "+" {
			return x
		}
		return func(e *Env) int { return -x(e) }
	case *ast.BinaryNode:
		return b.intBinary(n)
	case *ast.BuiltinNode:
		switch n.Name {
		case "count":
			return b.count(n)
		case "len":
			if l := b.list(n.Arguments[0]); l != nil {
				return func(e *Env) int { return len(l(e)) }
			}
			if l := b.textList(n.Arguments[0]); l != nil {
				return func(e *Env) int { return len(l(e)) }
			}
		}
	}
	return nil
}

func (b *builder) intBinary(n *ast.BinaryNode) intFunc {
	x, y := b.int(n.Left), b.int(n.Right)
	if x == nil || y == nil {
		return nil
	}
	switch n.Operator {
	case "+":
		return func(e *Env) int { return x(e) + y(e) }
	case "-":
		return func(e *Env) int { return x(e) - y(e) }
	case "*":
		return func(e *Env) int { return x(e) * y(e) }
	case "%":
		if c, ok := n.Right.(*ast.IntegerNode); ok && c.Value != 0 {
			return func(e *Env) int { return x(e) % c.Value }
		}
		if b.fallible {
			return remainder(x, y)
		}
	}
	return nil
}

// text builds a closure that returns text.
func (b *builder) text(n node) textFunc {
	switch n := n.(type) {
	case *ast.StringNode:
		v := n.Value
		return func(*Env) string { return v }
	case *ast.IdentifierNode:
		if v := findVariable(n.Value); v != nil {
			return v.text
		}
	case *ast.MemberNode:
		if a, prev := b.attribute(n); a != nil && a.Text != nil {
			return reading(a.Text, prev)
		}
	}
	return nil
}

// list builds a closure that returns a list of numbers.
func (b *builder) list(n node) listFunc {
	if m, ok := n.(*ast.MemberNode); ok {
		if a, prev := b.attribute(m); a != nil && a.Floats != nil {
			return reading(a.Floats, prev)
		}
	}
	return nil
}

// textList builds a closure that returns a list of texts.
func (b *builder) textList(n node) textsFunc {
	if m, ok := n.(*ast.MemberNode); ok {
		if a, prev := b.attribute(m); a != nil && a.Texts != nil {
			return reading(a.Texts, prev)
		}
	}
	return nil
}

// appender builds what appends the value as JSON.
func (b *builder) appender(n node) func([]byte, *Env) []byte {
	switch t := b.types[n]; {
	case t == Bool:
		if x := b.bool(n); x != nil {
			return func(dst []byte, e *Env) []byte { return strconv.AppendBool(dst, x(e)) }
		}
	case t == Int:
		if x := b.int(n); x != nil {
			return func(dst []byte, e *Env) []byte { return strconv.AppendInt(dst, int64(x(e)), 10) }
		}
	case t == Float:
		if x := b.float(n); x != nil {
			return func(dst []byte, e *Env) []byte { return view.AppendFloat(dst, x(e)) }
		}
	case t == String:
		if x := b.text(n); x != nil {
			return func(dst []byte, e *Env) []byte { return view.AppendString(dst, x(e)) }
		}
	case t == Floats:
		if x := b.list(n); x != nil {
			return func(dst []byte, e *Env) []byte { return view.AppendFloats(dst, x(e)) }
		}
	case t.base == baseView:
		if x := b.view(n); x != nil {
			return func(dst []byte, e *Env) []byte { return view.AppendText(dst, x(e)) }
		}
	}
	return nil
}
