package robots

import (
	"callboard/bridge/metric"
	"callboard/player/client"
	"callboard/subscribe/protocol"
)

// family describes what the sessions count by themselves.
func family(name, help string, labels ...string) *metric.Family {
	return metric.NewFamily("callboard_robots_"+name, help, labels...)
}

var (
	robotUp       = family("up", "1 while the robot's session is up.", "robot")
	robotReadings = family("readings_total", "Readings tested.", "robot")
	robotMatched  = family("readings_matched_total", "Readings that some subscription matched.", "robot")
	robotFailures = family("condition_failures_total", "Conditions that failed while they ran.", "robot")
	robotSilences = family("device_silences_total", "Devices that fell silent while others of the robot went on.", "robot")
	robotSilent   = family("devices_silent", "Devices that are silent while others of the robot go on.", "robot")
	robotSkipped  = family("messages_skipped_total", "Messages that gave no reading, by reason.", "robot", "reason")

	playerFigures = []struct {
		family *metric.Family
		value  func(client.Counters) uint64
	}{
		{family("player_connects_total", "Sessions begun with the Player server.", "player"), func(c client.Counters) uint64 { return c.Connects }},
		{family("player_bytes_total", "Bytes received.", "player"), func(c client.Counters) uint64 { return c.Bytes }},
		{family("player_messages_total", "Messages received.", "player"), func(c client.Counters) uint64 { return c.Messages }},
		{family("player_lost_total", "Readings that the server dropped, as far as it told.", "player"), func(c client.Counters) uint64 { return c.Lost }},
		{family("player_undecodable_total", "Messages whose body could not be decoded.", "player"), func(c client.Counters) uint64 { return c.Undecodable }},
		{family("player_timeouts_total", "Requests that were not answered.", "player"), func(c client.Counters) uint64 { return c.Timeouts }},
	}
)

// measure adds the metrics.
func (r *Robots) measure(to *metric.Set) {
	families := []*metric.Family{robotUp, robotReadings, robotMatched, robotFailures, robotSilences, robotSilent, robotSkipped}
	for _, f := range playerFigures {
		families = append(families, f.family)
	}
	to.Add(r.figures, families...)
}

// figures returns the present figures.
func (r *Robots) figures(to *metric.Scrape) {
	count := func(f *metric.Family, n uint64, labels ...string) { to.Give(f, float64(n), labels...) }
	for _, one := range r.List() {
		up := 0.0
		if one.State == protocol.RobotUp {
			up = 1
		}
		to.Give(robotUp, up, one.Robot)
		count(robotReadings, one.Readings, one.Robot)
		count(robotMatched, one.Matched, one.Robot)
		count(robotFailures, one.Failures, one.Robot)
		count(robotSilences, one.Silences, one.Robot)
		silent := 0.0
		for _, d := range one.Devices {
			if d.Silent > 0 {
				silent++
			}
		}
		to.Give(robotSilent, silent, one.Robot)
		for _, reason := range sortedKeys(one.Skipped) {
			count(robotSkipped, one.Skipped[reason], one.Robot, reason)
		}
	}
	seen := map[string]bool{} // two connections with one server count as one
	for _, s := range r.sessions {
		if seen[s.server.Address] {
			continue
		}
		seen[s.server.Address] = true
		c := s.client.Counters()
		for _, f := range playerFigures {
			count(f.family, f.value(c), s.server.Address)
		}
	}
}
