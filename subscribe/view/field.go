package view

import "strconv"

// Field is a value of a view: what conditions name, and JSON has.
type Field struct {
	Name string
	Unit string // "" for none
	Doc  string

	// One of these reads it from a state that has the view.
	Float  func(*State) float64
	Int    func(*State) int
	Bool   func(*State) bool
	Text   func(*State) string
	Floats func(*State) []float64
	Texts  func(*State) []string
}

// field is a Field of the view T.
type field[T any] struct {
	name, unit, doc string
	key             string        // as JSON has it
	only            func(*T) bool // JSON has it only then; nil: always

	float  func(*T) float64
	int    func(*T) int
	truth  func(*T) bool
	text   func(*T) string
	floats func(*T) []float64
	texts  func(*T) []string
}

func named[T any](name, unit, doc string) field[T] {
	return field[T]{name: name, unit: unit, doc: doc, key: strconv.Quote(name) + ":"}
}

func number[T any](name, unit, doc string, get func(*T) float64) field[T] {
	f := named[T](name, unit, doc)
	f.float = get
	return f
}

func whole[T any](name, unit, doc string, get func(*T) int) field[T] {
	f := named[T](name, unit, doc)
	f.int = get
	return f
}

func truth[T any](name, doc string, get func(*T) bool) field[T] {
	f := named[T](name, "", doc)
	f.truth = get
	return f
}

func text[T any](name, doc string, get func(*T) string) field[T] {
	f := named[T](name, "", doc)
	f.text = get
	return f
}

func numbers[T any](name, unit, doc string, get func(*T) []float64) field[T] {
	f := named[T](name, unit, doc)
	f.floats = get
	return f
}

func texts[T any](name, doc string, get func(*T) []string) field[T] {
	f := named[T](name, "", doc)
	f.texts = get
	return f
}

// when has JSON show a field only where it says something.
func (f field[T]) when(only func(*T) bool) field[T] {
	f.only = only
	return f
}

// of makes the Field of a view that stands at a place in a state.
func (f field[T]) of(at func(*State) *T) Field {
	out := Field{Name: f.name, Unit: f.unit, Doc: f.doc}
	switch {
	case f.float != nil:
		out.Float = func(s *State) float64 { return f.float(at(s)) }
	case f.int != nil:
		out.Int = func(s *State) int { return f.int(at(s)) }
	case f.truth != nil:
		out.Bool = func(s *State) bool { return f.truth(at(s)) }
	case f.text != nil:
		out.Text = func(s *State) string { return f.text(at(s)) }
	case f.floats != nil:
		out.Floats = func(s *State) []float64 { return f.floats(at(s)) }
	default:
		out.Texts = func(s *State) []string { return f.texts(at(s)) }
	}
	return out
}

// appendFields appends a view as a JSON object.
func appendFields[T any](dst []byte, v *T, fields []field[T]) []byte {
	dst = append(dst, '{')
	first := true
	for i := range fields {
		f := &fields[i]
		if f.only != nil && !f.only(v) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.key...)
		switch {
		case f.float != nil:
			dst = AppendFloat(dst, f.float(v))
		case f.int != nil:
			dst = strconv.AppendInt(dst, int64(f.int(v)), 10)
		case f.truth != nil:
			dst = strconv.AppendBool(dst, f.truth(v))
		case f.text != nil:
			dst = AppendString(dst, f.text(v))
		case f.floats != nil:
			dst = AppendFloats(dst, f.floats(v))
		default:
			dst = appendStrings(dst, f.texts(v))
		}
	}
	return append(dst, '}')
}

// Stamp is what all views have: when the reading came, and of which device.
type Stamp struct {
	Time  float64 `expr:"time"` // s
	Index int     `expr:"index"`
}

func (s *Stamp) stamp(time float64, index int) { s.Time, s.Index = time, index }

func (s *Stamp) stamped() *Stamp { return s }

// with appends the fields that all views have.
func with[T any, P interface {
	*T
	stamped() *Stamp
}](fields ...field[T]) []field[T] {
	return append(fields,
		number("time", "s", "the time of the reading", func(v *T) float64 { return P(v).stamped().Time }),
		whole("index", "", "the index of the device", func(v *T) int { return P(v).stamped().Index }))
}
