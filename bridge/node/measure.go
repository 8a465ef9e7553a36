package node

import (
	"context"
	"time"

	"callboard/bridge/overlay"

	"github.com/prometheus/client_golang/prometheus"
)

// counters are what the node counts itself.
type counters struct {
	dropped prometheus.Counter
}

// measure makes the metrics and, with a registry, registers them.
func (n *Node) measure(r *prometheus.Registry) {
	n.count = counters{
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "callboard_node_readings_dropped_total", Help: "Matched readings dropped because the broker's queue was full.",
		}),
	}
	if r == nil {
		return
	}
	r.MustRegister(n.count.dropped, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "callboard_node_queue_length", Help: "Inputs that wait for the broker's goroutine.",
	}, func() float64 { return float64(n.queue.length()) }), &overlayMetrics{n})
}

// overlayMetrics shows the state machine's own counts. They are asked for when
// somebody looks.
type overlayMetrics struct{ node *Node }

// metric is one of the overlay's figures.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*overlay.Stats) float64
}

func counter(name, help string, value func(*overlay.Stats) uint64) metric {
	return metric{
		prometheus.NewDesc("callboard_overlay_"+name+"_total", help, nil, nil), prometheus.CounterValue,
		func(s *overlay.Stats) float64 { return float64(value(s)) },
	}
}

func gauge(name, help string, value func(*overlay.Stats) float64) metric {
	return metric{prometheus.NewDesc("callboard_overlay_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

var (
	overlayFigures = []metric{
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
		counter("resent", "Notifications that this source broker sent again.", func(s *overlay.Stats) uint64 { return s.Resent }),
		counter("expired", "Routes that nobody refreshed.", func(s *overlay.Stats) uint64 { return s.Expired }),
		counter("subscribes", "Subscribe messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Subscribe }),
		counter("replays", "Replay messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Replay }),
		counter("fetch_messages", "Fetch messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Fetch }),
		counter("refreshes", "Refresh messages to neighbours.", func(s *overlay.Stats) uint64 { return s.Messages.Refresh }),
		gauge("clients", "Sessions, those of absent clients included.", func(s *overlay.Stats) float64 { return float64(s.Clients) }),
		gauge("clients_attached", "Sessions with a connection.", func(s *overlay.Stats) float64 { return float64(s.Attached) }),
		gauge("subscriptions", "Subscriptions.", func(s *overlay.Stats) float64 { return float64(s.Subscriptions) }),
		gauge("waiting", "Notifications that are not acknowledged.", func(s *overlay.Stats) float64 { return float64(s.Waiting) }),
		gauge("held_bytes", "Bytes of readings in all inboxes.", func(s *overlay.Stats) float64 { return float64(s.HeldBytes) }),
	}
	overlayLost = prometheus.NewDesc("callboard_overlay_lost_total", "Notifications that became a gap, by reason.", []string{"reason"}, nil)
)

// Describe lists the figures.
func (m *overlayMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, f := range overlayFigures {
		out <- f.desc
	}
	out <- overlayLost
}

// Collect asks for the figures; a broker that does not answer within a second
// shows none.
func (m *overlayMetrics) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var stats overlay.Stats
	if err := m.node.ask(ctx, func() { stats = m.node.broker.Stats() }); err != nil {
		return
	}
	for _, f := range overlayFigures {
		out <- prometheus.MustNewConstMetric(f.desc, f.kind, f.value(&stats))
	}
	for why, n := range stats.LostBy() {
		out <- prometheus.MustNewConstMetric(overlayLost, prometheus.CounterValue, float64(n), why)
	}
}
