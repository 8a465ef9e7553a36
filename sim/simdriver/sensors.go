package simdriver

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// fiducialEndpoint serves a fiducial finder.
type fiducialEndpoint struct {
	*binding
	data iface.FiducialData
}

// publish sends where the marks are that are seen, without heights.
func (e *fiducialEndpoint) publish(now float64) {
	e.data.Fiducials = e.data.Fiducials[:0]
	for _, f := range e.model.Fiducial().Found() {
		sin, cos := math.Sincos(f.Bearing)
		e.data.Fiducials = append(e.data.Fiducials, iface.FiducialItem{
			ID: int32(f.ID), Pose: iface.Pose3D{Px: f.Range * cos, Py: f.Range * sin, Pyaw: f.Yaw},
		})
	}
	e.pub.Publish(e.addr, iface.DataFiducialScan, now, &e.data)
}

// handle answers as Stage does: the number that is told and set is that on the
// finder itself.
func (e *fiducialEndpoint) handle(c *server.Call) {
	spec := e.model.Spec()
	switch c.Header.Subtype {
	case iface.ReqFiducialGetGeom:
		c.Ack(&iface.FiducialGeom{Pose: pose3D(e.model.Pose()), Size: iface.BBox3D{Sw: spec.Size.Y, Sl: spec.Size.X}})
	case iface.ReqFiducialGetFov:
		f := spec.Fiducial
		c.Ack(&iface.FiducialFov{MinRange: float32(f.MinRange), MaxRange: float32(f.MaxRange), ViewAngle: float32(f.FOV)})
	case iface.ReqFiducialGetID:
		c.Ack(&iface.FiducialID{ID: uint32(int32(e.model.FiducialReturn()))})
	case iface.ReqFiducialSetID:
		req, ok := c.Payload.(*iface.FiducialID)
		if !ok {
			c.Nack(nil)
			return
		}
		e.model.SetFiducialReturn(int(int32(req.ID)))
		c.Ack(&iface.FiducialID{ID: req.ID})
	}
}

// blobfinderEndpoint serves a blob finder.
type blobfinderEndpoint struct {
	*binding
	data iface.BlobfinderData
}

// publish sends the patches of colour. As in Stage an image without any has no
// size, and the area is that of the patch's box, which reaches one pixel less
// far than its sides.
func (e *blobfinderEndpoint) publish(now float64) {
	spec := e.model.Spec().Blobfinder
	blobs := e.model.Blobfinder().Blobs()
	e.data.Width, e.data.Height, e.data.Blobs = 0, 0, e.data.Blobs[:0]
	if len(blobs) > 0 {
		e.data.Width, e.data.Height = uint32(spec.Width), uint32(spec.Height)
	}
	for _, b := range blobs {
		dx, dy := b.Right-b.Left, b.Bottom-b.Top
		e.data.Blobs = append(e.data.Blobs, iface.BlobfinderBlob{
			ID:    uint32(channel(e.model, b)),
			Color: uint32(b.Color.R)<<16 | uint32(b.Color.G)<<8 | uint32(b.Color.B),
			Area:  uint32(dx * dy), X: uint32(b.Left + dx/2), Y: uint32(b.Bottom - dy/2),
			Left: uint32(b.Left), Right: uint32(b.Right), Top: uint32(b.Top), Bottom: uint32(b.Bottom),
			Range: float32(b.Range),
		})
	}
	e.pub.Publish(e.addr, iface.DataBlobfinderBlobs, now, &e.data)
}

// channel returns the place of a blob's colour in the finder's list, 0 without a
// list.
func channel(m *sim.Model, b sim.Blob) int {
	for i, c := range m.Spec().Blobfinder.Colors {
		if c.R == b.Color.R && c.G == b.Color.G && c.B == b.Color.B {
			return i
		}
	}
	return 0
}

func (e *blobfinderEndpoint) handle(*server.Call) {}

// bumperEndpoint serves a bumper array.
type bumperEndpoint struct {
	*binding
	data iface.BumperData
}

func (e *bumperEndpoint) publish(now float64) {
	pressed := e.model.Bumper().Pressed()
	if len(pressed) == 0 {
		return // nor does Stage
	}
	e.data.Bumpers = e.data.Bumpers[:0]
	for _, p := range pressed {
		state := uint8(0)
		if p {
			state = 1
		}
		e.data.Bumpers = append(e.data.Bumpers, state)
	}
	e.pub.Publish(e.addr, iface.DataBumperState, now, &e.data)
}

