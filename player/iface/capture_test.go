package iface_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
)

const captureDir = "../../testdata/captures"

// capture is a recorded connection: its bytes, and what a separate parser and
// the real client library made of them.
type capture struct {
	Name     string
	C2S, S2C []player.Message
	Events   []map[string]any `json:"events"`
	Decoded  []map[string]any `json:"server_decoded"`
	Sent     []headerLine     `json:"c2s_messages"`
	Received []headerLine     `json:"s2c_messages"`
}

// headerLine is a header as the separate parser read it.
type headerLine struct {
	Offset        int
	Host, Robot   uint32
	Interf, Index uint32 // all 32 bits, as are the next two
	Type, Subtype uint32
	Timestamp     float64
	Seq, Size     uint32
}

func captureNames(t testing.TB) []string {
	files, err := filepath.Glob(captureDir + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s: %v", captureDir, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

func loadCapture(t testing.TB, name string) *capture {
	t.Helper()
	c := &capture{Name: name}
	text, err := os.ReadFile(filepath.Join(captureDir, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c.C2S = cut(t, name+".c2s.bin", c.Sent)
	c.S2C = cut(t, name+".s2c.bin", c.Received)
	return c
}

// cut cuts a stream where the separate parser says that messages begin, and
// checks that the headers there are read as it read them.
func cut(t testing.TB, file string, lines []headerLine) []player.Message {
	t.Helper()
	stream, err := os.ReadFile(filepath.Join(captureDir, file))
	if err != nil {
		t.Fatal(err)
	}
	var out []player.Message
	for _, l := range lines {
		if len(stream)-l.Offset < player.HeaderSize+int(l.Size) || l.Size > player.MaxBody {
			break // a capture of an impossible size
		}
		h, err := player.ParseHeader(stream[l.Offset:])
		if err != nil {
			t.Fatalf("%s at %d: %v", file, l.Offset, err)
		}
		want := player.Header{
			Addr: player.Addr{Host: l.Host, Robot: l.Robot, Interf: player.Interface(l.Interf), Index: uint16(l.Index)},
			Type: player.Type(l.Type), Subtype: uint8(l.Subtype), Timestamp: h.Timestamp, Seq: l.Seq, Size: l.Size,
		}
		// The timestamp of a SYNCH is memory that was never set.
		if h != want || h.Type != player.Synch && l.Timestamp != h.Timestamp {
			t.Errorf("%s at %d: header is %+v, expected %+v at %v", file, l.Offset, h, want, l.Timestamp)
		}
		from := l.Offset + player.HeaderSize
		out = append(out, player.Message{Header: h, Body: stream[from : from+int(h.Size)]})
	}
	return out
}

// faults are the messages that clients sent wrong on purpose, by capture and
// number in its c2s stream: what decoding them must say, or "longer" where
// bytes follow the struct, "counts" where the first count is above the second.
var faults = map[string]map[int]string{
	"i_raw_truncated_body": {0: "DeviceReq.Addr.Interf at byte 8: 0 bytes left"},
	"i_raw_long_body":      {0: "longer"},
	"i_raw_array_mismatch": {1: "OpaqueData.Data at byte 4: second count 5 is above the first, 3", 2: "counts"},
	"i_raw_array_overrun":  {1: "OpaqueData.Data at byte 4: announces 1000 elements"},
}

// Every body of every capture decodes, and encodes to the bytes it came from:
// memory that a server never initialised is carried through, too.
func TestCapturesReencode(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range captureNames(t) {
		c := loadCapture(t, name)
		for stream, messages := range map[string][]player.Message{"c2s": c.C2S, "s2c": c.S2C} {
			for i, m := range messages {
				fault := ""
				if stream == "c2s" {
					fault = faults[name][i]
				}
				reencode(t, name+" "+stream, i, m, fault, seen)
			}
		}
	}
	for _, m := range iface.Messages() {
		if !seen[m.String()] && !m.Empty() {
			t.Logf("%s occurs in no capture", m)
		}
	}
}

func reencode(t *testing.T, where string, i int, m player.Message, fault string, seen map[string]bool) {
	t.Helper()
	def, ok := iface.Lookup(m.Interf, m.Type, m.Subtype)
	if !ok || len(m.Body) == 0 && !def.Empty() {
		return // opaque to us, or an empty request or answer
	}
	if def.Empty() {
		if err := def.Decode(m.Body, nil); err != nil {
			t.Errorf("%s message %d, %s: %v", where, i, m.Header, err)
		}
		return
	}
	seen[def.String()] = true
	payload := def.New()
	err := def.Decode(m.Body, payload)
	if fault != "" && fault != "longer" && fault != "counts" {
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s message %d, %s: error %v, expected %q in it", where, i, m.Header, err, fault)
		}
		return
	}
	if err != nil {
		t.Errorf("%s message %d, %s: %v", where, i, m.Header, err)
		return
	}
	got, err := iface.AppendMessage(nil, m.Header, payload)
	if err != nil {
		t.Errorf("%s message %d, %s: %v", where, i, m.Header, err)
		return
	}
	want := append(m.Header.Append(nil), m.Body...)
	switch fault {
	case "counts":
		copy(want[player.HeaderSize:], want[player.HeaderSize+4:player.HeaderSize+8])
	case "longer":
		got, want = got[player.HeaderSize:], want[player.HeaderSize:len(got)]
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s message %d, %s: encodes differently:\n%s", where, i, m.Header, cmp.Diff(want, got))
	}
}
