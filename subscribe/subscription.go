package subscribe

import (
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
)

// Problem says why a subscription was refused: a code that programs decide
// by, a message for people and, if the mistake is in an expression, its place
// there. It is an error.
type Problem struct {
	Code     protocol.Code
	Message  string
	Position *protocol.Position
}

// Error gives the message.
func (p *Problem) Error() string { return p.Message }

// Subscription is a compiled subscription. It is immutable: an update makes
// another one.
type Subscription struct {
	// Spec is the subscription as it was asked for.
	Spec protocol.Subscription
	// Allowed are the robot patterns that the client's token allows; none
	// means all. The broker sets it, between Compile and Install.
	Allowed []string

	program *condition.Program
}
