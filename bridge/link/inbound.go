package link

import (
	"fmt"
	"sync"

	"callboard/bridge/link/frame"
	"callboard/bridge/multicast"
)

// maxReadAhead is how much may wait for the handler before no more is read from the
// link, bytes.
const maxReadAhead = 1 << 20

// inbound puts the frames of a session that come over the link and by multicast in
// order, and has them wait for the handler.
type inbound struct {
	wake chan struct{} // frames are ready, or the session has ended
	room chan struct{} // some have been taken

	mu     sync.Mutex
	merge  multicast.Merge[arrival]
	ready  []arrival // in order
	weight int       // of ready
	free   [][]byte
}

// arrival is a frame as it came.
type arrival struct {
	buf      []byte // frame and readings
	frame    int    // bytes of it
	readings []int  // ends of the readings in buf
	stream   multicast.StreamID
	number   uint64 // of the datagram; 0: over the link
}

func newInbound(limit int) *inbound {
	return &inbound{wake: make(chan struct{}, 1), room: make(chan struct{}, 1), merge: multicast.Merge[arrival]{Limit: limit}}
}

// fromGroup takes a frame that came by multicast.
func (in *inbound) fromGroup(a *multicast.Arrived) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	at := arrival{buf: append(in.buffer(), a.Frame...), frame: len(a.Frame), stream: a.Stream, number: a.Number}
	for _, r := range a.Readings {
		at.buf = append(at.buf, r...)
		at.readings = append(at.readings, len(at.buf))
	}
	return in.add(a.Pair, at)
}

// fromLink takes a frame that came over the link. It waits while too much waits for
// the handler, unless the session has ended.
func (in *inbound) fromLink(number uint32, content []byte, ended <-chan struct{}) error {
	for {
		in.mu.Lock()
		if in.weight <= maxReadAhead {
			err := in.add(number, arrival{buf: append(in.buffer(), content...), frame: len(content)})
			in.mu.Unlock()
			return err
		}
		in.mu.Unlock()
		select {
		case <-in.room:
		case <-ended:
			return nil
		}
	}
}

// buffer returns one for a frame. It is called with in.mu held, as add is.
func (in *inbound) buffer() []byte {
	if n := len(in.free); n > 0 {
		b := in.free[n-1]
		in.free = in.free[:n-1]
		return b
	}
	return nil
}

func (in *inbound) add(number uint32, a arrival) error {
	const each = 128
	err := in.merge.Add(number, a, len(a.buf)+each, func(a arrival) {
		in.ready = append(in.ready, a)
		in.weight += len(a.buf) + each
	})
	if len(in.ready) > 0 {
		select {
		case in.wake <- struct{}{}:
		default:
		}
	}
	return err
}

// complete checks that all frames below a pair number have come.
func (in *inbound) complete(pair uint32) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if next := in.merge.Next(); next != pair {
		return fmt.Errorf("frame %d is missing, and all below %d have been sent", next, pair)
	}
	return nil
}

// take returns the frames that are ready.
func (in *inbound) take(into []arrival) []arrival {
	in.mu.Lock()
	defer in.mu.Unlock()
	taken := in.ready
	in.ready, in.weight = into[:0], 0
	return taken
}

// maxFree is how many buffers are kept for the next frames.
const maxFree = 64

// give takes buffers back.
func (in *inbound) give(taken []arrival) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for i := range taken {
		if len(in.free) < maxFree && cap(taken[i].buf) <= keptBuffer {
			in.free = append(in.free, taken[i].buf[:0])
		}
		taken[i] = arrival{}
	}
}

// deliver hands the session's frames to the handler, until it ends and none is
// left.
func (s *session) deliver() error {
	decoder := frame.NewDecoder()
	var taken []arrival
	for ended := false; !ended; {
		select {
		case <-s.in.wake:
		case <-s.ended:
			ended = true
		}
		taken = s.in.take(taken)
		if err := s.hand(decoder, taken); err != nil {
			return err
		}
		s.in.give(taken)
		select {
		case s.in.room <- struct{}{}:
		default:
		}
	}
	return nil
}

func (s *session) hand(decoder *frame.Decoder, all []arrival) error {
	var shared [][]byte
	var last *arrival
	for i := range all {
		a := &all[i]
		shared = shared[:0]
		start := a.frame
		for _, end := range a.readings {
			shared = append(shared, a.buf[start:end])
			start = end
		}
		messages, err := decoder.Decode(a.buf[:a.frame], shared...)
		if err != nil {
			return err
		}
		s.peer.received.count(len(messages), a.frame)
		s.peer.links.cfg.Handler.Frame(s.peer.id, s.number, messages)
		if a.number > 0 {
			last = a
		}
	}
	if last != nil {
		s.segment.step(&multicast.Taken{Session: s.number, Stream: last.stream, Number: last.number})
	}
	return nil
}
