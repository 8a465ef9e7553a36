package rosbridge

import (
	"encoding/json"
	"time"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// Compressions, the strongest last: it counts, if one stream is asked for by
// several.
type compression uint8

const (
	plain compression = iota
	png
	cbor
	cborRaw
)

var compressions = map[string]compression{"": plain, "none": plain, "png": png, "cbor": cbor, "cbor-raw": cborRaw}

// format is how messages are written.
func (c compression) format() ros.Format {
	switch c {
	case cbor:
		return ros.CBOR
	case cborRaw:
		return ros.ROS1
	}
	return ros.JSON
}

// settings are what a subscription says of how messages come.
type settings struct {
	throttle    time.Duration // between messages, at least
	queue       int           // of those that come too early, how many wait; 0: none
	fragment    int           // characters of a message that come in one; 0: all
	compression compression
}

// merge returns the settings of a stream that was asked for with both.
func (s settings) merge(o settings) settings {
	s.throttle, s.queue = min(s.throttle, o.throttle), min(s.queue, o.queue)
	if s.fragment == 0 || o.fragment > 0 && o.fragment < s.fragment {
		s.fragment = o.fragment
	}
	s.compression = max(s.compression, o.compression)
	return s
}

// subscription is one that the client has asked for. Its id there is id, at the
// broker's it is broker, "" if nothing is asked of it.
type subscription struct {
	id       json.RawMessage
	broker   string
	stream   *stream
	settings settings
}

// bytes is how much is kept of what the client calls it.
func (s *subscription) bytes() int { return len(s.id) + len(s.stream.name) }

// stream is what comes of one topic: once, whatever the number of subscriptions
// to it.
type stream struct {
	name  string          // as the client spells it
	bare  string          // without options
	topic *rosgraph.Topic // nil: there is none such yet
	names bool            // its messages name what matched: the topic of a condition
	subs  map[string]*subscription
	settings
	head [2][]byte // what stands before a message, in JSON and in CBOR

	count  uint64 // of the notification that was told last
	last   time.Time
	queued []queued
	held   *int // bytes of what waits in all streams of the client
	timer  *time.Timer
	latest []byte         // of a latched topic, as it was written last
	format ros.Format     // of it
	plan   *rosgraph.Plan // that was sent last
}

// queued is a message that waits for its time.
type queued struct {
	format ros.Format
	body   []byte
}

// settle merges the settings of all subscriptions.
func (s *stream) settle() {
	first := true
	for _, sub := range s.subs {
		if first {
			s.settings, first = sub.settings, false
		} else {
			s.settings = s.settings.merge(sub.settings)
		}
	}
	for len(s.queued) > s.queue {
		s.first()
	}
}

// first takes the oldest of what waits.
func (s *stream) first() queued {
	q := s.queued[0]
	*s.held -= len(q.body)
	s.queued = append(s.queued[:0], s.queued[1:]...)
	return q
}

// take takes a message: it is to be sent now, or waits, for the returned time if
// nothing waited before, or is dropped. Of those that wait the oldest gives way.
func (s *stream) take(q queued, now time.Time) (send bool, wait time.Duration) {
	due := s.last.Add(s.throttle)
	if len(s.queued) == 0 && (s.last.IsZero() || !now.Before(due)) {
		s.last = now
		return true, 0
	}
	if s.queue == 0 {
		return false, 0
	}
	began := len(s.queued) == 0
	s.queued = append(s.queued, q)
	*s.held += len(q.body)
	for len(s.queued) > 1 && (len(s.queued) > s.queue || *s.held > maxHeld) {
		s.first()
	}
	if began {
		wait = max(due.Sub(now), time.Nanosecond)
	}
	return false, wait
}

// due returns the message whose time has come, and how long the next one waits; 0:
// none does.
func (s *stream) due(now time.Time) (q queued, ok bool, wait time.Duration) {
	if len(s.queued) == 0 {
		return queued{}, false, 0
	}
	q = s.first()
	s.last = now
	if len(s.queued) > 0 {
		wait = max(s.throttle, time.Nanosecond)
	}
	return q, true, wait
}

// setHead makes what stands before the stream's messages.
func (s *stream) setHead() {
	s.head[0] = append(protocol.AppendText([]byte(`{"op":"publish","topic":`), s.name), `,"msg":`...)
	b := ros.AppendCBORMap(nil, 3)
	b = ros.AppendCBORText(ros.AppendCBORText(b, "op"), "publish")
	b = ros.AppendCBORText(ros.AppendCBORText(b, "topic"), s.name)
	s.head[1] = ros.AppendCBORText(b, "msg")
}
