package playercfg

import (
	"callboard/player/problem"
)

// maxProblems bounds what is told about one configuration, of each severity.
const maxProblems = 100

// reporter collects problems.
type reporter struct {
	problem.List
	errors, warnings int
	files            []string // in the order in which they were opened
}

func (r *reporter) errorf(at problem.Place, format string, args ...any) {
	if r.errors++; r.errors <= maxProblems {
		r.Errorf(at, format, args...)
	}
}

func (r *reporter) warnf(at problem.Place, format string, args ...any) {
	if r.warnings++; r.warnings <= maxProblems {
		r.Warnf(at, format, args...)
	}
}

// sorted returns the problems by file, in the order of opening, and place.
func (r *reporter) sorted() problem.List {
	r.Sort(r.files)
	return r.List
}
