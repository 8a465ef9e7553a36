package mcap_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/player/mcap"
	"callboard/player/problem"
)

// message is a message with its channel's topic, to compare.
type message struct {
	Topic, Schema string
	Sequence      uint32
	Log, Publish  uint64
	Data          string
}

// content is what a file holds, to compare.
type content struct {
	Messages    []message
	Attachments []mcap.Attachment
	Metadata    []mcap.Metadata
	Problems    []string
}

// stream reads a file from its beginning.
func stream(t testing.TB, file []byte) content {
	t.Helper()
	var out content
	r, err := mcap.NewReader(mcap.ReaderConfig{
		R: iotest.HalfReader(bytes.NewReader(file)), Name: "x.mcap",
		Attachment: func(a *mcap.Attachment) error {
			copied := *a
			copied.Data = bytes.Clone(a.Data)
			out.Attachments = append(out.Attachments, copied)
			return nil
		},
		Metadata: func(m *mcap.Metadata) error { out.Metadata = append(out.Metadata, *m); return nil },
	})
	if err != nil {
		out.Problems = append(out.Problems, err.Error())
		return out
	}
	defer r.Close()
	for {
		m, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &p):
			out.Problems = append(out.Problems, p.Error())
		case err != nil:
			t.Fatal(err)
		default:
			c := r.Channel(m.ChannelID)
			schema := ""
			if s := r.Schema(c.SchemaID); s != nil {
				schema = s.Name
			}
			out.Messages = append(out.Messages, message{c.Topic, schema, m.Sequence, m.LogTime, m.PublishTime, string(m.Data)})
		}
	}
}

// selected reads a selection of a file by its index.
func selected(t testing.TB, file []byte, q mcap.Selection) []message {
	t.Helper()
	s, err := mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap")
	if err != nil {
		t.Fatal(err)
	}
	var out []message
	r := s.Select(q)
	defer r.Close()
	for {
		m, err := r.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		c := s.Channels()[m.ChannelID]
		schema := ""
		if s := s.Schema(c.SchemaID); s != nil {
			schema = s.Name
		}
		out = append(out, message{c.Topic, schema, m.Sequence, m.LogTime, m.PublishTime, string(m.Data)})
	}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// sample writes a file with a bit of everything, n messages on each of two
// channels, in small chunks; flushed is the file's size after each message.
func sample(t testing.TB, n int, compression string, each func(file []byte)) ([]byte, content) {
	t.Helper()
	var file bytes.Buffer
	w := must[*mcap.Writer](t)(mcap.NewWriter(mcap.WriterConfig{W: &file, Profile: "x", ChunkSize: 500, Compression: compression}))
	schema := must[uint16](t)(w.AddSchema(mcap.Schema{Name: "S", Encoding: "jsonschema", Data: []byte(`{"type":"object"}`)}))
	a := must[uint16](t)(w.AddChannel(mcap.Channel{Topic: "/a", SchemaID: schema, Encoding: "json", Metadata: map[string]string{"k": "v", "": ""}}))
	b := must[uint16](t)(w.AddChannel(mcap.Channel{Topic: "/b", Encoding: "x", Group: 1}))
	must[uint16](t)(w.AddChannel(mcap.Channel{Topic: "/never", Encoding: "x"}))
	var want content
	attachment := mcap.Attachment{LogTime: 5, CreateTime: 6, Name: "cave.world", MediaType: "text/plain", Data: []byte("model()")}
	if err := w.Attach(attachment); err != nil {
		t.Fatal(err)
	}
	want.Attachments = append(want.Attachments, attachment)
	for i := range n {
		for _, m := range []message{
			{"/a", "S", uint32(i), uint64(100 + i), uint64(i), fmt.Sprintf(`{"i":%d}`, i)},
			{"/b", "", uint32(i), uint64(100 + i), uint64(i), strings.Repeat("b", i%50)},
		} {
			id := a
			if m.Topic == "/b" {
				id = b
			}
			if err := w.Write(mcap.Message{ChannelID: id, Sequence: m.Sequence, LogTime: m.Log, PublishTime: m.Publish, Data: []byte(m.Data)}); err != nil {
				t.Fatal(err)
			}
			want.Messages = append(want.Messages, m)
		}
		if each != nil {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			each(file.Bytes())
		}
	}
	meta := mcap.Metadata{Name: "m", Metadata: map[string]string{"a": "1"}}
	if err := w.WriteMetadata(meta); err != nil {
		t.Fatal(err)
	}
	want.Metadata = append(want.Metadata, meta)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes(), want
}

// bytopic sorts messages by topic: each group has chunks of its own.
func byTopic(all []message) map[string][]message {
	out := map[string][]message{}
	for _, m := range all {
		out[m.Topic] = append(out[m.Topic], m)
	}
	return out
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for _, compression := range []string{mcap.Zstd, mcap.None} {
		file, want := sample(t, 200, compression, nil)
		got := stream(t, file)
		if diff := cmp.Diff(byTopic(want.Messages), byTopic(got.Messages)); diff != "" {
			t.Error(compression, diff)
		}
		if diff := cmp.Diff(byTopic(want.Messages), byTopic(selected(t, file, mcap.Selection{}))); diff != "" {
			t.Error(compression, diff)
		}
		got.Messages, want.Messages = nil, nil
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(compression, diff)
		}
	}
}

