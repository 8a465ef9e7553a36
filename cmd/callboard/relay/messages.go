package relay

import (
	"encoding/json"
	"fmt"
	"strconv"

	callboard "callboard/clients/go"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// messages appends what goes into the stream of an event.
func (r *relay) messages(all []*nats.Msg, event callboard.Event) []*nats.Msg {
	switch e := event.(type) {
	case *callboard.Notification:
		return r.notification(all, e)
	case *callboard.Gap:
		return r.gap(all, e)
	case *callboard.Robot:
		return r.robot(all, e)
	}
	return all
}

// message begins a message, with what it is named by: within the session its name is
// of its own.
func (r *relay) message(subject, kind string, body []byte, name string, words ...any) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(headerKind, kind)
	m.Header.Set(jetstream.MsgIDHeader, r.memory.State.Session+"/"+fmt.Sprintf(name, words...))
	m.Data = body
	return m
}

// notification goes to one subject; if that names the subscription and there are
// several, to one for each.
func (r *relay) notification(all []*nats.Msg, n *callboard.Notification) []*nats.Msg {
	parts := 1
	if r.Subject.perID {
		parts = len(n.Subscriptions)
	}
	for i := range parts {
		id := n.Subscriptions[i].ID
		m := r.message(r.Subject.subject(r.Client.Client, id, n), kindNotify, n.Raw, "%s/%d", n.Source, n.Seq)
		m.Header.Set(headerSource, n.Source)
		m.Header.Set(headerSeq, strconv.FormatUint(n.Seq, 10))
		m.Header.Set(headerRobot, n.Robot)
		m.Header.Set(headerTime, strconv.FormatFloat(n.Time, 'f', -1, 64))
		m.Header[headerSubscription] = []string{id}
		if !r.Subject.perID {
			for _, other := range n.Subscriptions[1:] {
				m.Header.Add(headerSubscription, other.ID)
			}
		}
		if parts > 1 {
			m.Header.Set(headerPart, fmt.Sprintf("%d/%d", i+1, parts))
			m.Header.Set(jetstream.MsgIDHeader, m.Header.Get(jetstream.MsgIDHeader)+"/"+token(id))
		}
		if size, limit := len(m.Data), r.maxBody(); size > limit {
			r.Logger.Error("a notification is too large for the NATS server; it goes without its body", "source", n.Source, "seq", n.Seq, "bytes", size, "most", limit)
			m.Header.Set(headerError, fmt.Sprintf("the notification has %d bytes, the NATS server takes %d", size, limit))
			m.Data = nil
		}
		all = append(all, m)
	}
	return all
}

// gap tells the stream's readers of what the broker could not keep.
func (r *relay) gap(all []*nats.Msg, g *callboard.Gap) []*nats.Msg {
	name := "end"
	if g.To != nil {
		name = strconv.FormatUint(*g.To, 10)
	}
	body, _ := json.Marshal(g.Gap)
	m := r.message(r.Subject.about(r.Client.Client, "", g.Source), kindGap, body, "%s/%d-%s", g.Source, g.From, name)
	m.Header.Set(headerSource, g.Source)
	m.Header.Set(headerSeq, strconv.FormatUint(g.From, 10))
	if g.To != nil {
		m.Header.Set(headerTo, name)
	}
	if g.Next != "" {
		m.Header.Set(headerNext, g.Next)
	}
	return append(all, m)
}

// robot tells them that a robot, or a device of it, came or went or lost readings.
func (r *relay) robot(all []*nats.Msg, e *callboard.Robot) []*nats.Msg {
	body, _ := json.Marshal(e.Robot)
	r.told++
	m := r.message(r.Subject.about(r.Client.Client, e.Robot.Robot, e.Source), kindRobot, body, "%s/%d", r.life, r.told)
	m.Header.Set(headerSource, e.Source)
	m.Header.Set(headerRobot, e.Robot.Robot)
	if e.Device != "" {
		m.Header.Set(headerDevice, e.Device)
	}
	m.Header.Set(headerState, e.State)
	m.Header.Set(headerTime, strconv.FormatFloat(e.Since, 'f', -1, 64))
	return append(all, m)
}

// headerRoom is what a message's headers may take of the server's limit, bytes.
const headerRoom = 4096

// maxBody is the largest body that the NATS server takes.
func (r *relay) maxBody() int { return max(0, int(r.conn.MaxPayload())-headerRoom) }
