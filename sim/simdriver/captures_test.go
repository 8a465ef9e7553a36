package simdriver

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playercfg"
	"callboard/player/server"
	"callboard/sim"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func addr(i player.Interface) player.Addr { return player.Addr{Interf: i} }

// planned serves a port of a configuration in testdata.
func planned(t *testing.T, ctx context.Context, name string, port int, open func(player.Addr) bool) *rig {
	t.Helper()
	s, d := driverOf(t, name, port)
	return serve(t, ctx, s, open, d)
}

// driverOf returns the driver of a port of a configuration in testdata.
func driverOf(t *testing.T, name string, port int) (*Simulation, server.Driver) {
	t.Helper()
	file, problems := playercfg.Load(playercfg.Config{Name: name, Open: func(n string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", n)) }})
	if file == nil {
		t.Fatal(problems)
	}
	worldName, _, _ := file.Worldfile()
	w := load(t, worldName)
	plan, problems := NewPlan(file, w.File())
	if err := problems.First(); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{World: w, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plan.Ports {
		if p.Port == port {
			d, err := s.Serve(p.Devices)
			if err != nil {
				t.Fatal(err)
			}
			return s, d
		}
	}
	t.Fatalf("%s serves nothing on port %d", name, port)
	return nil, nil
}

// TestConfiguredLikeReal: a configuration's devices are those that real Player
// shows for it.
func TestConfiguredLikeReal(t *testing.T) {
	for port, want := range map[int][]string{
		6665: {"simulation:0 stage", "position2d:0 stage", "ranger:0 stage", "ranger:1 stage", "fiducial:0 stage", "blobfinder:0 stage",
			"bumper:0 stage", "gripper:0 stage", "laser:0 rangertolaser"},
		6666: {"position2d:0 stage", "ranger:0 stage", "ranger:1 stage"},
	} {
		var got []string
		_, driver := driverOf(t, "capture.cfg", port)
		for _, d := range driver.Devices() {
			got = append(got, fmt.Sprintf("%s:%d %s", d.Interf, d.Index, d.Driver))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("port %d (-real +ours):\n%s", port, diff)
		}
	}
}

// TestGeometryLikeReal: what the captures of real Player with Stage 4.3 have.
func TestGeometryLikeReal(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := planned(t, ctx, "capture.cfg", 6665, nil)
		d45 := math.Pi / 4
		for _, c := range []struct {
			interf  player.Interface
			subtype uint8
			want    any
		}{
			{player.InterfaceGripper, iface.ReqGripperGetGeom, &iface.GripperGeom{
				Pose: iface.Pose3D{Px: 0.28, Pz: -0.2}, OuterSize: iface.BBox3D{Sw: 0.3, Sl: 0.2, Sh: 0.15}, NumBeams: 2}},
			{player.InterfaceBumper, iface.ReqBumperGetGeom, &iface.BumperGeom{BumperDef: []iface.BumperDefine{
				{Pose: iface.Pose3D{Px: 0.25}, Length: 0.2}, {Pose: iface.Pose3D{Px: 0.2, Py: 0.18, Pyaw: d45}, Length: 0.2},
				{Pose: iface.Pose3D{Px: 0.2, Py: -0.18, Pyaw: -d45}, Length: 0.2}}}},
			{player.InterfaceFiducial, iface.ReqFiducialGetGeom, &iface.FiducialGeom{}},
			{player.InterfaceFiducial, iface.ReqFiducialGetID, &iface.FiducialID{}},
			{player.InterfaceFiducial, iface.ReqFiducialGetFov, &iface.FiducialFov{MaxRange: 8, ViewAngle: math.Pi}},
			{player.InterfaceLaser, iface.ReqLaserGetGeom, &iface.LaserGeom{Pose: iface.Pose3D{Px: 0.1}, Size: iface.BBox3D{Sw: 0.14, Sl: 0.14}}},
			{player.InterfaceLaser, iface.ReqLaserGetConfig, &iface.LaserConfig{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: 0.017356865108013153,
				MaxRange: 8, RangeRes: 0.02, Intensity: 1, ScanningFrequency: 10}},
		} {
			got := clone(c.want)
			if err := r.Request(ctx, addr(c.interf), c.subtype, nil, got); err != nil {
				t.Errorf("%s %d: %v", c.interf, c.subtype, err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, 1e-7)); diff != "" {
				t.Errorf("%s %d (-real +ours):\n%s", c.interf, c.subtype, diff)
			}
		}
	})
}

// TestReadingsLikeReal: fiducials, blobs, bumpers and scans of the captures.
func TestReadingsLikeReal(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := planned(t, ctx, "capture.cfg", 6665, nil)
		seen := r.next(addr(player.InterfaceFiducial), iface.DataFiducialScan).Payload
		if diff := cmp.Diff(&iface.FiducialData{Fiducials: []iface.FiducialItem{
			{ID: 5, Pose: iface.Pose3D{Px: 3.535534021472134, Py: -0.7071062034893197, Pyaw: -0.43633214960113414}},
			{ID: 6, Pose: iface.Pose3D{Px: 3.889087123216793, Py: 1.0606608072467476, Pyaw: -1.3962632381980153}},
		}}, seen, cmpopts.EquateApprox(0, 1e-5)); diff != "" {
			t.Errorf("fiducials (-real +ours):\n%s", diff)
		}
		// The box was repainted before that capture was made.
		tint := iface.SimulationPropertyReq{Name: iface.CString("greenbox"), Prop: iface.CString("color")}
		for _, v := range []float32{0.2, 0.4, 0.6, 1} {
			tint.Value = binary.LittleEndian.AppendUint32(tint.Value, math.Float32bits(v))
		}
		if err := r.Request(ctx, worldDevice, iface.ReqSimulationSetProperty, &tint, nil); err != nil {
			t.Fatal(err)
		}
		r.next(addr(player.InterfaceBlobfinder), iface.DataBlobfinderBlobs)
		blobs := *r.next(addr(player.InterfaceBlobfinder), iface.DataBlobfinderBlobs).Payload.(*iface.BlobfinderData)
		real := iface.BlobfinderData{Width: 160, Height: 120, Blobs: []iface.BlobfinderBlob{
			{ID: 1, Color: 16711935, Area: 240, X: 42, Y: 60, Left: 35, Right: 50, Top: 52, Bottom: 68, Range: 3.5108790397644043}}}
		pixels := cmp.Comparer(func(a, b uint32) bool { return a == b || max(a, b)-min(a, b) <= 2 })
		area := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Area" }, cmp.Comparer(func(a, b uint32) bool { return max(a, b)-min(a, b) <= 40 }))
		if diff := cmp.Diff(real.Blobs[0].Range, blobs.Blobs[0].Range, cmpopts.EquateApprox(0, 0.06)); diff != "" || len(blobs.Blobs) != 1 || blobs.Blobs[0].Color != 16711935 || blobs.Width != 160 {
			t.Errorf("blobs are %+v, real %+v", blobs, real)
		}
		if diff := cmp.Diff(real.Blobs[0], blobs.Blobs[0], area, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() != ".Area" }, pixels),
			cmpopts.IgnoreFields(iface.BlobfinderBlob{}, "Range", "Color")); diff != "" {
			t.Errorf("blob (-real +ours):\n%s", diff)
		}
		if diff := cmp.Diff(&iface.BumperData{Bumpers: []uint8{0, 0, 0}}, r.next(addr(player.InterfaceBumper), iface.DataBumperState).Payload); diff != "" {
			t.Errorf("bumpers (-real +ours):\n%s", diff)
		}
		scan := r.next(addr(player.InterfaceLaser), iface.DataLaserScan).Payload.(*iface.LaserData)
		if len(scan.Ranges) != 181 || len(scan.Intensity) != 181 || scan.MaxRange != 8 || math.Abs(float64(scan.Resolution)-0.01735686) > 1e-6 {
			t.Errorf("laser scan of %d ranges, %d intensities, at most %v m, resolution %v", len(scan.Ranges), len(scan.Intensity), scan.MaxRange, scan.Resolution)
		}
		// What playerc calls min_left and min_right of that scan.
		left, right := float32(8), float32(8)
		for i, v := range scan.Ranges {
			if i < 90 {
				right = min(right, v)
			} else {
				left = min(left, v)
			}
		}
		if math.Abs(float64(left)-2.702) > 0.06 || math.Abs(float64(right)-2.702) > 0.06 {
			t.Errorf("nearest left %v, right %v; real 2.702 both", left, right)
		}
	})
}

