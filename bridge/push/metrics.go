package push

import (
	"callboard/bridge/metric"
	"callboard/subscribe/protocol"
)

// metrics are what push counts.
type metrics struct {
	sessions      *metric.Gauge
	received      *metric.Counters // by op
	sent          *metric.Counters // by op
	notifications *metric.Counter
	receivedBytes *metric.Counter
	sentBytes     *metric.Counter
	stalls        *metric.Counter
	closed        *metric.Counters // by reason
	refused       *metric.Counters // by reason
	problems      *metric.Counters // by code
	delivery      *metric.Histogram
}

// deliveryBuckets are in s: 20 µs to about 10 s.
var deliveryBuckets = []float64{20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 0.1, 0.2, 0.5, 1, 2, 5, 10}

func newMetrics(to *metric.Set) *metrics {
	counter := func(name, help string) *metric.Counter { return to.Counter("callboard_push_"+name, help) }
	counters := func(name, help, label string) *metric.Counters {
		return to.Counters("callboard_push_"+name, help, label)
	}
	return &metrics{
		sessions:      to.Gauge("callboard_push_sessions", "WebSocket connections that are open."),
		received:      counters("messages_received_total", "Messages of clients, by op (bad: not decodable).", "op"),
		sent:          counters("messages_sent_total", "Messages to clients other than notifications, by op.", "op"),
		notifications: counter("notifications_total", "Notifications written to WebSockets."),
		receivedBytes: counter("received_bytes_total", "Bytes of clients' messages."),
		sentBytes:     counter("sent_bytes_total", "Bytes written to WebSockets, frames included."),
		stalls:        counter("write_stalls_total", "Writes that took longer than 1 s."),
		closed:        counters("closed_total", "WebSocket connections that ended, by reason.", "reason"),
		refused:       counters("refused_total", "Requests that were refused, by reason.", "reason"),
		problems:      counters("errors_total", "Errors that clients were told, by code.", "code"),
		delivery: to.Histogram("callboard_push_delivery_seconds",
			"From the decoding of a reading to its notification's write to the WebSocket.", deliveryBuckets),
	}
}

// told counts a message that went to a client, and the error in it.
func (m *metrics) told(message any) {
	m.sent.Of(operation(message)).Inc()
	switch e := message.(type) {
	case *protocol.Error:
		m.problems.Of(string(e.Code)).Inc()
	case *protocol.Reply:
		if e.Error != nil {
			m.problems.Of(string(e.Error.Code)).Inc()
		}
	}
}
