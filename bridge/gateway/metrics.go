package gateway

import (
	"callboard/player/server"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics shows what the ports count by themselves, when somebody looks. The
// label robot is "*" where robots share a port.
type metrics struct{ gateway *Gateway }

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("callboard_gateway_"+name, help, append([]string{"robot"}, labels...), nil)
}

var (
	programs = describe("clients", "Player programs that are connected.")

	portFigures = []struct {
		desc  *prometheus.Desc
		value func(server.Stats) uint64
	}{
		{describe("connections_total", "Connections taken."), func(s server.Stats) uint64 { return s.Accepted }},
		{describe("refused_total", "Connections refused since there were too many."), func(s server.Stats) uint64 { return s.Refused }},
		{describe("received_messages_total", "Messages from programs."), func(s server.Stats) uint64 { return s.MessagesIn }},
		{describe("received_bytes_total", "Bytes from programs."), func(s server.Stats) uint64 { return s.BytesIn }},
		{describe("sent_messages_total", "Messages to programs."), func(s server.Stats) uint64 { return s.MessagesOut }},
		{describe("sent_bytes_total", "Bytes to programs."), func(s server.Stats) uint64 { return s.BytesOut }},
		{describe("passed_readings_total", "Readings of devices that a program has open, each once."), func(s server.Stats) uint64 { return s.Published }},
	}

	dropped     = describe("dropped_total", "Messages that were not passed on, by reason.", "reason")
	dropReasons = []struct {
		reason string
		value  func(server.Stats) uint64
	}{
		{"queue_full", func(s server.Stats) uint64 { return s.QueueFull }},
		{"replaced", func(s server.Stats) uint64 { return s.Replaced }},
		{"ignored", func(s server.Stats) uint64 { return s.Ignored }},
		{"closed", func(s server.Stats) uint64 { return s.Closed }},
		{"unknown_device", func(s server.Stats) uint64 { return s.UnknownDevice }},
		{"unknown_message", func(s server.Stats) uint64 { return s.UnknownMessage }},
		{"undecodable", func(s server.Stats) uint64 { return s.Undecodable }},
		{"bad_size", func(s server.Stats) uint64 { return s.BadSize }},
		{"bad_payload", func(s server.Stats) uint64 { return s.BadPayload }},
		{"late_answer", func(s server.Stats) uint64 { return s.LateAnswers }},
	}

	stalled    = describe("stalled_total", "Programs disconnected since they took nothing.")
	unanswered = describe("requests_unanswered_total", "Requests refused since the robot did not answer in time.")
	refused    = describe("requests_refused_total", "Requests refused at once, by reason.", "reason")
	lost       = describe("commands_dropped_total", "Commands dropped, by reason.", "reason")
	notOpened  = describe("opens_refused_total", "Devices that could not be opened.")
)

// Describe lists the figures.
func (m metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{programs, dropped, stalled, unanswered, refused, lost, notOpened} {
		out <- d
	}
	for _, f := range portFigures {
		out <- f.desc
	}
}

// Collect gives the figures as they are now.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	for _, p := range m.gateway.ports {
		name := "*"
		if len(p.robots) == 1 {
			name = p.robots[0].name
		}
		s := p.server.Stats()
		out <- prometheus.MustNewConstMetric(programs, prometheus.GaugeValue, float64(s.Clients), name)
		for _, f := range portFigures {
			count(f.desc, f.value(s), name)
		}
		for _, d := range dropReasons {
			count(dropped, d.value(s), name, d.reason)
		}
		count(stalled, s.Stalled, name)
		count(unanswered, s.Unanswered, name)
		var requests, commands [4]uint64
		var opens uint64
		for _, r := range p.robots {
			for i, v := range r.counters.requests.byReason() {
				requests[i] += v
			}
			for i, v := range r.counters.commands.byReason() {
				commands[i] += v
			}
			opens += r.counters.refusedOpens.Load()
		}
		for i, reason := range reasons {
			count(refused, requests[i], name, reason)
			count(lost, commands[i], name, reason)
		}
		count(notOpened, opens, name)
	}
}

var reasons = [4]string{"away", "busy", "forbidden", "other"}

func (f *failures) byReason() [4]uint64 {
	return [4]uint64{f.away.Load(), f.busy.Load(), f.forbidden.Load(), f.other.Load()}
}
