package simdriver

import (
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

func pose2D(p sim.Pose) iface.Pose2D { return iface.Pose2D{Px: p.X, Py: p.Y, Pa: p.A} }

// positionEndpoint serves a robot's base as position2d.
type positionEndpoint struct {
	*binding
	state iface.Position2DData
}

// publish sends the reported pose, the velocity as commanded after its bounds,
// and the stall of the move just made.
func (e *positionEndpoint) publish(now float64) {
	p := e.model.Position()
	e.state = iface.Position2DData{Pos: pose2D(p.Reported()), Vel: pose2D(p.Velocity())}
	if p.Stalled() {
		e.state.Stall = 1
	}
	e.pub.Publish(e.addr, iface.DataPosition2DState, now, &e.state)
}

func (e *positionEndpoint) handle(c *server.Call) {
	if c.Header.Type == player.Command {
		e.command(c)
		return
	}
	p := e.model.Position()
	switch c.Header.Subtype {
	case iface.ReqPosition2DGetGeom:
		spec := e.model.Spec()
		c.Ack(&iface.Position2DGeom{
			Pose: iface.Pose3D{Px: spec.Origin.X, Py: spec.Origin.Y, Pyaw: spec.Origin.A},
			Size: box(spec.Size),
		})
	case iface.ReqPosition2DSetOdom:
		req, ok := c.Payload.(*iface.Position2DSetOdomReq)
		if !ok {
			c.Nack(nil)
			return
		}
		p.SetReported(sim.Pose{X: req.Pose.Px, Y: req.Pose.Py, A: req.Pose.Pa})
		c.Ack(nil)
	case iface.ReqPosition2DResetOdom:
		p.SetReported(sim.Pose{})
		c.Ack(nil)
	default:
		c.Ack(nil) // motor power and position mode: without effect, as in Stage
	}
}

// command passes a command on. It holds until the next one.
func (e *positionEndpoint) command(c *server.Call) {
	p := e.model.Position()
	switch cmd := c.Payload.(type) {
	case *iface.Position2DCmdVel:
		p.SetVelocity(cmd.Vel.Px, cmd.Vel.Py, cmd.Vel.Pa)
	case *iface.Position2DCmdPos:
		p.Goto(cmd.Pos.Px, cmd.Pos.Py, cmd.Pos.Pa)
	case *iface.Position2DCmdCar:
		p.SetVelocity(cmd.Velocity, 0, cmd.Angle)
	default:
		return
	}
	e.simulation.commanded(e.model)
}

// localizeEndpoint serves where a model really is as a localizer that is sure,
// as Stage did up to version 3.
type localizeEndpoint struct {
	*binding
	data iface.LocalizeData
}

func (e *localizeEndpoint) publish(now float64) {
	e.data.PendingTime = now
	e.data.Hypoths = append(e.data.Hypoths[:0], iface.LocalizeHypoth{Mean: pose2D(e.model.Global()), Alpha: 1})
	e.pub.Publish(e.addr, iface.DataLocalizeHypoths, now, &e.data)
}

func (e *localizeEndpoint) handle(c *server.Call) {
	at := pose2D(e.model.Global())
	c.Ack(&iface.LocalizeGetParticles{Mean: at, Particles: []iface.LocalizeParticle{{Pose: at, Alpha: 1}}})
}
