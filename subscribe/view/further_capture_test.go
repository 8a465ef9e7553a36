package view

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"

	"github.com/google/go-cmp/cmp"
)

// realReadings says where the real client library's print of a reading has
// what a view has: a path into the print; * goes over a list.
var realReadings = []struct {
	captures, device string
	values           map[string]string
}{
	{"h_bumper h_bumper_stage", "bumper:0", map[string]string{"count": "bumper_count", "bumpers": "bumpers"}},
	{"h_fiducial h_fiducial_stage", "fiducial:0", map[string]string{
		"count": "fiducials_count", "ids": "fiducials.*.id", "xs": "fiducials.*.pose.0", "ys": "fiducials.*.pose.1", "yaws": "fiducials.*.pose.5",
		"id": "fiducials.0.id", "x": "fiducials.0.pose.0", "z": "fiducials.0.pose.2", "roll": "fiducials.0.pose.3", "pitch": "fiducials.0.pose.4",
	}},
	{"h_power", "power:0", map[string]string{"volts": "charge", "percent": "percent", "joules": "joules", "watts": "watts", "charging": "charging", "valid": "valid"}},
	// The library divides the UTM places by 100.
	{"h_gps", "gps:0", map[string]string{
		"utc": "utc_time", "latitude": "lat", "longitude": "lon", "altitude": "alt", "speed": "speed", "course": "course", "hdop": "hdop", "vdop": "vdop",
		"err_horz": "err_horz", "err_vert": "err_vert", "quality": "quality", "num_sats": "sat_count",
	}},
	// It has 0 for what was not told, and does not join what kinds of messages
	// have in common.
	{"h_imu", "imu:0", map[string]string{"x": "pose.0", "z": "pose.2", "q0": "q.0", "q3": "q.3", "magn_y": "calib.7"}},
	{"h_blobfinder h_blobfinder_stage", "blobfinder:0", map[string]string{
		"width": "width", "height": "height", "count": "blobs_count", "id": "blobs.0.id", "color": "blobs.0.color", "area": "blobs.0.area", "x": "blobs.0.x", "y": "blobs.0.y",
		"left": "blobs.0.left", "right": "blobs.0.right", "top": "blobs.0.top", "bottom": "blobs.0.bottom", "range": "blobs.0.range",
		"ids": "blobs.*.id", "colors": "blobs.*.color", "areas": "blobs.*.area", "xs": "blobs.*.x", "ys": "blobs.*.y", "ranges": "blobs.*.range",
	}},
	{"h_gripper h_gripper_stage", "gripper:0", map[string]string{"state": "state", "beams": "beams", "stored": "stored"}},
	{"h_localize h_localize_amcl", "localize:0", map[string]string{
		"pending_count": "pending_count", "pending_time": "pending_time", "count": "hypoth_count", "x": "hypoths.0.mean.0", "y": "hypoths.0.mean.1", "yaw": "hypoths.0.mean.2",
		"alpha": "hypoths.0.alpha", "cov": "hypoths.0.cov", "xs": "hypoths.*.mean.0", "alphas": "hypoths.*.alpha",
	}},
	{"h_ir", "ir:0", map[string]string{"ranges": "ranges", "voltages": "voltages", "min": "ranges.0", "max": "ranges.2"}},
	{"h_ptz", "ptz:0", map[string]string{"pan": "pan", "tilt": "tilt", "zoom": "zoom"}},
	{"h_aio", "aio:0", map[string]string{"count": "voltages_count", "voltages": "voltages", "min": "voltages.1"}},
	{"h_dio", "dio:0", map[string]string{"count": "count", "bits": "digin"}},
	{"h_joystick", "joystick:0", map[string]string{"axes_count": "axes_count", "buttons": "buttons", "pos": "pos"}},
	{"h_planner", "planner:0", map[string]string{
		"x": "px", "y": "py", "yaw": "pa", "goal_x": "gx", "goal_y": "gy", "goal_yaw": "ga", "waypoint_x": "wx", "waypoint_y": "wy", "waypoint_yaw": "wa",
		"waypoint_idx": "curr_waypoint", "waypoints_count": "waypoint_count", "valid": "path_valid", "done": "path_done",
	}},
	{"h_position1d", "position1d:0", map[string]string{"pos": "pos", "vel": "vel", "stall": "stall", "status": "status"}},
	{"h_position3d", "position3d:0", map[string]string{
		"x": "pos.0", "y": "pos.1", "z": "pos.2", "roll": "pos.3", "pitch": "pos.4", "yaw": "pos.5",
		"vx": "vel.0", "vy": "vel.1", "vz": "vel.2", "vroll": "vel.3", "vpitch": "vel.4", "vyaw": "vel.5", "stall": "stall",
	}},
	{"h_actarray", "actarray:0", map[string]string{
		"motor_state": "motor_state", "positions": "actuators.*.position", "speeds": "actuators.*.speed", "accelerations": "actuators.*.acceleration",
		"currents": "actuators.*.current", "states": "actuators.*.state",
	}},
	{"h_wifi", "wifi:0", map[string]string{
		"count": "link_count", "quals": "links.*.qual", "levels": "links.*.level", "noises": "links.*.noise", "freqs": "links.*.freq",
		"essids": "links.*.essid", "macs": "links.*.mac", "ips": "links.*.ip", "qual": "links.0.qual", "essid": "links.0.essid",
	}},
}

