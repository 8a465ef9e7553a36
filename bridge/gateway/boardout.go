package gateway

import (
	"regexp"
	"time"

	"callboard/player/iface"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// outbox takes what the broker sends a board. Nothing here waits.
type outbox struct{ *board }

// Notify tells a program that a condition of its has become true.
func (b outbox) Notify(n protocol.Notify, _ time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acks[n.Source] = n.Seq
	b.signal()
	for i := range n.Subscriptions {
		m := &n.Subscriptions[i]
		w := b.asked[m.ID]
		if w == nil {
			continue
		}
		w.latest = newEntry(w.key, update(&n, m), n.Time)
		w.client.Publish(boardAddr, iface.DataBlackboardUpdate, n.Time, w.latest)
	}
}

// update is what a program is told: who, when and what.
func update(n *protocol.Notify, m *protocol.Matched) string {
	text := protocol.AppendText([]byte(`{"robot":`), n.Robot)
	text = protocol.AppendFloat(append(text, `,"time":`...), n.Time)
	values := n.Reading
	if m.Values != nil {
		values = m.Values
	}
	text = append(text, `,"values":`...)
	if values == nil {
		text = append(text, "{}"...)
	} else {
		text = append(text, protocol.JSON(values)...)
	}
	return string(append(text, '}'))
}

// NotifySoon is Notify: there is nothing that could be written together.
func (b outbox) NotifySoon(n protocol.Notify, decoded time.Time) { b.Notify(n, decoded) }

// Flush has nothing to write.
func (b outbox) Flush() {}

// Send answers the programs whose conditions the broker has taken, or has not.
func (b outbox) Send(m any) {
	switch m := m.(type) {
	case *protocol.Subscribed:
		b.mu.Lock()
		defer b.mu.Unlock()
		if w := b.asked[m.ID]; w != nil && !w.taken {
			w.taken = true
			for _, c := range w.calls {
				c.Ack(w.entry())
			}
			w.calls = nil
		}
	case *protocol.Error:
		b.refused(m.ID, m.Message)
	}
}

// Close says that the broker has ended the connection: there will be another one.
func (b outbox) Close(protocol.Code, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = true
	b.signal()
}

// names finds what a condition may name: laser.min, prev.position.x.
var names = regexp.MustCompile(`\b(?:prev\.)?([a-z_0-9]+)\.([a-z_0-9]+)\b`)

// maxValues is how many values a program is told.
const maxValues = 64

// namedIn returns the values that a condition names, under their names: they are
// what a program is told. Of one that names none it is told the whole reading.
func namedIn(condition string) map[string]string {
	var out map[string]string
	for _, m := range names.FindAllStringSubmatch(condition, -1) {
		if !scalar(m[1], m[2]) || len(out) == maxValues {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[m[0]] = m[0]
	}
	return out
}

// scalar reports whether conditions know a field of a kind of reading that is one
// value.
func scalar(kind, field string) bool {
	for k := range view.Kind(view.NumKinds) {
		if k.String() != kind {
			continue
		}
		for _, f := range k.Fields() {
			if f.Name == field {
				return f.Floats == nil && f.Texts == nil
			}
		}
	}
	return false
}
