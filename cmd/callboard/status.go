package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"callboard/bridge/node"
	callboard "callboard/clients/go"

	"github.com/urfave/cli/v2"
)

func (p *program) status() command {
	return command{
		name: "status", summary: "brokers, links, robots, clients, subscriptions, routes",
		about: `Asks a running broker what it and those that it reaches know, and prints it:
brokers and the links between them, robots and who reads them, clients and where
they hang, what waits for them, and the ways that their notifications take.`,
		examples: []string{
			"callboard status",
			"callboard status --broker ws://127.0.0.1:8800/ws --json",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one object: brokers, robots, subscriptions"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			_, config, err := p.attaching(c, 0, 0, "")
			if err != nil {
				return err
			}
			lists, err := ask(ctx, config)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				text, err := json.Marshal(lists)
				if err != nil {
					return err
				}
				return writeLine(p.stdout, text)
			}
			return p.printStatus(lists)
		},
	}
}

// lists are a broker's answers to list.
type lists struct {
	Brokers       json.RawMessage `json:"brokers"`
	Robots        json.RawMessage `json:"robots"`
	Subscriptions json.RawMessage `json:"subscriptions"`
}

// ask attaches to a broker and asks for all lists.
func ask(ctx context.Context, config callboard.Config) (l lists, err error) {
	config.Anonymous, config.Handle = true, func(callboard.Event) {}
	client, err := dial(ctx, config)
	if err != nil {
		return l, err
	}
	defer client.Close()
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

// printStatus prints the lists for people.
func (p *program) printStatus(l lists) error {
	var brokers []node.Broker
	var all []node.Robot
	var subscriptions []node.Subscription
	for _, list := range []struct {
		text json.RawMessage
		into any
	}{{l.Brokers, &brokers}, {l.Robots, &all}, {l.Subscriptions, &subscriptions}} {
		if err := json.Unmarshal(list.text, list.into); err != nil {
			return fmt.Errorf("the broker's list: %w", err)
		}
	}
	for i, part := range []struct {
		kind, title string
		table       table
	}{
		{"broker", "Brokers", brokerTable(brokers)},
		{"link", "Links", linkTable(brokers, time.Now())},
		{"robot", "Robots", robotTable(all, time.Now())},
		{"client", "Clients", clientTable(brokers, subscriptions)},
		{"subscription", "Subscriptions", subscriptionTable(subscriptions)},
		{"route", "Routes", routeTable(brokers)},
	} {
		if len(part.table.rows) == 0 && len(brokers) < 2 && (part.kind == "link" || part.kind == "route") {
			continue // it has no neighbours
		}
		if !p.terminal(p.stdout) {
			part.table.lines(p.stdout, part.kind)
			continue
		}
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		s := style{p.colours(p.stdout)}
		fmt.Fprintf(p.stdout, "%s (%d)\n", s.bold(part.title), len(part.table.rows))
		if len(part.table.rows) > 0 {
			part.table.print(p.stdout, s, true)
		}
	}
	return nil
}
