package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Planner is what a path planner does.
type Planner struct {
	Valid          bool    `expr:"valid"`
	Done           bool    `expr:"done"`
	GoalDistance   float64 `expr:"goal_distance"`
	X              float64 `expr:"x"`
	Y              float64 `expr:"y"`
	Yaw            float64 `expr:"yaw"`
	GoalX          float64 `expr:"goal_x"`
	GoalY          float64 `expr:"goal_y"`
	GoalYaw        float64 `expr:"goal_yaw"`
	WaypointX      float64 `expr:"waypoint_x"`
	WaypointY      float64 `expr:"waypoint_y"`
	WaypointYaw    float64 `expr:"waypoint_yaw"`
	WaypointIdx    int     `expr:"waypoint_idx"`
	WaypointsCount int     `expr:"waypoints_count"`
	Stamp
}

func (p *Planner) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.PlannerData)
	if !ok {
		return false
	}
	*p = Planner{
		Valid: d.Valid != 0, Done: d.Done != 0, GoalDistance: math.Hypot(d.Goal.Px-d.Pos.Px, d.Goal.Py-d.Pos.Py),
		X: d.Pos.Px, Y: d.Pos.Py, Yaw: d.Pos.Pa, GoalX: d.Goal.Px, GoalY: d.Goal.Py, GoalYaw: d.Goal.Pa,
		WaypointX: d.Waypoint.Px, WaypointY: d.Waypoint.Py, WaypointYaw: d.Waypoint.Pa,
		WaypointIdx: int(d.WaypointIdx), WaypointsCount: int(d.WaypointsCount),
	}
	return true
}

var plannerFields = with(
	truth("valid", "there is a plan", func(p *Planner) bool { return p.Valid }),
	truth("done", "the goal is reached", func(p *Planner) bool { return p.Done }),
	number("goal_distance", "m", "from the robot to the goal, straight", func(p *Planner) float64 { return p.GoalDistance }),
	number("x", "m", "where the robot is", func(p *Planner) float64 { return p.X }),
	number("y", "m", "where the robot is", func(p *Planner) float64 { return p.Y }),
	number("yaw", "rad", "where the robot is", func(p *Planner) float64 { return p.Yaw }),
	number("goal_x", "m", "where it shall go", func(p *Planner) float64 { return p.GoalX }),
	number("goal_y", "m", "where it shall go", func(p *Planner) float64 { return p.GoalY }),
	number("goal_yaw", "rad", "where it shall go", func(p *Planner) float64 { return p.GoalYaw }),
	number("waypoint_x", "m", "where it goes now", func(p *Planner) float64 { return p.WaypointX }),
	number("waypoint_y", "m", "where it goes now", func(p *Planner) float64 { return p.WaypointY }),
	number("waypoint_yaw", "rad", "where it goes now", func(p *Planner) float64 { return p.WaypointYaw }),
	whole("waypoint_idx", "", "which waypoint that is, from 0; -1 without a plan", func(p *Planner) int { return p.WaypointIdx }),
	whole("waypoints_count", "", "how many waypoints the plan has", func(p *Planner) int { return p.WaypointsCount }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (p *Planner) AppendText(dst []byte) []byte { return appendFields(dst, p, plannerFields) }
