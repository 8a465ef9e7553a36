package ros

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"

	"github.com/google/go-cmp/cmp"
)

// sum is the MD5 of a definition by ROS 1's rule: constants, then fields, with
// the sums of nested types in the place of their names.
func sum(t *Type) string {
	return hex.EncodeToString(digest(ruled(t)))
}

func digest(text string) []byte {
	d := md5.Sum([]byte(text))
	return d[:]
}

func ruled(t *Type) string {
	var lines []string
	for _, c := range t.Constants {
		lines = append(lines, c.Type+" "+c.Name+"="+c.Value)
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if of := types[f.Type]; of != nil {
			lines = append(lines, sum(of)+" "+f.Name)
		} else {
			lines = append(lines, f.kind()+" "+f.Name)
		}
	}
	return strings.Join(lines, "\n")
}

// TestDefinitions: all definitions are those of ROS, to the letter: their sums are.
func TestDefinitions(t *testing.T) {
	for name, one := range types {
		if got := sum(one); got != one.Sum {
			t.Errorf("%s: %s, expected %s", name, got, one.Sum)
		}
	}
	for name, s := range services {
		if got := hex.EncodeToString(digest(ruled(s.Request) + ruled(s.Response))); got != s.Sum {
			t.Errorf("%s: %s, expected %s", name, got, s.Sum)
		}
	}
	if Lookup("sensor_msgs/msg/LaserScan") != Lookup("sensor_msgs/LaserScan") || Lookup("a/b") != nil || Lookup("x") != nil {
		t.Error("names of ROS 2 are not those of ROS 1")
	}
	if text := Lookup("geometry_msgs/PoseStamped").Text(); !strings.HasPrefix(text, "std_msgs/Header header\ngeometry_msgs/Pose pose\n====") || strings.Count(text, "MSG: ") != 4 {
		t.Errorf("the text of PoseStamped:\n%s", text)
	}
}

