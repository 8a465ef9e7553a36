package server

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"callboard/player"
)

// model is the queue as the protocol reference words it, without any thought
// of speed. Its messages are numbers.
type model struct {
	limit int
	queue []int
	sigs  map[int]signature
	rules []rule

	pull, requested, delivered bool
	dropped                    uint32
}

func (m *model) action(s signature) action {
	match := func(rule int32, v uint64) bool { return rule == -1 || uint64(rule) == v }
	for _, r := range m.rules {
		if match(r.interf, uint64(s)>>32) && match(r.index, uint64(s)>>16&0xffff) &&
			match(r.typ, uint64(s)>>8&0xff) && match(r.subtype, uint64(s)&0xff) {
			return r.action
		}
	}
	return accept
}

func (m *model) push(id int, s signature) {
	m.sigs[id] = s
	switch a := m.action(s); {
	case a == ignore:
	case a == replace && !s.isReply():
		for i := len(m.queue) - 1; i >= 0; i-- {
			if m.sigs[m.queue[i]] == s {
				m.queue = slices.Delete(m.queue, i, i+1)
				break
			}
		}
		m.queue = append(m.queue, id)
	case !s.isReply() && len(m.queue) >= m.limit:
		m.dropped++
	default:
		m.queue = append(m.queue, id)
	}
}

func (m *model) setRule(k ruleKey, a action) {
	for i := range m.rules {
		if m.rules[i].ruleKey == k {
			m.rules[i].action = a
			return
		}
	}
	m.rules = append(m.rules, rule{k, a})
}

// take returns all that is due: numbers, and a text for a SYNCH.
func (m *model) take() []string {
	var out []string
	for {
		last := -1
		for i, id := range m.queue {
			if m.sigs[id].isReply() {
				last = i
			}
		}
		switch {
		case len(m.queue) > 0 && (!m.pull || m.requested || last >= 0):
			id := m.queue[0]
			m.queue = m.queue[1:]
			if m.requested && !m.sigs[id].isReply() {
				m.delivered = true
			}
			out = append(out, fmt.Sprint(id))
		case len(m.queue) == 0 && m.pull && m.requested && m.delivered:
			out = append(out, fmt.Sprintf("SYNCH, %d lost", m.dropped))
			m.requested, m.delivered, m.dropped = false, false, 0
		default:
			return out
		}
	}
}

func TestQueueIsThatOfTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 8).Draw(t, "limit")
		q := &queue{limit: limit, maxBytes: 1 << 30}
		m := &model{limit: limit, sigs: map[int]signature{}}
		ids := map[*message]int{}
		draw := func(label string, max int) int { return rapid.IntRange(0, max).Draw(t, label) }
		next := func(typ player.Type) (*message, int) {
			h := player.Header{
				Addr: player.Addr{Interf: player.Interface(4 + draw("interf", 2)), Index: uint16(draw("index", 1))},
				Type: typ, Subtype: uint8(1 + draw("subtype", 1)),
			}
			msg := &message{sig: signatureOf(h), raw: make([]byte, 40+4*draw("size", 3))}
			msg.refs.Store(1 << 20) // never goes back to the pool
			ids[msg] = len(ids)
			return msg, ids[msg]
		}
		steps := rapid.IntRange(1, 120).Draw(t, "steps")
		for range steps {
			switch draw("step", 11) {
			case 0, 1, 2, 3, 4, 5:
				msg, id := next(player.Data)
				copies := 1 + draw("copies", 2)
				q.push(msg, copies)
				for range copies {
					m.push(id, msg.sig)
				}
			case 6:
				msg, id := next(player.Ack + player.Type(2*draw("nack", 1)))
				q.push(msg, 1)
				m.push(id, msg.sig)
			case 7:
				key := ruleKey{int32(3 + draw("interf", 2)), int32(draw("index", 2)) - 1, int32(2*draw("type", 1)) - 1, int32(draw("subtype", 2))}
				for _, v := range []*int32{&key.interf, &key.typ, &key.subtype} {
					if *v == 0 || *v == 3 {
						*v = -1
					}
				}
				a := action(draw("action", 2))
				q.setRule(key, a)
				m.setRule(key, a)
			case 8:
				q.pull = draw("pull", 1) == 1
				m.pull = q.pull
			case 9:
				msg, id := next(player.Ack)
				q.pushFront(msg)
				q.request()
				if m.sigs[id] = msg.sig; m.action(msg.sig) != ignore {
					m.queue = slices.Insert(m.queue, 0, id)
				}
				m.requested, m.delivered = true, false
			case 10:
				device := deviceKey(player.Interface(4+draw("interf", 2)), uint16(draw("index", 1)))
				q.drop(device)
				m.queue = slices.DeleteFunc(m.queue, func(id int) bool { return m.sigs[id].device() == device && m.sigs[id].typ() == player.Data })
			case 11:
				max := 40 + draw("max", 400)
				var got []string
				for q.due() {
					for _, msg := range q.take(nil, max, true) {
						if id, ok := ids[msg]; ok {
							got = append(got, fmt.Sprint(id))
							continue
						}
						lost := 0
						if len(msg.raw) > player.HeaderSize {
							lost = int(msg.raw[43])
						}
						got = append(got, fmt.Sprintf("SYNCH, %d lost", lost))
					}
				}
				if want := m.take(); !slices.Equal(got, want) {
					t.Fatalf("took %q, expected %q", got, want)
				}
			}
			check(t, q, m)
		}
	})
}

