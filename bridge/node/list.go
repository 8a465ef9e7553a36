package node

import (
	"context"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/bridge/push"
	"callboard/bridge/robots"
	"callboard/subscribe/protocol"
)

// What lists tell. The same objects are the replies to `list` and the bodies
// of /api/robots, /api/brokers and /api/subscriptions.

// Robot is one robot: where it is read, and what of it arrived.
type Robot struct {
	robots.Robot
	Broker string `json:"broker"`
	Source string `json:"source"` // of new sequences
}

// Broker is one broker and its load.
type Broker struct {
	ID            string   `json:"id"`
	URL           string   `json:"url"`
	Source        string   `json:"source"`
	Robots        int      `json:"robots"`
	Up            int      `json:"up"` // robots that are not away
	Clients       int      `json:"clients"`
	Attached      int      `json:"attached"` // clients that are not away
	Subscriptions int      `json:"subscriptions"`
	Waiting       int      `json:"waiting"` // notifications not acknowledged
	Bytes         int64    `json:"bytes"`   // of them
	Links         []string `json:"links"`   // neighbours whose links are up
	Here          bool     `json:"here"`    // it is the broker that answers
}

// OtherBroker is another broker of the network: what it tells of itself.
type OtherBroker struct {
	ID    string   `json:"id"`
	URL   string   `json:"url"`
	Links []string `json:"links"`
	Here  bool     `json:"here"`
}

// Subscription is one subscription of one client.
type Subscription struct {
	Client string `json:"client"` // "" without id
	protocol.Subscription
	Attached bool       `json:"attached"`
	Remote   string     `json:"remote,omitempty"` // the client's network address
	Matching int        `json:"matching"`         // robots that matched when it was installed
	Failed   bool       `json:"failed,omitempty"`
	Sequence []Sequence `json:"sequences"`
}

// Sequence is how far one client's notifications of one source have come.
type Sequence struct {
	Source  string `json:"source"`
	Num     uint64 `json:"num"`  // acknowledged
	Last    uint64 `json:"last"` // given
	Sent    int    `json:"sent"` // sent and not acknowledged
	Waiting int    `json:"waiting"`
	Bytes   int    `json:"bytes"`
}

// List gives what a list's reply carries, as far as the grant lets it be seen.
func (n *Node) List(ctx context.Context, what string, grant push.Grant) (any, error) {
	switch what {
	case "robots":
		return n.listRobots(ctx, grant)
	case "brokers":
		return n.listBrokers(ctx)
	case "subscriptions":
		return n.listSubscriptions(ctx, grant)
	}
	return nil, &push.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf("cannot list %q; expected robots, brokers or subscriptions", what)}
}

func (n *Node) listRobots(ctx context.Context, grant push.Grant) (any, error) {
	var source string
	if err := n.ask(ctx, func() { source = n.broker.Source() }); err != nil {
		return nil, err
	}
	out := []Robot{}
	for _, r := range n.robots.List() {
		if grant.Allows(r.Robot) {
			out = append(out, Robot{Robot: r, Broker: string(n.config.Overlay.ID), Source: source})
		}
	}
	return out, nil
}

func (n *Node) listBrokers(ctx context.Context) (any, error) {
	var stats overlay.Stats
	var states []overlay.LinkState
	b := Broker{ID: string(n.config.Overlay.ID), URL: n.config.URL, Links: []string{}, Here: true}
	if err := n.ask(ctx, func() {
		stats, b.Source, states = n.broker.Stats(), n.broker.Source(), n.broker.LinkStates()
	}); err != nil {
		return nil, err
	}
	for _, r := range n.robots.List() {
		b.Robots++
		if r.State == protocol.RobotUp {
			b.Up++
		}
	}
	b.Clients, b.Attached, b.Subscriptions = stats.Clients, stats.Attached, stats.Subscriptions
	b.Waiting, b.Bytes = stats.Waiting, stats.HeldBytes
	var others []any
	for _, s := range states {
		links := []string{}
		for _, neighbour := range s.Neighbours {
			links = append(links, string(neighbour))
		}
		if string(s.Broker) == b.ID {
			b.Links = links
			continue
		}
		others = append(others, OtherBroker{ID: string(s.Broker), URL: s.URL, Links: links})
	}
	return append([]any{b}, others...), nil
}

// listSubscriptions shows a token's holder the subscriptions that could see
// nothing but what the token allows: those made under the same token.
func (n *Node) listSubscriptions(ctx context.Context, grant push.Grant) (any, error) {
	var clients []overlay.ClientInfo
	if err := n.ask(ctx, func() { clients = n.broker.Clients() }); err != nil {
		return nil, err
	}
	out := []Subscription{}
	for _, c := range clients {
		remote := ""
		if found := n.conn(c.Conn); c.Attached && found != nil {
			remote = found.remote
		}
		for _, s := range c.Subscriptions {
			if !equal(s.Allowed, grant.Robots) {
				continue
			}
			out = append(out, Subscription{
				Client: c.Client, Subscription: s.Subscription.Subscription, Attached: c.Attached, Remote: remote,
				Matching: s.Robots, Failed: s.Failed, Sequence: sequences(c.Sources),
			})
		}
	}
	return out, nil
}

// equal tells whether a subscription was made under a grant of these robots;
// a grant of all sees all.
func equal(allowed, granted []string) bool {
	for _, g := range granted {
		if g == "*" {
			return true
		}
	}
	if granted == nil {
		return true
	}
	if len(allowed) != len(granted) {
		return false
	}
	for i := range allowed {
		if allowed[i] != granted[i] {
			return false
		}
	}
	return true
}

func sequences(sources []overlay.SourceInfo) []Sequence {
	out := make([]Sequence, len(sources))
	for i, s := range sources {
		out[i] = Sequence{Source: s.Source, Num: s.Num, Last: s.Last, Sent: s.Sent, Waiting: s.Waiting, Bytes: s.Bytes}
	}
	return out
}
