package foxglove

import (
	"context"
	"fmt"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// publication is a channel that the client publishes on.
type publication struct {
	topic    string
	encoding string
	kind     *ros.Type // nil: not known, or not needed
	refused  bool      // the client was told that nobody takes it
}

// subscribeTopic is where a client may publish what it would ask the service of
// that name.
const subscribeTopic = "/callboard/subscribe"

// A client may advertise so many channels, with so many bytes of a topic's name.
const (
	maxPublications = 1000
	maxTopic        = 4096
)

// advertise notes what the client is going to publish. Lichtblick advertises, and
// takes back, what it may publish some time: that is no mistake.
func (c *client) advertise(id uint32, topic, encoding, schema string) error {
	switch {
	case encoding != "json" && encoding != "ros1":
		return fmt.Errorf("Unsupported encoding %.32q of channel %d; expected json or ros1", encoding, id)
	case len(c.published) >= maxPublications && c.published[id] == nil:
		return fmt.Errorf("Too many channels are advertised; expected at most %d", maxPublications)
	case len(topic) > maxTopic:
		return fmt.Errorf("The topic of channel %d has %d bytes; expected at most %d", id, len(topic), maxTopic)
	case c.published[id] != nil:
		return fmt.Errorf("Channel %d was advertised already", id)
	}
	p := &publication{topic: topic, encoding: encoding, kind: ros.Lookup(schema)}
	if t := c.member.Find(topic); t != nil && t.Taken() && !t.Takes(p.kind) {
		return fmt.Errorf("Topic %s takes %s, not %.64q", topic, t.Type, schema)
	}
	c.published[id] = p
	return nil
}

// unadvertise ends a publication: a robot that the client drives stops.
func (c *client) unadvertise(ctx context.Context, id uint32) {
	p := c.published[id]
	if p == nil {
		return
	}
	delete(c.published, id)
	if t := c.member.Find(p.topic); t != nil {
		c.member.Abandon(ctx, t)
	}
}

// publish takes a message of the client.
func (c *client) publish(ctx context.Context, id uint32, b []byte) error {
	p := c.published[id]
	if p == nil {
		return wrong("Channel %d is not advertised by the client", id)
	}
	if p.topic == subscribeTopic && p.encoding == "json" {
		_, err := c.subscribeCondition(ctx, b, nil)
		return err
	}
	t := c.member.Find(p.topic)
	switch {
	case t == nil || !t.Taken():
		if p.refused {
			return nil
		}
		p.refused = true
		return wrong("Topic %.64s: nothing here takes what is published on it; expected a robot's cmd_vel, move_base_simple/goal or initialpose", p.topic)
	case !t.Takes(p.kind): // it was advertised before the robot was known
		return wrong("Topic %.64s takes %s", p.topic, t.Type)
	}
	said, err := read(p.kind, p.encoding, b)
	if err != nil {
		return wrong("Topic %.64s: %v", p.topic, err)
	}
	return c.member.Publish(ctx, t, said, func(_ any, err error) {
		if err != nil && ctx.Err() == nil {
			c.status(levelError, protocol.ProblemOf(err).Message)
		}
	})
}

// read reads a message.
func read(kind *ros.Type, encoding string, b []byte) (ros.Message, error) {
	if encoding == "ros1" {
		return kind.FromROS1(b)
	}
	return kind.FromJSON(b, rosgraph.Now())
}

func wrong(format string, args ...any) error {
	return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}
