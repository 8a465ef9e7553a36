package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"callboard/bridge/node"
	"callboard/bridge/overlay"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

func (p *program) status() command {
	period := seconds()
	return command{
		name: "status", summary: "brokers, links, robots, queues, clients, subscriptions",
		about: `Asks a running broker what it and those that it reaches know, and prints it:
brokers and the links between them, robots and who reads them, queues of tasks,
clients and where they hang, what waits for them, and what they subscribed to.`,
		examples: []string{
			"callboard status",
			"callboard status --robot 'r1*'",
			"callboard status --watch",
			"callboard status --broker ws://127.0.0.1:8800/ws --json",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.StringFlag{Name: "robot", Usage: "only robots that match the `PATTERN`, and subscriptions that ask for one of them"},
			&cli.BoolFlag{Name: "routes", Usage: "the ways that notifications take from broker to broker, too"},
			&cli.BoolFlag{Name: "watch", Usage: "again and again, on a terminal in place, until q or Ctrl-C"},
			&cli.GenericFlag{Name: "interval", Value: period, Usage: "`TIME` from one to the next (default 1s)"},
			&cli.BoolFlag{Name: "json", Usage: "print one object: brokers, robots, subscriptions"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			_, config, err := p.attaching(c, 0, 0, "")
			if err != nil {
				return err
			}
			pattern := c.String("robot")
			if _, err := path.Match(pattern, ""); err != nil {
				return usagef("--robot: %q is no pattern; expected a name, with * for any characters and ? for one", pattern)
			}
			print := func(p *program, l lists, _ time.Time) error {
				if err := l.keep(pattern); err != nil {
					return err
				}
				if c.Bool("json") {
					return printObject(p.stdout, l)
				}
				return p.printStatus(l, shown{robots: pattern != "", routes: c.Bool("routes")})
			}
			client, err := dialToAsk(ctx, config)
			if err != nil {
				return err
			}
			defer client.Close()
			if c.Bool("watch") {
				return p.watchBroker(ctx, client, period.or(refreshPeriod), 0, c.Bool("json"), print)
			}
			l, err := ask(ctx, client)
			if err != nil {
				return err
			}
			return print(p, l, time.Now())
		},
	}
}

// printObject prints an object as a line.
func printObject(w io.Writer, object any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return writeLine(w, text)
}

// lists are a broker's answers to list.
type lists struct {
	Brokers       json.RawMessage `json:"brokers"`
	Robots        json.RawMessage `json:"robots"`
	Subscriptions json.RawMessage `json:"subscriptions"`
}

// dialToAsk attaches to a broker, of which it only asks for lists.
func dialToAsk(ctx context.Context, config callboard.Config) (*callboard.Client, error) {
	config.Anonymous, config.Handle = true, func(callboard.Event) {}
	return dial(ctx, config)
}

// ask asks a broker for all lists.
func ask(ctx context.Context, client *callboard.Client) (l lists, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	for what, into := range map[string]*json.RawMessage{
		"brokers": &l.Brokers, "robots": &l.Robots, "subscriptions": &l.Subscriptions,
	} {
		if *into, err = client.List(ctx, what); err != nil {
			return l, fmt.Errorf("asking for the list of %s: %w", what, err)
		}
	}
	return l, nil
}

// keep leaves the robots whose names match a pattern and the subscriptions that
// ask for one of them, as the broker wrote them; all if the pattern is "".
func (l *lists) keep(pattern string) error {
	if pattern == "" {
		return nil
	}
	var names []string
	wrong := errors.Join(
		filter(&l.Robots, func(r node.Robot) bool {
			match, _ := path.Match(pattern, r.Robot.Robot) // the pattern was tried
			if match {
				names = append(names, r.Robot.Robot)
			}
			return match
		}),
		filter(&l.Subscriptions, func(s node.Subscription) bool {
			return slices.ContainsFunc(names, func(name string) bool {
				return len(s.Robots) == 0 || slices.ContainsFunc(s.Robots, func(wanted string) bool {
					match, _ := path.Match(wanted, name)
					return match
				})
			})
		}))
	if wrong != nil {
		return fmt.Errorf("the broker's list: %w", wrong)
	}
	return nil
}

// filter leaves the items of a list for which keep reports true.
func filter[T any](list *json.RawMessage, keep func(T) bool) error {
	var all []json.RawMessage
	if err := json.Unmarshal(*list, &all); err != nil {
		return err
	}
	kept := []json.RawMessage{}
	for _, text := range all {
		var item T
		if err := json.Unmarshal(text, &item); err != nil {
			return err
		}
		if keep(item) {
			kept = append(kept, text)
		}
	}
	var err error
	*list, err = json.Marshal(kept)
	return err
}

// network is what lists say.
type network struct {
	brokers       []node.Broker
	robots        []node.Robot
	subscriptions []node.Subscription
}

func (l lists) decode() (n network, err error) {
	for _, list := range []struct {
		text json.RawMessage
		into any
	}{{l.Brokers, &n.brokers}, {l.Robots, &n.robots}, {l.Subscriptions, &n.subscriptions}} {
		if err := json.Unmarshal(list.text, list.into); err != nil {
			return n, fmt.Errorf("the broker's list: %w", err)
		}
	}
	return n, nil
}

// shown is what of a status is printed.
type shown struct {
	robots bool // only robots and what asks for them
	routes bool // the ways that notifications take, too
}

// printStatus prints the lists for people.
func (p *program) printStatus(l lists, show shown) error {
	n, err := l.decode()
	if err != nil {
		return err
	}
	now := time.Now()
	clients := clientsOf(n.brokers, n.subscriptions)
	sums := sumUp(n, clients)
	parts := []part{{"robot", "Robots", robotTable(n.robots, now)}, {"subscription", "Subscriptions", subscriptionTable(n.subscriptions)}}
	if !show.robots {
		parts = []part{{"broker", "Brokers", brokerTable(n.brokers)}, {"link", "Links", linkTable(n.brokers, now)},
			parts[0], {"queue", "Queues", queueTable(n.brokers)}, {"client", "Clients", clientTable(clients)}, parts[1]}
	}
	if show.routes {
		parts = append(parts, part{"route", "Routes", routeTable(n.brokers)})
	}
	if !p.terminal(p.stdout) {
		if !show.robots {
			fmt.Fprintln(p.stdout, sums.fields())
		}
		for _, part := range parts {
			part.table.lines(p.stdout, part.kind)
		}
		return nil
	}
	p.printParts(parts, sums, show)
	return nil
}

// part is one of the tables of a status.
type part struct {
	kind, title string
	table       table
}

// printParts prints the tables on a terminal, a summary before them.
func (p *program) printParts(parts []part, s sums, show shown) {
	style := style{p.colours(p.stdout)}
	if !show.robots {
		fmt.Fprintln(p.stdout, p.wrapped(s.words()))
	}
	var left []string
	for _, part := range parts {
		if (part.kind == "link" || part.kind == "queue") && len(part.table.rows) == 0 {
			continue // it has no neighbours; nobody serves anything
		}
		fmt.Fprintf(p.stdout, "\n%s (%d)\n", style.bold(part.title), len(part.table.rows))
		if len(part.table.rows) > 0 {
			left = append(left, p.printTable(&part.table)...)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		text := "No room for " + strings.ToLower(strings.Join(slices.Compact(left), ", ")) + "; a wider terminal or --json shows all."
		fmt.Fprintf(p.stdout, "\n%s\n", style.dim(p.wrapped(text)))
	}
}

// sums counts what a network has.
type sums struct {
	brokers, silent int // silent: of which nothing is known
	robots, down    int // down: away or refused
	clients, away   int
	subscriptions   int
	waiting         int
	lost            uint64
	registry        string // the broker that holds the registry, or everyBroker
}

// everyBroker is said where each broker holds the registry.
const everyBroker = string(overlay.ModeEvery)

func sumUp(n network, clients map[clientName]*clientTotals) sums {
	s := sums{brokers: len(n.brokers), robots: len(n.robots), clients: len(clients), subscriptions: len(n.subscriptions)}
	for _, b := range n.brokers {
		if b.Source == "" {
			s.silent++
		}
		switch {
		case s.registry != "":
		case b.RegistryMode == string(overlay.ModeEvery):
			s.registry = everyBroker
		default:
			s.registry = b.Registry
		}
		s.waiting += b.Waiting
		s.lost += b.Lost
	}
	for _, r := range n.robots {
		if r.State == protocol.RobotAway || r.Refused {
			s.down++
		}
	}
	for _, c := range clients {
		if !c.attached {
			s.away++
		}
	}
	return s
}

// words returns the sums as a sentence.
func (s sums) words() string {
	some := func(n int, what string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf(" (%d %s)", n, what)
	}
	registry := ""
	switch {
	case s.brokers < 2:
	case s.registry == everyBroker:
		registry = ", the registry at every broker"
	case s.registry != "":
		registry = ", the registry at " + s.registry
	}
	return plural(s.brokers, "broker") + some(s.silent, "silent") + ", " +
		plural(s.robots, "robot") + some(s.down, "away") + ", " +
		plural(s.clients, "client") + some(s.away, "away") + ", " +
		fmt.Sprintf("%s, %d waiting, %d lost", plural(s.subscriptions, "subscription"), s.waiting, s.lost) + registry
}

// fields returns the sums as a line for programs.
func (s sums) fields() string {
	return fmt.Sprintf("summary brokers=%d silent=%d robots=%d away=%d clients=%d clients_away=%d subscriptions=%d waiting=%d lost=%d registry=%s",
		s.brokers, s.silent, s.robots, s.down, s.clients, s.away, s.subscriptions, s.waiting, s.lost, dash(s.registry))
}
