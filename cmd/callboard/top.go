package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

func (p *program) top() command {
	period, most := seconds(), count()
	return command{
		name: "top", summary: "robots, rates, subscriptions and lag of a running broker, live",
		about: `Shows what happens at a broker and those that it reaches, every second: how many
readings each robot sends and how many of them match, the busiest first; how many
notifications each client gets and how far it is behind; and subscriptions. On a
terminal in place, as wide and high as that is, until q or Ctrl-C; else a line for
each thing, or with --json an object each time.`,
		examples: []string{
			"callboard top",
			"callboard top --broker ws://b1:8800/ws --interval 5",
			"callboard top --count 2 --json",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.GenericFlag{Name: "interval", Value: period, Usage: "`TIME` from one to the next (default 1s)"},
			&cli.GenericFlag{Name: "count", Value: most, Usage: "end after `N` times"},
			&cli.BoolFlag{Name: "json", Usage: "print an object a line: robots, clients, subscriptions"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			_, config, err := p.attaching(c, 0, 0, "")
			if err != nil {
				return err
			}
			client, err := dialToAsk(ctx, config)
			if err != nil {
				return err
			}
			defer client.Close()
			var before *counts
			return p.watchBroker(ctx, client, period.or(refreshPeriod), most.v, c.Bool("json"), func(p *program, l lists, now time.Time) error {
				n, err := l.decode()
				if err != nil {
					return err
				}
				after := countsOf(n, now)
				load := after.since(before)
				before = after
				if c.Bool("json") {
					return printObject(p.stdout, load)
				}
				p.printLoad(load, n, now)
				return nil
			})
		},
	}
}

// counts is what has been counted up to a time.
type counts struct {
	at       time.Time
	network  network
	readings map[string]uint64 // by robot
	matched  map[string]uint64
	clients  map[clientName]*clientTotals
}

func countsOf(n network, now time.Time) *counts {
	c := &counts{at: now, network: n, readings: map[string]uint64{}, matched: map[string]uint64{}, clients: clientsOf(n.brokers, n.subscriptions)}
	for _, r := range n.robots {
		if !r.Refused { // another one of the name is in force
			c.readings[r.Robot.Robot], c.matched[r.Robot.Robot] = r.Readings, r.Matched
		}
	}
	return c
}

// load is what happens at present. Rates are a second; nil where nothing was known
// before.
type load struct {
	Robots        []robotLoad        `json:"robots"`
	Clients       []clientLoad       `json:"clients"`
	Subscriptions []subscriptionLoad `json:"subscriptions"`
}

type robotLoad struct {
	Robot    string   `json:"robot"`
	Broker   string   `json:"broker"`
	State    string   `json:"state"`
	Readings *float64 `json:"readings"`
	Matched  *float64 `json:"matched"`
	Lost     uint64   `json:"lost"` // since the broker began
}

type clientLoad struct {
	Client        string   `json:"client"`
	Broker        string   `json:"broker"`
	State         string   `json:"state"`
	Notifications *float64 `json:"notifications"`
	Behind        uint64   `json:"behind"` // notifications that it has not acknowledged
	Lag           *float64 `json:"lag"`    // s that what it is behind takes to come, at this rate; null: none comes
	Subscriptions int      `json:"subscriptions"`
}

type subscriptionLoad struct {
	Client    string `json:"client"`
	ID        string `json:"id"`
	Condition string `json:"condition"`
	Matching  int    `json:"matching"`
}

// rate is how many came a second, nil if what was before is not known, or begins anew.
func rate(after, before uint64, known bool, seconds float64) *float64 {
	if !known || after < before || seconds <= 0 {
		return nil
	}
	r := float64(after-before) / seconds
	return &r
}

// since returns what has happened since other counts; nil: there are none.
func (c *counts) since(before *counts) load {
	if before == nil {
		before = &counts{at: c.at}
	}
	l := load{Robots: []robotLoad{}, Clients: []clientLoad{}, Subscriptions: []subscriptionLoad{}}
	seconds := c.at.Sub(before.at).Seconds()
	for _, r := range c.network.robots {
		name, state := r.Robot.Robot, r.State
		if r.Refused {
			state = "refused"
		}
		readings, known := before.readings[name]
		l.Robots = append(l.Robots, robotLoad{name, r.Broker, state,
			rate(r.Readings, readings, known && !r.Refused, seconds), rate(r.Matched, before.matched[name], known && !r.Refused, seconds), r.Lost})
	}
	slices.SortFunc(l.Robots, func(a, b robotLoad) int {
		return cmp.Or(cmp.Compare(number(b.Readings), number(a.Readings)), natural(a.Robot, b.Robot), natural(a.Broker, b.Broker))
	})
	for k, now := range c.clients {
		was, known := before.clients[k]
		if !known {
			was = &clientTotals{}
		}
		one := clientLoad{Client: k.name, Broker: k.broker, State: now.state(), Behind: now.behind(), Subscriptions: now.subscriptions,
			Notifications: rate(now.last, was.last, known, seconds)}
		switch r := number(one.Notifications); {
		case one.Behind == 0:
			one.Lag = new(float64)
		case r > 0:
			lag := float64(one.Behind) / r
			one.Lag = &lag
		}
		l.Clients = append(l.Clients, one)
	}
	slices.SortFunc(l.Clients, func(a, b clientLoad) int {
		return cmp.Or(cmp.Compare(b.Behind, a.Behind), cmp.Compare(number(b.Notifications), number(a.Notifications)), natural(a.Client, b.Client), natural(a.Broker, b.Broker))
	})
	for _, s := range c.network.subscriptions {
		l.Subscriptions = append(l.Subscriptions, subscriptionLoad{s.Client, s.ID, s.Condition, s.Matching})
	}
	slices.SortFunc(l.Subscriptions, func(a, b subscriptionLoad) int {
		return cmp.Or(natural(a.Client, b.Client), natural(a.ID, b.ID))
	})
	return l
}

// number is a rate as far as it is known.
func number(rate *float64) float64 {
	if rate == nil {
		return 0
	}
	return *rate
}

// perSecond words a rate.
func perSecond(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return strconv.FormatFloat(*rate, 'f', 1, 64)
}

// tables lists a load for people.
func (l load) tables() []part {
	robots := table{headings: []string{"ROBOT", "STATE", "READINGS/S", "MATCHED/S", "LOST", "BROKER"}, right: numbers(2, 3, 4), spare: []int{5, 4, 1}}
	for _, r := range l.Robots {
		robots.add(r.Robot, r.State, perSecond(r.Readings), perSecond(r.Matched), strconv.FormatUint(r.Lost, 10), r.Broker)
	}
	clients := table{headings: []string{"CLIENT", "STATE", "GETS/S", "BEHIND", "LAG", "SUBSCRIPTIONS", "BROKER"}, right: numbers(2, 3, 4, 5), spare: []int{6, 5, 1}}
	for _, c := range l.Clients {
		lag := "-"
		if c.Lag != nil {
			lag = strconv.FormatFloat(*c.Lag, 'f', 2, 64) + "s"
		}
		clients.add(dash(c.Client), c.State, perSecond(c.Notifications), strconv.FormatUint(c.Behind, 10), lag, strconv.Itoa(c.Subscriptions), dash(c.Broker))
	}
	subscriptions := table{headings: []string{"CLIENT", "ID", "MATCHING", "CONDITION"}, right: numbers(2), spare: []int{0}}
	for _, s := range l.Subscriptions {
		subscriptions.add(dash(s.Client), s.ID, strconv.Itoa(s.Matching), s.Condition)
	}
	return []part{{"robot", "Robots", robots}, {"client", "Clients", clients}, {"subscription", "Subscriptions", subscriptions}}
}

// printLoad prints a load: on a terminal as much of each table as there is room for.
func (p *program) printLoad(l load, n network, now time.Time) {
	s := sumUp(n, clientsOf(n.brokers, n.subscriptions))
	var readings, given float64
	for _, r := range l.Robots {
		readings += number(r.Readings)
	}
	for _, c := range l.Clients {
		given += number(c.Notifications)
	}
	parts := l.tables()
	if !p.terminal(p.stdout) {
		fmt.Fprintf(p.stdout, "%s readings=%.1f notifications=%.1f\n", s.fields(), readings, given)
		for _, part := range parts {
			part.table.lines(p.stdout, part.kind)
		}
		return
	}
	style := style{p.colours(p.stdout)}
	heading := p.wrapped(fmt.Sprintf("%s  %s; %.0f readings/s, %.0f notifications/s", now.Format(time.TimeOnly), s.words(), readings, given))
	fmt.Fprintln(p.stdout, heading)
	room := shareOut(p.rows(p.stdout)-strings.Count(heading, "\n")-1-3*len(parts), parts)
	for i, part := range parts {
		shown := fmt.Sprintf("%s (%d)", style.bold(part.title), len(part.table.rows))
		if room[i] < len(part.table.rows) {
			shown = fmt.Sprintf("%s (%d of %d)", style.bold(part.title), room[i], len(part.table.rows))
			part.table.rows = part.table.rows[:room[i]]
		}
		fmt.Fprintf(p.stdout, "\n%s\n", shown)
		if len(part.table.rows) > 0 {
			p.printTable(&part.table)
		}
	}
}

// shareOut returns how many rows of each table there is room for: those that need
// less than their share leave the rest to the others.
func shareOut(rows int, parts []part) []int {
	room := make([]int, len(parts))
	for rows = max(rows, len(parts)); rows > 0; {
		given := false
		for i, part := range parts {
			if rows > 0 && room[i] < len(part.table.rows) {
				room[i]++
				rows--
				given = true
			}
		}
		if !given {
			break
		}
	}
	return room
}
