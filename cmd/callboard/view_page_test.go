package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callboard/bridge/config"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// sawtooth is a recorded run of 40 s, from 1000 s on: a robot whose x goes from 0 to
// 9.5 m again and again, a reading each 0.5 s.
func sawtooth(t *testing.T) replay.Source {
	t.Helper()
	var out bytes.Buffer
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: &out})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 81 {
		h := player.Header{Addr: player.Addr{Robot: 6665, Interf: player.InterfacePosition2D}, Type: player.Data, Subtype: iface.DataPosition2DState, Timestamp: 1000 + float64(i)/2}
		if err := w.Write(h, &iface.Position2DData{Pos: iface.Pose2D{Px: float64(i%20) / 2}}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "run.log")
	if err := os.WriteFile(name, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := run.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	survey, err := f.Survey(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return replay.Source{File: f, Survey: survey, Name: "r0"}
}

// TestViewed: the page of callboard view sees how the replay goes, changes that, and
// is told where in the run a condition found something.
func TestViewed(t *testing.T) {
	source := sawtooth(t)
	r, err := replay.New(replay.Config{Sources: []replay.Source{source}, Speed: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := &viewed{replay: r, sources: []replay.Source{source}, settings: config.Default()}
	ask := func(name, body string) (string, error) {
		answer, err := v.actions()[name](t.Context(), []byte(body))
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), source.File.Name(), "run.log"), nil
	}
	for _, tt := range []struct{ name, body, want string }{
		{"replay", `{}`, `{"files":["run.log"],"at":0,"length":40,"speed":1,"playing":false,"ended":false}`},
		{"replay", `{"at": 12.5, "speed": 4, "playing": true}`, `{"files":["run.log"],"at":12.5,"length":40,"speed":4,"playing":false,"ended":false}`},
		{"replay", `{"at": 1e300}`, `{"files":["run.log"],"at":40,"length":40,"speed":4,"playing":false,"ended":false}`},
		{"replay/found", `{"condition": "position.x > 8"}`, `{"marks":[{"robot":"r0","from":8.5,"to":8.5,"count":1},{"robot":"r0","from":9,"to":9,"count":1},{"robot":"r0","from":9.5,"to":9.5,"count":1},`},
		{"replay/found", `{"condition": "position.x > 8", "trigger": "change"}`, `{"marks":[{"robot":"r0","from":8.5,"to":8.5,"count":1},{"robot":"r0","from":18.5,"to":18.5,"count":1},`},
		{"replay/found", `{"condition": "position.x > 8", "trigger": "rising"}`, `{"marks":[{"robot":"r0","from":8.5,"to":8.5,"count":1},{"robot":"r0","from":18.5,"to":18.5,"count":1},{"robot":"r0","from":28.5,"to":28.5,"count":1},{"robot":"r0","from":38.5,"to":38.5,"count":1}],"notifications":4,"more":false}`},
		{"replay/found", `{"condition": "position.x > 8", "robots": ["r1"]}`, `{"marks":[],"notifications":0,"more":false}`},
	} {
		got, err := ask(tt.name, tt.body)
		if err != nil || !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s %s: %v\n got %s\nwant %s", tt.name, tt.body, err, got, tt.want)
		}
	}
	for _, tt := range []struct{ name, body, code string }{
		{"replay", `{"at": -1}`, "bad_message"},
		{"replay", `{"speed": -1}`, "bad_message"},
		{"replay", `{"where": 1}`, "bad_message"},
		{"replay", `soon`, "bad_message"},
		{"replay/found", `{"condition": "lazer.min < 1"}`, "bad_condition"},
	} {
		_, err := ask(tt.name, tt.body)
		var p *protocol.Problem
		if !errors.As(err, &p) || string(p.Code) != tt.code {
			t.Errorf("%s %s: %v, want %s", tt.name, tt.body, err, tt.code)
		}
	}
}

// TestMarks: notifications that are close are one mark, and marks are bounded.
func TestMarks(t *testing.T) {
	m := &marks{first: 100, apart: 1, newest: map[string]int{}}
	for i, text := range []string{"100 a", "100.5 a", "100.75 b", "101.25 a", "103 a", "", "99 a"} {
		if err := m.add(uint64(i), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want := []mark{{"a", 0, 1.25, 3}, {"b", 0.75, 0.75, 1}, {"a", 3, 3, 1}, {"a", -1, -1, 1}}
	if diff := cmp.Diff(want, m.list); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	for i := range maxMarks {
		if err := m.add(uint64(i), fmt.Appendf(nil, "%d c", 200+2*i)); err != nil {
			t.Fatal(err)
		}
	}
	if len(m.list) != maxMarks || !m.more {
		t.Errorf("%d marks, more %v; want %d, and that there are more", len(m.list), m.more, maxMarks)
	}
}
