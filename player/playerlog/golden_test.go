package playerlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/playertest"
)

const (
	logs     = "../../testdata/logs"
	captures = "../../testdata/captures"
)

// all reads a whole log; faulty lines are an error of the test.
func all(t testing.TB, r *playerlog.Reader, line func(*playerlog.Line)) {
	t.Helper()
	for {
		l, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		line(l)
	}
}

func reader(t testing.TB, name string, text io.Reader) *playerlog.Reader {
	t.Helper()
	r, err := playerlog.NewReader(playerlog.ReaderConfig{R: text, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What real Player's writer wrote is read, and written again byte for byte,
// but for what we refuse to write or write right.
func TestGoldenLogsAgain(t *testing.T) {
	files, err := filepath.Glob(logs + "/*.log")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d logs: %v", len(files), err)
	}
	kinds := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		r := reader(t, file, bytes.NewReader(text))
		var out bytes.Buffer
		w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out, Bare: true})
		if err != nil {
			t.Fatal(err)
		}
		all(t, r, func(l *playerlog.Line) {
			kind := fmt.Sprintf("%s %d:%d", l.Header.Interf, l.Header.Type, l.Header.Subtype)
			want := lines[l.Number-1] + "\n"
			if l.Payload == nil {
				if kind != "gripper 1:1" || l.Odd == nil || !strings.Contains(l.Odd.Message, "without payload") {
					t.Errorf("%s: %v", want, l.Odd)
				}
				return
			}
			if (l.Odd != nil) != (kind == "gps 1:1") {
				t.Errorf("%s: %v", want, l.Odd)
			}
			out.Reset()
			err := w.Write(l.Header, l.Payload)
			var cannot *playerlog.Unwritable
			switch {
			case kind == "gps 1:1":
				if n := len(strings.Fields(out.String())); err != nil || n != 21 {
					t.Errorf("gps is written with %d tokens, %v, expected 21:\n%s", n, err, out.String())
				}
			case kind == "wifi 1:1" || kind == "position3d 4:1":
				if !errors.As(err, &cannot) || out.Len() > 0 {
					t.Errorf("%s is written: %v", kind, err)
				}
			case err != nil || out.String() != want:
				t.Errorf("%s line %d (%v):\nread    %swritten %s", file, l.Number, err, want, out.String())
			}
			kinds[kind]++
		})
		if v, p := r.Version(); v != "0.3.0" || p != "3.1.1-dev" {
			t.Errorf("%s: versions %q, %q", file, v, p)
		}
	}
	if len(kinds) < 36 {
		t.Errorf("%d kinds of lines: %v, expected at least 36", len(kinds), kinds)
	}
}

// What real Player's reader published of these logs is what we read in them.
func TestGoldenLogsAsPlayerReplaysThem(t *testing.T) {
	for name, log := range map[string]string{"j_readlog_control": "two-robots-laser-sonar.log", "j_readlog_ranger": "alpha-ranger.log",
		"j_readlog_many": "many-interfaces.log", "j_readlog_many2": "many-interfaces.log"} {
		file, err := os.Open(filepath.Join(logs, log))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		bodies := map[string]int{} // what is in the log
		all(t, reader(t, log, file), func(l *playerlog.Line) {
			if l.Payload == nil {
				return
			}
			bodies[shown(t, l.Header, l.Payload)]++
		})
		c, err := playertest.Load(captures, name)
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, m := range c.Data() {
			def, ok := iface.Lookup(player.Interface(m.Interf), player.Data, m.Subtype)
			if !ok {
				t.Fatalf("%s: %d is unknown", name, m.Interf)
			}
			payload := def.New()
			if err := def.Decode(m.Body, payload); err != nil {
				t.Fatal(err)
			}
			h := player.Header{Addr: player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}, Type: player.Data, Subtype: m.Subtype, Timestamp: m.Timestamp}
			if s := shown(t, h, payload); bodies[s] == 0 {
				t.Errorf("%s: Player published what we do not read: %s", name, s)
			}
			compared++
		}
		if compared < 10 {
			t.Errorf("%s: %d messages compared, expected at least 10", name, compared)
		}
	}
}

