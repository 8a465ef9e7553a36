package gateway

import (
	"callboard/bridge/metric"
	"callboard/player/server"
)

// family describes what the ports count by themselves. The label robot is "*"
// where robots share a port.
func family(name, help string, labels ...string) *metric.Family {
	return metric.NewFamily("callboard_gateway_"+name, help, append([]string{"robot"}, labels...)...)
}

var (
	refusedAtOnce = metric.NewFamily("callboard_gateway_refused_total", "Connections refused since all that there may be are in use.")
	gaveWay       = metric.NewFamily("callboard_gateway_gave_way_total", "Connections of programs without a device that were closed for new ones.")

	programs = family("clients", "Player programs that are connected.")

	portFigures = []struct {
		family *metric.Family
		value  func(server.Stats) uint64
	}{
		{family("connections_total", "Connections taken."), func(s server.Stats) uint64 { return s.Accepted }},
		{family("received_messages_total", "Messages from programs."), func(s server.Stats) uint64 { return s.MessagesIn }},
		{family("received_bytes_total", "Bytes from programs."), func(s server.Stats) uint64 { return s.BytesIn }},
		{family("sent_messages_total", "Messages to programs."), func(s server.Stats) uint64 { return s.MessagesOut }},
		{family("sent_bytes_total", "Bytes to programs."), func(s server.Stats) uint64 { return s.BytesOut }},
		{family("passed_readings_total", "Readings of devices that a program has open, each once."), func(s server.Stats) uint64 { return s.Published }},
	}

	dropped     = family("dropped_total", "Messages that were not passed on, by reason.", "reason")
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

	stalled    = family("stalled_total", "Programs disconnected since they took nothing.")
	unanswered = family("requests_unanswered_total", "Requests refused since the robot did not answer in time.")
	refused    = family("requests_refused_total", "Requests refused at once, by reason.", "reason")
	lost       = family("commands_dropped_total", "Commands dropped, by reason.", "reason")
	notOpened  = family("opens_refused_total", "Devices that could not be opened.")
)

// measure adds the metrics.
func (g *Gateway) measure(to *metric.Set) {
	families := []*metric.Family{refusedAtOnce, gaveWay, programs, dropped, stalled, unanswered, refused, lost, notOpened}
	for _, f := range portFigures {
		families = append(families, f.family)
	}
	to.Add(g.figures, families...)
}

// figures returns the present figures.
func (g *Gateway) figures(to *metric.Scrape) {
	count := func(f *metric.Family, n uint64, labels ...string) { to.Give(f, float64(n), labels...) }
	connections := g.limit.Stats()
	count(refusedAtOnce, connections.Refused)
	count(gaveWay, connections.GaveWay)
	for _, p := range g.ports {
		name := "*"
		if len(p.robots) == 1 {
			name = p.robots[0].name
		}
		s := p.server.Stats()
		to.Give(programs, float64(s.Clients), name)
		for _, f := range portFigures {
			count(f.family, f.value(s), name)
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
