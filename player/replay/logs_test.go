package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/problem"
	"callboard/player/replay"
	"callboard/player/run"
)

// TestLogsOfRealPlayer replays what Player's own writelog has written, and what
// lies in the folder that CALLBOARD_CORPUS names, as fast as possible: every message that has a payload arrives,
// in order.
func TestLogsOfRealPlayer(t *testing.T) {
	names, err := filepath.Glob("../../testdata/logs/*.log")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	if dir := os.Getenv("CALLBOARD_CORPUS"); dir != "" {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && (strings.HasSuffix(path, ".log") || strings.HasSuffix(path, ".log.gz")) {
				names = append(names, path)
			}
			return nil
		})
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) { replayed(t, name) })
	}
}

// replayed compares what clients get with what the run holds.
func replayed(t *testing.T, name string) {
	file, err := run.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	survey, err := file.Survey(context.Background(), nil)
	if err != nil || len(survey.Robots) == 0 {
		t.Skipf("no log with messages: %v", err)
	}
	want := payloads(t, file)
	bubble(t, func(t *testing.T) {
		g := start(t, replay.Config{Sources: []replay.Source{{File: file, Survey: survey}}})
		g.foreign = true
		var readers []*reader
		for i := range g.pipes {
			readers = append(readers, g.read(i, func(a player.Addr) bool { return iface.HasData(a.Interf) }))
		}
		passes(time.Minute)
		for i, p := range g.replay.Ports() {
			got := readers[i].times()
			if len(got) != len(want[p.Recorded]) {
				t.Errorf("of port %d came %d messages, expected %d; told %s", p.Recorded, len(got), len(want[p.Recorded]), g.log)
				continue
			}
			for n := range got {
				if got[n] != want[p.Recorded][n] {
					t.Errorf("message %d of port %d is that of %v, expected that of %v", n+1, p.Recorded, got[n], want[p.Recorded][n])
					break
				}
			}
		}
	})
}

// payloads returns the times of the messages with a payload, by port.
func payloads(t *testing.T, file *run.File) map[uint32][]float64 {
	t.Helper()
	r, err := file.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := map[uint32][]float64{}
	for {
		rec, err := r.Next()
		if _, odd := err.(*problem.Problem); odd {
			continue
		}
		if err != nil {
			return out
		}
		if rec.Kind == run.Data && rec.Payload != nil {
			out[rec.Device.Addr.Robot] = append(out[rec.Device.Addr.Robot], rec.Header.Timestamp)
		}
	}
}
