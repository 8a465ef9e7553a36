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
	Queues    []string // path.Match patterns; nil means all queues
	Serve     bool
	Request   bool
}

// AllRobots reports whether the grant covers every robot.
func (g Grant) AllRobots() bool { return g.Robots == nil || slices.Contains(g.Robots, "*") }

// Allows reports whether the grant covers the robot.
func (g Grant) Allows(robot string) bool {
	return matches(g.Robots, robot)
}

// AllQueues reports whether the grant covers every queue.
func (g Grant) AllQueues() bool { return g.Queues == nil || slices.Contains(g.Queues, "*") }

// AllowsQueue reports whether the grant covers the queue.
func (g Grant) AllowsQueue(queue string) bool { return matches(g.Queues, queue) }

func matches(patterns []string, name string) bool {
	if patterns == nil {
		return true
	}
	for _, p := range patterns {
		if ok, err := path.Match(p, name); err == nil && ok {
			return true
		}
	}
	return false
}
