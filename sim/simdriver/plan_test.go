package simdriver

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playercfg"
	"callboard/player/problem"
	"callboard/sim"
	"callboard/sim/worldfile"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// texts opens files by name.
func texts(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if t, ok := files[name]; ok {
			return []byte(t), nil
		}
		return nil, os.ErrNotExist
	}
}

// plan makes the plan of a configuration's text, after the section for the
// simulation, with a world's.
func plan(t *testing.T, cfg, world string) (*sim.World, *Plan, problem.List) {
	t.Helper()
	open := texts(map[string]string{
		"a.cfg": `driver ( name "stage" provides [ "simulation:0" ] worldfile "a.world" )` + "\n" + cfg, "a.world": world,
	})
	f, problems := playercfg.Load(playercfg.Config{Name: "a.cfg", Open: open})
	if f == nil {
		t.Fatal(problems)
	}
	w, wrong := worldfile.Load(open, "a.world")
	if w == nil {
		t.Fatal(wrong)
	}
	made, err := sim.New(sim.Config{World: w})
	if err != nil {
		t.Fatal(err)
	}
	p, problems := NewPlan(f, w)
	return made, p, problems
}

// lines returns a plan in words.
func lines(p *Plan) []string {
	var out []string
	for _, port := range p.Ports {
		for _, d := range port.Devices {
			name := "-"
			if d.Model != nil {
				name = d.Model.Name
			}
			out = append(out, fmt.Sprintf("%d %s:%d %s", port.Port, d.Interf, d.Index, name))
		}
	}
	return out
}

const fleet = `
define ring ranger ( sensor ( ) sensor ( ) )
define scan ranger ( sensor ( samples 90 ) )
define bot position ( ring ( ) scan ( name "eyes" ) fiducial ( ) bumper ( bcount 1 ) model ( gripper ( ) blobfinder ( ) ) joules 100 )
bot ( name "r0" ) bot ( name "r1" )
position ( name "s" scan ( ) ring ( ) )
model ( name "floor" map_resolution 0.5 size [ 4 3 1 ] )
`

