package playerlog_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
)

func header(i player.Interface, t player.Type, subtype uint8) player.Header {
	return player.Header{Addr: player.Addr{Host: 16777343, Robot: 6665, Interf: i, Index: 3}, Type: t, Subtype: subtype, Timestamp: 7.25}
}

// written writes one message without head.
func written(t testing.TB, h player.Header, payload any) (string, error) {
	t.Helper()
	var out bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Write(h, payload)
	return out.String(), err
}

// Lines that no golden log has.
func TestWrittenLines(t *testing.T) {
	for _, test := range []struct {
		h       player.Header
		payload any
		want    string
	}{
		{header(player.InterfaceRanger, player.Data, 2), &iface.RangerDataRangestamped{Data: iface.RangerDataRange{Ranges: []float64{1, 2}}, HaveGeom: 1},
			"ranger 03 001 001 0002 1.000 2.000 "},
		{header(player.InterfaceRanger, player.Data, 4), &iface.RangerDataIntnsstamped{Data: iface.RangerDataIntns{Intensities: []float64{1}}},
			"ranger 03 001 003 0001 1.000 "},
		{header(player.InterfaceLaser, player.Data, 1), &iface.LaserData{MinAngle: -1, MaxAngle: 1, Resolution: 0.5, MaxRange: 8, Ranges: []float32{1, 2}, Intensity: []uint8{7}},
			"laser 03 001 001 0000 -1.0000 +1.0000 +0.50000000 +8.0000 0002 1.000  7 2.000  0 "},
		{header(player.InterfaceLaser, player.Data, 3), &iface.LaserDataScanangle{MaxRange: 8, Ranges: []float32{1, 2}, Angles: []float32{0.5}},
			"laser 03 001 003 0000 +8.0000 0002 1.000 0.500  0 2.000 0.000  0 "},
		{header(player.InterfaceGPS, player.Data, 1), &iface.GPSData{TimeSec: 1234567890, TimeUsec: 654321, Latitude: 473712345, Longitude: -85123456, Altitude: -12345,
			UTME: 465123.25, UTMN: 5246789.5, HDOP: 13, VDOP: 27, ErrHorz: 1.75, ErrVert: 2.25, Quality: 2, NumSats: 9, Speed: 1.25, Course: 2.5},
			"gps 03 001 001 1234567890.654 47.3712345 -8.5123456 -12.3450000 465123.250 5246789.500 1.300 2.700 1.750 2.250 2 9 1.250 2.500"},
		{header(player.InterfacePower, player.Data, 1), &iface.PowerData{Valid: iface.PowerMaskVolts, Volts: 12, Percent: 50, Joules: 7, Watts: 8, Charging: 1},
			"power 03 001 001 12.000 0.000 0.000 0.000 0 1"},
		{header(player.InterfaceActarray, player.Data, 1), &iface.ActarrayData{Actuators: []iface.ActarrayActuator{{Position: 1, Speed: 2, Acceleration: 3, Current: 4, State: 1}}, MotorState: 1},
			"actarray 03 001 001 1 1.000000 2.000000 3.000000 4.000000 1 1"},
		{header(player.InterfaceWSN, player.Data, 1), &iface.WSNData{NodeType: 1, NodeID: 2, NodeParentID: 3, DataPacket: iface.WSNNodeData{Light: 4, Battery: 3.5}},
			"wsn 03 001 001 1 2 3 4.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 0.000000 3.500000"},
		{header(player.InterfaceFiducial, player.Ack, 1), &iface.FiducialGeom{Pose: iface.Pose3D{Px: 1}, Size: iface.BBox3D{Sl: 2, Sw: 3, Sh: 4}, FiducialSize: iface.BBox2D{Sl: 5, Sw: 6}},
			"fiducial 03 004 001  +1.000  +0.000  +0.000  +0.000  +0.000  +0.000  +2.000  +3.000  +4.000  +5.000  +6.000"},
		{header(player.InterfaceJoystick, player.Data, 1), &iface.JoystickData{Pos: [8]int32{-1, 2, 0, 9}, Buttons: 0x1F}, "joystick 03 001 001 -1 +2 +0 0 0 0 1F"},
		{header(player.InterfaceWifi, player.Data, 1), &iface.WifiData{}, "wifi 03 001 001 0000 "},
		{header(player.InterfaceAIO, player.Data, 1), &iface.AIOData{Voltages: []float32{float32(math.NaN()), float32(math.Inf(-1)), 0}}, "aio 03 001 001 0003 nan -inf 0.000 "},
		{header(player.InterfacePosition2D, player.Data, 1), &iface.Position2DData{Pos: iface.Pose2D{Px: math.Inf(1), Py: -12345.6789, Pa: -0.0001}},
			"position2d 03 001 001    +inf -12345.679 -0.000 +00.000 +00.000 +00.000 0"},
	} {
		got, err := written(t, test.h, test.payload)
		if want := "0000000007.250 16777343 6665 " + test.want + "\n"; err != nil || got != want {
			t.Errorf("%v, written\n%q, expected\n%q", err, got, want)
		}
	}
}

