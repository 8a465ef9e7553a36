package subscribe

import (
	"fmt"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/google/go-cmp/cmp"
)

func newMatcher(t testing.TB) *Matcher {
	t.Helper()
	m, err := New(Config{Zones: map[string][][2]float64{"dock": {{0, 0}, {2, 0}, {2, 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compile(t testing.TB, m *Matcher, s protocol.Subscription) *Subscription {
	t.Helper()
	sub, problem := m.Compile(s)
	if problem != nil {
		t.Fatalf("%+v: %v", s, problem)
	}
	return sub
}

var (
	laser0    = &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser, Index: 0}}
	laser1    = &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser, Index: 1}}
	position0 = &player.Device{Addr: player.Addr{Interf: player.InterfacePosition2D, Index: 0}}
)

// robot is a session whose notifications are written down.
type robot struct {
	*Session
	got    []string
	failed []Failure
}

func newRobot(m *Matcher, name string) *robot {
	r := &robot{}
	r.Session = m.NewSession(SessionConfig{Robot: name, World: "cave",
		Emit: func(m *Matched) {
			s := fmt.Sprintf("%s:%d@%g", m.Interface, m.Index, m.Time)
			for _, k := range m.Matches {
				s += fmt.Sprintf(" %d[", k.Key)
				for i, x := range k.Subscriptions {
					if i > 0 {
						s += " "
					}
					s += x.ID
					if x.State != nil {
						s += fmt.Sprintf("=%v", *x.State)
					}
					s += string(x.Values)
				}
				s += "]"
			}
			r.got = append(r.got, s)
		},
		Failed: func(f Failure) { r.failed = append(r.failed, f) },
	})
	r.Up([]*player.Device{laser0, laser1, position0})
	return r
}

// at sends a position reading with x, and a scan of one range.
func (r *robot) at(time, x float64) {
	r.Arrive(player.Reading{Device: position0, Time: time, Payload: &iface.Position2DData{Pos: iface.Pose2D{Px: x}}})
}

func (r *robot) sees(d *player.Device, time, near float64) {
	r.Arrive(player.Reading{Device: d, Time: time, Payload: &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: []float32{float32(near)}}})
	r.Flush()
}

func (r *robot) take() []string {
	got := r.got
	r.got = nil
	return got
}

func expect(t *testing.T, r *robot, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.take()); diff != "" {
		t.Error(diff)
	}
}

