package playerlog

import "fmt"

// Severity tells whether a line is lost.
type Severity uint8

// Severities. A Warning is what Player tolerates, or writes wrong itself.
const (
	Error Severity = iota
	Warning
)

// Problem is a fault in a log: where, what is wrong and what is expected.
// Reading can go on after it, in the next line.
type Problem struct {
	File         string
	Line, Column int // from 1, columns in characters
	Severity     Severity
	Message      string
	Ends         bool // the log ends here, before its end
}

// Error gives file:line:column: message.
func (p *Problem) Error() string {
	severity := ""
	if p.Severity == Warning {
		severity = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", p.File, p.Line, p.Column, severity, p.Message)
}

// cut makes it the problem of a line that the log ends within.
func (p *Problem) cut() {
	p.Severity = Warning
	p.Message += "; the log ends within this line, as when its writer was stopped"
}