// reading is a reading of one device, with its messages as Player sends them.
func reading(t testing.TB, d *player.Device, payloads ...any) *Reading {
	t.Helper()
	var messages []byte
	for _, p := range payloads {
		typ, subtype := kindOf(t, d.Interf, p)
		var err error
		if messages, err = iface.AppendMessage(messages, player.Header{Addr: d.Addr, Type: typ, Subtype: subtype, Timestamp: 12.5}, p); err != nil {
			t.Fatal(err)
		}
	}
	r := &Reading{Prefix: "r0/", Frame: FrameLaser, Geometry: d.Geometry, Time: 12.5}
	for range 2 { // structs are reused
		if err := r.Decode(messages); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func kindOf(t testing.TB, i player.Interface, payload any) (player.Type, uint8) {
	t.Helper()
	if _, ok := payload.(*iface.RangerConfig); ok {
		return player.Ack, iface.ReqRangerGetConfig
	}
	for _, m := range iface.Messages() {
		if m.Interface == i && m.Type == player.Data && m.New() != nil && fmt.Sprintf("%T", m.New()) == fmt.Sprintf("%T", payload) {
			return m.Type, m.Subtype
		}
	}
	t.Fatalf("no message of %s has a %T", i, payload)
	return 0, 0
}

func device(i player.Interface, elements ...player.Pose) *player.Device {
	return &player.Device{Addr: player.Addr{Interf: i}, Robot: "r0", Geometry: &player.Geometry{Pose: player.Pose{X: 1, Yaw: math.Pi / 2}, Elements: elements}}
}

var nan, inf = math.NaN(), math.Inf(1)

// readings are one of each interface that ROS has messages for.
func readings(t testing.TB) map[*player.Device]*Reading {
	one, two := player.Pose{}, player.Pose{X: 0.5, Yaw: math.Pi}
	all := map[*player.Device]*Reading{}
	add := func(d *player.Device, payloads ...any) { all[d] = reading(t, d, payloads...) }
	add(device(player.InterfaceLaser), &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: []float32{1.5, float32(nan), float32(inf), 9, 8}, Intensity: []uint8{1, 2, 3, 4, 5}})
	add(device(player.InterfaceLaser), &iface.LaserDataScanangle{MaxRange: 8, Ranges: []float32{1}, Angles: []float32{0.5}})
	add(device(player.InterfaceRanger, one), &iface.RangerConfig{MinAngle: -1, MaxAngle: 1, MaxRange: 5, MinRange: 0.1}, &iface.RangerDataRange{Ranges: []float64{1, 2}}, &iface.RangerDataIntns{Intensities: []float64{3, 4}})
	add(device(player.InterfaceRanger, one, two), &iface.RangerConfig{MaxRange: 5}, &iface.RangerDataRange{Ranges: []float64{1, 5}})
	add(device(player.InterfaceSonar, one, two), &iface.SonarData{Ranges: []float32{1, 2, 3}})
	add(device(player.InterfacePosition2D), &iface.Position2DData{Pos: iface.Pose2D{Px: 1, Py: 2, Pa: math.Pi / 2}, Vel: iface.Pose2D{Px: 0.5}, Stall: 1})
	add(device(player.InterfacePosition3D), &iface.Position3DData{Pos: iface.Pose3D{Pz: 3}})
	add(device(player.InterfaceLocalize), &iface.LocalizeData{Hypoths: []iface.LocalizeHypoth{{Alpha: 0.1}, {Mean: iface.Pose2D{Px: 4}, Cov: [6]float64{1, 2, 3, 4, 5, 6}, Alpha: 0.9}}})
	add(device(player.InterfaceFiducial), &iface.FiducialData{Fiducials: []iface.FiducialItem{{ID: 7, Pose: iface.Pose3D{Px: 2}}}})
	add(device(player.InterfaceBumper), &iface.BumperData{Bumpers: []uint8{0, 1}})
	add(device(player.InterfacePower), &iface.PowerData{Valid: iface.PowerMaskVolts | iface.PowerMaskPercent, Volts: 12, Percent: 50})
	add(device(player.InterfaceGPS), &iface.GPSData{Latitude: 515000000, Longitude: -1000000, Altitude: 20000, Quality: 2, ErrHorz: 3})
	add(device(player.InterfaceIMU), &iface.IMUDataQuat{Q0: 1})
	add(device(player.InterfaceIMU), &iface.IMUDataState{Pose: iface.Pose3D{Pyaw: 1}})
	add(device(player.InterfacePTZ), &iface.PTZData{Pan: 1, Tilt: 0.5})
	add(device(player.InterfaceActarray), &iface.ActarrayData{Actuators: []iface.ActarrayActuator{{Position: 1}, {Position: 2}}})
	add(device(player.InterfacePosition1D), &iface.Position1DData{Pos: 1})
	add(device(player.InterfaceJoystick), &iface.JoystickData{Pos: [8]int32{5}, Scale: [8]int32{10}, AxesCount: 2, Buttons: 3})
	add(device(player.InterfaceAIO), &iface.AIOData{Voltages: []float32{1.5}})
	add(device(player.InterfaceDIO), &iface.DIOData{Bits: 5})
	blob := device(player.InterfaceBlobfinder)
	all[blob] = &Reading{Object: []byte(`{"count":1}`)}
	return all
}

// TestWhatIsWrittenIsWhatTheDefinitionSays: of each kind of topic, ROS 1's bytes
// read by the definition are what the JSON is, and so is CBOR.
func TestWhatIsWrittenIsWhatTheDefinitionSays(t *testing.T) {
	told := map[string]bool{}
	for d, r := range readings(t) {
		for _, k := range KindsOf(d) {
			text, ok := k.Append(nil, JSON, r)
			if !ok {
				continue
			}
			told[k.Name] = true
			of := Lookup(k.Type)
			read, err := of.FromJSON(text, Stamp{})
			if err != nil {
				t.Errorf("%s in JSON: %v\n%s", k.Name, err, text)
				continue
			}
			raw, _ := k.Append(nil, ROS1, r)
			bytes, err := of.FromROS1(raw)
			if err != nil {
				t.Errorf("%s in bytes: %v", k.Name, err)
				continue
			}
			if diff := cmp.Diff(narrow(read), narrow(bytes)); diff != "" {
				t.Errorf("%s: JSON is not what the bytes are (-json +bytes):\n%s", k.Name, diff)
			}
			cbor, _ := k.Append(nil, CBOR, r)
			if diff := cmp.Diff(narrow(read), narrow(ofCBOR(t, of, cbor))); diff != "" {
				t.Errorf("%s: CBOR is not what JSON is (-json +cbor):\n%s", k.Name, diff)
			}
			if at := Interfaces(k.Name); !slices.Contains(at, d.Interf) {
				t.Errorf("%s comes of %v, expected %s too", k.Name, at, d.Interf)
			}
		}
	}
	for _, of := range kinds {
		for _, k := range of {
			if !told[k.Name] {
				t.Errorf("%s was not written", k.Name)
			}
		}
	}
}

// narrow makes values comparable: what is not finite is 0, as null in JSON is
// read; numbers have the digits of a float32.
func narrow(v any) any {
	switch v := v.(type) {
	case Message:
		out := Message{}
		for name, one := range v {
			out[name] = narrow(one)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = narrow(one)
		}
		return out
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0.0
		}
		return float64(float32(v))
	}
	return v
}

