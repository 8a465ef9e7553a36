package condition

import (
	"github.com/expr-lang/expr/ast"
)

func (c *checker) unary(n *ast.UnaryNode) (Type, *Error) {
	t, err := c.value(n.Node)
	if err != nil {
		return t, err
	}
	switch n.Operator {
	case "!", "not":
		if t != Bool {
			return t, c.wrong(n, "%s takes true or false, this is %s", quoted(n.Operator), t)
		}
	default:
		if !t.number() {
			return t, c.wrong(n, "%s takes a number, this is %s", quoted(n.Operator), t)
		}
	}
	return t, nil
}

func (c *checker) binary(n *ast.BinaryNode) (Type, *Error) {
	switch n.Operator {
	case "..":
		return Type{}, c.wrong(n, "`..` is not available: compare with both ends, as in `0.5 < laser.min && laser.min < 1`")
	case "??":
		return Type{}, c.wrong(n, "`??` is not available: nothing is ever missing in a condition that is tested")
	}
	l, err := c.value(n.Left)
	if err != nil {
		return l, err
	}
	r, err := c.value(n.Right)
	if err != nil {
		return r, err
	}
	mismatch := func(takes string) (Type, *Error) {
		return Type{}, c.wrong(n, "%s takes %s; left is %s, right is %s", quoted(n.Operator), takes, l, r)
	}
	numbers, texts := l.number() && r.number(), l == String && r == String
	switch n.Operator {
	case "&&", "||", "and", "or":
		if l != Bool || r != Bool {
			return mismatch("true or false on both sides")
		}
		return Bool, nil
	case "==", "!=":
		if !numbers && !texts && !(l == Bool && r == Bool) {
			return mismatch("two numbers, two texts, or two that are true or false")
		}
		return Bool, nil
	case "<", "<=", ">", ">=":
		if !numbers && !texts {
			return mismatch("two numbers or two texts")
		}
		return Bool, nil
	case "+":
		if texts {
			return String, nil
		}
		fallthrough
	case "-", "*":
		if !numbers {
			return mismatch("two numbers")
		}
		if l == Int && r == Int {
			return Int, nil
		}
		return Float, nil
	case "/", "**", "^":
		if !numbers {
			return mismatch("two numbers")
		}
		return Float, nil
	case "%":
		if l != Int || r != Int {
			return mismatch("two whole numbers")
		}
		if i, ok := fixedInt(n.Right); ok && i == 0 {
			return Type{}, c.wrong(n.Right, "division by zero")
		}
		return Int, nil
	case "in":
		return c.in(n, l, r)
	case "contains", "startsWith", "endsWith":
		if !texts {
			return mismatch("two texts")
		}
		return Bool, nil
	case "matches":
		return c.matches(n, l, r)
	}
	return Type{}, c.wrong(n, "the operator %s is not available", quoted(n.Operator))
}

// fixedInt returns the value of a whole number that no reading changes.
func fixedInt(n node) (int, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return n.Value, true
	case *ast.UnaryNode:
		i, ok := fixedInt(n.Node)
		if n.Operator == "-" {
			i = -i
		}
		return i, ok
	case *ast.BinaryNode:
		l, ok := fixedInt(n.Left)
		r, also := fixedInt(n.Right)
		if !ok || !also {
			return 0, false
		}
		switch n.Operator {
		case "+":
			return l + r, true
		case "-":
			return l - r, true
		case "*":
			return l * r, true
		case "%":
			if r != 0 {
				return l % r, true
			}
		}
	}
	return 0, false
}

func (c *checker) in(n *ast.BinaryNode, l, r Type) (Type, *Error) {
	if r.base != baseList {
		return Type{}, c.wrong(n, "`in` takes a list at its right, this is %s", r)
	}
	e := r.element()
	if e.base != baseNone && !(e == l || e.number() && l.number()) {
		return Type{}, c.wrong(n, "`in` looks for %s in %s", l, r)
	}
	if _, ok := n.Right.(*ast.ArrayNode); !ok {
		if err := c.loop(n, 1); err != nil {
			return Type{}, err
		}
	}
	return Bool, nil
}

func (c *checker) matches(n *ast.BinaryNode, l, r Type) (Type, *Error) {
	if l != String || r != String {
		return Type{}, c.wrong(n, "`matches` takes a text and a pattern; left is %s, right is %s", l, r)
	}
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return Type{}, c.wrong(n.Right, "the pattern of `matches` is not constant; expected text in quotes")
	}
	if c.predicate {
		return Type{}, c.costly(n, "`matches` for each element costs too much")
	}
	const maxPatterns = 4 // each takes a while to compile
	if c.patterns++; c.patterns > maxPatterns {
		return Type{}, c.costly(n, "more than %d patterns", maxPatterns)
	}
	if why := checkPattern(pattern.Value); why != "" {
		return Type{}, c.wrong(pattern, "%s", why)
	}
	return Bool, nil
}

func (c *checker) conditional(n *ast.ConditionalNode) (Type, *Error) {
	cond, err := c.value(n.Cond)
	if err != nil {
		return cond, err
	}
	if cond != Bool {
		return cond, c.wrong(n.Cond, "the choice is by %s; expected true or false", cond)
	}
	a, err := c.value(n.Exp1)
	if err != nil {
		return a, err
	}
	b, err := c.value(n.Exp2)
	switch {
	case err != nil:
		return b, err
	case a == b:
		return a, nil
	case a.number() && b.number():
		return Float, nil
	}
	return b, c.wrong(n.Exp2, "the two choices differ: one is %s, the other %s", a, b)
}

func (c *checker) array(n *ast.ArrayNode) (Type, *Error) {
	var elem Type
	for _, e := range n.Nodes {
		t, err := c.value(e)
		if err != nil {
			return t, err
		}
		switch {
		case t.base == baseList:
			return t, c.wrong(e, "lists in lists are not available")
		case elem.base == baseNone:
			elem = t
		case elem == t:
		case elem.number() && t.number():
			elem = Float
		default:
			return t, c.wrong(e, "the list has %s and %s; expected all of a kind", elem, t)
		}
	}
	return list(elem), nil
}
