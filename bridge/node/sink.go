package node

import (
	"maps"
	"slices"
	"time"
	"unsafe"

	"callboard/bridge/overlay"
	"callboard/bridge/robots"
	"callboard/bridge/shadow"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
)

// Matched takes a reading that subscriptions matched. It never waits: what
// finds no room is dropped, counted, and told as an overflow of the robot.
func (n *Node) Matched(robot string, m *subscribe.Matched, decoded time.Time) {
	if n.rests.Load() {
		return
	}
	it := item{matched: m, robot: robot, decoded: overlay.Instant(n.config.Clock.MicroAt(decoded))}
	if n.atOnce(&it) || n.queue.offer(it, weight(m)) {
		return
	}
	n.dropped.Inc()
	n.lostMu.Lock()
	n.lost[robot]++
	n.lostMu.Unlock()
}

// Post takes what one message of a robot of a pair's side has matched, perhaps
// nothing, and what its session has done up to there: both go in one step. What finds
// no room is dropped, as with Matched.
func (n *Node) Post(robot string, all []*subscribe.Matched, decoded time.Time, p *shadow.Piece) {
	it := item{together: all, piece: p, robot: robot, decoded: overlay.Instant(n.config.Clock.MicroAt(decoded))}
	bytes := 0
	for _, m := range all {
		bytes += weight(m)
	}
	if len(all) == 0 {
		n.queue.must(it)
		return
	}
	if n.queue.offer(it, bytes) {
		return
	}
	p.Dropped()
	n.dropped.Add(len(all))
	n.lostMu.Lock()
	n.lost[robot] += uint64(len(all))
	n.lostMu.Unlock()
}

// weight is what a reading that waits holds in memory, in bytes, about.
func weight(m *subscribe.Matched) int {
	const match, key = int(unsafe.Sizeof(subscribe.Match{})), int(unsafe.Sizeof(subscribe.KeyMatches{}))
	bytes := len(m.Reading) + key*len(m.Matches)
	for _, k := range m.Matches {
		bytes += match * len(k.Subscriptions)
		for i := range k.Subscriptions {
			bytes += len(k.Subscriptions[i].Values)
		}
	}
	return bytes
}

// Robot takes what became of a robot.
func (n *Node) Robot(e robots.Event) {
	if n.rests.Load() {
		return
	}
	if e.Device == "" && (e.State == protocol.RobotUp || e.State == "") {
		n.queue.must(item{in: &overlay.Advertise{Robot: e.Robot, World: e.World, Devices: e.Devices, Bounds: bounds(e.Bounds)}})
	}
	if e.State == "" {
		return
	}
	n.queue.must(item{in: state(e)})
}

func bounds(all []robots.Bound) []overlay.Bound {
	out := make([]overlay.Bound, len(all))
	for i, b := range all {
		out[i] = overlay.Bound{Name: b.Name, Lo: finite(b.Lo), Hi: finite(b.Hi)}
	}
	return out
}

func state(e robots.Event) *overlay.RobotState {
	s := &overlay.RobotState{Robot: e.Robot, Device: e.Device, State: e.State, Since: overlay.Instant(e.Since * float64(overlay.Second))}
	if e.Lost > 0 {
		s.Lost = &e.Lost
	}
	return s
}

// Failed takes an expression that failed while it ran.
func (n *Node) Failed(f subscribe.Failure) {
	if n.rests.Load() { // the active has told it
		return
	}
	n.queue.must(item{in: &overlay.RunFailed{
		Handle: overlay.Handle(f.Key), ID: f.ID, Code: protocol.BadCondition, Message: f.Message,
	}})
}

// tellLost reports the readings that found no room since the last time.
func (n *Node) tellLost() {
	n.lostMu.Lock()
	defer n.lostMu.Unlock()
	if len(n.lost) == 0 {
		return
	}
	for _, robot := range slices.Sorted(maps.Keys(n.lost)) {
		lost := n.lost[robot]
		n.take(n.instant(), &overlay.RobotState{Robot: robot, State: protocol.RobotOverflow, Lost: &lost, Since: n.instant()})
	}
	clear(n.lost)
}

// reading turns a matched reading into the overlay's input.
func (n *Node) reading(m *subscribe.Matched, it *item) *overlay.Matched {
	in := &overlay.Matched{
		Reading: &overlay.Reading{Robot: it.robot, Interface: m.Interface, Index: m.Index, Time: m.Time, JSON: m.Reading, Messages: m.Messages, Arrived: it.decoded},
		Hits:    make([]overlay.Hit, 0, len(m.Matches)),
	}
	count := 0
	for _, k := range m.Matches {
		count += len(k.Subscriptions)
	}
	names := make([]protocol.Matched, 0, count) // of all clients: one allocation
	for _, k := range m.Matches {
		h := overlay.Handle(k.Key)
		if t := n.tested[h]; t != nil {
			from := len(names)
			for _, match := range k.Subscriptions {
				names = append(names, protocol.Matched{ID: match.ID, State: match.State, Values: match.Values})
			}
			in.Hits = append(in.Hits, overlay.Hit{Handle: h, Set: t.by(m.Version), Names: names[from:len(names):len(names)]})
		}
	}
	return in
}
