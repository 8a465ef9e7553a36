package simdriver

import (
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"
)

// binding is a model that is served as a device.
type binding struct {
	simulation *Simulation
	model      *sim.Model // nil for the simulation itself
	addr       player.Addr
	pub        server.Publisher
	endpoint   endpoint
	subscribed bool  // the model, for this device; belongs to Run
	note       *note // the last one in the mail, behind which there is no command; belongs to the mailbox
}

// endpoint makes messages of what a model does. Its methods are called by the
// goroutine that owns the world, between two steps.
type endpoint interface {
	// publish sends what the model's update has brought; it is called while
	// anyone has the device open.
	publish(now float64)
	// handle carries out one of the commands or requests of the service. A
	// request's payload may be missing.
	handle(c *server.Call)
}

// service is how an interface is served.
type service struct {
	make     func(*binding) endpoint
	serves   func(*worldfile.Model) bool // the models that it can show; nil: any, or none
	commands []uint8                     // subtypes that are obeyed
	requests []uint8                     // that are answered
}

// services are the interfaces that are served. Those of Stage 4's plug-in, and
// of older ones laser, sonar, map, localize and power.
var services = map[player.Interface]service{
	player.InterfaceSimulation: {
		make:     func(b *binding) endpoint { return &simulationEndpoint{b} },
		commands: []uint8{iface.CmdSimulationPause, iface.CmdSimulationReset},
		requests: []uint8{iface.ReqSimulationGetPose2D, iface.ReqSimulationSetPose2D, iface.ReqSimulationGetPose3D,
			iface.ReqSimulationSetPose3D, iface.ReqSimulationGetProperty, iface.ReqSimulationSetProperty},
	},
	player.InterfacePosition2D: {
		make:     func(b *binding) endpoint { return &positionEndpoint{binding: b} },
		serves:   func(m *worldfile.Model) bool { return m.Position != nil },
		commands: []uint8{iface.CmdPosition2DVel, iface.CmdPosition2DPos, iface.CmdPosition2DCar},
		requests: []uint8{iface.ReqPosition2DGetGeom, iface.ReqPosition2DMotorPower, iface.ReqPosition2DPositionMode,
			iface.ReqPosition2DSetOdom, iface.ReqPosition2DResetOdom},
	},
	player.InterfaceRanger: {
		make:     func(b *binding) endpoint { return &rangerEndpoint{binding: b} },
		serves:   isRanger,
		requests: []uint8{iface.ReqRangerGetGeom, iface.ReqRangerGetConfig},
	},
	player.InterfaceLaser: {
		make:     func(b *binding) endpoint { return &laserEndpoint{binding: b} },
		serves:   isRanger,
		requests: []uint8{iface.ReqLaserGetGeom, iface.ReqLaserGetConfig, iface.ReqLaserPower},
	},
	player.InterfaceSonar: {
		make:     func(b *binding) endpoint { return &sonarEndpoint{binding: b} },
		serves:   isRanger,
		requests: []uint8{iface.ReqSonarGetGeom, iface.ReqSonarPower},
	},
	player.InterfaceFiducial: {
		make:     func(b *binding) endpoint { return &fiducialEndpoint{binding: b} },
		serves:   func(m *worldfile.Model) bool { return m.Fiducial != nil },
		requests: []uint8{iface.ReqFiducialGetGeom, iface.ReqFiducialGetFov, iface.ReqFiducialGetID, iface.ReqFiducialSetID},
	},
	player.InterfaceBlobfinder: {
		make:   func(b *binding) endpoint { return &blobfinderEndpoint{binding: b} },
		serves: func(m *worldfile.Model) bool { return m.Blobfinder != nil },
	},
	player.InterfaceBumper: {
		make:     func(b *binding) endpoint { return &bumperEndpoint{binding: b} },
		serves:   func(m *worldfile.Model) bool { return m.Bumper != nil },
		requests: []uint8{iface.ReqBumperGetGeom},
	},
	player.InterfaceGripper: {
		make:     func(b *binding) endpoint { return &gripperEndpoint{binding: b} },
		serves:   func(m *worldfile.Model) bool { return m.Gripper != nil },
		commands: []uint8{iface.CmdGripperOpen, iface.CmdGripperClose},
		requests: []uint8{iface.ReqGripperGetGeom},
	},
	player.InterfaceActarray: {
		make:     func(b *binding) endpoint { return &actarrayEndpoint{binding: b} },
		serves:   func(m *worldfile.Model) bool { return m.Actuator != nil },
		commands: []uint8{iface.CmdActarrayPos, iface.CmdActarraySpeed},
		requests: []uint8{iface.ReqActarrayGetGeom},
	},
	player.InterfacePower: {
		make:   func(b *binding) endpoint { return &powerEndpoint{binding: b} },
		serves: hasPack,
	},
	player.InterfaceMap: {
		make:     func(b *binding) endpoint { return &mapEndpoint{binding: b} },
		requests: []uint8{iface.ReqMapGetInfo, iface.ReqMapGetData, iface.ReqMapGetVector},
	},
	player.InterfaceLocalize: {
		make:     func(b *binding) endpoint { return &localizeEndpoint{binding: b} },
		requests: []uint8{iface.ReqLocalizeGetParticles},
	},
	player.InterfaceSpeech: {
		make:     func(b *binding) endpoint { return &muteEndpoint{b} },
		commands: []uint8{iface.CmdSpeechSay},
	},
	player.InterfaceGraphics2D: {
		make: func(b *binding) endpoint { return &muteEndpoint{b} },
		commands: []uint8{iface.CmdGraphics2DClear, iface.CmdGraphics2DPoints, iface.CmdGraphics2DPolyline,
			iface.CmdGraphics2DPolygon, iface.CmdGraphics2DMultiline},
	},
	player.InterfaceGraphics3D: {
		make: func(b *binding) endpoint { return &muteEndpoint{b} },
		commands: []uint8{iface.CmdGraphics3DClear, iface.CmdGraphics3DDraw, iface.CmdGraphics3DTranslate,
			iface.CmdGraphics3DRotate, iface.CmdGraphics3DPush, iface.CmdGraphics3DPop},
	},
}

func isRanger(m *worldfile.Model) bool { return m.Ranger != nil }

// hasPack reports whether the model or one below it has a power pack.
func hasPack(m *worldfile.Model) bool {
	for p := m; p != nil; p = p.Parent {
		if p.Pack != nil {
			return true
		}
	}
	return false
}

// muteEndpoint takes what is for the eye only: drawing, and words.
type muteEndpoint struct{ *binding }

func (e *muteEndpoint) publish(float64) {}

func (e *muteEndpoint) handle(c *server.Call) {
	if say, ok := c.Payload.(*iface.SpeechCmd); ok {
		e.simulation.log.Info("model says", "model", e.model.Name(), "words", iface.GoString(say.String))
	}
}

// pose3D is a pose as geometry replies have it, with its height.
func pose3D(p sim.Pose) iface.Pose3D { return iface.Pose3D{Px: p.X, Py: p.Y, Pz: p.Z, Pyaw: p.A} }

// box is a size as geometry replies have it.
func box(s worldfile.Size) iface.BBox3D { return iface.BBox3D{Sw: s.Y, Sl: s.X, Sh: s.Z} }
