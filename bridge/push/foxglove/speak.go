package foxglove

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

func uintText(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// Notify says what comes of a notification on the channels that it is of.
func (c *client) Notify(to attach.Messages, n *protocol.Notify) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.member == nil {
		return
	}
	c.member.Begin(n)
	at := ros.StampOf(n.Time).Nanoseconds()
	for i := range n.Subscriptions {
		sub := c.asked.By(n.Subscriptions[i].ID)
		if sub == nil {
			continue
		}
		if cond := sub.channel.condition; cond != nil {
			cond.latest, cond.time = notification(n, &n.Subscriptions[i]), at
			c.condition(to, cond)
			continue
		}
		switch t := sub.channel.topic; t.Use {
		case rosgraph.Readings:
			if n.Robot == t.Robot.Name && n.Interface == t.Device.Interface && n.Index == t.Device.Index {
				data(to, sub.id, at, c.member.Message(t.Kind, ros.ROS1))
			}
		case rosgraph.Transforms:
			data(to, sub.id, at, c.member.Transforms(ros.ROS1))
		case rosgraph.Clock:
			data(to, sub.id, at, c.member.Clock(ros.ROS1))
		case rosgraph.Truth:
			c.member.AskTruth()
		}
	}
}

// data writes a message of a channel; nil: there is none.
func data(to attach.Messages, sub uint32, at uint64, body []byte) {
	if body == nil {
		return
	}
	b := append(to.Begin(true), 1)
	b = binary.LittleEndian.AppendUint32(b, sub)
	b = binary.LittleEndian.AppendUint64(b, at)
	to.EndWith(b, body, nil)
}

// condition writes the newest notification of a condition to who has subscribed to
// its channel. mu is held.
func (c *client) condition(to attach.Messages, cond *condition) {
	for _, sub := range c.subs {
		if sub.channel == cond.channel {
			data(to, sub.id, cond.time, cond.latest)
		}
	}
}

// notification returns a notification of one condition as JSON.
func notification(n *protocol.Notify, matched *protocol.Matched) []byte {
	b := protocol.AppendText([]byte(`{"robot":`), n.Robot)
	b = protocol.AppendText(append(b, `,"interface":`...), n.Interface)
	b = strconv.AppendInt(append(b, `,"index":`...), int64(n.Index), 10)
	b = protocol.AppendFloat(append(b, `,"time":`...), n.Time)
	if matched.State != nil {
		b = strconv.AppendBool(append(b, `,"state":`...), *matched.State)
	}
	switch {
	case matched.Values != nil:
		b = append(append(b, `,"values":`...), protocol.JSON(matched.Values)...)
	case n.Reading != nil:
		b = append(append(b, `,"reading":`...), protocol.JSON(n.Reading)...)
	}
	return append(b, '}')
}

// Send says what else there is to say.
func (c *client) Send(to attach.Messages, m any) {
	write := func(s *said) { to.End(append(to.Begin(false), s.text...)) }
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *said:
		write(m)
	case *response:
		to.End(m.append(to.Begin(true)))
	case *begun:
		c.latched(to, m.sub)
	case *rosgraph.Changed:
		maps := c.maps()
		c.changed(write)
		for _, sub := range c.subs {
			if t := sub.channel.topic; t != nil && t.Map != nil && maps[sub] != nil && maps[sub] != t.Map {
				c.latched(to, sub)
			}
		}
	case *rosgraph.Moved:
		c.truth(to, m.Robot)
	case *protocol.Subscribed:
		c.taken(to, write, m)
	case *protocol.Error:
		c.failed(to, write, m)
	case *protocol.Robot:
		c.event(to, m, fmt.Sprintf("robot %s is %s", m.Name(), m.State))
	case *protocol.Gap:
		// Lichtblick knows this text, and says what to do.
		write(message("status", object{"level": levelWarning, "message": "Send buffer limit reached", "id": "overload"}))
		text := "readings are lost: " + m.Why
		if m.To != nil {
			text = fmt.Sprintf("%d readings were dropped: %s", *m.To-m.From+1, m.Why)
		}
		c.event(to, m, text)
	}
}