func (e *bumperEndpoint) handle(c *server.Call) {
	g := &iface.BumperGeom{}
	for _, b := range e.model.Spec().Bumper.Bumpers {
		g.BumperDef = append(g.BumperDef, iface.BumperDefine{Pose: pose3D(b.Pose), Length: float32(b.Length)})
	}
	c.Ack(g)
}

// gripperEndpoint serves a gripper.
type gripperEndpoint struct {
	*binding
	data iface.GripperData
}

// The bits of GripperData.Beams.
const (
	innerBeam = 1 << 2
	outerBeam = 1 << 3
)

func (e *gripperEndpoint) publish(now float64) {
	g := e.model.Gripper()
	e.data = iface.GripperData{}
	switch g.Paddles() {
	case sim.PaddlesOpen:
		e.data.State = iface.GripperStateOpen
	case sim.PaddlesClosed:
		e.data.State = iface.GripperStateClosed
	default:
		e.data.State = iface.GripperStateMoving
	}
	beams := g.Beams()
	if beams[0] {
		e.data.Beams |= innerBeam
	}
	if beams[1] {
		e.data.Beams |= outerBeam
	}
	e.pub.Publish(e.addr, iface.DataGripperState, now, &e.data)
}

func (e *gripperEndpoint) handle(c *server.Call) {
	if c.Header.Type == player.Command {
		if c.Header.Subtype == iface.CmdGripperOpen {
			e.model.Gripper().Open()
		} else {
			e.model.Gripper().Close()
		}
		return
	}
	c.Ack(&iface.GripperGeom{Pose: pose3D(e.model.Pose()), OuterSize: box(e.model.Spec().Size), NumBeams: 2})
}

// actarrayEndpoint serves an actuator, which as in Stage 4 never moves, as an
// array of one joint.
type actarrayEndpoint struct {
	*binding
	data iface.ActarrayData
}

func (e *actarrayEndpoint) publish(now float64) {
	e.data.Actuators = append(e.data.Actuators[:0], iface.ActarrayActuator{
		Position: float32(e.model.Spec().Actuator.Start), State: iface.ActarrayActstateIdle,
	})
	e.pub.Publish(e.addr, iface.DataActarrayState, now, &e.data)
}

func (e *actarrayEndpoint) handle(c *server.Call) {
	spec := e.model.Spec()
	a := spec.Actuator
	joint := iface.ActarrayActuatorGeom{
		Type: iface.ActarrayTypeLinear, Min: float32(a.Min), Max: float32(a.Max), Home: float32(a.Start), ConfigSpeed: float32(a.Speed),
		Axis: iface.Point3D{Px: a.Axis[0], Py: a.Axis[1], Pz: a.Axis[2]},
	}
	if a.Turns {
		joint.Type, joint.Axis = iface.ActarrayTypeRotary, iface.Point3D{Pz: 1}
	}
	c.Ack(&iface.ActarrayGeom{
		Actuators: []iface.ActarrayActuatorGeom{joint},
		BasePos:   iface.Point3D{Px: spec.Origin.X, Py: spec.Origin.Y, Pz: spec.Origin.Z}, BaseOrientation: iface.Orientation3D{Pyaw: spec.Origin.A},
	})
}

// powerEndpoint serves the power pack that a model draws from.
type powerEndpoint struct {
	*binding
	data iface.PowerData
}

// publish sends the charge, what is drawn, and whether it is being charged. An
// endless pack is always full; what it has in J is not told.
func (e *powerEndpoint) publish(now float64) {
	p := e.model.Pack()
	if p == nil {
		return // a gripper has put the model elsewhere
	}
	e.data = iface.PowerData{
		Valid: iface.PowerMaskWatts | iface.PowerMaskPercent | iface.PowerMaskCharging,
		Watts: float32(p.Watts()), Percent: 100,
	}
	if p.Stored() >= 0 {
		e.data.Valid |= iface.PowerMaskJoules
		e.data.Joules = float32(p.Stored())
		e.data.Percent = 0
		if p.Capacity() > 0 {
			e.data.Percent = float32(100 * p.Stored() / p.Capacity())
		}
	}
	switch {
	case p.Receiving():
		e.data.Charging = 1
	case p.Giving():
		e.data.Charging = -1
	}
	e.pub.Publish(e.addr, iface.DataPowerState, now, &e.data)
}

func (e *powerEndpoint) handle(*server.Call) {}
