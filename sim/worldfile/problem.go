package worldfile

import (
	"fmt"
	"sort"
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

// Severity tells whether a Problem stops the load.
type Severity uint8

// Severities. A Warning is what Stage tolerates or what could be put right.
const (
	Error Severity = iota
	Warning
)

// Problem is a fault in a world file: where, what is wrong and what is expected.
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

// FirstError gives the first Problem that stops the load, or nil.
func FirstError(problems []Problem) error {
	for _, p := range problems {
		if p.Severity == Error {
			return p
		}
	}
	return nil
}

// sortProblems puts problems into the order of their places, those of one
// place in the order in which they were found.
func sortProblems(ps []Problem) {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i].Pos, ps[j].Pos
		if a.File != b.File {
			return false
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		return a.Column < b.Column
	})
}
