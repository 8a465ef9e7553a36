package condition

import (
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
)

// checker walks a parsed text: it knows the schema, assigns types to all parts,
// and refuses what conditions do not have. It walks the tree as it will be
// evaluated (the parser shares parts of chained comparisons) and stops at
// MaxNodes, so that no tree takes long.
type checker struct {
	compiler *Compiler
	place    placer
	types    map[node]Type
	locals   []local

	visits int
	named  view.Kinds // named anywhere
	needs  view.Kinds // whose latest reading it needs
	prev   view.Kinds // whose reading before it needs
	cost   int        // steps for each range

	patterns int

	element   Type // of #, in a predicate
	predicate bool
}

// local is a name that let made.
type local struct {
	name string
	typ  Type
}

func (c *checker) wrong(n node, format string, args ...any) *Error {
	return c.place.error(n.Location().From, protocol.BadCondition, format, args...)
}

func (c *checker) costly(n node, format string, args ...any) *Error {
	return c.place.error(n.Location().From, protocol.TooCostly, format, args...)
}

// root checks the whole text.
func (c *checker) root(n node, condition bool) (Type, *Error) {
	t, err := c.visit(n)
	if err != nil {
		return t, err
	}
	switch {
	case condition && t.number():
		return t, c.wrong(n, "this gives a number; expected true or false, such as a comparison: `laser.min < 1`")
	case condition && t != Bool:
		return t, c.wrong(n, "this gives %s; expected true or false, such as a comparison: `laser.min < 1`", t)
	case t.base == basePrev:
		return t, c.wrong(n, "this gives %s; name one of their values, such as `prev.laser.min`", t)
	}
	return t, nil
}

// value checks a part that must give a value, not a whole reading.
func (c *checker) value(n node) (Type, *Error) {
	t, err := c.visit(n)
	if err != nil {
		return t, err
	}
	switch t.base {
	case baseView:
		return t, c.wrong(n, "this is %s; name one of its values, such as `%s`", t, firstAttribute(t))
	case basePrev:
		return t, c.wrong(n, "these are %s; name one of their values, such as `prev.laser.min`", t)
	}
	return t, nil
}

// firstAttribute names a value of a view, for messages.
func firstAttribute(t Type) string {
	name := t.kind.String()
	if t.prev {
		name = "prev." + name
	}
	i := &interfaces[t.kind]
	for _, a := range i.Attributes {
		if a.Type == Float {
			return name + "." + a.Name
		}
	}
	return name + "." + i.Attributes[0].Name
}

// visit checks a part and everything below it.
func (c *checker) visit(n node) (Type, *Error) {
	if n == nil {
		return Type{}, c.place.error(0, protocol.BadCondition, "this cannot be read")
	}
	if c.visits++; c.visits > MaxNodes {
		return Type{}, c.costly(n, "more than %d names, constants, operators and calls", MaxNodes)
	}
	t, err := c.part(n)
	if err == nil {
		c.types[n] = t
	}
	return t, err
}

func (c *checker) part(n node) (Type, *Error) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return Bool, nil
	case *ast.IntegerNode:
		return Int, nil
	case *ast.FloatNode:
		return Float, nil
	case *ast.StringNode:
		return String, nil
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.SliceNode:
		return c.slice(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.ArrayNode:
		return c.array(n)
	case *ast.BuiltinNode:
		return c.call(call{node: n, name: n.Name, args: n.Arguments})
	case *ast.CallNode:
		return c.callNode(n)
	case *ast.PointerNode:
		return c.pointer(n)
	case *ast.PredicateNode:
		return c.visit(n.Node)
	case *ast.VariableDeclaratorNode:
		return c.let(n)
	case *ast.NilNode:
		return Type{}, c.refuse(n, "nil")
	case *ast.ChainNode:
		return Type{}, c.wrong(n, "`?.` is not available: nothing is ever missing in a condition that is tested")
	case *ast.SequenceNode:
		return Type{}, c.wrong(n, "sequences with `;` are not available: write one expression")
	case *ast.MapNode:
		return Type{}, c.wrong(n, "maps are not available")
	case *ast.BytesNode:
		return Type{}, c.wrong(n, "bytes are not available: write text as \"…\"")
	}
	return Type{}, c.wrong(n, "this is not available in conditions")
}

// refuse refuses a name of the language that conditions do not have.
func (c *checker) refuse(n node, name string) *Error {
	return c.wrong(n, "%s is not available: %s", quoted(name), refused[name])
}

