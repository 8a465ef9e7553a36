package link

import "callboard/bridge/overlay"

// weigh estimates what messages that wait hold in memory, in bytes: so much
// for a message of any kind, and what those carry that can be large.
func weigh(messages []overlay.Message) int {
	const each, name = 256, 64
	n := each
	for _, m := range messages {
		n += each
		switch m := m.(type) {
		case *overlay.NotifyMessage:
			n += weighReading(m.Reading)
			for i := range m.Hits {
				n += 2 * name
				for j := range m.Hits[i].Names {
					n += name + len(m.Hits[i].Names[j].Values)
				}
			}
		case *overlay.ReplayMessage:
			for i := range m.Items {
				n += 2*name + weighReading(m.Items[i].Reading)
				for j := range m.Items[i].Names {
					n += name + len(m.Items[i].Names[j].Values)
				}
			}
		case *overlay.SubscribeMessage:
			if m.Set != nil {
				n += name * len(m.Set.Drop)
				for i := range m.Set.Put {
					n += weighSubscription(m.Set.Put[i].Subscription)
				}
			}
		case *overlay.RoutedMessage:
			n += weighRegistry(m.Body)
		}
	}
	return n
}

func weighReading(r *overlay.Reading) int {
	if r == nil {
		return 0
	}
	return 128 + len(r.JSON)
}

func weighSubscription(s *overlay.Subscription) int {
	if s == nil {
		return 0
	}
	n := 256 + len(s.Condition) + 32*(len(s.Robots)+len(s.Devices)+len(s.Allowed)+len(s.Needs))
	for name, expression := range s.Select {
		n += 64 + len(name) + len(expression)
	}
	return n
}

func weighRegistry(body overlay.RegistryMessage) int {
	n := 0
	switch body := body.(type) {
	case *overlay.Register:
		for i := range body.Robots {
			n += 128 + 32*len(body.Robots[i].Devices)
		}
	case *overlay.Lookup:
		for i := range body.Clients {
			n += 256
			for j := range body.Clients[i].Wants {
				w := &body.Clients[i].Wants[j]
				n += 128 + 32*(len(w.Robots)+len(w.Allowed)+len(w.Devices)+len(w.Needs))
			}
		}
	case *overlay.Sources:
		for i := range body.Clients {
			n += 256 + 32*len(body.Clients[i].Sources)
		}
	}
	return n
}
