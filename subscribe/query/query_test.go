package query_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
	"callboard/subscribe/view"
)

func device(i player.Interface) *player.Device { return &player.Device{Addr: player.Addr{Interf: i}} }

var base = device(player.InterfacePosition2D)

// robot is a robot of a query, and what it told.
type robot struct {
	*query.Robot
	told []string
}

func ask(t *testing.T, c query.Config) *robot {
	t.Helper()
	q, err := query.New(c)
	if err != nil {
		t.Fatal(err)
	}
	r := &robot{}
	r.Robot = q.NewRobot("r0", query.Sink{
		Notify: func(n *protocol.Notify) {
			text := fmt.Sprintf("%g", n.Time)
			for _, s := range n.Subscriptions {
				text += " " + s.ID
				if s.State != nil {
					text += fmt.Sprint(" ", *s.State)
				}
				text += string(s.Values)
			}
			if n.Reading != nil {
				text += " reading"
			}
			r.told = append(r.told, text)
		},
		Span: func(condition int, from, to float64) {
			r.told = append(r.told, fmt.Sprintf("%d held %g to %g", condition, from, to))
		},
	})
	return r
}

// at lets the robot be at x.
func (r *robot) at(time, x float64) {
	r.Arrive(player.Reading{Device: base, Subtype: iface.DataPosition2DState, Time: time, Payload: &iface.Position2DData{Pos: iface.Pose2D{Px: x}}})
}

func (r *robot) expect(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.told); diff != "" {
		t.Error(diff)
	}
	r.told = nil
}

func far(id string) protocol.Subscription {
	return protocol.Subscription{ID: id, Condition: "position.x > 1"}
}

func TestNotificationsAndSpans(t *testing.T) {
	risen := far("risen")
	risen.Trigger = protocol.TriggerRising
	chosen := far("chosen")
	chosen.Select = map[string]string{"x": "position.x"}
	r := ask(t, query.Config{Subscriptions: []protocol.Subscription{far("a"), risen, chosen}, Spans: true})
	r.at(0, 5) // before its session
	r.Up("", []*player.Device{base}, false)
	r.at(1, 0)
	r.at(2, 2)
	r.at(3, 3)
	r.at(4, 0)
	r.at(5, 4)
	r.at(6, 4)
	r.End()
	r.expect(t,
		`2 a chosen{"x":2} risen reading`, `3 a chosen{"x":3} reading`,
		"0 held 2 to 4", "2 held 2 to 4", "1 held 2 to 4",
		`5 a chosen{"x":4} risen reading`, `6 a chosen{"x":4} reading`,
		"0 held 5 to 6", "1 held 5 to 6", "2 held 5 to 6")
	got := r.Tally().Conditions[0]
	want := query.Count{Notifications: 4, First: 2, Last: 6, Held: 3, Longest: 2, LongestFrom: 2, Spans: 2}
	if got != want {
		t.Errorf("%+v, expected %+v", got, want)
	}
}

// A robot that goes away ends what held; a run that ends does not.
func TestEnds(t *testing.T) {
	changed := far("c")
	changed.Trigger = protocol.TriggerChange
	for _, down := range []bool{true, false} {
		r := ask(t, query.Config{Subscriptions: []protocol.Subscription{changed}, Spans: true, Bare: true})
		r.Up("", []*player.Device{base}, false)
		r.at(1, 2)
		r.at(3, 2)
		want := []string{"1 c true", "0 held 1 to 3"}
		if down {
			r.Down()
			want = []string{"1 c true", "3 c false", "0 held 1 to 3"}
		}
		r.End()
		r.expect(t, want...)
	}
}

// Time that runs back begins all policies anew, and ends a span where it did.
func TestTimeRunsBack(t *testing.T) {
	risen := far("r")
	risen.Trigger = protocol.TriggerRising
	r := ask(t, query.Config{Subscriptions: []protocol.Subscription{risen}, Spans: true, Bare: true})
	r.Up("", []*player.Device{base}, false)
	r.at(10, 2)
	r.at(20, 2)
	r.at(5, 2)
	r.at(6, 0)
	r.End()
	r.expect(t, "10 r", "5 r", "0 held 10 to 20", "0 held 5 to 6")
}

