package gateway

import (
	"cmp"
	"math"
	"slices"

	"callboard/player"
	"callboard/player/client"
)

// numbering assigns the devices of a robot their indexes here. On a port that N
// robots share the k-th device of an interface of the n-th robot has index
// k·N + n: position2d:n is the base of robot n, whatever other robots have. On a
// port of its own N is 1: a robot's devices begin at 0, whichever indexes they
// have on a Player server with other robots. A device keeps its index for as
// long as the gateway runs.
type numbering struct {
	robots, robot int
	board         bool              // blackboard:0 is the port's own: the robots' begin at 1
	known         map[device]device // nil: no devices are known yet
	next          map[player.Interface]int
	same          bool // the indexes are the Player server's
}

// local returns the device's interface and index here; false means that there is
// none left.
func (n *numbering) local(a player.Addr) (device, bool) {
	there := deviceOf(a)
	if n.same {
		if a.Interf != boardAddr.Interf || !n.board {
			return there, true
		}
		return device{a.Interf, a.Index + 1}, a.Index < math.MaxUint16
	}
	if here, ok := n.known[there]; ok {
		return here, true
	}
	index := n.next[a.Interf]*n.robots + n.robot
	if index > math.MaxUint16 {
		return device{}, false
	}
	here := device{a.Interf, uint16(index)}
	n.known[there] = here
	n.next[a.Interf]++
	return here, true
}

// number assigns the devices of a Player server their indexes on the robot's
// port: of each interface the robot's own come first, by their indexes there.
// Where the robot has the Player server and the port to itself it is as if
// programs had attached to the server.
func (r *robot) number(devices []client.Device) {
	n := &r.numbering
	if n.known == nil && len(devices) > 0 {
		n.known, n.next = map[device]device{}, map[player.Interface]int{}
		if n.board {
			n.next[boardAddr.Interf] = 1
		}
		n.same = n.robots == 1 && len(r.remote.robots) == 1 && !r.shares(devices)
	}
	byIndex := slices.SortedStableFunc(slices.Values(devices), func(a, b client.Device) int {
		return cmp.Compare(a.Index, b.Index)
	})
	for _, own := range []bool{true, false} {
		for _, d := range byIndex {
			if r.owns(d) == own {
				n.local(d.Addr)
			}
		}
	}
}

// shares reports whether there is an interface of which the robot has some
// devices and not others.
func (r *robot) shares(devices []client.Device) bool {
	own := map[player.Interface]bool{}
	for _, d := range devices {
		claimed, seen := own[d.Interf]
		if seen && claimed != r.owns(d) {
			return true
		}
		own[d.Interf] = r.owns(d)
	}
	return false
}
