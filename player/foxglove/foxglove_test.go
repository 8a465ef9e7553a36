package foxglove_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/player"
	"callboard/player/foxglove"
	"callboard/player/iface"
)

// drawn returns a payload in all its drawings, by schema.
func drawn(t testing.TB, d *player.Device, subtype uint8, payload any) map[string]string {
	t.Helper()
	out := map[string]string{}
	c := &foxglove.Context{Time: 1_700_000_000_123_456_789, Robot: `r"0`, Device: d}
	for _, one := range foxglove.Of(d.Interf, subtype) {
		if b, something := one.Append(nil, c, payload); something {
			out[one.Schema] = string(b)
		}
	}
	return out
}

func device(i player.Interface) *player.Device {
	return &player.Device{
		Addr:     player.Addr{Interf: i},
		Geometry: &player.Geometry{Pose: player.Pose{X: 0.1, Z: math.NaN(), Yaw: math.Pi}, Elements: []player.Pose{{X: 0.2}, {Yaw: math.Pi / 2}}},
		Config:   &player.RangerConfig{MinAngle: -1.5, MaxAngle: 1.25},
	}
}

const (
	stamp = `{"timestamp":{"sec":1700000000,"nsec":123456789}`
	head  = stamp + `,"frame_id":"r\"0"`
	mount = `,"pose":{"position":{"x":0.1,"y":0,"z":0},"orientation":{"x":0,"y":0,"z":1,"w":6.123234e-17}}`
)

func TestDrawings(t *testing.T) {
	one := device(player.InterfaceRanger)
	one.Geometry.Elements = one.Geometry.Elements[:1]
	for _, test := range []struct {
		name    string
		device  *player.Device
		subtype uint8
		payload any
		want    map[string]string
	}{
		{"laser", device(player.InterfaceLaser), iface.DataLaserScan, &iface.LaserData{MinAngle: -1.5, MaxAngle: 1.5, Ranges: []float32{1.25, 0.00007, float32(math.Inf(1)), float32(math.NaN()), -2.1}, Intensity: []uint8{1, 2, 3, 4, 50}}, map[string]string{
			"foxglove.LaserScan": head + mount + `,"start_angle":-1.5,"end_angle":1.5,"ranges":[1.25,0.0001,1e999,1e999,-2.1],"intensities":[1,2,3,4,50]}`,
		}},
		{"laser with too few intensities", device(player.InterfaceLaser), iface.DataLaserScan, &iface.LaserData{Ranges: []float32{1, 2}, Intensity: []uint8{1}}, map[string]string{
			"foxglove.LaserScan": head + mount + `,"start_angle":0,"end_angle":0,"ranges":[1,2],"intensities":[]}`,
		}},
		{"scanner", one, iface.DataRangerRange, &iface.RangerDataRange{Ranges: []float64{1, 8}}, map[string]string{
			"foxglove.LaserScan": head + mount + `,"start_angle":-1.5,"end_angle":1.25,"ranges":[1,8],"intensities":[]}`,
		}},
		{"scanner whose configuration is not known", &player.Device{Addr: one.Addr}, iface.DataRangerRange, &iface.RangerDataRange{Ranges: []float64{1, 8}}, map[string]string{}},
		{"ring", device(player.InterfaceRanger), iface.DataRangerRange, &iface.RangerDataRange{Ranges: []float64{1, 2}}, map[string]string{
			"foxglove.SceneUpdate": `{"deletions":[],"entities":[` + head + `,"id":"r\"0 ranger:0","lifetime":{"sec":0,"nsec":0},"frame_locked":true,"metadata":[],"arrows":[],"spheres":[],"cylinders":[],"triangles":[],"models":[],"cubes":[],"texts":[],"lines":[{"type":2` +
				mount + `,"thickness":0.01,"scale_invariant":false,"points":[{"x":0.2,"y":0,"z":0},{"x":1.2,"y":0,"z":0},{"x":0,"y":0,"z":0},{"x":0,"y":2,"z":0}],"color":{"r":0.2,"g":0.6,"b":1,"a":0.8},"colors":[],"indices":[]}]}]}`,
		}},
		{"position", device(player.InterfacePosition2D), iface.DataPosition2DState, &iface.Position2DData{Pos: iface.Pose2D{Px: 1, Py: -2.5, Pa: math.Pi / 2}, Vel: iface.Pose2D{Px: 0.1}, Stall: 1}, map[string]string{
			"foxglove.PoseInFrame":    stamp + `,"frame_id":"world","pose":{"position":{"x":1,"y":-2.5,"z":0},"orientation":{"x":0,"y":0,"z":0.70710678,"w":0.70710678}}}`,
			"foxglove.FrameTransform": stamp + `,"parent_frame_id":"world","child_frame_id":"r\"0","translation":{"x":1,"y":-2.5,"z":0},"rotation":{"x":0,"y":0,"z":0.70710678,"w":0.70710678}}`,
			"player.Position2DData":   stamp + `,"pos":{"px":1,"py":-2.5,"pa":1.5707963267948966},"vel":{"px":0.1,"py":0,"pa":0},"stall":1}`,
		}},
		{"power", device(player.InterfacePower), iface.DataPowerState, &iface.PowerData{Valid: 1, Volts: 12.3, Watts: float32(math.NaN())}, map[string]string{
			"player.PowerData": stamp + `,"valid":1,"volts":12.3,"percent":0,"joules":0,"watts":1e999,"charging":0}`,
		}},
		{"gps", device(player.InterfaceGPS), iface.DataGPSState, &iface.GPSData{Latitude: 525000000, Longitude: -1, Altitude: 1500, ErrHorz: 2}, map[string]string{
			"foxglove.LocationFix": head + `,"latitude":52.5,"longitude":-1e-07,"altitude":1.5,"position_covariance":[4,0,0,0,4,0,0,0,0],"position_covariance_type":2}`,
		}},
		{"picture", device(player.InterfaceCamera), iface.DataCameraState, &iface.CameraData{Width: 2, Height: 1, Format: iface.CameraFormatMono8, Image: []byte{1, 2}}, map[string]string{
			"foxglove.RawImage": head + `,"width":2,"height":1,"encoding":"mono8","step":2,"data":"AQI="}`,
		}},
		{"picture that is too small", device(player.InterfaceCamera), iface.DataCameraState, &iface.CameraData{Width: 4e9, Height: 4e9, Format: iface.CameraFormatMono8, Image: []byte{1, 2}}, map[string]string{}},
		{"jpeg", device(player.InterfaceCamera), iface.DataCameraState, &iface.CameraData{Compression: iface.CameraCompressJPEG, Image: []byte{1, 2}}, map[string]string{
			"foxglove.CompressedImage": head + `,"format":"jpeg","data":"AQI="}`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := drawn(t, test.device, test.subtype, test.payload)
			if test.want["player.PowerData"] == "" && test.want["player.Position2DData"] == "" {
				delete(got, "player.GPSData")
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// fill fills every field, with texts and numbers of all kinds.
func fill(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n+i)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n+i)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{1.5, math.NaN(), math.Inf(1), math.Inf(-1), -0.1}[n%5])
	case reflect.String:
		v.SetString("a \"text\"\n\x00\xff")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(n % 100))
	default:
		if v.CanInt() {
			v.SetInt(int64(n % 100))
		}
	}
}

