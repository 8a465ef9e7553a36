package rosbridge

import (
	"fmt"
	"strings"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// begun says that a stream was subscribed to: what is latched goes out.
type begun struct{ stream *stream }

// Op names it for metrics.
func (*begun) Op() string { return "begun" }

// due says that the time of what waits in a stream has come.
type due struct{ stream *stream }

// Op names it for metrics.
func (*due) Op() string { return "due" }

// Notify says what comes of a notification on the topics that it is of.
func (c *client) Notify(to attach.Messages, n *protocol.Notify) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.member == nil {
		return
	}
	c.count++
	c.member.Begin(n)
	for i := range n.Subscriptions {
		id := n.Subscriptions[i].ID
		if id == republishing {
			c.republish.take(c, to)
			continue
		}
		sub := c.asked.By(id)
		if sub == nil || sub.stream.count == c.count {
			continue // it has ended, or the stream was told already
		}
		sub.stream.count = c.count
		c.tell(to, sub.stream, n, &n.Subscriptions[i])
	}
}

// tell says what a stream has of a notification.
func (c *client) tell(to attach.Messages, s *stream, n *protocol.Notify, matched *protocol.Matched) {
	if s.names {
		f := s.compression.format()
		c.say(to, s, f, text(f, notification(n, matched, strings.TrimPrefix(s.bare, conditionTopics))))
		return
	}
	if s.topic == nil {
		if s.topic = c.member.Find(s.bare); s.topic == nil {
			return
		}
		c.watch(s.topic, true)
	}
	f := s.compression.format()
	var body []byte
	switch t := s.topic; t.Use {
	case rosgraph.Readings:
		if n.Robot == t.Robot.Name && n.Interface == t.Device.Interface && n.Index == t.Device.Index {
			body = c.member.Message(t.Kind, f)
		}
	case rosgraph.Transforms:
		body = c.member.Transforms(f)
	case rosgraph.Clock:
		body = c.member.Clock(f)
	case rosgraph.Truth:
		if n.Robot == t.Robot.Name {
			c.member.AskTruth()
		}
	}
	if body != nil {
		c.say(to, s, f, body)
	}
}

// notification returns a notification as callboard.v1 has it, of one condition
// under its name.
func notification(n *protocol.Notify, matched *protocol.Matched, name string) []byte {
	one := *n
	one.Messages, one.Subscriptions = nil, []protocol.Matched{{ID: name, State: matched.State, Values: matched.Values}}
	if matched.Values != nil {
		one.Reading = nil
	}
	return protocol.AppendNotify(nil, &one)
}

// say sends a message of a stream, now or when its time has come.
func (c *client) say(to attach.Messages, s *stream, f ros.Format, body []byte) {
	if s.topic != nil && s.topic.Latched {
		s.latest, s.format = body, f
	}
	send, wait := true, time.Duration(0)
	if s.throttle > 0 {
		send, wait = s.take(queued{f, body}, time.Now())
	}
	if send {
		c.write(to, s, f, body)
	}
	c.later(s, wait)
}

// later has what waits in a stream go when its time has come.
func (c *client) later(s *stream, wait time.Duration) {
	if wait > 0 {
		s.timer = time.AfterFunc(wait, func() { c.conn.Send(&due{s}) })
	}
}

// text returns a std_msgs/String.
func text(f ros.Format, data []byte) []byte {
	e := ros.Begin(nil, f)
	e.Text("data", data)
	return e.Bytes()
}

// behind is what comes behind the message in JSON.
var behind = []byte("}")

// write writes a message of a stream.
func (c *client) write(to attach.Messages, s *stream, f ros.Format, body []byte) {
	switch {
	case f == ros.CBOR:
		to.EndWith(append(to.Begin(true), s.head[1]...), body, nil)
	case f == ros.ROS1:
		now := rosgraph.Now()
		b := ros.AppendCBORMap(append(to.Begin(true), s.head[1]...), 3)
		b = ros.AppendCBORUint(ros.AppendCBORText(b, "secs"), uint64(now.Sec))
		b = ros.AppendCBORUint(ros.AppendCBORText(b, "nsecs"), uint64(now.Nsec))
		to.EndWith(ros.AppendCBORBytesHead(ros.AppendCBORText(b, "bytes"), len(body)), body, nil)
	case s.compression == png || s.fragment > 0:
		whole := append(append(append([]byte{}, s.head[0]...), body...), '}')
		if s.compression == png {
			whole = appendPNG(nil, whole)
		}
		c.writeText(to, whole, s.fragment)
	default:
		to.EndWith(append(to.Begin(false), s.head[0]...), body, behind)
	}
}

