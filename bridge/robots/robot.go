package robots

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"callboard/bridge/shadow"
	"callboard/player"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// robot is one robot: its readings' matching, its commands, and its state.
type robot struct {
	name     string
	patterns []string // of its devices; none means all that conditions know
	session  *session
	matching *subscribe.Session
	trail    *shadow.Trail        // nil: of no pair
	shadow   *shadow.Robot        // of a standby; nil: it goes by itself
	matched  []*subscribe.Matched // by what is being tested, of a pair
	queue    *commands
	drive    drive
	bounds   bounds

	mu      sync.Mutex
	state   string
	since   float64 // s, Unix
	devices []*player.Device
	lost    uint64
	// silent are the devices that were told to be away, since when. What fell
	// silent in a session is up with the next one.
	silent   map[string]float64
	silences uint64
	err      error
	present  gate // open while the robot is up
}

// now is Unix time in s.
func (s *session) now() float64 { return float64(s.owner.config.Clock.Micro()) / 1e6 }

func (r *robot) up(devices []*player.Device) {
	r.mu.Lock()
	r.present.open()
	r.state, r.since, r.devices, r.err = protocol.RobotUp, r.session.now(), devices, nil
	heard := sortedKeys(r.silent)
	clear(r.silent)
	r.mu.Unlock()
	r.session.owner.comings.Info("robot up", "robot", r.name, "player", r.session.server.Address, "devices", len(devices))
	r.tell(Event{State: protocol.RobotUp, Devices: addresses(devices), Bounds: r.bounds.of(devices)})
	for _, device := range heard {
		r.tell(Event{State: protocol.RobotUp, Device: device})
	}
}

// tellAgain tells what has become of the robot as if it had just happened.
func (r *robot) tellAgain() {
	r.mu.Lock()
	up, devices, silent := r.state == protocol.RobotUp, r.devices, sortedKeys(r.silent)
	r.mu.Unlock()
	if !up {
		return
	}
	r.tell(Event{State: protocol.RobotUp, Devices: addresses(devices), Bounds: r.bounds.of(devices)})
	for _, device := range silent {
		r.tell(Event{State: protocol.RobotAway, Device: device})
	}
}

// silence notes that a device has fallen silent, or is heard again.
func (r *robot) silence(device string, silent bool) {
	r.mu.Lock()
	state := protocol.RobotUp
	if silent {
		if r.silent == nil {
			r.silent = map[string]float64{}
		}
		state, r.silent[device] = protocol.RobotAway, r.session.now()
		r.silences++
	} else {
		delete(r.silent, device)
	}
	r.mu.Unlock()
	r.tell(Event{State: state, Device: device})
}

func (r *robot) away(err error) {
	r.mu.Lock()
	changed := r.state == protocol.RobotUp
	if changed {
		r.state, r.since, r.devices = protocol.RobotAway, r.session.now(), nil
		r.present.shut()
	}
	news := err != nil && (r.err == nil || r.err.Error() != err.Error())
	r.err = err
	r.mu.Unlock()
	switch comings, player := r.session.owner.comings, r.session.server.Address; {
	case errors.Is(err, context.Canceled): // this broker stops
	case changed:
		comings.Info("robot away", "robot", r.name, "player", player, "error", err)
	case news:
		comings.Warn("robot out of reach", "robot", r.name, "player", player, "error", err)
	}
	if changed {
		r.tell(Event{State: protocol.RobotAway})
	}
}

func (r *robot) overflow(lost uint64) {
	r.mu.Lock()
	r.lost += lost
	r.mu.Unlock()
	r.tell(Event{State: protocol.RobotOverflow, Lost: lost})
}

// placed is called when the name of the robot's world has become known.
func (r *robot) placed() {
	r.mu.Lock()
	up, devices := r.state == protocol.RobotUp, r.devices
	r.mu.Unlock()
	if up {
		r.tell(Event{Devices: addresses(devices), Bounds: r.bounds.of(devices)})
	}
}

func addresses(devices []*player.Device) []string {
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = d.Addr.String()
	}
	return names
}

// learned takes a device of which more is known now.
func (r *robot) learned(d *player.Device) {
	r.mu.Lock()
	r.devices = slices.Clone(r.devices)
	for i, old := range r.devices {
		if old.Interf == d.Interf && old.Index == d.Index {
			r.devices[i] = d
		}
	}
	up, devices := r.state == protocol.RobotUp, r.devices
	r.mu.Unlock()
	if up && d.Config != nil { // bounds come of it
		r.tell(Event{Devices: addresses(devices), Bounds: r.bounds.of(devices)})
	}
}

// tell completes an event and hands it to the sink.
func (r *robot) tell(e Event) {
	e.Robot, e.World, e.Since = r.name, r.session.worldName(), r.session.now()
	r.session.owner.config.Sink.Robot(e)
}

// target returns the session and the index of the device that a command is for:
// the index asked for, else the robot's lowest of that interface.
func (r *robot) target(c *command, asked *int) (*session, int, error) {
	if c.interf == player.InterfaceSimulation {
		return r.simulation(c, asked)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	index, ok := pick(r.devices, func(d *player.Device) player.Addr { return d.Addr }, c.interf, asked)
	switch {
	case ok:
		return r.session, index, nil
	case asked != nil:
		return nil, 0, fail(protocol.NotFound, "%s has no device %s:%d", r.name, c.interf, *asked)
	}
	return nil, 0, fail(protocol.NotFound, "%s has no device of interface %s", r.name, c.interf)
}

func (r *robot) describe() Robot {
	stats := r.matching.Stats()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Robot{
		Robot: r.name, World: r.session.worldName(), Player: r.session.server.Address,
		State: r.state, Since: r.since, Devices: make([]Device, len(r.devices)), Lost: r.lost, Silences: r.silences,
		Readings: stats.Readings, Matched: stats.Matched, Failures: stats.Failures, Skipped: stats.Skipped,
	}
	for i, d := range r.devices {
		out.Devices[i] = Device{
			Interface: d.Interf.String(), Index: int(d.Index), Driver: d.Driver, Geometry: newGeometry(d.Geometry),
			Silent: r.silent[d.Addr.String()],
		}
	}
	if server := r.session.server; server.Gateway != nil {
		out.Gateway, out.Number = server.Gateway(r.name)
		for i, d := range r.devices {
			if index, ok := server.GatewayIndex(r.name, d.Addr); ok {
				out.Devices[i].GatewayIndex = &index
			}
		}
	}
	if r.err != nil {
		out.Error = r.err.Error()
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
