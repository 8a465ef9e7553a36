package record_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"callboard/bridge/record"
	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/view"
)

// seeing is a robot as conditions see it; told are its readings as JSON.
type seeing struct {
	robot *view.Robot
	told  []string
}

func newSeeing() *seeing {
	s := &seeing{}
	s.robot = view.NewRobot(func(a *view.Arrival) {
		s.told = append(s.told, a.Name+" "+string(a.View.AppendJSON(nil)))
	})
	return s
}

// A broker's reading, recorded and read, is the same reading.
func TestReadingsOfABroker(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.OneOf(rapid.Float64Range(0, 10), rapid.SampledFrom([]float64{0, 8, 9.5}))
		n := rapid.IntRange(0, 20).Draw(t, "count")
		wide := make([]float64, n)
		narrow := make([]float32, n)
		for i := range n {
			wide[i] = lengths.Draw(t, "range")
			narrow[i] = float32(wide[i])
		}
		pose := func() iface.Pose2D {
			return iface.Pose2D{Px: lengths.Draw(t, "x"), Py: lengths.Draw(t, "y"), Pa: lengths.Draw(t, "a")}
		}
		var elements []player.Pose
		for i := range n + 2 {
			elements = append(elements, player.Pose{Yaw: float64(i) / 3})
		}
		config := &player.RangerConfig{MinAngle: -1, MaxAngle: lengths.Draw(t, "to"), MaxRange: 8}
		for _, test := range []struct {
			device  player.Device
			broker  player.Device // as the broker's list tells it
			subtype uint8
			payload any
		}{
			{
				device: player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}}, broker: player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}},
				subtype: iface.DataLaserScan, payload: &iface.LaserData{MinAngle: -1.5, MaxAngle: 1.5, MaxRange: 8, Ranges: narrow, Intensity: make([]uint8, n)},
			}, {
				device:  player.Device{Addr: player.Addr{Interf: player.InterfaceRanger, Index: 1}, Geometry: &player.Geometry{Elements: elements[:1]}, Config: config},
				broker:  player.Device{Addr: player.Addr{Interf: player.InterfaceRanger, Index: 1}, Geometry: &player.Geometry{Elements: elements[:1]}},
				subtype: iface.DataRangerRange, payload: &iface.RangerDataRange{Ranges: wide},
			}, {
				device:  player.Device{Addr: player.Addr{Interf: player.InterfaceSonar}, Geometry: &player.Geometry{Elements: elements}},
				broker:  player.Device{Addr: player.Addr{Interf: player.InterfaceSonar}, Geometry: &player.Geometry{Elements: elements}},
				subtype: iface.DataSonarRanges, payload: &iface.SonarData{Ranges: narrow},
			}, {
				device: player.Device{Addr: player.Addr{Interf: player.InterfacePosition2D}}, broker: player.Device{Addr: player.Addr{Interf: player.InterfacePosition2D}},
				subtype: iface.DataPosition2DState, payload: &iface.Position2DData{Pos: pose(), Vel: pose(), Stall: uint8(n % 2)},
			},
		} {
			live, replayed := newSeeing(), newSeeing()
			live.robot.Up([]*player.Device{&test.device})
			live.robot.Arrive(player.Reading{Device: &test.device, Subtype: test.subtype, Time: 1.25, Payload: test.payload})
			live.robot.Flush()
			if len(live.told) != 1 {
				t.Fatalf("%s: live there are %d readings", test.device.Addr, len(live.told))
			}
			_, object, _ := bytes.Cut([]byte(live.told[0]), []byte(" "))
			d := &test.broker
			reading := record.Reading{Robot: "r0", Time: 1.25, Object: object}
			records, after, err := reading.Records(d, nil)
			if err != nil {
				t.Fatal(err)
			}
			replayed.robot.Up([]*player.Device{d})
			for _, rec := range records {
				if rec.Header.Type == 0 {
					replayed.robot.Changed(rec.Device)
				} else {
					replayed.robot.Arrive(rec.Reading())
				}
			}
			replayed.robot.Flush()
			if len(replayed.told) != 1 || replayed.told[0] != live.told[0] {
				t.Fatalf("live %s, recorded %s", live.told, replayed.told)
			}
			if again, _, _ := reading.Records(after, nil); len(again) > len(records) || test.device.Config != nil && len(again) >= len(records) {
				t.Fatalf("what is known is told again: %d records, then %d", len(records), len(again))
			}
		}
	})
}
