package attach

import (
	"errors"
	"path"
	"slices"

	"callboard/subscribe/protocol"
)

// Grant is what a client may do.
type Grant struct {
	Token     string   // the token's name; "" without tokens
	Robots    []string // path.Match patterns; nil means all robots
	Subscribe bool
	Command   bool
}

// AllRobots reports whether the grant covers every robot.
func (g Grant) AllRobots() bool { return g.Robots == nil || slices.Contains(g.Robots, "*") }

// Allows reports whether the grant covers the robot.
func (g Grant) Allows(robot string) bool {
	if g.Robots == nil {
		return true
	}
	for _, p := range g.Robots {
		if ok, err := path.Match(p, robot); err == nil && ok {
			return true
		}
	}
	return false
}

// Problem is an error with a code, which a client is told.
type Problem struct {
	ID         string // of what the client asked for; "": not told
	Code       protocol.Code
	Message    string
	Position   *protocol.Position // in a condition
	Attachment *uint64            // the newest, for protocol.Conflict
}

// Error returns code and message.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }

// ProblemOf returns an error with its code: unavailable if it has none.
func ProblemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{Code: protocol.Unavailable, Message: err.Error()}
}
