package overlay

// network is the broker on the way of keys: links, paths, routes, fetches and the
// frames of this step.
type network struct {
	*step
	edge     networkToEdge
	source   networkToSource
	registry networkToRegistry
	tasks    networkToTasks

	topology  topology
	routes    map[Key]*route
	fetches   map[Key][]*fetch
	lastFetch uint64
	dead      map[Key]Instant // tombstones: until when
	passed    map[Key]passed
	frames    map[BrokerID][]Message
	rerouted  bool // paths may have changed: questions whose broker is out of reach end with this step
	calls     calls
}

// route sends a message to another broker, or to this one.
func (b *network) route(to BrokerID, body RegistryMessage) {
	if to == b.cfg.ID {
		b.onRegistry(to, body)
		return
	}
	b.routeFor(b.cfg.ID, to, body)
}

// routeFor sends a message to a broker in the name of another, which an answer
// goes to.
func (b *network) routeFor(from, to BrokerID, body RegistryMessage) {
	b.onRouted(RoutedMessage{From: from, To: to, Hops: maxHops, Body: body})
}

// onRouted takes a message that is for this broker, or passes it on.
func (b *network) onRouted(m RoutedMessage) {
	if m.To == b.cfg.ID {
		b.onRegistry(m.From, m.Body)
		return
	}
	path := b.path(m.To)
	if len(path) < 2 || m.Hops <= 0 {
		b.stats.Undeliverable++
		return
	}
	b.tell(path[1], &RoutedMessage{From: m.From, To: m.To, Hops: m.Hops - 1, Body: m.Body})
}

func (b *network) onRegistry(from BrokerID, body RegistryMessage) {
	switch m := body.(type) {
	case *Call:
		b.onCall(from, m)
	case *CallAnswer:
		b.onCallAnswer(from, m)
	case *Register, *RegisterAgain, *Refusals, *Lookup, *Sources:
		b.registry.take(from, body)
	case *Watch:
		if m.Of != "" {
			b.edge.onAskOther(from, m)
			break
		}
		b.source.onWatch(from, m)
	case *Robots:
		b.edge.onRobots(from, m)
	case *Told:
		b.edge.onTold(m)
	default:
		b.tasks.take(from, body)
	}
}