// TestGripperLikeReal: open and closed with 19 or 20 readings on the way.
func TestGripperLikeReal(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		gripper := addr(player.InterfaceGripper)
		r := planned(t, ctx, "capture.cfg", 6665, func(a player.Addr) bool { return a.Interf == player.InterfaceGripper })
		states := func(subtype, end uint8) (moving int) {
			if err := r.Send(ctx, gripper, subtype, nil); err != nil {
				t.Fatal(err)
			}
			for range 40 {
				switch s := r.next(gripper, iface.DataGripperState).Payload.(*iface.GripperData).State; s {
				case iface.GripperStateMoving:
					moving++
				case end:
					if moving > 0 {
						return moving
					}
				}
			}
			return -1
		}
		for _, c := range []struct{ subtype, end uint8 }{
			{iface.CmdGripperClose, iface.GripperStateClosed}, {iface.CmdGripperOpen, iface.GripperStateOpen},
		} {
			if n := states(c.subtype, c.end); n < 19 || n > 20 {
				t.Errorf("command %d: moves for %d readings, real 19 or 20", c.subtype, n)
			}
		}
	})
}

// TestFiducialNumber: the number on the finder itself is told, and set.
func TestFiducialNumber(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := planned(t, ctx, "capture.cfg", 6665, nil)
		var got iface.FiducialID
		if err := r.Request(ctx, addr(player.InterfaceFiducial), iface.ReqFiducialSetID, &iface.FiducialID{ID: 42}, &got); err != nil || got.ID != 42 {
			t.Fatalf("set: %v, %v", got, err)
		}
		if err := r.Request(ctx, addr(player.InterfaceFiducial), iface.ReqFiducialGetID, nil, &got); err != nil || got.ID != 42 {
			t.Fatalf("get: %v, %v", got, err)
		}
		if err := r.sim.Do(ctx, func(w *sim.World) {
			if n := w.Find("alpha.fiducial:0").FiducialReturn(); n != 42 {
				t.Errorf("the finder shows %d", n)
			}
		}); err != nil {
			t.Fatal(err)
		}
	})
}
