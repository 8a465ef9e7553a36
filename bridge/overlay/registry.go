package overlay

import (
	"cmp"
	"slices"
)

// registry is the registry of the network, at the broker that the configuration
// names: advertisements, and where clients are. All of it comes again each period
// or when it is asked for, so it survives nothing.
type registry struct {
	*step
	network registryToNetwork
	directory

	brokers map[BrokerID]*registered
	clients map[string]*whereabouts
	ids     map[string]*whereabouts // by client id, of whichever token
	began   Instant                 // when the first broker registered
}

// clientWith returns the word of the client that has an id; "" if it is not known.
func (b *registry) clientWith(id string) string {
	if w := b.ids[id]; w != nil {
		return w.client
	}
	return ""
}

func newRegistry(s *step) *registry {
	return &registry{
		step:      s,
		directory: newDirectory(),
		brokers:   map[BrokerID]*registered{},
		clients:   map[string]*whereabouts{},
		ids:       map[string]*whereabouts{},
	}
}

// registered is what a source broker has told.
type registered struct {
	stamp   Stamp
	version uint64
	known   bool // the robots of that version are here
	heard   Instant

	refused, rivals []Refusal // as it was told last
	refusals        uint64    // with this version
}

// whereabouts is what the edges have told of a client.
type whereabouts struct {
	client  string
	session Session
	epoch   Epoch // the newest attachment, its edge
	hash    Hash  // of the set
	known   bool  // the wants of that set are here
	wants   map[string]*sub
	named   map[BrokerID]bool // source brokers once named stay named until the session ends
	version uint64            // of the answer: changes when a source broker is named
	began   Instant           // to be kept by an edge, for whoever has the client id
	heard   Instant
}

// onRegister takes what a source broker says of itself: edges learn of sources
// that appear (6).
func (b *registry) onRegister(from BrokerID, m *Register) {
	r := b.brokers[from]
	back := r == nil
	if back {
		if len(b.brokers) >= maxBrokers {
			return
		}
		r = &registered{}
		b.brokers[from] = r
		if b.began == 0 {
			b.began = b.now
		}
	}
	r.heard = b.now
	r.stamp = max(r.stamp, m.Stamp)
	switch {
	case m.Whole:
		r.version, r.known = m.Version, true
		robots := make([]*robot, 0, len(m.Robots))
		for _, a := range m.Robots {
			robots = append(robots, &robot{name: a.Robot, world: a.World, devices: a.Devices, bounds: a.Bounds, refused: a.Refused})
		}
		b.claim(from, robots)
	case r.version != m.Version || !r.known:
		r.known = false
		b.network.route(from, &RegisterAgain{Version: m.Version})
	}
	if m.Refusals != r.refusals {
		b.tellRefusals(from)
	}
	if back {
		b.nameFresh(from)
	} else {
		b.nameFresh("")
	}
}

// nameFresh names the source brokers that clients' sets can match now, and
// tells their edges. Only robots that are new, have changed or have become
// another broker's are tested: of the others it is known already. A broker that
// is back was forgotten here, and answers meanwhile lacked it.
func (b *registry) nameFresh(back BrokerID) {
	if len(b.fresh) == 0 && back == "" {
		return
	}
	var news []*whereabouts
	for _, w := range b.clients { // each by itself: order decides nothing
		again := w.named[back]
		if !w.known || !b.nameFor(w, w.wants, b.fresh) && !again {
			continue
		}
		if again {
			b.newAnswer(w)
		}
		news = append(news, w)
	}
	slices.SortFunc(news, func(w, o *whereabouts) int { return cmp.Compare(w.client, o.client) })
	answers := map[BrokerID]*Sources{}
	for _, w := range news {
		edge := w.epoch.Edge
		if answers[edge] == nil {
			answers[edge] = &Sources{}
		}
		answers[edge].Clients = append(answers[edge].Clients, b.sourcesOf(w))
	}
	clear(b.fresh)
	for _, edge := range sortedKeys(answers) {
		b.network.route(edge, answers[edge])
	}
}

// nameFor names the source brokers that some wants of a client can match, of
// the given robots (nil: all). It reports whether there is a new one.
func (b *registry) nameFor(w *whereabouts, wants map[string]*sub, robots map[string]bool) (news bool) {
	for _, want := range wants { // all are asked: order decides nothing
		b.matching(want, robots, func(id BrokerID) bool { return w.named[id] }, func(id BrokerID) bool {
			w.named[id], news = true, true
			return true
		})
	}
	if news {
		b.newAnswer(w)
	}
	return news
}

// newAnswer counts a change of the answer.
func (b *registry) newAnswer(w *whereabouts) { w.version = max(w.version+1, uint64(max(b.now, 0))) }

// sourcesOf tells an edge what is known of a client's set.
func (b *registry) sourcesOf(w *whereabouts) ClientSources {
	answer := ClientSources{Client: w.client, Session: w.session, Claims: b.hasID(w), Hash: w.hash, Version: w.version, Again: !w.known}
	for _, id := range sortedKeys(w.named) {
		if r := b.brokers[id]; r != nil {
			answer.Sources = append(answer.Sources, SourceBroker{Broker: id, Stamp: r.stamp})
		}
	}
	return answer
}

