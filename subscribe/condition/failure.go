package condition

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// failure is what went wrong first while closures ran. Its text is made only
// if somebody asks.
type failure struct {
	failed   bool
	division bool
	at, of   int // an index, and the length of its list
}

// Error words the failure as expr's machine would.
func (f *failure) Error() string {
	if f.division {
		return errDivision.Error()
	}
	return fmt.Sprintf("index out of range: %d (array length is %d)", f.at, f.of)
}

var errDivision = errors.New("division by zero")

// fail notes a failure: the first one counts.
func (e *Env) fail(f failure) {
	if !e.failure.failed {
		f.failed = true
		e.failure = f
	}
}

// elementOf builds the element of a list with some number.
func (b *builder) elementOf(n *ast.MemberNode) floatFunc {
	if !b.fallible || b.types[n.Property] != Int {
		return nil
	}
	list, at := b.list(n.Node), b.int(n.Property)
	if list == nil || at == nil {
		return nil
	}
	return func(e *Env) float64 {
		l, i := list(e), at(e)
		if i < 0 {
			i += len(l)
		}
		if i < 0 || i >= len(l) {
			e.fail(failure{at: i, of: len(l)})
			return 0
		}
		return l[i]
	}
}

// remainder builds x % y.
func remainder(x, y intFunc) intFunc {
	return func(e *Env) int {
		a, b := x(e), y(e)
		if b == 0 {
			e.fail(failure{division: true})
			return 0
		}
		return a % b
	}
}

// all builds what tells that all parts hold, in order, of which some may
// fail; nil if expr's machine must tell.
func (b *builder) all(parts []node) func(*Env) (bool, error) {
	b.fallible = true
	defer func() { b.fallible = false }()
	var tests []boolFunc
	for _, n := range parts {
		f := b.bool(n)
		if f == nil {
			return nil
		}
		tests = append(tests, f)
	}
	return func(e *Env) (bool, error) {
		e.failure.failed = false
		for _, f := range tests {
			holds := f(e)
			if e.failure.failed {
				return false, &e.failure
			}
			if !holds {
				return false, nil
			}
		}
		return true, nil
	}
}
