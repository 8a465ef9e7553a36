package simdriver

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

// load makes a World of a file in testdata.
func load(t *testing.T, name string) *sim.World {
	t.Helper()
	file, problems := worldfile.Load(func(n string) ([]byte, error) { return os.ReadFile(filepath.Join("testdata", n)) }, name)
	if file == nil {
		t.Fatal(problems.First())
	}
	w, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// reading is a DATA message as a test keeps it.
type reading struct {
	Header  player.Header
	Payload any
}

// listener is a client's Handler that keeps what comes.
type listener struct {
	up       chan []client.Device
	readings chan reading
}

func (l *listener) Up(d []client.Device)    { l.up <- d }
func (l *listener) Changed(d client.Device) {}
func (l *listener) Round()                  {}
func (l *listener) Overflow(uint64)         {}
func (l *listener) Down(error)              {}
func (l *listener) Message(h player.Header, payload any) {
	select {
	case l.readings <- reading{h, clone(payload)}:
	default: // the test has seen enough
	}
}

// clone copies a message, whose memory the client uses again.
func clone(payload any) any {
	if payload == nil {
		return nil
	}
	from := reflect.ValueOf(payload).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	for i := range from.NumField() {
		if f := to.Elem().Field(i); f.Kind() == reflect.Slice {
			f.Set(reflect.AppendSlice(reflect.MakeSlice(f.Type(), 0, f.Len()), f))
		}
	}
	return to.Interface()
}

// rig is a simulation behind one server on a pipe, with one client.
type rig struct {
	*testing.T
	sim *Simulation
	*client.Client
	listener *listener
	devices  []client.Device
}

// start serves robots of a world, each at its index, opening what open says.
func start(t *testing.T, ctx context.Context, cfg Config, open func(player.Addr) bool, robots ...string) *rig {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	drivers := []server.Driver{s.World()}
	for i, name := range robots {
		d, err := s.driver(name, uint16(i), true)
		if err != nil {
			t.Fatal(err)
		}
		drivers = append(drivers, d)
	}
	return serve(t, ctx, s, open, drivers...)
}

// serve runs a simulation with drivers behind a server, and a client.
func serve(t *testing.T, ctx context.Context, s *Simulation, open func(player.Addr) bool, drivers ...server.Driver) *rig {
	t.Helper()
	return serveTo(t, ctx, s, open, nil, drivers...)
}

// serveTo is serve for a client that opens the twins that twin says.
func serveTo(t *testing.T, ctx context.Context, s *Simulation, open, twin func(player.Addr) bool, drivers ...server.Driver) *rig {
	t.Helper()
	pipe := server.NewPipeListener("test", 0)
	srv, err := server.New(server.Config{Listener: pipe, Drivers: drivers, Clock: s.Clock})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, sim: s, listener: &listener{up: make(chan []client.Device, 10), readings: make(chan reading, 10000)}}
	r.Client, err = client.New(client.Config{Address: "test:1", Dial: pipe.Dial, Open: open, Twin: twin, Handler: r.listener})
	if err != nil {
		t.Fatal(err)
	}
	go srv.Run(ctx)
	go s.Run(ctx)
	go r.Client.Run(ctx)
	r.devices = <-r.listener.up
	return r
}

// next waits for a reading of a device.
func (r *rig) next(a player.Addr, subtype uint8) reading {
	r.Helper()
	for {
		select {
		case got := <-r.listener.readings:
			if got.Header.Interf == a.Interf && got.Header.Index == a.Index && got.Header.Subtype == subtype {
				return got
			}
		case <-time.After(20 * time.Second):
			r.Fatalf("no DATA %d of %s", subtype, a)
		}
	}
}

var (
	positionDevice = player.Addr{Interf: player.InterfacePosition2D}
	scannerDevice  = player.Addr{Interf: player.InterfaceRanger}
	ringDevice     = player.Addr{Interf: player.InterfaceRanger, Index: 1}
	worldDevice    = player.Addr{Interf: player.InterfaceSimulation}
)

// bubble runs a test in time of its own.
func bubble(t *testing.T, f func(t *testing.T, ctx context.Context)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer func() {
			cancel()
			synctest.Wait()
		}()
		f(t, ctx)
	})
}

