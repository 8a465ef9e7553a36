package iface_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
)

// The tests here compare decoded bodies with what the real client library, or
// the real server, decoded from the same bytes and printed with 17 digits:
// every number must be equal.

// fields is a decoded body by the names that the peer printed.
type fields map[string]any

func list[T any](values []T, number func(T) float64) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = number(v)
	}
	return out
}

func f64(v float64) float64 { return v }
func f32(v float32) float64 { return float64(v) }
func u8(v uint8) float64    { return float64(v) }
func nums(v ...float64) any { return list(v, f64) }

func pose2(p iface.Pose2D) any { return nums(p.Px, p.Py, p.Pa) }
func pose3(p iface.Pose3D) any { return nums(p.Px, p.Py, p.Pz, p.Proll, p.Ppitch, p.Pyaw) }
func box3(b iface.BBox3D) any  { return nums(b.Sw, b.Sl, b.Sh) }
func u32(v uint32) float64     { return float64(v) }
func i32(v int32) float64      { return float64(v) }

// decode decodes a message that must have a body known here.
func decode(t *testing.T, m player.Message) any {
	t.Helper()
	def, ok := iface.Lookup(m.Interf, m.Type, m.Subtype)
	if !ok {
		t.Fatalf("%s is not in the table", m.Header)
	}
	payload := def.New()
	if err := def.Decode(m.Body, payload); err != nil {
		t.Fatalf("%s: %v", m.Header, err)
	}
	return payload
}

// proxy puts a DATA message into what the client library shows of its device.
// A ranger's ranges and intensities come in messages of their own.
func proxy(state fields, payload any) fields {
	next := fields{}
	for k, v := range state {
		next[k] = v
	}
	scan := func(start, res float32, ranges []float32, intensity []uint8, id uint32) {
		next["scan_start"], next["scan_res"] = f32(start), f32(res)
		next["scan_id"], next["scan_count"] = float64(id), float64(len(ranges))
		next["ranges"] = list(ranges, f32)
		delete(next, "intensity")
		if len(intensity) == len(ranges) && len(ranges) > 0 {
			next["intensity"] = list(intensity, u8)
		}
	}
	switch p := payload.(type) {
	case *iface.LaserData:
		scan(p.MinAngle, p.Resolution, p.Ranges, p.Intensity, p.ID)
		next["max_range"] = f32(p.MaxRange)
	case *iface.LaserDataScanpose:
		scan(p.Scan.MinAngle, p.Scan.Resolution, p.Scan.Ranges, p.Scan.Intensity, p.Scan.ID)
		next["robot_pose"] = pose2(p.Pose)
	case *iface.LaserDataScanangle:
		scan(0, 0, p.Ranges, p.Intensity, p.ID)
		next["max_range"] = f32(p.MaxRange)
	case *iface.RangerDataRange:
		next["ranges"] = list(p.Ranges, f64)
	case *iface.RangerDataIntns:
		next["intensities"] = list(p.Intensities, f64)
	case *iface.RangerDataRangestamped:
		next["ranges"] = list(p.Data.Ranges, f64)
	case *iface.RangerDataIntnsstamped:
		next["intensities"] = list(p.Data.Intensities, f64)
	case *iface.SonarData:
		next["scan_count"], next["scan"] = float64(len(p.Ranges)), list(p.Ranges, f32)
	case *iface.Position2DData:
		next["px"], next["py"], next["pa"] = p.Pos.Px, p.Pos.Py, p.Pos.Pa
		next["vx"], next["vy"], next["va"] = p.Vel.Px, p.Vel.Py, p.Vel.Pa
		next["stall"] = u8(p.Stall)
	default:
		for k, v := range further(next, payload) {
			next[k] = v
		}
	}
	return next
}

// agrees reports whether the peer printed the same for every field of got.
func agrees(got fields, printed map[string]any) bool {
	for k, v := range got {
		if p, ok := printed[k]; ok && !cmp.Equal(v, p) {
			return false
		}
	}
	return true
}