// writeText writes a message in JSON, in fragments if it has more characters than
// one may have.
func (c *client) writeText(to attach.Messages, whole []byte, fragment int) {
	if fragment == 0 || len(whole) <= max(fragment, minFragment) {
		to.End(append(to.Begin(false), whole...))
		return
	}
	c.sets++
	split(whole, fragment, fmt.Sprintf("fragment:%d", c.sets), func(part []byte) {
		to.End(append(to.Begin(false), part...))
	})
}

// Send says what else there is to say.
func (c *client) Send(to attach.Messages, m any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *said:
		c.writeText(to, m.text, m.fragment)
	case *begun:
		c.latched(to, m.stream, true)
	case *due:
		q, ok, wait := m.stream.due(time.Now())
		if ok {
			c.write(to, m.stream, q.format, q.body)
		}
		c.later(m.stream, wait)
	case *rosgraph.Changed:
		for _, s := range c.streams {
			if s.topic == nil {
				s.topic = c.member.Find(s.bare)
				c.watch(s.topic, true)
			}
			c.latched(to, s, false)
		}
	case *rosgraph.Moved:
		c.truth(to, m.Robot)
	case *protocol.Error:
		c.failed(to, m)
	case *protocol.Task:
		c.called(to, m)
	case *protocol.Accepted:
		c.accepted(m.ID)
	case *protocol.Reply:
		c.replied(to, m)
	case *protocol.Robot:
		c.robot(to, m)
	case *protocol.Gap:
		c.gap(to, m)
	}
}

// latched sends what a latched topic has, if it was just subscribed to, or is
// another one now.
func (c *client) latched(to attach.Messages, s *stream, begun bool) {
	t := s.topic
	if t == nil || !t.Latched || len(s.subs) == 0 {
		return
	}
	if t.Map == nil {
		if begun && s.latest != nil && s.format == s.compression.format() {
			c.write(to, s, s.format, s.latest)
		}
		return
	}
	if now := c.member.Find(s.bare); now != nil && now.Map != nil {
		t, s.topic = now, now
	}
	if begun || s.plan != t.Map {
		s.plan = t.Map
		f := s.compression.format()
		c.write(to, s, f, t.Map.Message(f, t.Use))
	}
}

// truth says where a simulation has a robot.
func (c *client) truth(to attach.Messages, robot string) {
	p := c.member.Truth(robot)
	if p == nil {
		return
	}
	for _, s := range c.streams {
		if s.topic == nil || s.topic.Use != rosgraph.Truth || s.topic.Robot.Name != robot {
			continue
		}
		f := s.compression.format()
		r := ros.Reading{Prefix: c.member.Frames(robot), Time: p.Time}
		c.say(to, s, f, ros.AppendTruth(nil, f, &r, p.At, p.Velocity))
	}
}

// failed says that something went wrong: with a subscription that the client has
// asked for, which then is none, or with another message.
func (c *client) failed(to attach.Messages, e *protocol.Error) {
	p := &problem{message: e.Message, position: e.Position}
	c.withdraw(func(o *offer) bool { return o.id == e.ID })
	sub := c.asked.By(e.ID)
	if sub == nil {
		c.writeText(to, newStatus(nil, levelError, p).text, 0)
		return
	}
	p.position = sub.stream.topic.Unwrap(e.Position)
	c.writeText(to, newStatus(sub.id, levelError, p).text, 0)
}

// robot says what has become of a robot, on the topics that are for that.
func (c *client) robot(to attach.Messages, r *protocol.Robot) {
	name := r.Robot
	if r.Device != "" {
		name += " " + r.Device
	}
	level, message := uint8(ros.LogInfo), "robot "+name+" is "+r.State
	switch r.State {
	case protocol.RobotAway:
		level = ros.LogWarn
	case protocol.RobotOverflow:
		level, message = ros.LogWarn, "readings of robot "+name+" were lost before they reached the broker"
	}
	c.event(to, r, level, message)
}

// gap says that messages are lost, since the client reads too slowly.
func (c *client) gap(to attach.Messages, g *protocol.Gap) {
	message := "readings are lost: " + g.Why
	if g.To != nil {
		message = fmt.Sprintf("%d readings were dropped: %s", *g.To-g.From+1, g.Why)
	}
	if c.level >= levelError {
		c.writeText(to, newStatus(nil, levelError, &problem{message: message}).text, 0)
	}
	c.event(to, g, ros.LogWarn, message)
}

// event says what has happened on /rosout and /callboard/status.
func (c *client) event(to attach.Messages, m any, level uint8, message string) {
	for _, s := range c.streams {
		if s.topic == nil {
			continue
		}
		f := s.compression.format()
		switch s.topic.Use {
		case rosgraph.Log:
			c.say(to, s, f, ros.AppendLog(nil, f, rosgraph.Now(), level, rosgraph.Node, message))
		case rosgraph.Events:
			c.say(to, s, f, text(f, protocol.AppendMessage(nil, m)))
		}
	}
}
