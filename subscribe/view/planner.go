package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Planner is what a path planner does.
type Planner struct {
	Valid          bool    `expr:"valid" doc:"there is a plan"`
	Done           bool    `expr:"done" doc:"the goal is reached"`
	GoalDistance   float64 `expr:"goal_distance" unit:"m" doc:"from the robot to the goal, straight"`
	X              float64 `expr:"x" unit:"m" doc:"where the robot is"`
	Y              float64 `expr:"y" unit:"m" doc:"where the robot is"`
	Yaw            float64 `expr:"yaw" unit:"rad" doc:"where the robot is"`
	GoalX          float64 `expr:"goal_x" unit:"m" doc:"where it shall go"`
	GoalY          float64 `expr:"goal_y" unit:"m" doc:"where it shall go"`
	GoalYaw        float64 `expr:"goal_yaw" unit:"rad" doc:"where it shall go"`
	WaypointX      float64 `expr:"waypoint_x" unit:"m" doc:"where it goes now"`
	WaypointY      float64 `expr:"waypoint_y" unit:"m" doc:"where it goes now"`
	WaypointYaw    float64 `expr:"waypoint_yaw" unit:"rad" doc:"where it goes now"`
	WaypointIdx    int     `expr:"waypoint_idx" doc:"which waypoint that is, from 0; -1 without a plan"`
	WaypointsCount int     `expr:"waypoints_count" doc:"how many waypoints the plan has"`
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
