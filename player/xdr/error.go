package xdr

import (
	"fmt"
	"strings"
)

// Error says which field of which struct does not fit its bytes.
type Error struct {
	Struct  string // the struct's name, "" if it has none
	Field   string // the field's path, as in Geom.ElementPoses[3].Px
	Offset  int    // of the field in the body, in bytes; -1 when encoding
	Problem string // what is wrong and what was expected
}

func (e *Error) Error() string {
	field := strings.TrimPrefix(e.Struct+"."+e.Field, ".")
	if e.Offset < 0 {
		return fmt.Sprintf("xdr: %s: %s", field, e.Problem)
	}
	return fmt.Sprintf("xdr: %s at byte %d: %s", field, e.Offset, e.Problem)
}

func (s *step) short(at, have, need int) *Error {
	return &Error{Field: s.path, Offset: at, Problem: fmt.Sprintf("%d bytes left, expected at least %d", have, need)}
}

func (s *step) overrun(at int, n, have uint64) *Error {
	return &Error{Field: s.path, Offset: at,
		Problem: fmt.Sprintf("announces %d elements of at least %d bytes, %d bytes are left", n, s.size, have)}
}

func (s *step) countsDiffer(at int, second, first uint32) *Error {
	return &Error{Field: s.path, Offset: at,
		Problem: fmt.Sprintf("second count %d is above the first, %d", second, first)}
}

func (s *step) tooMany(at int, n uint64) *Error {
	return &Error{Field: s.path, Offset: at, Problem: fmt.Sprintf("%d elements, at most %d are allowed", n, s.max)}
}

// inElement puts e, an error inside element i of s, under the path of s.
func (s *step) inElement(e *Error, i int) *Error {
	e.Field = fmt.Sprintf("%s[%d].%s", s.path, i, e.Field)
	return e
}

func (p *Plan) errType(v any) error {
	return fmt.Errorf("xdr: value of type %T, expected *%v that is not nil", v, p.typ)
}
