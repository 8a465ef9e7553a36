package iface_test

import (
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// sent says which message an event of the client made it send, and what of it
// was printed.
type sent struct {
	interf  player.Interface
	typ     player.Type
	subtype uint8
	show    func(payload any) fields
}

var sends = map[string]sent{
	"p2d_enable": {player.InterfacePosition2D, player.Request, iface.ReqPosition2DMotorPower, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.Position2DPowerConfig).State))}
	}},
	"p2d_vel": {player.InterfacePosition2D, player.Command, iface.CmdPosition2DVel, func(p any) fields {
		return fields{"args": pose2(p.(*iface.Position2DCmdVel).Vel)}
	}},
	"p2d_pos": {player.InterfacePosition2D, player.Command, iface.CmdPosition2DPos, func(p any) fields {
		return fields{"args": pose2(p.(*iface.Position2DCmdPos).Pos)}
	}},
	"p2d_car": {player.InterfacePosition2D, player.Command, iface.CmdPosition2DCar, func(p any) fields {
		c := p.(*iface.Position2DCmdCar)
		return fields{"args": nums(c.Velocity, c.Angle)}
	}},
	"p2d_setodom": {player.InterfacePosition2D, player.Request, iface.ReqPosition2DSetOdom, func(p any) fields {
		return fields{"args": pose2(p.(*iface.Position2DSetOdomReq).Pose)}
	}},
	"sim_set2d": {player.InterfaceSimulation, player.Request, iface.ReqSimulationSetPose2D, func(p any) fields {
		r := p.(*iface.SimulationPose2DReq)
		return fields{"name": iface.GoString(r.Name), "pose": pose2(r.Pose)}
	}},
	"sim_set3d": {player.InterfaceSimulation, player.Request, iface.ReqSimulationSetPose3D, func(p any) fields {
		r := p.(*iface.SimulationPose3DReq)
		return fields{"name": iface.GoString(r.Name), "pose": pose3(r.Pose)}
	}},
	"sim_setcolor": {player.InterfaceSimulation, player.Request, iface.ReqSimulationSetProperty, func(p any) fields {
		r := p.(*iface.SimulationPropertyReq)
		return fields{"name": iface.GoString(r.Name), "color": color(r.Value)}
	}},
	"ranger_setconfig": {player.InterfaceRanger, player.Request, iface.ReqRangerSetConfig, func(p any) fields {
		c := p.(*iface.RangerConfig)
		return fields{"args": nums(c.MinAngle, c.MaxAngle, c.AngularRes, c.MinRange, c.MaxRange, c.RangeRes, c.Frequency)}
	}},
	"ranger_power": {player.InterfaceRanger, player.Request, iface.ReqRangerPower, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.RangerPowerConfig).State))}
	}},
	"ranger_intns": {player.InterfaceRanger, player.Request, iface.ReqRangerIntns, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.RangerIntnsConfig).State))}
	}},
	"set_replace_rule": {player.InterfacePlayer, player.Request, player.PlayerAddReplaceRule, func(p any) fields {
		r := p.(*iface.AddReplaceRuleReq)
		return fields{"interf": float64(r.Interf), "index": float64(r.Index), "type": float64(r.Type),
			"subtype": float64(r.Subtype), "replace": float64(r.Replace)}
	}},
}

// What the client sent is what it was told to send.
func TestRequestsAsTheClientSentThem(t *testing.T) {
	total := 0
	for _, name := range captureNames(t) {
		c := loadCapture(t, name)
		next := map[string]int{}
		for i, e := range c.Events {
			op := e["op"].(string)
			s, ok := sends[op]
			if !ok {
				s, ok = furtherSends[op]
			}
			if !ok {
				continue
			}
			at := next[op]
			for at < len(c.C2S) && (c.C2S[at].Interf != s.interf || c.C2S[at].Type != s.typ || c.C2S[at].Subtype != s.subtype) {
				at++
			}
			if at == len(c.C2S) {
				t.Errorf("%s event %d: %s was not sent", name, i, op)
				continue
			}
			next[op] = at + 1
			if got := s.show(decode(t, c.C2S[at])); !agrees(got, e) {
				t.Errorf("%s event %d: decoded %v, the client was told %v", name, i, got, e)
			}
			total++
		}
	}
	if total < 40 {
		t.Errorf("%d requests compared, expected at least 40", total)
	}
}

// served shows a body as the server that logged what it decoded did.
func served(payload any) fields {
	switch p := payload.(type) {
	case *iface.Position2DPowerConfig:
		return fields{"state": u8(p.State)}
	case *iface.Position2DCmdVel:
		return fields{"vel": pose2(p.Vel), "state": u8(p.State)}
	case *iface.Position2DCmdPos:
		return fields{"pos": pose2(p.Pos), "vel": pose2(p.Vel), "state": u8(p.State)}
	case *iface.Position2DCmdVelHead:
		return fields{"velocity": p.Velocity, "angle": p.Angle}
	case *iface.Position2DCmdCar:
		return fields{"velocity": p.Velocity, "angle": p.Angle}
	case *iface.Position2DSetOdomReq:
		return fields{"pose": pose2(p.Pose)}
	case *iface.RangerConfig:
		return fields{"config": nums(p.MinAngle, p.MaxAngle, p.AngularRes, p.MinRange, p.MaxRange, p.RangeRes, p.Frequency)}
	case *iface.RangerPowerConfig:
		return fields{"state": u8(p.State)}
	case *iface.RangerIntnsConfig:
		return fields{"state": u8(p.State)}
	case *iface.LaserConfig: // the log prints floats with 9 digits; range_res is 0.00200000009
		return fields{"min_angle": f32(p.MinAngle), "max_angle": f32(p.MaxAngle), "resolution": f32(p.Resolution),
			"intensity": u8(p.Intensity), "scanning_frequency": f32(p.ScanningFrequency)}
	}
	return furtherServed(payload)
}

// What the real server decoded from the client's messages is what we decode.
func TestRequestsAsTheServerDecodedThem(t *testing.T) {
	total := 0
	for _, name := range captureNames(t) {
		c := loadCapture(t, name)
		for i, d := range c.Decoded {
			var found *player.Message
			for k, m := range c.C2S {
				if m.Timestamp-d["timestamp"].(float64) < 1e-6 && d["timestamp"].(float64)-m.Timestamp < 1e-6 {
					found = &c.C2S[k]
				}
			}
			if found == nil {
				t.Errorf("%s: server_decoded %d is of no message", name, i)
				continue
			}
			if len(found.Body) == 0 {
				continue
			}
			got := served(decode(t, *found))
			if found.Subtype != iface.ReqCapabilities && len(got) == 0 {
				t.Errorf("%s: server_decoded %d, %s is not compared", name, i, found.Header)
			}
			for k, v := range got {
				if !agrees(fields{k: v}, d) || d[k] == nil {
					t.Errorf("%s: server_decoded %d, %s: decoded %s %v, the server %v", name, i, found.Header, k, v, d[k])
				}
			}
			total++
		}
	}
	if total < 12 {
		t.Errorf("%d messages compared, expected at least 12", total)
	}
}
