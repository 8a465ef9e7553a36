package multicasttest

import (
	"cmp"
	"slices"

	"callboard/bridge/multicast"
)

func sortSections(s []multicast.Section) {
	slices.SortFunc(s, func(a, b multicast.Section) int { return cmp.Compare(a.Rank, b.Rank) })
}

// check looks at what must hold after each step of a broker.
func (b *broker) check() {
	n := b.net
	if !n.Checked {
		return
	}
	st := b.segment.Status()
	if st.Low > st.Next || st.Next-st.Low > multicast.DefaultWindow {
		n.fail("broker %d can resend %d to %d", b.index, st.Low, st.Next)
	}
	ranks := map[uint16]bool{}
	for _, p := range st.Peers {
		if p.Member {
			if st.Low > p.Want {
				n.fail("broker %d can resend from %d, and its member wants %d", b.index, st.Low, p.Want)
			}
			if ranks[p.Rank] {
				n.fail("broker %d has two members of rank %d", b.index, p.Rank)
			}
			ranks[p.Rank] = true
		}
		if p.Following && (p.Top+1 < p.Lowest || p.Top-p.Lowest+1 > p.Window || p.Holes > int(p.Window)) {
			n.fail("broker %d wants %d and knows of %d, in a window of %d", b.index, p.Lowest, p.Top, p.Window)
		}
	}
}

// Settled reports whether all that was said in sessions that go on has been heard.
func (n *Network) Settled() error {
	for _, b := range n.brokers {
		for _, e := range b.ends {
			if e == nil || e.down || e.cut || e.other.down {
				continue
			}
			if e.got != e.other.sent {
				n.fail("broker %d has %d of %d messages of broker %d in session %d", b.index, e.got, e.other.sent, e.other.of.index, e.session)
			}
			if e.merge.Waiting() > 0 {
				n.fail("broker %d still waits for frame %d of broker %d", b.index, e.merge.Next(), e.other.of.index)
			}
		}
	}
	return n.failed
}

// Members returns how many members a broker's stream has.
func (n *Network) Members(i int) int {
	members := 0
	for _, p := range n.brokers[i].segment.Status().Peers {
		if p.Member {
			members++
		}
	}
	return members
}
