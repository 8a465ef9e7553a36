package rosbridge

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/player"
	"callboard/subscribe/protocol"
)

const (
	maxThrottle = 24 * 3600 * 1000 // ms
	maxQueue    = 1000             // messages that wait for their time in a stream
	maxHeld     = 4 << 20          // bytes of them in all streams of a client; then only the newest of each
	maxText     = 4096             // bytes of a topic's name
	maxID       = 512              // bytes of an id that is kept
	maxKept     = 1 << 20          // bytes of the names and ids that a client has subscribed with
)

// conditionTopics is where topics of conditions are: each has the notifications of
// one condition, and is only for the client that asks for it.
const conditionTopics = "/callboard/condition/"

// asking is what a subscribe asks for.
type asking struct {
	name    string // as the client spells it
	bare    string
	kind    string
	options rosgraph.Options
	settings
}

// read reads a subscribe.
func (c *client) read(m message) (a asking, err error) {
	if a.name, err = m.needs("topic"); err != nil {
		return a, err
	}
	if len(a.name) > maxText || len(m.id()) > maxID {
		return a, wrong("a topic of %d bytes, an id of %d; expected at most %d and %d", len(a.name), len(m.id()), maxText, maxID)
	}
	var inName rosgraph.Options
	if a.bare, inName, err = rosgraph.SplitTopic(a.name); err != nil {
		return a, err
	}
	a.bare = "/" + strings.TrimPrefix(a.bare, "/")
	if a.options, err = options(m); err != nil {
		return a, err
	}
	if inName.Given() {
		if a.options.Given() {
			return a, wrong("options in the topic's name, and beside it; expected them in one place")
		}
		a.options = inName
	}
	if a.kind, err = m.text("type"); err != nil {
		return a, err
	}
	throttle, err := m.number("throttle_rate", maxThrottle)
	if err != nil {
		return a, err
	}
	a.throttle = time.Duration(throttle) * time.Millisecond
	if a.queue, err = m.number("queue_length", maxQueue); err != nil {
		return a, err
	}
	if a.fragment, err = m.number("fragment_size", protocol.MaxMessage); err != nil {
		return a, err
	}
	word, err := m.text("compression")
	if err != nil {
		return a, err
	}
	known := false
	if a.compression, known = compressions[word]; !known {
		c.status(m.id(), levelWarning, wrong("compression: %q; expected none, png, cbor or cbor-raw: it is none", word))
	}
	return a, nil
}

// options reads what goes with a condition.
func options(m message) (o rosgraph.Options, err error) {
	for name, into := range map[string]any{
		"condition": &o.Condition, "robots": &o.Robots, "devices": &o.Devices, "trigger": &o.Trigger,
		"min_interval": &o.MinInterval, "for": &o.For, "select": &o.Select, "keep": &o.Keep,
	} {
		if m.given(name) {
			if err := json.Unmarshal(m[name], into); err != nil {
				return o, wrong("%s: %s; expected what callboard.v1 has there", name, short(m[name]))
			}
		}
	}
	return o, nil
}

// subscribe takes a subscription. The lock is not held while the broker is asked:
// it is never to wait for a client.
func (c *client) subscribe(ctx context.Context, m message) error {
	a, err := c.read(m)
	if err != nil {
		return err
	}
	topic := c.member.Find(a.bare)
	named := strings.HasPrefix(a.bare, conditionTopics)
	if err := checkType(&a, topic, named); err != nil {
		return err
	}
	c.mu.Lock()
	s := c.streams[a.name]
	if s != nil {
		topic = s.topic
	}
	full := c.kept+len(a.name)+len(m.id()) > maxKept || c.asked.Len() >= c.dialect.maxSubscriptions || len(c.streams) >= c.dialect.maxSubscriptions
	c.mu.Unlock()
	if s == nil {
		s = &stream{name: a.name, bare: a.bare, topic: topic, names: named, subs: map[string]*subscription{}, held: &c.held, settings: a.settings}
		s.setHead()
	}
	sub := &subscription{id: m.id(), stream: s, settings: a.settings}
	old := s.subs[string(sub.id)]
	if full && old == nil {
		return wrong("too many subscriptions; expected at most %d, with names of %d bytes in all", c.dialect.maxSubscriptions, maxKept)
	}
	asked, needed, err := wants(s, topic, &a)
	if err != nil {
		return err
	}
	if needed {
		if err := c.asked.Ask(ctx, c.conn, sub, &sub.broker, asked); err != nil {
			p := protocol.ProblemOf(err)
			return &problem{message: p.Message, position: topic.Unwrap(p.Position)}
		}
	}
	c.begin(sub)
	c.drop(ctx, old)
	c.conn.Send(&begun{s})
	return nil
}

// begin makes a subscription one of its stream's.
func (c *client) begin(sub *subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := sub.stream
	if s.subs[string(sub.id)] == nil {
		c.kept += sub.bytes()
	}
	s.subs[string(sub.id)] = sub
	c.streams[s.name] = s
	s.settle()
	c.watch(s.topic, true)
}