func TestScan(t *testing.T) {
	for d, r := range readings(t) {
		if d.Interf != player.InterfaceLaser || payloadOf[iface.LaserData](r) == nil {
			continue
		}
		text, _ := scan.Append(nil, JSON, r)
		const want = `{"header":{"seq":12500,"stamp":{"secs":12,"nsecs":500000000},"frame_id":"r0/base_laser_link"},` +
			`"angle_min":-1,"angle_max":1,"angle_increment":0.5,"time_increment":0,"scan_time":0,"range_min":0,"range_max":8,` +
			`"ranges":[1.5,8,8,8,8],"intensities":[1,2,3,4,5]}`
		if string(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
}

// TestRing: points are in the robot's frame, and what is beyond the maximum is none.
func TestRing(t *testing.T) {
	d := device(player.InterfaceRanger, player.Pose{}, player.Pose{X: 0.5, Yaw: math.Pi})
	r := reading(t, d, &iface.RangerConfig{MaxRange: 5}, &iface.RangerDataRange{Ranges: []float64{2, 5, 1}})
	var got []float64
	r.ring(func(x, y, z, _ float64) { got = append(got, x, y, z) })
	if want := []float64{1, 2, 0}; !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

// TestFromJSON: what clients send is taken or refused as real servers do.
func TestFromJSON(t *testing.T) {
	now := Stamp{Sec: 99}
	for _, tt := range []struct{ kind, text, want string }{
		{"geometry_msgs/Twist", `{"linear":{"x":1}}`, ""},
		{"geometry_msgs/Twist", ``, ""},
		{"geometry_msgs/Twist", `{"linear":{"x":null}}`, ""},
		{"geometry_msgs/Twist", `{"linear":{"x":1},"speed":3}`, "speed: unknown field; geometry_msgs/Twist has linear, angular"},
		{"geometry_msgs/Twist", `{"linear":{"x":"fast"}}`, `linear.x: "fast"; expected a number`},
		{"geometry_msgs/Twist", `{"linear":{"x":1e999}}`, `linear.x: 1e999; expected a number`},
		{"geometry_msgs/Twist", `{"linear":5}`, `linear: 5; expected an object (geometry_msgs/Vector3)`},
		{"geometry_msgs/Twist", `[{"x":1},{"z":2}]`, ""},
		{"geometry_msgs/Twist", `[1,2,3]`, "3 values; geometry_msgs/Twist has 2"},
		{"std_msgs/Int32", `{"data":1.5}`, "data: 1.5; expected a whole number (int32)"},
		{"std_msgs/Int32", `{"data":2147483648}`, "data: 2147483648; expected a whole number (int32)"},
		{"std_msgs/UInt8", `{"data":-1}`, "data: -1; expected a whole number (uint8)"},
		{"std_msgs/Bool", `{"data":1}`, "data: 1; expected true or false"},
		{"std_msgs/String", `{"data":1}`, "data: 1; expected a text"},
		{"std_msgs/UInt8MultiArray", `{"data":"AQI="}`, ""},
		{"std_msgs/UInt8MultiArray", `{"data":[1,2]}`, ""},
		{"std_msgs/UInt8MultiArray", `{"data":[1,256]}`, "data[1]: 256; expected a whole number (uint8)"},
		{"geometry_msgs/PoseWithCovariance", `{"covariance":[1]}`, "covariance: 1 elements; expected 36"},
		{"std_msgs/Header", `{"stamp":"now"}`, ""},
		{"std_msgs/Header", `{"stamp":{"sec":1,"nanosec":2}}`, ""},
		{"std_msgs/Header", `{"stamp":{"minutes":1}}`, "stamp.minutes: unknown field; a time has secs and nsecs"},
		{"rosgraph_msgs/Clock", `{"clock":5}`, "clock: 5; expected a time {secs, nsecs}"},
	} {
		_, err := Lookup(tt.kind).FromJSON([]byte(tt.text), now)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, expected %q", tt.kind, tt.text, got, tt.want)
		}
	}
	given, _ := Lookup("geometry_msgs/PoseStamped").FromJSON([]byte(`{"header":{"frame_id":"map"}}`), now)
	left, _ := Lookup("geometry_msgs/PoseStamped").FromJSON([]byte(`{}`), now)
	if given.At("header", "stamp") != now || left.At("header", "stamp") != (Stamp{}) {
		t.Errorf("stamps are %v and %v, expected now and 0", given.At("header", "stamp"), left.At("header", "stamp"))
	}
}

// FuzzDecode: whatever clients send as messages, nothing panics or grows beyond
// what was sent.
func FuzzDecode(f *testing.F) {
	f.Add("geometry_msgs/Twist", []byte(`{"linear":{"x":1}}`))
	f.Add("tf2_web_republisher/TFSubscriptionActionGoal", []byte("\x01\x00\x00\x00\xff\xff\xff\xff"))
	f.Add("std_msgs/UInt8MultiArray", bytes.Repeat([]byte{0xff}, 64))
	f.Fuzz(func(t *testing.T, kind string, b []byte) {
		of := Lookup(kind)
		if of == nil {
			return
		}
		if m, err := of.FromROS1(b); err == nil {
			m.Float("linear", "x")
		}
		m, err := of.FromJSON(b, Stamp{})
		if err == nil && !json.Valid(b) && len(bytes.TrimSpace(b)) > 0 && !json.Valid(b[:1]) {
			_ = m // the decoder takes the first value of several
		}
	})
}

// BenchmarkScan is a scan of 181 beams as each format has it: nothing is
// allocated.
func BenchmarkScan(b *testing.B) {
	d := device(player.InterfaceRanger, player.Pose{})
	ranges := make([]float64, 181)
	for i := range ranges {
		ranges[i] = 1 + float64(i)/7
	}
	r := reading(b, d, &iface.RangerConfig{MinAngle: -1.5, MaxAngle: 1.5, MaxRange: 100}, &iface.RangerDataRange{Ranges: ranges})
	for f, name := range []string{"json", "cbor", "ros1"} {
		b.Run(name, func(b *testing.B) {
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out, _ = scan.Append(out[:0], Format(f), r)
			}
			b.ReportMetric(float64(len(out)), "bytes")
		})
	}
}
