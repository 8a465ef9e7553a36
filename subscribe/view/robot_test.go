package view

import (
	"fmt"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"

	"github.com/google/go-cmp/cmp"
)

// trace is a robot whose readings are written down.
type trace struct {
	*Robot
	got []string
}

func newTrace(devices ...*player.Device) *trace {
	t := &trace{}
	t.Robot = NewRobot(func(a *Arrival) {
		s := fmt.Sprintf("%s@%g %s", a.Device, a.Time, a.Kind)
		switch v := a.View.(type) {
		case *Laser:
			s += fmt.Sprintf(" %v %v", v.Ranges, v.Intensities)
		case *Sonar:
			s += fmt.Sprintf(" %v", v.Ranges)
		case *Position:
			s += fmt.Sprintf(" %g", v.X)
		}
		if a.Back {
			s += " back"
		}
		t.got = append(t.got, s)
	})
	t.Up(devices)
	return t
}

// send sends messages: "laser 0 1.5 3 4" is a scan of laser:0 at 1.5 s with
// ranges 3 and 4; "ranger", "intns", "sonar", "position" likewise; "flush".
func (t *trace) send(devices map[string]*player.Device, messages ...string) {
	for _, m := range messages {
		f := strings.Fields(m)
		if f[0] == "flush" {
			t.Flush()
			continue
		}
		var time float64
		var numbers []float64
		fmt.Sscan(f[2], &time)
		for _, s := range f[3:] {
			var x float64
			fmt.Sscan(s, &x)
			numbers = append(numbers, x)
		}
		var payload any
		name := f[0]
		switch name {
		case "laser":
			var r []float32
			for _, x := range numbers {
				r = append(r, float32(x))
			}
			payload = scanOf(r...)
		case "lit": // a laser's scan with intensities
			payload = &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: []float32{float32(numbers[0])}, Intensity: []uint8{uint8(numbers[1])}}
			name = "laser"
		case "ranger":
			payload = &iface.RangerDataRange{Ranges: numbers}
		case "intns":
			payload = &iface.RangerDataIntns{Intensities: numbers}
			name = "ranger"
		case "sonar":
			payload = &iface.SonarData{Ranges: []float32{float32(numbers[0])}}
		case "position":
			payload = &iface.Position2DData{Pos: iface.Pose2D{Px: numbers[0]}}
		}
		t.Arrive(player.Reading{Device: devices[name+f[1]], Subtype: 1, Time: time, Payload: payload})
	}
}

