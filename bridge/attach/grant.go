package attach

import (
	"path"
	"slices"
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
