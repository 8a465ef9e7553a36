package view

import (
	"encoding/json"
	"math"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var inf, nan = math.Inf(1), math.NaN()

func dev(i player.Interface, index uint16) *player.Device {
	return &player.Device{Addr: player.Addr{Interf: i, Index: index}, Robot: "r0"}
}

func ranger(index uint16, elements int) *player.Device {
	d := dev(player.InterfaceRanger, index)
	d.Geometry = &player.Geometry{}
	for e := range elements {
		d.Geometry.Elements = append(d.Geometry.Elements, player.Pose{Yaw: float64(e)})
	}
	d.Config = &player.RangerConfig{MinAngle: -1, MaxAngle: 1, AngularRes: 99, MaxRange: 5}
	return d
}

func scanOf(ranges ...float32) *iface.LaserData {
	return &iface.LaserData{MinAngle: -1, MaxAngle: 1, Resolution: 99, MaxRange: 8, Ranges: ranges}
}

func TestLaser(t *testing.T) {
	var l Laser
	l.readLaser(&iface.LaserData{MinAngle: -1.5, MaxAngle: 1.5, Resolution: 99, MaxRange: 8, Ranges: []float32{3, 0.3, float32(nan), 9, 8, float32(inf), float32(-inf)}, Intensity: []uint8{1, 255}})
	want := Laser{
		Ranges: []float64{3, float64(float32(0.3)), 8, 8, 8, 8, 8}, Intensities: []float64{1, 255}, Count: 7, Min: float64(float32(0.3)), Max: 8,
		Bearing: -1, AngleMin: -1.5, AngleMax: 1.5, Resolution: 0.5, MaxRange: 8, Front: 8, Left: 8, Right: float64(float32(0.3)),
	}
	if diff := cmp.Diff(want, l, cmpopts.IgnoreUnexported(Laser{}), cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	l.readLaser(&iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8})
	want = Laser{AngleMin: -1, AngleMax: 1, Min: 8, Max: 8, MaxRange: 8, Front: 8, Left: 8, Right: 8}
	if diff := cmp.Diff(want, l, cmpopts.IgnoreUnexported(Laser{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("empty scan: %s", diff)
	}
	l.readLaser(&iface.LaserData{MinAngle: 0.25, MaxAngle: 1, MaxRange: 8, Ranges: []float32{2}})
	if l.Resolution != 0 || l.Bearing != 0.25 || l.Min != 2 {
		t.Errorf("one range: %+v", l)
	}
	l.readLaser(&iface.LaserData{MaxRange: 0, Ranges: []float32{2, float32(nan)}})
	if l.Min != 2 || l.MaxRange != inf || l.Ranges[1] != inf {
		t.Errorf("no maximum: %+v", l)
	}
	l.readAngles(&iface.LaserDataScanangle{MaxRange: 8, Ranges: []float32{3, 2, 1}, Angles: []float32{-1, 0.25, 2}})
	if l.AngleMin != -1 || l.AngleMax != 2 || l.Bearing != 2 || l.Front != 2 {
		t.Errorf("angles: %+v", l)
	}
	l.readRanger([]float64{5.5, 0.3, nan}, &player.RangerConfig{MinAngle: -2, MaxAngle: 2, AngularRes: 99, MaxRange: 5})
	want = Laser{Ranges: []float64{5, 0.3, 5}, Count: 3, Min: 0.3, Max: 5, Bearing: 0, AngleMin: -2, AngleMax: 2, Resolution: 2, MaxRange: 5, Front: 0.3, Left: 5, Right: 5}
	if diff := cmp.Diff(want, l, cmpopts.IgnoreUnexported(Laser{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("ranger: %s", diff)
	}
}

func TestSector(t *testing.T) {
	// One range a degree, -135° to 135°, the range is the degree + 200.
	l := &Laser{}
	c := &player.RangerConfig{MinAngle: -135 * math.Pi / 180, MaxAngle: 135 * math.Pi / 180, MaxRange: 1000}
	var ranges []float64
	for d := -135; d <= 135; d++ {
		ranges = append(ranges, float64(d+200))
	}
	l.readRanger(ranges, c)
	full := &Laser{}
	c360 := *c
	c360.MinAngle, c360.MaxAngle = 0, 359*math.Pi/180
	ranges = ranges[:0]
	for d := range 360 {
		ranges = append(ranges, float64(d))
	}
	full.readRanger(ranges, &c360)
	for _, tt := range []struct {
		l              *Laser
		from, to, want float64
	}{
		{l, -30, 30, 170}, {l, 30, 90, 230}, {l, -90, -30, 110}, {l, 0, 0, 200}, {l, 0.25, 0.75, 1000}, {l, 130, -130, 65}, {l, 150, -150, 1000},
		{l, -180, 180, 65}, {l, 0, 360, 65}, {l, 0, 720, 65}, {l, 330, 390, 170}, {l, 10, -10, 65}, {l, 136, 137, 1000}, {l, nan, 1, 1000}, {l, inf, 1, 1000}, {l, -390, -330, 170},
		{full, -30, 30, 0}, {full, 330, 350, 330}, {full, -30, -10, 330}, {full, 150, -150, 150}, {full, 10, 20, 10},
	} {
		if got := tt.l.Sector(tt.from, tt.to); got != tt.want {
			t.Errorf("sector %g to %g = %g, expected %g", tt.from, tt.to, got, tt.want)
		}
		// The slow way, by each bearing, gives the same.
		slow := *tt.l
		for i := range slow.Ranges {
			slow.angles = append(slow.angles, tt.l.bearing(i))
		}
		if got := slow.Sector(tt.from, tt.to); got != tt.want {
			t.Errorf("by bearings, sector %g to %g = %g, expected %g", tt.from, tt.to, got, tt.want)
		}
	}
}

// A bearing on the edge of a sector is in it, whatever float32 and the sum of
// steps made of it.
func TestSectorEdges(t *testing.T) {
	var l Laser
	d := &iface.LaserData{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, MaxRange: 1000}
	for i := range 181 {
		d.Ranges = append(d.Ranges, float32(i))
	}
	l.readLaser(d)
	for i := range 181 {
		deg := float64(i - 90)
		if got := l.Sector(deg, deg); got != float64(i) {
			t.Errorf("sector %g to %g = %g", deg, deg, got)
		}
	}
}

func TestSonar(t *testing.T) {
	var s Sonar
	elements := []player.Pose{{Yaw: 0}, {Yaw: 1}, {Yaw: 3}}
	s.readSonar([]float32{3, 0.3, float32(inf), 1}, elements)
	want := Sonar{Ranges: []float64{3, float64(float32(0.3)), inf, 1}, Count: 4, Min: float64(float32(0.3)), Max: inf, Nearest: 1, Bearing: 1}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreUnexported(Sonar{})); diff != "" {
		t.Error(diff)
	}
	if got := s.Sector(-10, 10); got != 3 {
		t.Errorf("sector: %g", got)
	}
	s.readSonar([]float32{3, 3, 3, 0.5}, elements)
	if !math.IsNaN(s.Bearing) || s.Nearest != 3 {
		t.Errorf("an element that the geometry does not know: %+v", s)
	}
	s.readRanger([]float64{7, 4}, elements, &player.RangerConfig{MaxRange: 5})
	if s.Max != 5 || s.Min != 4 || s.Bearing != 1 {
		t.Errorf("ranger: %+v", s)
	}
	s.readRanger(nil, elements, &player.RangerConfig{MaxRange: 5})
	if s.Max != 5 || s.Min != 5 || s.Bearing != 0 || s.Nearest != -1 {
		t.Errorf("empty: %+v", s)
	}
}

// jsonOf is a view as clients that speak JSON get it.
func jsonOf(v View) string { return string(protocol.JSON(protocol.Seal(AppendText(nil, v)))) }

func TestJSON(t *testing.T) {
	l := Laser{Ranges: []float64{0.5, inf}, Count: 2, Min: 1e-7, Max: nan, Bearing: math.Copysign(0, -1), MaxRange: 1e21, Stamp: Stamp{Time: 1e15, Index: 3}}
	want := `{"ranges":[0.5,null],"intensities":[],"count":2,"min":1e-07,"max":null,"bearing":-0,"angle_min":0,"angle_max":0,"resolution":0,"max_range":1e+21,"front":0,"left":0,"right":0,"time":1000000000000000,"index":3}`
	if diff := cmp.Diff(want, jsonOf(&l)); diff != "" {
		t.Error(diff)
	}
	s := Sonar{Ranges: []float64{1}, Count: 1, Nearest: -1, Bearing: nan}
	if diff := cmp.Diff(`{"ranges":[1],"count":1,"min":0,"max":0,"nearest":-1,"bearing":null,"time":0,"index":0}`, jsonOf(&s)); diff != "" {
		t.Error(diff)
	}
	var p Position
	p.read(player.Reading{Payload: &iface.Position2DData{Pos: iface.Pose2D{Px: 1, Py: -0.25, Pa: 3}, Vel: iface.Pose2D{Px: 0.3, Py: 0.4, Pa: -1}, Stall: 1}}, nil)
	p.stamp(2.5, 1)
	if diff := cmp.Diff(`{"x":1,"y":-0.25,"yaw":3,"vx":0.3,"vy":0.4,"vyaw":-1,"speed":0.5,"stall":true,"time":2.5,"index":1}`, jsonOf(&p)); diff != "" {
		t.Error(diff)
	}
	for _, v := range []View{&l, &s, &p} {
		if !json.Valid([]byte(jsonOf(v))) {
			t.Errorf("%s is no JSON", jsonOf(v))
		}
	}
}

func FuzzAppendFloat(f *testing.F) {
	for _, x := range []float64{0, 1, -1, 0.1, 1e-6, 1e-7, 1e15, 1e20, 1e21, math.MaxFloat64, 5e-324, nan, inf} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		b := AppendFloat(nil, x)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if string(protocol.JSON(protocol.Seal(b))) != "null" {
				t.Errorf("%g is %s", x, b)
			}
			return
		}
		var back float64
		if err := json.Unmarshal(b, &back); err != nil || math.Float64bits(back) != math.Float64bits(x) {
			t.Errorf("%g is %s, which reads as %g (%v)", x, b, back, err)
		}
		if long, _ := json.Marshal(x); len(b) > len(long)+1 {
			t.Errorf("%s is longer than %s", b, long)
		}
	})
}
