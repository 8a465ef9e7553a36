package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// roster is what is known of a source broker's robots: of this broker's own, too.
// It stays when its users go, so that an edge that is cut off when a client comes
// back knows which robots are away then.
type roster struct {
	broker  BrokerID
	version uint64 // 0: nothing is known yet
	stale   bool   // it was not heard of since it came into use: nothing is told by it
	robots  map[string]*Availability
	names   []string // sorted
	users   int      // inboxes here of its keys
	missed  int      // periods' ends since it was heard of
	heard   Instant
	out     bool // it is out of reach

	again []StateAgain // to be asked for, until an answer has come
	asked uint64       // numbers them
	ask   bool         // at the end of this step
}

// heardOf reports whether its broker was in reach at the last period's end.
func (v *roster) heardOf() bool { return v.missed <= 1 && !v.out }

// known reports whether clients can be told by the roster.
func (v *roster) known() bool { return v.version > 0 && !v.stale }

func newRoster(id BrokerID) *roster { return &roster{broker: id, robots: map[string]*Availability{}} }

// replace takes what is said of all robots, or of some.
func (v *roster) replace(m *Robots) {
	v.version = m.Version
	if m.Whole {
		clear(v.robots)
		v.names = nil
	}
	for i := range m.Robots {
		v.put(&m.Robots[i])
	}
}

func (v *roster) put(a *Availability) (old *Availability) {
	old = v.robots[a.Robot]
	if v.robots[a.Robot] = a; old == nil {
		at, _ := slices.BinarySearch(v.names, a.Robot)
		v.names = slices.Insert(v.names, at, a.Robot)
	}
	return old
}

func (v *roster) remove(name string) {
	delete(v.robots, name)
	if at, found := slices.BinarySearch(v.names, name); found {
		v.names = slices.Delete(v.names, at, at+1)
	}
}

// fewRobots are told to the registry and to edges at each change; of more a
// quarter of a period's changes go together.
const fewRobots = 64

// find returns what is known of a robot or a device; nil: nothing. A device that
// was never away since its broker began is as its robot is.
func (v *roster) find(name string) *Availability {
	if a := v.robots[name]; a != nil {
		return a
	}
	if robot, device := protocol.SplitAwayName(name); device != "" {
		return v.robots[robot]
	}
	return nil
}
