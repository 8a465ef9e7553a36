package overlay

import (
	"fmt"
	"slices"
	"strings"

	"callboard/subscribe/protocol"
)

// describe writes an output on one line.
func (s *script) describe(o Output) string {
	switch o := o.(type) {
	case *Send:
		return s.names[o.Conn] + " < " + describeMessage(o.Message)
	case *Notify:
		text := fmt.Sprintf("%s < notify %s #%d", s.names[o.Conn], o.Source, o.Seq)
		if o.Skipped > 0 {
			text += fmt.Sprintf(" skipped=%d", o.Skipped)
		}
		return text + fmt.Sprintf(" %s/%s:%d [%s]", o.Reading.Robot, o.Reading.Interface, o.Reading.Index, ids(o.Subscriptions))
	case *Close:
		return fmt.Sprintf("%s < close %s", s.names[o.Conn], o.Code)
	case *Heartbeat:
		return fmt.Sprintf("all < heartbeat %v", o.Message.Time)
	case *Install:
		text := fmt.Sprintf("matcher: install %d set=%d", o.Handle, o.Set)
		if o.Whole {
			text += " whole"
		}
		for _, id := range o.Drop {
			text += " -" + id
		}
		for _, sub := range o.Put {
			text += " +" + sub.ID
		}
		if len(o.Count) > 0 {
			text += " count=" + strings.Join(o.Count, ",")
		}
		return text
	case *Execute:
		return fmt.Sprintf("robots: execute %d on %s for %s", o.Task, o.Robot, o.Body)
	case *Uninstall:
		return fmt.Sprintf("matcher: uninstall %d", o.Handle)
	}
	return fmt.Sprintf("%#v", o)
}

func ids(names []protocol.Matched) string {
	var all []string
	for _, n := range names {
		all = append(all, n.ID)
	}
	return strings.Join(all, " ")
}

func describeMessage(m any) string {
	if text := describeTask(m); text != "" {
		return text
	}
	switch m := m.(type) {
	case *protocol.Welcome:
		return fmt.Sprintf("welcome broker=%s client=%s session=%s attachment=%d heartbeat=%v window=%d brokers=%v",
			m.Broker, m.Client, m.Session, m.Attachment, m.Heartbeat, m.Window, m.Brokers)
	case *protocol.Subscribed:
		text := fmt.Sprintf("subscribed %s sources=%v robots=%d", m.ID, m.Sources, m.Robots)
		if m.Warning != "" {
			text += " warning: " + m.Warning
		}
		return text
	case *protocol.Gap:
		if m.To == nil {
			return fmt.Sprintf("gap %s %d… %s next=%s", m.Source, m.From, m.Why, m.Next)
		}
		return fmt.Sprintf("gap %s %d…%d %s", m.Source, m.From, *m.To, m.Why)
	case *protocol.Robot:
		text := fmt.Sprintf("robot %s %s source=%s", m.Robot, m.State, m.Source)
		if m.Lost != nil {
			text += fmt.Sprintf(" lost=%d", *m.Lost)
		}
		return text
	case *protocol.Reply:
		if m.Error != nil {
			return fmt.Sprintf("reply %s %s: %s", m.ID, m.Error.Code, m.Error.Message)
		}
		return fmt.Sprintf("reply %s ok=%t", m.ID, m.OK)
	case *protocol.Error:
		text := fmt.Sprintf("error %s: %s", m.Code, m.Message)
		if m.ID != "" {
			text += " id=" + m.ID
		}
		if m.Attachment != nil {
			text += fmt.Sprintf(" attachment=%d", *m.Attachment)
		}
		if m.Position != nil {
			text += fmt.Sprintf(" at %d:%d", m.Position.Line, m.Position.Column)
		}
		return text
	}
	return fmt.Sprintf("%#v", m)
}

func describeRecord(r Record) string {
	if text := describeTaskRecord(r); text != "" {
		return text
	}
	switch r := r.(type) {
	case *GivenRecord:
		var hits []string
		for _, h := range r.Hits {
			hits = append(hits, fmt.Sprintf("%d#%d[%s]", h.Handle, h.Seq, ids(h.Names)))
		}
		return fmt.Sprintf("given %s/%s %s", r.Reading.Robot, r.Reading.Interface, strings.Join(hits, " "))
	case *SubscriptionRecord:
		return fmt.Sprintf("subscription %s %s", r.Client, r.Subscription.ID)
	case *EntryRecord:
		return fmt.Sprintf("entry %d %s next=%d num=%d ended=%t", r.Handle, SourceWord(r.Key.Source, r.Key.Stamp), r.Next, r.Num, r.Ended)
	case *SessionRecord:
		return fmt.Sprintf("session %s %s attachment=%d", r.Client, r.Session, r.Epoch.Attachment)
	}
	return strings.TrimPrefix(fmt.Sprintf("%+v", r), "&")
}

// keepRecord copies a record, which the broker will use again.
func keepRecord(r Record) Record {
	if g, ok := r.(*GivenRecord); ok {
		c := *g
		c.Hits = slices.Clone(g.Hits)
		reading := *g.Reading
		reading.refs = 0
		c.Reading = &reading
		return &c
	}
	return r
}