// What Player's reader would not survive is refused, and nothing written.
func TestUnwritable(t *testing.T) {
	odd := header(player.InterfaceSonar, player.Data, 1)
	odd.Timestamp = math.NaN()
	for _, test := range []struct {
		h       player.Header
		payload any
		want    string
	}{
		{header(player.InterfaceGripper, player.Data, 1), &iface.GripperData{}, "has no place for it"},
		{header(player.InterfaceLaser, player.Command, 1), &iface.LaserData{}, "has no place for it"},
		{header(player.InterfaceLocalize, player.Ack, 2), &iface.LocalizeGetParticles{}, "crashes with particles"},
		{header(player.InterfacePosition3D, player.Ack, 1), &iface.Position3DGeom{}, "an answer that nobody asked for"},
		{header(player.InterfaceWifi, player.Data, 1), &iface.WifiData{Links: make([]iface.WifiLink, 1)}, "corrupts its memory with links"},
		{header(player.InterfaceDIO, player.Data, 1), &iface.DIOData{Count: 32}, "hang with 32 bits"},
		{header(player.InterfaceCamera, player.Data, 1), &iface.CameraData{}, "wants an image"},
		{header(player.InterfaceRFID, player.Data, 1), &iface.RFIDData{Tags: make([]iface.RFIDTag, 1)}, "a tag without number"},
		{header(player.InterfaceLaser, player.Data, 1), &iface.LaserData{Ranges: make([]float32, 2042)}, "would have 4097 tokens"},
		{header(player.InterfaceRanger, player.Data, 1), &iface.RangerDataRange{Ranges: make([]float64, 4089)}, "would have 4097 tokens"},
		{header(player.InterfaceCamera, player.Data, 1), &iface.CameraData{Image: make([]uint8, 4194304)}, "bytes, Player's reader takes 8388606"},
		{odd, &iface.SonarData{}, "its time is NaN"},
	} {
		got, err := written(t, test.h, test.payload)
		var e *playerlog.Unwritable
		if !errors.As(err, &e) || !strings.Contains(err.Error(), test.want) || got != "" {
			t.Errorf("%T: error %v, expected %q in it; written %.40q", test.payload, err, test.want, got)
		}
	}
	for _, payload := range []any{&iface.LaserData{}, (*iface.SonarData)(nil), nil} {
		if _, err := written(t, header(player.InterfaceSonar, player.Data, 1), payload); err == nil || !strings.Contains(err.Error(), "expected a *iface.SonarData that is not nil") {
			t.Errorf("a %T: error %v", payload, err)
		}
	}
	for _, ok := range []any{&iface.LaserData{Ranges: make([]float32, 2041)}} {
		if _, err := written(t, header(player.InterfaceLaser, player.Data, 1), ok); err != nil {
			t.Error(err)
		}
	}
}

