package multicast

import "net/netip"

// Input is what can happen to a machine; nil is that time has passed. The types of
// this file are all there are.
type Input interface{ input() }

// Up is that a session with a neighbour of the segment has begun.
type Up struct {
	Session uint64
	Address netip.Addr // of the neighbour, from which its stream comes; the zero value: not known
}

// Down is that a session has ended.
type Down struct{ Session uint64 }

// Told is that a neighbour's message has come over its link.
type Told struct {
	Session uint64
	Message Message
}

// Received is that a datagram has come. It may be used again after the step.
type Received struct {
	From     netip.Addr
	Datagram []byte
	head     Head
}

// Put is that series are to be sent: each names two members or more that Rank has
// given, by ascending rank, and is MaxSeries long at most. They may be changed
// after the step.
type Put struct{ Series [][]byte }

// Taken is that what Arrived has handed over has been taken, up to a datagram of a
// neighbour's stream.
type Taken struct {
	Session uint64
	Stream  StreamID
	Number  uint64
}

// SocketDropped is that the socket has dropped datagrams: how many so far.
type SocketDropped struct{ Total uint32 }

// Retire is that the stream is to be renewed: a neighbour that has its key is no
// neighbour any more.
type Retire struct{}

// Renewed answers NewStream.
type Renewed struct{ Stream Stream }

func (*Up) input()            {}
func (*Down) input()          {}
func (*Told) input()          {}
func (*Received) input()      {}
func (*Put) input()           {}
func (*Taken) input()         {}
func (*SocketDropped) input() {}
func (*Retire) input()        {}
func (*Renewed) input()       {}
