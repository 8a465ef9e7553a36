package playercfg

import (
	"callboard/player/problem"
	"callboard/player/problem/lexer"
	"math"
	"path/filepath"
	"strconv"
	"strings"
)

// Section is a section of the file, or the whole file (the global section,
// Type ""), with what stands in it. Reading an option follows Player: all is
// text, converted by whoever reads it; a single value is the first of a tuple.
type Section struct {
	Type     string
	Pos      problem.Place
	Parent   *Section
	Fields   []*Field // in the order in which their names first occur
	Sections []*Section

	byName map[string]*Field
	file   *File
}

// Field is an option. Its values are those that count: of options given twice
// the later, element by element.
type Field struct {
	Name   string
	Pos    problem.Place // where it was given last
	Values []Value

	macro bool // it was given in a macro's body
}

// Value is a value, as it stands in the file.
type Value struct {
	Text string // a string's without its quotes
	Kind ValueKind
	Pos  problem.Place
}

// ValueKind is how a value is written.
type ValueKind uint8

// Kinds of values.
const (
	Number ValueKind = iota
	String
	Bool
)

// Field returns an option, or nil.
func (s *Section) Field(name string) *Field { return s.byName[name] }

// Len returns the number of an option's values, 0 if it is not given.
func (s *Section) Len(name string) int {
	if f := s.byName[name]; f != nil {
		return len(f.Values)
	}
	return 0
}

// value returns the i-th value of an option.
func (s *Section) value(name string, i int) (string, bool) {
	if f := s.byName[name]; f != nil && i >= 0 && i < len(f.Values) {
		return f.Values[i].Text, true
	}
	return "", false
}

// Text returns the i-th value of an option, or otherwise what it stands for.
func (s *Section) Text(name string, i int, otherwise string) string {
	if t, ok := s.value(name, i); ok {
		return t
	}
	return otherwise
}

// Int returns a value as an integer: its longest prefix that is one, else 0.
func (s *Section) Int(name string, i int, otherwise int) int {
	if t, ok := s.value(name, i); ok {
		return prefixInt(t)
	}
	return otherwise
}

// FileName returns a value as the name of a file: relative ones are relative to
// the directory of the main configuration file.
func (s *Section) FileName(name string, i int, otherwise string) string {
	t, ok := s.value(name, i)
	if !ok {
		return otherwise
	}
	return beside(s.file.Name, t)
}

// beside returns name relative to the directory of main; what is absolute or
// begins with ~ stays.
func beside(main, name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return filepath.Join(filepath.Dir(main), name)
}

// set returns a field values from the first on; a longer tuple that stood there
// keeps its tail. It returns where the field was given before, if that was not
// in a macro.
func (s *Section) set(name string, pos problem.Place, values []Value, macro bool) (before problem.Place) {
	f := s.byName[name]
	if f == nil {
		f = &Field{Name: name}
		s.byName[name] = f
		s.Fields = append(s.Fields, f)
	} else if !f.macro {
		before = f.Pos
	}
	f.Pos, f.macro = pos, macro
	for i, v := range values {
		if i < len(f.Values) {
			f.Values[i] = v
		} else {
			f.Values = append(f.Values, v)
		}
	}
	return before
}

// prefixInt reads as C's atoi does; what is too large is the largest.
func prefixInt(s string) int {
	s = strings.TrimLeft(s, " \t")
	end := lexer.Sign(s)
	from := end
	for end < len(s) && lexer.IsDigit(s[end]) {
		end++
	}
	if end == from {
		return 0
	}
	v, err := strconv.ParseInt(s[:end], 10, 32)
	if err != nil {
		if s[0] == '-' {
			return math.MinInt32
		}
		return math.MaxInt32
	}
	return int(v)
}
