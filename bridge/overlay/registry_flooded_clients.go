package overlay

// place is where a client is attached, or was last.
type place struct {
	client     string
	attachment uint64
	began      Instant // to be kept by an edge, for whoever has the client id
	edge       *bulletin
	next       *place // of another token's client with the same id
}

// fewClients is how many clients an edge has whose changes it tells at once; of more
// a quarter of a period's changes go together.
const fewClients = 64

func (p *place) told() ClientPlace {
	return ClientPlace{Client: p.client, Attachment: p.attachment, Began: p.began}
}

// lookUp finds the source brokers that a client's set can match among those that
// have a bulletin (D2). Only what is new in the set is looked up.
func (b *flooded) lookUp(s *session) {
	found := map[BrokerID]bool{}
	for _, sub := range b.edge.untested(s) {
		b.matching(sub, nil, func(id BrokerID) bool { return found[id] }, func(id BrokerID) bool {
			found[id] = true
			return true
		})
	}
	settled := true
	for _, id := range sortedKeys(found) {
		settled = b.edge.nameSource(s, SourceBroker{Broker: id, Stamp: b.bulletins[id].stamp}) && settled
	}
	b.edge.tested(s, settled, func(sub *sub) bool { return !b.anyCanMatch(sub) })
}

// lookUpAll looks up those again that are not settled.
func (b *flooded) lookUpAll(sessions []*session) {
	for _, s := range sessions {
		if len(b.edge.untested(s)) > 0 {
			b.lookUp(s)
		}
	}
}

// nameFresh has clients here subscribe at source brokers whose robots are new to
// this broker, have changed, or have become another broker's.
func (b *flooded) nameFresh() {
	for _, name := range sortedKeys(b.fresh) {
		if id := b.holders[name]; id != "" {
			b.edge.appearedAt(SourceBroker{Broker: id, Stamp: b.bulletins[id].stamp}, b.robots[id][name])
		}
	}
	clear(b.fresh)
}

// remembersNamed reports that only the edge does that has the keys.
func (b *flooded) remembersNamed() bool { return false }

// attached and left have the own bulletin tell of a client (D3).
func (b *flooded) attached(s *session) {
	if !s.anonymous {
		b.moved[s.client] = true
	}
}

func (b *flooded) left(s *session) { b.attached(s) }

// changedPlaces brings the places of the own bulletin up to date. A client that has
// gone to another edge is not in it any more, and no word of this edge is needed.
func (b *flooded) changedPlaces(m *BulletinMessage) {
	for _, client := range sortedKeys(b.moved) {
		if s := b.edge.here(client); s != nil {
			c := ClientPlace{Client: client, Attachment: s.epoch.Attachment, Began: s.began}
			if p := b.places[client]; p != nil {
				c.Began = min(c.Began, p.began)
			}
			if b.place(b.own, &c) {
				m.Clients = append(m.Clients, c)
			}
		} else if p := b.own.places[client]; p != nil {
			b.unplace(p)
			m.Left = append(m.Left, client)
		}
	}
	clear(b.moved)
}

// place takes where a client is, if it is not known to be attached elsewhere since.
// An edge that still has it learns that (G2).
func (b *flooded) place(e *bulletin, c *ClientPlace) bool {
	epoch := Epoch{Attachment: c.Attachment, Edge: e.broker}
	p := b.places[c.Client]
	switch {
	case p == nil && len(b.places) >= maxBrokers*b.cfg.Clients:
		return false
	case p == nil:
		p = &place{client: c.Client}
		b.places[c.Client] = p
		p.attachment, p.edge, p.began = c.Attachment, e, c.Began
		b.index(p)
	case epoch.Compare(Epoch{Attachment: p.attachment, Edge: p.edge.broker}) < 0:
		return false
	default:
		delete(p.edge.places, c.Client)
		p.attachment, p.edge, p.began = c.Attachment, e, c.Began
	}
	e.places[c.Client] = p
	if e != b.own {
		b.edge.attachedAt(c.Client, epoch)
	}
	return true
}

// unplace forgets where a client is: its session has ended.
func (b *flooded) unplace(p *place) {
	delete(p.edge.places, p.client)
	delete(b.places, p.client)
	owner, id := ClientOf(p.client)
	if owner == "" {
		return
	}
	for at := b.ids[id]; at != nil; at = at.next {
		switch {
		case b.ids[id] == p && p.next == nil:
			delete(b.ids, id)
		case b.ids[id] == p:
			b.ids[id] = p.next
		case at.next == p:
			at.next = p.next
		}
	}
}

// index puts a token's client to those of its id.
func (b *flooded) index(p *place) {
	if owner, id := ClientOf(p.client); owner != "" {
		p.next = b.ids[id]
		b.ids[id] = p
	}
}

// clientWith returns the word of the client that has an id: of those of several
// tokens the one that was kept first.
func (b *flooded) clientWith(id string) string {
	first := b.ids[id]
	if first == nil {
		return ""
	}
	for p := first.next; p != nil; p = p.next {
		if p.began < first.began || p.began == first.began && p.client < first.client {
			first = p
		}
	}
	return first.client
}

// newestAttachment returns a client's newest attachment, as far as it is known.
func (b *flooded) newestAttachment(client string) (newest uint64, known bool) {
	if p := b.places[client]; p != nil {
		return p.attachment, true
	}
	return 0, false
}
