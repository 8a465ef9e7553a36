package callboard

import (
	"maps"
	"time"
)

// leg is what a connection carries of the session.
type leg struct {
	welcomed   bool
	refused    bool              // its hello was answered by an error: it had no effect
	unnumbered bool              // its hello let the broker choose the attachment
	doubtful   bool              // a later hello of ours may have taken this client to another broker
	attended   time.Time         // when it was welcomed
	told       map[string]uint64 // by source, what its hello told as handled
	wire       map[string]uint64 // by source, the last number that came over it, or was told in its hello
	resuming   map[string]bool   // subscriptions that its hello listed and that are not answered
	requests   int               // commands and lists that wait for answers over it
	failed     error             // why it is to end
	linger     *time.Timer       // ends it although requests wait, once it is replaced

	began  time.Time        // when the hand-over to it began
	from   string           // URL of the broker before
	relays map[string]relay // by source, what is to be handed over still
}

// relay is one source's hand-over: where the connection before stopped.
type relay struct {
	last     uint64
	at       time.Time
	repeated int
}

// takeOver makes conn the connection of a session that goes on. If the one before
// has brought a source of which the hello did not tell, hello is said again: this
// broker may never hear of it, nor of its end. mu is held.
func (c *Client) takeOver(conn *connection, moved bool, now time.Time) *Handover {
	h := &Handover{From: conn.from, Moved: moved, Took: now.Sub(conn.began), Last: make(map[string]uint64, len(c.sources))}
	conn.relays = make(map[string]relay, len(c.sources))
	var latest time.Time
	for name, s := range c.sources {
		h.Last[name] = s.given
		if !s.at.IsZero() {
			conn.relays[name] = relay{last: s.given, at: s.at}
		}
		if s.at.After(latest) {
			latest = s.at
		}
		acked, told := conn.told[name]
		if s.acked = acked; !told {
			conn.leave(errUntold)
		}
		if s.handled <= s.acked {
			s.bytes = 0
		}
	}
	if !latest.IsZero() {
		h.Silent = now.Sub(latest)
	}
	return h
}

// resumeLeg sets where the new connection's numbers begin. mu is held.
func (c *Client) resumeLeg(conn *connection) {
	conn.told = c.handledNums()
	conn.wire = maps.Clone(conn.told)
}

// repeated counts a message that came again after a hand-over.
func (l *leg) repeat(source string) {
	if r, open := l.relays[source]; open {
		r.repeated++
		l.relays[source] = r
	}
}

// arrive returns the event that a source was handed over, if first ends that.
func (l *leg) arrive(url, source string, first uint64, now time.Time) *HandedOver {
	r, open := l.relays[source]
	if !open {
		return nil
	}
	return &HandedOver{
		Source: source, From: l.from, URL: url, Last: r.last, First: first, Repeated: r.repeated,
		Took: now.Sub(l.began), Silent: now.Sub(r.at),
	}
}
