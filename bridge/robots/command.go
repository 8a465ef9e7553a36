package robots

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/subscribe/protocol"
)

// command says how a named command becomes one Player message. Lengths are m
// and m/s, angles rad and rad/s.
type command struct {
	name    string
	aliases []string
	args    string // for error messages
	interf  player.Interface
	least   int // arguments
	most    int
	request bool // answered by Player; else it is sent and that is all
	moves   bool // the base: it replaces a velocity that has an end
	build   func(robot string, args []float64) (subtype uint8, body, answer any)
	result  func(answer any) any
}

// table lists the commands in the order of messages.
var table = []command{
	{
		name: "velocity", args: "VX [VY [VYAW [FOR]]] in m/s, rad/s and s", interf: player.InterfacePosition2D, least: 1, most: 4, moves: true,
		build: func(_ string, a []float64) (uint8, any, any) {
			v := iface.Pose2D{Px: a[0], Py: at(a, 1), Pa: at(a, 2)}
			return iface.CmdPosition2DVel, &iface.Position2DCmdVel{Vel: v, State: 1}, nil
		},
	},
	{
		name: "stop", args: "no arguments", interf: player.InterfacePosition2D, moves: true,
		build: func(string, []float64) (uint8, any, any) {
			return iface.CmdPosition2DVel, &iface.Position2DCmdVel{State: 1}, nil
		},
	},
	{
		name: "goto", args: "X Y YAW in m and rad, of odometry", interf: player.InterfacePosition2D, least: 3, most: 3, moves: true,
		build: func(_ string, a []float64) (uint8, any, any) {
			return iface.CmdPosition2DPos, &iface.Position2DCmdPos{Pos: iface.Pose2D{Px: a[0], Py: a[1], Pa: a[2]}, State: 1}, nil
		},
	},
	{
		name: "goal", args: "X Y YAW in m and rad, for a path planner", interf: player.InterfacePlanner, least: 3, most: 3,
		build: func(_ string, a []float64) (uint8, any, any) {
			return iface.CmdPlannerGoal, &iface.PlannerCmd{Goal: iface.Pose2D{Px: a[0], Py: a[1], Pa: a[2]}}, nil
		},
	},
	{
		name: "localize", args: "X Y YAW [VXX VYY VAA] in m, rad and their squares, for a localizer", interf: player.InterfaceLocalize, least: 3, most: 6, request: true,
		build: func(_ string, a []float64) (uint8, any, any) {
			set := &iface.LocalizeSetPose{Mean: iface.Pose2D{Px: a[0], Py: a[1], Pa: a[2]}, Cov: [6]float64{0.25, 0.25, 0.07}}
			for i := range set.Cov {
				if i+3 < len(a) {
					set.Cov[i] = a[i+3]
				}
			}
			return iface.ReqLocalizeSetPose, set, nil
		},
	},
	{
		name: "motor_power", aliases: []string{"power", "motors"}, args: "on or off", interf: player.InterfacePosition2D, least: 1, most: 1, request: true,
		build: func(_ string, a []float64) (uint8, any, any) {
			return iface.ReqPosition2DMotorPower, &iface.Position2DPowerConfig{State: uint8(a[0])}, nil
		},
	},
	{
		name: "set_odometry", aliases: []string{"odometry"}, args: "X Y YAW in m and rad", interf: player.InterfacePosition2D, least: 3, most: 3, request: true,
		build: func(_ string, a []float64) (uint8, any, any) {
			return iface.ReqPosition2DSetOdom, &iface.Position2DSetOdomReq{Pose: iface.Pose2D{Px: a[0], Py: a[1], Pa: a[2]}}, nil
		},
	},
	{
		name: "reset_odometry", args: "no arguments", interf: player.InterfacePosition2D, request: true,
		build: func(string, []float64) (uint8, any, any) { return iface.ReqPosition2DResetOdom, nil, nil },
	},
	{
		name: "set_pose", aliases: []string{"pose"}, args: "X Y YAW in m and rad, in a simulation", interf: player.InterfaceSimulation, least: 3, most: 3, request: true,
		build: func(robot string, a []float64) (uint8, any, any) {
			return iface.ReqSimulationSetPose2D, &iface.SimulationPose2DReq{Name: iface.CString(robot), Pose: iface.Pose2D{Px: a[0], Py: a[1], Pa: a[2]}}, nil
		},
	},
	{
		name: "get_pose", args: "no arguments; in a simulation", interf: player.InterfaceSimulation, request: true,
		build: func(robot string, _ []float64) (uint8, any, any) {
			return iface.ReqSimulationGetPose2D, &iface.SimulationPose2DReq{Name: iface.CString(robot)}, &iface.SimulationPose2DReq{}
		},
		result: func(answer any) any {
			p := answer.(*iface.SimulationPose2DReq).Pose
			return map[string]float64{"x": p.Px, "y": p.Py, "yaw": p.Pa}
		},
	},
}