// TestLikeRealPlugin: geometry, configuration and a scan are those that real
// Stage's plug-in gave for the same world.
func TestLikeRealPlugin(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 1}, nil, "alpha", "beta")
		var got []string
		for _, d := range r.devices {
			got = append(got, d.Addr.String()+" "+d.Driver)
		}
		want := []string{"position2d:0 stage", "ranger:0 stage", "ranger:1 stage", "fiducial:0 stage", "blobfinder:0 stage", "bumper:0 stage", "gripper:0 stage",
			"position2d:1 stage", "ranger:2 stage", "ranger:3 stage"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("devices (-want +got):\n%s", diff)
		}
		near := cmpopts.EquateApprox(0, 1e-9)
		var geom iface.RangerGeom
		var config iface.RangerConfig
		var base iface.Position2DGeom
		for _, q := range []struct {
			addr    player.Addr
			subtype uint8
			resp    any
		}{
			{scannerDevice, iface.ReqRangerGetGeom, &geom},
			{scannerDevice, iface.ReqRangerGetConfig, &config},
			{positionDevice, iface.ReqPosition2DGetGeom, &base},
		} {
			if err := r.Request(ctx, q.addr, q.subtype, nil, q.resp); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(iface.RangerGeom{
			Pose: iface.Pose3D{Px: 0.1}, Size: iface.BBox3D{Sw: 0.14, Sl: 0.14},
			ElementPoses: []iface.Pose3D{{}}, ElementSizes: []iface.BBox3D{{Sw: 0.02, Sl: 0.02, Sh: 0.02}},
		}, geom, near); diff != "" {
			t.Errorf("ranger:0 geometry (-real +ours):\n%s", diff)
		}
		if diff := cmp.Diff(iface.RangerConfig{
			MinAngle: -1.5707963267948966, MaxAngle: 1.5707963267948966, AngularRes: 0.01735686548944637,
			MaxRange: 8, RangeRes: 0.02, Frequency: 10,
		}, config, near); diff != "" {
			t.Errorf("ranger:0 configuration (-real +ours):\n%s", diff)
		}
		if base.Pose.Px != -0.04 || base.Size.Sw != 0.38 || base.Size.Sl != 0.44 {
			t.Errorf("position2d:0 geometry is %+v, real: x -0.04, 0.38 x 0.44", base)
		}
		if err := r.Request(ctx, ringDevice, iface.ReqRangerGetGeom, nil, &geom); err != nil {
			t.Fatal(err)
		}
		if p := geom.ElementPoses; len(p) != 8 || p[1].Px != 0.16 || math.Abs(p[1].Pyaw-0.5235987755982988) > 1e-9 ||
			geom.ElementSizes[0] != (iface.BBox3D{Sw: 0.02, Sl: 0.04, Sh: 0.04}) {
			t.Errorf("ranger:1 geometry is %+v", geom)
		}
		if err := r.Request(ctx, ringDevice, iface.ReqRangerGetConfig, nil, &config); err != nil {
			t.Fatal(err)
		}
		if math.Abs(config.AngularRes-0.3490658503988659) > 1e-9 {
			t.Errorf("ranger:1 angular resolution is %v, real 0.349", config.AngularRes)
		}
		checkScan(t, r)
	})
}

// checkScan compares a scan with the captured one.
func checkScan(t *testing.T, r *rig) {
	var real struct{ Ranges, Intensities []float64 }
	b, err := os.ReadFile("testdata/alpha-scan.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &real); err != nil {
		t.Fatal(err)
	}
	scan := r.next(scannerDevice, iface.DataRangerRange)
	intns := r.next(scannerDevice, iface.DataRangerIntns)
	if intns.Header.Timestamp != scan.Header.Timestamp {
		t.Errorf("intensities of %v s follow a scan of %v s", intns.Header.Timestamp, scan.Header.Timestamp)
	}
	ranges, returned := scan.Payload.(*iface.RangerDataRange).Ranges, intns.Payload.(*iface.RangerDataIntns).Intensities
	if len(ranges) != len(real.Ranges) || len(returned) != len(real.Ranges) {
		t.Fatalf("%d ranges and %d intensities, real %d", len(ranges), len(returned), len(real.Ranges))
	}
	off, other := 0, 0
	for i := range ranges {
		if math.Abs(ranges[i]-real.Ranges[i]) > 0.06 {
			off++
		}
		if returned[i] != real.Intensities[i] {
			other++
		}
	}
	if off > len(ranges)/20 || other > len(ranges)/50 {
		t.Errorf("%d of %d ranges are off by more than 0.06 m, %d intensities differ", off, len(ranges), other)
	}
	ring := r.next(ringDevice, iface.DataRangerRange).Payload.(*iface.RangerDataRange).Ranges
	if len(ring) != 8 {
		t.Errorf("the ring has %d ranges, expected 8", len(ring))
	}
}

