package search_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/bridge/search"
	"callboard/player/problem"
	"callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// bytesOf makes a run of bytes.
func bytesOf(t tester, name string, b []byte) *run.File {
	t.Helper()
	f, err := run.New(run.Config{R: bytes.NewReader(b), Size: int64(len(b)), Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// written writes a run again as MCAP, cut after so many records (0: not) as a
// recorder cuts it: each part begins with what is up.
func written(t tester, from *run.File, cut int) (parts []*run.File) {
	t.Helper()
	r, err := from.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out *bytes.Buffer
	var w *run.MCAPWriter
	up := map[string]run.Record{}
	var order []string
	end := func() {
		if w == nil {
			return
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, bytesOf(t, fmt.Sprintf("part-%d.mcap", len(parts)+1), out.Bytes()))
	}
	for n := 0; ; n++ {
		if w == nil || cut > 0 && n == cut {
			end()
			out, n = new(bytes.Buffer), 0
			if w, err = run.NewMCAPWriter(run.MCAPConfig{W: out}); err != nil {
				t.Fatal(err)
			}
			for _, robot := range order {
				rec := up[robot]
				rec.Continued = true
				if err := w.Write(&rec); err != nil {
					t.Fatal(err)
				}
			}
		}
		rec, err := r.Next()
		switch {
		case err == io.EOF:
			end()
			return parts
		case errors.As(err, new(*problem.Problem)), err == nil && rec.Kind == run.Data && rec.Payload == nil:
			continue
		case err != nil:
			t.Fatal(err)
		}
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case run.Up:
			up[rec.Robot], order = *rec, append(order, rec.Robot)
		case run.Known:
			was := up[rec.Robot]
			for i, d := range was.Devices {
				if d.Addr == rec.Device.Addr {
					was.Devices = append(was.Devices[:i:i], was.Devices[i+1:]...)
					break
				}
			}
			was.Devices = append(was.Devices[:len(was.Devices):len(was.Devices)], rec.Device)
			up[rec.Robot] = was
		}
	}
}

// A run has the same answers whatever its format and in however many parts.
func TestSameInAllFormats(t *testing.T) {
	for _, name := range []string{"two-robots-laser-sonar.log", "beta-laser-odom.log", "alpha-ranger.log", "many-interfaces.log"} {
		content, err := os.ReadFile(filepath.Join(logs, name))
		if err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(content)
		_ = z.Close()
		golden := bytesOf(t, name, content)
		for what, files := range map[string][]*run.File{
			"gzip":          {bytesOf(t, name, zipped.Bytes())},
			"CRLF":          {bytesOf(t, name, bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")))},
			"mcap":          written(t, golden, 0),
			"mcap in parts": written(t, golden, 60),
		} {
			if what == "mcap in parts" && len(files) < 3 {
				t.Fatalf("%d parts", len(files))
			}
			for _, sub := range conditions {
				sub.ID = "c"
				q := ask(t, sub)
				want, result := searched(t, q, 2, golden)
				got, again := searched(t, q, 2, files...)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s in %s: %s", name, sub.Condition, what, diff)
				}
				if diff := cmp.Diff(counts(result.Robots), counts(again.Robots)); diff != "" {
					t.Errorf("%s: %s in %s: %s", name, sub.Condition, what, diff)
				}
			}
		}
	}
}

// corpus holds logs as people have them, read from outside the tree.
const corpus = "../../../shared/corpus"

// Logs of others are searched as one loop does that reads every message.
func TestCorpus(t *testing.T) {
	if _, err := os.Stat(corpus); err != nil {
		t.Skip("no corpus beside the tree")
	}
	found := 0
	err := filepath.WalkDir(corpus, func(name string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".log") {
			return err
		}
		f, err := run.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		for _, sub := range conditions {
			sub.ID = "c"
			q := ask(t, sub)
			want, tallies := plainly(t, q, f)
			got, result := searched(t, q, 3, f)
			found += len(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s: %s", name, sub.Condition, diff)
			}
			if diff := cmp.Diff(counts(tallies), counts(result.Robots)); diff != "" {
				t.Errorf("%s: %s: %s", name, sub.Condition, diff)
			}
		}
		return nil
	})
	if err != nil || found < 100 {
		t.Errorf("%d found: %v", found, err)
	}
}

// Files are one time line: of equal times the first file's comes first, and a
// file's own order stays.
func TestMerge(t *testing.T) {
	line := func(port int, at float64) string {
		return fmt.Sprintf("%.3f 16777343 %d position2d 00 001 001 +01.000 +00.000 +0.000 +00.000 +00.000 +00.000 0\n", at, port)
	}
	first := line(1, 1) + line(1, 3) + line(1, 2.5) + line(1, 6) + line(1, 7)
	second := line(2, 3) + line(2, 4) + line(2, 6)
	late := line(3, 6.5)
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "c", Condition: "position.x > 0"}}, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	s, err := search.New(search.Config{
		Sources: []search.Source{{File: text(t, "a", first)}, {File: text(t, "b", second), Name: func(string) string { return "b" }}, {File: text(t, "c", late)}},
		Query:   q,
		Format:  func(dst []byte, n *protocol.Notify) []byte { return fmt.Appendf(dst, "%s %g", n.Robot, n.Time) },
		Write:   func(_ uint64, text []byte) error { got = append(got, string(text)); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"port-1 1", "port-1 3", "port-1 2.5", "b 3", "b 4", "port-1 6", "b 6", "port-3 6.5", "port-1 7"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What ends a search early ends it cleanly: who takes the findings, or a
// context.
func TestEndsEarly(t *testing.T) {
	q := ask(t, protocol.Subscription{ID: "c", Condition: "true"})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		want  error
		write func(uint64, []byte) error
	}{
		{enough, func(uint64, []byte) error { return enough }},
		{context.Canceled, func(uint64, []byte) error { cancel(); return nil }},
	} {
		content, err := os.ReadFile(filepath.Join(logs, "two-robots-laser-sonar.log"))
		if err != nil {
			t.Fatal(err)
		}
		var sources []search.Source
		for range 3 {
			sources = append(sources, search.Source{File: bytesOf(t, "x", bytes.Repeat(content, 6))})
		}
		s, err := search.New(search.Config{Sources: sources, Query: q, Format: word, Write: c.write})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(ctx); !errors.Is(err, c.want) {
			t.Errorf("%v, expected %v", err, c.want)
		}
	}
}
