package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/subscribe/protocol"
)

// What lists tell. The same objects are the replies to `list` and the bodies
// of /api/robots, /api/brokers and /api/subscriptions. A broker with
// neighbours asks all that it reaches, so that they are of the whole network.

// maxListed bounds the sessions and routes of a broker that a list tells of.
const maxListed = 1000

// Robot is one robot: where it is read, and what of it arrived.
type Robot struct {
	robots.Robot
	Broker string `json:"broker"`
	Source string `json:"source"` // of new sequences
	// Refused says that another broker reads a robot of this name: this one's
	// readings go to nobody, and Error says whose they are.
	Refused bool   `json:"refused,omitempty"`
	Warning string `json:"warning,omitempty"` // another broker was refused the name
}

// Broker is one broker and its load.
type Broker struct {
	ID            string      `json:"id"`
	URL           string      `json:"url"`
	Source        string      `json:"source"`
	RegistryMode  string      `json:"registry_mode"` // "one" or "every"
	Registry      string      `json:"registry"`      // the broker that holds the registry; "" if each does
	Robots        int         `json:"robots"`
	Up            int         `json:"up"` // robots that are not away
	Clients       int         `json:"clients"`
	Attached      int         `json:"attached"` // clients that are not away
	Subscriptions int         `json:"subscriptions"`
	Waiting       int         `json:"waiting"` // notifications not acknowledged
	Bytes         int64       `json:"bytes"`   // of them
	Lost          uint64      `json:"lost"`    // numbers that became a gap here
	Memory        int64       `json:"memory"`  // bytes of inboxes, sessions, sets and connections, about
	MemoryLimit   int64       `json:"memory_limit"`
	Disk          int64       `json:"disk"` // bytes of what of them is stored, about
	DiskLimit     int64       `json:"disk_limit"`
	GaveWay       uint64      `json:"gave_way"` // inboxes that gave up what waited in them for one of these limits
	Links         []string    `json:"links"`    // neighbours whose links are up
	Here          bool        `json:"here"`     // it is the broker that answers
	Error         string      `json:"error,omitempty"`
	Neighbours    []Neighbour `json:"neighbours"` // all that are configured
	Coverage      *Coverage   `json:"coverage,omitempty"`
	Sessions      []Session   `json:"sessions"` // of clients that hang on it, or did last; up to 1,000; under a token for some robots its own, and so the counts of clients
	Routes        []Route     `json:"routes"`   // up to 1,000; likewise
	RouteCount    int         `json:"route_count"`
	Queues        []Queue     `json:"queues"` // that live there, as far as the token allows them
}

// OtherBroker is another broker of the network that did not tell of itself.
type OtherBroker struct {
	ID    string   `json:"id"`
	URL   string   `json:"url"`
	Links []string `json:"links"`
	Here  bool     `json:"here"`
	Error string   `json:"error"` // why no more is known of it
}

// Coverage is the part of a world in which programs hang on a broker.
type Coverage struct {
	World string       `json:"world"`
	Area  [][2]float64 `json:"area"` // a polygon, m
}

// Neighbour is a broker that the configuration names, and the link with it.
type Neighbour struct {
	ID         string  `json:"id"`
	Address    string  `json:"address,omitempty"`
	Up         bool    `json:"up"`
	Since      float64 `json:"since,omitempty"` // s, Unix, while up
	Compressed bool    `json:"compressed"`
	Sent       uint64  `json:"sent"`     // bytes
	Received   uint64  `json:"received"` // bytes
	Waiting    int     `json:"waiting"`  // bytes to be sent
	Problem    string  `json:"problem,omitempty"`
	Cost       float64 `json:"cost,omitempty"` // sendings that a message takes, as this end has it, while up where brokers move

	Segment *Segment `json:"segment,omitempty"` // how it gets what others want, too
}

// Segment is how a neighbour gets what others on a segment of the network want,
// too.
type Segment struct {
	Group     string  `json:"group,omitempty"`
	Multicast bool    `json:"multicast"`       // by multicast, not over the link
	Since     float64 `json:"since,omitempty"` // s, Unix: that
	Why       string  `json:"why,omitempty"`   // why not by multicast
}

// Session is a client at its edge broker.
type Session struct {
	Client        string     `json:"client"` // "" without id
	Attached      bool       `json:"attached"`
	Attachment    uint64     `json:"attachment"`
	Remote        string     `json:"remote,omitempty"` // the client's network address
	Since         float64    `json:"since,omitempty"`  // s, Unix: when it went away
	Subscriptions int        `json:"subscriptions"`
	Sequences     []Sequence `json:"sequences"` // its inboxes
}