// TestCommands: velocity acts with the next step and stays in force; times are
// simulated; odometry is set and reset.
func TestCommands(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 1}, nil, "alpha")
		first := r.next(positionDevice, iface.DataPosition2DState)
		state := func() *iface.Position2DData {
			return r.next(positionDevice, iface.DataPosition2DState).Payload.(*iface.Position2DData)
		}
		if p := first.Payload.(*iface.Position2DData).Pos; math.Abs(p.Px+6) > 1e-9 {
			t.Errorf("begins at %+v", p)
		}
		if err := r.Send(ctx, positionDevice, iface.CmdPosition2DVel, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 2, Pa: 0.2}, State: 1}); err != nil {
			t.Fatal(err)
		}
		var s *iface.Position2DData
		for range 10 {
			s = state()
		}
		if s.Vel.Px != 1 || s.Vel.Pa != 0.2 {
			t.Errorf("velocity %+v, expected 1 m/s (bounded) and 0.2 rad/s", s.Vel)
		}
		if err := r.Request(ctx, positionDevice, iface.ReqPosition2DMotorPower, &iface.Position2DPowerConfig{State: 1}, nil); err != nil {
			t.Error(err)
		}
		if err := r.Send(ctx, positionDevice, iface.CmdPosition2DVel, &iface.Position2DCmdVel{}); err != nil {
			t.Fatal(err)
		}
		if err := r.Request(ctx, positionDevice, iface.ReqPosition2DSetOdom, &iface.Position2DSetOdomReq{Pose: iface.Pose2D{Px: 1.5, Py: -2.25, Pa: 0.75}}, nil); err != nil {
			t.Error(err)
		}
		state()
		if s = state(); math.Abs(s.Pos.Px-1.5) > 1e-9 || math.Abs(s.Pos.Py+2.25) > 1e-9 {
			t.Errorf("odometry was set, and is %+v", s.Pos)
		}
		if err := r.Request(ctx, positionDevice, iface.ReqPosition2DResetOdom, nil, nil); err != nil {
			t.Error(err)
		}
		state()
		if s = state(); s.Pos != (iface.Pose2D{}) {
			t.Errorf("odometry was reset, and is %+v", s.Pos)
		}
		var nack *client.NackError
		if err := r.Request(ctx, positionDevice, iface.ReqPosition2DSpeedPID, &iface.Position2DSpeedPIDReq{}, nil); !errors.As(err, &nack) {
			t.Errorf("SPEED_PID: %v, expected a refusal", err)
		}
		// A car's steering and a goal are commands too.
		if err := r.Send(ctx, positionDevice, iface.CmdPosition2DPos, &iface.Position2DCmdPos{Pos: iface.Pose2D{Px: 1}}); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			s = state()
		}
		if math.Abs(s.Pos.Px-1) > 0.05 || math.Abs(s.Pos.Py) > 0.05 {
			t.Errorf("was sent to 1, 0, and is at %+v", s.Pos)
		}
	})
}

// TestTimes: readings come in real time at the model's interval, stamped with
// simulated time.
func TestTimes(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 2}, nil, "alpha")
		begin, first := time.Now(), r.next(positionDevice, iface.DataPosition2DState).Header.Timestamp
		for i := 1; i <= 50; i++ {
			stamp := r.next(positionDevice, iface.DataPosition2DState).Header.Timestamp
			if math.Abs(stamp-first-float64(i)*0.1) > 1e-9 {
				t.Fatalf("reading %d has time %v after %v", i, stamp, first)
			}
		}
		if took := time.Since(begin); took < 2400*time.Millisecond || took > 2600*time.Millisecond {
			t.Errorf("5 s at twice real time took %v", took)
		}
	})
}

// TestDataOnlyWhileOpened: a device that nobody has opened is not subscribed.
func TestDataOnlyWhileOpened(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		session, end := context.WithCancel(ctx)
		r := start(t, session, Config{World: load(t, "capture.world"), Speed: 1},
			func(a player.Addr) bool { return a.Interf == player.InterfacePosition2D }, "alpha")
		r.next(positionDevice, iface.DataPosition2DState)
		if err := r.sim.Do(ctx, func(w *sim.World) {
			if !w.Find("alpha").Subscribed() || w.Find("alpha.ranger:0").Subscribed() {
				t.Error("what is opened is not what is subscribed")
			}
		}); err != nil {
			t.Fatal(err)
		}
		end()
		synctest.Wait()
		if err := r.sim.Do(ctx, func(*sim.World) {}); !errors.Is(err, errEnded) && !errors.Is(err, errFull) {
			t.Errorf("Do after the end: %v", err)
		}
	})
}