// TestPlan: models are dealt out by type, first come first served, and what is
// wrong is told with its place.
func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name, cfg      string
		want, problems []string
	}{
		{"in order of the tree, not by index", `driver ( name "stage" provides [ "ranger:5" "position2d:0" "ranger:1" ] model "r0" )`,
			[]string{"6665 ranger:5 r0.ranger:0", "6665 position2d:0 r0", "6665 ranger:1 r0.eyes"}, nil},
		{"a child by name, ports", `driver ( name "stage" provides [ "7000:ranger:0" ] model "r0.eyes" ) driver ( name "stage" provides [ "7001:ranger:0" "7001:gripper:3" "7001:blobfinder:0" ] model "r1" )`,
			[]string{"7000 ranger:0 r0.eyes", "7001 ranger:0 r1.ranger:0", "7001 gripper:3 r1.model:0.gripper:0", "7001 blobfinder:0 r1.model:0.blobfinder:0"}, nil},
		{"taken over all sections", `driver ( name "stage" provides [ "fiducial:0" "bumper:0" ] model "r0" ) driver ( name "stage" provides [ "fiducial:1" ] model "r0" )`,
			[]string{"6665 fiducial:0 r0.fiducial:0", "6665 bumper:0 r0.bumper:0"},
			[]string{`a.cfg:2:106: fiducial:1: r0 has no fiducial left; expected a model of that type on it that no device before has taken`}},
		{"old interfaces", `driver ( name "stage" provides [ "sonar:0" "laser:0" "power:0" "localize:0" ] model "r0" ) driver ( name "stage" provides [ "map:0" "speech:0" "graphics2d:0" ] model "floor" )`,
			[]string{"6665 sonar:0 r0.ranger:0", "6665 laser:0 r0.eyes", "6665 power:0 r0", "6665 localize:0 r0", "6665 map:0 floor", "6665 speech:0 floor", "6665 graphics2d:0 floor"}, nil},
		{"a scanner is no sonar", `driver ( name "stage" provides [ "sonar:0" "laser:0" ] model "s" )`,
			[]string{"6665 sonar:0 s.ranger:1", "6665 laser:0 s.ranger:0"}, nil},
		{"rangertolaser", `driver ( name "rangertolaser" requires [ "ranger:1" ] provides [ "laser:4" ] ) driver ( name "stage" provides [ "ranger:0" "ranger:1" ] model "r0" )`,
			[]string{"6665 ranger:0 r0.ranger:0", "6665 ranger:1 r0.eyes", "6665 laser:4 r0.eyes"}, nil},
		{"what is not served", `driver ( name "stage" provides [ "position2d:0" "camera:0" "wifi:0" ] model "r0" ) driver ( name "vfh" requires [ "position2d:0" ] provides [ "position2d:1" ] )`,
			[]string{"6665 position2d:0 r0"},
			[]string{"a.cfg:2:49: warning: camera:0 is not simulated and not served: no pictures are drawn here", "a.cfg:2:60: warning: wifi:0 is not simulated and not served, nor is it by Stage 4",
				`a.cfg:2:84: warning: driver "vfh" does not run here; not served: position2d:1`}},
		{"no such model", `driver ( name "stage" provides [ "position2d:0" ] model "ro" )`, nil, []string{`a.cfg:2:57: a.world has no model "ro"; expected "r0"`}},
		{"no pack", `driver ( name "stage" provides [ "power:0" ] model "floor" )`, nil, []string{`a.cfg:2:34: warning: power:0 is not served: floor has no power pack; expected joules in the world`}},
	} {
		_, p, problems := plan(t, c.cfg, fleet)
		if diff := cmp.Diff(append([]string{"6665 simulation:0 -"}, c.want...), lines(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		var got []string
		for _, p := range problems {
			got = append(got, p.Error())
		}
		if diff := cmp.Diff(c.problems, got); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", c.name, diff)
		}
	}
}

// configured serves all that a plan has on its first port.
func configured(t *testing.T, ctx context.Context, w *sim.World, p *Plan) *rig {
	t.Helper()
	s, err := New(Config{World: w, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Serve(p.Ports[0].Devices)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, ctx, s, nil, d)
}

// TestOldInterfaces: laser, sonar, power, localize and map, as plug-ins before
// Stage 4 served them.
func TestOldInterfaces(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w, p, _ := plan(t, `driver ( name "stage" provides [ "position2d:0" "sonar:0" "laser:0" "power:0" "localize:0" ] model "r" )
			driver ( name "stage" provides [ "map:0" ] model "floor" )`, `
			position ( name "r" pose [ 1 2 0 90 ] size [ 0.4 0.4 0.2 ] joules 100 joules_capacity 400
				ranger ( pose [ 0.1 0 0 0 ] sensor ( pose [ 0.1 0 0 0 ] range [ 0 3 ] ) sensor ( pose [ 0 0.1 0 90 ] range [ 0 3 ] ) )
				ranger ( sensor ( samples 3 fov 180 range [ 0 4 ] ) ) )
			model ( name "floor" map_resolution 0.5 size [ 4 3 1 ] pose [ 1 4.5 0 0 ] ranger_return 3 )`)
		r := configured(t, ctx, w, p)
		near := cmpopts.EquateApprox(0, 0.011)
		sonar := r.next(addr(player.InterfaceSonar), iface.DataSonarRanges).Payload
		if diff := cmp.Diff(&iface.SonarData{Ranges: []float32{0.8, 3}}, sonar, near); diff != "" {
			t.Errorf("sonar (-want +got):\n%s", diff)
		}
		var poses iface.SonarGeom
		if err := r.Request(ctx, addr(player.InterfaceSonar), iface.ReqSonarGetGeom, nil, &poses); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]iface.Pose3D{{Px: 0.2}, {Px: 0.1, Py: 0.1, Pyaw: math.Pi / 2}}, poses.Poses, near); diff != "" {
			t.Errorf("sonar poses (-want +got):\n%s", diff)
		}
		laser := r.next(addr(player.InterfaceLaser), iface.DataLaserScan).Payload
		if diff := cmp.Diff(&iface.LaserData{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: math.Pi / 3, MaxRange: 4,
			Ranges: []float32{4, 1, 4}, Intensity: []uint8{0, 3, 0}}, laser, near); diff != "" {
			t.Errorf("laser (-want +got):\n%s", diff)
		}
		at := r.next(addr(player.InterfaceLocalize), iface.DataLocalizeHypoths).Payload.(*iface.LocalizeData)
		if diff := cmp.Diff([]iface.LocalizeHypoth{{Mean: iface.Pose2D{Px: 1, Py: 2, Pa: math.Pi / 2}, Alpha: 1}}, at.Hypoths); diff != "" {
			t.Errorf("localize (-want +got):\n%s", diff)
		}
		power := *r.next(addr(player.InterfacePower), iface.DataPowerState).Payload.(*iface.PowerData)
		if power.Valid != iface.PowerMaskJoules|iface.PowerMaskPercent|iface.PowerMaskWatts|iface.PowerMaskCharging ||
			power.Joules > 100 || power.Joules < 97 || math.Abs(float64(power.Percent-power.Joules/4)) > 1e-4 || power.Charging != 0 {
			t.Errorf("power is %+v", power)
		}
		checkMap(t, ctx, r)
	})
}

