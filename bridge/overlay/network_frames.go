package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

// tell puts a message into the frame of this step to a neighbour. To one whose
// link is down it is lost.
func (b *network) tell(to BrokerID, m Message) {
	if _, up := b.topology.links[to]; !up {
		b.stats.Undeliverable++
		return
	}
	frame := b.frames[to]
	if len(frame) > 0 && joined(frame[len(frame)-1], m) {
		return
	}
	b.stats.count(m)
	b.frames[to] = append(frame, m)
}

// joined puts the mark that ends a fetch to the items before it, and a key's
// hit to those of the same reading.
func joined(last, m Message) bool {
	switch m := m.(type) {
	case *ReplayMessage:
		before, ok := last.(*ReplayMessage)
		if ok && m.Last && len(m.Items) == 0 && before.Key == m.Key && !before.Last {
			before.Last, before.ID = true, m.ID
			return true
		}
	case *NotifyMessage:
		before, ok := last.(*NotifyMessage)
		if ok && before.Reading == m.Reading {
			before.Hits = append(before.Hits, m.Hits...)
			return true
		}
	}
	return false
}

// flush puts out the frames of this step. What is the same to several
// neighbours, as a link state is, is one frame.
func (b *network) flush() {
	if len(b.frames) == 0 {
		return
	}
	first := len(b.out)
	for _, id := range b.topology.near {
		messages := b.frames[id]
		if len(messages) == 0 {
			continue
		}
		b.stats.Frames++
		to := Link{Neighbour: id, Session: b.topology.links[id]}
		if same := sameFrame(b.out[first:], messages); same != nil {
			same.To = append(same.To, to)
			continue
		}
		strip(messages)
		made := &struct { // one allocation
			Frame
			to [1]Link
		}{Frame{Messages: messages}, [1]Link{to}}
		made.To = made.to[:]
		b.put(&made.Frame)
	}
	clear(b.frames)
}

// strip leaves out what no subscription behind the link wants: the reading if all
// select values or ask for messages, and the messages if none asks for them.
func strip(frame []Message) {
	for _, m := range frame {
		n, ok := m.(*NotifyMessage)
		if !ok {
			continue
		}
		wanted := func(by func([]protocol.Matched) bool) bool {
			return slices.ContainsFunc(n.Hits, func(h KeyHit) bool { return by(h.Names) })
		}
		json := n.Reading.JSON == nil || wanted(protocol.WantsReading)
		messages := n.Reading.Messages == nil || wanted(protocol.WantsMessages)
		if json && messages {
			continue
		}
		r := *n.Reading
		r.refs, r.bare = 0, nil
		if !json {
			r.JSON = nil
		}
		if !messages {
			r.Messages = nil
		}
		n.Reading = &r
	}
}

// frameReceived takes what one step of a neighbour sent, as a whole.
func (b *network) frameReceived(in *FrameReceived) {
	if session, up := b.topology.links[in.Neighbour]; !up || session != in.Session {
		b.stats.Undeliverable += uint64(len(in.Messages))
		return
	}
	for _, m := range in.Messages {
		b.take(in.Neighbour, m)
	}
}

func (b *network) take(from BrokerID, m Message) {
	if !b.counted(m) {
		b.stats.Uncounted++
		return
	}
	switch m := m.(type) {
	case *NotifyMessage:
		b.onNotify(m)
	case *SubscribeMessage:
		b.onSubscribe(from, m)
	case *RefreshMessage:
		b.onRefresh(from, m)
	case *HeadMessage:
		b.down(m.Key, m)
	case *UnsubscribeMessage:
		b.unsubscribeKey(from, m.Key, m.Path)
	case *GoneMessage:
		b.onGone(from, m)
	case *FetchMessage:
		b.onFetch(from, m)
	case *ReplayMessage:
		b.onReplay(from, m)
	case *EventMessage:
		b.down(m.Key, m)
	case *BrokenMessage:
		b.learn(m.Link, from)
		if r := b.routes[m.Key]; r != nil && r.up == from {
			b.broken(r, m.Link)
		}
	case *LinkState:
		b.learn(m, from)
	case *QueuesMessage:
		b.tasks.hear(from, m)
	case *BulletinMessage, *KnownMessage:
		b.registry.hear(from, m)
	case *RoutedMessage:
		b.onRouted(*m)
	}
}
