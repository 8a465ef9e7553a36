package protocol

import "errors"

// Problem is why something that a client asks for is not done: a code that
// programs decide by, and a message for people. It is an error.
type Problem struct {
	ID         string // of what the client asked for; "": not told
	Code       Code
	Message    string
	Position   *Position // of a mistake in an expression
	Attachment *uint64   // the newest, for Conflict
}

// Error returns code and message.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// ProblemOf returns an error as a Problem: unavailable if it has no code.
func ProblemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{Code: Unavailable, Message: err.Error()}
}
