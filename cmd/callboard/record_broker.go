package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"callboard/bridge/record"
	"callboard/bridge/robots"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
	"callboard/subscribe"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// recordBrokerFlags are those of a recording from a broker.
func recordBrokerFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		repeated("broker", "`URL` of a broker whose robots to record, ws://HOST:PORT/ws (repeat to name\nothers to try when it is lost)"),
		repeated("robot", "`PATTERN` of robots' names, with --broker (repeat; default all)"),
	}, connectFlags()[1:])
}

// recordBroker makes a broker what the recording comes from.
func (p *program) recordBroker(ctx context.Context, c *cli.Context, r *record.Config, devices []string) error {
	config, err := connection(c, r.Logger)
	if err != nil {
		return err
	}
	client, err := dial(ctx, config)
	if err != nil {
		return err
	}
	if r.World, err = brokerPlans(ctx, client, config, r.Logger); err != nil {
		client.Close()
		return err
	}
	r.Source = fromBroker(client, toRecord(r.Output, textsOf(c, "robot"), devices), r.Logger)
	return nil
}

// toRecord asks for the messages that readings came of, and for an MCAP file for
// the readings too, which it keeps beside them.
func toRecord(output string, robots, devices []string) []callboard.Subscription {
	asked := []callboard.Subscription{{ID: "messages", Condition: "true", Robots: robots, Devices: devices, Messages: true}}
	if strings.EqualFold(filepath.Ext(output), ".mcap") {
		asked = append(asked, callboard.Subscription{ID: "readings", Condition: "true", Robots: robots, Devices: devices})
	}
	return asked
}

// fromBroker returns what a client of a broker is told as records.
func fromBroker(client *callboard.Client, asked []callboard.Subscription, log *slog.Logger) func(context.Context, func(*run.Record)) error {
	b := &brokerSource{client: client, asked: asked, log: log, robots: map[string]*brokerRobot{}, told: map[player.Interface]bool{}}
	return func(ctx context.Context, put func(*run.Record)) error {
		defer client.Close()
		b.put = put
		return b.run(ctx)
	}
}

// brokerSource returns what a broker sends as records.
type brokerSource struct {
	client *callboard.Client
	asked  []callboard.Subscription // the first asks for messages
	log    *slog.Logger
	put    func(*run.Record)
	robots map[string]*brokerRobot
	ports  uint32                    // given so far
	told   map[player.Interface]bool // interfaces of which something was left out
}

// brokerRobot is a robot whose readings come.
type brokerRobot struct {
	name, world, player string
	port                uint32 // in the recording: a broker does not tell the server's
	devices             map[string]*player.Device
	up                  bool
	state               string // as listed last
	since               float64
}

func (b *brokerSource) run(ctx context.Context) error {
	for _, s := range b.asked {
		if _, err := b.client.Subscribe(ctx, s); err != nil {
			return err
		}
	}
	if err := b.list(ctx); err != nil {
		return err
	}
	// Of robots that were up before the broker knew of the subscription it tells nothing.
	for _, name := range slices.Sorted(maps.Keys(b.robots)) {
		if r := b.robots[name]; r.state == protocol.RobotUp && subscribe.MatchesAny(b.asked[0].Robots, name) {
			b.begin(r)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-b.client.Events():
			if !ok {
				return b.client.Err()
			}
			if err := b.take(ctx, e); err != nil {
				return err
			}
		}
	}
}

// list asks the broker for its robots: it alone knows their geometry.
func (b *brokerSource) list(ctx context.Context) error {
	answer, err := b.client.List(ctx, "robots")
	if err != nil {
		return fmt.Errorf("asking for the robots: %w", err)
	}
	var list []robots.Robot
	if err := json.Unmarshal(answer, &list); err != nil {
		return fmt.Errorf("the list of robots: %w", err)
	}
	for _, one := range list {
		r := b.robot(one.Robot)
		r.world, r.player, r.state, r.since = one.World, one.Player, one.State, one.Since
		for _, d := range one.Devices {
			addr, ok := player.ParseInterface(d.Interface)
			if !ok {
				continue
			}
			known := r.device(addr, d.Index)
			known.Driver, known.World, known.Geometry = d.Driver, one.World, d.Geometry.Geometry()
		}
	}
	return nil
}

func (b *brokerSource) robot(name string) *brokerRobot {
	r := b.robots[name]
	if r == nil {
		r = &brokerRobot{name: name, port: player.DefaultPort + b.ports, devices: map[string]*player.Device{}}
		b.ports++
		b.robots[name] = r
	}
	return r
}

