package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callboard/bridge/record"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/player/problem"
	"callboard/player/run"
)

// patience is how long a test waits for what should come at once.
const patience = 20 * time.Second

// until waits for something to be so.
func until(ctx context.Context, so func() bool) {
	for !so() && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// counting ends a recording when so many messages of a robot are in it.
func counting(t *testing.T, r *record.Recorder, n uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		until(ctx, func() bool { return r.Status().Messages >= n })
		cancel()
	}()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if s := r.Status(); s.Messages < n {
		t.Fatalf("%d messages, expected %d", s.Messages, n)
	}
}

// message is a message of a run, with its body as on the wire.
type message struct {
	device  string
	subtype uint8
	time    float64
	seq     uint32
	body    string
}

// messages reads the messages of a run, and the records that are none.
func messages(t *testing.T, name string) (all []message, others []run.Record) {
	t.Helper()
	f, err := run.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return all, others
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind != run.Data {
			others = append(others, *rec)
			continue
		}
		body, err := iface.Append(nil, rec.Payload)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, message{rec.Device.Addr.String(), rec.Header.Subtype, rec.Header.Timestamp, rec.Header.Seq, string(body)})
	}
}

// What a real Player server sent is in the file to the bit, with what is known
// of its devices.
func TestRecordsAServer(t *testing.T) {
	capture := playertest.TwoRobots()
	var want []message
	for _, m := range capture.Data() {
		addr := player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}
		want = append(want, message{addr.String(), m.Subtype, m.Timestamp, m.Seq, string(m.Body)})
	}
	name := filepath.Join(t.TempDir(), "a.mcap")
	s := playertest.Play(t, capture, playertest.Options{})
	r := recorder(t, record.Config{Output: name, Servers: []record.Server{{Address: s.Addr(), Robot: "r0", World: "cave"}}})
	counting(t, r, uint64(len(want)))
	got, others := messages(t, name)
	for i := range got {
		got[i].seq, want[i].seq = 0, 0 // numbered anew by the server that plays
	}
	if diff := cmp.Diff(want, got[:len(want)], cmp.AllowUnexported(message{})); diff != "" {
		t.Error(diff)
	}
	if len(others) == 0 || others[0].Kind != run.Up || others[0].Robot != "r0" || others[0].World != "cave" || others[0].Player != s.Addr() {
		t.Fatalf("records %+v", others)
	}
	known := map[string]*player.Device{}
	for _, rec := range others {
		for _, d := range append(slices.Clone(rec.Devices), rec.Device) {
			if d != nil {
				known[d.Addr.String()] = d
			}
		}
		if rec.Kind == run.Down {
			t.Error("the end of the recording ended the robot's session")
		}
	}
	for _, name := range []string{"laser:0", "ranger:0", "ranger:1", "position2d:0"} {
		if d := known[name]; d == nil || d.Geometry == nil || d.Driver == "" {
			t.Errorf("%s is known as %+v", name, d)
		}
	}
	if c := known["ranger:1"].Config; c == nil || len(known["ranger:1"].Geometry.Elements) < 2 {
		t.Errorf("ranger:1 is known as %+v", known["ranger:1"])
	}
}

