package iface

import "callboard/player"

// Subtypes of the planner interface (code 44).
const (
	DataPlannerState       uint8 = 1
	CmdPlannerGoal         uint8 = 1
	CmdPlannerStart        uint8 = 2
	ReqPlannerGetWaypoints uint8 = 1
	ReqPlannerEnable       uint8 = 2
)

// PlannerData is what the planner does.
type PlannerData struct {
	Valid          uint8  // 1: there is a plan
	Done           uint8  // 1: the goal is reached
	Pos            Pose2D // m, m, rad
	Goal           Pose2D // m, m, rad
	Waypoint       Pose2D // m, m, rad, where it goes now
	WaypointIdx    int32  // -1: no plan
	WaypointsCount uint32 // of the whole plan
}

// PlannerCmd sends the planner a goal (GOAL) or lets it go (START).
type PlannerCmd struct {
	Goal Pose2D // m, m, rad
}

// PlannerWaypointsReq is the planned path.
type PlannerWaypointsReq struct {
	WaypointsDistance float64  // m, along the path
	Waypoints         []Pose2D // m, m, rad
}

// PlannerEnableReq switches the planner.
type PlannerEnableReq struct {
	State uint8 // 1: on
}

var plannerMessages = []entry{
	{player.Data, DataPlannerState, "STATE", body[PlannerData]},
	{player.Command, CmdPlannerGoal, "GOAL", body[PlannerCmd]},
	{player.Command, CmdPlannerStart, "START", body[PlannerCmd]},
	{player.Request, ReqPlannerGetWaypoints, "GET_WAYPOINTS", body[PlannerWaypointsReq]},
	{player.Request, ReqPlannerEnable, "ENABLE", body[PlannerEnableReq]},
}
