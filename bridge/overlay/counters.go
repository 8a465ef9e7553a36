package overlay

// counters are numbers that are compared with the highest.
type counters struct{ max uint64 }

// maxAhead is how far above the present time in µs a number may be that another
// counts: attachments, revisions, stamps, versions, and numbers of notifications.
// Those who take the time stay below it whatever the clock here says, and nobody
// can bring a counter to its end by one message: there are as many numbers again
// to count on with, all exact in JSON until the year 2112.
const maxAhead = 1 << 52

// highest is the highest number that is taken from a client, another broker or
// the store.
func (b *step) highest() uint64 { return maxAhead + uint64(max(b.now, 0)) }

func (c *counters) number(all ...uint64) {
	for _, n := range all {
		c.max = max(c.max, n)
	}
}

func (c *counters) stamp(s Stamp) { c.number(uint64(max(s, 0))) }

func (c *counters) epoch(e Epoch) { c.number(e.Attachment, e.Revision) }

func (c *counters) session(s Session) { c.epoch(Epoch(s)) }

func (c *counters) key(k *Key) {
	c.session(k.Session)
	c.stamp(k.Stamp)
}

func (c *counters) availability(all []Availability) {
	for i := range all {
		c.number(all[i].Changed, all[i].Gone, all[i].Dropped)
	}
}

// counted reports whether nothing in a message is above the highest number that
// can have been counted to.
func (b *step) counted(m Message) bool {
	var c counters
	switch m := m.(type) {
	case *NotifyMessage:
		for i := range m.Hits {
			h := &m.Hits[i]
			c.key(&h.Key)
			c.number(h.Seq, h.Attachment, h.Revision)
		}
	case *SubscribeMessage:
		c.key(&m.Key)
		c.epoch(m.Epoch)
		c.number(m.Num, m.Known)
		if m.Set != nil {
			for i := range m.Set.Put {
				c.epoch(m.Set.Put[i].Since)
			}
		}
	case *RefreshMessage:
		c.key(&m.Key)
		c.epoch(m.Epoch)
		c.number(m.Num, m.Known)
	case *HeadMessage:
		c.key(&m.Key)
		c.number(m.Last)
	case *UnsubscribeMessage:
		c.key(&m.Key)
	case *GoneMessage:
		c.key(&m.Key)
		c.stamp(m.Stamp)
	case *FetchMessage:
		c.key(&m.Key)
		c.epoch(m.Epoch)
		c.number(m.Num)
	case *ReplayMessage:
		c.key(&m.Key)
		for i := range m.Items {
			c.number(m.Items[i].From, m.Items[i].To)
			c.epoch(m.Items[i].Set)
		}
	case *EventMessage:
		c.key(&m.Key)
		c.epoch(m.Set)
	case *BrokenMessage:
		c.key(&m.Key)
		if m.Link != nil {
			c.number(m.Link.Number)
		}
	case *LinkState:
		c.number(m.Number)
	case *QueuesMessage:
		c.number(m.Number)
	case *BulletinMessage:
		c.stamp(m.Stamp)
		c.number(m.From, m.Version, m.StatesVersion)
		c.availability(m.States)
		for i := range m.Clients {
			c.number(m.Clients[i].Attachment)
		}
	case *KnownMessage:
		for _, k := range m.Brokers {
			c.number(k.Version)
		}
	case *RoutedMessage:
		c.body(m.Body)
	}
	return c.max <= b.highest()
}

func (c *counters) body(m RegistryMessage) {
	switch m := m.(type) {
	case *Register:
		c.stamp(m.Stamp)
		c.number(m.Version, m.Refusals)
	case *RegisterAgain:
		c.number(m.Version)
	case *Refusals:
		c.number(m.Version)
	case *Lookup:
		for i := range m.Clients {
			l := &m.Clients[i]
			c.session(l.Session)
			c.number(l.Attachment, l.Version)
		}
	case *Sources:
		for i := range m.Clients {
			s := &m.Clients[i]
			c.session(s.Session)
			c.number(s.Version)
			c.epoch(s.Newest)
			for _, source := range s.Sources {
				c.stamp(source.Stamp)
			}
		}
	case *Watch:
		c.number(m.Version)
		for i := range m.Again {
			c.key(&m.Again[i].Key)
			c.epoch(m.Again[i].Since)
		}
	case *Robots:
		c.number(m.From, m.Version)
		c.availability(m.Robots)
	case *TaskRequest:
		c.number(m.Attachment)
	case *TaskPoll:
		c.number(m.Attachment)
	case *TaskServing:
		c.number(m.Attachment, m.Number)
	case *Told:
		c.session(m.Session)
		c.number(m.Attachment)
		for _, seen := range [][]SeenSource{m.Seen, m.Awaited} {
			for i := range seen {
				c.number(seen[i].Version, seen[i].At)
			}
		}
		for _, source := range m.Named {
			c.stamp(source.Stamp)
		}
		for i := range m.Begun {
			c.epoch(m.Begun[i].Since)
		}
	}
}

// countedRecord is the same of what the store has.
func (b *step) countedRecord(r Record) bool {
	var c counters
	switch r := r.(type) {
	case *StampRecord:
		c.stamp(r.Stamp)
	case *SessionRecord:
		c.session(r.Session)
		c.epoch(r.Epoch)
	case *ToldRecord:
		c.number(r.Version)
	case *SubscriptionRecord:
		c.number(r.Born)
	case *EntryRecord:
		c.key(&r.Key)
		c.epoch(r.Epoch)
		c.number(r.Set, r.Next, r.Num, uint64(r.Handle))
	case *EntrySubscription:
		c.number(r.Born)
	case *GivenRecord:
		for i := range r.Hits {
			c.number(r.Hits[i].Seq, r.Hits[i].Revision)
		}
	case *AckedRecord:
		c.number(r.Num)
	case *GapRecord:
		c.number(r.From, r.To)
	case *PassedRecord:
		c.number(r.From, r.To)
	case *TaskRecord:
		c.number(r.Number, r.Attachment)
	}
	return c.max <= b.highest()
}
