package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"

	"github.com/google/go-cmp/cmp"
)

// furtherMessage is a message, and what is seen of it.
type furtherMessage struct {
	name    string
	interf  player.Interface
	subtype uint8
	payload any
	want    string
}

// further are readings of all kinds that each message is one of, and what is
// seen of them.
var further = []furtherMessage{
	{"position2d", player.InterfacePosition2D, 1, &iface.Position2DData{Pos: iface.Pose2D{Px: 1, Py: 2, Pa: 3}, Vel: iface.Pose2D{Px: 3, Py: 4, Pa: 5}},
		`{"x":1,"y":2,"yaw":3,"vx":3,"vy":4,"vyaw":5,"speed":5,"stall":false,"time":7,"index":2}`},
	{"position3d", player.InterfacePosition3D, 1, &iface.Position3DData{Pos: iface.Pose3D{Px: 1, Py: 2, Pz: 3, Proll: 4, Ppitch: 5, Pyaw: 6}, Vel: iface.Pose3D{Px: 2, Py: 3, Pz: 6, Proll: 7, Ppitch: 8, Pyaw: 9}, Stall: 1},
		`{"x":1,"y":2,"yaw":6,"vx":2,"vy":3,"vyaw":9,"speed":7,"stall":true,"z":3,"roll":4,"pitch":5,"vz":6,"vroll":7,"vpitch":8,"time":7,"index":2}`},
	{"bumper", player.InterfaceBumper, 1, &iface.BumperData{Bumpers: []uint8{0, 2, 0, 1}},
		`{"any":true,"pressed":2,"first":1,"count":4,"bumpers":[0,2,0,1],"time":7,"index":2}`},
	{"bumper, free", player.InterfaceBumper, 1, &iface.BumperData{Bumpers: []uint8{0}},
		`{"any":false,"pressed":0,"first":-1,"count":1,"bumpers":[0],"time":7,"index":2}`},
	{"fiducial", player.InterfaceFiducial, 1, &iface.FiducialData{Fiducials: []iface.FiducialItem{{ID: 4, Pose: iface.Pose3D{Px: 3, Py: 4, Pz: 12}}, {ID: -1, Pose: iface.Pose3D{Px: 0, Py: 2, Pyaw: 1}}}},
		`{"count":2,"id":-1,"range":2,"bearing":1.5707963267948966,"x":0,"y":2,"z":0,"roll":0,"pitch":0,"yaw":1,"nearest":1,"ids":[4,-1],"ranges":[13,2],"bearings":[0.9272952180016122,1.5707963267948966],"xs":[3,0],"ys":[4,2],"yaws":[0,1],"time":7,"index":2}`},
	{"fiducial, none", player.InterfaceFiducial, 1, &iface.FiducialData{},
		`{"count":0,"id":-1,"range":null,"bearing":null,"x":null,"y":null,"z":null,"roll":null,"pitch":null,"yaw":null,"nearest":-1,"ids":[],"ranges":[],"bearings":[],"xs":[],"ys":[],"yaws":[],"time":7,"index":2}`},
	{"fiducial, no numbers", player.InterfaceFiducial, 1, &iface.FiducialData{Fiducials: []iface.FiducialItem{{ID: 3, Pose: iface.Pose3D{Px: nan}}, {ID: 4, Pose: iface.Pose3D{Px: 1}}}},
		`{"count":2,"id":4,"range":1,"bearing":0,"x":1,"y":0,"z":0,"roll":0,"pitch":0,"yaw":0,"nearest":1,"ids":[3,4],"ranges":[null,1],"bearings":[null,0],"xs":[null,1],"ys":[0,0],"yaws":[0,0],"time":7,"index":2}`},
	{"power", player.InterfacePower, 1, &iface.PowerData{Valid: iface.PowerMaskVolts | iface.PowerMaskPercent, Volts: 12, Percent: 50, Joules: 3, Watts: 4, Charging: 1},
		`{"percent":50,"volts":12,"watts":null,"joules":null,"charging":0,"valid":9,"time":7,"index":2}`},
	{"gps", player.InterfaceGPS, 1, &iface.GPSData{TimeSec: 3, TimeUsec: 500000, Latitude: 473712345, Longitude: -85123456, Altitude: -12345, Speed: 1, Course: 2, UTME: 3, UTMN: 4, Quality: 2, NumSats: 9, HDOP: 13, VDOP: 27, ErrHorz: 5, ErrVert: 6},
		`{"latitude":47.3712345,"longitude":-8.5123456,"altitude":-12.345,"fix":true,"quality":2,"num_sats":9,"speed":1,"course":2,"utm_e":3,"utm_n":4,"hdop":1.3,"vdop":2.7,"err_horz":5,"err_vert":6,"utc":3.5,"time":7,"index":2}`},
	{"imu", player.InterfaceIMU, 1, &iface.IMUDataState{Pose: iface.Pose3D{Px: 1, Py: 2, Pz: 3, Pyaw: 4}},
		`{"roll":0,"pitch":0,"yaw":4,"tilt":0,"accel":null,"accel_x":null,"accel_y":null,"accel_z":null,"gyro_x":null,"gyro_y":null,"gyro_z":null,"magn_x":null,"magn_y":null,"magn_z":null,"x":1,"y":2,"z":3,"vx":null,"vy":null,"vz":null,"accel_roll":null,"accel_pitch":null,"accel_yaw":null,"q0":null,"q1":null,"q2":null,"q3":null,"time":7,"index":2}`},
	{"blobfinder", player.InterfaceBlobfinder, 1, &iface.BlobfinderData{Width: 320, Height: 240, Blobs: []iface.BlobfinderBlob{{ID: 1, Color: 255, Area: 9, X: 2, Y: 3}, {ID: 2, Color: 256, Area: 10, X: 4, Y: 5, Left: 6, Right: 7, Top: 8, Bottom: 9, Range: 0.5}}},
		`{"count":2,"id":2,"color":256,"area":10,"x":4,"y":5,"left":6,"right":7,"top":8,"bottom":9,"range":0.5,"largest":1,"width":320,"height":240,"ids":[1,2],"colors":[255,256],"areas":[9,10],"xs":[2,4],"ys":[3,5],"ranges":[0,0.5],"time":7,"index":2}`},
	{"blobfinder, none", player.InterfaceBlobfinder, 1, &iface.BlobfinderData{Width: 320, Height: 240},
		`{"count":0,"id":-1,"color":-1,"area":0,"x":null,"y":null,"left":null,"right":null,"top":null,"bottom":null,"range":null,"largest":-1,"width":320,"height":240,"ids":[],"colors":[],"areas":[],"xs":[],"ys":[],"ranges":[],"time":7,"index":2}`},
	{"gripper", player.InterfaceGripper, 1, &iface.GripperData{State: iface.GripperStateClosed, Beams: 12, Stored: 3},
		`{"open":false,"closed":true,"moving":false,"error":false,"state":2,"broken":2,"beams":12,"stored":3,"time":7,"index":2}`},
	{"localize", player.InterfaceLocalize, 1, &iface.LocalizeData{PendingCount: 1, PendingTime: 2, Hypoths: []iface.LocalizeHypoth{{Mean: iface.Pose2D{Px: 1}, Alpha: 0.25}, {Mean: iface.Pose2D{Px: 2, Py: 3, Pa: 4}, Cov: [6]float64{9, 16, 1, 2, 3, 4}, Alpha: 0.5}}},
		`{"count":2,"x":2,"y":3,"yaw":4,"alpha":0.5,"spread":5,"pending_count":1,"pending_time":2,"cov":[9,16,1,2,3,4],"xs":[1,2],"ys":[0,3],"yaws":[0,4],"alphas":[0.25,0.5],"time":7,"index":2}`},
	{"localize, none", player.InterfaceLocalize, 1, &iface.LocalizeData{},
		`{"count":0,"x":null,"y":null,"yaw":null,"alpha":null,"spread":null,"pending_count":0,"pending_time":0,"cov":[],"xs":[],"ys":[],"yaws":[],"alphas":[],"time":7,"index":2}`},
	{"ir", player.InterfaceIR, 1, &iface.IRData{Ranges: []float32{0.5, float32(nan), 0.25}, Voltages: []float32{1, 2}},
		`{"ranges":[0.5,null,0.25],"voltages":[1,2],"count":3,"min":0.25,"max":null,"nearest":2,"time":7,"index":2}`},
	{"ptz", player.InterfacePTZ, 1, &iface.PTZData{Pan: 1, Tilt: 2, Zoom: 3, PanSpeed: 4, TiltSpeed: 5, Status: 6},
		`{"pan":1,"tilt":2,"zoom":3,"panspeed":4,"tiltspeed":5,"status":6,"time":7,"index":2}`},
	{"aio", player.InterfaceAIO, 1, &iface.AIOData{Voltages: []float32{0.5, -2}},
		`{"voltages":[0.5,-2],"count":2,"min":-2,"max":0.5,"time":7,"index":2}`},
	{"dio", player.InterfaceDIO, 1, &iface.DIOData{Count: 4, Bits: 0xfa},
		`{"values":[0,1,0,1],"on":2,"count":4,"bits":250,"time":7,"index":2}`},
	{"dio, more than there are", player.InterfaceDIO, 1, &iface.DIOData{Count: 4e9, Bits: 1},
		`{"values":[1` + strings.Repeat(",0", 31) + `],"on":1,"count":4000000000,"bits":1,"time":7,"index":2}`},
	{"joystick", player.InterfaceJoystick, 1, &iface.JoystickData{Pos: [8]int32{-50, 20, 3}, Scale: [8]int32{100, 40}, Buttons: 5, AxesCount: 2},
		`{"x":-0.5,"y":0.5,"yaw":null,"pressed":2,"buttons":5,"down":[0,2],"axes_count":2,"axes":[-0.5,0.5],"pos":[-50,20],"scale":[100,40],"time":7,"index":2}`},
	{"joystick, more than there are", player.InterfaceJoystick, 1, &iface.JoystickData{AxesCount: 4e9},
		`{"x":0,"y":0,"yaw":0,"pressed":0,"buttons":0,"down":[],"axes_count":4000000000,"axes":[0,0,0,0,0,0,0,0],"pos":[0,0,0,0,0,0,0,0],"scale":[0,0,0,0,0,0,0,0],"time":7,"index":2}`},
	{"planner", player.InterfacePlanner, 1, &iface.PlannerData{Valid: 1, Pos: iface.Pose2D{Px: 1, Py: 2, Pa: 3}, Goal: iface.Pose2D{Px: 4, Py: 6, Pa: 5}, Waypoint: iface.Pose2D{Px: 7, Py: 8, Pa: 9}, WaypointIdx: -1, WaypointsCount: 10},
		`{"valid":true,"done":false,"goal_distance":5,"x":1,"y":2,"yaw":3,"goal_x":4,"goal_y":6,"goal_yaw":5,"waypoint_x":7,"waypoint_y":8,"waypoint_yaw":9,"waypoint_idx":-1,"waypoints_count":10,"time":7,"index":2}`},
	{"position1d", player.InterfacePosition1D, 1, &iface.Position1DData{Pos: 1, Vel: 2, Stall: 1, Status: 0b100101},
		`{"pos":1,"vel":2,"stall":true,"limit_min":true,"limit_cen":false,"limit_max":true,"oc":false,"traj_complete":false,"enabled":true,"status":37,"time":7,"index":2}`},
	{"actarray", player.InterfaceActarray, 1, &iface.ActarrayData{Actuators: []iface.ActarrayActuator{{Position: 1, Speed: 2, Acceleration: 3, Current: 4, State: iface.ActarrayActstateStalled}, {State: iface.ActarrayActstateIdle}}, MotorState: 1},
		`{"moving":false,"stalled":true,"motor_state":1,"count":2,"positions":[1,0],"speeds":[2,0],"accelerations":[3,0],"currents":[4,0],"states":[8,1],"time":7,"index":2}`},
	{"limb", player.InterfaceLimb, 1, &iface.LimbData{Position: iface.Point3D{Px: 1, Py: 2, Pz: 3}, Approach: iface.Point3D{Px: 4, Py: 5, Pz: 6}, Orientation: iface.Point3D{Px: 7, Py: 8, Pz: 9}, State: iface.LimbStateOOR},
		`{"x":1,"y":2,"z":3,"approach_x":4,"approach_y":5,"approach_z":6,"orientation_x":7,"orientation_y":8,"orientation_z":9,"state":4,"idle":false,"braked":false,"moving":false,"out_of_reach":true,"collision":false,"time":7,"index":2}`},
	{"health", player.InterfaceHealth, 1, &iface.HealthData{CPUUsage: iface.HealthCPU{Idle: 50, System: 20, User: 30}, Mem: iface.HealthMemory{Total: 400, Used: 100, Free: 300}},
		`{"cpu_idle":50,"cpu_system":20,"cpu_user":30,"mem_percent":25,"mem_total":400,"mem_used":100,"mem_free":300,"swap_percent":null,"swap_total":0,"swap_used":0,"swap_free":0,"time":7,"index":2}`},
	{"wifi", player.InterfaceWifi, 1, &iface.WifiData{Links: []iface.WifiLink{{ESSID: "a\x00b", Qual: 1}, {MAC: "m", IP: "i\x00", ESSID: "lab", Freq: 2412, Qual: 70, Level: 0xffffffc4, Noise: 5}}, Throughput: 1, Bitrate: 2, Mode: 3, QualType: 1, MaxQual: 4, MaxLevel: 5, MaxNoise: 6, AP: [32]uint8{'x', 'y'}},
		`{"count":2,"qual":70,"level":-60,"noise":5,"freq":2412,"essid":"lab","throughput":1,"bitrate":2,"mode":3,"qual_type":1,"maxqual":4,"maxlevel":5,"maxnoise":6,"ap":"xy","quals":[1,70],"levels":[0,-60],"noises":[0,5],"freqs":[0,2412],"essids":["a","lab"],"macs":["","m"],"ips":["","i"],"time":7,"index":2}`},
	{"rfid", player.InterfaceRFID, 1, &iface.RFIDData{Tags: []iface.RFIDTag{{Type: 3, GUID: []uint8{0xe0, 0x04}}, {GUID: bytes.Repeat([]uint8{0xab}, 100)}}},
		`{"count":2,"tags":["e004","` + strings.Repeat("ab", 64) + `"],"types":[3,0],"time":7,"index":2}`},
	{"wsn", player.InterfaceWSN, 1, &iface.WSNData{NodeType: 1, NodeID: 2, NodeParentID: 3, DataPacket: iface.WSNNodeData{Light: 4, Mic: 5, AccelX: 6, AccelY: 7, AccelZ: 8, MagnX: 9, MagnY: 10, MagnZ: 11, Temperature: 12, Battery: 13}},
		`{"node_id":2,"node_type":1,"node_parent_id":3,"light":4,"mic":5,"accel_x":6,"accel_y":7,"accel_z":8,"magn_x":9,"magn_y":10,"magn_z":11,"temperature":12,"battery":13,"time":7,"index":2}`},
	{"speech_recognition", player.InterfaceSpeechRecognition, 1, &iface.SpeechRecognitionData{Text: "stop \"now\"\x00junk"},
		`{"text":"stop \"now\"","time":7,"index":2}`},
	{"blinkenlight", player.InterfaceBlinkenlight, 1, &iface.BlinkenlightData{Enable: 1, Period: 2, DutyCycle: 0.5, Color: iface.Color{Alpha: 1, Red: 2, Green: 3, Blue: 4}},
		`{"enable":true,"period":2,"duty_cycle":0.5,"red":2,"green":3,"blue":4,"alpha":1,"time":7,"index":2}`},
	{"coopobject, health", player.InterfaceCoopobject, iface.DataCoopobjectHealth, &iface.CoopobjectHeader{Origin: 2, ID: 3, ParentID: 4},
		`{"message":1,"id":3,"parent_id":4,"origin":2,"alarm":false,"rssi":null,"sender_id":-1,"x":null,"y":null,"z":null,"status":-1,"types":[],"values":[],"time":7,"index":2}`},
	{"coopobject, heard", player.InterfaceCoopobject, iface.DataCoopobjectRSSI, &iface.CoopobjectRSSI{Header: iface.CoopobjectHeader{ID: 3}, SenderID: 4, RSSI: 5, X: 6, Y: 7, Z: 8},
		`{"message":2,"id":3,"parent_id":0,"origin":0,"alarm":false,"rssi":5,"sender_id":4,"x":6,"y":7,"z":8,"status":-1,"types":[],"values":[],"time":7,"index":2}`},
	{"coopobject, alarm", player.InterfaceCoopobject, iface.DataCoopobjectAlarm, &iface.CoopobjectDataSensor{Data: []iface.CoopobjectSensor{{Type: iface.CoopobjectSmoke, Value: -3}}},
		`{"message":4,"id":0,"parent_id":0,"origin":0,"alarm":true,"rssi":null,"sender_id":-1,"x":null,"y":null,"z":null,"status":-1,"types":[15],"values":[-3],"time":7,"index":2}`},
	{"coopobject, position", player.InterfaceCoopobject, iface.DataCoopobjectPosition, &iface.CoopobjectPosition{X: 1, Y: 2, Z: 3, Status: 4},
		`{"message":8,"id":0,"parent_id":0,"origin":0,"alarm":false,"rssi":null,"sender_id":-1,"x":1,"y":2,"z":3,"status":4,"types":[],"values":[],"time":7,"index":2}`},
}