// Every message of package iface is told as JSON that has just the fields of
// its schema.
func TestEveryMessageFitsItsSchema(t *testing.T) {
	n := 0
	for _, m := range iface.Messages() {
		if m.Type != player.Data || m.Struct() == nil {
			continue
		}
		for _, elements := range []int{1, 3} {
			payload := m.New()
			fill(reflect.ValueOf(payload).Elem(), n)
			d := device(m.Interface)
			d.Geometry.Elements = make([]player.Pose, elements)
			for schema, text := range drawn(t, d, m.Subtype, payload) {
				n++
				text = strings.ReplaceAll(text, "1e999", "1e99") // what Go's reader takes
				var value, form any
				if err := json.Unmarshal([]byte(text), &value); err != nil {
					t.Fatalf("%s as %s: %v\n%s", m, schema, err, text)
				}
				if err := json.Unmarshal([]byte(foxglove.Schema(schema)), &form); err != nil {
					t.Fatalf("schema %s: %v", schema, err)
				}
				if wrong := fits(value, form.(map[string]any)); wrong != "" {
					t.Errorf("%s as %s: %s\n%s", m, schema, wrong, text)
				}
			}
		}
	}
	if n < 60 {
		t.Errorf("%d drawings only", n)
	}
}

// fits returns what of a value does not fit a schema.
func fits(value any, schema map[string]any) string {
	switch schema["type"] {
	case "object":
		object, ok := value.(map[string]any)
		if !ok {
			return "no object"
		}
		properties, _ := schema["properties"].(map[string]any)
		var have, want []string
		for name := range object {
			have = append(have, name)
		}
		for name := range properties {
			want = append(want, name)
		}
		slices.Sort(have)
		slices.Sort(want)
		if properties != nil && !slices.Equal(have, want) {
			return "fields " + strings.Join(have, " ") + ", expected " + strings.Join(want, " ")
		}
		for _, name := range want {
			if wrong := fits(object[name], properties[name].(map[string]any)); wrong != "" {
				return name + ": " + wrong
			}
		}
	case "array":
		list, ok := value.([]any)
		if !ok {
			return "no array"
		}
		for _, one := range list {
			if wrong := fits(one, schema["items"].(map[string]any)); wrong != "" {
				return wrong
			}
		}
	case "number", "integer":
		if _, ok := value.(float64); !ok {
			return "no number"
		}
	case "string":
		if _, ok := value.(string); !ok {
			return "no text"
		}
	}
	return ""
}

// Lengths are within half of a tenth of a millimetre.
func TestRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Float64Range(-1000, 1000).Draw(t, "range")
		text := drawn(nopTB{}, device(player.InterfaceLaser), iface.DataLaserScan, &iface.LaserData{Ranges: []float32{float32(r)}})["foxglove.LaserScan"]
		var got struct{ Ranges []float64 }
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Ranges[0]-float64(float32(r))) > 0.5000001e-4 {
			t.Fatalf("%v became %v", r, got.Ranges[0])
		}
	})
}

// nopTB is for helpers within properties.
type nopTB struct{ testing.TB }

func (nopTB) Helper() {}
