package condition

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"callboard/subscribe/view"

	"github.com/expr-lang/expr/ast"
)

// Value is a number that conditions compare with constants: an attribute, or
// what is computed of attributes. Conditions that compare the same value share
// its evaluation.
type Value struct {
	key       string
	now, prev view.Kinds
	low, high float64 // between which it is as a rule
	read      floatFunc
}

// Key names the value: values with the same key are the same.
func (v *Value) Key() string { return v.key }

// Needs are the kinds of readings, and of those before them, without which
// there is no value.
func (v *Value) Needs() (now, prev view.Kinds) { return v.now, v.prev }

// Read returns the value; Needs must be there.
func (v *Value) Read(e *Env) float64 { return v.read(e) }

// The values of the schema, numbered, and their numbers by key.
var (
	schemaValues  = makeValues()
	schemaNumbers = makeNumbers()
)

// SchemaValues counts the values that the schema has; other values, with
// numbers from there on, are a program's own.
func SchemaValues() int { return len(schemaValues) }

// SchemaValue returns a value of the schema by its number.
func SchemaValue(number int) *Value { return &schemaValues[number] }

func attributeKey(interf, attribute string, prev bool) string {
	if prev {
		return "prev." + interf + "." + attribute
	}
	return interf + "." + attribute
}

func makeValues() []Value {
	var all []Value
	for _, prev := range []bool{false, true} {
		for i := range interfaces {
			in := &interfaces[i]
			for k := range in.Attributes {
				if v, ok := attributeValue(in, &in.Attributes[k], prev); ok {
					all = append(all, v)
				}
			}
		}
	}
	for i := range listTable {
		all = append(all, listValues(i)...)
	}
	for _, v := range variables {
		switch {
		case v.float != nil:
			all = append(all, Value{key: v.Name, low: 0, high: 1e5, read: v.float})
		case v.int != nil:
			all = append(all, Value{key: v.Name, low: 0, high: 4, read: func(e *Env) float64 { return float64(v.int(e)) }})
		}
	}
	return all
}

func makeNumbers() map[string]int {
	all := map[string]int{}
	for i := range schemaValues {
		all[schemaValues[i].key] = i
	}
	return all
}

// attributeNumbers are those of attributes that are numbers or truths.
var attributeNumbers = makeAttributeNumbers()

type numbered struct {
	attribute *Attribute
	prev      bool
}

func makeAttributeNumbers() map[numbered]int {
	all := map[numbered]int{}
	for i := range interfaces {
		for k := range interfaces[i].Attributes {
			a := &interfaces[i].Attributes[k]
			for _, prev := range []bool{false, true} {
				if number, ok := schemaNumbers[attributeKey(interfaces[i].Name(), a.Name, prev)]; ok {
					all[numbered{a, prev}] = number
				}
			}
		}
	}
	return all
}

// maxSeen, in m, is what ranges are spread up to as a rule: beyond what most
// devices see, since most readings have nothing near.
const maxSeen = 16

func attributeValue(in *Interface, a *Attribute, prev bool) (Value, bool) {
	v := Value{key: attributeKey(in.Name(), a.Name, prev), low: 0, high: 8}
	if prev {
		v.prev = in.Kind.Set()
	} else {
		v.now = in.Kind.Set()
	}
	switch {
	case a.Float != nil:
		v.read = reading(a.Float, prev)
	case a.Int != nil:
		v.high = 400
		v.read = reading(func(s *view.State) float64 { return float64(a.Int(s)) }, prev)
	case a.Bool != nil:
		v.high = 1
		v.read = reading(func(s *view.State) float64 {
			if a.Bool(s) {
				return 1
			}
			return 0
		}, prev)
	default:
		return v, false
	}
	v.low, v.high = usual(in.Kind, a, v.low, v.high)
	return v, true
}

// usual says between which numbers an attribute is as a rule, as far as its
// unit tells.
func usual(k view.Kind, a *Attribute, low, high float64) (float64, float64) {
	place := k == view.KindPosition || a.Name == "x" || a.Name == "y" || strings.HasSuffix(a.Name, "_x") || strings.HasSuffix(a.Name, "_y")
	switch {
	case a.Unit == "s":
		return 0, 1e5
	case a.Unit == "rad" || a.Unit == "m or rad":
		return -math.Pi, math.Pi
	case strings.HasPrefix(a.Unit, "m/s") || strings.HasPrefix(a.Unit, "rad/s"):
		return -1, 1
	case a.Unit == "m" && place:
		return -20, 20
	case a.Unit == "m":
		return 0, maxSeen
	case a.Unit == "%":
		return 0, 100
	case a.Unit == "px":
		return 0, 640
	case a.Unit == "deg":
		return -180, 180
	case a.Name == "index":
		return 0, 4
	}
	return low, high
}

// listValues are the values that answer for all elements of a list.
func listValues(number int) []Value {
	l := &listTable[number]
	make := func(name string, read func(*derived) float64) Value {
		v := Value{key: name + " " + l.key, low: 0, high: maxSeen, read: func(e *Env) float64 { return read(e.list(number)) }}
		l.needs(&v)
		return v
	}
	return []Value{
		make("least", func(d *derived) float64 { return d.least }),
		make("greatest", func(d *derived) float64 { return d.greatest }),
		make("lower", func(d *derived) float64 { return d.lower }),
		make("upper", func(d *derived) float64 { return d.upper }),
		make("len", func(d *derived) float64 { return float64(d.n) }),
	}
}

