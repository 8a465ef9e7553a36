package condition

import (
	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
)

// call is a call of a function, the language's or ours.
type call struct {
	node node
	name string
	args []node
}

func (c *checker) callNode(n *ast.CallNode) (Type, *Error) {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		if m, ok := n.Callee.(*ast.MemberNode); ok {
			if name, ok := m.Property.(*ast.StringNode); ok {
				return Type{}, c.wrong(name, "%s is not a function%s", quoted(name.Value), didYouMean(name.Value, functionNames()))
			}
		}
		return Type{}, c.wrong(n, "this is not a function")
	}
	return c.call(call{node: id, name: id.Value, args: n.Arguments})
}

func (c *checker) call(k call) (Type, *Error) {
	if _, ok := refused[k.name]; ok {
		return Type{}, c.refuse(k.node, k.name)
	}
	f := findFunction(k.name)
	if f == nil {
		for _, known := range c.names() {
			if known == k.name {
				return Type{}, c.wrong(k.node, "%s is not a function", quoted(k.name))
			}
		}
		if _, ok := k.node.(*ast.BuiltinNode); ok {
			return Type{}, c.wrong(k.node, "the function %s is not available in conditions", quoted(k.name))
		}
		return Type{}, c.wrong(k.node, "unknown function %s%s", quoted(k.name), didYouMean(k.name, functionNames()))
	}
	return f.check(c, k)
}

// arity checks the number of arguments.
func (c *checker) arity(k call, least, most int) *Error {
	if n := len(k.args); n < least || n > most {
		f := findFunction(k.name)
		return c.wrong(k.node, "%s has %d arguments; expected `%s(%s)`", quoted(k.name), n, f.Name, f.Args)
	}
	return nil
}

// loop counts a loop over a list, of so many steps for each element. A loop
// in a predicate would be one for each element.
func (c *checker) loop(n node, steps int) *Error {
	if c.predicate {
		return c.costly(n, "a loop over a list inside another costs too much")
	}
	if c.cost += steps; c.cost > MaxCost {
		return c.costly(n, "the loops over lists cost too much together: more than %d steps for each element", MaxCost)
	}
	return nil
}

// list checks an argument that must be a list.
func (c *checker) list(k call, i int) (Type, *Error) {
	t, err := c.value(k.args[i])
	if err == nil && t.base != baseList {
		err = c.wrong(k.args[i], "%s takes a list, this is %s", quoted(k.name), t)
	}
	return t, err
}

// each checks an expression that is evaluated for each element of a list.
func (c *checker) each(k call, list Type, body node) (Type, *Error) {
	if err := c.loop(k.node, 0); err != nil {
		return Type{}, err
	}
	before := c.visits
	c.predicate, c.element = true, list.element()
	t, err := c.value(body)
	c.predicate, c.element = false, Type{}
	if err == nil {
		err = c.loop(k.node, c.visits-before)
	}
	return t, err
}

// overList checks (list, predicate).
func (c *checker) overList(k call) (Type, *Error) {
	if err := c.arity(k, 2, 2); err != nil {
		return Type{}, err
	}
	l, err := c.list(k, 0)
	if err != nil {
		return l, err
	}
	t, err := c.each(k, l, k.args[1])
	if err == nil && t != Bool {
		err = c.wrong(k.args[1], "the predicate of %s gives %s; expected true or false, as in `# < 1`", quoted(k.name), t)
	}
	return l, err
}

func predicateTo(t Type) func(*checker, call) (Type, *Error) {
	return func(c *checker, k call) (Type, *Error) {
		_, err := c.overList(k)
		return t, err
	}
}

func checkFilter(c *checker, k call) (Type, *Error) { return c.overList(k) }

func checkMap(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 2, 2); err != nil {
		return Type{}, err
	}
	l, err := c.list(k, 0)
	if err != nil {
		return l, err
	}
	t, err := c.each(k, l, k.args[1])
	if err == nil && !t.number() && t != Bool {
		err = c.wrong(k.args[1], "the expression of `map` gives %s; expected a number, or true or false", t)
	}
	return list(t), err
}

func checkSum(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 1, 2); err != nil {
		return Type{}, err
	}
	l, err := c.list(k, 0)
	if err != nil {
		return l, err
	}
	t := l.element()
	if len(k.args) == 2 {
		t, err = c.each(k, l, k.args[1])
	} else {
		err = c.loop(k.node, 1)
	}
	if err == nil && !t.number() {
		err = c.wrong(k.args[len(k.args)-1], "`sum` takes numbers, this is %s", t)
	}
	return t, err
}

