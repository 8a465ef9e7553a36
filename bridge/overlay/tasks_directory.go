package overlay

// queueDirectory knows which queues live at which brokers. It is of both modes of the
// registry: what a broker says of its queues is flooded as link states are.
type queueDirectory struct {
	*step
	network tasksToNetwork
	home    *taskHome
	heard   map[BrokerID]*heardQueues

	running Instant               // since when
	linked  Instant               // when it was linked with a broker first; 0: never
	number  uint64                // of what was told last; 0: nothing was
	told    Instant               // when
	stale   bool                  // it has changed since
	places  map[string]queuePlace // of queues that were asked for since the last news
	news    bool                  // where queues live may have changed: requests and serves go there at this step's end
}

type heardQueues struct {
	message *QueuesMessage
	byName  map[string]*QueueAd
	known   bool // the network knows the broker, or did
}

// queuePlace is a queue's home as far as it is known.
type queuePlace struct {
	at       BrokerID
	declared bool
	since    Instant
}

// before reports whether a queue that lives at two brokers is p's: a declared one
// comes first, then the older, then that of the lower id.
func (p *queuePlace) before(q *queuePlace) bool {
	switch {
	case p.declared != q.declared:
		return p.declared
	case p.since != q.since:
		return p.since < q.since
	}
	return p.at < q.at
}

// where returns the home of a queue, "" if nobody has it. A passing queue whose home
// has been out of reach for three periods is gone.
func (d *queueDirectory) where(queue string) BrokerID { return d.place(queue).at }

// place returns it with since when the queue lives there.
func (d *queueDirectory) place(queue string) queuePlace {
	if p, known := d.places[queue]; known {
		return p
	}
	p := d.find(queue)
	if len(d.places) >= maxQueues {
		clear(d.places)
	}
	d.places[queue] = p
	return p
}

func (d *queueDirectory) find(queue string) (best queuePlace) {
	consider := func(p queuePlace) {
		if best.at == "" || p.before(&best) {
			best = p
		}
	}
	if q := d.home.queues[queue]; q != nil && !q.over {
		consider(queuePlace{d.cfg.ID, q.declared, q.since})
	}
	for id, h := range d.heard { // the order decides nothing
		if ad := h.byName[queue]; ad != nil && (ad.Declared && d.network.knows(id) || d.lately(id)) {
			consider(queuePlace{id, ad.Declared, ad.Since})
		}
	}
	return best
}

// lately reports whether a broker is in reach, or was within three periods.
func (d *queueDirectory) lately(id BrokerID) bool {
	return d.network.reaches(id) || d.network.knows(id) && d.now-d.network.heardOf(id) < awayPeriods*Instant(d.cfg.Heartbeat)
}

// changed says that a queue has begun or ended here.
func (d *queueDirectory) changed() {
	d.stale = true
	d.moved()
}

// For how many periods a broker that begins does not know which queues there are: after
// its first link, and without one.
const (
	linkedPeriods = 2
	alonePeriods  = 12
)

// settled reports whether a queue that nobody is known to have may begin here, and who
// asks for it may be told so. Others may declare it: a broker that begins hears that
// with its first link.
func (d *queueDirectory) settled() bool {
	since, periods := d.linked, Instant(linkedPeriods)
	if d.linked == 0 {
		since, periods = d.running, alonePeriods
	}
	return !d.cfg.Neighbours || d.now >= since+periods*Instant(d.cfg.Heartbeat)
}

// moved says that queues may live elsewhere now.
func (d *queueDirectory) moved() {
	d.news = true
	clear(d.places)
}

// endStep tells what is new of this broker's queues: changes of a quarter of a period
// together.
func (d *queueDirectory) endStep() {
	if !d.stale || !d.networked || d.now < d.due() {
		return
	}
	d.announce()
}

// due is when that is to be told.
func (d *queueDirectory) due() Instant {
	if !d.stale || !d.networked {
		return never
	}
	return d.told + Instant(d.cfg.Heartbeat)/4
}

func (d *queueDirectory) announce() {
	d.stale, d.told = false, d.now
	d.number = max(d.number+1, uint64(max(d.now, 1)))
	m := d.own()
	for _, id := range d.network.neighbours() {
		d.network.tell(id, m)
	}
}

// own is what this broker says of its queues.
func (d *queueDirectory) own() *QueuesMessage {
	m := &QueuesMessage{Broker: d.cfg.ID, Number: d.number}
	for _, name := range sortedKeys(d.home.queues) {
		if q := d.home.queues[name]; !q.over && q.robot == "" {
			m.Queues = append(m.Queues, QueueAd{Name: name, Declared: q.declared, Since: q.since})
		}
	}
	return m
}

// linkUp tells a new neighbour all that is known.
func (d *queueDirectory) linkUp(neighbour BrokerID) {
	if d.linked == 0 {
		d.linked = d.now
	}
	if d.number > 0 || len(d.home.queues) > 0 {
		if d.number == 0 {
			d.number = uint64(max(d.now, 1))
		}
		d.network.tell(neighbour, d.own())
	}
	for _, id := range sortedKeys(d.heard) {
		d.network.tell(neighbour, d.heard[id].message)
	}
}

// hear takes what a broker says of its queues, and passes it on if it is news.
func (d *queueDirectory) hear(from BrokerID, m *QueuesMessage) {
	old := d.heard[m.Broker]
	switch {
	case m.Broker == "" || len(m.Queues) > maxQueues:
		return
	case m.Broker == d.cfg.ID:
		if m.Number >= d.number { // of an earlier life
			d.number = m.Number
			d.stale = true
		}
		return
	case old != nil && old.message.Number >= m.Number, old == nil && len(d.heard) >= maxBrokers:
		return
	}
	h := &heardQueues{message: m, byName: make(map[string]*QueueAd, len(m.Queues))}
	for i := range m.Queues {
		h.byName[m.Queues[i].Name] = &m.Queues[i]
	}
	d.heard[m.Broker] = h
	d.moved()
	for _, id := range d.network.neighbours() {
		if id != from {
			d.network.tell(id, m)
		}
	}
	d.home.yield(h)
	d.home.compare(h)
}

// pass forgets brokers that the network has forgotten, and tells of this broker's
// queues again a few times in a session time, for those who have forgotten it.
func (d *queueDirectory) pass() {
	clear(d.places)              // brokers may have been out of reach for long enough
	for id, h := range d.heard { // each by itself
		if d.network.knows(id) {
			h.known = true
		} else if h.known { // its link states come before its queues, or a little later
			delete(d.heard, id)
		}
	}
	if d.networked && d.number > 0 && d.now-d.told >= Instant(d.cfg.Inbox.Keep)/4 {
		d.stale = true
	}
}