func (l *listAttribute) needs(v *Value) {
	if l.prev {
		v.prev |= l.kind.Set()
	} else {
		v.now |= l.kind.Set()
	}
}

// keyer writes the key of an expression with a number as its value, and notes which
// readings it needs.
type keyer struct {
	strings.Builder
	value Value
	ok    bool
}

// key returns a value without its evaluation; false if the expression has parts
// that have no key.
func (b *builder) key(n node) (Value, bool) {
	k := keyer{ok: true}
	b.writeKey(&k, n)
	k.value.key = k.String()
	return k.value, k.ok
}

func (b *builder) writeKey(k *keyer, n node) {
	many := func(name string, nodes ...node) {
		k.WriteString(name)
		k.WriteByte('(')
		for _, a := range nodes {
			b.writeKey(k, a)
			k.WriteByte(',')
		}
		k.WriteByte(')')
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		k.WriteByte('i')
		k.WriteString(strconv.Itoa(n.Value))
	case *ast.FloatNode:
		k.WriteString(strconv.FormatFloat(n.Value, 'x', -1, 64))
	case *ast.IdentifierNode:
		b.needs(k, b.types[n])
		k.WriteString(n.Value)
		k.ok = k.ok && (b.types[n].base == baseView || findVariable(n.Value) != nil)
	case *ast.MemberNode:
		name, ok := n.Property.(*ast.StringNode)
		if !ok {
			k.ok = false
			return
		}
		if id, prev := n.Node.(*ast.IdentifierNode); prev && id.Value == "prev" {
			b.needs(k, b.types[n])
			k.WriteString("prev." + name.Value)
			return
		}
		b.writeKey(k, n.Node)
		k.WriteString("." + name.Value)
	case *ast.UnaryNode:
		many(n.Operator, n.Node)
	case *ast.BinaryNode:
		many(n.Operator, n.Left, n.Right)
	case *ast.CallNode:
		id, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			k.ok = false
			return
		}
		if id.Value == "distance" {
			k.value.now |= view.KindPosition.Set()
		}
		many(id.Value, n.Arguments...)
	case *ast.BuiltinNode:
		many(n.Name, n.Arguments...)
	default:
		k.ok = false
	}
}

func (b *builder) needs(k *keyer, t Type) {
	switch {
	case t.base != baseView:
	case t.prev:
		k.value.prev |= t.kind.Set()
	default:
		k.value.now |= t.kind.Set()
	}
}

// valueOf returns the number of an expression's value, among the
// schema's or the program's own; false if it has none.
func (b *builder) valueOf(n node) (int, bool) {
	t := b.types[n]
	if !t.number() && t != Bool {
		return 0, false
	}
	if m, ok := n.(*ast.MemberNode); ok {
		if a, prev := b.attribute(m); a != nil {
			return attributeNumbers[numbered{a, prev}], true
		}
	}
	v, ok := b.key(n)
	if !ok {
		return 0, false
	}
	if number, ok := schemaNumbers[v.key]; ok {
		return number, true
	}
	if number, ok := b.lengthOf(n); ok {
		return number, true
	}
	if t != Float { // whole numbers may be too large for a float
		return 0, false
	}
	if v.read = b.float(n); v.read == nil {
		return 0, false
	}
	v.low, v.high = 0, 8
	return b.own(v), true
}

// lengthOf returns the value of len(list).
func (b *builder) lengthOf(n node) (int, bool) {
	call, ok := n.(*ast.BuiltinNode)
	if !ok || call.Name != "len" {
		return 0, false
	}
	list, ok := b.listNumber(call.Arguments[0])
	if !ok {
		return 0, false
	}
	return schemaNumbers["len "+listTable[list].key], true
}

// listNumber returns the number of a list of the schema.
func (b *builder) listNumber(n node) (int, bool) {
	v, ok := b.key(n)
	if !ok {
		return 0, false
	}
	for i := range listTable {
		if listTable[i].key == v.key {
			return i, true
		}
	}
	return 0, false
}

// own returns the number of a value of the program's own.
func (b *builder) own(v Value) int {
	for i, o := range b.values {
		if o.key == v.key {
			return len(schemaValues) + i
		}
	}
	b.values = append(b.values, &v)
	return len(schemaValues) + len(b.values) - 1
}

// ordinal returns the value of the k-th least or greatest element of a list.
func (b *builder) ordinal(list, k int, least bool) int {
	l := &listTable[list]
	v := Value{low: 0, high: 8}
	l.needs(&v)
	if least {
		v.key = fmt.Sprintf("low %d %s", k, l.key)
		v.read = func(e *Env) float64 { return e.order(list).low(k) }
	} else {
		v.key = fmt.Sprintf("high %d %s", k, l.key)
		v.read = func(e *Env) float64 { return e.order(list).high(k) }
	}
	return b.own(v)
}

// within returns the value that counts a list's elements within an interval,
// or those that are not.
func (b *builder) within(list int, in interval, not bool) int {
	l := &listTable[list]
	v := Value{key: fmt.Sprintf("count %v %x %x %s", not, in.lo, in.hi, l.key), low: 0, high: 400}
	l.needs(&v)
	v.read = func(e *Env) float64 {
		d := e.order(list)
		n := d.count(in.lo, in.hi)
		if not {
			n = d.n - n
		}
		return float64(n)
	}
	return b.own(v)
}
