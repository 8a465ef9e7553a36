package rosbridge

import (
	"context"
	"errors"
	"strings"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// maxAdvertised is how many advertisements a client may have.
const maxAdvertised = 1000

// advertisement is a topic that the client has said it publishes on.
type advertisement struct {
	kind *ros.Type
	ids  map[string]bool
}

// advertise notes what the client is going to publish.
func (c *client) advertise(m message) error {
	topic, err := m.needs("topic")
	if err != nil {
		return err
	}
	word, err := m.needs("type")
	if err != nil {
		return err
	}
	kind := ros.Lookup(word)
	if kind == nil {
		return wrong("type: %q is not known; expected one of ROS's common messages", word[:min(len(word), maxName)])
	}
	if t := c.member.Find(topic); t != nil && !t.Takes(kind) {
		return wrong("type: %q; topic %s is %s", word, topic, t.Type)
	}
	a := c.advertised[topic]
	switch {
	case a != nil && a.kind != kind:
		return wrong("type: %q; topic %s was advertised as %s", word, topic, a.kind.Name)
	case c.adverts >= maxAdvertised || len(topic) > maxText || len(m.id()) > maxID:
		return wrong("%d advertisements; expected fewer, names of at most %d bytes, and ids of %d", c.adverts, maxText, maxID)
	case a == nil:
		if c.advertised == nil {
			c.advertised = map[string]*advertisement{}
		}
		a = &advertisement{kind: kind, ids: map[string]bool{}}
		c.advertised[topic] = a
	}
	if !a.ids[string(m.id())] {
		a.ids[string(m.id())] = true
		c.adverts++
	}
	return nil
}

// maxName is how much of a name stands in an error.
const maxName = 64

// unadvertise ends an advertisement: a robot that the client drives stops.
func (c *client) unadvertise(ctx context.Context, m message) error {
	topic, err := m.needs("topic")
	if err != nil {
		return err
	}
	a := c.advertised[topic]
	if a == nil {
		return nil
	}
	before := len(a.ids)
	if m.id() != nil && a.ids[string(m.id())] {
		delete(a.ids, string(m.id()))
	} else {
		clear(a.ids)
	}
	c.adverts -= before - len(a.ids)
	if len(a.ids) > 0 {
		return nil
	}
	delete(c.advertised, topic)
	if t := c.member.Find(topic); t != nil {
		c.member.Abandon(ctx, t)
	}
	return nil
}

// publish takes a message of the client.
func (c *client) publish(ctx context.Context, m message) error {
	topic, err := m.needs("topic")
	if err != nil {
		return err
	}
	if name := "/" + strings.TrimPrefix(topic, "/"); strings.HasPrefix(name, republisherTopic) {
		return c.republishGoal(ctx, strings.TrimPrefix(name, republisherTopic), m)
	}
	t := c.member.Find(topic)
	if t == nil || !t.Taken() {
		return wrong("topic %s: nothing here takes what is published on it; expected a robot's cmd_vel, move_base_simple/goal or initialpose", topic[:min(len(topic), maxName)])
	}
	kind := ros.Lookup(t.Type)
	if a := c.advertised[topic]; a != nil {
		kind = a.kind
	}
	if !t.Takes(kind) { // it was advertised before the robot was known
		return wrong("topic %s takes %s, not %s", topic[:min(len(topic), maxName)], t.Type, kind.Name)
	}
	said, err := kind.FromJSON(m["msg"], rosgraph.Now())
	if err != nil {
		return wrong("msg: %v", err)
	}
	id := m.id()
	return c.member.Publish(ctx, t, said, func(_ any, err error) {
		var p *protocol.Problem
		if err != nil && errors.As(err, &p) {
			c.status(id, levelError, p)
		}
	})
}
