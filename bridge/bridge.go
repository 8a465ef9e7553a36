// Package bridge assembles a broker from its parts: configuration, robots,
// matcher, overlay, store, and the server that clients talk to.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"strings"

	"callboard/bridge/attach"
	"callboard/bridge/beacon"
	"callboard/bridge/clock"
	"callboard/bridge/config"
	"callboard/bridge/gateway"
	"callboard/bridge/link"
	"callboard/bridge/metric"
	"callboard/bridge/node"
	"callboard/bridge/overlay"
	"callboard/bridge/push"
	"callboard/bridge/robots"
	"callboard/bridge/segment"
	"callboard/bridge/spool"
	"callboard/player/client"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// Config is what a Bridge is made of.
type Config struct {
	Config *config.Config // completed and valid
	Page   fs.FS          // served at /; nil: no page
	// World returns a world's floor plan as JSON, for the page; nil: only what the
	// Player servers tell, as maps.
	World func(name string) ([]byte, bool)
	// LinkListener is where other brokers connect, instead of
	// Config.Broker.Links; nil: that. The Bridge closes it.
	LinkListener net.Listener
	// Coverage is the part of a world in which programs hang on this broker,
	// for lists and the page; nil: not told.
	Coverage *node.Coverage
	// Extra adds objects to /api, by name; nil: none.
	Extra map[string]func() any
	// Dial connects to Player servers; nil is TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Stop ends New with spool.ErrStopped, however much of an earlier life there
	// is to read; nil: nothing does.
	Stop   <-chan struct{}
	Logger *slog.Logger // default: discard
}

// Bridge is one broker.
type Bridge struct {
	config   Config
	clock    clock.Clock
	listener net.Listener
	store    *spool.Store
	node     *node.Node
	robots   *robots.Robots
	push     *push.Server
	tls      bool

	gateway      *gateway.Gateway // nil: none
	linkListener net.Listener     // nil: no broker connects here
	links        *link.Links      // nil: a broker without neighbours
	segments     []*segment.Segment
	beacon       *beacon.Sender // nil: it is not announced
}

