package rosgraph

import (
	"sync"
	"unsafe"

	"callboard/bridge/push/ros"
)

// shared keeps the messages made last: many clients get the same reading one after
// the other, and it is written once for all of them.
type shared struct {
	mu   sync.Mutex
	ring [16]sharedMessage
	next int
}

type sharedKey struct {
	kind   *ros.Kind
	format ros.Format
}

type sharedMessage struct {
	sharedKey
	snapshot *Snapshot
	of       []byte // the notification's: kept, so that no other stands in its place
	message  []byte
}

// get returns the message made of a notification's bytes, nil if it says nothing.
func (s *shared) get(key sharedKey, snapshot *Snapshot, of []byte) (message []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.ring {
		m := &s.ring[i]
		if m.sharedKey == key && m.snapshot == snapshot && len(m.of) == len(of) && unsafe.SliceData(m.of) == unsafe.SliceData(of) {
			return m.message, true
		}
	}
	return nil, false
}

func (s *shared) put(key sharedKey, snapshot *Snapshot, of, message []byte) {
	if len(of) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ring[s.next] = sharedMessage{key, snapshot, of, message}
	s.next = (s.next + 1) % len(s.ring)
}
