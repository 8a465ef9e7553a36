package config

import (
	"errors"
	"strconv"
	"strings"
)

// Problem is one thing that is wrong.
type Problem struct {
	File         string // "" if it does not come from a file
	Line, Column int    // from 1, columns in characters; 0 if not known
	Key          string // "player[1].robot"
	Text         string // what is wrong; what is expected
	Warning      bool   // tolerated
}

// String gives file:line:column: key: what is wrong; what is expected.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		b.WriteByte(':')
		if p.Line > 0 {
			b.WriteString(strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column) + ":")
		}
		b.WriteByte(' ')
	}
	if p.Warning {
		b.WriteString("warning: ")
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems is everything that was found, in the file's order.
type Problems []Problem

// Err joins the problems that are not warnings, one a line; nil if none.
func (ps Problems) Err() error {
	var lines []string
	for _, p := range ps {
		if !p.Warning {
			lines = append(lines, p.String())
		}
	}
	if lines == nil {
		return nil
	}
	return errors.New(strings.Join(lines, "\n"))
}

// Warnings gives those that are tolerated.
func (ps Problems) Warnings() Problems {
	var w Problems
	for _, p := range ps {
		if p.Warning {
			w = append(w, p)
		}
	}
	return w
}