// check compares the counts that the queue keeps with what is in it.
func check(t *rapid.T, q *queue, m *model) {
	live, replies, bytes, replyBytes := 0, 0, 0, 0
	for i, msg := range append(slices.Clone(q.front), q.items[q.head:]...) {
		if msg == nil {
			continue
		}
		bytes += len(msg.raw)
		if msg.sig.isReply() {
			replyBytes += len(msg.raw)
		}
		if i >= len(q.front) {
			live++
			if msg.sig.isReply() {
				replies++
			}
		}
	}
	if q.live != live || q.replies != replies || q.bytes != bytes || q.replyBytes != replyBytes {
		t.Fatalf("counts live %d, replies %d, bytes %d, reply bytes %d, expected %d, %d, %d, %d", q.live, q.replies, q.bytes, q.replyBytes, live, replies, bytes, replyBytes)
	}
	if live+len(q.front) != len(m.queue) {
		t.Fatalf("%d queued, expected %d", live+len(q.front), len(m.queue))
	}
	if len(q.items) > 2*live+64+q.head {
		t.Fatalf("%d places for %d messages", len(q.items), live)
	}
}

// A client that never reads and replaces by rule holds a bounded queue.
func TestQueueReplacingForeverStaysSmall(t *testing.T) {
	q := &queue{limit: 1024, maxBytes: 1 << 30}
	q.setRule(ruleKey{-1, -1, 1, -1}, replace)
	for i := range 200_000 {
		m := newMessage(player.Header{Addr: player.Addr{Interf: 6, Index: uint16(i % 100)}, Type: player.Data})
		q.push(m, 1)
		m.release()
	}
	if q.live != 100 || cap(q.items) > 2048 {
		t.Errorf("%d live in %d places, expected 100 in at most 2048", q.live, cap(q.items))
	}
}

func TestQueueIsBoundedInBytes(t *testing.T) {
	q := &queue{limit: 1024, maxBytes: 1000}
	for range 100 {
		m := newMessage(player.Header{Addr: player.Addr{Interf: 6}, Type: player.Data})
		m.raw = append(m.raw, make([]byte, 160)...)
		q.push(m, 1)
		m.release()
	}
	if q.live != 5 || q.dropped != 95 {
		t.Errorf("%d live, %d dropped, expected 5 and 95", q.live, q.dropped)
	}
}

// Each holder of a message releases it once: afterwards nobody holds it.
func TestQueueLetsGoOfAllMessages(t *testing.T) {
	q := &queue{limit: 4, maxBytes: 1 << 30}
	var all []*message
	push := func(typ player.Type, interf player.Interface, front bool) {
		m := newMessage(player.Header{Addr: player.Addr{Interf: interf}, Type: typ})
		all = append(all, m.hold()) // one hold for the test
		if front {
			q.pushFront(m)
		} else {
			q.push(m, 1)
		}
		m.release()
	}
	q.setRule(ruleKey{5, -1, 1, -1}, replace)
	q.setRule(ruleKey{7, -1, 1, -1}, ignore)
	for range 5 {
		push(player.Data, 4, false)
		push(player.Data, 5, false)
		push(player.Data, 6, false)
		push(player.Data, 7, false)
		push(player.Ack, 1, false)
		push(player.Ack, 1, true)
	}
	q.drop(deviceKey(4, 0))
	for _, m := range q.take(nil, 100, true) {
		m.release()
	}
	q.clear()
	for i, m := range all {
		if n := m.refs.Load(); n != 1 {
			t.Errorf("message %d has %d holders, expected the test alone", i, n)
		}
	}
}
