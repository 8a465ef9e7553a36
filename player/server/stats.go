package server

// Stats are a server's counters since it was made. Every message that is not
// delivered counts under one reason.
type Stats struct {
	Clients  int    // connected now
	Accepted uint64 // connections taken so far
	Refused  uint64 // connections beyond MaxClients

	MessagesIn, BytesIn   uint64 // from clients
	MessagesOut, BytesOut uint64 // to clients
	Published             uint64 // readings that at least one client had opened

	QueueFull uint64 // readings dropped since a client's queue was full
	Replaced  uint64 // readings replaced by newer ones, by a client's rule
	Ignored   uint64 // messages that a client's rule ignores
	Closed    uint64 // readings dropped since the client closed their device or left

	UnknownDevice  uint64 // messages to devices that are not here
	UnknownMessage uint64 // messages that no table has, or that are none for a server
	Undecodable    uint64 // messages whose body does not fit
	BadSize        uint64 // connections ended since a size was nonsense
	Stalled        uint64 // connections ended since the client took nothing for WriteTimeout

	Unanswered    uint64 // requests refused since the driver did not answer in time
	LateAnswers   uint64 // answers of drivers after the first or after the time-out
	BadPayload    uint64 // payloads of drivers that do not encode
	MissingBodies uint64 // empty acknowledgements turned into refusals
}
