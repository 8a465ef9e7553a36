package simdriver

import (
	"context"
	"fmt"
	"math"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"

	"github.com/google/go-cmp/cmp"
)

// twins is a robot with rangers of all kinds.
const twins = `position ( name "r"
	ranger ( name "scanner" pose [ 0.1 0 0 0 ] sensor ( range [ 0 5.6 ] fov 180 samples 19 ) )
	ranger ( name "ring" sensor ( pose [ 0.2 0 0 0 ] range [ 0 3 ] ) sensor ( pose [ 0 0.2 0 90 ] range [ 0 3 ] ) )
	ranger ( name "eye" sensor ( range [ 0 1 ] ) )
	ranger ( name "blind" ) )
	model ( pose [ 2 0 0 0 ] size [ 1 4 3 ] ranger_return 0.7 )`

// TestTwins: each ranger is shown as laser or sonar too, with the same ranges at
// the same times; a ranger without sensors is not.
func TestTwins(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		s, err := New(Config{World: text(t, twins), Speed: 1})
		if err != nil {
			t.Fatal(err)
		}
		drivers, err := s.Drivers(s.Robots())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range drivers[0].Devices() {
			got = append(got, fmt.Sprintf("%s:%d %s", d.Interf, d.Index, d.Driver))
		}
		if diff := cmp.Diff([]string{"position2d:0 stage", "ranger:0 stage", "ranger:1 stage", "ranger:2 stage", "ranger:3 stage",
			"laser:0 twin of ranger:0", "laser:1 twin of ranger:2", "sonar:0 twin of ranger:1"}, got); diff != "" {
			t.Errorf("devices (-want +got):\n%s", diff)
		}
		index := func(i player.Interface, n uint16) player.Addr { return player.Addr{Interf: i, Index: n} }
		laser, eye, sonar := index(player.InterfaceLaser, 0), index(player.InterfaceLaser, 1), index(player.InterfaceSonar, 0)
		opened := map[player.Addr]bool{index(player.InterfaceRanger, 0): true, index(player.InterfaceRanger, 1): true, laser: true, eye: true, sonar: true}
		all := func(a player.Addr) bool { return opened[index(a.Interf, a.Index)] }
		r := serveTo(t, ctx, s, all, all, drivers...)
		scan := r.next(laser, iface.DataLaserScan)
		same := r.next(index(player.InterfaceRanger, 0), iface.DataRangerRange)
		for same.Header.Timestamp < scan.Header.Timestamp {
			same = r.next(index(player.InterfaceRanger, 0), iface.DataRangerRange)
		}
		l, ranges := scan.Payload.(*iface.LaserData), same.Payload.(*iface.RangerDataRange).Ranges
		if len(l.Ranges) != 19 || len(ranges) != 19 || l.MaxRange != 5.6 {
			t.Fatalf("%d and %d ranges, at most %v m", len(l.Ranges), len(ranges), l.MaxRange)
		}
		for i, v := range l.Ranges {
			if float64(v) != float64(float32(ranges[i])) {
				t.Errorf("range %d is %v as laser, %v as ranger", i, v, ranges[i])
			}
		}
		if v := r.next(eye, iface.DataLaserScan).Payload.(*iface.LaserData); len(v.Ranges) != 1 || v.Ranges[0] != 1 {
			t.Errorf("the eye sees %+v", v)
		}
		ring := r.next(sonar, iface.DataSonarRanges).Payload.(*iface.SonarData).Ranges
		if len(ring) != 2 || math.Abs(float64(ring[0])-1.3) > 0.06 || ring[1] != 3 {
			t.Errorf("the ring has %v", ring)
		}
		var geom iface.SonarGeom
		if err := r.Request(ctx, sonar, iface.ReqSonarGetGeom, nil, &geom); err != nil || len(geom.Poses) != 2 || geom.Poses[1].Py != 0.2 {
			t.Errorf("the ring's geometry is %+v, %v", geom, err)
		}
	})
}

// text makes a World of a world file's text.
func text(t *testing.T, text string) *sim.World {
	t.Helper()
	file, problems := worldfile.Load(func(string) ([]byte, error) { return []byte(text), nil }, "text.world")
	if file == nil {
		t.Fatal(problems)
	}
	w, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestTwinsMakeRoom: robots that would not fit on a port with their twins have
// none, and all fit.
func TestTwinsMakeRoom(t *testing.T) {
	for n, want := range map[int]int{1365: 3, 1366: 2, 2047: 2} {
		file := "define d position ( ranger ( sensor ( samples 5 ) ) )\n"
		for i := range n {
			file += fmt.Sprintf("d ( pose [ %d 0 0 0 ] )\n", i)
		}
		s, err := New(Config{World: text(t, file)})
		if err != nil {
			t.Fatal(err)
		}
		if s.PerPort() != 2047 {
			t.Errorf("%d robots on a port, expected 2047", s.PerPort())
		}
		drivers, err := s.Drivers(s.Robots())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(drivers[n-1].Devices()); got != want {
			t.Errorf("of %d robots each has %d devices, expected %d", n, got, want)
		}
		if _, err := server.New(server.Config{Listener: server.NewPipeListener("test", 0), Drivers: append(drivers, s.World())}); err != nil {
			t.Error(err)
		}
	}
}
