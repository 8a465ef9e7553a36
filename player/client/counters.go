package client

import "sync/atomic"

// Counters are totals since the client was made.
type Counters struct {
	Connects    uint64 // connections that came about
	FailedDials uint64 // attempts to connect that failed
	Bytes       uint64 // received, headers and banners included
	Messages    uint64 // received, of every kind
	Readings    uint64 // DATA messages handed to the handler
	Rounds      uint64 // pulled rounds that were completed
	Overflows   uint64 // rounds before which the server had dropped messages
	Lost        uint64 // messages that it said it had dropped
	Undecodable uint64 // messages skipped because their body does not fit
	Stray       uint64 // DATA of devices that are not open, skipped
	Unsolicited uint64 // answers to no request, or to one given up, skipped
	Unexpected  uint64 // messages that a server does not send, skipped
	Requests    uint64 // sent, the session's own included
	Commands    uint64 // sent
	Nacks       uint64 // requests that were refused
	Timeouts    uint64 // requests that were not answered in time
	Silences    uint64 // devices that fell silent while others of their group went on
}

// counters are Counters while they are counted.
type counters struct {
	connects, failedDials, bytes, messages, readings, rounds, overflows, lost,
	undecodable, stray, unsolicited, unexpected, requests, commands, nacks, timeouts, silences atomic.Uint64
}

// Counters returns the totals so far. It may be called at any time.
func (c *Client) Counters() Counters {
	n := &c.counters
	return Counters{
		Connects: n.connects.Load(), FailedDials: n.failedDials.Load(),
		Bytes: n.bytes.Load(), Messages: n.messages.Load(), Readings: n.readings.Load(),
		Rounds: n.rounds.Load(), Overflows: n.overflows.Load(), Lost: n.lost.Load(),
		Undecodable: n.undecodable.Load(), Stray: n.stray.Load(),
		Unsolicited: n.unsolicited.Load(), Unexpected: n.unexpected.Load(),
		Requests: n.requests.Load(), Commands: n.commands.Load(),
		Nacks: n.nacks.Load(), Timeouts: n.timeouts.Load(), Silences: n.silences.Load(),
	}
}
