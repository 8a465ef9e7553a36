package run_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callboard/player/run"
)

var world = &run.World{Files: []run.WorldFile{
	{Name: "worlds/cave.world", Data: []byte("include \"../map.inc\"")}, {Name: "lab.cfg", Data: []byte("driver ()")},
	{Name: "map.inc", Data: nil}, {Name: "worlds/bitmaps/cave.png", Data: []byte("\x89PNG")},
}}

// A world comes back from an MCAP file, finished or not, and from beside a log
// and its further parts.
func TestWorld(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	if err := world.WriteZip(&zipped, time.Now()); err != nil {
		t.Fatal(err)
	}
	whole := mcapOf(t, file(t, "1 0 6665 aio 0 1 1 1 7\n"), run.MCAPConfig{World: world})
	for name, data := range map[string][]byte{
		"lab.world.zip": zipped.Bytes(), "lab.log": []byte("#\n"), "lab-12.log": []byte("#\n"), "lab.log.gz": {}, "other.log": {},
		"whole.mcap": whole, "cut.mcap": whole[:len(whole)-100],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"lab.log", "lab-12.log", "lab.log.gz", "whole.mcap", "cut.mcap", "other.log"} {
		f, err := run.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := f.World()
		if err != nil {
			t.Fatal(err)
		}
		want := world
		if name == "other.log" {
			want = nil
		}
		if want == nil != (got == nil) {
			t.Errorf("%s: world %+v", name, got)
			continue
		}
		if got == nil {
			continue
		}
		for i := range got.Files {
			got.Files[i].Data = append([]byte{}, got.Files[i].Data...)
		}
		if diff := cmp.Diff(len(want.Files), len(got.Files)); diff != "" || got.File() != "worlds/cave.world" {
			t.Errorf("%s: %s, world file %q", name, diff, got.File())
		}
	}
}

func TestWorldOpens(t *testing.T) {
	for name, want := range map[string]string{
		"worlds/cave.world": "include \"../map.inc\"", "worlds/../worlds/bitmaps/cave.png": "\x89PNG", "/home/who/lab/worlds/bitmaps/cave.png": "\x89PNG",
		`worlds\bitmaps\cave.png`: "\x89PNG",
	} {
		if got, err := world.Open(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"cave.png", "../worlds/cave.world", "/none", "/", ""} {
		if got, err := world.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestDamagedWorld(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.log": "#\n", "a.world.zip": "no archive"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f, err := run.Open(filepath.Join(dir, "a.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if w, err := f.World(); err == nil {
		t.Errorf("world %+v", w)
	}
}

func TestPartName(t *testing.T) {
	for n, want := range map[int]string{1: "a/lab.mcap", 2: "a/lab-2.mcap", 13: "a/lab-13.mcap"} {
		if got := run.PartName("a/lab.mcap", n); got != want {
			t.Errorf("part %d is %s, expected %s", n, got, want)
		}
	}
}