// checkMap: an outline of 8 by 6 cells with nothing inside.
func checkMap(t *testing.T, ctx context.Context, r *rig) {
	device := addr(player.InterfaceMap)
	var info iface.MapInfo
	if err := r.Request(ctx, device, iface.ReqMapGetInfo, nil, &info); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(iface.MapInfo{Scale: 0.5, Width: 8, Height: 6, Origin: iface.Pose2D{Px: -2, Py: -1.5}}, info); diff != "" {
		t.Errorf("map (-want +got):\n%s", diff)
	}
	for _, tile := range []struct{ col, row, width, height uint32 }{{0, 0, 8, 6}, {2, 0, 3, 2}, {6, 4, 2, 2}} {
		var data iface.MapData
		req := &iface.MapData{Col: tile.col, Row: tile.row, Width: tile.width, Height: tile.height}
		if err := r.Request(ctx, device, iface.ReqMapGetData, req, &data); err != nil {
			t.Fatal(err)
		}
		cells, err := data.Cells(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range cells {
			x, y := tile.col+uint32(i)%tile.width, tile.row+uint32(i)/tile.width
			want := int8(-1)
			if x == 0 || y == 0 || x == 7 || y == 5 {
				want = 1
			}
			if got != want {
				t.Errorf("tile %+v: cell %d, %d is %d, expected %d", tile, x, y, got, want)
			}
		}
	}
	for _, beyond := range []*iface.MapData{{Col: 5, Width: 4, Height: 1}, {Row: 6, Width: 1, Height: 1}, {Width: math.MaxUint32, Height: math.MaxUint32}} {
		if err := r.Request(ctx, device, iface.ReqMapGetData, beyond, &iface.MapData{}); err == nil {
			t.Errorf("tile %+v was given", beyond)
		}
	}
	var vector iface.MapDataVector
	if err := r.Request(ctx, device, iface.ReqMapGetVector, nil, &vector); err != nil {
		t.Fatal(err)
	}
	if len(vector.Segments) != 4 || vector.MaxX != 2 || vector.MinY != -1.5 {
		t.Errorf("vector map is %+v", vector)
	}
}

// TestGeometryHasHeights: what of heights Stage tells.
func TestGeometryHasHeights(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		w, p, _ := plan(t, `driver ( name "stage" provides [ "ranger:0" "blobfinder:0" ] model "r" )`, `
			position ( name "r" ranger ( pose [ 0.1 0 0.3 0 ] sensor ( pose [ 0.1 0.2 -0.05 0 ] ) ) blobfinder ( image [ 160 120 ] ) )
			model ( pose [ 3 0 0 0 ] color "blue" )`)
		r := configured(t, ctx, w, p)
		var geom iface.RangerGeom
		if err := r.Request(ctx, scannerDevice, iface.ReqRangerGetGeom, nil, &geom); err != nil {
			t.Fatal(err)
		}
		if geom.Pose.Pz != 0 || geom.ElementPoses[0].Pz != -0.05 {
			t.Errorf("the ranger is at %+v, its sensor at %+v", geom.Pose, geom.ElementPoses[0])
		}
		blobs := r.next(addr(player.InterfaceBlobfinder), iface.DataBlobfinderBlobs).Payload.(*iface.BlobfinderData).Blobs
		if len(blobs) != 1 {
			t.Fatalf("blobs are %+v", blobs)
		}
		b := blobs[0]
		if b.Color != 0x0000ff || b.Area != (b.Right-b.Left)*(b.Bottom-b.Top) || b.X != b.Left+(b.Right-b.Left)/2 || b.Y != b.Bottom-(b.Bottom-b.Top)/2 {
			t.Errorf("blob is %+v", b)
		}
	})
}