// onLookup takes where an edge's clients are, and what they want: G1, G2.
func (b *registry) onLookup(from BrokerID, m *Lookup) {
	answer := &Sources{}
	for i := range m.Clients {
		c := &m.Clients[i]
		epoch := Epoch{Attachment: c.Attachment, Edge: from}
		w := b.clients[c.Client]
		if w != nil && w.epoch.Compare(epoch) > 0 { // G2
			answer.Clients = append(answer.Clients, ClientSources{Client: c.Client, Session: c.Session, Newest: w.epoch})
			continue
		}
		if (w == nil || w.session != c.Session) && !b.holds(c) {
			answer.Clients = append(answer.Clients, ClientSources{Client: c.Client, Session: c.Session, Forbidden: true})
			continue
		}
		if w == nil && len(b.clients) >= maxBrokers*b.cfg.Clients {
			continue
		}
		if w == nil || w.session != c.Session {
			w = b.keepClient(c)
		}
		w.epoch, w.heard = epoch, b.now
		if c.Whole {
			b.takeWants(w, c)
		} else if w.hash != c.Hash {
			w.hash, w.known, w.wants = c.Hash, false, nil
		}
		if c.Version != w.version || c.Whole || !w.known {
			one := b.sourcesOf(w)
			b.answerLookup(c, w, &one)
			answer.Clients = append(answer.Clients, one)
		}
	}
	b.network.route(from, answer)
}

// takeWants takes what a client wants, and names the source brokers that what
// is new in it can match.
func (b *registry) takeWants(w *whereabouts, c *ClientLookup) {
	before := w.wants
	w.hash, w.known, w.wants = c.Hash, true, make(map[string]*sub, len(c.Wants))
	fresh := map[string]*sub{}
	for i := range c.Wants {
		want := c.Wants[i].sub()
		if old := before[want.ID]; old != nil && old.sameWant(want) {
			want = old
		} else {
			fresh[want.ID] = want
		}
		w.wants[want.ID] = want
	}
	b.nameFor(w, fresh, nil)
}

// answerLookup adds what an edge asks for beside source brokers.
func (b *registry) answerLookup(c *ClientLookup, w *whereabouts, one *ClientSources) {
	if !w.known {
		return
	}
	for _, id := range c.Ask {
		if want := w.wants[id]; want != nil && !b.anyCanMatch(want) {
			one.Missing = append(one.Missing, id)
		}
	}
}

func (w *Want) sub() *sub {
	s := &Subscription{Allowed: w.Allowed, Needs: w.Needs, Requires: w.Requires}
	s.ID, s.Robots, s.Devices = w.ID, w.Robots, w.Devices
	return &sub{Subscription: s, selector: newSelector(s)}
}

// sameWant reports whether the registry's test of two wants is the same.
func (s *sub) sameWant(o *sub) bool {
	return slices.Equal(s.Robots, o.Robots) && slices.Equal(s.Allowed, o.Allowed) && slices.Equal(s.Devices, o.Devices) &&
		slices.EqualFunc(s.Needs, o.Needs, slices.Equal) && slices.EqualFunc(s.Requires, o.Requires, func(p, q Requirement) bool {
		return p.Name == q.Name && p.Lo == q.Lo && p.Hi == q.Hi && slices.Equal(p.Texts, q.Texts) && (p.Texts == nil) == (q.Texts == nil)
	})
}

// forgetDirectory forgets who has not been heard of for the session time.
func (b *registry) forgetDirectory() {
	before := b.now - Instant(b.cfg.Inbox.Keep)
	var gone []BrokerID
	for id, r := range b.brokers {
		if r.heard < before {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	for _, id := range gone {
		b.claim(id, nil)
		delete(b.brokers, id)
	}
	for _, w := range b.clients {
		if w.heard < before {
			b.forgetClient(w)
		}
	}
}

// holds is the registry's test whether a client may have its id: not if it is new
// and another token's client has had it before.
func (b *registry) holds(c *ClientLookup) bool {
	owner, id := ClientOf(c.Client)
	holder := b.ids[id]
	return !c.New || owner == "" || holder == nil || holder.client == c.Client || c.Began <= holder.began
}

// keepClient puts a client into the directory.
func (b *registry) keepClient(c *ClientLookup) *whereabouts {
	w := &whereabouts{client: c.Client, session: c.Session, named: map[BrokerID]bool{}, began: c.Began}
	_, id := ClientOf(c.Client)
	switch old := b.ids[id]; {
	case id == "":
	case old == nil && c.Claims:
		b.ids[id] = w
	case old != nil && old.client == c.Client:
		b.ids[id], w.began = w, min(w.began, old.began)
	}
	b.clients[c.Client] = w
	return w
}

// forgetClient takes it out.
func (b *registry) forgetClient(w *whereabouts) {
	delete(b.clients, w.client)
	if _, id := ClientOf(w.client); b.ids[id] == w {
		delete(b.ids, id)
	}
}

// hasID reports whether the registry knows a client as the one that has its id.
func (b *registry) hasID(w *whereabouts) bool {
	_, id := ClientOf(w.client)
	return b.ids[id] == w
}
