package foxglove

import (
	"encoding/json"
	"slices"
	"strings"

	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// channel is what a client may subscribe to.
type channel struct {
	id        uint32
	topic     *rosgraph.Topic // nil: a condition's
	condition *condition
}

// advertisedChannel is a channel as it is advertised.
type advertisedChannel struct {
	ID             uint32 `json:"id"`
	Topic          string `json:"topic"`
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	Schema         string `json:"schema"`
	SchemaEncoding string `json:"schemaEncoding"`
}

// maxAdvertised is how many channels go in one message, as from Foxglove's own
// server.
const maxAdvertised = 100

// changed tells the client what is there now and was not, and what is no more. mu
// is held.
func (c *client) changed(write func(*said)) {
	if !c.greeted {
		c.greeted = true
		write(c.serverInfo())
	}
	s := c.member.Snapshot()
	there := map[uint32]bool{}
	var added []advertisedChannel
	for _, t := range s.Seen(c.member.Grant) {
		if t.Taken() {
			continue
		}
		id := c.dialect.id("channel " + t.Name + " " + t.Type)
		there[id] = true
		if ch := c.channels[id]; ch != nil {
			ch.topic = t
			continue
		}
		c.channels[id] = &channel{id: id, topic: t}
		added = append(added, advertisedChannel{id, t.Name, "ros1", t.Type, c.dialect.text(t.Type), "ros1msg"})
	}
	var gone []uint32
	for id, ch := range c.channels {
		if ch.topic != nil && !there[id] {
			gone = append(gone, id)
			c.removeChannel(ch)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		write(message("unadvertise", object{"channelIds": gone}))
	}
	for part := range slices.Chunk(added, maxAdvertised) {
		write(message("advertise", object{"channels": part}))
	}
	c.changedServices(write)
	c.changedRobots(s, write)
	c.changedParameters(write)
	c.changedConnections(s, write)
}

// removeChannel forgets a channel and its subscription; the broker is told later,
// by Receive. mu is held.
func (c *client) removeChannel(ch *channel) {
	delete(c.channels, ch.id)
	for id, sub := range c.subs {
		if sub.channel == ch {
			delete(c.subs, id)
			c.forget(sub)
		}
	}
}

// forget has the broker send nothing more of a subscription, when it can be asked.
// mu is held.
func (c *client) forget(sub *subscription) {
	if sub.broker != "" {
		c.asked.Forget(sub.broker)
		c.garbage = append(c.garbage, sub.broker)
	}
	if t := sub.channel.topic; t != nil && t.Use == rosgraph.Truth {
		c.member.WatchTruth(t.Robot.Name, false)
	}
}

// changedRobots tells which robots went away and which are back. mu is held.
func (c *client) changedRobots(s *rosgraph.Snapshot, write func(*said)) {
	for _, r := range s.Robots {
		if !c.member.Grant.Allows(r.Name) || r.Up != c.away[r.Name] {
			continue
		}
		id := "robot:" + r.Name
		if r.Up {
			delete(c.away, r.Name)
			write(message("removeStatus", object{"statusIds": []string{id}}))
			continue
		}
		c.away[r.Name] = true
		write(message("status", object{"level": levelWarning, "message": "Robot " + r.Name + " is away", "id": id}))
	}
}

// connections is what a client was told of who publishes, listens and serves: node
// by topic or service.
type connections struct{ published, subscribed, served map[string]string }

type publishedTopic struct {
	Name         string   `json:"name"`
	PublisherIDs []string `json:"publisherIds"`
}

type subscribedTopic struct {
	Name          string   `json:"name"`
	SubscriberIDs []string `json:"subscriberIds"`
}

type servedService struct {
	Name        string   `json:"name"`
	ProviderIDs []string `json:"providerIds"`
}

// changedConnections tells what has changed in the graph. mu is held.
func (c *client) changedConnections(s *rosgraph.Snapshot, write func(*said)) {
	if c.connected == nil {
		return
	}
	now := &connections{map[string]string{}, map[string]string{}, map[string]string{}}
	for _, t := range s.Seen(c.member.Grant) {
		if t.Taken() {
			now.subscribed[t.Name] = t.Robot.Node()
		} else {
			now.published[t.Name] = t.Robot.Node()
		}
	}
	for _, service := range c.services {
		now.served[service.name] = service.node
	}
	old := c.connected
	c.connected = now
	published, subscribed, served := []publishedTopic{}, []subscribedTopic{}, []servedService{}
	for _, name := range news(old.published, now.published) {
		published = append(published, publishedTopic{name, []string{now.published[name]}})
	}
	for _, name := range news(old.subscribed, now.subscribed) {
		subscribed = append(subscribed, subscribedTopic{name, []string{now.subscribed[name]}})
	}
	for _, name := range news(old.served, now.served) {
		served = append(served, servedService{name, []string{now.served[name]}})
	}
	removed := append(losses(old.published, now.published), losses(old.subscribed, now.subscribed)...)
	lost := losses(old.served, now.served)
	if len(published)+len(subscribed)+len(served)+len(removed)+len(lost) > 0 {
		write(message("connectionGraphUpdate", object{
			"publishedTopics": published, "subscribedTopics": subscribed, "advertisedServices": served, "removedTopics": removed, "removedServices": lost,
		}))
	}
}

// news returns the names whose nodes are others now, losses those that are no more.
func news(old, now map[string]string) []string {
	names := []string{}
	for name, node := range now {
		if old[name] != node {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func losses(old, now map[string]string) []string {
	names := []string{}
	for name := range old {
		if _, there := now[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// condition is one whose notifications are a channel of the client's own.
type condition struct {
	id      string
	channel *channel
	sub     *subscription
	latest  []byte // the newest notification; nil: none
	time    uint64 // ns, its
	call    *call  // that made it, while it is not answered; nil: none
	waiting *said  // advertises its channel, once the broker has taken it; nil: it was
}

// schema describes the notifications of a condition.
func (c *condition) schema(selects map[string]string, trigger string) string {
	properties := object{
		"robot": object{"type": "string"}, "interface": object{"type": "string"}, "index": object{"type": "integer"}, "time": object{"type": "number"},
	}
	if trigger == protocol.TriggerChange {
		properties["state"] = object{"type": "boolean"}
	}
	if len(selects) > 0 {
		values := object{}
		for name := range selects {
			values[name] = object{}
		}
		properties["values"] = object{"type": "object", "properties": values}
	} else {
		properties["reading"] = object{"type": "object"}
	}
	text, _ := json.Marshal(object{"title": c.schemaName(), "type": "object", "properties": properties}) // of texts
	return string(text)
}

// schemaName is no other schema's: Lichtblick wants each to be one.
func (c *condition) schemaName() string {
	return "callboard.condition." + c.id + "." + uintText(c.channel.id)
}

// conditionTopics is where channels of conditions are.
const conditionTopics = "/callboard/condition/"

// validID reports whether a condition may be called so: its name is one of a topic.
func validID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
}
