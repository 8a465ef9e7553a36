package node

import (
	"context"
	"maps"
	"slices"
	"time"

	"callboard/bridge/metric"
	"callboard/bridge/overlay"
)

// figure is one of the state machine's own counts.
type figure struct {
	family *metric.Family
	value  func(*overlay.Stats) float64
}

func counter(name, help string, value func(*overlay.Stats) uint64) figure {
	return gauge(name+"_total", help, func(s *overlay.Stats) float64 { return float64(value(s)) })
}

func gauge(name, help string, value func(*overlay.Stats) float64) figure {
	return figure{metric.NewFamily("callboard_overlay_"+name, help), value}
}

var (
	overlayFigures = []figure{
		counter("readings", "Readings that matched somebody.", func(s *overlay.Stats) uint64 { return s.Readings }),
		counter("notifications_given", "Sequence numbers given.", func(s *overlay.Stats) uint64 { return s.Given }),
		counter("notifications_sent", "Notifications sent, those sent again included.", func(s *overlay.Stats) uint64 { return s.Notified }),
		counter("gaps", "Gaps that clients were told of.", func(s *overlay.Stats) uint64 { return s.Gaps }),
		counter("passed", "Notifications passed over on purpose.", func(s *overlay.Stats) uint64 { return s.Passed }),
		counter("conflated", "Subscriptions that a newer reading replaced the older for.", func(s *overlay.Stats) uint64 { return s.Conflated }),
		counter("stray", "Matches whose subscriptions had ended.", func(s *overlay.Stats) uint64 { return s.Stray }),
		counter("run_failures", "Conditions that failed while they ran.", func(s *overlay.Stats) uint64 { return s.RunFailures }),
		counter("sessions_forgotten", "Sessions whose client did not come back.", func(s *overlay.Stats) uint64 { return s.Forgotten }),
		counter("fetches", "Hand-overs begun here, of one key each.", func(s *overlay.Stats) uint64 { return s.Fetches }),
		counter("renewals", "Keys subscribed anew, all the way to their source: a lost way, or a gap that stayed.", func(s *overlay.Stats) uint64 { return s.Renewals }),
		counter("improved", "Keys subscribed along a better path: their way up had been dearer than it for some time.", func(s *overlay.Stats) uint64 { return s.Improved }),
		counter("resent", "Notifications that this source broker sent again.", func(s *overlay.Stats) uint64 { return s.Resent }),
		counter("expired", "Routes that nobody refreshed.", func(s *overlay.Stats) uint64 { return s.Expired }),
		counter("uncounted", "Messages and records that were not taken: they had numbers that nobody can have counted to.", func(s *overlay.Stats) uint64 { return s.Uncounted }),
		counter("stores_behind", "Keys that ended since somebody knew of higher numbers: this broker's store had gone back.", func(s *overlay.Stats) uint64 { return s.Behind }),
		counter("subscribes", "Subscribe messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Subscribe }),
		counter("replays", "Replay messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Replay }),
		counter("fetch_messages", "Fetch messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Fetch }),
		counter("refreshes", "Refresh messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Refresh }),
		gauge("clients", "Sessions, those of absent clients included.", func(s *overlay.Stats) float64 { return float64(s.Clients) }),
		gauge("clients_attached", "Sessions with a connection.", func(s *overlay.Stats) float64 { return float64(s.Attached) }),
		gauge("subscriptions", "Subscriptions.", func(s *overlay.Stats) float64 { return float64(s.Subscriptions) }),
		gauge("waiting", "Notifications that are not acknowledged.", func(s *overlay.Stats) float64 { return float64(s.Waiting) }),
		gauge("held_bytes", "Bytes of readings in all inboxes.", func(s *overlay.Stats) float64 { return float64(s.HeldBytes) }),
		gauge("memory_bytes", "Memory of inboxes, sessions, sets and connections, about.", func(s *overlay.Stats) float64 { return float64(s.Memory) }),
		gauge("memory_limit_bytes", "What limits.memory allows.", func(s *overlay.Stats) float64 { return float64(s.MemoryLimit) }),
		gauge("disk_bytes", "What of it is stored, about.", func(s *overlay.Stats) float64 { return float64(s.Disk) }),
		gauge("disk_limit_bytes", "What limits.disk allows.", func(s *overlay.Stats) float64 { return float64(s.DiskLimit) }),
	}
	overlayGaveWay = metric.NewFamily("callboard_overlay_gave_way_total", "Inboxes that gave up what waited in them, by the limit of the broker that asked for it.", "limit")
	overlayRefused = metric.NewFamily("callboard_overlay_refused_total", "Clients and subscriptions that were refused, by the limit of the broker that they would have exceeded.", "limit")
	overlayLost    = metric.NewFamily("callboard_overlay_lost_total", "Notifications that became a gap, by reason.", "reason")
)

// measure adds the metrics of the node and of its state machine.
func (n *Node) measure(to *metric.Set) {
	n.dropped = to.Counter("callboard_node_readings_dropped_total", "Matched readings dropped because the broker's queue was full.")
	to.Func("callboard_node_queue_length", "Inputs that wait for the broker's goroutine.", func() float64 { return float64(n.queue.length()) })
	families := append([]*metric.Family{overlayLost, overlayGaveWay, overlayRefused}, taskFamilies...)
	for _, f := range overlayFigures {
		families = append(families, f.family)
	}
	to.Add(n.figures, families...)
}

// figures returns the state machine's present figures; a broker that does
// not answer within a second shows none.
func (n *Node) figures(to *metric.Scrape) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var stats overlay.Stats
	var tasks overlay.TaskInfo
	var queues []overlay.QueueInfo
	if err := n.ask(ctx, func() { stats, tasks, queues = n.broker.Stats(), n.broker.Tasks(), n.broker.Queues() }); err != nil {
		return
	}
	giveTasks(to, &tasks, queues)
	for _, f := range overlayFigures {
		to.Give(f.family, f.value(&stats))
	}
	gaveWay, refused := stats.LimitCounts()
	for _, labelled := range []struct {
		family *metric.Family
		counts map[string]uint64
	}{{overlayLost, stats.LostBy()}, {overlayGaveWay, gaveWay}, {overlayRefused, refused}} {
		for _, label := range slices.Sorted(maps.Keys(labelled.counts)) {
			to.Give(labelled.family, float64(labelled.counts[label]), label)
		}
	}
}
