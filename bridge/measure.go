package bridge

import (
	"callboard/bridge/link"
	"callboard/bridge/metric"
)

// segmentFigure is one number of a segment.
type segmentFigure struct {
	family *metric.Family
	value  func(*link.SegmentStats) float64
}

func segmentCounter(name, help string, value func(*link.SegmentStats) uint64) segmentFigure {
	return segmentGauge(name+"_total", help, func(s *link.SegmentStats) float64 { return float64(value(s)) })
}

func segmentGauge(name, help string, value func(*link.SegmentStats) float64) segmentFigure {
	return segmentFigure{metric.NewFamily("callboard_segment_"+name, help, "segment"), value}
}

var (
	segmentFigures = []segmentFigure{
		segmentGauge("members", "Neighbours that get this broker's stream by multicast.", func(s *link.SegmentStats) float64 { return float64(s.Members) }),
		segmentGauge("following", "Neighbours whose stream this broker gets by multicast.", func(s *link.SegmentStats) float64 { return float64(s.Following) }),
		segmentCounter("datagrams", "Datagrams of data sent, without repairs.", func(s *link.SegmentStats) uint64 { return s.Sent.Datagrams }),
		segmentCounter("sent_bytes", "Bytes of datagrams of data sent, with repairs.", func(s *link.SegmentStats) uint64 { return s.Sent.Bytes }),
		segmentCounter("repairs", "Datagrams sent again.", func(s *link.SegmentStats) uint64 { return s.Sent.Repairs }),
		segmentCounter("saved_bytes", "Bytes of readings that went once instead of to each neighbour.", func(s *link.SegmentStats) uint64 { return s.Saved }),
		segmentCounter("nacks_taken", "NACKs taken from members.", func(s *link.SegmentStats) uint64 { return s.Sent.NACKs }),
		segmentCounter("nacks_refused", "NACKs that a member sent beyond what it may.", func(s *link.SegmentStats) uint64 { return s.Sent.NACKsDropped }),
		segmentCounter("nacks_duplicate", "Numbers asked for again while their repair was on its way.", func(s *link.SegmentStats) uint64 { return s.Sent.Duplicates }),
		segmentCounter("fills", "Datagrams sent over links, since multicast did not bring them.", func(s *link.SegmentStats) uint64 { return s.Sent.Fills }),
		segmentGauge("turn_seconds", "Width of a member's turn to ask.", func(s *link.SegmentStats) float64 { return s.Width.Seconds() }),
		segmentGauge("rate_bits", "Bits per second that are allowed now.", func(s *link.SegmentStats) float64 { return s.Pace }),
		segmentGauge("window_used", "Datagrams that some member may still ask for.", func(s *link.SegmentStats) float64 { return float64(s.Next - s.Low) }),
		segmentGauge("waiting_bytes", "Bytes that wait for a member's window or the rate.", func(s *link.SegmentStats) float64 { return float64(s.Waiting) }),
		segmentCounter("received_datagrams", "Datagrams of data received as a member.", func(s *link.SegmentStats) uint64 { return s.Received.Datagrams }),
		segmentCounter("lost_datagrams", "Datagrams that did not come at first.", func(s *link.SegmentStats) uint64 { return s.Received.Holes }),
		segmentGauge("repair_seconds_total", "Time from seeing that a datagram is missing to having it, in sum.", func(s *link.SegmentStats) float64 { return s.Received.Delay.Sum.Seconds() }),
		segmentCounter("nacks_sent", "NACKs sent.", func(s *link.SegmentStats) uint64 { return s.Received.NACKs }),
		segmentCounter("nacks_suppressed", "Numbers not asked for, since another member had.", func(s *link.SegmentStats) uint64 { return s.Received.Suppressed }),
		segmentCounter("late_repairs", "Repairs of what was there.", func(s *link.SegmentStats) uint64 { return s.Received.LateRepairs }),
		segmentCounter("socket_drops", "Datagrams that the socket had no room for.", func(s *link.SegmentStats) uint64 { return uint64(s.SocketDrops) }),
		segmentCounter("forged", "Datagrams whose seal was wrong.", func(s *link.SegmentStats) uint64 { return s.Sent.Forged + s.Received.Forged }),
		segmentCounter("replayed", "Datagrams that came again, or too late to know.", func(s *link.SegmentStats) uint64 { return s.Sent.Replayed + s.Received.Replayed }),
		segmentCounter("strange", "Datagrams of no stream that is known here, or from another address than its broker's.", func(s *link.SegmentStats) uint64 { return s.Strange }),
	}
	segmentOffs = metric.NewFamily("callboard_segment_offs_total", "Members that went over to their link, by reason.", "segment", "reason")
)

// measureSegments adds the figures of segments, if there are any.
func (b *life) measureSegments(to *metric.Set) {
	if len(b.segments) == 0 {
		return
	}
	families := []*metric.Family{segmentOffs}
	for _, f := range segmentFigures {
		families = append(families, f.family)
	}
	to.Add(func(scrape *metric.Scrape) {
		for _, s := range b.links.Segments() {
			for _, f := range segmentFigures {
				scrape.Give(f.family, f.value(&s), s.Group)
			}
			for why, n := range s.Sent.OffsBy {
				scrape.Give(segmentOffs, float64(n), s.Group, why.String())
			}
		}
	}, families...)
}
