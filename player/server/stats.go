package server

import "sync/atomic"

// Stats are a server's counters since it was made. Every message that is not
// delivered counts under one reason.
type Stats struct {
	Clients  int    // connected now
	Accepted uint64 // connections taken so far

	MessagesIn, BytesIn   uint64 // from clients
	MessagesOut, BytesOut uint64 // to clients
	Published             uint64 // readings of devices that a client had opened

	QueueFull uint64 // readings dropped since a client's queue was full
	Replaced  uint64 // readings replaced by newer ones, by a client's rule
	Ignored   uint64 // messages that a client's rule ignores
	Closed    uint64 // messages dropped since the client closed their device or left

	UnknownDevice  uint64 // messages to devices that are not here
	UnknownMessage uint64 // messages that no table has, or that are none for a server
	Undecodable    uint64 // messages whose body does not fit
	BadSize        uint64 // connections ended since a message's size was impossible
	Stalled        uint64 // connections ended since the client took nothing for WriteTimeout

	Unanswered    uint64 // requests refused since the driver did not answer in time
	LateAnswers   uint64 // answers of drivers after the first, or after the time-out
	BadPayload    uint64 // payloads of drivers that do not encode
	MissingBodies uint64 // empty acknowledgements turned into refusals
}

// counters are Stats while they count.
type counters struct {
	accepted                             atomic.Uint64
	messagesIn, bytesIn                  atomic.Uint64
	messagesOut, bytesOut, published     atomic.Uint64
	queueFull, replaced, ignored, closed atomic.Uint64
	unknownDevice, unknownMessage        atomic.Uint64
	undecodable, badSize, stalled        atomic.Uint64
	unanswered, lateAnswers              atomic.Uint64
	badPayload, missingBodies            atomic.Uint64
}

// Stats is a snapshot of the server's counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	clients := len(s.conns)
	s.mu.Unlock()
	c := &s.counters
	return Stats{
		Clients: clients, Accepted: c.accepted.Load(),
		MessagesIn: c.messagesIn.Load(), BytesIn: c.bytesIn.Load(),
		MessagesOut: c.messagesOut.Load(), BytesOut: c.bytesOut.Load(), Published: c.published.Load(),
		QueueFull: c.queueFull.Load(), Replaced: c.replaced.Load(), Ignored: c.ignored.Load(), Closed: c.closed.Load(),
		UnknownDevice: c.unknownDevice.Load(), UnknownMessage: c.unknownMessage.Load(),
		Undecodable: c.undecodable.Load(), BadSize: c.badSize.Load(), Stalled: c.stalled.Load(),
		Unanswered: c.unanswered.Load(), LateAnswers: c.lateAnswers.Load(),
		BadPayload: c.badPayload.Load(), MissingBodies: c.missingBodies.Load(),
	}
}