// TestSimulationInterface: poses, properties, pause and reset.
func TestSimulationInterface(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 1}, nil, "alpha", "beta")
		ask := func(subtype uint8, req, resp any) error { return r.Request(ctx, worldDevice, subtype, req, resp) }
		pose := iface.SimulationPose2DReq{Name: iface.CString("alpha"), Pose: iface.Pose2D{Px: -5.5, Py: -5, Pa: 0.75}}
		if err := ask(iface.ReqSimulationSetPose2D, &pose, nil); err != nil {
			t.Fatal(err)
		}
		got := iface.SimulationPose2DReq{}
		if err := ask(iface.ReqSimulationGetPose2D, &iface.SimulationPose2DReq{Name: iface.CString("alpha")}, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pose, got); diff != "" {
			t.Errorf("pose (-set +got):\n%s", diff)
		}
		pose3 := iface.SimulationPose3DReq{Name: iface.CString("beta"), Pose: iface.Pose3D{Px: 4, Py: -3, Pyaw: 1.25}}
		if err := ask(iface.ReqSimulationSetPose3D, &pose3, nil); err != nil {
			t.Fatal(err)
		}
		got3 := iface.SimulationPose3DReq{}
		if err := ask(iface.ReqSimulationGetPose3D, &iface.SimulationPose3DReq{Name: iface.CString("beta")}, &got3); err != nil {
			t.Fatal(err)
		}
		if got3.Pose != pose3.Pose || got3.Simtime != r.sim.Clock()*1e6 {
			t.Errorf("pose3d %+v at %v µs", got3.Pose, got3.Simtime)
		}
		color := iface.SimulationPropertyReq{Name: iface.CString("greenbox"), Prop: iface.CString("color")}
		for _, v := range []float32{0.2, 0.4, 0.6, 1} {
			color.Value = binary.LittleEndian.AppendUint32(color.Value, math.Float32bits(v))
		}
		if err := ask(iface.ReqSimulationSetProperty, &color, nil); err != nil {
			t.Fatal(err)
		}
		back := iface.SimulationPropertyReq{}
		if err := ask(iface.ReqSimulationGetProperty, &iface.SimulationPropertyReq{Name: color.Name, Prop: color.Prop, Value: make([]byte, 16)}, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(color, back); diff != "" {
			t.Errorf("colour (-set +got):\n%s", diff)
		}
		refused(t, ask, color)
		pauseAndReset(t, ctx, r)
	})
}

// refused: unknown models and properties, values of the wrong size, and empty
// requests are refused.
func refused(t *testing.T, ask func(uint8, any, any) error, color iface.SimulationPropertyReq) {
	nan := iface.Pose2D{Px: math.NaN()}
	for i, q := range []struct {
		subtype uint8
		req     any
	}{
		{iface.ReqSimulationGetPose2D, &iface.SimulationPose2DReq{Name: iface.CString("nosuchmodel")}},
		{iface.ReqSimulationSetPose2D, &iface.SimulationPose2DReq{Name: iface.CString("alpha"), Pose: nan}},
		{iface.ReqSimulationGetPose3D, &iface.SimulationPose3DReq{Name: iface.CString("nosuchmodel")}},
		{iface.ReqSimulationGetProperty, &iface.SimulationPropertyReq{Name: color.Name, Prop: iface.CString("colour"), Value: make([]byte, 16)}},
		{iface.ReqSimulationGetProperty, &iface.SimulationPropertyReq{Name: color.Name, Prop: color.Prop, Value: make([]byte, 4)}},
	} {
		var nack *client.NackError
		if err := ask(q.subtype, q.req, nil); !errors.As(err, &nack) {
			t.Errorf("case %d: %v, expected a refusal", i, err)
		}
	}
}