// shown writes a message down, without what Player's reader leaves to chance.
func shown(t *testing.T, h player.Header, payload any) string {
	switch p := payload.(type) {
	case *iface.GPSData: // its time is garbled, and what is derived from tenths
		p.Speed, p.Course, p.TimeUsec, p.TimeSec, p.HDOP, p.VDOP, p.Quality, p.NumSats = 0, 0, 0, 0, 0, 0, 0, 0
	case *iface.PTZData:
		p.Status = 0
	case *iface.JoystickData:
		p.AxesCount, p.Buttons = 0, 0 // Player reads hexadecimal digits as decimal ones
		clear(p.Pos[3:])
		clear(p.Scale[3:])
	case *iface.Pointcloud3DData:
		for i := range p.Points {
			p.Points[i].Color = iface.Color{}
		}
	case *iface.IMUDataEuler: // Player reads these through floats
		o := &p.Orientation
		single(&o.Proll, &o.Ppitch, &o.Pyaw)
	case *iface.IMUDataFullstate:
		for _, q := range []*iface.Pose3D{&p.Pose, &p.Vel, &p.Acc} {
			single(&q.Px, &q.Py, &q.Pz, &q.Proll, &q.Ppitch, &q.Pyaw)
		}
		p.Acc.Proll, p.Acc.Ppitch, p.Acc.Pyaw = 0, 0, 0
	case *iface.SonarGeom:
		for i := range p.Poses {
			p.Poses[i].Pz, p.Poses[i].Proll, p.Poses[i].Ppitch = 0, 0, 0
		}
	}
	body, err := iface.Append(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %d:%d at %.3f: %x", h.Addr, h.Type, h.Subtype, h.Timestamp, body)
}

func single(values ...*float64) {
	for _, v := range values {
		*v = float64(float32(*v))
	}
}

// The answers that the replay gave are the type-4 lines.
func TestGoldenGeometry(t *testing.T) {
	text := `0000000007.800 16777343 6665 ranger 00 004 001 +00.100 +00.000 +00.000 +00.000 +00.000 +00.000 +00.140 +00.150 +00.160 0001 +00.000 +00.000 +00.000 +00.000 +00.000 +00.250 0001 +00.020 +00.030 +00.040
0000000007.800 16777343 6665 laser 01 004 001  +0.225  -0.350   0.050   0.300   0.200
`
	var got []any
	var headers []player.Header
	all(t, reader(t, "x", strings.NewReader(text)), func(l *playerlog.Line) {
		got, headers = append(got, l.Payload), append(headers, l.Header)
	})
	want := []any{
		&iface.RangerGeom{Pose: iface.Pose3D{Px: 0.1}, Size: iface.BBox3D{Sw: 0.14, Sl: 0.15, Sh: 0.16},
			ElementPoses: []iface.Pose3D{{Pyaw: 0.25}}, ElementSizes: []iface.BBox3D{{Sw: 0.02, Sl: 0.03, Sh: 0.04}}},
		&iface.LaserGeom{Pose: iface.Pose3D{Px: 0.225, Py: -0.35, Pyaw: 0.05}, Size: iface.BBox3D{Sl: 0.3, Sw: 0.2}},
	}
	wantHeaders := []player.Header{
		{Addr: player.Addr{Host: 16777343, Robot: 6665, Interf: player.InterfaceRanger}, Type: player.Ack, Subtype: 1, Timestamp: 7.8},
		{Addr: player.Addr{Host: 16777343, Robot: 6665, Interf: player.InterfaceLaser, Index: 1}, Type: player.Ack, Subtype: 1, Timestamp: 7.8},
	}
	if diff := cmp.Diff(want, got) + cmp.Diff(wantHeaders, headers); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The logs of the corpus are read without a fault.
func TestCorpus(t *testing.T) {
	const corpus = "../../../shared/corpus"
	for name, want := range map[string]int{"_recorded/all_sensors.log": 767, "yakub77+hospirfidbot/hallway1.log": 169,
		"yakub77+hospirfidbot/logs/rfidheatmap_1/localized.log": 369} {
		file, err := os.Open(filepath.Join(corpus, name))
		if err != nil {
			t.Skip("no corpus beside the tree")
		}
		n := 0
		all(t, reader(t, name, file), func(l *playerlog.Line) {
			n++
			if l.Payload == nil || l.Odd != nil {
				t.Errorf("%s: %v", name, l.Odd)
			}
		})
		_ = file.Close()
		if n != want {
			t.Errorf("%s has %d messages, expected %d", name, n, want)
		}
	}
}
