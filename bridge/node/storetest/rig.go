package storetest

import (
	"encoding/json"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Rig is a broker with a matcher that is always up to date, and clients that say
// little.
type Rig struct {
	Broker  *overlay.Broker
	now     overlay.Instant
	stored  func([]overlay.Record)
	sets    map[overlay.Handle]uint64
	order   []overlay.Handle
	outputs []string
}

func newBroker(t TB) *overlay.Broker {
	b, err := overlay.New(overlay.Config{ID: "b1", Window: 3, Inbox: overlay.Limits{Count: 8}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

// Begin starts a broker with what earlier lives have left. Each step's records go
// to stored.
func Begin(t TB, now overlay.Instant, records []overlay.Record, lost bool, stored func([]overlay.Record)) *Rig {
	b := newBroker(t)
	b.Step(now, &overlay.Restore{Records: Clone(records)})
	return start(b, now, lost, stored)
}

// start begins the life of a broker that has been restored.
func start(b *overlay.Broker, now overlay.Instant, lost bool, stored func([]overlay.Record)) *Rig {
	r := &Rig{Broker: b, now: now, stored: stored, sets: map[overlay.Handle]uint64{}}
	r.Step(&overlay.Start{StoreLost: lost})
	r.Step(&overlay.Advertise{Robot: "r0"})
	return r
}

// Step has the broker take an input in, one millisecond after the last.
func (r *Rig) Step(in overlay.Input) {
	r.now += 1000
	r.Broker.Step(r.now, in)
	r.stored(r.Broker.Records())
	var answers []overlay.Input
	for _, o := range r.Broker.Outputs() {
		switch o := o.(type) {
		case *overlay.Install:
			if _, known := r.sets[o.Handle]; !known {
				r.order = append(r.order, o.Handle)
			}
			r.sets[o.Handle] = o.Set
			a := &overlay.Installed{Handle: o.Handle, Set: o.Set, Robots: map[string]int{}}
			for _, id := range o.Count {
				a.Robots[id] = 1
			}
			answers = append(answers, a)
		case *overlay.Notify:
			r.outputs = append(r.outputs, fmt.Sprintf("notify %d %s %d+%d %s %s", o.Conn, o.Source, o.Seq, o.Skipped, o.Reading.JSON, text(o.Subscriptions)))
		case *overlay.Send:
			r.outputs = append(r.outputs, fmt.Sprintf("%d %s", o.Conn, text(o.Message)))
		}
	}
	for _, a := range answers {
		r.Step(a)
	}
}

func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Publish hands a reading to all, which names subscriptions; the second of them
// is one to changes.
func (r *Rig) Publish(n int, ids ...string) {
	reading := &overlay.Reading{Robot: "r0", Interface: "laser", Time: float64(n), JSON: fmt.Appendf(nil, `{"n":%d}`, n)}
	m := &overlay.Matched{Reading: reading}
	state := n%3 != 0
	for _, h := range r.order {
		hit := overlay.Hit{Handle: h, Set: r.sets[h]}
		for i, id := range ids {
			name := protocol.Matched{ID: id}
			if i == 1 {
				name.State, name.Values = &state, []byte(`{"v":1}`)
			}
			hit.Names = append(hit.Names, name)
		}
		m.Hits = append(m.Hits, hit)
	}
	r.Step(m)
}

// Subscription returns one.
func Subscription(id, keep string) *overlay.Subscription {
	return &overlay.Subscription{
		Subscription: protocol.Subscription{ID: id, Condition: "laser.min < 1", Keep: keep, Select: map[string]string{"v": "1"}},
		Allowed:      []string{"r*"}, Needs: [][]string{{"laser", "ranger"}},
	}
}

// Clone copies records, which a broker's next step overwrites. Readings are copied,
// too: whoever is given them counts who holds them.
func Clone(records []overlay.Record) []overlay.Record {
	own := func(r *overlay.Reading) *overlay.Reading {
		return &overlay.Reading{Robot: r.Robot, Interface: r.Interface, Index: r.Index, Time: r.Time, JSON: r.JSON, Messages: r.Messages}
	}
	all := make([]overlay.Record, len(records))
	for i, r := range records {
		switch r := r.(type) {
		case *overlay.GivenRecord:
			all[i] = &overlay.GivenRecord{Reading: own(r.Reading), At: r.At, Hits: append([]overlay.GivenHit{}, r.Hits...)}
		case *overlay.StateRecord:
			copied := *r
			copied.Reading = own(r.Reading)
			all[i] = &copied
		default:
			all[i] = r
		}
	}
	return all
}

// Finds returns what a broker that begins with these records has, and sends to its
// clients when they come back.
func Finds(t TB, now overlay.Instant, records []overlay.Record, lost bool) []string {
	return finds(Begin(t, now, records, lost, func([]overlay.Record) {}))
}

func finds(r *Rig) []string {
	r.now += 10 * overlay.Instant(overlay.Second)
	for i, c := range r.Broker.Clients() {
		h := &overlay.Hello{Conn: overlay.Conn(1000 + i), Client: c.Client, Session: c.Session, Num: map[string]uint64{}}
		for _, s := range c.Sources {
			h.Num[s.Source] = s.Num
		}
		for _, s := range c.Subscriptions {
			h.Subscriptions = append(h.Subscriptions, s.Subscription)
		}
		r.outputs = append(r.outputs, fmt.Sprintf("%+v", c.Sources))
		r.Step(h)
		for range 20 { // acknowledge all that comes
			info, _ := r.Broker.Client(h.Conn)
			for _, s := range info.Sources {
				r.Step(&overlay.Ack{Conn: h.Conn, Source: s.Source, Num: s.Num + uint64(s.Sent)})
			}
		}
	}
	return r.outputs
}