func TestSelection(t *testing.T) {
	file, want := sample(t, 200, "", nil)
	var some []message
	for _, m := range want.Messages {
		if m.Topic == "/a" && m.Log >= 150 && m.Log <= 160 {
			some = append(some, m)
		}
	}
	q := mcap.Selection{From: 150, To: 160, Channels: func(c *mcap.Channel) bool { return c.Topic == "/a" }}
	if diff := cmp.Diff(some, selected(t, file, q)); diff != "" {
		t.Error(diff)
	}
}

// Times may run back: a chunk states the least and the greatest of its own, and
// what is outside the selection is not even unpacked.
func TestSelectionByTime(t *testing.T) {
	var out bytes.Buffer
	w := must[*mcap.Writer](t)(mcap.NewWriter(mcap.WriterConfig{W: &out}))
	id := must[uint16](t)(w.AddChannel(mcap.Channel{Topic: "/a", Encoding: "x"}))
	for _, times := range [][]uint64{{50, 10, 70, 20}, {100, 130, 110}, {60}} {
		for _, at := range times {
			if err := w.Write(mcap.Message{ChannelID: id, LogTime: at}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file := out.Bytes()
	s := must[*mcap.Summary](t)(mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap"))
	var bounds [][2]uint64
	for _, x := range s.Chunks {
		bounds = append(bounds, [2]uint64{x.StartTime, x.EndTime})
	}
	if diff := cmp.Diff([][2]uint64{{10, 70}, {100, 130}, {60, 60}}, bounds); diff != "" {
		t.Error(diff)
	}
	if s.Statistics.StartTime != 10 || s.Statistics.EndTime != 130 {
		t.Errorf("statistics %+v", s.Statistics)
	}
	file[s.Chunks[1].Offset+s.Chunks[1].Length-1] ^= 1
	var got []uint64
	for _, m := range selected(t, file, mcap.Selection{From: 55, To: 99}) {
		got = append(got, m.Log)
	}
	if diff := cmp.Diff([]uint64{70, 60}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSelectionReadsOnlyItsChunks(t *testing.T) {
	file, _ := sample(t, 200, "", nil)
	s := must[*mcap.Summary](t)(mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap"))
	for _, x := range s.Chunks { // all chunks with b are damaged
		if _, has := x.MessageIndexes[1]; has {
			file[x.Offset+x.Length-1] ^= 1
		}
	}
	n := len(selected(t, file, mcap.Selection{Channels: func(c *mcap.Channel) bool { return c.Topic == "/a" }}))
	if n != 200 {
		t.Errorf("%d messages, expected 200", n)
	}
	if got := stream(t, file); len(got.Problems) == 0 {
		t.Error("damaged chunks are not told of")
	}
}

func TestStatistics(t *testing.T) {
	file, _ := sample(t, 10, "", nil)
	s := must[*mcap.Summary](t)(mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap"))
	want := &mcap.Statistics{Messages: 20, Schemas: 1, Channels: 2, Attachments: 1, Metadata: 1, Chunks: 2, StartTime: 100, EndTime: 109, ChannelMessages: map[uint16]uint64{0: 10, 1: 10}}
	if diff := cmp.Diff(want, s.Statistics); diff != "" {
		t.Error(diff)
	}
	a := must[*mcap.Attachment](t)(s.Attachment(s.Attachments[0]))
	if string(a.Data) != "model()" {
		t.Errorf("attachment %+v", a)
	}
	m := must[*mcap.Metadata](t)(s.ReadMetadata(s.Metadata[0]))
	if m.Metadata["a"] != "1" {
		t.Errorf("metadata %+v", m)
	}
}

// A file that is cut anywhere returns what was written whole before the cut.
func TestCutAnywhere(t *testing.T) {
	type state struct{ size, messages int }
	var states []state
	file, want := sample(t, 8, "", func(file []byte) {
		states = append(states, state{len(file), 2 * (len(states) + 1)})
	})
	for cut := range len(file) {
		got := stream(t, file[:cut])
		least := 0
		for _, s := range states {
			if s.size <= cut {
				least = s.messages
			}
		}
		if len(got.Messages) < least {
			t.Fatalf("cut at %d: %d messages, expected at least %d", cut, len(got.Messages), least)
		}
		if whole := want.Messages[:len(got.Messages)]; !slices.Equal(whole, got.Messages) {
			t.Fatalf("cut at %d: %s", cut, cmp.Diff(whole, got.Messages))
		}
		if len(got.Problems) != 1 {
			t.Fatalf("cut at %d: problems %q, expected one", cut, got.Problems)
		}
		if _, err := mcap.ReadSummary(bytes.NewReader(file[:cut]), int64(cut), "x.mcap"); !errors.Is(err, mcap.ErrNoSummary) {
			t.Fatalf("cut at %d: summary: %v", cut, err)
		}
	}
}

// A byte that is wrong anywhere is told of, or does no harm; nothing panics.
func TestOneByteWrong(t *testing.T) {
	file, want := sample(t, 8, "", nil)
	for at := range file {
		damaged := bytes.Clone(file)
		damaged[at] ^= 0x40
		got := stream(t, damaged)
		if len(got.Problems) == 0 {
			if diff := cmp.Diff(byTopic(want.Messages), byTopic(got.Messages)); diff != "" {
				t.Fatalf("byte %d: no problem is told, but %s", at, diff)
			}
		}
		if s, err := mcap.ReadSummary(bytes.NewReader(damaged), int64(len(damaged)), "x.mcap"); err == nil {
			r := s.Select(mcap.Selection{})
			for {
				_, err := r.Next()
				if err == io.EOF {
					break
				}
				if p := (*problem.Problem)(nil); err != nil && !errors.As(err, &p) {
					t.Fatalf("byte %d: %v", at, err)
				}
			}
			r.Close()
		}
	}
}

func TestFaults(t *testing.T) {
	file, _ := sample(t, 3, mcap.None, nil)
	s := must[*mcap.Summary](t)(mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap"))
	chunk := int(s.Chunks[0].Offset)
	change := func(at int, with ...byte) []byte {
		out := bytes.Clone(file)
		copy(out[at:], with)
		return out
	}
	for _, test := range []struct {
		name string
		file []byte
		want string // a part of the first problem
	}{
		{"another file", []byte("PK\x03\x04 and more"), `x.mcap: the file begins with`},
		{"empty", nil, `the file begins with ""`},
		{"CRC of a chunk", change(chunk+60, 'X'), fmt.Sprintf("x.mcap: byte %d: the chunk's CRC is", chunk)},
		{"a chunk that tells too much", change(chunk+9+16, binary.LittleEndian.AppendUint64(nil, 1<<40)...), "the chunk has 1099511627776 bytes packed into"},
		{"a record that tells too much", change(chunk+1, binary.LittleEndian.AppendUint64(nil, 1<<29)...), "the file ends within a chunk"},
		{"a record that tells far too much", change(chunk+1, binary.LittleEndian.AppendUint64(nil, 1<<62)...), "a chunk of 4611686018427387904 bytes, expected at most"},
		{"CRC of the data", change(9, 0x7f), "ends within"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := stream(t, test.file)
			all := strings.Join(got.Problems, "\n")
			if !strings.Contains(all, strings.TrimPrefix(test.want, "x.mcap: the")) {
				t.Errorf("problems %q, expected %q", got.Problems, test.want)
			}
		})
	}
}

func TestWriterRefuses(t *testing.T) {
	if _, err := mcap.NewWriter(mcap.WriterConfig{}); err == nil {
		t.Error("a writer without W")
	}
	if _, err := mcap.NewWriter(mcap.WriterConfig{W: io.Discard, Compression: "lz4"}); err == nil {
		t.Error("a writer of lz4")
	}
	w := must[*mcap.Writer](t)(mcap.NewWriter(mcap.WriterConfig{W: io.Discard}))
	if _, err := w.AddChannel(mcap.Channel{Topic: "/a", SchemaID: 3}); err == nil {
		t.Error("a channel with a schema that is not there")
	}
	if err := w.Write(mcap.Message{}); err == nil {
		t.Error("a message of a channel that is not there")
	}
}

// full is a disk with room for some bytes.
type full struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("no space left on device")

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.room-f.Len())
	f.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	disk := &full{room: 3000}
	w := must[*mcap.Writer](t)(mcap.NewWriter(mcap.WriterConfig{W: disk, ChunkSize: 100}))
	id := must[uint16](t)(w.AddChannel(mcap.Channel{Topic: "/a", Encoding: "json"}))
	n := 0
	for ; ; n++ {
		if err := w.Write(mcap.Message{ChannelID: id, Sequence: uint32(n), LogTime: uint64(n)}); err != nil {
			if !errors.Is(err, errFull) {
				t.Fatal(err)
			}
			break
		}
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close after the disk was full: %v", err)
	}
	got := stream(t, disk.Bytes())
	if len(got.Problems) != 1 || len(got.Messages) < n-10 || len(got.Messages) == 0 {
		t.Errorf("%d of %d messages, problems %q", len(got.Messages), n, got.Problems)
	}
	if s := w.Size(); s > 3000 || s < 2000 {
		t.Errorf("Size %d", s)
	}
}

func TestAnyMessages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		w, err := mcap.NewWriter(mcap.WriterConfig{W: &file, ChunkSize: rapid.IntRange(1, 300).Draw(t, "chunk")})
		if err != nil {
			t.Fatal(err)
		}
		var want []message
		for i := range rapid.IntRange(1, 4).Draw(t, "channels") {
			if _, err := w.AddChannel(mcap.Channel{Topic: fmt.Sprint(i), Encoding: "x"}); err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 20).Draw(t, "messages") {
				m := mcap.Message{
					ChannelID: uint16(rapid.IntRange(0, i).Draw(t, "channel")), Sequence: rapid.Uint32().Draw(t, "sequence"),
					LogTime: rapid.Uint64().Draw(t, "log"), PublishTime: rapid.Uint64().Draw(t, "publish"),
					Data: rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data"),
				}
				if err := w.Write(m); err != nil {
					t.Fatal(err)
				}
				want = append(want, message{fmt.Sprint(m.ChannelID), "", m.Sequence, m.LogTime, m.PublishTime, string(m.Data)})
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := mcap.NewReader(mcap.ReaderConfig{R: &file})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var got []message
		for {
			m, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, message{r.Channel(m.ChannelID).Topic, "", m.Sequence, m.LogTime, m.PublishTime, string(m.Data)})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