// Devices are chosen by patterns, robots by the configuration.
func TestChoosesDevices(t *testing.T) {
	capture := playertest.TwoRobots()
	name := filepath.Join(t.TempDir(), "a.mcap")
	s := playertest.Play(t, capture, playertest.Options{Open: []uint32{}})
	r := recorder(t, record.Config{Output: name, Servers: []record.Server{{
		Address: s.Addr(), Robots: map[string][]string{"a": {"ranger:*"}, "b": {"position2d", "laser:0"}}, Devices: []string{"ranger:0", "position*"},
	}}})
	counting(t, r, 20)
	_, others := messages(t, name)
	var got []string
	for _, rec := range others {
		if rec.Kind == run.Up {
			for _, d := range rec.Devices {
				got = append(got, rec.Robot+" "+d.Addr.String())
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a ranger:0", "b position2d:0"}, got); diff != "" {
		t.Error(diff)
	}
}

// A session that ends is in the file, and so is the one that follows.
func TestSessionsEnd(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.mcap")
	s := playertest.Play(t, playertest.TwoRobots(), playertest.Options{Loop: true, Interval: time.Millisecond})
	var r *record.Recorder
	r = recorder(t, record.Config{
		Output: name, Servers: []record.Server{{Address: s.Addr(), Robot: "r0"}},
		Source: func(ctx context.Context, _ func(*run.Record)) error {
			until(ctx, func() bool { return r.Status().Messages >= 100 })
			s.Hangup()
			until(ctx, func() bool { return r.Status().Up == 0 })
			return nil
		},
	})
	counting(t, r, 1000)
	_, others := messages(t, name)
	var kinds []string
	for _, rec := range others {
		if rec.Kind != run.Known {
			kinds = append(kinds, rec.Kind.String())
		}
	}
	if diff := cmp.Diff([]string{"up", "down", "up"}, kinds[:min(3, len(kinds))]); diff != "" {
		t.Error(diff)
	}
}

// Real readlog replays what we write: every reading of two robots, with their
// geometry. CALLBOARD_PLAYER names a command that starts a real Player server:
// COMMAND PORT FILE.cfg.
func TestRealReadlog(t *testing.T) {
	command := os.Getenv("CALLBOARD_PLAYER")
	if command == "" {
		t.Skip("CALLBOARD_PLAYER names no command that starts a real Player server")
	}
	dir := t.TempDir()
	ports := freePorts(t, 2)
	first := filepath.Join(dir, "first.log")
	written := 0
	r := recorder(t, record.Config{Output: first, Source: func(_ context.Context, put func(*run.Record)) error {
		written = putGolden(t, ports, put)
		return nil
	}})
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	cfg := filepath.Join(dir, "readlog.cfg")
	text := fmt.Sprintf("driver ( name \"readlog\" filename %q provides [ \"%d:position2d:0\" \"%d:ranger:0\" \"%d:ranger:1\" \"%d:laser:0\" \"%d:sonar:0\" \"%d:log:0\" ] speed 10 autoplay 1 )\n",
		first, ports[0], ports[0], ports[0], ports[1], ports[1], ports[0])
	if err := os.WriteFile(cfg, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(command, fmt.Sprint(ports[0]), cfg)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	second := filepath.Join(dir, "second.log")
	again := recorder(t, record.Config{Output: second, Servers: []record.Server{
		{Address: fmt.Sprintf("127.0.0.1:%d", ports[0]), Robot: "the first"}, {Address: fmt.Sprintf("127.0.0.1:%d", ports[1]), Robot: "r 2"},
	}})
	counting(t, again, uint64(written))
	want, begun := messages(t, first)
	got, _ := messages(t, second)
	for _, list := range [][]message{want, got} {
		slices.SortStableFunc(list, func(a, b message) int { return strings.Compare(a.device, b.device) })
	}
	if diff := cmp.Diff(want, got[:min(len(want), len(got))], cmp.AllowUnexported(message{})); diff != "" {
		t.Errorf("%s\nPlayer: %s", diff, said.String())
	}
	if begun[0].Robot != "the first" {
		t.Errorf("the log's first record is %+v", begun[0])
	}
}

// freePorts finds ports that nobody listens on.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var out []int
	for range n {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// putGolden returns the readings of two golden logs as if they came from two
// servers, a laser that is lost in between among them.
func putGolden(t *testing.T, ports []int, put func(*run.Record)) (n int) {
	for i, log := range []string{"alpha-ranger.log", "two-robots-laser-sonar.log"} {
		f, err := run.Open("../../testdata/logs/" + log)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer f.Close()
		in, err := f.Reader(run.Options{})
		if err != nil {
			t.Error(err)
			return 0
		}
		defer in.Close()
		for rec, err := in.Next(); err == nil || errors.As(err, new(*problem.Problem)); rec, err = in.Next() {
			if err != nil {
				continue
			}
			rec, ok := moved(rec, []string{"the first", "r 2"}[i], uint32(ports[i]), i == 0)
			if !ok {
				continue
			}
			put(rec)
			if rec.Kind == run.Data {
				n++
			}
			if n%50 == 1 {
				put(&run.Record{Kind: run.Lost, Robot: rec.Robot, Player: rec.Player, Count: 3})
			}
		}
	}
	return n
}

// moved is a record as another server's.
func moved(rec *run.Record, robot string, port uint32, rangers bool) (*run.Record, bool) {
	out := *rec
	out.Robot, out.Player = robot, fmt.Sprintf("127.0.0.1:%d", port)
	wanted := func(d *player.Device) bool {
		if rangers {
			return d.Interf == player.InterfaceRanger || d.Interf == player.InterfacePosition2D
		}
		return d.Addr.Robot == 6665 && (d.Interf == player.InterfaceLaser || d.Interf == player.InterfaceSonar)
	}
	change := func(d *player.Device) *player.Device {
		n := *d
		n.Addr.Robot, n.Robot = port, robot
		return &n
	}
	out.Devices = nil
	for _, d := range rec.Devices {
		if wanted(d) {
			out.Devices = append(out.Devices, change(d))
		}
	}
	if rec.Device != nil {
		if !wanted(rec.Device) || rec.Kind == run.Data && rec.Payload == nil {
			return nil, false
		}
		out.Device = change(rec.Device)
		out.Header.Addr = out.Device.Addr
	}
	return &out, len(out.Devices) > 0 || out.Device != nil
}