func (c *checker) identifier(n *ast.IdentifierNode) (Type, *Error) {
	for i := len(c.locals) - 1; i >= 0; i-- {
		if c.locals[i].name == n.Value {
			return c.locals[i].typ, nil
		}
	}
	if v := findVariable(n.Value); v != nil {
		return v.Type, nil
	}
	if i := findInterface(n.Value); i != nil {
		c.named |= i.Kind.Set()
		c.needs |= i.Kind.Set()
		return Type{base: baseView, kind: i.Kind}, nil
	}
	if n.Value == "prev" {
		return Type{base: basePrev}, nil
	}
	if _, ok := refused[n.Value]; ok {
		return Type{}, c.refuse(n, n.Value)
	}
	if f := findFunction(n.Value); f != nil {
		return Type{}, c.wrong(n, "%s is a function: write `%s(%s)`%s", quoted(f.Name), f.Name, f.Args, attributeHint(n.Value))
	}
	return Type{}, c.wrong(n, "unknown name %s%s", quoted(n.Value), didYouMean(n.Value, c.names()))
}

func (c *checker) member(n *ast.MemberNode) (Type, *Error) {
	if n.Optional {
		return Type{}, c.wrong(n, "`?.` is not available: nothing is ever missing in a condition that is tested")
	}
	if id, ok := n.Node.(*ast.IdentifierNode); ok && id.Value == "$env" {
		return Type{}, c.refuse(n.Node, "$env")
	}
	of, err := c.visit(n.Node)
	if err != nil {
		return of, err
	}
	name, named := n.Property.(*ast.StringNode)
	switch {
	case of.base == baseView && named:
		i := &interfaces[of.kind]
		a := i.attribute(name.Value)
		if a == nil {
			return Type{}, c.wrong(name, "%s has no %s%s", quoted(i.Name()), quoted(name.Value), didYouMean(name.Value, attributeNames(i)))
		}
		return a.Type, nil
	case of.base == basePrev && named:
		i := findInterface(name.Value)
		if i == nil {
			return Type{}, c.wrong(name, "`prev` has no %s%s", quoted(name.Value), didYouMean(name.Value, interfaceNames()))
		}
		c.named |= i.Kind.Set()
		c.prev |= i.Kind.Set()
		return Type{base: baseView, kind: i.Kind, prev: true}, nil
	case of.base == baseView || of.base == basePrev:
		return Type{}, c.wrong(n.Property, "expected a name, as in `%s`", firstAttribute(Type{kind: of.kind, prev: of.base == basePrev}))
	case named:
		return Type{}, c.wrong(name, "%s has no %s", of, quoted(name.Value))
	case of.base != baseList:
		return Type{}, c.wrong(n, "this is %s; only lists have elements", of)
	}
	at, err := c.value(n.Property)
	if err != nil {
		return at, err
	}
	if at != Int {
		return Type{}, c.wrong(n.Property, "the number of an element is %s; expected a whole number", at)
	}
	return of.element(), nil
}

func (c *checker) slice(n *ast.SliceNode) (Type, *Error) {
	of, err := c.value(n.Node)
	if err != nil {
		return of, err
	}
	if of.base != baseList {
		return of, c.wrong(n, "this is %s; only lists have slices", of)
	}
	for _, bound := range []node{n.From, n.To} {
		if bound == nil {
			continue
		}
		t, err := c.value(bound)
		if err != nil {
			return t, err
		}
		if t != Int {
			return t, c.wrong(bound, "the bound of a slice is %s; expected a whole number", t)
		}
	}
	return of, nil
}

func (c *checker) pointer(n *ast.PointerNode) (Type, *Error) {
	switch {
	case !c.predicate:
		return Type{}, c.wrong(n, "`#` stands for an element; expected it inside `any(…)`, `all(…)` and their kin")
	case n.Name != "":
		return Type{}, c.wrong(n, "unknown name %s: an element is `#` alone", quoted("#"+n.Name))
	}
	return c.element, nil
}

// let returns a name to a number, truth or list.
func (c *checker) let(n *ast.VariableDeclaratorNode) (Type, *Error) {
	t, err := c.value(n.Value)
	if err != nil {
		return t, err
	}
	if t == String {
		// Text could double with each name.
		return t, c.wrong(n.Value, "this is text; `let` names numbers, lists, and what is true or false")
	}
	for _, taken := range c.names() {
		if taken == n.Name {
			return t, c.wrong(n, "the name %s is taken", quoted(n.Name))
		}
	}
	c.locals = append(c.locals, local{n.Name, t})
	t, err = c.value(n.Expr)
	c.locals = c.locals[:len(c.locals)-1]
	return t, err
}
