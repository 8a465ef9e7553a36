package robots

import (
	"callboard/player/client"
	"callboard/subscribe/protocol"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics shows what the sessions count by themselves, when somebody looks.
type metrics struct{ robots *Robots }

func describe(name, help, label string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("callboard_robots_"+name, help, append([]string{label}, more...), nil)
}

var (
	robotUp       = describe("up", "1 while the robot's session is up.", "robot")
	robotReadings = describe("readings_total", "Readings tested.", "robot")
	robotMatched  = describe("readings_matched_total", "Readings that some subscription matched.", "robot")
	robotFailures = describe("condition_failures_total", "Conditions that failed while they ran.", "robot")
	robotSkipped  = describe("messages_skipped_total", "Messages that gave no reading, by reason.", "robot", "reason")

	playerFigures = []struct {
		desc  *prometheus.Desc
		value func(client.Counters) uint64
	}{
		{describe("player_connects_total", "Sessions begun with the Player server.", "player"), func(c client.Counters) uint64 { return c.Connects }},
		{describe("player_bytes_total", "Bytes received.", "player"), func(c client.Counters) uint64 { return c.Bytes }},
		{describe("player_messages_total", "Messages received.", "player"), func(c client.Counters) uint64 { return c.Messages }},
		{describe("player_lost_total", "Readings that the server dropped, as far as it told.", "player"), func(c client.Counters) uint64 { return c.Lost }},
		{describe("player_undecodable_total", "Messages whose body could not be decoded.", "player"), func(c client.Counters) uint64 { return c.Undecodable }},
		{describe("player_timeouts_total", "Requests that were not answered.", "player"), func(c client.Counters) uint64 { return c.Timeouts }},
	}
)

// Describe lists the figures.
func (m metrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{robotUp, robotReadings, robotMatched, robotFailures, robotSkipped} {
		out <- d
	}
	for _, f := range playerFigures {
		out <- f.desc
	}
}

// Collect gives the figures as they are now.
func (m metrics) Collect(out chan<- prometheus.Metric) {
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	for _, r := range m.robots.List() {
		up := 0.0
		if r.State == protocol.RobotUp {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(robotUp, prometheus.GaugeValue, up, r.Robot)
		count(robotReadings, r.Readings, r.Robot)
		count(robotMatched, r.Matched, r.Robot)
		count(robotFailures, r.Failures, r.Robot)
		for _, reason := range sortedKeys(r.Skipped) {
			count(robotSkipped, r.Skipped[reason], r.Robot, reason)
		}
	}
	seen := map[string]bool{} // two connections with one server count as one
	for _, s := range m.robots.sessions {
		if seen[s.server.Address] {
			continue
		}
		seen[s.server.Address] = true
		c := s.client.Counters()
		for _, f := range playerFigures {
			count(f.desc, f.value(c), s.server.Address)
		}
	}
}
