package rosgraph

import (
	"slices"
	"strings"
	"testing"

	"callboard/bridge/push/ros"
	"callboard/player"
	"callboard/subscribe/protocol"
)

// published returns what a robot with the devices is told by a message in JSON on a
// topic, or why it is not.
func published(t *testing.T, devices, topic, text string) string {
	t.Helper()
	s := build(known{robots: listed(t, `[{"robot":"r0","state":"up","devices":[`+devices+`]},{"robot":"r1","state":"up","devices":[]}]`), numbers: map[string]int{"r1": 1}})
	broker := &commanded{}
	m := &Member{Conn: &driver{broker: broker}, graph: New(Config{Broker: broker})}
	to := s.Find(topic, everything)
	if to == nil {
		return "no topic"
	}
	message, err := ros.Lookup(to.Type).FromJSON([]byte(text), ros.Stamp{})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Publish(t.Context(), to, message, ignored); err != nil {
		return err.Error()
	}
	return strings.Join(broker.took(), "; ")
}

// TestGoals: a goal goes to the robot's planner, or else to its base, if it is in a
// frame that these know.
func TestGoals(t *testing.T) {
	const base, planner, localizer = `{"interface":"position2d"}`, `{"interface":"planner"}`, `{"interface":"localize"}`
	goal := func(frame string) string {
		return `{"header":{"frame_id":"` + frame + `"},"pose":{"position":{"x":1,"y":2},"orientation":{"z":1}}}`
	}
	for _, tt := range []struct{ devices, topic, text, want string }{
		{base, "/r0/move_base_simple/goal", goal("map"), "r0 goto [1 2 3.141592653589793]"},
		{base, "/r0/goal_pose", goal("/r0/odom"), "r0 goto [1 2 3.141592653589793]"},
		{base, "/robot_0/goal_pose", goal(""), "r0 goto [1 2 3.141592653589793]"},
		{base, "/r0/goal_pose", goal("r0/base_link"), `a pose in frame "r0/base_link"; expected map or r0/odom`},
		{base + "," + planner, "/r0/goal_pose", goal("map"), "r0 goal [1 2 3.141592653589793]"},
		{planner, "/r0/goal_pose", goal("map"), "r0 goal [1 2 3.141592653589793]"},
		{base + "," + localizer, "/r0/goal_pose", goal("map"), `a pose in frame "map"; expected r0/odom`},
		{base + "," + localizer, "/r0/goal_pose", goal("r0/odom"), "r0 goto [1 2 3.141592653589793]"},
		{base + "," + localizer + "," + planner, "/r0/goal_pose", goal("r0/odom"), "expected map"},
		{base + "," + localizer + "," + planner, "/r0/goal_pose", goal("map"), "r0 goal [1 2 3.141592653589793]"},
		{base, "/r0/goal_pose", `{"pose":{"position":{"x":1}}}`, "expected a quaternion of length 1"},
		{localizer, "/r0/goal_pose", goal("map"), "no topic"},
		{base, "/r0/initialpose", `{}`, "no topic"},
		{localizer, "/r0/initialpose", `{"pose":{"pose":{"position":{"x":3},"orientation":{"w":1}}}}`, "r0 localize [3 0 0]"},
		{localizer, "/r0/initialpose", `{"header":{"frame_id":"r0/odom"},"pose":{"pose":{"orientation":{"w":1}}}}`, "expected map"},
		{localizer, "/r0/initialpose", `{"pose":{"pose":{"orientation":{"w":1}},"covariance":[0.1` + strings.Repeat(",0", 6) + ",0.2" + strings.Repeat(",0", 27) + `,0.3]}}`,
			"r0 localize [0 0 0 0.1 0.2 0.3]"},
	} {
		if got := published(t, tt.devices, tt.topic, tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s with %s on %s: %s, expected %s", tt.text, tt.devices, tt.topic, got, tt.want)
		}
	}
}

// TestClock: /clock is there if all robots are in one simulation. It goes on, once
// for readings of one time, and back when the simulation begins anew.
func TestClock(t *testing.T) {
	const list = `[{"robot":"a","state":"up","world":"w","devices":[{"interface":"position2d"}]},{"robot":"b","state":"up","world":"w","devices":[{"interface":"position2d"}]}]`
	both := map[string]*player.Pose{"a": {}, "b": {}}
	for _, tt := range []struct {
		list   string
		starts map[string]*player.Pose
		want   bool
	}{
		{list, both, true},
		{list, map[string]*player.Pose{"a": {}}, false},
		{strings.Replace(list, `"w"`, `"v"`, 1), both, false},
		{`[]`, both, false},
	} {
		s := build(known{robots: listed(t, tt.list), numbers: map[string]int{"b": 1}, starts: tt.starts})
		if got := s.Find("/clock", everything) != nil; got != tt.want {
			t.Errorf("%s, simulated %v: a clock is %v", tt.list, tt.starts, got)
		}
	}
	m := &Member{graph: New(Config{})}
	var told []float64
	for _, now := range []float64{1, 1, 1.5, 1.25, 2, 0.5, 0.6} {
		m.Begin(&protocol.Notify{Robot: "a", Time: now})
		for range 2 { // two topics of it, differently spelt
			if m.Clock(ros.JSON) != nil {
				told = append(told, now)
			}
		}
	}
	if want := []float64{1, 1, 1.5, 1.5, 2, 2}; !slices.Equal(told, want) {
		t.Errorf("the clock was told %v, expected %v", told, want)
	}
	for _, now := range []float64{100, 0.5, 0.6} {
		m.Begin(&protocol.Notify{Robot: "a", Time: now})
		if m.Clock(ros.JSON) == nil {
			t.Errorf("the clock was not set to %v", now)
		}
	}
}
