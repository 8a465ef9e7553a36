package robots

import (
	"maps"
	"slices"
	"sync"
	"time"

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
	queue    *commands
	bounds   bounds

	mu      sync.Mutex
	state   string
	since   float64 // s, Unix
	devices []*player.Device
	lost    uint64
	err     error
	present chan struct{} // closed while the robot is up
}

func now() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

func (r *robot) up(devices []*player.Device) {
	r.mu.Lock()
	if r.state != protocol.RobotUp {
		close(r.waiting())
	}
	r.state, r.since, r.devices, r.err = protocol.RobotUp, now(), devices, nil
	r.mu.Unlock()
	r.tell(Event{State: protocol.RobotUp, Devices: addresses(devices), Bounds: r.bounds.of(devices)})
}

func (r *robot) away(err error) {
	r.mu.Lock()
	changed := r.state == protocol.RobotUp
	if changed {
		r.state, r.since, r.devices, r.present = protocol.RobotAway, now(), nil, nil
	}
	r.err = err
	r.mu.Unlock()
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

// placed tells that the name of the robot's world has become known.
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
	e.Robot, e.World, e.Since = r.name, r.session.worldName(), now()
	r.session.owner.config.Sink.Robot(e)
}

// waiting gives the channel that is closed while the robot is up. The lock is
// held by the caller.
func (r *robot) waiting() chan struct{} {
	if r.present == nil {
		r.present = make(chan struct{})
	}
	return r.present
}

// isUp gives a channel that is closed once the robot is up.
func (r *robot) isUp() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.waiting()
}

// target gives the index of the device that a command is for: the one asked
// for, else the robot's lowest of that interface. A simulation is not opened
// and belongs to no robot: its index is 0 unless asked for.
func (r *robot) target(interf player.Interface, asked *int) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lowest := -1
	for _, d := range r.devices {
		switch {
		case d.Interf != interf:
		case asked != nil && int(d.Index) == *asked:
			return *asked, nil
		case lowest < 0 || int(d.Index) < lowest:
			lowest = int(d.Index)
		}
	}
	switch {
	case interf == player.InterfaceSimulation && asked == nil:
		return 0, nil
	case interf == player.InterfaceSimulation:
		return *asked, nil
	case asked != nil:
		return 0, fail(protocol.NotFound, "%s has no device %s:%d", r.name, interf, *asked)
	case lowest < 0:
		return 0, fail(protocol.NotFound, "%s has no device of interface %s", r.name, interf)
	}
	return lowest, nil
}

func (r *robot) describe() Robot {
	stats := r.matching.Stats()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := Robot{
		Robot: r.name, World: r.session.worldName(), Player: r.session.server.Address,
		State: r.state, Since: r.since, Devices: make([]Device, len(r.devices)), Lost: r.lost,
		Readings: stats.Readings, Matched: stats.Matched, Failures: stats.Failures, Skipped: stats.Skipped,
	}
	for i, d := range r.devices {
		out.Devices[i] = Device{Interface: d.Interf.String(), Index: int(d.Index), Driver: d.Driver, Geometry: newGeometry(d.Geometry)}
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
