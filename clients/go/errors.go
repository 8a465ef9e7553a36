package callboard

import (
	"errors"
	"fmt"

	"callboard/subscribe/protocol"
)

// ErrTakenOver ends Run: another program has attached with this client id.
var ErrTakenOver = errors.New("callboard: another program has attached with this client id")

// ErrClosed answers calls after the client's end.
var ErrClosed = errors.New("callboard: the client is closed")

// ErrLost answers a command whose connection was lost before its answer came:
// whether it was carried out is not known.
var ErrLost = errors.New("callboard: the connection was lost before the answer came")

// ErrOvertaken answers a Move that another Move has replaced before it ended.
var ErrOvertaken = errors.New("callboard: another move has replaced this one")

// Error is an error that a broker sent.
type Error struct {
	ID         string // of the subscription or request, "" if of none
	Code       protocol.Code
	Message    string
	Position   *protocol.Position // in the condition, nil if it has none
	Attachment *uint64            // with protocol.Conflict: the newest
}

// Error implements error.
func (e *Error) Error() string {
	if e.Position != nil {
		return fmt.Sprintf("%d:%d: %s (%s)", e.Position.Line, e.Position.Column, e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Code)
}

// fatal wraps an error that ends Run: trying again would not help.
type fatal struct{ err error }

func (f *fatal) Error() string { return f.err.Error() }
func (f *fatal) Unwrap() error { return f.err }
