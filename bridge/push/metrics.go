package push

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"callboard/subscribe/protocol"
)

// metrics are what push counts.
type metrics struct {
	sessions      prometheus.Gauge
	received      *prometheus.CounterVec // by op
	sent          *prometheus.CounterVec // by op
	notifications prometheus.Counter
	receivedBytes prometheus.Counter
	sentBytes     prometheus.Counter
	stalls        prometheus.Counter
	closed        *prometheus.CounterVec // by reason
	refused       *prometheus.CounterVec // by reason
	problems      *prometheus.CounterVec // by code
	delivery      prometheus.Histogram
}

// deliveryBuckets are in s: 20 µs to about 10 s.
var deliveryBuckets = []float64{20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.2, 0.5, 1, 2, 5, 10}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "callboard", Subsystem: "push", Name: name, Help: help})
	}
	labelled := func(name, help, label string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "callboard", Subsystem: "push", Name: name, Help: help}, []string{label})
	}
	m := &metrics{
		sessions:      prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "callboard", Subsystem: "push", Name: "sessions", Help: "WebSocket connections that are open."}),
		received:      labelled("messages_received_total", "Messages of clients, by op (bad: not decodable).", "op"),
		sent:          labelled("messages_sent_total", "Messages to clients other than notifications, by op.", "op"),
		notifications: counter("notifications_total", "Notifications written to WebSockets."),
		receivedBytes: counter("received_bytes_total", "Bytes of clients' messages."),
		sentBytes:     counter("sent_bytes_total", "Bytes written to WebSockets, frames included."),
		stalls:        counter("write_stalls_total", "Writes that took longer than 1 s."),
		closed:        labelled("closed_total", "WebSocket connections that ended, by reason.", "reason"),
		refused:       labelled("refused_total", "Requests that were refused, by reason.", "reason"),
		problems:      labelled("errors_total", "Errors that clients were told, by code.", "code"),
		delivery: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "callboard", Subsystem: "push", Name: "delivery_seconds",
			Help: "From the decoding of a reading to its notification's write to the WebSocket.", Buckets: deliveryBuckets}),
	}
	var errs []error
	for _, c := range []prometheus.Collector{m.sessions, m.received, m.sent, m.notifications, m.receivedBytes, m.sentBytes, m.stalls, m.closed, m.refused, m.problems, m.delivery} {
		errs = append(errs, r.Register(c))
	}
	return m, errors.Join(errs...)
}

// problem counts an error that a client was told.
func (m *metrics) problem(code protocol.Code) { m.problems.WithLabelValues(string(code)).Inc() }
