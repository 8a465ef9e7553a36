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
	if t := c.member.Find(topic); t != nil && t.Use == rosgraph.Velocity && !steers(p.kind) {
		return fmt.Errorf("Topic %s takes geometry_msgs/Twist or TwistStamped, not %.64q", topic, schema)
	}
	c.published[id] = p
	return nil
}

// steers reports whether a robot can be driven by messages of a type.
func steers(kind *ros.Type) bool {
	return kind != nil && (kind.Name == "geometry_msgs/Twist" || kind.Name == "geometry_msgs/TwistStamped")
}

// unadvertise ends a publication: a robot that the client drives stops.
func (c *client) unadvertise(ctx context.Context, id uint32) {
	p := c.published[id]
	if p == nil {
		return
	}
	delete(c.published, id)
	if t := c.member.Find(p.topic); t != nil && t.Use == rosgraph.Velocity {
		c.member.Halt(ctx, t.Robot)
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
	case t == nil || t.Use != rosgraph.Velocity:
		if p.refused {
			return nil
		}
		p.refused = true
		return wrong("Topic %.64s: nothing here takes what is published on it; expected a robot's cmd_vel", p.topic)
	case !steers(p.kind):
		return wrong("Topic %.64s takes geometry_msgs/Twist or TwistStamped", p.topic)
	}
	twist, err := read(p.kind, p.encoding, b)
	if err != nil {
		return wrong("Topic %.64s: %v", p.topic, err)
	}
	if inner, stamped := twist.At("twist").(ros.Message); stamped {
		twist = inner
	}
	return c.member.Drive(ctx, t.Robot, twist, func(_ any, err error) {
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
