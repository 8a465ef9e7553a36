package condition

import "callboard/subscribe/view"

// Type is the type of an expression's value.
type Type struct {
	base base
	elem base      // of lists
	kind view.Kind // of views
	prev bool      // a view of the reading before
}

type base uint8

const (
	baseNone base = iota
	baseBool
	baseInt
	baseFloat
	baseString
	baseList
	baseView // a whole reading
	basePrev // the readings before
)

// The types of values.
var (
	Bool   = Type{base: baseBool}
	Int    = Type{base: baseInt}
	Float  = Type{base: baseFloat}
	String = Type{base: baseString}
	Floats = Type{base: baseList, elem: baseFloat}
	Texts  = Type{base: baseList, elem: baseString}
)

// list is the type of lists of an elem.
func list(elem Type) Type { return Type{base: baseList, elem: elem.base} }

// element is the type of a list's elements.
func (t Type) element() Type { return Type{base: t.elem} }

func (t Type) number() bool { return t.base == baseInt || t.base == baseFloat }

// String says what it is, as messages do.
func (t Type) String() string {
	switch t.base {
	case baseBool:
		return "true or false"
	case baseInt, baseFloat:
		return "a number"
	case baseString:
		return "text"
	case baseList:
		switch t.elem {
		case baseInt, baseFloat:
			return "a list of numbers"
		case baseString:
			return "a list of texts"
		case baseBool:
			return "a list of true or false"
		}
		return "an empty list"
	case baseView:
		return "a whole " + t.kind.String() + " reading"
	case basePrev:
		return "the readings before"
	}
	return "nothing"
}

// Name is the type in a word, for the description of names.
func (t Type) Name() string {
	switch t.base {
	case baseBool:
		return "bool"
	case baseInt:
		return "int"
	case baseFloat:
		return "number"
	case baseString:
		return "text"
	case baseList:
		if t.elem == baseString {
			return "list of text"
		}
		return "list"
	}
	return t.String()
}
