package condition

import "github.com/expr-lang/expr/ast"

// test is one step of a condition: what it asks, and where it goes on. A
// condition keeps nothing else of its text if all its parts are known.
type test struct {
	kind    testKind
	yes, no uint8  // number of the next test, or one of the ends
	value   uint16 // of spans the value, of texts the variable, of closures which
	text    uint16 // of texts, which
	lo, hi  float64
}

type testKind uint8

const (
	testSpan    testKind = iota // lo <= value && value <= hi: false for NaN
	testText                    // a variable is a text
	testClosure                 // what is neither
)

// Ends of a condition.
const (
	endTrue = 250 + iota
	endFalse
	endRun   // expr's machine must say
	maxTests = 240
)

// operands are what few conditions have.
type operands struct {
	values   []*Value // the program's own
	texts    []string
	closures []boolFunc
}

// code lays out tests.
type code struct{ tests []test }

// lay appends a formula's tests, which go on to yes and no, and returns the
// number of the first.
func (c *code) lay(f *formula, yes, no uint8) uint8 {
	switch f.op {
	case opConstant:
		if f.truth {
			return yes
		}
		return no
	case opNot:
		return c.lay(f.parts[0], no, yes)
	case opAnd:
		for i := len(f.parts) - 1; i >= 0; i-- {
			yes = c.lay(f.parts[i], yes, no)
		}
		return yes
	case opOr:
		for i := len(f.parts) - 1; i >= 0; i-- {
			no = c.lay(f.parts[i], yes, no)
		}
		return no
	case opChoose:
		return c.lay(f.parts[0], c.lay(f.parts[1], yes, no), c.lay(f.parts[2], yes, no))
	}
	if len(c.tests) >= maxTests {
		panic("more tests than a condition has parts")
	}
	t := f.test
	t.yes, t.no = yes, no
	c.tests = append(c.tests, t)
	return uint8(len(c.tests) - 1)
}

// condition returns a program its tests. What may fail, or expr's machine alone
// knows, is asked last, if the tests before it hold; it reports whether there is
// such as only the machine knows.
func (b *builder) condition(p *Program, n node) (run bool) {
	var known []*formula
	end := uint8(endTrue)
	parts := conjuncts(n, nil)
	for i, part := range parts {
		f := b.formula(part)
		if f == nil {
			end, p.rest = endRun, b.all(parts[i:])
			break
		}
		known = append(known, f)
	}
	var c code
	p.start = c.lay(conjunction(known), end, endFalse)
	p.tests = append([]test(nil), c.tests...)
	if len(b.values)+len(b.texts)+len(b.closures) > 0 {
		p.operands = &operands{b.values, append([]string(nil), b.texts...), b.closures}
	}
	return end == endRun && p.rest == nil
}

// conjuncts takes apart what must all hold, in order.
func conjuncts(n node, dst []node) []node {
	if and, ok := isAnd(n); ok {
		return conjuncts(and.Right, conjuncts(and.Left, dst))
	}
	return append(dst, n)
}

// value returns the value with a number.
func (p *Program) value(number uint16) *Value {
	if int(number) < len(schemaValues) {
		return &schemaValues[number]
	}
	return p.operands.values[int(number)-len(schemaValues)]
}

// verdict goes through the tests to one of the ends. slots say where e keeps the
// program's own values; nil means that it does not.
func (p *Program) verdict(e *Env, slots []uint32) uint8 {
	at := p.start
	for at < endTrue {
		t := &p.tests[at]
		var holds bool
		switch t.kind {
		case testSpan:
			var v float64
			own := int(t.value) - len(schemaValues)
			switch {
			case own < 0:
				v = schemaValues[t.value].read(e)
			case slots == nil:
				v = p.operands.values[own].read(e)
			default:
				v = e.Value(int(slots[own]), p.operands.values[own])
			}
			holds = t.lo <= v && v <= t.hi
		case testText:
			holds = variables[t.value].text(e) == p.operands.texts[t.text]
		case testClosure:
			holds = p.operands.closures[t.value](e)
		}
		if at = t.no; holds {
			at = t.yes
		}
	}
	return at
}

func isAnd(n node) (*ast.BinaryNode, bool) {
	b, ok := n.(*ast.BinaryNode)
	return b, ok && (b.Operator == "&&" || b.Operator == "and")
}