// Route is a step of the way of one client's notifications of one source.
type Route struct {
	Client string `json:"client"`
	Source string `json:"source"`
	From   string `json:"from"` // the source's broker
	Down   string `json:"down"` // the next broker towards the client; the broker itself: the client is here
	Up     string `json:"up"`   // the next towards the source; "": it is here, or the way is lost
	Num    uint64 `json:"num"`  // acknowledged, as far as known here
}

// Subscription is one subscription of one client.
type Subscription struct {
	Client string `json:"client"` // "" without id
	protocol.Subscription
	Broker   string     `json:"broker"` // where the client hangs, or did last
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

// List returns what a list's reply carries, as far as the grant lets it be seen.
func (n *Node) List(ctx context.Context, what string, grant attach.Grant) (any, error) {
	switch what {
	case "robots":
		return told(n.wholeRobots(ctx, grant))
	case "brokers":
		return n.listBrokers(ctx, grant)
	case "subscriptions":
		return told(whole(ctx, n, what, grant, n.listSubscriptions, func(a, b Subscription) int {
			return cmp.Or(strings.Compare(a.Client, b.Client), strings.Compare(a.ID, b.ID), strings.Compare(a.Broker, b.Broker))
		}))
	}
	return nil, unknownList(what)
}

func unknownList(what string) error {
	return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf("cannot list %q; expected robots, brokers or subscriptions", what)}
}

// listHere is the part of a list that this broker knows, for another one.
func (n *Node) listHere(ctx context.Context, what string, grant attach.Grant) (any, error) {
	switch what {
	case "robots":
		return n.listRobots(ctx, grant)
	case "brokers":
		own, _, err := n.listBroker(ctx, grant)
		return []Broker{own}, err
	case "subscriptions":
		return n.listSubscriptions(ctx, grant)
	}
	return nil, unknownList(what)
}

// listed is an element of a list of the whole network.
type listed[T any] struct {
	value T
	text  json.RawMessage // as another broker wrote it; nil: it is of this one
}

// whole puts a list of this broker and those of the others together.
func whole[T any](ctx context.Context, n *Node, what string, grant attach.Grant, here func(context.Context, attach.Grant) ([]T, error), compare func(a, b T) int) ([]listed[T], error) {
	own, err := here(ctx, grant)
	if err != nil {
		return nil, err
	}
	others, err := listElsewhere[json.RawMessage](ctx, n, what, grant, nil)
	if err != nil {
		return nil, err
	}
	list := make([]listed[T], 0, len(own)+len(others))
	for _, one := range own {
		list = append(list, listed[T]{value: one})
	}
	for _, text := range others {
		one := listed[T]{text: text}
		if err := json.Unmarshal(text, &one.value); err != nil {
			return nil, fmt.Errorf("the list of %s of another broker: %w", what, err)
		}
		list = append(list, one)
	}
	if len(others) > 0 {
		slices.SortStableFunc(list, func(a, b listed[T]) int { return compare(a.value, b.value) })
	}
	return list, nil
}

// told returns what a list's reply carries.
func told[T any](list []listed[T], err error) (any, error) {
	all := make([]any, len(list))
	for i, one := range list {
		if all[i] = one.value; one.text != nil {
			all[i] = one.text // numbers that are not finite stay what they are
		}
	}
	return all, err
}

// wholeRobots lists the robots of the network.
func (n *Node) wholeRobots(ctx context.Context, grant attach.Grant) ([]listed[Robot], error) {
	return whole(ctx, n, "robots", grant, n.listRobots, func(a, b Robot) int {
		return cmp.Or(strings.Compare(a.Robot.Robot, b.Robot.Robot), strings.Compare(a.Broker, b.Broker))
	})
}

// AnyIn reports whether a robot that the grant covers is in the world.
func (n *Node) AnyIn(ctx context.Context, world string, grant attach.Grant) bool {
	robots, err := n.wholeRobots(ctx, grant)
	return err == nil && slices.ContainsFunc(robots, func(r listed[Robot]) bool { return r.value.World == world })
}

