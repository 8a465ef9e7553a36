package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"callboard/bridge/record"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
	"callboard/player/run"
)

func TestMain(m *testing.M) {
	if os.Getenv("CALLBOARD_RECORD_UNTIL_KILLED") != "" {
		recordUntilKilled()
	}
	goleak.VerifyTestMain(m)
}

// sonar is a robot's device with geometry.
func sonar(robot string, port uint32) *player.Device {
	return &player.Device{
		Addr:     player.Addr{Host: 0x0100007f, Robot: port, Interf: player.InterfaceSonar},
		Robot:    robot,
		World:    "cave",
		Geometry: &player.Geometry{Elements: []player.Pose{{Yaw: 1.0 / 3}}},
	}
}

func up(d *player.Device) *run.Record {
	return &run.Record{Kind: run.Up, Robot: d.Robot, World: d.World, Player: fmt.Sprintf("localhost:%d", d.Addr.Robot), Devices: []*player.Device{d}, Logged: time.Now()}
}

// ping is the i-th reading of a device.
func ping(d *player.Device, i int) *run.Record {
	return &run.Record{
		Kind: run.Data, Robot: d.Robot, World: d.World, Player: fmt.Sprintf("localhost:%d", d.Addr.Robot), Device: d, Logged: time.Now(),
		Header:  player.Header{Addr: d.Addr, Type: player.Data, Subtype: iface.DataSonarRanges, Timestamp: float64(i), Seq: uint32(i)},
		Payload: &iface.SonarData{Ranges: []float32{float32(i)}},
	}
}

// recorded reads a file and writes down what comes, a line for each record but
// those of data, which are counted and must be numbered without a hole from
// first.
func recorded(t *testing.T, name string, first int) (lines []string, next int) {
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
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return lines, first
		case errors.As(err, &p):
			if !p.Warning {
				t.Errorf("%s: %v", name, err)
			}
			lines = append(lines, "cut")
		case err != nil:
			t.Fatal(err)
		case rec.Kind == run.Data:
			if rec.Header.Timestamp != float64(first) || rec.Payload.(*iface.SonarData).Ranges[0] != float32(first) {
				t.Fatalf("%s: reading %v %v, expected %d", name, rec.Header.Timestamp, rec.Payload, first)
			}
			first++
		default:
			line := fmt.Sprintf("%s %s", rec.Kind, rec.Robot)
			if rec.Continued {
				line += " continued"
			}
			if rec.Count > 0 {
				line += fmt.Sprint(" ", rec.Count)
			}
			for _, d := range rec.Devices {
				line += fmt.Sprintf(" %s in %s %v", d.Addr, d.World, d.Geometry.Elements[0].Yaw)
			}
			lines = append(lines, line)
		}
	}
}