// watch has the ground truth come that a topic is of, or no longer. mu is held.
func (c *client) watch(t *rosgraph.Topic, on bool) {
	if t == nil || t.Use != rosgraph.Truth {
		return
	}
	for _, s := range c.streams {
		on = on || s.topic != nil && s.topic.Use == rosgraph.Truth && s.topic.Robot.Name == t.Robot.Name
	}
	c.member.WatchTruth(t.Robot.Name, on)
}

// checkType checks the type that a client expects on a topic.
func checkType(a *asking, topic *rosgraph.Topic, named bool) error {
	if a.kind != "" && ros.Lookup(a.kind) == nil {
		return wrong("type: %q is not known; expected one that rosapi lists", short(json.RawMessage(a.kind)))
	}
	is := ""
	switch {
	case named:
		is = "std_msgs/String"
	case topic != nil:
		is = topic.Type
	case a.kind == "":
		return wrong("topic %s is not there, and no type is given: expected one, or a topic that rosapi lists", a.name)
	}
	if a.kind != "" && is != "" && ros.Lookup(a.kind) != ros.Lookup(is) {
		return wrong("type: %q; topic %s is %s", a.kind, a.name, is)
	}
	return nil
}

// wants returns what to ask of the broker for a stream; false: nothing.
func wants(s *stream, topic *rosgraph.Topic, a *asking) (protocol.Subscription, bool, error) {
	asked := a.options.Subscription("")
	if asked.Keep == "" && a.queue == 1 {
		asked.Keep = protocol.KeepLatest
	}
	readings := topic == nil || topic.Use == rosgraph.Readings
	switch {
	case s.names && asked.Condition == "":
		return asked, false, wrong("topic %s needs a condition", s.bare)
	case s.names:
		return asked, true, nil
	case a.options.Given() && !readings:
		return asked, false, wrong("topic %s has no readings; expected a condition on one that has, or on %sNAME", s.bare, conditionTopics)
	case len(asked.Robots) > 0 || len(asked.Devices) > 0 || len(asked.Select) > 0:
		return asked, false, wrong("robots, devices and select go with topics %sNAME; expected a topic's readings whole", conditionTopics)
	case topic != nil && (topic.Use == rosgraph.Log || topic.Use == rosgraph.Events):
		return protocol.Subscription{Condition: "false", Keep: protocol.KeepLatest}, true, nil // it never matches: it says whose robots' states are wanted
	case topic != nil:
		asked, needed := topic.Subscription(asked)
		return asked, needed, nil
	}
	asked.Devices = devicesOf(s.bare)
	asked.Messages = true
	if asked.Condition == "" {
		asked.Condition = "true"
	}
	return asked, len(asked.Devices) > 0, nil
}

// numbered is the end of topics of which a robot has several.
var numbered = regexp.MustCompile(`_[0-9]+$`)

// devicesOf returns the interfaces whose readings may come on a topic that is not
// there yet.
func devicesOf(bare string) []string {
	var out []string
	whole := strings.TrimPrefix(bare, "/")
	_, behind, _ := strings.Cut(whole, "/")
	for _, name := range []string{whole, behind} {
		name = numbered.ReplaceAllString(name, "")
		if name == "base_pose_ground_truth" {
			return []string{player.InterfacePosition2D.String(), player.InterfacePosition3D.String()}
		}
		for _, i := range ros.Interfaces(name) {
			out = append(out, i.String())
		}
	}
	return out
}

// unsubscribe ends a subscription, or without id all of a topic.
func (c *client) unsubscribe(ctx context.Context, m message) error {
	name, err := m.needs("topic")
	if err != nil {
		return err
	}
	c.mu.Lock()
	s := c.streams[name]
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	var gone []*subscription
	c.mu.Lock()
	for id, sub := range s.subs {
		if m.id() == nil || id == string(m.id()) {
			gone = append(gone, sub)
			c.kept -= sub.bytes()
			delete(s.subs, id)
		}
	}
	c.ended(s)
	c.mu.Unlock()
	for _, sub := range gone {
		c.drop(ctx, sub)
	}
	return nil
}

// ended settles a stream, or ends it with its last subscription. mu is held.
func (c *client) ended(s *stream) {
	if len(s.subs) > 0 {
		s.settle()
		return
	}
	if c.streams[s.name] == s {
		delete(c.streams, s.name)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	for len(s.queued) > 0 {
		s.first()
	}
	c.watch(s.topic, false)
}

// drop has the broker send nothing more of a subscription that has ended.
func (c *client) drop(ctx context.Context, sub *subscription) {
	if sub == nil || sub.broker == "" {
		return
	}
	c.mu.Lock()
	c.asked.Forget(sub.broker)
	c.mu.Unlock()
	_ = c.conn.Unsubscribe(ctx, protocol.Unsubscribe{ID: sub.broker}) // it fails when the connection ends
}
