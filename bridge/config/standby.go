package config

import (
	"fmt"
	"net/netip"
	"slices"
)

// Bounds of T and of what is waited for in vain, in s.
const (
	minT, maxT         = 0.001, 1
	maxTakeOver        = 1e7
	takeOverHeartbeats = 20 // a shorter one passes before the sides have spoken
)

func (k *checks) standby() {
	s := k.c.Standby
	if s.Side == "" {
		return
	}
	if s.Side != SideA && s.Side != SideB {
		k.say("standby.side", fmt.Sprintf("%q is no side of a pair; expected %q at one broker and %q at the other", s.Side, SideA, SideB))
	}
	if len(s.Inner) != 2 {
		k.say("standby.inner", fmt.Sprintf("has %d addresses; expected two HOST:PORT on the line between the sides: this side's own, and the other's", len(s.Inner)))
	} else {
		k.each("standby.inner", s.Inner, func(address string) string { return addressProblem(address, false) })
		if s.Inner[0] == s.Inner[1] {
			k.say("standby.inner", fmt.Sprintf("%q is this side's own address and the other's; expected two", s.Inner[0]))
		}
	}
	if s.Outer == "" {
		k.say("standby.outer", "is missing; expected HOST:PORT where programs reach the other side")
	} else {
		k.say("standby.outer", addressProblem(s.Outer, false))
	}
	k.virtual(s)
	if s.Witness != "" && !slices.ContainsFunc(k.c.Neighbours, func(n Neighbour) bool { return n.ID == s.Witness && n.Address != "" }) {
		k.say("standby.witness", fmt.Sprintf("%q is no [[neighbour]] with an address; expected the id of one, on a third machine", s.Witness))
	}
	if !(s.Heartbeat >= minT && s.Heartbeat <= maxT) {
		k.say("standby.heartbeat", fmt.Sprintf("is %v; expected %v to %v s", s.Heartbeat, minT, maxT))
	}
	if after := s.TakeOverAfter; after != 0 && !(after >= takeOverHeartbeats*s.Heartbeat && after <= maxTakeOver) {
		k.say("standby.take_over_after", fmt.Sprintf("is %v; expected %v s (%d heartbeats) or more, or nothing: then a side that may lack something waits for the other", after, takeOverHeartbeats*s.Heartbeat, takeOverHeartbeats))
	}
}

// virtual checks how others find the active side.
func (k *checks) virtual(s Standby) {
	switch {
	case s.OnActive != nil && (len(s.OnActive) == 0 || s.OnActive[0] == ""):
		k.say("standby.on_active", "is empty; expected a command and its arguments, such as [\"/usr/local/bin/move-address\", \"b1\"]")
	case s.OnActive != nil && s.Address != "":
		k.say("standby.on_active", "contradicts standby.address; expected either")
	}
	switch {
	case s.Address == "" && s.Interface != "":
		k.say("standby.interface", "stands without an address for it; expected standby.address too")
	case s.Address == "":
	case !isPrefix(s.Address):
		k.say("standby.address", fmt.Sprintf("%q is no address with the bits of its network; expected one such as 10.0.0.100/24", s.Address))
	case s.Interface == "":
		k.say("standby.address", "stands without the network interface that is to have it; expected standby.interface, such as \"eth0\"")
	}
}

func isPrefix(text string) bool {
	_, err := netip.ParsePrefix(text)
	return err == nil
}