func recorder(t *testing.T, c record.Config) *record.Recorder {
	t.Helper()
	r, err := record.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const third = "0.3333333333333333"

// Each file of a recording that is cut by size can be read by itself, and
// together they have everything.
func TestRotateBySize(t *testing.T) {
	for _, ending := range []string{".log", ".mcap"} {
		name := filepath.Join(t.TempDir(), "a"+ending)
		const n = 3000
		var closed []record.Part
		r := recorder(t, record.Config{
			Output: name, RotateSize: 20_000, Closed: func(p record.Part) { closed = append(closed, p) },
			Source: func(_ context.Context, put func(*run.Record)) error {
				d := sonar("r0", 6665)
				put(up(d))
				for i := range n {
					put(ping(d, i))
				}
				return nil
			},
		})
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		at, messages := 0, uint64(0)
		for i, part := range closed {
			if want := run.PartName(name, i+1); part.Name != want {
				t.Errorf("file %s, expected %s", part.Name, want)
			}
			info, err := os.Stat(part.Name)
			if err != nil || info.Size() != part.Bytes {
				t.Errorf("%s has %v bytes (%v), told were %d", part.Name, info.Size(), err, part.Bytes)
			}
			var lines []string
			lines, at = recorded(t, part.Name, at)
			want := []string{"up r0 continued sonar:0 in cave " + third}
			if i == 0 {
				want = []string{"up r0 sonar:0 in cave " + third}
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("%s: %s", part.Name, diff)
			}
			messages += part.Messages
		}
		if at != n || messages != n || len(closed) < 3 {
			t.Errorf("%s: %d readings, %d told, in %d files, expected %d in several", ending, at, messages, len(closed), n)
		}
		if s := r.Status(); s.Parts != len(closed) || s.Messages != n {
			t.Errorf("status %+v", s)
		}
	}
}

func TestRotateByTimeAndEnd(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		name := filepath.Join(dir, "a.log")
		r := recorder(t, record.Config{
			Output: name, RotateTime: 10 * time.Second, Duration: 35 * time.Second,
			Source: func(ctx context.Context, put func(*run.Record)) error {
				d := sonar("r0", 6665)
				put(up(d))
				for i := 0; ; i++ {
					put(ping(d, i))
					select {
					case <-ctx.Done():
						return ctx.Err()
					case <-time.After(999 * time.Millisecond):
					}
				}
			},
		})
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	at := 0
	for n := 1; n <= 4; n++ {
		before := at
		if _, at = recorded(t, run.PartName(filepath.Join(dir, "a.log"), n), at); at == before {
			t.Errorf("file %d is empty", n)
		}
	}
	if at != 36 {
		t.Errorf("%d readings, expected 36", at)
	}
}

func TestTheFirstFileMustNotBeThere(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.log")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	source := func(context.Context, func(*run.Record)) error { return nil }
	if _, err := record.New(record.Config{Output: name, Source: source}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Error(err)
	}
	if _, err := record.New(record.Config{Output: "a.txt", Source: source}); err == nil || !strings.Contains(err.Error(), "expected .log for a Player log or .mcap") {
		t.Error(err)
	}
	if _, err := record.New(record.Config{Output: "a.log"}); err == nil {
		t.Error("nothing to record is no error")
	}
}

// disk is a file with a limited room, which can be made to hang.
type disk struct {
	mu   sync.Mutex
	b    bytes.Buffer
	room int
	gate chan struct{} // what is written waits for it; nil: does not
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(b []byte) (int, error) {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(b)
	if d.room > 0 {
		n = min(n, d.room-d.b.Len())
	}
	d.b.Write(b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func (d *disk) Truncate(size int64) error { d.b.Truncate(int(size)); return nil }
func (d *disk) Sync() error               { return nil }
func (d *disk) Close() error              { return nil }

// save writes what is on the disk into a file.
func (d *disk) save(t *testing.T, ending string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a"+ending)
	if err := os.WriteFile(name, d.b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// A full disk ends the recording with an error that says so, and what was
// written is whole.
func TestFullDisk(t *testing.T) {
	for _, ending := range []string{".log", ".mcap"} {
		d := &disk{room: 3_000_000}
		r := recorder(t, record.Config{
			Output: "a" + ending, Create: func(string) (record.File, error) { return d, nil }, Plain: true,
			Source: func(ctx context.Context, put func(*run.Record)) error {
				one := sonar("r0", 6665)
				put(up(one))
				for i := 0; ctx.Err() == nil; i++ {
					put(ping(one, i))
				}
				return ctx.Err()
			},
		})
		err := r.Run(t.Context())
		if !errors.Is(err, errFull) || !strings.Contains(err.Error(), "which can be read") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", ending, err)
		}
		lines, n := recorded(t, d.save(t, ending), 0)
		if n < 1000 {
			t.Errorf("%s: %d readings are on the disk", ending, n)
		}
		if ending == ".log" && !slices.Equal(lines, []string{"up r0 sonar:0 in cave " + third}) {
			t.Errorf("%s: %q", ending, lines)
		}
	}
}

// What comes while the disk hangs is dropped beyond the queue, counted, and
// told in the file.
func TestSlowDisk(t *testing.T) {
	d := &disk{gate: make(chan struct{})}
	var told bytes.Buffer
	dropped := make(chan uint64, 1)
	var r *record.Recorder
	r = recorder(t, record.Config{
		Output: "a.log", QueueBytes: 100_000, Create: func(string) (record.File, error) { return d, nil },
		Logger: slog.New(slog.NewTextHandler(&told, nil)),
		Source: func(ctx context.Context, put func(*run.Record)) error {
			one := sonar("r0", 6665)
			put(up(one))
			i := 0
			for ; r.Status().Dropped == 0; i++ {
				put(ping(one, i))
			}
			for range 99 {
				put(ping(one, i))
			}
			dropped <- r.Status().Dropped
			close(d.gate)
			for before := r.Status().Messages; r.Status().Messages == before; {
				put(ping(one, i-1)) // the first one that was dropped
			}
			return nil
		},
	})
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, n := recorded(t, d.save(t, ".log"), 0)
	s := r.Status()
	if want := fmt.Sprintf("lost r0 %d", s.Dropped); !slices.Contains(lines, want) || <-dropped != 100 {
		t.Errorf("%q, expected %q", lines, want)
	}
	if uint64(n) != s.Messages || n < 1000 {
		t.Errorf("%d readings, expected the %d that were recorded", n, s.Messages)
	}
	if !strings.Contains(told.String(), "the disk is too slow") {
		t.Errorf("log %q", told.String())
	}
}

// What a log cannot hold is counted and told once.
func TestUnwritable(t *testing.T) {
	var told bytes.Buffer
	d := &disk{}
	r := recorder(t, record.Config{
		Output: "a.log", Create: func(string) (record.File, error) { return d, nil }, Logger: slog.New(slog.NewTextHandler(&told, nil)),
		Source: func(_ context.Context, put func(*run.Record)) error {
			one := sonar("r0", 6665)
			put(up(one))
			for range 3 {
				rec := ping(one, 0)
				rec.Header.Interf, rec.Payload = player.InterfaceHealth, &iface.HealthData{}
				put(rec)
			}
			put(ping(one, 0))
			return nil
		},
	})
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.Status(); s.Unwritable != 3 || s.Messages != 1 || strings.Count(told.String(), "cannot hold") != 1 {
		t.Errorf("%+v, log %q", s, told.String())
	}
}

// Clocks that have nothing to do with each other are told of in a log.
func TestClocks(t *testing.T) {
	var told bytes.Buffer
	d := &disk{}
	r := recorder(t, record.Config{
		Output: "a.log", Create: func(string) (record.File, error) { return d, nil }, Logger: slog.New(slog.NewTextHandler(&told, nil)),
		Source: func(_ context.Context, put func(*run.Record)) error {
			a, b := sonar("r0", 6665), sonar("r1", 6666)
			put(up(a))
			put(up(b))
			for i := range 3 {
				put(ping(a, i))
				put(ping(b, i+1_700_000_000))
			}
			return nil
		},
	})
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(told.String(), "clocks differ") != 1 {
		t.Errorf("log %q", told.String())
	}
}