// A session goes on in the next file of a recording, and with another
// recorder's devices; another session begins anew.
func TestUpAgain(t *testing.T) {
	risen := far("r")
	risen.Trigger = protocol.TriggerRising
	other := []*player.Device{device(player.InterfaceSonar)}
	for _, c := range []struct {
		name      string
		devices   []*player.Device
		continued bool
		want      []string
	}{
		{"continued", []*player.Device{base}, true, []string{"1 r"}},
		{"other devices", other, false, []string{"1 r"}},
		{"another session", []*player.Device{base}, false, []string{"1 r", "2 r"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(t, query.Config{Subscriptions: []protocol.Subscription{risen}, Bare: true})
			r.Up("", []*player.Device{base}, false)
			r.at(1, 2)
			r.Up("", c.devices, c.continued)
			r.at(2, 2)
			r.End()
			r.expect(t, c.want...)
		})
	}
}

func TestFromTo(t *testing.T) {
	from, to := 2.0, 3.0
	r := ask(t, query.Config{Subscriptions: []protocol.Subscription{far("a")}, Bare: true, From: &from, To: &to})
	r.Up("", []*player.Device{base}, false)
	for i := range 5 {
		r.at(float64(i), 2)
	}
	r.expect(t, "2 a", "3 a")
}

func TestChoose(t *testing.T) {
	policed := far("p")
	policed.For = 1
	selects := far("s")
	selects.Select = map[string]string{"near": "sonar.min"}
	for _, c := range []struct {
		name   string
		config query.Config
		want   string // of position2d, laser, ranger, sonar, gps, camera
	}{
		{"position", query.Config{Subscriptions: []protocol.Subscription{far("a")}}, "whole nothing nothing nothing nothing nothing"},
		{"policed", query.Config{Subscriptions: []protocol.Subscription{policed}}, "whole time time time time nothing"},
		{"spans", query.Config{Subscriptions: []protocol.Subscription{far("a")}, Spans: true}, "whole time time time time nothing"},
		{"laser", query.Config{Subscriptions: []protocol.Subscription{{ID: "a", Condition: "laser.min < 1"}}}, "time whole whole time time nothing"},
		{"selected", query.Config{Subscriptions: []protocol.Subscription{selects}}, "whole nothing whole whole nothing nothing"},
		{"also", query.Config{Subscriptions: []protocol.Subscription{far("a")}, Also: []view.Kind{view.KindGPS}}, "whole nothing nothing nothing whole nothing"},
		{"every reading", query.Config{Subscriptions: []protocol.Subscription{{ID: "a", Condition: "true"}}}, "whole whole whole whole whole nothing"},
	} {
		q, err := query.New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range []player.Interface{player.InterfacePosition2D, player.InterfaceLaser, player.InterfaceRanger, player.InterfaceSonar, player.InterfaceGPS, player.InterfaceCamera} {
			got = append(got, [...]string{query.Whole: "whole", query.Time: "time", query.Nothing: "nothing"}[q.Choose(i)])
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		subs  []protocol.Subscription
		index int // of the problem; -1: it is none of a condition
		want  string
	}{
		{"nothing", nil, -1, "nothing is asked"},
		{"twice", []protocol.Subscription{far("a"), far("a")}, -1, `two conditions are named "a"`},
		{"condition", []protocol.Subscription{far("a"), {ID: "b", Condition: "laser.mn < 1"}}, 1, "did you mean `min`"},
		{"trigger", []protocol.Subscription{{ID: "b", Condition: "true", Trigger: "falling"}}, 0, "falling"},
	} {
		_, err := query.New(query.Config{Subscriptions: c.subs})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var p *query.Problem
		if found := errors.As(err, &p); found != (c.index >= 0) || found && p.Index != c.index {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
}

// A condition that fails while it runs is told once, and counted.
func TestFailure(t *testing.T) {
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "a", Condition: "laser.ranges[5] > 0"}}})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	laser := device(player.InterfaceLaser)
	r := q.NewRobot("r0", query.Sink{Failed: func(f subscribe.Failure) { told++ }})
	r.Up("", []*player.Device{laser}, false)
	for i := range 3 {
		r.Arrive(player.Reading{Device: laser, Subtype: iface.DataLaserScan, Time: float64(i), Payload: &iface.LaserData{MaxRange: 8, Ranges: []float32{1}}})
	}
	r.End()
	if told != 1 || r.Tally().Failures != 3 || r.Tally().Readings != 3 {
		t.Errorf("told %d times; %+v", told, r.Tally())
	}
}