func TestFurther(t *testing.T) {
	kinds := Kinds(0)
	for _, tt := range further {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			r := NewRobot(func(a *Arrival) {
				got = jsonOf(a.View)
				kinds |= a.Kind.Set()
				if a.Have != a.Kind.Set() || a.HavePrev != 0 || a.Now.Of(a.Kind) != a.View {
					t.Errorf("arrived %+v", a)
				}
			})
			r.Arrive(player.Reading{Device: dev(tt.interf, 2), Subtype: tt.subtype, Time: 7, Payload: tt.payload})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if !json.Valid([]byte(got)) {
				t.Errorf("%s is no JSON", got)
			}
		})
	}
	for k := KindPosition; k < NumKinds; k++ {
		if !kinds.Has(k.Set()) {
			t.Errorf("no reading of kind %s was tested", k)
		}
	}
}

// Each interface stands for its own kind of reading alone; what describes a
// device, or is of another interface, is none.
func TestFurtherOthers(t *testing.T) {
	for _, tt := range further {
		for _, payload := range []any{&iface.BumperGeom{}, &iface.PTZGeom{}, &iface.Position1DGeom{}, &iface.Position3DGeom{}, &iface.CoopobjectCmd{}, &iface.CameraData{}, nil} {
			r := NewRobot(func(a *Arrival) { t.Errorf("%s: %T is a reading", tt.name, payload) })
			r.Arrive(player.Reading{Device: dev(tt.interf, 0), Payload: payload})
			if r.Skipped(NoView)+r.Skipped(BadPayload) != 1 {
				t.Errorf("%s: %T is not counted", tt.name, payload)
			}
		}
	}
	for _, i := range []player.Interface{player.InterfaceCamera, player.InterfaceMap, player.InterfaceOpaque, player.InterfaceAudio, player.InterfacePointcloud3D, player.InterfaceStereo} {
		r := NewRobot(func(a *Arrival) { t.Errorf("%s gives a reading", i) })
		r.Arrive(player.Reading{Device: dev(i, 0), Payload: &iface.CameraData{}})
		if r.Skipped(NoView) != 1 {
			t.Errorf("%s is not counted", i)
		}
		for _, known := range Interfaces() {
			if known == i {
				t.Errorf("%s is opened unasked", i)
			}
		}
	}
}

// Readings of all kinds are seen without allocation, once the views have
// grown.
func TestFurtherAllocations(t *testing.T) {
	r := NewRobot(func(*Arrival) {})
	var messages []player.Reading
	for i, tt := range further {
		messages = append(messages, player.Reading{Device: dev(tt.interf, uint16(i)), Subtype: tt.subtype, Payload: tt.payload})
	}
	time := 0.0
	all := func() {
		time++
		for _, m := range messages {
			m.Time = time
			r.Arrive(m)
		}
	}
	for range 4 {
		all()
	}
	if n := testing.AllocsPerRun(50, all); n > 0 {
		t.Errorf("%v allocations for %d readings", n, len(messages))
	}
}

// A text that is too long is cut between characters.
func TestShortened(t *testing.T) {
	long := strings.Repeat("a", maxText-1) + "ü"
	if got := shortened(long); got != long[:maxText-1] {
		t.Errorf("%d bytes ending in %q", len(got), got[len(got)-3:])
	}
	if got := shortened("ü\x00a"); got != "ü" {
		t.Errorf("%q", got)
	}
}