// What the client library showed after each read is what we decode, in order.
func TestReadingsAsTheClientLibraryReadThem(t *testing.T) {
	total := 0
	for _, name := range captureNames(t) {
		c := loadCapture(t, name)
		states := map[string][]fields{}
		for _, m := range c.S2C {
			if m.Type != player.Data || !iface.HasData(m.Interf) {
				continue
			}
			dev := m.Addr.String()
			before := fields{}
			if s := states[dev]; len(s) > 0 {
				before = s[len(s)-1]
			}
			state := proxy(before, decode(t, m))
			state["datatime"] = m.Timestamp
			states[dev] = append(states[dev], state)
		}
		for i, e := range c.Events {
			fresh, _ := e["fresh"].([]any)
			for _, f := range fresh {
				printed := f.(map[string]any)
				if code, ok := player.ParseInterface(printed["interface"].(string)); !ok || !iface.HasData(code) {
					continue
				}
				dev := fmt.Sprintf("%v:%v", printed["interface"], printed["index"])
				at := 0
				for at < len(states[dev]) && !agrees(states[dev][at], printed) {
					at++
				}
				if at == len(states[dev]) {
					t.Errorf("%s event %d: no reading of %s gives what was printed: %v", name, i, dev, printed)
					continue
				}
				states[dev] = states[dev][at:]
				total++
			}
		}
	}
	if total < 330 {
		t.Errorf("%d readings compared, expected at least 330", total)
	}
}

// reply says which answer an event shows, and how.
type reply struct {
	interf  player.Interface
	subtype uint8
	show    func(payload any) fields
}

var replies = map[string]reply{
	"subscribe": {player.InterfacePlayer, player.PlayerDev, func(p any) fields {
		r := p.(*iface.DeviceReq)
		return fields{"driver": iface.GoString(r.DriverName), "interface": r.Addr.Interf.String(), "index": float64(r.Addr.Index)}
	}},
	"laser_geom": {player.InterfaceLaser, iface.ReqLaserGetGeom, func(p any) fields {
		g := p.(*iface.LaserGeom)
		return fields{"pose": nums(g.Pose.Px, g.Pose.Py, g.Pose.Pyaw), "size": nums(g.Size.Sl, g.Size.Sw)}
	}},
	"laser_config": {player.InterfaceLaser, iface.ReqLaserGetConfig, func(p any) fields {
		c := p.(*iface.LaserConfig)
		return fields{"min_angle": f32(c.MinAngle), "max_angle": f32(c.MaxAngle), "resolution": f32(c.Resolution),
			"range_res": f32(c.RangeRes), "intensity": u8(c.Intensity), "scanning_frequency": f32(c.ScanningFrequency)}
	}},
	"laser_id": {player.InterfaceLaser, iface.ReqLaserGetID, func(p any) fields {
		return fields{"laser_id": float64(int32(p.(*iface.LaserGetIDConfig).SerialNumber))}
	}},
	"ranger_geom": {player.InterfaceRanger, iface.ReqRangerGetGeom, func(p any) fields {
		g := p.(*iface.RangerGeom)
		poses, sizes := []any{}, []any{}
		for i := range g.ElementPoses {
			poses, sizes = append(poses, pose3(g.ElementPoses[i])), append(sizes, box3(g.ElementSizes[i]))
		}
		return fields{"pose": pose3(g.Pose), "size": box3(g.Size), "element_count": float64(len(poses)),
			"element_poses": poses, "element_sizes": sizes}
	}},
	"ranger_config": {player.InterfaceRanger, iface.ReqRangerGetConfig, func(p any) fields {
		c := p.(*iface.RangerConfig)
		return fields{"min_angle": c.MinAngle, "max_angle": c.MaxAngle, "angular_res": c.AngularRes,
			"min_range": c.MinRange, "max_range": c.MaxRange, "range_res": c.RangeRes, "frequency": c.Frequency}
	}},
	"p2d_geom": {player.InterfacePosition2D, iface.ReqPosition2DGetGeom, func(p any) fields {
		g := p.(*iface.Position2DGeom)
		return fields{"pose": nums(g.Pose.Px, g.Pose.Py, g.Pose.Pyaw), "size": nums(g.Size.Sl, g.Size.Sw)}
	}},
	"sonar_geom": {player.InterfaceSonar, iface.ReqSonarGetGeom, func(p any) fields {
		poses := []any{}
		for _, q := range p.(*iface.SonarGeom).Poses {
			poses = append(poses, pose3(q))
		}
		return fields{"pose_count": float64(len(poses)), "poses": poses}
	}},
	"sim_get2d": {player.InterfaceSimulation, iface.ReqSimulationGetPose2D, func(p any) fields {
		r := p.(*iface.SimulationPose2DReq)
		return fields{"name": iface.GoString(r.Name), "x": r.Pose.Px, "y": r.Pose.Py, "a": r.Pose.Pa}
	}},
	"sim_get3d": {player.InterfaceSimulation, iface.ReqSimulationGetPose3D, func(p any) fields {
		r := p.(*iface.SimulationPose3DReq)
		return fields{"name": iface.GoString(r.Name), "pose": pose3(r.Pose), "time": r.Simtime}
	}},
	"sim_getcolor": {player.InterfaceSimulation, iface.ReqSimulationGetProperty, func(p any) fields {
		r := p.(*iface.SimulationPropertyReq)
		return fields{"name": iface.GoString(r.Name), "color": color(r.Value)}
	}},
}

