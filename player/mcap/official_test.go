package mcap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/player/mcap"
	"callboard/player/nodetest"
	"callboard/player/run"
)

// officialContent is what write.mjs writes.
func officialContent() content {
	var want content
	for i := range 100 {
		want.Messages = append(want.Messages,
			message{"/a", "S", uint32(i), uint64(1000 + i), uint64(i), fmt.Sprintf(`{"i":%d}`, i)},
			message{"/b", "", uint32(i), uint64(1000 + i), uint64(i), strings.Repeat("ab", i)})
	}
	want.Attachments = []mcap.Attachment{{LogTime: 1, CreateTime: 2, Name: "file", MediaType: "text/plain", Data: []byte("attached")}}
	want.Metadata = []mcap.Metadata{{Name: "m", Metadata: map[string]string{"a": "1"}}}
	return want
}

// What the official writer wrote is read, from the beginning and by the index.
func TestOfficialFiles(t *testing.T) {
	for _, name := range []string{"official.mcap", "official-lz4.mcap"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		checkOfficial(t, name, file)
	}
}

func checkOfficial(t *testing.T, name string, file []byte) {
	t.Helper()
	want := officialContent()
	if diff := cmp.Diff(want, stream(t, file), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
	if diff := cmp.Diff(want.Messages, selected(t, file, mcap.Selection{})); diff != "" {
		t.Errorf("%s by its index: %s", name, diff)
	}
}

// official installs the official library, and returns where.
func official(t *testing.T) string {
	t.Helper()
	return nodetest.Install(t, "mcap-core-2.2.2", "@mcap/core@2.2.2", "fzstd@0.1.1")
}

// script runs a script of testdata.
func script(t *testing.T, name string, arguments ...string) []byte {
	t.Helper()
	return nodetest.Run(t, filepath.Join("testdata", name), arguments...)
}

// printed is a line of read.mjs.
type printed struct {
	Mode, Topic, Schema string
	Sequence            uint32
	Log, Publish        string
	Data                []byte
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// officially reads a file with the official reader.
func officially(t *testing.T, library string, file []byte) (streamed, indexed content, statistics printed) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.mcap")
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(script(t, "read.mjs", library, name)) {
		var p printed
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		switch p.Mode {
		case "attachment":
			streamed.Attachments = append(streamed.Attachments, mcap.Attachment{Name: p.Topic, Data: p.Data})
		case "metadata":
			streamed.Metadata = append(streamed.Metadata, mcap.Metadata{Name: p.Topic})
		case "statistics":
			statistics = p
		default:
			m := message{p.Topic, p.Schema, p.Sequence, number(t, p.Log), number(t, p.Publish), string(p.Data)}
			if p.Mode == "stream" {
				streamed.Messages = append(streamed.Messages, m)
			} else {
				indexed.Messages = append(indexed.Messages, m)
			}
		}
	}
	return streamed, indexed, statistics
}

// The official reader reads what we write: the same messages, from the
// beginning and by the index; and so does our reader what the official writer
// writes.
func TestOfficialLibrary(t *testing.T) {
	library := official(t)
	for _, compression := range []string{mcap.Zstd, mcap.None} {
		file, want := sample(t, 50, compression, nil)
		streamed, indexed, statistics := officially(t, library, file)
		if diff := cmp.Diff(byTopic(want.Messages), byTopic(streamed.Messages)); diff != "" {
			t.Errorf("%s, from the beginning: %s", compression, diff)
		}
		if diff := cmp.Diff(byTopic(want.Messages), byTopic(indexed.Messages)); diff != "" {
			t.Errorf("%s, by the index: %s", compression, diff)
		}
		if len(streamed.Attachments) != 1 || string(streamed.Attachments[0].Data) != string(want.Attachments[0].Data) || len(streamed.Metadata) != 1 {
			t.Errorf("attachments %+v, metadata %+v", streamed.Attachments, streamed.Metadata)
		}
		if statistics.Sequence != 100 {
			t.Errorf("statistics %+v", statistics)
		}
	}
	name := filepath.Join(t.TempDir(), "official.mcap")
	script(t, "write.mjs", library, name)
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	checkOfficial(t, "written now", file)
}

// A recorded run is a whole MCAP file for the official reader, with JSON where
// JSON is announced.
func TestOfficialReaderReadsARun(t *testing.T) {
	library := official(t)
	for _, log := range []string{"alpha-ranger.log", "many-interfaces.log"} {
		f, err := run.Open("../../testdata/logs/" + log)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := f.Reader(run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var file bytes.Buffer
		w, err := run.NewMCAPWriter(run.MCAPConfig{W: &file, World: &run.World{Files: []run.WorldFile{{Name: "a.world", Data: []byte("x")}}}})
		if err != nil {
			t.Fatal(err)
		}
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			if rec.Payload == nil && rec.Kind == run.Data {
				continue
			}
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		streamed, indexed, _ := officially(t, library, file.Bytes())
		ours := stream(t, file.Bytes())
		if diff := cmp.Diff(ours.Messages, streamed.Messages); diff != "" {
			t.Errorf("%s: %s", log, diff)
		}
		if len(indexed.Messages) != len(ours.Messages) || len(ours.Messages) < 100 {
			t.Errorf("%s: %d messages by the index, %d from the beginning", log, len(indexed.Messages), len(ours.Messages))
		}
	}
}
