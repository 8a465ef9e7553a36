package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"callboard/bridge/beacon"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// watchID is the subscription's id.
const watchID = "watch"

func (p *program) watch() command {
	minInterval, hold, timeout, most := seconds(), seconds(), seconds(), count()
	return command{
		name: "watch", summary: "subscribe to a condition and print its notifications", args: "CONDITION",
		about: `Prints a line for each reading that matches the condition: the robot, the
device, the reading's time in s, and its main values, or what --select asks
for. What happens besides (a robot that goes away, notifications that could not
be kept, a lost broker) is told on stderr. After a lost broker it goes on at
the next one that it knows of, by --broker or from the brokers themselves, or
waits; nothing is missed meanwhile, and nothing comes twice. It also waits for
a broker that does not run yet. Without --broker, and if none is at the usual
place, it takes one that announces itself on the loopback, or on
--beacon-interface. callboard help conditions explains conditions.`,
		examples: []string{
			"callboard watch 'laser.min < 1'",
			"callboard watch 'position.speed > 0.2 && sonar.min < 0.5' --robot 'r*' --trigger rising",
			"callboard watch 'laser.min < 1' --select nearest=laser.min --select 'deg(10) > laser.bearing' --count 3",
			"callboard watch true --json | head -1",
			"callboard watch 'laser.min < 1' --broker ws://b1:8800/ws --broker ws://b2:8800/ws",
		},
		flags: slices.Concat(connectFlags(), beaconFlags(), []cli.Flag{
			&cli.StringFlag{Name: "client", Usage: "`ID` of this program for the broker (default a random one)"},
		}, optionFlags(minInterval, hold), []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "`WHAT` to keep while this program is slow or away: all, or latest (per robot and device) (default all)"},
			&cli.BoolFlag{Name: "json", Usage: "print the notify objects of the protocol"},
			&cli.GenericFlag{Name: "count", Value: most, Usage: "end after `N` notifications"},
			&cli.GenericFlag{Name: "timeout", Value: timeout, Usage: "end after `TIME`; with 1 if --count was not reached, or no broker"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			args, config, err := p.attaching(c, 1, 1, "CONDITION")
			if err != nil {
				return err
			}
			s, err := subscription(c, args[0], minInterval.v, hold.v)
			if err != nil {
				return err
			}
			config.Client = c.String("client")
			where, err := hearing(c, config.Logger)
			if err != nil {
				return err
			}
			w := &watcher{
				where: where, given: len(textsOf(c, "broker")) > 0,
				p: p, subscription: s, config: config, most: most.v,
				out: newNotificationPrinter(p, c.Bool("json")),
			}
			if timeout.set {
				w.timeout = timeout.v
			}
			return w.run(ctx)
		},
	}
}

// optionFlags are the options of a subscription.
func optionFlags(minInterval, hold *flagValue[time.Duration]) []cli.Flag {
	return []cli.Flag{
		repeated("robot", "`PATTERN` of robots' names, as r* (repeat; default all)"),
		repeated("device", "`PATTERN` of devices, as laser or ranger:0 (repeat; default all)"),
		&cli.StringFlag{Name: "trigger", Usage: "`WHEN` to notify: every matching reading, rising (it becomes true), or change (of its state) (default every)"},
		&cli.GenericFlag{Name: "min-interval", Value: minInterval, Usage: "least `TIME` between notifications of a robot"},
		&cli.GenericFlag{Name: "for", Value: hold, Usage: "`TIME` that the condition must have held"},
		repeated("select", "`EXPR` to send instead of the reading, or NAME=EXPR (repeat)"),
	}
}

// subscription makes what is subscribed of the flags.
func subscription(c *cli.Context, condition string, minInterval, hold time.Duration) (callboard.Subscription, error) {
	s := callboard.Subscription{
		ID: watchID, Condition: condition,
		Robots: textsOf(c, "robot"), Devices: textsOf(c, "device"),
		Trigger: c.String("trigger"), Keep: c.String("keep"),
		MinInterval: minInterval.Seconds(), For: hold.Seconds(),
	}
	if strings.TrimSpace(condition) == "" {
		return s, usagef("the condition is empty; true matches every reading")
	}
	for _, pattern := range slices.Concat(s.Robots, s.Devices) {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return s, usagef("%q is no pattern, expected a name in which * and ? stand for any", pattern)
		}
	}
	if !slices.Contains([]string{"", protocol.TriggerEvery, protocol.TriggerRising, protocol.TriggerChange}, s.Trigger) {
		return s, usagef("--trigger %q, expected every, rising or change", s.Trigger)
	}
	if !slices.Contains([]string{"", protocol.KeepAll, protocol.KeepLatest}, s.Keep) {
		return s, usagef("--keep %q, expected all or latest", s.Keep)
	}
	for _, text := range textsOf(c, "select") {
		name, expression := selection(text)
		if expression == "" {
			return s, usagef("--select %q has no expression, expected EXPR or NAME=EXPR", text)
		}
		if _, twice := s.Select[name]; twice {
			return s, usagef("--select %q comes twice; give one of them another name: NAME=EXPR", name)
		}
		if s.Select == nil {
			s.Select = map[string]string{}
		}
		s.Select[name] = expression
	}
	return s, nil
}

