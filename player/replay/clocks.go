package replay

// jump is how far, in s, a robot's clock must run back to have been set;
// messages that are a little out of order are less.
const jump = 1.0

// apart is how far, in s, a message may lie behind the time line before its
// robot's clock is taken to be another one.
const apart = 60.0

// clocks puts the messages of one run on one time line that never runs back,
// although robots may have clocks of their own (simulations that began at 0
// beside Unix time), clocks are set, and messages come a little out of order.
// The order is always that of the recording. Where all is well, the time line
// is the messages' own times.
type clocks struct {
	gap    float64 // s
	robots map[string]*clock
	line   float64
	last   *clock  // of the newest message
	time   float64 // of it
	begun  bool
}

// clock is that of a robot: its times less offset are on the time line.
type clock struct {
	offset, newest float64
}

// place returns the time of a message on the time line.
func (c *clocks) place(robot string, t float64) float64 {
	k := c.robots[robot]
	if k == nil {
		k = c.introduce(robot, t)
	}
	at := t - k.offset
	if t < k.newest-jump || at < c.line-apart {
		k.offset = t - c.line // set back, or left behind when another's was set forward
		at = c.line
	}
	k.newest = t
	c.line = max(c.line, at)
	c.last, c.time = k, t
	return c.line
}

// introduce takes a robot's first message. A time like that of the message
// before it means that they have one clock.
func (c *clocks) introduce(robot string, t float64) *clock {
	k := &clock{newest: t}
	switch {
	case !c.begun:
		c.begun, c.line = true, t
	case t-c.time <= c.gap && c.time-t <= c.gap:
		k.offset = c.last.offset
	default:
		k.offset = t - c.line
	}
	if c.robots == nil {
		c.robots = map[string]*clock{}
	}
	c.robots[robot] = k
	return k
}
