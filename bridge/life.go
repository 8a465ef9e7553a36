package bridge

import (
	"context"
	"errors"
	"net"

	"callboard/bridge/beacon"
	"callboard/bridge/gateway"
	"callboard/bridge/link"
	"callboard/bridge/metric"
	"callboard/bridge/node"
	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/bridge/segment"
	"callboard/bridge/shadow"
	"callboard/player/client"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// life is a broker while it serves, with all that ends with that: as long as the
// process, or as long as one side of a pair is active.
type life struct {
	*Bridge
	metrics  *metric.Set
	matcher  *subscribe.Matcher
	node     *node.Node
	robots   *robots.Robots
	recorder *shadow.Recorder // of a side of a pair: what is tested; nil: of none
	sound    []string         // robots with which it goes on in the active's place
	missed   bool             // of others it has missed readings
	reads    func() error     // ends the reading of the robots that has begun before; nil: run begins it

	gateway      *gateway.Gateway // nil: none
	linkListener net.Listener     // nil: no broker connects here
	links        *link.Links      // nil: a broker without neighbours
	finder       *finder          // nil: its neighbours are configured
	segments     []*segment.Segment
	beacon       *beacon.Sender // nil: it is not announced
}

// newLife makes a broker that has restored records. It can restore more before it
// is built.
func (b *Bridge) newLife(records []overlay.Record) (*life, error) {
	c := b.config.Config
	matcher, err := subscribe.New(subscribe.Config{Zones: c.Zones, ConditionLength: c.Limits.ConditionLength})
	if err != nil {
		return nil, err
	}
	l := &life{Bridge: b, metrics: metric.New(), matcher: matcher}
	if b.side != nil {
		l.recorder = shadow.NewRecorder()
	}
	l.node, err = l.newNode(records)
	return l, err
}

func (b *life) newNode(records []overlay.Record) (*node.Node, error) {
	c := b.config.Config
	n := node.Config{
		Clock: b.clock,
		Overlay: overlay.Config{
			ID:            overlay.BrokerID(c.Broker.ID),
			Heartbeat:     duration(c.Broker.Heartbeat),
			Brokers:       []protocol.BrokerURL{{ID: c.Broker.ID, URL: b.WebSocketURL()}},
			URL:           b.WebSocketURL(),
			Mode:          overlay.Mode(c.Registry.Mode),
			Registry:      overlay.BrokerID(c.Registry.Broker),
			Subscriptions: c.Limits.ClientSubscriptions,
			Clients:       c.Limits.Clients,
			SetBytes:      c.Limits.SubscriptionBytes,
			Memory:        c.Limits.Memory,
			Disk:          c.Limits.Disk,
			Inbox:         overlay.Limits{Count: c.Limits.Inbox.Count, Bytes: c.Limits.Inbox.Bytes, Keep: duration(c.Limits.Inbox.Seconds)},
			Queues:        queues(c.Queues),
			Neighbours:    len(c.Neighbours) > 0 || c.Adhoc != nil,
		},
		URL:      b.WebSocketURL(),
		Coverage: b.config.Coverage,
		Restore:  records,
		Matcher:  b.matcher,
		Metrics:  b.metrics,
		Logger:   b.config.Logger,
	}
	if b.side != nil {
		n.Sides = b.side.sides
		n.Recorder, n.RecordEach = b.recorder, seconds(c.Standby.Heartbeat)
	}
	return node.New(n)
}

// build makes the rest of what the broker serves with. links is where other
// brokers connect; nil: where the configuration says.
func (b *life) build(links net.Listener) error {
	b.linkListener = links
	if b.robots == nil {
		if err := b.newRobots(); err != nil {
			return err
		}
	}
	if err := b.newLinks(); err != nil {
		return err
	}
	b.measureSegments(b.metrics)
	b.measureFinder(b.metrics)
	if b.links == nil {
		b.node.Attach(b.robots, nil)
	} else {
		b.node.Attach(b.robots, b.links)
	}
	return b.newBeacon()
}

// newRobots makes the sessions with the robots, and the gateway, which relays what
// they bring.
func (b *life) newRobots() error {
	if err := b.newGateway(); err != nil {
		return err
	}
	var err error
	b.robots, err = robots.New(robots.Config{
		Servers: b.servers(), Matcher: b.matcher, Sink: b.node, Room: b.node.Room, Metrics: b.metrics, Logger: b.config.Logger, Clock: b.clock,
		Recorder: b.recorder, Post: b.node.Post, Shadow: b.side != nil && b.config.Config.Gateway.Listen == "",
	})
	return err
}

// read reads the robots of a side of a pair before it is active: when it becomes
// so, its sessions with them stand. With a gateway they begin then.
func (b *life) read(ctx context.Context) error {
	if b.config.Config.Gateway.Listen != "" {
		return nil
	}
	if err := b.newRobots(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.robots.Run(ctx) }()
	b.reads = func() error { cancel(); return <-ended }
	return nil
}

// run serves until ctx ends, beside clients.
//
// Parts end in the order in which they depend on each other: clients first, so
// that nothing more is asked, then the robots, then the node, which does what
// was posted before and so leaves the store complete.
func (b *life) run(ctx context.Context, clients func(context.Context) error) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	noding, stopNode := context.WithCancel(context.WithoutCancel(ctx))
	defer stopNode()
	var parts, nodes errgroup.Group
	nodes.Go(func() error { defer stop(); return b.node.Run(noding) })
	part := func(run func(context.Context) error) {
		parts.Go(func() error { defer stop(); return run(serving) })
	}
	part(clients)
	part(func(ctx context.Context) error {
		if b.reads != nil {
			select {
			case <-b.node.Restored():
				b.robots.GoOn(b.sound, b.missed)
			case <-ctx.Done():
			}
			<-ctx.Done()
			return b.reads()
		}
		select {
		case <-b.node.Restored():
			return b.robots.Run(ctx)
		case <-ctx.Done():
			return nil
		}
	})
	if b.links != nil {
		part(b.links.Run)
	}
	if b.finder != nil {
		part(b.finder.run)
	}
	if b.gateway != nil {
		part(b.gateway.Run)
	}
	if b.beacon != nil {
		part(b.beacon.Run)
	}
	err := parts.Wait()
	stopNode()
	return errors.Join(err, nodes.Wait())
}

// close lets go of what build has taken. run's parts have closed theirs.
func (b *life) close() error {
	var errs []error
	if b.linkListener != nil {
		errs = append(errs, closed(b.linkListener))
	}
	for _, s := range b.segments {
		errs = append(errs, s.Close())
	}
	if b.gateway != nil {
		errs = append(errs, b.gateway.Close())
	}
	return errors.Join(errs...)
}

// servers are the Player servers to read.
func (b *life) servers() []robots.Server {
	players := b.config.Config.Players
	out := make([]robots.Server, len(players))
	for i, p := range players {
		out[i] = robots.Server{Address: p.Address, Robot: p.Robot, Robots: p.Robots, World: p.World, Devices: p.Devices, Dial: b.config.Dial}
		if p.Simulation != nil {
			out[i].Simulation = &robots.Simulation{Address: p.Simulation.Address, Index: p.Simulation.Index}
		}
		if b.gateway != nil {
			out[i].Relay = b.gateway.Relay(i)
			out[i].Attach = func(c *client.Client) { b.gateway.Attach(i, c) }
			out[i].Gateway, out[i].GatewayIndex = b.gateway.Where, b.gateway.Index
		}
	}
	return out
}
