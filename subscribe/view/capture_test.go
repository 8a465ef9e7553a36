package view

import (
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
)

// Real streams: each scan is one reading, with its own intensities, although
// a ranger sends them apart and rangertolaser sends each scan twice.
func TestRealStreams(t *testing.T) {
	tests := []struct {
		capture string
		kind    Kind
		bright  bool // scans have intensities
		atLeast int
	}{
		{"b_laser_pull", KindLaser, true, 8},
		{"c_laser_push", KindLaser, true, 8},
		{"b_ranger_pull", KindLaser, true, 8},
		{"e_sonar_as_ranger", KindSonar, false, 4},
		{"e_sonar_stage", KindSonar, false, 4},
	}
	for _, tt := range tests {
		t.Run(tt.capture, func(t *testing.T) {
			c, err := playertest.Load("../../testdata/captures", tt.capture)
			if err != nil {
				t.Fatal(err)
			}
			var times, dark []float64
			var r *Robot
			r = NewRobot(func(a *Arrival) {
				if a.Kind != tt.kind {
					return
				}
				times = append(times, a.Time)
				if l, ok := a.View.(*Laser); ok && (l.Count != 181 || tt.bright && len(l.Intensities) != 181) {
					dark = append(dark, a.Time)
				}
			})
			sent := map[float64]bool{}
			devices := map[uint32]*player.Device{}
			r.Up(nil)
			for _, m := range c.Server {
				d := devices[m.Device()]
				if d == nil {
					d = &player.Device{Addr: player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}}
				}
				message, ok := iface.Lookup(d.Interf, player.Type(m.Type), m.Subtype)
				if player.Type(m.Type) == player.Ack {
					message, ok = iface.Lookup(d.Interf, player.Request, m.Subtype)
				}
				if !ok || len(m.Body) == 0 {
					continue
				}
				payload := message.New()
				if err := message.Decode(m.Body, payload); err != nil {
					t.Fatal(err)
				}
				if player.Type(m.Type) == player.Data {
					r.Arrive(player.Reading{Device: d, Subtype: m.Subtype, Time: m.Timestamp, Payload: payload})
					if _, known := devices[m.Device()]; d.Interf == player.InterfaceLaser || known && d.Interf != player.InterfacePosition2D {
						sent[m.Timestamp] = true
					}
				}
				more := *d
				switch p := payload.(type) {
				case *iface.RangerGeom:
					more.Geometry = elementsOf(p.ElementPoses)
				case *iface.SonarGeom:
					more.Geometry = elementsOf(p.Poses)
				case *iface.RangerConfig:
					config := player.RangerConfig(*p)
					more.Config = &config
				case *iface.LaserGeom:
				default:
					continue
				}
				devices[m.Device()] = &more
				r.Changed(&more)
			}
			r.Flush()
			if len(times) < tt.atLeast || len(times)+int(r.Skipped(NoConfig)) < len(sent) || len(times) > len(sent) {
				t.Errorf("%d readings of %d scans", len(times), len(sent))
			}
			for i := 1; i < len(times); i++ {
				if times[i] <= times[i-1] {
					t.Errorf("reading at %g after the one at %g", times[i], times[i-1])
				}
			}
			if len(dark) > 1 {
				t.Errorf("scans without their intensities: %v", dark)
			}
		})
	}
}

// The robot of a real Stage run: ranger:0 and laser:0 are the same scanner,
// ranger:1 and sonar:0 the same ring. One scan is one reading.
func TestRealRobotWithBoth(t *testing.T) {
	count := map[string]int{}
	r := NewRobot(func(a *Arrival) { count[a.Device.String()]++ })
	ring := dev(player.InterfaceSonar, 0)
	ring.Geometry = &player.Geometry{Elements: make([]player.Pose, 8)}
	r.Up([]*player.Device{dev(player.InterfacePosition2D, 0), ranger(0, 1), ranger(1, 8), dev(player.InterfaceLaser, 0), ring})
	times := map[string]map[float64]bool{}
	for _, m := range playertest.TwoRobots().Data() {
		d := &player.Device{Addr: player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}}
		message, _ := iface.Lookup(d.Interf, player.Data, m.Subtype)
		payload := message.New()
		if err := message.Decode(m.Body, payload); err != nil {
			t.Fatal(err)
		}
		r.Arrive(player.Reading{Device: d, Subtype: m.Subtype, Time: m.Timestamp, Payload: payload})
		if times[d.String()] == nil {
			times[d.String()] = map[float64]bool{}
		}
		times[d.String()][m.Timestamp] = true
	}
	r.Flush()
	for name, want := range map[string]int{"laser:0": len(times["laser:0"]), "sonar:0": len(times["sonar:0"]), "ranger:0": 0, "ranger:1": 0} {
		if count[name] != want {
			t.Errorf("%s: %d readings, expected %d", name, count[name], want)
		}
	}
	if count["laser:0"] == 0 || count["sonar:0"] == 0 || count["position2d:0"] == 0 {
		t.Errorf("%v", count)
	}
}

func elementsOf(poses []iface.Pose3D) *player.Geometry {
	g := &player.Geometry{}
	for _, p := range poses {
		g.Elements = append(g.Elements, p.Pose())
	}
	return g
}