// The head has the two lines that tell versions; the reader finds them.
func TestHead(t *testing.T) {
	var out bytes.Buffer
	if _, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out}); err != nil {
		t.Fatal(err)
	}
	r := reader(t, "x", &out)
	all(t, r, func(l *playerlog.Line) { t.Errorf("line %d is no head", l.Number) })
	if v, p := r.Version(); v != "0.3.0" || p != "3.1.1-dev" {
		t.Errorf("versions %q, %q", v, p)
	}
	if _, err := playerlog.NewWriter(playerlog.WriterConfig{}); err == nil {
		t.Error("nowhere to write passes")
	}
	full := failing{}
	if _, err := playerlog.NewWriter(playerlog.WriterConfig{W: full}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("head: %v", err)
	}
	w, _ := playerlog.NewWriter(playerlog.WriterConfig{W: full, Bare: true})
	if err := w.Write(header(player.InterfaceSonar, player.Data, 1), &iface.SonarData{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("line: %v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, os.ErrClosed }

// What is written is read back to the digits that it was written with, and is
// then written the same.
func TestWrittenIsRead(t *testing.T) {
	finite := rapid.Float64Range(-1e6, 1e6)
	single := rapid.Float32Range(-1e4, 1e4)
	rapid.Check(t, func(t *rapid.T) {
		pose := func() iface.Pose3D {
			v := rapid.SliceOfN(finite, 6, 6).Draw(t, "pose")
			return iface.Pose3D{Px: v[0], Py: v[1], Pz: v[2], Proll: v[3], Ppitch: v[4], Pyaw: v[5]}
		}
		n := rapid.IntRange(0, 20).Draw(t, "n")
		h, payload := player.Header{}, any(nil)
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			h, payload = header(player.InterfaceLaser, player.Data, 1), &iface.LaserData{MinAngle: single.Draw(t, "a"),
				Ranges: rapid.SliceOfN(single, n, n).Draw(t, "r"), Intensity: rapid.SliceOfN(rapid.Uint8(), n, n).Draw(t, "i"), ID: rapid.Uint32().Draw(t, "id")}
		case 1:
			h, payload = header(player.InterfaceRanger, player.Data, 3), &iface.RangerDataIntns{Intensities: rapid.SliceOfN(finite, n, n).Draw(t, "r")}
		case 2:
			h, payload = header(player.InterfacePosition3D, player.Data, 1), &iface.Position3DData{Pos: pose(), Vel: pose(), Stall: 1}
		case 3:
			items := make([]iface.FiducialItem, n)
			for i := range items {
				items[i] = iface.FiducialItem{ID: rapid.Int32().Draw(t, "id"), Pose: pose(), UPose: pose()}
			}
			h, payload = header(player.InterfaceFiducial, player.Data, 1), &iface.FiducialData{Fiducials: items}
		case 4:
			h, payload = header(player.InterfaceOpaque, player.Data, 1), &iface.OpaqueData{Data: rapid.SliceOfN(rapid.Uint8(), n, n).Draw(t, "d")}
		case 5:
			h, payload = header(player.InterfaceDIO, player.Data, 1), &iface.DIOData{Count: uint32(n), Bits: rapid.Uint32().Draw(t, "b") & (1<<n - 1)}
		case 6:
			h, payload = header(player.InterfaceCamera, player.Data, 1), &iface.CameraData{Width: 1, Fdiv: 1, Image: rapid.SliceOfN(rapid.Uint8(), n+1, n+1).Draw(t, "d")}
		case 7:
			h, payload = header(player.InterfaceGPS, player.Data, 1), &iface.GPSData{TimeSec: rapid.Uint32().Draw(t, "s"), Latitude: rapid.Int32().Draw(t, "lat"),
				Longitude: rapid.Int32().Draw(t, "lon"), Altitude: rapid.Int32().Draw(t, "alt"), HDOP: rapid.Uint32Range(0, 1000).Draw(t, "h"), UTME: finite.Draw(t, "e")}
		case 8:
			h, payload = header(player.InterfaceBumper, player.Ack, 1), &iface.BumperGeom{BumperDef: make([]iface.BumperDefine, n)}
		}
		h.Index = rapid.Uint16().Draw(t, "index")
		once, err := writtenIn(h, payload)
		if err != nil {
			t.Fatal(err)
		}
		r, err := playerlog.NewReader(playerlog.ReaderConfig{R: strings.NewReader(once)})
		if err != nil {
			t.Fatal(err)
		}
		l, err := r.Next()
		if err != nil || l.Odd != nil || l.Header != h {
			t.Fatalf("%q is read as %+v, %v", once, l, err)
		}
		again, err := writtenIn(l.Header, l.Payload)
		if err != nil || again != once {
			t.Fatalf("%v, written\n%q, then\n%q", err, once, again)
		}
		switch payload.(type) {
		case *iface.OpaqueData, *iface.DIOData, *iface.CameraData: // exact in text
			if diff := cmp.Diff(payload, l.Payload); diff != "" && n > 0 {
				t.Fatalf("(-written +read):\n%s", diff)
			}
		}
	})
}

func writtenIn(h player.Header, payload any) (string, error) {
	var out bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out, Bare: true})
	if err != nil {
		return "", err
	}
	err = w.Write(h, payload)
	return out.String(), err
}
