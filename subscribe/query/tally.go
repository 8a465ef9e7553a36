package query

import (
	"slices"

	"callboard/subscribe"
)

// Tally is what was counted of a robot.
type Tally struct {
	Robot      string
	Conditions []Count // by condition, in the order of Config.Subscriptions
	Readings   uint64  // that were tested
	Failures   uint64  // expressions that failed while they ran
	Skipped    map[string]uint64
}

// Count is what was counted of one condition and robot.
type Count struct {
	Notifications uint64
	First, Last   float64 // s, of the first and the last of them
	// Held is how long the condition held, in all; Longest how long at one time,
	// from LongestFrom on; all in s, and 0 without Config.Spans.
	Held, Longest, LongestFrom float64
	Spans                      uint64 // how often it began to hold
}

func newTally(robot string, conditions int) Tally {
	return Tally{Robot: robot, Conditions: make([]Count, conditions)}
}

func (t *Tally) notified(condition int, time float64) {
	c := &t.Conditions[condition]
	if c.Notifications++; c.Notifications == 1 {
		c.First = time
	}
	c.Last = time
}

func (t *Tally) held(condition int, from, to float64) {
	c := &t.Conditions[condition]
	c.Spans++
	c.Held += to - from
	if c.Spans == 1 || to-from > c.Longest {
		c.Longest, c.LongestFrom = to-from, from
	}
}

func (t *Tally) stats(s subscribe.Stats) {
	t.Readings, t.Failures, t.Skipped = s.Readings, s.Failures, s.Skipped
}

// Add counts another robot's.
func (c *Count) Add(o Count) {
	if o.Notifications > 0 {
		if c.Notifications == 0 {
			c.First, c.Last = o.First, o.Last
		}
		c.First, c.Last = min(c.First, o.First), max(c.Last, o.Last)
	}
	if o.Spans > 0 && (c.Spans == 0 || o.Longest > c.Longest) {
		c.Longest, c.LongestFrom = o.Longest, o.LongestFrom
	}
	c.Notifications += o.Notifications
	c.Held += o.Held
	c.Spans += o.Spans
}

// Sort puts tallies in the order of the robots' names.
func Sort(all []Tally) {
	slices.SortFunc(all, func(a, b Tally) int {
		if a.Robot < b.Robot {
			return -1
		}
		return 1
	})
}
