package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/clients/web"

	"golang.org/x/sync/errgroup"
)

// cluster is the brokers of a demo, linked where their coverage touches.
type cluster struct {
	brokers []*bridge.Bridge
	ids     []string
	cells   []cell
	robots  []string // all of them
	token   string   // that programs show
	tally   *tally   // nil: nobody roams
}

// cluster makes the brokers; each reads its share of the simulation.
func (d *demo) cluster(s *simulation, data string) (*cluster, error) {
	name := worldName(s.file.File)
	plan, err := newFloorPlan(name, s.world)
	if err != nil {
		return nil, fmt.Errorf("drawing the floor plan: %w", err)
	}
	low, high := s.world.Bounds()
	n := &cluster{cells: coverage(d.brokers, low, high), robots: s.driver.Robots()}
	for i := range d.brokers {
		n.ids = append(n.ids, brokerID(i, d.brokers))
	}
	if d.roam || d.adhoc {
		n.tally = newTally(s.world.Interval())
	}
	links, err := n.listenForLinks()
	if err != nil {
		return nil, err
	}
	for i := range d.brokers {
		b, err := d.broker(n, i, links, bridge.Config{
			Page: web.FS(), Logger: d.logger.With("broker", n.ids[i]),
			World: func(asked string) ([]byte, bool) { return plan, asked == name },
		}, func(c *config.Config) {
			c.Broker.Data = filepath.Join(data, n.ids[i])
			c.Players = append(c.Players, s.players(name, i, d.brokers)...)
		}, name)
		if err != nil {
			closeAll(links)
			return nil, errors.Join(err, n.close())
		}
		n.brokers = append(n.brokers, b)
	}
	return n, nil
}

// brokerID is "demo" for the only one, else b1, b2, …
func brokerID(i, n int) string {
	if n == 1 {
		return "demo"
	}
	return "b" + strconv.Itoa(i+1)
}

// listenForLinks returns each broker an address for its neighbours.
func (n *cluster) listenForLinks() ([]net.Listener, error) {
	if len(n.ids) == 1 {
		return []net.Listener{nil}, nil
	}
	var all []net.Listener
	for range n.ids {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			closeAll(all)
			return nil, fmt.Errorf("listening for links: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		if l != nil {
			l.Close()
		}
	}
}

// broker makes the i-th broker. A taken port is replaced.
func (d *demo) broker(n *cluster, i int, links []net.Listener, made bridge.Config, change func(*config.Config), world string) (*bridge.Bridge, error) {
	settings, err := d.p.configuration(d.c, func(c *config.Config) {
		if len(n.ids) > 1 {
			c.Broker.ID, c.Broker.URL, c.Broker.Links = n.ids[i], "", links[i].Addr().String()
			c.Broker.Listen = following(c.Broker.Listen, i)
			c.Registry.Mode, c.Neighbours = cmp.Or(d.registry, c.Registry.Mode), nil
			if c.Registry.Broker = n.ids[0]; c.Registry.Mode == config.RegistryEvery {
				c.Registry.Broker = ""
			}
			for j := range n.ids {
				if j != i && !d.adhoc && n.cells[i].borders(n.cells[j]) {
					c.Neighbours = append(c.Neighbours, config.Neighbour{ID: n.ids[j], Address: links[j].Addr().String()})
				}
			}
			if d.adhoc {
				c.Registry.Mode, c.Registry.Broker = config.RegistryEvery, ""
				c.Adhoc = &config.Adhoc{Network: "demo", Group: config.DefaultAdhocGroup, Key: d.field.key}
			}
		} else if c.Broker.ID == "" {
			c.Broker.ID = n.ids[i]
		}
		change(c)
	})
	if err != nil {
		return nil, err
	}
	made.Config, made.LinkListener = settings, links[i]
	if d.adhoc {
		made.Air = d.field.antenna(i)
		made.Extra = map[string]func() any{"adhoc": func() any { return d.field.told() }}
	}
	if d.roam {
		made.Coverage = n.cells[i].in(world)
		made.Extra = map[string]func() any{"roam": func() any { return n.tally.told() }}
	}
	n.token = programToken(settings.Tokens)
	b, err := bridge.New(made)
	for tries := 0; isTaken(err) && tries < 2; tries++ { // the page's, the gateway's
		taken := &settings.Broker.Listen
		if gatewayTaken(err) {
			taken = &settings.Gateway.Listen
		}
		host, _, _ := net.SplitHostPort(*taken)
		*taken = net.JoinHostPort(host, "0")
		if links[i] != nil { // it was closed with the broker that could not be
			if made.LinkListener, err = net.Listen("tcp", links[i].Addr().String()); err != nil {
				return nil, err
			}
		}
		b, err = bridge.New(made)
	}
	return b, err
}

// programToken is the secret of the first token that may do everything that
// robots' programs do; "" without tokens.
func programToken(tokens []config.Token) string {
	for _, t := range tokens {
		if slices.Contains(t.May, config.MaySubscribe) && slices.Contains(t.May, config.MayCommand) && slices.Contains(t.Robots, "*") {
			return t.Secret
		}
	}
	return ""
}

// following is the i-th address after one.
func following(address string, i int) string {
	host, port, err := net.SplitHostPort(address)
	number, wrong := strconv.Atoi(port)
	if err != nil || wrong != nil || number == 0 || number+i > 65535 {
		return address
	}
	return net.JoinHostPort(host, strconv.Itoa(number+i))
}

// run serves until ctx ends.
func (n *cluster) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, b := range n.brokers {
		group.Go(func() error { return b.Run(ctx) })
	}
	return group.Wait()
}

// close lets go of brokers that are not run.
func (n *cluster) close() error {
	var errs []error
	for _, b := range n.brokers {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}
