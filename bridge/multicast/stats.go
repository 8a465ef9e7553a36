package multicast

import "time"

// SenderCounters count what a sender did since its stream began.
type SenderCounters struct {
	Datagrams, Bytes     uint64 // of data, repairs' bytes included
	Repairs, RepairBytes uint64
	Heartbeats           uint64
	NACKs, NACKsDropped  uint64 // taken; too many of a member
	Duplicates           uint64 // asked for again within the hold-off
	Fills                uint64
	Offs                 [len(whys)]uint64 // by Why
	SocketDrops          uint64            // statuses that told of some
	Forged, Replayed     uint64
}

// MemberCounters count what a member did since it heard of the stream.
type MemberCounters struct {
	Datagrams        uint64 // of data
	Holes            uint64
	NACKs, Statuses  uint64 // sent
	Suppressed       uint64 // not asked for, since another has
	Doubles          uint64 // that it had
	LateRepairs      uint64 // repairs among them
	Beyond           uint64 // its window
	Reordered        uint64
	Asks, Fills      uint64 // over the link
	Forged, Replayed uint64
	Wrong            uint64 // NACKs of others that are none
	Delay            Delay  // from hole to datagram
}

// Delay sums times.
type Delay struct {
	Count uint64
	Sum   time.Duration
}

func (d *Delay) take(t time.Duration) { d.Count, d.Sum = d.Count+1, d.Sum+t }

// Add adds others' counts.
func (c *SenderCounters) Add(o *SenderCounters) {
	c.Datagrams += o.Datagrams
	c.Bytes += o.Bytes
	c.Repairs += o.Repairs
	c.RepairBytes += o.RepairBytes
	c.Heartbeats += o.Heartbeats
	c.NACKs += o.NACKs
	c.NACKsDropped += o.NACKsDropped
	c.Duplicates += o.Duplicates
	c.Fills += o.Fills
	for i, n := range o.Offs {
		c.Offs[i] += n
	}
	c.SocketDrops += o.SocketDrops
	c.Forged += o.Forged
	c.Replayed += o.Replayed
}

// Add adds others' counts.
func (c *MemberCounters) Add(o *MemberCounters) {
	c.Datagrams += o.Datagrams
	c.Holes += o.Holes
	c.NACKs += o.NACKs
	c.Statuses += o.Statuses
	c.Suppressed += o.Suppressed
	c.Doubles += o.Doubles
	c.LateRepairs += o.LateRepairs
	c.Beyond += o.Beyond
	c.Reordered += o.Reordered
	c.Asks += o.Asks
	c.Fills += o.Fills
	c.Forged += o.Forged
	c.Replayed += o.Replayed
	c.Wrong += o.Wrong
	c.Delay.Count += o.Delay.Count
	c.Delay.Sum += o.Delay.Sum
}

// OffsBy returns how many memberships ended for a reason.
func (c *SenderCounters) OffsBy(yield func(why Why, n uint64) bool) {
	for why := WhySlow; int(why) < len(whys); why++ {
		if !yield(why, c.Offs[why]) {
			return
		}
	}
}