// numbers checks a list of numbers.
func (c *checker) numbers(k call) *Error {
	l, err := c.list(k, 0)
	if err != nil {
		return err
	}
	if !l.element().number() {
		return c.wrong(k.args[0], "%s takes numbers, this is %s", quoted(k.name), l)
	}
	return c.loop(k.node, 1)
}

func listTo(t Type) func(*checker, call) (Type, *Error) {
	return func(c *checker, k call) (Type, *Error) {
		if err := c.arity(k, 1, 1); err != nil {
			return Type{}, err
		}
		return t, c.numbers(k)
	}
}

// checkExtreme checks min and max: of a list, or of two numbers or more.
func checkExtreme(c *checker, k call) (Type, *Error) {
	if len(k.args) == 1 {
		return Float, c.numbers(k)
	}
	if err := c.arity(k, 2, MaxNodes); err != nil {
		return Type{}, err
	}
	return Float, c.all(k, "numbers", Type.number)
}

// all checks that all arguments are of a kind.
func (c *checker) all(k call, what string, is func(Type) bool) *Error {
	for _, a := range k.args {
		t, err := c.value(a)
		if err != nil {
			return err
		}
		if !is(t) {
			return c.wrong(a, "%s takes %s, this is %s", quoted(k.name), what, t)
		}
	}
	return nil
}

func numbersTo(n int, to Type) func(*checker, call) (Type, *Error) {
	return func(c *checker, k call) (Type, *Error) {
		if err := c.arity(k, n, n); err != nil {
			return Type{}, err
		}
		return to, c.all(k, "numbers", Type.number)
	}
}

func textsTo(n int, to Type) func(*checker, call) (Type, *Error) {
	return func(c *checker, k call) (Type, *Error) {
		if err := c.arity(k, n, n); err != nil {
			return Type{}, err
		}
		return to, c.all(k, "text", func(t Type) bool { return t == String })
	}
}

func checkLen(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 1, 1); err != nil {
		return Type{}, err
	}
	return Int, c.all(k, "a list or text", func(t Type) bool { return t == String || t.base == baseList })
}

func checkAbs(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 1, 1); err != nil {
		return Type{}, err
	}
	if err := c.all(k, "a number", Type.number); err != nil {
		return Type{}, err
	}
	return c.types[k.args[0]], nil
}

func checkConvert(to Type) func(*checker, call) (Type, *Error) {
	return func(c *checker, k call) (Type, *Error) {
		if err := c.arity(k, 1, 1); err != nil {
			return Type{}, err
		}
		return to, c.all(k, "a number or text", func(t Type) bool { return t.number() || t == String })
	}
}

func checkSector(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 3, 3); err != nil {
		return Type{}, err
	}
	t, err := c.visit(k.args[0])
	if err != nil {
		return t, err
	}
	if t.base != baseView || t.kind != view.KindLaser && t.kind != view.KindSonar {
		return t, c.wrong(k.args[0], "`sector` takes `laser` or `sonar`, this is %s", t)
	}
	if err := c.loop(k.node, 1); err != nil {
		return t, err
	}
	bearings := call{node: k.node, name: k.name, args: k.args[1:]}
	return Float, c.all(bearings, "two bearings in degrees", Type.number)
}

// position notes that a function reads the robot's position.
func (c *checker) position() {
	c.named |= view.KindPosition.Set()
	c.needs |= view.KindPosition.Set()
}

func checkDistance(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 2, 2); err != nil {
		return Type{}, err
	}
	c.position()
	return Float, c.all(k, "numbers", Type.number)
}

func checkInside(c *checker, k call) (Type, *Error) {
	if err := c.arity(k, 1, 1); err != nil {
		return Type{}, err
	}
	c.position()
	name, ok := k.args[0].(*ast.StringNode)
	if !ok {
		return Type{}, c.wrong(k.args[0], "`inside` takes the name of a zone in quotes")
	}
	if _, err := c.visit(name); err != nil {
		return Type{}, err
	}
	if c.predicate {
		return Type{}, c.costly(k.node, "`inside` for each element costs too much")
	}
	_, ok = c.compiler.zones[name.Value]
	if !ok {
		if len(c.compiler.zoneNames) == 0 {
			return Type{}, c.wrong(name, "unknown zone %s: this broker has no zones", quoted(name.Value))
		}
		return Type{}, c.wrong(name, "unknown zone %s%s", quoted(name.Value), didYouMean(name.Value, c.compiler.zoneNames))
	}

	return Bool, nil
}
