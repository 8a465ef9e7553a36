package playercfg

import (
	"fmt"
	"slices"
)

// Pos is a place in a file: the file's name as it was opened, line and column
// from 1, columns in characters.
type Pos struct {
	File         string
	Line, Column int
}

// String gives file:line:column, or the file alone if there is no line.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Severity tells whether real Player would refuse the file.
type Severity uint8

// Severities. A Warning is what Player tolerates, mostly not as it was meant.
const (
	Error Severity = iota
	Warning
)

// Problem is a fault in a configuration: where, what is wrong and what is
// expected.
type Problem struct {
	Pos
	Severity Severity
	Message  string
}

// Error gives file:line:column: message.
func (p Problem) Error() string {
	if p.Severity == Warning {
		return p.Pos.String() + ": warning: " + p.Message
	}
	return p.Pos.String() + ": " + p.Message
}

// FirstError gives the first Problem for which Player would refuse the file,
// or nil.
func FirstError(problems []Problem) error {
	for _, p := range problems {
		if p.Severity == Error {
			return p
		}
	}
	return nil
}

// maxProblems bounds what is told about one configuration, of each severity.
const maxProblems = 100

// reporter collects problems.
type reporter struct {
	problems []Problem
	count    [2]int   // by severity
	files    []string // in the order in which they were opened
}

func (r *reporter) add(pos Pos, s Severity, format string, args ...any) {
	if r.count[s]++; r.count[s] <= maxProblems {
		r.problems = append(r.problems, Problem{Pos: pos, Severity: s, Message: fmt.Sprintf(format, args...)})
	}
}

func (r *reporter) errorf(pos Pos, format string, args ...any) { r.add(pos, Error, format, args...) }
func (r *reporter) warnf(pos Pos, format string, args ...any)  { r.add(pos, Warning, format, args...) }

// sorted gives the problems by file, in the order of opening, and place.
func (r *reporter) sorted() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		if a.File != b.File {
			return slices.Index(r.files, a.File) - slices.Index(r.files, b.File)
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.problems
}

// short cuts what goes into a message.
func short(s string) string {
	if r := []rune(s[:min(len(s), 200)]); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}
