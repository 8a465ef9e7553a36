package run

import "fmt"

// Problem is a fault in a recorded run: where, what is wrong and what is
// expected. Reading can go on after it.
type Problem struct {
	File         string
	Line, Column int   // in a Player log, from 1, columns in characters; 0: by Offset
	Offset       int64 // bytes from the file's beginning
	Warning      bool  // what Player tolerates, or writes wrong itself: nothing is lost
	Message      string
	Ends         bool // the file ends here, before its end
}

// Error gives file:line:column: message, or file: byte offset: message.
func (p *Problem) Error() string {
	severity := ""
	if p.Warning {
		severity = "warning: "
	}
	if p.Line == 0 {
		return fmt.Sprintf("%s: byte %d: %s%s", p.File, p.Offset, severity, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s%s", p.File, p.Line, p.Column, severity, p.Message)
}
