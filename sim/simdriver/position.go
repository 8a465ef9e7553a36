package simdriver

import (
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

func pose2D(p sim.Pose) iface.Pose2D { return iface.Pose2D{Px: p.X, Py: p.Y, Pa: p.A} }

// publishPosition sends the reported pose, the velocity as commanded after its
// bounds, and the stall of the move just made.
func (b *binding) publishPosition(now float64) {
	p := b.model.Position()
	b.state = iface.Position2DData{Pos: pose2D(p.Reported()), Vel: pose2D(p.Velocity())}
	if p.Stalled() {
		b.state.Stall = 1
	}
	b.pub.Publish(b.addr, iface.DataPosition2DState, now, &b.state)
}

func (b *binding) handlePosition(c *server.Call) {
	if c.Header.Type == player.Command {
		b.command(c)
		return
	}
	p := b.model.Position()
	switch c.Header.Subtype {
	case iface.ReqPosition2DGetGeom:
		spec := b.model.Spec()
		c.Ack(&iface.Position2DGeom{
			Pose: iface.Pose3D{Px: spec.Origin.X, Py: spec.Origin.Y, Pyaw: spec.Origin.A},
			Size: iface.BBox3D{Sw: spec.Size.Y, Sl: spec.Size.X, Sh: spec.Size.Z},
		})
	case iface.ReqPosition2DMotorPower, iface.ReqPosition2DPositionMode:
		c.Ack(nil) // without effect, as in Stage
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
		c.Nack(nil)
	}
}

// command passes a command on. It holds until the next one.
func (b *binding) command(c *server.Call) {
	p := b.model.Position()
	switch cmd := c.Payload.(type) {
	case *iface.Position2DCmdVel:
		p.SetVelocity(cmd.Vel.Px, cmd.Vel.Py, cmd.Vel.Pa)
	case *iface.Position2DCmdPos:
		p.Goto(cmd.Pos.Px, cmd.Pos.Py, cmd.Pos.Pa)
	case *iface.Position2DCmdCar:
		p.SetVelocity(cmd.Velocity, 0, cmd.Angle)
	default:
		b.simulation.log.Debug("command not known to the simulator", "robot", b.model.Name(), "subtype", c.Header.Subtype)
		return
	}
	b.simulation.commanded(b.model)
}