func TestPolicies(t *testing.T) {
	tests := map[string]struct {
		spec  protocol.Subscription
		times string // "time x" pairs; x > 1 matches. "down" and "up" are events
		want  string // what is notified: times, with the state for change
	}{
		"every":                        {protocol.Subscription{}, "0 0, 1 2, 2 2, 3 0, 4 2", "1 2 4"},
		"rising":                       {protocol.Subscription{Trigger: "rising"}, "0 0, 1 2, 2 2, 3 0, 4 2", "1 4"},
		"rising, true at first":        {protocol.Subscription{Trigger: "rising"}, "0 2, 1 2, 2 0, 3 2", "0 3"},
		"change":                       {protocol.Subscription{Trigger: "change"}, "0 0, 1 2, 2 2, 3 0, 4 2", "0=false 1=true 3=false 4=true"},
		"every, interval":              {protocol.Subscription{MinInterval: 1}, "0 2, 0.5 2, 1 2, 1.2 2, 2.5 0, 3 2", "0 1 3"},
		"interval of steps":            {protocol.Subscription{MinInterval: 0.3}, "10.1 2, 10.2 2, 10.3 2, 10.4 2, 10.5 2, 10.6 2, 10.7 2", "10.1 10.4 10.7"},
		"rising, interval":             {protocol.Subscription{Trigger: "rising", MinInterval: 2}, "0 2, 0.5 0, 1 2, 1.5 2, 2 2, 3 2", "0 2"},
		"rising, withheld and gone":    {protocol.Subscription{Trigger: "rising", MinInterval: 2}, "0 2, 0.5 0, 1 2, 1.5 0, 2 0, 3 2", "0 3"},
		"change, interval":             {protocol.Subscription{Trigger: "change", MinInterval: 2}, "0 0, 1 2, 1.5 2, 2 2, 3 0, 5 0", "0=false 2=true 5=false"},
		"change, withheld and back":    {protocol.Subscription{Trigger: "change", MinInterval: 2}, "0 0, 1 2, 1.5 0, 2 0, 3 0", "0=false"},
		"for":                          {protocol.Subscription{For: 1}, "0 2, 0.5 2, 1 2, 1.5 2, 2 0, 2.5 2, 3 2, 3.5 2", "1 1.5 3.5"},
		"for of steps":                 {protocol.Subscription{For: 0.3}, "10.4 2, 10.5 2, 10.6 2, 10.7 2", "10.7"},
		"for, rising":                  {protocol.Subscription{Trigger: "rising", For: 1}, "0 2, 1 2, 2 2, 2.5 0, 3 2, 3.9 2, 4 2", "1 4"},
		"for, change: false at once":   {protocol.Subscription{Trigger: "change", For: 1}, "0 2, 1 2, 1.5 0, 2 2, 3 2", "0=false 1=true 1.5=false 3=true"},
		"time runs back":               {protocol.Subscription{Trigger: "rising"}, "5 2, 6 2, 1 2, 2 2", "5 1"},
		"time runs back, change":       {protocol.Subscription{Trigger: "change", MinInterval: 9}, "5 2, 6 2, 1 2, 2 0", "5=true 1=true"},
		"a new session":                {protocol.Subscription{Trigger: "rising"}, "5 2, down, up, 6 2, 7 2", "5 6"},
		"away counts as false":         {protocol.Subscription{Trigger: "change"}, "5 2, 6 2, down, up, 7 2", "5=true 6=false 7=true"},
		"away in spite of interval":    {protocol.Subscription{Trigger: "change", MinInterval: 9}, "5 2, 6 2, down", "5=true 6=false"},
		"away, was false":              {protocol.Subscription{Trigger: "change"}, "5 0, down, up, 7 0", "5=false 7=false"},
		"away says nothing for rising": {protocol.Subscription{Trigger: "rising"}, "5 2, down", "5"},
		"up without down":              {protocol.Subscription{Trigger: "change"}, "5 2, up, 6 2", "5=true 5=false 6=true"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMatcher(t)
			tt.spec.ID, tt.spec.Condition = "a", "position.x > 1"
			m.Install(1, []*Subscription{compile(t, m, tt.spec)})
			r := newRobot(m, "r0")
			for _, step := range strings.Split(tt.times, ", ") {
				switch step {
				case "down":
					r.Down()
				case "up":
					r.Up([]*player.Device{position0})
				default:
					var time, x float64
					fmt.Sscan(step, &time, &x)
					r.at(time, x)
				}
			}
			var got []string
			for _, s := range r.got {
				s = strings.TrimPrefix(s, "position2d:0@")
				s = strings.Replace(s, " 1[a", "", 1)
				got = append(got, strings.TrimSuffix(s, "]"))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRobotsAndDevices(t *testing.T) {
	m := newMatcher(t)
	many := []string{"r1"}
	for i := range maxNames {
		many = append(many, fmt.Sprintf("q%d", i))
	}
	specs := []struct {
		s       protocol.Subscription
		allowed []string
	}{
		{protocol.Subscription{ID: "all"}, nil},
		{protocol.Subscription{ID: "name", Robots: []string{"r1", "r1"}}, nil},
		{protocol.Subscription{ID: "other", Robots: []string{"r2"}}, nil},
		{protocol.Subscription{ID: "pattern", Robots: []string{"x", "r?"}}, nil},
		{protocol.Subscription{ID: "wrong pattern", Robots: []string{"r"}}, nil},
		{protocol.Subscription{ID: "allowed"}, []string{"r*"}},
		{protocol.Subscription{ID: "name allowed", Robots: []string{"r1"}}, []string{"r*"}},
		{protocol.Subscription{ID: "not allowed", Robots: []string{"r1"}}, []string{"s*"}},
		{protocol.Subscription{ID: "pattern not allowed", Robots: []string{"r*"}}, []string{"r2", "s*"}},
		{protocol.Subscription{ID: "many", Robots: many}, nil},
		{protocol.Subscription{ID: "laser", Devices: []string{"laser"}}, nil},
		{protocol.Subscription{ID: "laser:1", Devices: []string{"laser:1"}}, nil},
		{protocol.Subscription{ID: "laser:*", Devices: []string{"laser:*"}}, nil},
		{protocol.Subscription{ID: "l*", Devices: []string{"sonar", "l*"}}, nil},
		{protocol.Subscription{ID: "sonar", Devices: []string{"sonar"}}, nil},
	}
	var set []*Subscription
	for _, s := range specs {
		s.s.Condition = "laser.min < 1"
		sub := compile(t, m, s.s)
		sub.Allowed = s.allowed
		set = append(set, sub)
	}
	m.Install(7, set)
	r := newRobot(m, "r1")
	r.sees(laser0, 1, 0.5)
	r.sees(laser1, 2, 0.5)
	r.sees(laser1, 3, 1.5)
	expect(t, r,
		"laser:0@1 7[all allowed l* laser laser:* many name name allowed pattern]",
		"laser:1@2 7[all allowed l* laser laser:* laser:1 many name name allowed pattern]")

	for _, sub := range set {
		id := sub.Spec.ID
		want := id != "other" && id != "wrong pattern" && !strings.Contains(id, "not allowed") && id != "sonar"
		if r.Counts(sub) != want {
			t.Errorf("%s counts: %v", id, !want)
		}
	}
}

// Scopes that come and go while readings flow.
func TestScopes(t *testing.T) {
	m := newMatcher(t)
	r := newRobot(m, "r1")
	for i, pattern := range []string{"r*", "*1", "x*", "r?"} {
		m.Install(Key(i), []*Subscription{compile(t, m, protocol.Subscription{ID: "a", Condition: "true", Robots: []string{pattern}})})
		r.at(float64(i), 1)
	}
	m.Remove(1)
	r.at(9, 1)
	expect(t, r,
		"position2d:0@0 0[a]",
		"position2d:0@1 0[a] 1[a]",
		"position2d:0@2 0[a] 1[a]",
		"position2d:0@3 0[a] 1[a] 3[a]",
		"position2d:0@9 0[a] 3[a]")
}

func TestCounts(t *testing.T) {
	m := newMatcher(t)
	both := compile(t, m, protocol.Subscription{ID: "a", Condition: "laser.min < 1 && position.x > 0"})
	every := compile(t, m, protocol.Subscription{ID: "b", Condition: "time > 0"})
	r := newRobot(m, "r1")
	if r.Counts(both) || !r.Counts(every) {
		t.Error("before readings")
	}
	r.at(1, 1)
	if r.Counts(both) {
		t.Error("without a scan")
	}
	r.sees(laser0, 1, 1)
	if !r.Counts(both) {
		t.Error("with both")
	}
	r.Down()
	if r.Counts(both) || r.Counts(every) {
		t.Error("away")
	}
}

// A condition is tested by the interfaces that it names, by every reading if
// it names none, and each device by itself.
func TestWhatTestsACondition(t *testing.T) {
	m := newMatcher(t)
	var set []*Subscription
	for id, text := range map[string]string{
		"laser": "laser.min < 1", "both": "laser.min < 1 && position.x > 0", "none": `robot == "r1"`, "prev": "prev.position.x < position.x",
		"function": "distance(0, 0) < 9", "interface": `interface == "laser" && index == 1`,
	} {
		set = append(set, compile(t, m, protocol.Subscription{ID: id, Condition: text}))
	}
	m.Install(1, set)
	r := newRobot(m, "r1")
	r.sees(laser0, 1, 0.5) // no position yet
	r.at(2, 1)
	r.sees(laser1, 3, 0.5)
	r.sees(laser0, 4, 2)
	r.at(5, 2)
	expect(t, r,
		"laser:0@1 1[laser none]",
		"position2d:0@2 1[both function none]",
		"laser:1@3 1[both interface laser none]",
		"laser:0@4 1[none]",
		"position2d:0@5 1[function none prev]")
}

func TestSelect(t *testing.T) {
	m := newMatcher(t)
	m.Install(1, []*Subscription{compile(t, m, protocol.Subscription{ID: "a", Condition: "laser.min < 1",
		Select: map[string]string{"near": "laser.min", "at": "position.x", `b"`: "laser.ranges", "who": "robot", "bad": "laser.ranges[9]"}})})
	r := newRobot(m, "r1")
	var last *Matched
	r.config.Emit = func(m *Matched) { last = m }
	r.sees(laser0, 1, 0.5)
	if last.Reading != nil {
		t.Error("a reading although all select")
	}
	want := `{"at":null,"b\"":[0.5],"bad":null,"near":0.5,"who":"r1"}`
	if got := string(last.Matches[0].Subscriptions[0].Values); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	r.sees(laser0, 2, 0.5)
	if diff := cmp.Diff([]Failure{{1, "a", "select bad: index out of range: 9 (array length is 1)"}}, r.failed); diff != "" {
		t.Error(diff)
	}
	m.Install(2, []*Subscription{compile(t, m, protocol.Subscription{ID: "b", Condition: "laser.min < 1", Keep: "latest"})})
	r.sees(laser0, 3, 0.25)
	if len(last.Matches) != 2 || !last.Matches[1].Subscriptions[0].Latest || !strings.HasPrefix(string(last.Reading), `{"ranges":[0.25],`) {
		t.Errorf("%+v %s", last.Matches, last.Reading)
	}
}

func TestFailureIsFalseAndToldOnce(t *testing.T) {
	m := newMatcher(t)
	set := []*Subscription{
		compile(t, m, protocol.Subscription{ID: "a", Condition: "!(laser.ranges[3] < 1)"}),
		compile(t, m, protocol.Subscription{ID: "b", Condition: "!(laser.ranges[3] < 1)", Trigger: "change"}),
	}
	m.Install(1, set)
	r, q := newRobot(m, "r1"), newRobot(m, "r2")
	r.sees(laser0, 1, 0.5)
	r.sees(laser0, 2, 0.5)
	q.sees(laser0, 2, 0.5)
	message := "index out of range: 3 (array length is 1)"
	if diff := cmp.Diff([]Failure{{1, "a", message}, {1, "b", message}}, r.failed); diff != "" || len(q.failed) != 0 {
		t.Error(diff, q.failed)
	}
	expect(t, r, "laser:0@1 1[b=false]")
	if s := r.Stats(); s.Failures != 2 || s.Readings != 2 || s.Matched != 1 {
		t.Errorf("%+v", s)
	}
	// One that comes later is told, too.
	m.Install(2, []*Subscription{compile(t, m, protocol.Subscription{ID: "c", Condition: "!(laser.ranges[3] < 1)"})})
	r.sees(laser0, 3, 0.5)
	if len(r.failed) != 3 || r.failed[2].ID != "c" {
		t.Errorf("%+v", r.failed)
	}
}

func TestInstall(t *testing.T) {
	m := newMatcher(t)
	r := newRobot(m, "r1")
	change := func(id, text string) *Subscription {
		return compile(t, m, protocol.Subscription{ID: id, Condition: text, Trigger: "change"})
	}
	a, b := change("a", "position.x > 1"), change("b", "position.x > 1")
	v1 := m.Install(1, []*Subscription{a, b})
	r.at(1, 2)
	expect(t, r, "position2d:0@1 1[a=true b=true]")

	// The same subscription goes on; another one begins anew, alike or not.
	b = change("b", "position.x > 1")
	if v := m.Install(1, []*Subscription{a, b}); v != v1+1 {
		t.Errorf("version %d after %d", v, v1)
	}
	r.at(2, 2)
	expect(t, r, "position2d:0@2 1[b=true]")

	// Nothing changed: no new version.
	if v := m.Install(1, []*Subscription{b, a}); v != m.Version() || v != v1+1 {
		t.Errorf("version %d", v)
	}
	// Allowed robots belong to it.
	c := change("a", "position.x > 1")
	c.Allowed = []string{"r*"}
	m.Install(1, []*Subscription{c})
	r.at(3, 2)
	expect(t, r, "position2d:0@3 1[a=true]")

	// Another key with the same text; then the first goes.
	m.Install(2, []*Subscription{a})
	r.at(4, 2)
	expect(t, r, "position2d:0@4 2[a=true]")
	m.Remove(1)
	r.at(5, 0)
	expect(t, r, "position2d:0@5 2[a=false]")
	m.Remove(2)
	m.Remove(2)
	r.at(6, 2)
	expect(t, r)
	s := m.snapshot.Load()
	if s.robots.size+s.scopes.size+s.texts.size != 0 || len(m.keys)+len(m.scopes) != 0 {
		t.Errorf("something is left: %+v, %v, %v", s, m.keys, m.scopes)
	}
	// An id twice: the last counts.
	m.Install(3, []*Subscription{a, change("a", "position.x > 5")})
	r.at(7, 9)
	expect(t, r, "position2d:0@7 3[a=true]")
	r.Down()
	expect(t, r, "position2d:0@7 3[a=false]")
}

func TestStatesOfWhatHasEndedGo(t *testing.T) {
	m := newMatcher(t)
	r := newRobot(m, "r1")
	for i := range 1000 {
		m.Install(1, []*Subscription{compile(t, m, protocol.Subscription{ID: fmt.Sprint(i), Condition: "position.x > 1", Trigger: "rising"})})
		r.at(float64(i), 2)
	}
	if len(r.take()) != 1000 || len(r.states) > 10 || len(r.results.cells) > 16 || len(r.watching[view.KindPosition]) > 10 {
		t.Errorf("%d states, %d results, %d watched", len(r.states), len(r.results.cells), len(r.watching[view.KindPosition]))
	}
}

func TestProblems(t *testing.T) {
	m := newMatcher(t)
	for _, tt := range []struct {
		s    protocol.Subscription
		want protocol.Problem
	}{
		{protocol.Subscription{ID: "a", Condition: "lasr.min < 1"}, protocol.Problem{Code: protocol.BadCondition, Message: "unknown name `lasr`: did you mean `laser`?", Position: &protocol.Position{Line: 1, Column: 1}}},
		{protocol.Subscription{ID: "a", Condition: "true", Select: map[string]string{"x": "laser.mn"}}, protocol.Problem{Code: protocol.BadCondition, Message: "select x: `laser` has no `mn`: did you mean `min`?", Position: &protocol.Position{Line: 1, Column: 7}}},
		{protocol.Subscription{ID: "a", Condition: "true", Trigger: "risng"}, protocol.Problem{Code: protocol.BadMessage, Message: "`trigger`: \"risng\" is unknown: did you mean \"rising\"?"}},
		{protocol.Subscription{ID: "a", Condition: strings.Repeat("(", 99)}, protocol.Problem{Code: protocol.TooCostly, Message: "brackets more than 32 deep", Position: &protocol.Position{Line: 1, Column: 33}}},
	} {
		_, problem := m.Compile(tt.s)
		if diff := cmp.Diff(&tt.want, problem); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := New(Config{Zones: map[string][][2]float64{"a": nil}}); err == nil {
		t.Error("a zone without points")
	}
}

// The same stream makes the same trace, whatever the order of maps.
func TestDeterministic(t *testing.T) {
	run := func() []string {
		m := newMatcher(t)
		var r *robot
		r = newRobot(m, "r3")
		for k := range Key(20) {
			var set []*Subscription
			for i := range 20 {
				s := protocol.Subscription{ID: fmt.Sprint(i), Condition: fmt.Sprintf("position.x > %d || laser.min < %d", int(k)%5, i%3), Trigger: []string{"every", "change", "rising"}[i%3]}
				if i%4 == 0 {
					s.Robots = []string{"r3", "r9"}
				} else if i%4 == 1 {
					s.Robots = []string{fmt.Sprintf("r[%d3]", i%7)}
				}
				set = append(set, compile(t, m, s))
			}
			m.Install(k, set)
			r.at(float64(k), float64(k%7))
			r.sees(laser0, float64(k), float64(k%4))
			if k%6 == 5 {
				r.Down()
				r.Up([]*player.Device{laser0, position0})
			}
		}
		return r.take()
	}
	a, b := run(), run()
	if diff := cmp.Diff(a, b); diff != "" || len(a) < 20 {
		t.Error(len(a), diff)
	}
}

func TestNoAllocationWhenNothingMatches(t *testing.T) {
	m := newMatcher(t)
	var set []*Subscription
	for i := range 50 {
		set = append(set,
			compile(t, m, protocol.Subscription{ID: fmt.Sprint("a", i), Condition: fmt.Sprintf("laser.min < -%d", i)}),
			compile(t, m, protocol.Subscription{ID: fmt.Sprint("b", i), Condition: fmt.Sprintf("any(laser.ranges, # < -%d)", i), Robots: []string{"r1"}}),
			compile(t, m, protocol.Subscription{ID: fmt.Sprint("c", i), Condition: `robot == "r2"`, Robots: []string{"r*"}, Trigger: "rising", For: 1, Devices: []string{"l*"}}))
	}
	m.Install(1, set)
	r := newRobot(m, "r1")
	data := &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: make([]float32, 181)}
	time := 0.0
	n := testing.AllocsPerRun(100, func() {
		time++
		r.Arrive(player.Reading{Device: laser0, Time: time, Payload: data})
		r.Flush()
	})
	if n != 0 || len(r.got) != 0 {
		t.Errorf("%v allocations, %d matched", n, len(r.got))
	}
}

// Whatever the condition reads and the policy holds, a reading that notifies nobody costs no memory; and of one
// that is told, what it costs does not grow with the subscriptions it is told to, but for the list of them.
func TestNoAllocationBeyondTheMatches(t *testing.T) {
	conditions := []string{
		"position.x > prev.position.x", "laser.min < prev.laser.min + 9", "sector(laser, 150, -150) < 9 && laser.left <= 8",
		"laser.bearing > -3 and not (laser.front < 0)", "distance(1, 1) < 99 || inside(\"dock\")", "angle_diff(position.yaw, deg(30)) < 4",
		"any(laser.ranges, # < 5)", "all(laser.ranges, # < 9)", "none(laser.ranges, # > 9)", "count(laser.ranges, # < 9) > 3",
		"any(laser.ranges, # < position.x)", "laser.ranges[0] < laser.ranges[1] + 9", "laser.max - laser.min < 99",
		"position.x + position.y * 2 < 1e9", `robot startsWith "r" && robot in ["r1", "r2"]`, `interface == "laser" || position.stall`,
		"laser.time >= position.time - 9", "laser.count == 181",
		"position.speed < 3 ? laser.min < 9 : laser.min < 1",
	}
	data := [2]*iface.LaserData{}
	for i := range data {
		data[i] = &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: make([]float32, 181)}
		for j := range data[i].Ranges {
			data[i].Ranges[j] = float32(1 + (i+j)%4)
		}
	}
	at := &iface.Position2DData{}
	// costs returns the allocations of two scans and a pose, when each condition holds throughout.
	costs := func(options protocol.Subscription, copies int) (n float64, told int) {
		m := newMatcher(t)
		for k := range copies {
			var set []*Subscription
			for i, c := range conditions {
				options.ID, options.Condition = fmt.Sprint(i), c
				set = append(set, compile(t, m, options))
			}
			m.Install(Key(k), set)
		}
		s := m.NewSession(SessionConfig{Robot: "r1", Emit: func(*Matched) { told++ }, Failed: func(f Failure) { t.Fatal(f) }})
		s.Up([]*player.Device{laser0, position0})
		time := 0.0
		round := func() {
			time++
			at.Pos.Px++
			for _, d := range data {
				time++
				s.Arrive(player.Reading{Device: laser0, Time: time, Payload: d})
			}
			s.Arrive(player.Reading{Device: position0, Time: time, Payload: at})
			s.Flush()
		}
		for range 5 {
			round()
		}
		told = 0
		return testing.AllocsPerRun(100, round), told
	}
	for _, options := range []protocol.Subscription{{Trigger: "rising"}, {Trigger: "change"}, {Trigger: "rising", For: 1e6}, {MinInterval: 1e6}} {
		if n, told := costs(options, 3); n != 0 || told != 0 {
			t.Errorf("%+v: %v allocations, %d told", options, n, told)
		}
	}
	one, told := costs(protocol.Subscription{}, 1)
	many, _ := costs(protocol.Subscription{}, 50)
	if told == 0 || one > 15 || many > one+15 {
		t.Errorf("%d told: %v allocations for a subscription of each condition, %v for fifty", told, one, many)
	}
}

// A condition found by one value is asked about others before it runs: whatever the order of its parts, each of them
// counts, and their ends belong to them.
func TestGuards(t *testing.T) {
	parts := []string{"position.x >= 2", "position.y <= 3", "position.yaw >= 1", "position.vx <= 4"}
	m := newMatcher(t)
	var set []*Subscription
	for i := range parts {
		for j := range parts {
			if i != j {
				text := parts[i] + " && " + parts[j]
				for k := range parts {
					if k != i && k != j {
						text += " && " + parts[k]
					}
				}
				set = append(set, compile(t, m, protocol.Subscription{ID: fmt.Sprint(i, j), Condition: text}))
			}
		}
	}
	m.Install(1, set)
	told := 0
	s := m.NewSession(SessionConfig{Robot: "r1", Emit: func(m *Matched) { told += len(m.Matches[0].Subscriptions) }})
	s.Up([]*player.Device{position0})
	for i, tt := range []struct {
		x, y, yaw, vx float64
		met           bool
	}{
		{2, 3, 1, 4, true}, {9, -9, 9, -9, true},
		{1.9, 3, 1, 4, false}, {2, 3.1, 1, 4, false}, {2, 3, 0.9, 4, false}, {2, 3, 1, 4.1, false},
	} {
		told = 0
		s.Arrive(player.Reading{Device: position0, Time: float64(i), Payload: &iface.Position2DData{
			Pos: iface.Pose2D{Px: tt.x, Py: tt.y, Pa: tt.yaw}, Vel: iface.Pose2D{Px: tt.vx}}})
		if want := map[bool]int{true: len(set)}[tt.met]; told != want {
			t.Errorf("%+v: %d conditions told, expected %d", tt, told, want)
		}
	}
}

// What ends with a robot's going away is told device by device, in their order.
func TestAwayInTheOrderOfDevices(t *testing.T) {
	m := newMatcher(t)
	m.Install(1, []*Subscription{
		compile(t, m, protocol.Subscription{ID: "a", Condition: "position.x > 1", Trigger: "change"}),
		compile(t, m, protocol.Subscription{ID: "b", Condition: "laser.min > 1", Trigger: "change"}),
		compile(t, m, protocol.Subscription{ID: "c", Condition: "laser.min > 1", Trigger: "change", Devices: []string{"laser:0"}}),
	})
	r := newRobot(m, "r1")
	r.sees(laser1, 1, 2)
	r.sees(laser0, 2, 2)
	r.at(3, 2)
	r.take()
	r.Down()
	expect(t, r, "position2d:0@3 1[a=false]", "laser:0@2 1[b=false c=false]")
}

// A change that is prepared meets no reading until it is published; one that
// was prepared after it contains it.
func TestPrepared(t *testing.T) {
	m := newMatcher(t)
	matched := 0
	s := m.NewSession(SessionConfig{Robot: "r1", Emit: func(got *Matched) {
		for _, k := range got.Matches {
			matched += len(k.Subscriptions)
		}
	}})
	s.Up([]*player.Device{position0})
	all := func(key Key, ids ...string) Set {
		set := Set{Key: key}
		for _, id := range ids {
			set.Subscriptions = append(set.Subscriptions, compile(t, m, protocol.Subscription{ID: id, Condition: "position.x < 1"}))
		}
		return set
	}
	first, second := m.Prepare([]Set{all(1, "a", "b"), all(2, "a")}), m.Prepare([]Set{all(1, "b")})
	for i, c := range []struct {
		publish *Change
		want    int
	}{{nil, 0}, {first, 3}, {second, 2}} {
		if c.publish != nil {
			if version := c.publish.Publish(); version != m.Version() || version != uint64(i) {
				t.Errorf("version %d, the matcher says %d; expected %d", version, m.Version(), i)
			}
		}
		matched = 0
		s.Arrive(player.Reading{Device: position0, Time: float64(i), Payload: &iface.Position2DData{}})
		if matched != c.want {
			t.Errorf("after %d changes were published a reading matched %d subscriptions; expected %d", i, matched, c.want)
		}
	}
}
