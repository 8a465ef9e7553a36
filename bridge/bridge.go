// Package bridge assembles a broker from its parts: configuration, robots,
// matcher, overlay, store, and the server that clients talk to.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"callboard/bridge/attach"
	"callboard/bridge/clock"
	"callboard/bridge/config"
	"callboard/bridge/metric"
	"callboard/bridge/node"
	"callboard/bridge/overlay"
	"callboard/bridge/pair"
	"callboard/bridge/push"
	"callboard/bridge/spool"
	"callboard/bridge/witness"
	"callboard/player/floorplan"
	"callboard/subscribe/condition"

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
	// Actions are done for POST /api/NAME, by name; nil: none.
	Actions map[string]Action
	// Air carries beacons where brokers move, instead of multicast; nil: that.
	Air Air
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
	metrics  *metric.Set
	push     *push.Server
	tls      bool
	life     atomic.Pointer[life] // nil: a side of a pair that is not active
	side     *side                // nil: of no pair
	votes    *witness.Votes       // nil: one that is of a pair is no witness
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
	b := &Bridge{config: c, clock: clock.New(), metrics: metric.New(), tls: c.Config.TLS.Cert != ""}
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
	b.measureStore(b.metrics)
	b.metrics.Part(func() *metric.Set {
		if l := b.life.Load(); l != nil {
			return l.metrics
		}
		return nil
	})
	if c.Standby.Side != "" {
		return b.newSide()
	}
	if b.votes, err = witness.New(witness.Config{Dir: c.Broker.Data, Clock: b.clock, Logger: b.config.Logger}); err != nil {
		return err
	}
	restored := b.store.Restored()
	l, err := b.newLife(restored.Records)
	if err != nil {
		return err
	}
	b.life.Store(l)
	l.node.Begin(b.store, restored.Lost, nil)
	if err := l.build(b.config.LinkListener); err != nil {
		return err
	}
	return b.newPush(l.node)
}

// Action does what a request asks for; see push.Config.
type Action = func(ctx context.Context, body []byte) (any, error)

// action is something that needs no more than to be asked for.
func action(do func() error) Action {
	return func(context.Context, []byte) (any, error) { return nil, do() }
}

// words are what conditions may name here: the language's, and this broker's zones.
func (b *Bridge) words() any {
	return struct {
		condition.Words
		Zones  map[string][][2]float64 `json:"zones"`
		Extras []string                `json:"extras"` // that there are at /api
	}{condition.Vocabulary(), b.config.Config.Zones, slices.Sorted(maps.Keys(b.config.Extra))}
}

func (b *Bridge) newPush(broker attach.Broker) error {
	c := b.config.Config
	p := push.Config{
		Broker: broker, ID: c.Broker.ID, Listener: b.listener, Tokens: tokens(c.Tokens),
		Page: b.config.Page, World: b.plan, Grid: b.grid, Words: b.words, Peers: b.peers, Extra: b.config.Extra, Actions: b.config.Actions, Ready: b.ready, Metrics: b.metrics, Logger: b.config.Logger,
		MaxSessions: c.Limits.Connections, MaxSubscriptions: c.Limits.ClientSubscriptions, Memory: c.Limits.Memory, Hosts: hosts(c.Broker.URL), Origins: c.Broker.Origins,
	}
	if b.side != nil {
		p.Pair, p.PairPath = b.side.pair, pair.Path
		p.Extra = maps.Clone(p.Extra)
		if p.Extra == nil {
			p.Extra = map[string]func() any{}
		}
		p.Extra["standby"] = b.side.standing
		p.Actions = maps.Clone(p.Actions)
		if p.Actions == nil {
			p.Actions = map[string]Action{}
		}
		p.Actions["standby/switch"], p.Actions["standby/take-over"] = action(b.side.pair.Switch), action(b.side.pair.Lose)
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
	l := b.life.Load()
	if l == nil || !grant.AllRobots() && !l.node.AnyIn(ctx, world, grant) {
		return nil, false
	}
	if b.config.World != nil {
		if plan, ok := b.config.World(world); ok {
			return plan, true
		}
	}
	return l.robots.Plan(world)
}

// peers are the addresses of the network's brokers.
func (b *Bridge) peers(ctx context.Context) []string {
	l := b.life.Load()
	if l == nil {
		return nil
	}
	return l.node.Addresses(ctx)
}

// grid returns a world's map in cells, if a Player server has told one.
func (b *Bridge) grid(world string) *floorplan.Grid {
	if l := b.life.Load(); l != nil {
		return l.robots.Grid(world)
	}
	return nil
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
	kept := context.WithoutCancel(ctx)
	storing, stopStore := context.WithCancel(kept)
	defer stopStore()
	var stores errgroup.Group
	stores.Go(func() error { return b.store.Run(storing) })
	var err error
	if b.side != nil {
		err = b.side.run(ctx)
	} else {
		err = b.life.Load().run(ctx, b.push.Run)
	}
	stopStore()
	return errors.Join(err, stores.Wait(), b.Close())
}

// Close lets go of the address and the data directory. Run does it by itself.
func (b *Bridge) Close() error {
	var errs []error
	if b.listener != nil {
		errs = append(errs, closed(b.listener))
	}
	if l := b.life.Load(); l != nil {
		errs = append(errs, l.close())
	} else if l := b.config.LinkListener; l != nil {
		errs = append(errs, closed(l))
	}
	if b.side != nil {
		errs = append(errs, b.side.close())
	}
	if b.votes != nil {
		errs = append(errs, b.votes.Close())
	}
	if b.store != nil {
		errs = append(errs, b.store.Close())
		b.store = nil
	}
	return errors.Join(errs...)
}

// closed closes a listener, which may be closed.
func closed(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
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

func queues(all []config.Queue) []overlay.QueueConfig {
	out := make([]overlay.QueueConfig, len(all))
	for i, q := range all {
		out[i] = overlay.QueueConfig{Name: q.Name, Count: q.Count, Bytes: q.Bytes, Tries: q.Tries}
	}
	return out
}

func tokens(all []config.Token) []push.Token {
	out := make([]push.Token, len(all))
	for i, t := range all {
		g := attach.Grant{Token: t.Name, Robots: t.Robots, Queues: t.Queues}
		for _, may := range t.May {
			g.Subscribe = g.Subscribe || may == config.MaySubscribe
			g.Command = g.Command || may == config.MayCommand
			g.Serve = g.Serve || may == config.MayServe
			g.Request = g.Request || may == config.MayRequest
		}
		out[i] = push.Token{Secret: t.Secret, Grant: g}
	}
	return out
}