// halting stops a robot.
var halting = &table[slices.IndexFunc(table, func(c command) bool { return c.name == "stop" })]

// lasts returns how long a velocity lasts (s); 0: until another one comes.
func (c *command) lasts(args []float64) float64 {
	if c.name != "velocity" {
		return 0
	}
	return at(args, 3)
}

func at(a []float64, i int) float64 {
	if i < len(a) {
		return a[i]
	}
	return 0
}

// CommandNames lists the commands with their arguments, for help and errors.
func CommandNames() []string {
	out := make([]string, len(table))
	for i, c := range table {
		out[i] = c.name + " (" + c.args + ")"
	}
	return out
}

// lookup finds the command and checks what was given with it.
func lookup(c protocol.Command) (*command, []float64, error) {
	for i := range table {
		known := &table[i]
		if known.name != c.Name && !slices.Contains(known.aliases, c.Name) {
			continue
		}
		if c.Interface != "" && c.Interface != known.interf.String() {
			return nil, nil, fail(protocol.BadMessage, "command %s is for %s, not for %s", known.name, known.interf, c.Interface)
		}
		if len(c.Args) < known.least || len(c.Args) > known.most {
			return nil, nil, fail(protocol.BadMessage, "command %s got %d arguments; expected %s", known.name, len(c.Args), known.args)
		}
		args, err := numbers(known, c.Args)
		return known, args, err
	}
	return nil, nil, fail(protocol.BadMessage, "unknown command %q; known are %s", c.Name, strings.Join(CommandNames(), ", "))
}

// numbers reads arguments: finite numbers, or for switches on, off, true, false.
func numbers(c *command, args []any) ([]float64, error) {
	out := make([]float64, len(args))
	for i, a := range args {
		switch v := a.(type) {
		case float64:
			out[i] = v
		case bool:
			if v {
				out[i] = 1
			}
		case string:
			if v != "on" && v != "off" {
				return nil, fail(protocol.BadMessage, "command %s: argument %d is %q; expected %s", c.name, i+1, v, c.args)
			}
			if v == "on" {
				out[i] = 1
			}
		default:
			return nil, fail(protocol.BadMessage, "command %s: argument %d is not a number; expected %s", c.name, i+1, c.args)
		}
		if math.IsNaN(out[i]) || math.IsInf(out[i], 0) {
			return nil, fail(protocol.BadMessage, "command %s: argument %d is not finite; expected %s", c.name, i+1, c.args)
		}
	}
	if c.name == "motor_power" && out[0] != 0 && out[0] != 1 {
		return nil, fail(protocol.BadMessage, "command motor_power: argument 1 is %v; expected on or off", out[0])
	}
	if c.name == "velocity" && len(out) == 4 && !(out[3] > 0 && out[3] <= longestTTL.Seconds()) {
		return nil, fail(protocol.BadMessage, "command velocity: argument 4 is %v; expected more than 0 and at most %v s", out[3], longestTTL.Seconds())
	}
	return out, nil
}

func fail(code protocol.Code, format string, args ...any) error {
	return &protocol.Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// perform sends one command over a session and waits for its answer.
func perform(ctx context.Context, s *session, robot string, index int, c *command, args []float64) (any, error) {
	subtype, body, answer := c.build(robot, args)
	addr := player.Addr{Interf: c.interf, Index: uint16(index)}
	if !c.request {
		return nil, translate(s.client.Send(ctx, addr, subtype, body), s, robot, c)
	}
	if err := s.client.Request(ctx, addr, subtype, body, answer); err != nil {
		return nil, translate(err, s, robot, c)
	}
	if c.result != nil {
		return c.result(answer), nil
	}
	return nil, nil
}

// translate words a session's error for the client that asked.
func translate(err error, s *session, robot string, c *command) error {
	var nack *client.NackError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &nack) && c.interf == player.InterfaceSimulation:
		return fail(protocol.Unavailable, "%s: the simulation of the Player server %s refused %s; expected that it has a model named %s", robot, s.server.Address, c.name, robot)
	case errors.As(err, &nack):
		return fail(protocol.Unavailable, "%s: the Player server refused %s", robot, c.name)
	case errors.Is(err, client.ErrAway):
		return fail(protocol.Unavailable, "%s: the Player server %s is not connected", robot, s.server.Address)
	}
	return fail(protocol.Unavailable, "%s: %s: %v", robot, c.name, err)
}