// New takes the data directory and the address and builds the broker; Run
// runs it. A Bridge that is not run must be closed.
func New(c Config) (*Bridge, error) {
	if c.Config == nil {
		return nil, errors.New("bridge: no configuration given")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Bridge{config: c, clock: clock.New(), linkListener: c.LinkListener, tls: c.Config.TLS.Cert != ""}
	if err := b.build(); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func (b *Bridge) build() error {
	c := b.config.Config
	var err error
	if b.listener, err = net.Listen("tcp", c.Broker.Listen); err != nil {
		return fmt.Errorf("cannot listen on %s: %w", c.Broker.Listen, err)
	}
	if b.store, err = spool.Open(spool.Config{Dir: c.Broker.Data, Broker: overlay.BrokerID(c.Broker.ID), Logger: b.config.Logger, Stop: b.config.Stop}); err != nil {
		return err
	}
	matcher, err := subscribe.New(subscribe.Config{Zones: c.Zones, ConditionLength: c.Limits.ConditionLength})
	if err != nil {
		return err
	}
	metrics := metric.New()
	b.measureStore(metrics)
	if b.node, err = b.newNode(matcher, metrics); err != nil {
		return err
	}
	if err := b.newGateway(metrics); err != nil {
		return err
	}
	if b.robots, err = robots.New(robots.Config{
		Servers: b.servers(), Matcher: matcher, Sink: b.node, Room: b.node.Room, Metrics: metrics, Logger: b.config.Logger, Clock: b.clock,
	}); err != nil {
		return err
	}
	if err := b.newLinks(); err != nil {
		return err
	}
	b.measureSegments(metrics)
	if b.links == nil {
		b.node.Attach(b.robots, nil)
	} else {
		b.node.Attach(b.robots, b.links)
	}
	if err := b.newBeacon(); err != nil {
		return err
	}
	return b.newPush(metrics)
}

func (b *Bridge) newNode(matcher *subscribe.Matcher, metrics *metric.Set) (*node.Node, error) {
	c := b.config.Config
	restored := b.store.Restored()
	return node.New(node.Config{
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
		},
		URL:      b.WebSocketURL(),
		Coverage: b.config.Coverage,
		Restore:  restored.Records,
		Lost:     restored.Lost,
		Store:    b.store,
		Matcher:  matcher,
		Metrics:  metrics,
		Logger:   b.config.Logger,
	})
}

func (b *Bridge) newPush(metrics *metric.Set) error {
	c := b.config.Config
	p := push.Config{
		Broker: b.node, ID: c.Broker.ID, Listener: b.listener, Tokens: tokens(c.Tokens),
		Page: b.config.Page, World: b.plan, Extra: b.config.Extra, Ready: b.store.Err, Metrics: metrics, Logger: b.config.Logger,
		MaxSessions: c.Limits.Connections, MaxSubscriptions: c.Limits.ClientSubscriptions, Memory: c.Limits.Memory, Hosts: hosts(c.Broker.URL), Origins: c.Broker.Origins,
	}
	var err error
	if b.tls {
		if p.TLS, err = push.LoadTLS(c.TLS.Cert, c.TLS.Key); err != nil {
			return fmt.Errorf("cannot use the certificate %s with the key %s: %w", c.TLS.Cert, c.TLS.Key, err)
		}
	}
	b.push, err = push.New(p)
	return err
}

// plan returns a world's floor plan: the one that was handed in, or what a Player
// server has told. It is for those who may see a robot there.
func (b *Bridge) plan(ctx context.Context, world string, grant attach.Grant) ([]byte, bool) {
	if !grant.AllRobots() && !b.node.AnyIn(ctx, world, grant) {
		return nil, false
	}
	if b.config.World != nil {
		if plan, ok := b.config.World(world); ok {
			return plan, true
		}
	}
	return b.robots.Plan(world)
}

// measureStore adds what the store counts.
func (b *Bridge) measureStore(metrics *metric.Set) {
	add := func(name, help string, value func(spool.Stats) float64) {
		metrics.Func("callboard_spool_"+name, help, func() float64 { return value(b.store.Stats()) })
	}
	add("records_total", "Records appended.", func(s spool.Stats) float64 { return float64(s.Records) })
	add("bytes_total", "Bytes appended.", func(s spool.Stats) float64 { return float64(s.Bytes) })
	add("commits_total", "Commits to the disk.", func(s spool.Stats) float64 { return float64(s.Commits) })
	add("failures_total", "Commits that failed.", func(s spool.Stats) float64 { return float64(s.Failures) })
	add("waiting_bytes", "Bytes appended and not on the disk yet.", func(s spool.Stats) float64 { return float64(s.Waiting) })
}

// Run serves until ctx ends. It can be called once, and closes the Bridge.
//
// Parts end in the order in which they depend on each other: clients first, so
// that nothing more is asked, then the robots, then the node, which does what
// was posted before and so leaves the store complete.
func (b *Bridge) Run(ctx context.Context) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	kept := context.WithoutCancel(ctx)
	noding, stopNode := context.WithCancel(kept)
	defer stopNode()
	storing, stopStore := context.WithCancel(kept)
	defer stopStore()

	var clients, nodes, stores errgroup.Group
	stores.Go(func() error { return b.store.Run(storing) })
	nodes.Go(func() error { defer stop(); return b.node.Run(noding) })
	clients.Go(func() error { defer stop(); return b.push.Run(serving) })
	clients.Go(func() error {
		defer stop()
		select {
		case <-b.node.Restored():
			return b.robots.Run(serving)
		case <-serving.Done():
			return nil
		}
	})
	if b.links != nil {
		clients.Go(func() error { defer stop(); return b.links.Run(serving) })
	}
	if b.gateway != nil {
		clients.Go(func() error { defer stop(); return b.gateway.Run(serving) })
	}
	if b.beacon != nil {
		clients.Go(func() error { defer stop(); return b.beacon.Run(serving) })
	}
	err := clients.Wait()
	stopNode()
	err = errors.Join(err, nodes.Wait())
	stopStore()
	return errors.Join(err, stores.Wait(), b.Close())
}

// Close lets go of the address and the data directory. Run does it by itself.
func (b *Bridge) Close() error {
	var errs []error
	for _, l := range []net.Listener{b.listener, b.linkListener} {
		if l == nil {
			continue
		}
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for _, s := range b.segments {
		errs = append(errs, s.Close())
	}
	if b.gateway != nil {
		errs = append(errs, b.gateway.Close())
	}
	if b.store != nil {
		errs = append(errs, b.store.Close())
		b.store = nil
	}
	return errors.Join(errs...)
}

// URL is where the page is served.
func (b *Bridge) URL() string {
	scheme := "http"
	if b.tls {
		scheme = "https"
	}
	return scheme + "://" + b.listener.Addr().String()
}

// WebSocketURL is what clients connect to.
func (b *Bridge) WebSocketURL() string {
	if b.config.Config.Broker.URL != "" {
		return b.config.Config.Broker.URL
	}
	return "ws" + strings.TrimPrefix(b.URL(), "http") + "/ws"
}

// hosts names what requests may call the broker: what its clients are told.
func hosts(broker string) []string {
	if u, err := url.Parse(broker); err == nil && u.Hostname() != "" {
		return []string{u.Hostname()}
	}
	return nil
}

func duration(seconds float64) overlay.Duration {
	return overlay.Duration(seconds * float64(overlay.Second))
}

// servers are the Player servers to read.
func (b *Bridge) servers() []robots.Server {
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

func tokens(all []config.Token) []push.Token {
	out := make([]push.Token, len(all))
	for i, t := range all {
		g := attach.Grant{Token: t.Name, Robots: t.Robots}
		for _, may := range t.May {
			g.Subscribe = g.Subscribe || may == config.MaySubscribe
			g.Command = g.Command || may == config.MayCommand
		}
		out[i] = push.Token{Secret: t.Secret, Grant: g}
	}
	return out
}