// maps returns the maps that subscriptions are of. mu is held.
func (c *client) maps() map[*subscription]*rosgraph.Plan {
	out := map[*subscription]*rosgraph.Plan{}
	for _, sub := range c.subs {
		if t := sub.channel.topic; t != nil && t.Map != nil {
			out[sub] = t.Map
		}
	}
	return out
}

// latched writes what a channel has that was subscribed to. mu is held.
func (c *client) latched(to attach.Messages, sub *subscription) {
	if c.subs[sub.id] != sub {
		return
	}
	if cond := sub.channel.condition; cond != nil {
		if cond.latest != nil {
			c.condition(to, cond)
		}
		return
	}
	if t := sub.channel.topic; t.Map != nil {
		data(to, sub.id, c.member.Started().Nanoseconds(), t.Map.Message(ros.ROS1, t.Use))
	}
}

// truth says where a simulation has a robot. mu is held.
func (c *client) truth(to attach.Messages, robot string) {
	p := c.member.Truth(robot)
	if p == nil {
		return
	}
	for _, sub := range c.subs {
		if t := sub.channel.topic; t != nil && t.Use == rosgraph.Truth && t.Robot.Name == robot {
			r := ros.Reading{Prefix: c.member.Frames(robot), Time: p.Time}
			data(to, sub.id, ros.StampOf(p.Time).Nanoseconds(), ros.AppendTruth(nil, ros.ROS1, &r, p.At, p.Velocity))
		}
	}
}

// taken advertises the channel of a condition that the broker has taken, and
// answers the call that made it. mu is held.
func (c *client) taken(to attach.Messages, write func(*said), m *protocol.Subscribed) {
	sub := c.asked.By(m.ID)
	if sub == nil || sub.channel.condition == nil || sub.channel.condition.waiting == nil {
		return
	}
	cond := sub.channel.condition
	c.channels[cond.channel.id] = cond.channel
	write(cond.waiting)
	cond.waiting = nil
	c.answered(to, cond, object{"ok": true, "topic": conditionTopics + cond.id, "robots": m.Robots})
}

// answered answers the call that made a condition, if one did. mu is held.
func (c *client) answered(to attach.Messages, cond *condition, o object) {
	if by := cond.call; by != nil {
		cond.call = nil
		c.calls--
		to.End((&response{by, protocol.AppendJSON(nil, o)}).append(to.Begin(true)))
	}
}

// failed says that something went wrong. mu is held.
func (c *client) failed(to attach.Messages, write func(*said), e *protocol.Error) {
	sub := c.asked.By(e.ID)
	if sub == nil || sub.channel.condition == nil || sub.channel.condition.waiting == nil {
		write(message("status", object{"level": levelError, "message": e.Message}))
		return
	}
	cond := sub.channel.condition
	delete(c.conditions, cond.id)
	c.asked.Forget(e.ID)
	if cond.call == nil {
		write(message("status", object{"level": levelError, "message": e.Message}))
	}
	c.answered(to, cond, object{"ok": false, "error": e.Message})
}

// event says what has happened on /rosout and /callboard/status. mu is held.
func (c *client) event(to attach.Messages, m any, text string) {
	now := rosgraph.Now()
	for _, sub := range c.subs {
		t := sub.channel.topic
		switch {
		case t == nil:
		case t.Use == rosgraph.Log:
			data(to, sub.id, now.Nanoseconds(), ros.AppendLog(nil, ros.ROS1, now, ros.LogWarn, rosgraph.Node, text))
		case t.Use == rosgraph.Events:
			e := ros.Begin(nil, ros.ROS1)
			e.Text("data", protocol.AppendMessage(nil, m))
			data(to, sub.id, now.Nanoseconds(), e.Bytes())
		}
	}
}