// What a view tells of a real reading is what the real client library printed
// of it.
func TestRealReadings(t *testing.T) {
	for _, tt := range realReadings {
		for name := range strings.FieldsSeq(tt.captures) {
			t.Run(name, func(t *testing.T) {
				readings := readingsOf(t, name, tt.device)
				compared := 0
				for _, printed := range printedBy(t, name, tt.device) {
					got, ok := readings[printed["datatime"].(float64)]
					if !ok {
						t.Errorf("no reading at %v", printed["datatime"])
						continue
					}
					compared++
					for field, path := range tt.values {
						want, ok := at(printed, strings.Split(path, "."))
						if !ok {
							continue // an empty list has no first element
						}
						if g := got[field]; !cmp.Equal(g, want) && !(g == nil && want == 0.0) && g != (want == 1.0) {
							t.Errorf("at %v %s is %v, the library printed %v", printed["datatime"], field, g, want)
						}
					}
				}
				if compared < 2 {
					t.Errorf("%d readings compared of %d", compared, len(readings))
				}
			})
		}
	}
}

// readingsOf returns a device's readings of a capture by their time.
func readingsOf(t *testing.T, capture, device string) map[float64]map[string]any {
	t.Helper()
	c, err := playertest.Load("../../testdata/captures", capture)
	if err != nil {
		t.Fatal(err)
	}
	out := map[float64]map[string]any{}
	r := NewRobot(func(a *Arrival) {
		if a.Name == device {
			var v map[string]any
			if err := json.Unmarshal([]byte(jsonOf(a.View)), &v); err != nil {
				t.Fatal(err)
			}
			out[a.Time] = v
		}
	})
	devices := map[uint32]*player.Device{}
	for _, m := range c.Data() {
		d := devices[m.Device()]
		if d == nil {
			d = &player.Device{Addr: player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}}
			devices[m.Device()] = d
		}
		message, _ := iface.Lookup(d.Interf, player.Data, m.Subtype)
		payload := message.New()
		if err := message.Decode(m.Body, payload); err != nil {
			t.Fatal(err)
		}
		r.Arrive(player.Reading{Device: d, Subtype: m.Subtype, Time: m.Timestamp, Payload: payload})
	}
	return out
}

// printedBy returns what the real client library printed of a device's readings.
func printedBy(t *testing.T, capture, device string) (all []map[string]any) {
	t.Helper()
	b, err := os.ReadFile("../../testdata/captures/" + capture + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Events []struct{ Fresh []map[string]any }
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Events {
		for _, f := range e.Fresh {
			if fmt.Sprintf("%v:%v", f["interface"], f["index"]) == device {
				all = append(all, f)
			}
		}
	}
	return all
}

// at returns what is at a path.
func at(v any, path []string) (any, bool) {
	if len(path) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		next, ok := v[path[0]]
		if !ok {
			return nil, false
		}
		return at(next, path[1:])
	case []any:
		if path[0] == "*" {
			all := []any{}
			for _, e := range v {
				one, ok := at(e, path[1:])
				if !ok {
					return nil, false
				}
				all = append(all, one)
			}
			return all, true
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(v) {
			return at(v[i], path[1:])
		}
	}
	return nil, false
}

// An inertial unit's five kinds of messages are readings each; what one does
// not tell stands.
func TestIMUAccumulates(t *testing.T) {
	var got []IMU
	r := NewRobot(func(a *Arrival) { got = append(got, *a.Now.IMU) })
	d := dev(player.InterfaceIMU, 0)
	for i, payload := range []any{
		&iface.IMUDataState{Pose: iface.Pose3D{Px: 1, Proll: math.Pi / 2}},
		&iface.IMUDataCalib{AccelX: 3, AccelZ: 4, GyroZ: 0.5, MagnX: 7},
		&iface.IMUDataEuler{Orientation: iface.Orientation3D{Pyaw: 2}, CalibData: iface.IMUDataCalib{AccelY: 2}},
		&iface.IMUDataQuat{Q0: math.Sqrt2, Q3: math.Sqrt2},
		&iface.IMUDataFullstate{Pose: iface.Pose3D{Ppitch: 0.25}, Vel: iface.Pose3D{Px: 5, Proll: 6}, Acc: iface.Pose3D{Pz: 8, Pyaw: 9}},
		&iface.PowerData{},
	} {
		r.Arrive(player.Reading{Device: d, Time: float64(i), Payload: payload})
	}
	if len(got) != 5 || r.Skipped(BadPayload) != 1 {
		t.Fatalf("%d readings, %d of another interface", len(got), r.Skipped(BadPayload))
	}
	is := func(i int, what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("message %d: %s is %v, expected %v", i, what, got, want)
		}
	}
	is(0, "x", got[0].X, 1)
	is(0, "tilt", got[0].Tilt, math.Pi/2)
	is(0, "accel", got[0].Accel, nan)
	is(0, "q0", got[0].Q0, nan)
	is(1, "x", got[1].X, 1)
	is(1, "accel", got[1].Accel, 5)
	is(1, "magn_x", got[1].MagnX, 7)
	is(2, "yaw", got[2].Yaw, 2)
	is(2, "roll", got[2].Roll, 0)
	is(2, "accel_y", got[2].AccelY, 2)
	is(2, "x", got[2].X, 1)
	is(3, "yaw", got[3].Yaw, math.Pi/2)
	is(3, "q3", got[3].Q3, math.Sqrt2)
	is(4, "pitch", got[4].Pitch, 0.25)
	is(4, "vx", got[4].VX, 5)
	is(4, "gyro_x", got[4].GyroX, 6)
	is(4, "accel_z", got[4].AccelZ, 8)
	is(4, "accel_yaw", got[4].AccelYaw, 9)
	is(4, "q3", got[4].Q3, math.Sqrt2)
	is(4, "tilt", got[4].Tilt, 0.25)
}
