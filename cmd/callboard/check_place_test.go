package main

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
	"callboard/player/run"
)

// TestPlaces: whatever is done to a file, each problem that check finds in it has a
// place: line and column, or the byte.
func TestPlaces(t *testing.T) {
	log, err := os.ReadFile("../../testdata/logs/beta-laser-odom.log")
	if err != nil {
		t.Fatal(err)
	}
	log = log[:bytes.LastIndexByte(log[:8000], '\n')+1]
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(log)
	z.Close()
	t.Chdir(t.TempDir())
	files := map[string][]byte{
		"a.world": []byte("name \"w\"\ndefine rover position ( size [ 0.4 0.4 0.2 ] ranger ( sensor ( range [ 0 5 ] fov 180 samples 19 ) ) )\n" +
			"rover ( name \"r0\" pose [ 0 0 0 0 ] )\n"),
		"a.cfg": []byte("driver ( name \"stage\" plugin \"stageplugin\" provides [ \"simulation:0\" ] worldfile \"a.world\" )\n" +
			"driver ( name \"stage\" provides [ \"position2d:0\" \"ranger:0\" ] model \"r0\" )\n"),
		"a.toml": []byte("[broker]\nid = \"b1\"\nlisten = \"127.0.0.1:8800\"\n[[player]]\naddress = \"localhost:6665\"\n[[neighbour]]\n" +
			"id = \"b2\"\naddress = \"10.0.0.2:8801\"\n[zones]\ndock = [[0, 0], [2, 0], [2, 1]]\n[[token]]\nname = \"x\"\nmay = [\"subscribe\"]\n"),
		"a.log": log, "b.log.gz": packed.Bytes(), "a.mcap": recordedMCAP(t), "b.mcap": otherMCAP(t),
	}
	for name, whole := range files {
		if err := os.WriteFile(name, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var (
		placed  = regexp.MustCompile(`^[^ :]+:(\d+:\d+:| byte \d+:) `)
		about   = regexp.MustCompile(`^[^ :]+: `)
		counted = regexp.MustCompile(`^[^ :]+: (\d+ |no )`) // what the file has, or how many more
	)
	random := rand.New(rand.NewPCG(1, 2))
	for name, whole := range files {
		t.Run(name, func(t *testing.T) {
			for n := range 150 {
				b := damage(random, n, whole)
				if err := os.WriteFile(name, b, 0o644); err != nil {
					t.Fatal(err)
				}
				_, stdout, _ := runProgram(t.Context(), "check", name)
				for line := range strings.Lines(stdout) {
					if about.MatchString(line) && !placed.MatchString(line) && !counted.MatchString(line) {
						t.Fatalf("%.300q: a problem without a place: %s", b, line)
					}
				}
			}
			if err := os.WriteFile(name, whole, 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// damage cuts or changes a file in the n-th way.
func damage(random *rand.Rand, n int, whole []byte) []byte {
	b := bytes.Clone(whole)
	at := random.IntN(len(b))
	switch n % 6 {
	case 0:
		return b[:at]
	case 1:
		return b[at:]
	case 2:
		b[at] = "()[]{}\"=.\n 0a\x00\xff"[random.IntN(15)]
		return b
	case 3:
		return append(b[:at], b[min(len(b), at+random.IntN(20)):]...)
	case 4:
		lines := bytes.SplitAfter(b, []byte("\n"))
		at = random.IntN(len(lines))
		return bytes.Join(append(lines[:at:at], lines[at+1:]...), nil)
	}
	return nil
}

// recordedMCAP is a recorded run.
func recordedMCAP(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := run.NewMCAPWriter(run.MCAPConfig{W: &b})
	if err != nil {
		t.Fatal(err)
	}
	d := &player.Device{Addr: player.Addr{Interf: player.InterfacePosition2D}, Robot: "r0", Geometry: &player.Geometry{}}
	records := []run.Record{{Kind: run.Up, Robot: "r0", Devices: []*player.Device{d}}}
	for n := range 20 {
		records = append(records, run.Record{
			Kind: run.Data, Robot: "r0", Device: d, Header: player.Header{Addr: d.Addr, Type: player.Data, Subtype: 1, Timestamp: float64(n)},
			Payload: &iface.Position2DData{},
		})
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// otherMCAP is a file that another program wrote.
func otherMCAP(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := mcap.NewWriter(mcap.WriterConfig{W: &b})
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.AddChannel(mcap.Channel{Topic: "/x", Encoding: "json"})
	for n := range 20 {
		if err == nil {
			err = w.Write(mcap.Message{ChannelID: id, Sequence: uint32(n), Data: []byte(`{"n":1}`)})
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