// device returns a device that is known, or notes it.
func (r *brokerRobot) device(i player.Interface, index int) *player.Device {
	addr := player.Addr{Host: 0x0100007f, Robot: r.port, Interf: i, Index: uint16(index)}
	d := r.devices[addr.String()]
	if d == nil {
		d = &player.Device{Addr: addr, Robot: r.name, World: r.world}
		r.devices[addr.String()] = d
	}
	return d
}

// take takes an event of the client.
func (b *brokerSource) take(ctx context.Context, event callboard.Event) error {
	switch e := event.(type) {
	case *callboard.Notification:
		return b.notification(e)
	case *callboard.Robot:
		return b.state(ctx, e)
	case *callboard.Gap:
		b.log.Warn("the broker could not keep readings", "source", e.Source, "why", e.Why)
		for _, r := range b.robots {
			if r.up {
				b.tell(r, run.Record{Kind: run.Lost})
			}
		}
	case *callboard.Failure:
		if e.Ended {
			return &e.Error
		}
	}
	return nil
}

// tell puts a record of a robot.
func (b *brokerSource) tell(r *brokerRobot, rec run.Record) {
	rec.Robot, rec.World, rec.Player, rec.Logged = r.name, r.world, r.player, time.Now()
	b.put(&rec)
}

// begin records that a robot is up, with its devices.
func (b *brokerSource) begin(r *brokerRobot) {
	up := run.Record{Kind: run.Up}
	for _, d := range r.devices {
		up.Devices = append(up.Devices, d)
	}
	slices.SortFunc(up.Devices, func(a, b *player.Device) int {
		return int(a.Interf)<<16 + int(a.Index) - int(b.Interf)<<16 - int(b.Index)
	})
	r.up = true
	b.tell(r, up)
}

// notification takes the messages that a reading came of.
func (b *brokerSource) notification(n *callboard.Notification) error {
	r := b.robot(n.Robot)
	if !r.up {
		b.begin(r)
	}
	i, ok := player.ParseInterface(n.Interface)
	if !ok {
		return nil
	}
	messages, err := player.SplitMessages(n.Messages)
	object := []byte(n.Reading)
	for _, m := range messages {
		if err = b.message(r, &m, object); err != nil {
			break
		}
		if m.Type == player.Data {
			object = nil // it is kept beside the first
		}
	}
	if err != nil {
		b.warn(i, "a message is left out; more of this interface are not told", "robot", r.name, "err", err)
	}
	return nil
}

// message takes a message of a device, or an answer that told its configuration.
func (b *brokerSource) message(r *brokerRobot, m *player.Message, object []byte) error {
	d := r.device(m.Interf, int(m.Index))
	var payload any = &iface.Raw{Body: m.Body}
	if known, ok := iface.Lookup(m.Interf, m.Type, m.Subtype); ok {
		payload = known.New()
		if err := known.Decode(m.Body, payload); err != nil {
			return err
		}
	}
	if m.Type == player.Data {
		h := m.Header
		h.Addr = d.Addr
		b.tell(r, run.Record{Kind: run.Data, Device: d, Header: h, Payload: payload, Object: object})
		return nil
	}
	next := *d
	if iface.Learn(payload, &next.Geometry, &next.Config) {
		r.devices[d.Addr.String()] = &next
		b.tell(r, run.Record{Kind: run.Known, Device: &next})
	}
	return nil
}

// warn warns once of an interface.
func (b *brokerSource) warn(i player.Interface, message string, about ...any) {
	if !b.told[i] {
		b.told[i] = true
		b.log.Warn(message, append([]any{"interface", i.String()}, about...)...)
	}
}

// state takes what became of a robot.
func (b *brokerSource) state(ctx context.Context, e *callboard.Robot) error {
	if e.Device != "" { // the robot goes on
		return nil
	}
	r := b.robot(e.Robot.Robot)
	switch e.State {
	case protocol.RobotUp:
		if r.up && e.Since < r.since+1e-3 { // the list has told it
			return nil
		}
		if err := b.list(ctx); err != nil {
			return err
		}
		b.begin(r)
	case protocol.RobotAway:
		if r.up {
			r.up = false
			b.tell(r, run.Record{Kind: run.Down})
		}
	case protocol.RobotOverflow:
		rec := run.Record{Kind: run.Lost}
		if e.Lost != nil {
			rec.Count = *e.Lost
		}
		b.tell(r, rec)
	}
	return nil
}
