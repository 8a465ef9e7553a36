package gateway

import (
	"math"

	"callboard/player"
)

// numbering gives the devices of a robot their indexes on a port that robots
// share: the k-th device of an interface (from 0, in the Player server's
// order) of the n-th of N robots has index k·N + n. So position2d:n is the base
// of robot n, whatever other robots have. A device keeps its index for as long
// as the gateway runs.
type numbering struct {
	robots, robot int
	known         map[device]device
	next          map[player.Interface]int
}

// local gives the device's interface and index here; false means that there is
// none left. Without numbering they are those of the Player server.
func (n *numbering) local(a player.Addr) (device, bool) {
	there := deviceOf(a)
	if n == nil {
		return there, true
	}
	if here, ok := n.known[there]; ok {
		return here, true
	}
	index := n.next[a.Interf]*n.robots + n.robot
	if index > math.MaxUint16 {
		return device{}, false
	}
	if n.known == nil {
		n.known, n.next = map[device]device{}, map[player.Interface]int{}
	}
	here := device{a.Interf, uint16(index)}
	n.known[there] = here
	n.next[a.Interf]++
	return here, true
}