// TestTimeProperty: our client does not ask for it, as that harms real Stage;
// others may.
func TestTimeProperty(t *testing.T) {
	s, err := New(Config{World: load(t, "capture.world"), Duration: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	req := &iface.SimulationPropertyReq{Name: iface.CString("alpha"), Prop: iface.CString("time"), Value: make([]byte, 8)}
	got, ok := s.property(iface.ReqSimulationGetProperty, req)
	if !ok || binary.LittleEndian.Uint64(got.(*iface.SimulationPropertyReq).Value) != 1e6 {
		t.Errorf("time: %v, %v", got, ok)
	}
	if _, ok := s.property(iface.ReqSimulationSetProperty, req); ok {
		t.Error("the time was set")
	}
}

// pauseAndReset: time stands while paused, requests are answered all the same,
// and a reset puts the models back.
func pauseAndReset(t *testing.T, ctx context.Context, r *rig) {
	r.next(positionDevice, iface.DataPosition2DState)
	if err := r.Send(ctx, worldDevice, iface.CmdSimulationPause, nil); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	at := r.sim.Clock()
	<-time.After(3 * time.Second) // of the bubble
	if r.sim.Clock() != at {
		t.Errorf("paused, and the clock went from %v to %v", at, r.sim.Clock())
	}
	var got iface.SimulationPose2DReq
	if err := r.Send(ctx, worldDevice, iface.CmdSimulationReset, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Request(ctx, worldDevice, iface.ReqSimulationGetPose2D, &iface.SimulationPose2DReq{Name: iface.CString("alpha")}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Pose.Px != -6 || got.Pose.Py != -6 {
		t.Errorf("after the reset alpha is at %+v", got.Pose)
	}
	if err := r.Send(ctx, worldDevice, iface.CmdSimulationPause, nil); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Second)
	if gone := r.sim.Clock() - at; gone < 0.8 || gone > 1.2 {
		t.Errorf("a second after the pause %v s of simulated time have gone", gone)
	}
}

// TestWanderUntilCommanded: robots wander, stop doing so for a client, and take
// it up again.
func TestWanderUntilCommanded(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 1, Wander: true, Idle: 5 * time.Second}, nil, "alpha")
		state := func() *iface.Position2DData {
			return r.next(positionDevice, iface.DataPosition2DState).Payload.(*iface.Position2DData)
		}
		for range 20 {
			state()
		}
		if v := state().Vel; v == (iface.Pose2D{}) {
			t.Error("does not wander")
		}
		if err := r.Send(ctx, positionDevice, iface.CmdPosition2DVel, &iface.Position2DCmdVel{}); err != nil {
			t.Fatal(err)
		}
		state()
		for range 40 {
			if v := state().Vel; v != (iface.Pose2D{}) {
				t.Fatalf("commanded to stand, and drives at %+v", v)
			}
		}
		for range 20 {
			state()
		}
		if v := state().Vel; v == (iface.Pose2D{}) {
			t.Error("does not wander again")
		}
	})
}

// TestDuration: as fast as possible, and ends by itself.
func TestDuration(t *testing.T) {
	s, err := New(Config{World: load(t, "capture.world"), Duration: 30 * time.Second, Wander: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.Clock() != 30 {
		t.Errorf("ended at %v s", s.Clock())
	}
	if err := s.Run(t.Context()); err == nil {
		t.Error("ran twice")
	}
}

// TestManyOnOnePort: robots by index on one port.
func TestManyOnOnePort(t *testing.T) {
	text := "define d position ( ranger ( sensor ( samples 5 ) ) ranger ( sensor ( samples 1 ) ) )\n"
	for i := range 300 {
		text += fmt.Sprintf("d ( name \"r%d\" pose [ %d 0 0 0 ] )\n", i, i)
	}
	file, problems := worldfile.Load(func(string) ([]byte, error) { return []byte(text), nil }, "many.world")
	if file == nil {
		t.Fatal(problems)
	}
	w, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{World: w})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Robots()); n != 300 {
		t.Fatalf("%d robots", n)
	}
	d, err := s.driver("r299", 299, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []server.DeviceInfo{
		{Interf: player.InterfacePosition2D, Index: 299, Driver: "stage"},
		{Interf: player.InterfaceRanger, Index: 598, Driver: "stage"},
		{Interf: player.InterfaceRanger, Index: 599, Driver: "stage"},
		{Interf: player.InterfaceLaser, Index: 598, Driver: "twin of ranger:598"},
		{Interf: player.InterfaceLaser, Index: 599, Driver: "twin of ranger:599"},
	}
	if diff := cmp.Diff(want, d.Devices()); diff != "" {
		t.Error(diff)
	}
	if _, err := s.driver("r300", 300, true); err == nil {
		t.Error("a robot that is not there has a driver")
	}
}

// TestConfig: what New refuses.
func TestConfig(t *testing.T) {
	w := load(t, "capture.world")
	for _, cfg := range []Config{{}, {World: w, Speed: -1}, {World: w, Speed: math.NaN()}, {World: w, Duration: -1}} {
		if _, err := New(cfg); err == nil {
			t.Errorf("New(%+v) gave no error", cfg)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