// TestServeRefuses: what cannot be served.
func TestServeRefuses(t *testing.T) {
	w, p, _ := plan(t, `driver ( name "stage" provides [ "position2d:0" ] model "r0" )`, fleet)
	s, err := New(Config{World: w})
	if err != nil {
		t.Fatal(err)
	}
	r0 := p.Ports[0].Devices[1].Model
	for _, c := range []struct {
		list []Device
		want string
	}{
		{[]Device{{Interf: player.InterfaceRanger, Model: r0}}, "ranger:0 cannot show r0, which is a position"},
		{[]Device{{Interf: player.InterfacePTZ, Model: r0}}, "ptz:0 is not served"},
		{[]Device{{Interf: player.InterfacePosition2D}}, "position2d:0 shows a model that is not in world"},
		{[]Device{{Interf: player.InterfacePosition2D, Model: r0}, {Interf: player.InterfacePosition2D, Model: r0}}, "position2d:0 is given twice"},
	} {
		if _, err := s.Serve(c.list); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, expected %q", c.list, err, c.want)
		}
	}
}

// corpusDir holds configurations as people have them, outside the tree.
const corpusDir = "../../../shared/corpus"

// TestPlanCorpus: the configurations of the corpus whose worlds load are served
// without losing a model.
func TestPlanCorpus(t *testing.T) {
	if _, err := os.Stat(corpusDir); err != nil {
		t.Skip("no corpus beside the tree")
	}
	open := func(name string) ([]byte, error) {
		if filepath.IsAbs(name) {
			return nil, os.ErrNotExist
		}
		return os.ReadFile(name)
	}
	planned, devices, whole := 0, 0, 0
	filepath.WalkDir(corpusDir, func(name string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".cfg" {
			return err
		}
		f, _ := playercfg.Load(playercfg.Config{Name: name, Open: open})
		if f == nil {
			return nil
		}
		file, _, ok := f.Worldfile()
		if !ok {
			return nil
		}
		w, _ := worldfile.Load(open, file)
		if w == nil {
			return nil
		}
		p, problems := NewPlan(f, w)
		planned++
		for _, port := range p.Ports {
			devices += len(port.Devices)
		}
		if err := problems.First(); err != nil {
			t.Log(err)
		} else {
			whole++
		}
		return nil
	})
	t.Logf("%d configurations planned, %d without an error, %d devices", planned, whole, devices)
	if planned < 50 || whole < planned*8/10 {
		t.Errorf("only %d of %d are without an error", whole, planned)
	}
}
