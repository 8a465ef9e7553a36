// Package query tests conditions over recorded runs: what a live broker tests
// as readings come, with the same views, matcher and policies, robot by robot
// and without its queues. It is pure: who reads files, and on how many
// processors, is not its business.
//
//	q, err := query.New(query.Config{Subscriptions: …})
//	r := q.NewRobot("r0", query.Sink{Notify: …})
//	r.Up("cave", devices)
//	r.Arrive(reading)
//	…
//	r.End()
//	q.Summary(robots)
package query

import (
	"fmt"
	"math"

	"callboard/player"
	"callboard/subscribe"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Config says what is asked.
type Config struct {
	// Subscriptions are the conditions with their options, each with an id of
	// its own; at least one. Keep has no effect: nothing waits.
	Subscriptions   []protocol.Subscription
	Zones           map[string][][2]float64 // polygons for inside(), in m; default none
	ConditionLength int                     // characters that a condition may have; default 4096
	// From and To bound the readings' times, in s; nil: no bound. What is
	// outside is as if it had not been recorded.
	From, To *float64
	// Bare leaves readings out of notifications: nobody wants them.
	Bare bool
	// Also are kinds of readings that Sink.Observe is to be told, beside those
	// that the conditions and what they select name.
	Also []view.Kind
	// Spans says that Sink.Span is to be told how long conditions held.
	Spans bool
}

// Keys of the matcher: what is asked, and what tells when it holds.
const (
	asked subscribe.Key = 1
	spans subscribe.Key = 2
)

// Choice is what a query needs of the messages of an interface.
type Choice uint8

// Choices.
const (
	Whole   Choice = iota // all
	Time                  // their times: see Robot.Pass
	Nothing               // nothing: they change no answer
)

// Query is what is asked. It is immutable and safe for concurrent use; its
// Robots are not.
type Query struct {
	config  Config
	matcher *subscribe.Matcher
	subs    []*subscribe.Subscription
	ids     map[string]int
	choices map[player.Interface]Choice
}

// New compiles what is asked. A wrong condition is a *Problem.
func New(c Config) (*Query, error) {
	m, err := subscribe.New(subscribe.Config{Zones: c.Zones, ConditionLength: c.ConditionLength})
	if err != nil {
		return nil, err
	}
	q := &Query{config: c, matcher: m, ids: map[string]int{}}
	if len(c.Subscriptions) == 0 {
		return nil, fmt.Errorf("query: nothing is asked, expected Config.Subscriptions")
	}
	var watch []*subscribe.Subscription
	for i, spec := range c.Subscriptions {
		if _, twice := q.ids[spec.ID]; twice {
			return nil, fmt.Errorf("query: two conditions are named %q", spec.ID)
		}
		sub, problem := m.Compile(spec)
		if problem != nil {
			return nil, &Problem{i, problem}
		}
		q.ids[spec.ID] = i
		q.subs = append(q.subs, sub)
		held := protocol.Subscription{ID: spec.ID, Condition: spec.Condition, Robots: spec.Robots, Devices: spec.Devices,
			For: spec.For, Trigger: protocol.TriggerChange, Select: map[string]string{"held": "true"}}
		if sub, problem = m.Compile(held); problem != nil {
			return nil, &Problem{i, problem}
		}
		watch = append(watch, sub)
	}
	m.Install(asked, q.subs)
	if c.Spans {
		m.Install(spans, watch)
	}
	q.choose()
	return q, nil
}

// Problem is why a condition was refused.
type Problem struct {
	Index int // in Config.Subscriptions
	*protocol.Problem
}

// choose says what is needed of each interface that conditions know.
func (q *Query) choose() {
	rest := Nothing
	for _, sub := range q.subs {
		// A scan may be held until another message shows that it is complete.
		scans := sub.Kinds() == 0 || sub.Kinds().Has(view.KindLaser.Set())
		if scans || sub.Policed() || q.config.Spans {
			rest = Time
		}
	}
	q.choices = map[player.Interface]Choice{}
	for _, name := range subscribe.Interfaces() {
		if code, ok := player.ParseInterface(name); ok {
			q.choices[code] = rest
		}
	}
	for _, sub := range q.subs {
		for _, name := range sub.Reads() {
			if code, ok := player.ParseInterface(name); ok {
				q.choices[code] = Whole
			}
		}
	}
	for _, k := range q.config.Also {
		for _, code := range k.Interfaces() {
			q.choices[code] = Whole
		}
	}
}

// Expression compiles an expression with the zones that the conditions have.
func (q *Query) Expression(text string) (*condition.Program, error) {
	p, problem := q.matcher.Expression(text)
	if problem != nil {
		return nil, problem
	}
	return p, nil
}

// Choose says what is needed of the messages of an interface. What conditions
// do not know is not opened live, and nothing here.
func (q *Query) Choose(i player.Interface) Choice {
	if c, ok := q.choices[i]; ok {
		return c
	}
	return Nothing
}

// WantsRobot reports whether anything is asked of a robot.
func (q *Query) WantsRobot(name string) bool {
	for _, sub := range q.subs {
		if sub.WantsRobot(name) {
			return true
		}
	}
	return false
}

// Kinds returns the kinds of views that the conditions name, in order; none if
// one of them names none, so that every reading tests it.
func (q *Query) Kinds() (kinds []view.Kind) {
	var all view.Kinds
	for _, sub := range q.subs {
		if sub.Kinds() == 0 {
			return nil
		}
		all |= sub.Kinds()
	}
	for k := range view.Kind(view.NumKinds) {
		if all.Has(k.Set()) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// inside reports whether a time is asked for. One that is no number is.
func (q *Query) inside(time float64) bool {
	return !(q.config.From != nil && time < *q.config.From) && !(q.config.To != nil && time > *q.config.To)
}

// span is a stretch of time in which a condition held, or may hold still.
type span struct {
	open bool
	from float64
}

// never is a time before all others.
var never = math.Inf(-1)