func TestScans(t *testing.T) {
	devices := map[string]*player.Device{
		"laser0": dev(player.InterfaceLaser, 0), "position0": dev(player.InterfacePosition2D, 0), "ranger0": ranger(0, 1), "ranger1": ranger(1, 3),
	}
	tests := map[string]struct {
		devices  string
		messages []string
		want     []string
	}{
		"a scan and its intensities are one reading": {"ranger0",
			[]string{"ranger 0 1 3", "intns 0 1 9", "ranger 0 2 4", "intns 0 2 8"},
			[]string{"ranger:0@1 laser [3] [9]", "ranger:0@2 laser [4] [8]"}},
		"without intensities the second is not held": {"ranger0",
			[]string{"ranger 0 1 3", "ranger 0 2 4", "ranger 0 3 4.5"},
			[]string{"ranger:0@1 laser [3] []", "ranger:0@2 laser [4] []", "ranger:0@3 laser [4.5] []"}},
		"intensities of another time complete nothing": {"ranger0",
			[]string{"ranger 0 1 3", "intns 0 2 9", "intns 0 2 9", "flush"},
			[]string{"ranger:0@1 laser [3] []"}},
		"a completion that turns up late makes the next be held": {"ranger0",
			[]string{"ranger 0 1 3", "ranger 0 2 4", "intns 0 2 8", "ranger 0 3 4", "intns 0 3 7"},
			[]string{"ranger:0@1 laser [3] []", "ranger:0@2 laser [4] []", "ranger:0@3 laser [4] [7]"}},
		"a missing completion lets the next through": {"ranger0",
			[]string{"ranger 0 1 3", "intns 0 1 9", "ranger 0 2 4", "ranger 0 3 5"},
			[]string{"ranger:0@1 laser [3] [9]", "ranger:0@2 laser [4] []", "ranger:0@3 laser [5] []"}},
		"a scan sent twice is one, the later": {"laser0",
			[]string{"lit 0 1 3 7", "lit 0 1 3 9", "lit 0 2 3 9", "lit 0 2 3 5"},
			[]string{"laser:0@1 laser [3] [9]", "laser:0@2 laser [3] [5]"}},
		"a second of a scan that turns up late makes the next be held": {"laser0",
			[]string{"lit 0 1 3 7", "lit 0 2 4 7", "lit 0 2 4 9", "lit 0 3 4 9", "lit 0 3 4 5"},
			[]string{"laser:0@1 laser [3] [7]", "laser:0@2 laser [4] [7]", "laser:0@3 laser [4] [5]"}},
		"scans of one time with other ranges are two": {"laser0",
			[]string{"laser 0 0 3", "laser 0 0 4", "laser 0 0 5"},
			[]string{"laser:0@0 laser [3] []", "laser:0@0 laser [4] []", "laser:0@0 laser [5] []"}},
		"another device's other time releases": {"laser0 position0",
			[]string{"laser 0 1 3", "position 0 1 5", "position 0 2 6"},
			[]string{"position2d:0@1 position 5", "laser:0@1 laser [3] []", "position2d:0@2 position 6"}},
		"a flush releases": {"laser0 position0",
			[]string{"laser 0 1 3", "flush", "flush", "laser 0 2 4", "laser 0 2 4"},
			[]string{"laser:0@1 laser [3] []", "laser:0@2 laser [4] []"}},
		"the laser counts, not the ranger that would stand for one": {"laser0 ranger0 ranger1",
			[]string{"ranger 0 1 4", "intns 0 1 4", "laser 0 1 3", "laser 0 1 3", "ranger 1 1 1 2", "intns 1 1 5"},
			[]string{"laser:0@1 laser [3] []", "ranger:1@1 sonar [1 2]"}},
		"time that runs back is told once": {"laser0 position0",
			[]string{"position 0 5 1", "laser 0 5 3", "flush", "position 0 1 1", "laser 0 1 4", "position 0 2 1"},
			[]string{"position2d:0@5 position 1", "laser:0@5 laser [3] []", "position2d:0@1 position 1 back", "laser:0@1 laser [4] []", "position2d:0@2 position 1"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var up []*player.Device
			for _, d := range strings.Fields(tt.devices) {
				up = append(up, devices[d])
			}
			tr := newTrace(up...)
			tr.send(devices, tt.messages...)
			if diff := cmp.Diff(tt.want, tr.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownGivesNothing(t *testing.T) {
	bare := dev(player.InterfaceRanger, 0)
	half := dev(player.InterfaceRanger, 0)
	half.Geometry = ranger(0, 1).Geometry
	ring := dev(player.InterfaceSonar, 0)
	known := dev(player.InterfaceSonar, 0)
	known.Geometry = &player.Geometry{Elements: []player.Pose{{}}}
	tr := newTrace(bare, ring)
	data := &iface.RangerDataRange{Ranges: []float64{1}}
	tr.Arrive(player.Reading{Device: bare, Time: 1, Payload: data})
	tr.Changed(half)
	tr.Arrive(player.Reading{Device: half, Time: 2, Payload: data})
	tr.Changed(ranger(0, 1))
	tr.Arrive(player.Reading{Device: ranger(0, 1), Time: 3, Payload: data})
	tr.Arrive(player.Reading{Device: ring, Time: 3, Payload: &iface.SonarData{Ranges: []float32{2}}})
	tr.Arrive(player.Reading{Device: known, Time: 4, Payload: &iface.SonarData{Ranges: []float32{2}}})
	tr.Arrive(player.Reading{Device: dev(player.InterfaceSimulation, 0), Time: 4, Payload: data})
	tr.Arrive(player.Reading{Device: known, Time: 5, Payload: data})
	tr.Arrive(player.Reading{Device: known, Time: 5, Payload: &iface.Position2DData{}})
	want := []string{"ranger:0@3 laser [1] []", "sonar:0@4 sonar [2]"}
	if diff := cmp.Diff(want, tr.got); diff != "" {
		t.Error(diff)
	}
	for why, n := range map[Reason]uint64{NoGeometry: 2, NoConfig: 1, NoView: 1, BadPayload: 2} {
		if got := tr.Skipped(why); got != n {
			t.Errorf("%s: %d, expected %d", why, got, n)
		}
	}
}

func TestStampedRangerBringsWhatIsMissing(t *testing.T) {
	bare := dev(player.InterfaceRanger, 0)
	tr := newTrace(bare)
	m := &iface.RangerDataRangestamped{Data: iface.RangerDataRange{Ranges: []float64{1, 9}}, HaveGeom: 1, HaveConfig: 1}
	m.Geom.ElementPoses = []iface.Pose3D{{}}
	m.Config = iface.RangerConfig{MinAngle: -1, MaxAngle: 1, MaxRange: 5}
	tr.Arrive(player.Reading{Device: bare, Time: 1, Payload: m})
	tr.Flush()
	if diff := cmp.Diff([]string{"ranger:0@1 laser [1 5] []"}, tr.got); diff != "" {
		t.Error(diff)
	}
}

// Cross-sensor state: the same index if there is one, else the lowest, with a
// reading; prev is the reading before of that device.
func TestState(t *testing.T) {
	devices := map[string]*player.Device{
		"laser0": dev(player.InterfaceLaser, 0), "laser1": dev(player.InterfaceLaser, 1), "laser2": dev(player.InterfaceLaser, 2),
		"position1": dev(player.InterfacePosition2D, 1), "position2": dev(player.InterfacePosition2D, 2), "position7": dev(player.InterfacePosition2D, 7),
	}
	var got []string
	r := NewRobot(func(a *Arrival) {
		s := fmt.Sprintf("%s:", a.Device)
		for k, st := range []State{a.Now, a.Prev} {
			if st.Laser != nil {
				s += fmt.Sprintf(" %d laser%d=%g", k, st.Laser.Index, st.Laser.Ranges[0])
			}
			if st.Position != nil {
				s += fmt.Sprintf(" %d position%d=%g", k, st.Position.Index, st.Position.X)
			}
		}
		got = append(got, s)
	})
	tr := &trace{Robot: r}
	var up []*player.Device
	for _, n := range []string{"laser2", "laser1", "laser0", "position7", "position2", "position1"} {
		up = append(up, devices[n])
	}
	tr.Up(up)
	tr.send(devices, "position 7 1 1", "laser 2 1 2", "flush", "laser 1 1 3", "flush", "position 1 2 4", "position 7 2 5", "laser 0 3 6", "flush", "position 7 4 7", "laser 1 4 7", "flush", "position 7 5 8", "position 2 5 9", "laser 2 6 1", "flush")
	want := []string{
		"position2d:7: 0 position7=1",
		"laser:2: 0 laser2=2 0 position7=1",
		"laser:1: 0 laser1=3 0 position7=1",
		"position2d:1: 0 laser1=3 0 position1=4",
		"position2d:7: 0 laser1=3 0 position7=5 1 position7=1",
		"laser:0: 0 laser0=6 0 position1=4",
		"position2d:7: 0 laser0=6 0 position7=7 1 position7=5",
		"laser:1: 0 laser1=7 0 position1=4 1 laser1=3",
		"position2d:7: 0 laser0=6 0 position7=8 1 position7=7",
		"position2d:2: 0 laser2=2 0 position2=9",
		"laser:2: 0 laser2=1 0 position2=9 1 laser2=2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if r.Have() != KindLaser.Set()|KindPosition.Set() {
		t.Errorf("have %b", r.Have())
	}
	r.Down()
	if r.Have() != 0 || r.Last(devices["laser0"].Addr) != nil {
		t.Error("readings stand after the session's end")
	}
}

func TestNoAllocationPerReading(t *testing.T) {
	d := ranger(0, 1)
	p := dev(player.InterfacePosition2D, 0)
	r := NewRobot(func(*Arrival) {})
	r.Up([]*player.Device{d, p})
	ranges, intns, pos := &iface.RangerDataRange{Ranges: make([]float64, 181)}, &iface.RangerDataIntns{Intensities: make([]float64, 181)}, &iface.Position2DData{}
	time := 0.0
	n := testing.AllocsPerRun(100, func() {
		time++
		r.Arrive(player.Reading{Device: d, Time: time, Payload: ranges})
		r.Arrive(player.Reading{Device: d, Time: time, Payload: intns})
		r.Arrive(player.Reading{Device: p, Time: time, Payload: pos})
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkScan(b *testing.B) {
	d := dev(player.InterfaceLaser, 0)
	r := NewRobot(func(*Arrival) {})
	r.Up([]*player.Device{d})
	data := scanOf(make([]float32, 181)...)
	var buf []byte
	b.Run("derive", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r.Arrive(player.Reading{Device: d, Time: float64(i), Payload: data})
		}
	})
	b.Run("json", func(b *testing.B) {
		var l Laser
		for i := range data.Ranges {
			data.Ranges[i] = float32(i) * 0.0417
		}
		l.readLaser(data)
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendText(buf[:0], &l)
		}
		b.SetBytes(int64(len(buf)))
	})
}
