package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/node"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

func (p *program) status() command {
	return command{
		name: "status", summary: "brokers, links, robots, clients and subscriptions",
		about: `Asks a running broker what it knows, and prints it.`,
		examples: []string{
			"callboard status",
			"callboard status --broker ws://127.0.0.1:8800/ws --json",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print one object: brokers, robots, subscriptions"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			if _, err := arguments(c, 0, 0, ""); err != nil {
				return err
			}
			logger, err := p.logger(c)
			if err != nil {
				return err
			}
			config, err := connection(c, logger)
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
		{"robot", "Robots", robotTable(all, time.Now())},
		{"client", "Clients", clientTable(subscriptions)},
		{"subscription", "Subscriptions", subscriptionTable(subscriptions)},
	} {
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

func brokerTable(brokers []node.Broker) table {
	t := table{headings: []string{"ID", "URL", "ROBOTS", "UP", "CLIENTS", "ATTACHED", "SUBSCRIPTIONS", "WAITING", "LINKS"}, right: numbers(2, 3, 4, 5, 6, 7)}
	for _, b := range brokers {
		if !b.Here { // of others only this much is known here
			t.add(b.ID, dash(b.URL), "-", "-", "-", "-", "-", "-", dash(strings.Join(b.Links, ",")))
			continue
		}
		t.add(b.ID, b.URL, strconv.Itoa(b.Robots), strconv.Itoa(b.Up), strconv.Itoa(b.Clients), strconv.Itoa(b.Attached),
			strconv.Itoa(b.Subscriptions), strconv.Itoa(b.Waiting), dash(strings.Join(b.Links, ",")))
	}
	return t
}

func robotTable(robots []node.Robot, now time.Time) table {
	t := table{headings: []string{"ROBOT", "STATE", "FOR", "BROKER", "PLAYER", "WORLD", "READINGS", "MATCHED", "LOST", "DEVICES"}, right: numbers(2, 6, 7, 8)}
	for _, r := range robots {
		var devices []string
		for _, d := range r.Devices {
			devices = append(devices, d.Interface+":"+strconv.Itoa(d.Index))
		}
		about := strings.Join(devices, " ")
		if r.State == protocol.RobotAway && r.Error != "" {
			about = r.Error
		}
		t.add(r.Robot.Robot, r.State, ago(now, r.Since), r.Broker, r.Player, dash(r.World),
			strconv.FormatUint(r.Readings, 10), strconv.FormatUint(r.Matched, 10), strconv.FormatUint(r.Lost, 10), dash(about))
	}
	return t
}

// clientTable tells of the clients that have subscriptions.
func clientTable(subscriptions []node.Subscription) table {
	type client struct{ name, remote string }
	type sums struct {
		attached      bool
		subscriptions int
		last, num     uint64
	}
	clients := map[client]*sums{}
	for _, s := range subscriptions {
		k := client{s.Client, s.Remote}
		if clients[k] == nil {
			clients[k] = &sums{attached: s.Attached}
			for _, q := range s.Sequence { // one for all of a client's subscriptions
				clients[k].last += q.Last
				clients[k].num += q.Num
			}
		}
		clients[k].subscriptions++
	}
	t := table{headings: []string{"CLIENT", "STATE", "ADDRESS", "SUBSCRIPTIONS", "NOTIFICATIONS", "UNACKNOWLEDGED"}, right: numbers(3, 4, 5)}
	for k, s := range clients {
		state := "away"
		if s.attached {
			state = "attached"
		}
		t.add(dash(k.name), state, dash(k.remote), strconv.Itoa(s.subscriptions),
			strconv.FormatUint(s.last, 10), strconv.FormatUint(s.last-min(s.num, s.last), 10))
	}
	t.sort()
	return t
}

func subscriptionTable(subscriptions []node.Subscription) table {
	t := table{headings: []string{"CLIENT", "ID", "ROBOTS", "MATCHING", "OPTIONS", "CONDITION"}, right: numbers(3)}
	for _, s := range subscriptions {
		robots := "*"
		if len(s.Robots) > 0 {
			robots = strings.Join(s.Robots, ",")
		}
		t.add(dash(s.Client), s.ID, robots, strconv.Itoa(s.Matching), dash(options(s)), s.Condition)
	}
	t.sort()
	return t
}

// options lists what of a subscription is not as by default.
func options(s node.Subscription) string {
	var parts []string
	if len(s.Devices) > 0 {
		parts = append(parts, "devices="+strings.Join(s.Devices, ","))
	}
	if s.Trigger != "" && s.Trigger != protocol.TriggerEvery {
		parts = append(parts, s.Trigger)
	}
	if s.MinInterval > 0 {
		parts = append(parts, "min_interval="+shortNumber(s.MinInterval))
	}
	if s.For > 0 {
		parts = append(parts, "for="+shortNumber(s.For))
	}
	if len(s.Select) > 0 {
		parts = append(parts, "select="+strconv.Itoa(len(s.Select)))
	}
	if s.Keep == protocol.KeepLatest {
		parts = append(parts, "latest")
	}
	if s.Failed {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ",")
}

// ago words the time since a Unix time in s.
func ago(now time.Time, since float64) string {
	if since <= 0 {
		return "-"
	}
	d := now.Sub(time.Unix(0, int64(since*1e9)))
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

// dash stands for nothing.
func dash(text string) string { return cmp.Or(text, "-") }

// numbers are the columns that are set to the right.
func numbers(columns ...int) map[int]bool {
	right := map[int]bool{}
	for _, c := range columns {
		right[c] = true
	}
	return right
}