// color reads the four floats of the simulator's machine.
func color(b []byte) any {
	var out []float64
	for ; len(b) >= 4; b = b[4:] {
		out = append(out, f32(math.Float32frombits(binary.LittleEndian.Uint32(b))))
	}
	return nums(out...)
}

// Answers to requests are what the client library returned.
func TestAnswersAsTheClientLibraryReadThem(t *testing.T) {
	total := 0
	for _, name := range captureNames(t) {
		c := loadCapture(t, name)
		next := map[string]int{} // by kind of answer: where to go on in c.S2C
		for i, e := range c.Events {
			r, ok := replies[e["op"].(string)]
			if !ok {
				r, ok = furtherReplies[e["op"].(string)]
			}
			if !ok {
				continue
			}
			index := 0.0
			if r.interf != player.InterfacePlayer {
				index, _ = e["index"].(float64)
			}
			key := fmt.Sprint(r.interf, index, r.subtype)
			m, ok := findAnswer(c.S2C, next, key, r, uint16(index))
			if !ok {
				if e["rc"] == 0.0 {
					t.Errorf("%s event %d: no answer to %v", name, i, e["op"])
				}
				continue
			}
			if refused := m.Type == player.Nack; refused != (e["rc"] != 0.0) {
				t.Errorf("%s event %d: answer is %s, the client library got %v", name, i, m.Header, e["rc"])
				continue
			}
			if m.Type == player.Nack {
				continue
			}
			got := r.show(decode(t, m))
			if !agrees(got, e) {
				t.Errorf("%s event %d: decoded %v, the client library got %v", name, i, got, e)
			}
			total++
		}
	}
	if total < 150 {
		t.Errorf("%d answers compared, expected at least 150", total)
	}
}

func findAnswer(stream []player.Message, next map[string]int, key string, r reply, index uint16) (player.Message, bool) {
	for at := next[key]; at < len(stream); at++ {
		m := stream[at]
		if (m.Type == player.Ack || m.Type == player.Nack) && m.Interf == r.interf && m.Index == index && m.Subtype == r.subtype {
			next[key] = at + 1
			return m, true
		}
	}
	return player.Message{}, false
}
