package foxglove

import (
	"context"
	"fmt"

	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// subscription is a client's of a channel, under a number of its choice.
type subscription struct {
	id      uint32
	channel *channel
	broker  string // its id at the broker; "": nothing is asked of it
	count   uint64
}

// begun says that a client has subscribed: what is latched goes out.
type begun struct{ sub *subscription }

// Op names it for metrics.
func (*begun) Op() string { return "begun" }

// subscribe takes a subscription to a channel.
func (c *client) subscribe(ctx context.Context, id, to uint32) {
	c.mu.Lock()
	ch, topic := c.channels[to], (*rosgraph.Topic)(nil)
	if ch != nil {
		topic = ch.topic
	}
	_, used := c.subs[id]
	twice := false
	for _, sub := range c.subs {
		twice = twice || sub.channel == ch
	}
	full := len(c.subs) >= c.dialect.maxSubscriptions
	c.mu.Unlock()
	switch {
	case used:
		c.status(levelError, fmt.Sprintf("Client subscription id %d was already used; ignoring subscription", id))
		return
	case ch == nil:
		c.status(levelWarning, fmt.Sprintf("Channel %d is not available; ignoring subscription", to))
		return
	case twice:
		c.status(levelWarning, fmt.Sprintf("Client already subscribed to channel %d; ignoring subscription", to))
		return
	case full:
		c.status(levelError, "Too many subscriptions; ignoring subscription")
		return
	}
	sub := &subscription{id: id, channel: ch}
	c.mu.Lock()
	c.subs[id] = sub
	if topic != nil && topic.Use == rosgraph.Truth {
		c.member.WatchTruth(topic.Robot.Name, true)
	}
	c.mu.Unlock()
	if asked, needed := wants(topic); needed {
		if err := c.asked.Ask(ctx, c.conn, sub, &sub.broker, asked); err != nil {
			c.mu.Lock()
			delete(c.subs, id)
			c.mu.Unlock()
			c.status(levelError, protocol.ProblemOf(err).Message)
			return
		}
	}
	c.conn.Send(&begun{sub})
}

// wants returns what to ask of the broker for a topic; false: nothing.
func wants(t *rosgraph.Topic) (protocol.Subscription, bool) {
	switch {
	case t == nil:
		return protocol.Subscription{}, false
	case t.Use == rosgraph.Log || t.Use == rosgraph.Events:
		return protocol.Subscription{Condition: "false", Keep: protocol.KeepLatest}, true // it never matches: it says whose robots' states are wanted
	}
	return t.Subscription(protocol.Subscription{})
}

// unsubscribe ends a subscription.
func (c *client) unsubscribe(id uint32) {
	c.mu.Lock()
	sub := c.subs[id]
	delete(c.subs, id)
	if sub != nil {
		c.forget(sub)
	}
	c.mu.Unlock()
	if sub == nil {
		c.status(levelWarning, fmt.Sprintf("Client subscription id %d did not exist; ignoring unsubscription", id))
	}
}

// clean tells the broker of the subscriptions that nobody wants any more.
func (c *client) clean(ctx context.Context) {
	c.mu.Lock()
	garbage := c.garbage
	c.garbage = nil
	c.mu.Unlock()
	for _, id := range garbage {
		_ = c.conn.Unsubscribe(ctx, protocol.Unsubscribe{ID: id}) // it fails when the connection ends
	}
}
