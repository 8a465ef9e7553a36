// Package problem says what is wrong with what somebody wrote: configurations,
// worlds, logs and recordings. A Problem names the place, what is wrong there and
// what is expected.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is a place in a text: the file's name as it was opened, line and column
// from 1, columns in characters.
type Place struct {
	File         string
	Line, Column int
}

// String returns file:line:column, or the file alone if there is no line.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is something that is wrong.
type Problem struct {
	Place          // File "": what is wrong comes from no file
	Binary  bool   // the file has no lines: the place is Offset
	Offset  int64  // bytes from the file's beginning
	Key     string // of a value in a configuration: "player[1].robot"
	Warning bool   // tolerated, or put right: nothing is lost
	Message string // what is wrong; what is expected
	Detail  string // what differs among problems of one Message
	Ends    bool   // the file ends here, before its end
}

// Error returns file:line:column: key: message, or file: byte offset: message.
func (p Problem) Error() string {
	var b strings.Builder
	if place := p.Place.String(); place != "" {
		b.WriteString(place + ": ")
	}
	if p.Binary {
		fmt.Fprintf(&b, "byte %d: ", p.Offset)
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	return b.String() + p.Text()
}

// Text returns what is wrong, without the place.
func (p Problem) Text() string {
	if p.Detail == "" {
		return p.Message
	}
	return p.Message + " (" + p.Detail + ")"
}

// List is all that is wrong.
type List []Problem

// First returns the first problem that is no warning, or nil.
func (l List) First() error {
	if i := slices.IndexFunc(l, func(p Problem) bool { return !p.Warning }); i >= 0 {
		return l[i]
	}
	return nil
}

// Lines returns the problems that are no warnings, or those that are, as text.
func (l List) Lines(warnings bool) []string {
	var lines []string
	for _, p := range l {
		if p.Warning == warnings {
			lines = append(lines, p.Error())
		}
	}
	return lines
}

// Err joins the problems that are no warnings, one a line; nil if there are none.
func (l List) Err() error {
	if lines := l.Lines(false); lines != nil {
		return errors.New(strings.Join(lines, "\n"))
	}
	return nil
}

// Errorf adds what stands in the way.
func (l *List) Errorf(at Place, format string, args ...any) {
	*l = append(*l, Problem{Place: at, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds what is tolerated.
func (l *List) Warnf(at Place, format string, args ...any) {
	*l = append(*l, Problem{Place: at, Warning: true, Message: fmt.Sprintf(format, args...)})
}

// Sort orders by place; files says in which order the files come, those that it
// does not name first. Problems of one place stay in the order in which they were
// found.
func (l List) Sort(files []string) {
	slices.SortStableFunc(l, func(a, b Problem) int {
		if a.File != b.File {
			return slices.Index(files, a.File) - slices.Index(files, b.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
}

// Short cuts a text that goes into a message.
func Short(s string) string { return Cut(s, 40) }

// Cut cuts a text that goes into a message to so many characters.
func Cut(s string, most int) string {
	if r := []rune(s[:min(len(s), 5*most)]); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