func (n *Node) listRobots(ctx context.Context, grant attach.Grant) ([]Robot, error) {
	var source string
	if err := n.ask(ctx, func() { source = n.broker.Source() }); err != nil {
		return nil, err
	}
	out := []Robot{}
	for _, r := range n.robots.List() {
		if grant.Allows(r.Robot) {
			one := Robot{Robot: r, Broker: string(n.config.Overlay.ID), Source: source}
			switch name := n.name(r.Robot); {
			case name == nil:
			case name.Refused:
				one.Refused, one.Error = true, fmt.Sprintf("refused: broker %s reads a robot of this name", cmp.Or(string(name.Holder), "another"))
			default:
				one.Warning = fmt.Sprintf("broker %s reads a robot of this name too; it was refused", name.Rival)
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// listBrokers lists this broker first, then of the others by id: of those
// that do not answer what their links' states tell.
func (n *Node) listBrokers(ctx context.Context, grant attach.Grant) (any, error) {
	own, states, err := n.listBroker(ctx, grant)
	if err != nil {
		return nil, err
	}
	own.Here = true
	failed := map[string]string{}
	others, err := listElsewhere[Broker](ctx, n, "brokers", grant, func(id overlay.BrokerID, err error) {
		failed[string(id)] = "it does not answer"
		if !errors.Is(err, context.DeadlineExceeded) {
			failed[string(id)] = err.Error()
		}
	})
	if err != nil {
		return nil, err
	}
	all := []any{own}
	for _, s := range states {
		id := string(s.Broker)
		if id == own.ID {
			continue
		}
		if at := slices.IndexFunc(others, func(b Broker) bool { return b.ID == id }); at >= 0 {
			others[at].Here = false
			all = append(all, others[at])
			continue
		}
		all = append(all, OtherBroker{ID: id, URL: s.URL, Links: links(s), Error: cmp.Or(failed[id], "out of reach")})
	}
	return all, nil
}

// Addresses returns the WebSocket addresses of the network's brokers, as far as they
// are known; those out of reach too.
func (n *Node) Addresses(ctx context.Context) []string {
	var states []overlay.LinkState
	if err := n.ask(ctx, func() { states = n.broker.LinkStates() }); err != nil {
		return nil
	}
	var all []string
	for _, s := range states {
		if s.URL != "" {
			all = append(all, s.URL)
		}
	}
	return all
}

func links(s overlay.LinkState) []string {
	all := []string{}
	for _, neighbour := range s.Neighbours {
		all = append(all, string(neighbour))
	}
	return all
}

// listBroker describes this broker.
func (n *Node) listBroker(ctx context.Context, grant attach.Grant) (Broker, []overlay.LinkState, error) {
	var stats overlay.Stats
	var states []overlay.LinkState
	var clients []overlay.ClientInfo
	var routes []overlay.RouteInfo
	b := Broker{
		ID: string(n.config.Overlay.ID), URL: n.config.URL, Links: []string{},
		RegistryMode: string(cmp.Or(n.config.Overlay.Mode, overlay.ModeOne)), Registry: string(n.config.Overlay.Registry),
		Neighbours: n.neighbours(), Coverage: n.config.Coverage, Sessions: []Session{}, Routes: []Route{},
	}
	if b.RegistryMode == string(overlay.ModeOne) {
		b.Registry = cmp.Or(b.Registry, b.ID)
	}
	if err := n.ask(ctx, func() {
		stats, b.Source, states, b.RouteCount = n.broker.Stats(), n.broker.Source(), n.broker.LinkStates(), n.broker.RouteCount()
		clients, routes = n.broker.Clients(), n.broker.Routes()
		b.Queues = queues(n.broker.Queues(), grant.AllowsQueue)
	}); err != nil {
		return b, nil, err
	}
	for _, s := range states {
		if string(s.Broker) == b.ID {
			b.Links = links(s)
			b.setCosts(s)
		}
	}
	clients = slices.DeleteFunc(clients, func(c overlay.ClientInfo) bool { return !own(grant, c.Owner) })
	routes = slices.DeleteFunc(routes, func(r overlay.RouteInfo) bool {
		owner, _ := overlay.ClientOf(r.Key.Client)
		return !own(grant, owner)
	})
	for _, r := range n.robots.List() {
		if !grant.AllRobots() && !grant.Allows(r.Robot) {
			continue
		}
		b.Robots++
		if r.State == protocol.RobotUp {
			b.Up++
		}
	}
	if grant.AllRobots() {
		b.Clients, b.Attached, b.Subscriptions = stats.Clients, stats.Attached, stats.Subscriptions
		b.Waiting, b.Bytes = stats.Waiting, stats.HeldBytes
		b.Memory, b.MemoryLimit, b.Disk, b.DiskLimit = stats.Memory, stats.MemoryLimit, stats.Disk, stats.DiskLimit
		for _, gaveWay := range stats.GaveWay {
			b.GaveWay += gaveWay
		}
		for _, lost := range stats.LostBy() {
			b.Lost += lost
		}
	} else {
		b.RouteCount = len(routes)
		b.count(clients)
	}
	for _, c := range clients {
		if c.Elsewhere || len(b.Sessions) == maxListed {
			continue
		}
		b.Sessions = append(b.Sessions, Session{
			Client: c.Client, Attached: c.Attached, Attachment: c.Attachment, Remote: n.remote(c), Since: c.Seen.Seconds(),
			Subscriptions: len(c.Subscriptions), Sequences: sequences(c.Sources),
		})
	}
	for _, r := range routes[:min(len(routes), maxListed)] {
		_, client := overlay.ClientOf(r.Key.Client)
		b.Routes = append(b.Routes, Route{
			Client: client, Source: overlay.SourceWord(r.Key.Source, r.Key.Stamp), From: string(r.Key.Source),
			Down: string(r.Down), Up: string(r.Up), Num: r.Num,
		})
	}
	return b, states, nil
}

// setCosts takes what links cost.
func (b *Broker) setCosts(s overlay.LinkState) {
	for i := range b.Neighbours {
		n := &b.Neighbours[i]
		if at, up := slices.BinarySearch(s.Neighbours, overlay.BrokerID(n.ID)); up && n.Up && len(s.Costs) > 0 {
			n.Cost = float64(s.Costs[at]) / float64(overlay.CostOne)
		}
	}
}

// count adds up what there is of some clients.
func (b *Broker) count(clients []overlay.ClientInfo) {
	b.Clients = len(clients)
	for _, c := range clients {
		if c.Attached {
			b.Attached++
		}
		b.Subscriptions += len(c.Subscriptions)
		for _, s := range c.Sources {
			b.Waiting += s.Sent + s.Waiting
			b.Bytes += int64(s.Bytes)
		}
	}
}

// neighbours describes the links with those that are configured.
func (n *Node) neighbours() []Neighbour {
	all := []Neighbour{}
	if n.links == nil {
		return all
	}
	for _, s := range n.links.Status() {
		one := Neighbour{
			ID: string(s.Neighbour.ID), Address: s.Neighbour.Address, Up: s.Up, Compressed: s.Compressed,
			Sent: s.Sent.Bytes, Received: s.Received.Bytes, Waiting: s.Waiting, Problem: s.Problem,
		}
		if s.Up {
			one.Since = float64(s.Since.UnixNano()) / float64(time.Second)
		}
		if g := s.Segment; g != nil {
			one.Segment = &Segment{Group: g.Group, Multicast: g.Multicast, Why: g.Why}
			if !g.Since.IsZero() {
				one.Segment.Since = float64(g.Since.UnixNano()) / float64(time.Second)
			}
		}
		all = append(all, one)
	}
	return all
}

func (n *Node) remote(c overlay.ClientInfo) string {
	if found := n.conn(c.Conn); c.Attached && found != nil {
		return found.remote
	}
	return ""
}

// listSubscriptions shows a token's holder the subscriptions made under the same
// token, and all of them if it is for all robots.
func (n *Node) listSubscriptions(ctx context.Context, grant attach.Grant) ([]Subscription, error) {
	var clients []overlay.ClientInfo
	if err := n.ask(ctx, func() { clients = n.broker.Clients() }); err != nil {
		return nil, err
	}
	out := []Subscription{}
	for _, c := range clients {
		if c.Elsewhere || !own(grant, c.Owner) {
			continue
		}
		remote := n.remote(c)
		for _, s := range c.Subscriptions {
			out = append(out, Subscription{
				Client: c.Client, Subscription: s.Subscription.Subscription, Broker: string(n.config.Overlay.ID), Attached: c.Attached, Remote: remote,
				Matching: s.Robots, Failed: s.Failed, Sequence: sequences(c.Sources),
			})
		}
	}
	return out, nil
}

// own reports whether a grant lets the clients of a token be seen: its own ones,
// or all if it is for all robots.
func own(grant attach.Grant, owner string) bool { return grant.AllRobots() || grant.Token == owner }

func sequences(sources []overlay.SourceInfo) []Sequence {
	out := make([]Sequence, len(sources))
	for i, s := range sources {
		out[i] = Sequence{Source: s.Source, Num: s.Num, Last: s.Last, Sent: s.Sent, Waiting: s.Waiting, Bytes: s.Bytes}
	}
	return out
}