// named matches NAME=EXPR, but not an expression that begins with a
// comparison.
var named = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=([^=].*|)$`)

// selection returns the name and the expression of a --select; the name of a
// bare expression is its text.
func selection(text string) (name, expression string) {
	if m := named.FindStringSubmatch(strings.ReplaceAll(text, "\n", " ")); m != nil {
		return m[1], strings.TrimSpace(m[2])
	}
	text = strings.TrimSpace(text)
	return text, text
}

// watcher subscribes and prints until it is to end.
type watcher struct {
	p            *program
	subscription callboard.Subscription
	config       callboard.Config
	where        beacon.ListenConfig // where brokers are heard
	given        bool                // the broker was named
	out          *notificationPrinter
	most         int           // notifications; 0: no end
	timeout      time.Duration // 0: none
	printed      int
	failure      error // why printing ended

	broker  string // that it hangs on, or did last
	reached bool   // a broker took it
}

// errEnough ends a watch whose count is reached, errTimeout one whose time is
// over.
var (
	errEnough  = errors.New("enough")
	errTimeout = errors.New("timeout")
)

func (w *watcher) run(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	if w.timeout > 0 {
		timer := time.AfterFunc(w.timeout, func() { end(errTimeout) })
		defer timer.Stop()
	}
	w.config.Handle = func(e callboard.Event) { w.handle(e, end) }
	client, err := w.dial(ctx)
	if err == nil {
		err = w.attached(ctx, client)
		client.Close() // from here on, nothing else touches w
	}
	if w.failure != nil {
		return w.failure
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errEnough):
		return nil
	case errors.Is(cause, errTimeout):
		if !w.reached {
			return fmt.Errorf("no broker answered at %s within %s", strings.Join(w.config.Brokers, ", "), w.timeout)
		}
		if w.most == 0 {
			return nil
		}
		return fmt.Errorf("%d of %d notifications came within %s", w.printed, w.most, w.timeout)
	case errors.Is(cause, context.Canceled) && ctx.Err() != nil:
		return nil // asked to stop
	}
	return err
}

// again is how long a broker that does not run yet is left alone.
const again = 500 * time.Millisecond

// dial attaches; it waits for a broker while none is in reach. If none was named
// and none is at the usual place, one that is heard will do; not with a token,
// which is for nobody unknown. From then on only brokers count that the network
// has named.
func (w *watcher) dial(ctx context.Context) (*callboard.Client, error) {
	var named atomic.Pointer[callboard.Client]
	listen := beacon.Hear(w.where)
	w.config.Heard = func(ctx context.Context, report func(id, url string)) {
		listen(ctx, func(id, url string) {
			if c := named.Load(); c != nil && slices.ContainsFunc(c.Brokers(), func(b protocol.BrokerURL) bool { return b.ID == id && b.URL == url }) {
				report(id, url)
			}
		})
	}
	for tries := 0; ; tries++ {
		config := w.config
		client, err := callboard.Dial(ctx, config)
		if outOfReach(err) && !w.given && config.Token == "" && ctx.Err() == nil {
			if url := hear(ctx, w.where); url != "" {
				config.Brokers = []string{url}
				if client, err = callboard.Dial(ctx, config); err == nil {
					w.note("no broker at %s; heard one at %s", defaultBroker, url)
				}
			}
		}
		switch {
		case err == nil:
			w.reached = true
			named.Store(client)
			return client, nil
		case !outOfReach(err) || ctx.Err() != nil:
			return nil, explainDial(config, err)
		case tries == 0:
			w.note("%v; waiting for it", explainDial(config, err))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(again):
		}
	}
}

// attached subscribes and waits for the end.
func (w *watcher) attached(ctx context.Context, client *callboard.Client) error {
	subscribed, err := client.Subscribe(ctx, w.subscription)
	if err != nil {
		return explainCondition(w.subscription, err)
	}
	w.note("watching %s", matchingNow(subscribed))
	if subscribed.Warning != "" {
		w.note("%s", subscribed.Warning)
	}
	if subscribed.Robots == 0 {
		w.hint(ctx, client)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-client.Done():
		return client.Err()
	}
}

// matchingNow says how many robots a subscription concerns.
func matchingNow(s callboard.Subscribed) string {
	switch s.Robots {
	case 0:
		return "for robots: none matches so far"
	case 1:
		return "1 robot"
	}
	return fmt.Sprintf("%d robots", s.Robots)
}

// handle prints one event; it runs in the client's goroutine.
func (w *watcher) handle(event callboard.Event, end context.CancelCauseFunc) {
	switch e := event.(type) {
	case *callboard.Notification:
		if w.failure != nil || (w.most > 0 && w.printed >= w.most) {
			return
		}
		if err := w.out.print(e); err != nil {
			w.failure = fmt.Errorf("writing to stdout: %w", err)
			end(w.failure)
			return
		}
		if w.printed++; w.printed == w.most {
			end(errEnough)
		}
	case *callboard.Gap:
		if e.To == nil {
			w.note("the sequence of source %s ended: %s", e.Source, e.Why)
			return
		}
		w.note("%d notifications are lost: %s", *e.To-e.From+1, e.Why)
	case *callboard.Robot:
		w.note("%s", robotState(e))
	case *callboard.Failure:
		w.note("%s", e.Error.Error())
		if e.Ended {
			w.failure = explainCondition(w.subscription, &e.Error)
			end(w.failure)
		}
	case *callboard.Fault:
		w.note("the broker broke the protocol: %s", e)
	case *callboard.Detached:
		w.note("connection lost, trying again: %v", e.Err)
	case *callboard.Stayed:
		w.note("%s does not take this program: %v", e.URL, e.Err)
	case *callboard.Attached:
		if w.broker != "" {
			w.note("%s", attachment(e, w.broker))
		}
		w.broker = e.Broker
	}
}

// attachment words that the program hangs on a broker again; before is the
// broker that it hung on.
func attachment(e *callboard.Attached, before string) string {
	where := "moved from " + before + " to " + e.Broker
	if e.Broker == before {
		where = "attached to " + e.Broker + " again"
	}
	if e.Handover == nil {
		return where + ", as a new session"
	}
	return fmt.Sprintf("%s within %s", where, e.Handover.Took.Round(time.Millisecond))
}

// robotState words a robot's event.
func robotState(e *callboard.Robot) string {
	name := "robot " + e.Robot.Robot
	if e.Device != "" {
		name = "device " + e.Device + " of " + name
	}
	switch e.State {
	case protocol.RobotUp:
		return name + " is up"
	case protocol.RobotAway:
		return name + " is away"
	case protocol.RobotOverflow:
		if e.Lost != nil {
			return fmt.Sprintf("robot %s lost %d readings before they reached the broker", e.Robot.Robot, *e.Lost)
		}
		return "robot " + e.Robot.Robot + " lost readings before they reached the broker"
	}
	return "robot " + e.Robot.Robot + ": " + e.State
}

// note prints what is no result.
func (w *watcher) note(format string, values ...any) {
	fmt.Fprintf(w.p.stderr, "callboard watch: "+format+"\n", values...)
}

// explainCondition shows where a condition is wrong.
func explainCondition(s callboard.Subscription, err error) error {
	var e *callboard.Error
	if !errors.As(err, &e) || (e.Code != protocol.BadCondition && e.Code != protocol.TooCostly) {
		return err
	}
	if e.Position == nil {
		return usagef("%s", e.Message)
	}
	text := s.Condition
	if name, found := selectedIn(s, e.Message); found {
		text = s.Select[name]
	}
	return usagef("%s: %s%s", place(text, *e.Position), e.Message, caret(text, *e.Position))
}

// place words a position; the line only if there are several.
func place(text string, at protocol.Position) string {
	if strings.Contains(text, "\n") {
		return fmt.Sprintf("line %d, column %d", at.Line, at.Column)
	}
	return fmt.Sprintf("column %d", at.Column)
}

// selectedIn finds the selected expression that a message is about: the
// broker's messages begin with its name.
func selectedIn(s callboard.Subscription, message string) (string, bool) {
	for name := range s.Select {
		if strings.HasPrefix(message, "select "+name+":") || strings.HasPrefix(message, fmt.Sprintf("select %q:", name)) {
			return name, true
		}
	}
	return "", false
}

// caret shows a line of a text, below what is said of it, and points to a
// place in it. What is long is cut around the place.
func caret(text string, at protocol.Position) string {
	const width = 72
	lines := strings.Split(text, "\n")
	if at.Line < 1 || at.Line > len(lines) || strings.TrimSpace(lines[at.Line-1]) == "" {
		return ""
	}
	line := []rune(strings.ReplaceAll(lines[at.Line-1], "\t", " "))
	column := min(max(at.Column, 1), len(line)+1) - 1
	if len(line) > width {
		from := min(max(0, column-width/2), len(line)-width)
		line, column = line[from:from+width], column-from
	}
	return "\n  " + string(line) + "\n  " + strings.Repeat(" ", column) + "^"
}

// writeLine writes a line at once.
func writeLine(w io.Writer, line []byte) error {
	_, err := w.Write(append(line, '\n'))
	return err
}
