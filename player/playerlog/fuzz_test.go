package playerlog_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player/playerlog"
	"callboard/player/problem"
)

// FuzzReader: any bytes are lines and problems with places, up to the end or an
// error of gzip; nothing panics, and what is read can be written or is refused
// for a reason, and is then read without oddity.
func FuzzReader(f *testing.F) {
	files, err := filepath.Glob(logs + "/*.log")
	if err != nil {
		f.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			f.Fatal(err)
		}
		for s := bufio.NewScanner(file); s.Scan(); {
			tokens := bytes.Fields(s.Bytes())
			if len(tokens) < 7 || len(s.Bytes()) > 400 {
				continue
			}
			if kind := string(bytes.Join(tokens[3:7], []byte(" "))); !seen[kind] {
				seen[kind] = true
				f.Add(bytes.Clone(s.Bytes()))
			}
		}
		_ = file.Close()
	}
	f.Add([]byte("## File version 0.3.0 \r\n\n1 0 1 wsn 0 1 1 1 2 3 1 2 3 4 5 6 7 8 9 10\n1 0 1 rfid 0 1 1 0001 0001 FF\n"))
	f.Add([]byte("1 0 1 actarray 0 1 1 1 1 2 3 4 5 1\n1 0 1 ranger 0 1 4 1 1 1 0 0 0 0 0 0 1 1 1 0 0 1 2 3 4 5 6 7\n1 0 1 laser 0 1 3 1 8 1 1 2 3\n"))
	f.Add([]byte("1 0 1 localize 0 4 2 1 2 3 4 1 1 2 3 4\n1 0 1 fiducial 0 4 1 1 2 3 4 5 6 7 8 9 10 11\n\x1f\x8b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := playerlog.NewReader(playerlog.ReaderConfig{R: bytes.NewReader(text), Name: "x"})
		if err != nil {
			return
		}
		for {
			l, err := r.Next()
			var p *problem.Problem
			if errors.As(err, &p) {
				if p.Line < 1 || p.Column < 1 || p.Message == "" {
					t.Fatalf("problem without place: %+v", p)
				}
				continue
			}
			if err != nil {
				if err != io.EOF && (len(text) < 2 || text[0] != 0x1f) {
					t.Fatal(err)
				}
				return
			}
			if l.Payload == nil {
				continue
			}
			again, err := writtenIn(l.Header, l.Payload)
			var cannot *playerlog.Unwritable
			if errors.As(err, &cannot) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if v, err := reader(t, "again", bytes.NewReader([]byte(again))).Next(); err != nil || v.Odd != nil || v.Payload == nil {
				t.Fatalf("%q, read and written, is %q: %v, %+v", text, again, err, v)
			}
		}
	})
}

// Whatever a log holds, blocks return what the Reader returns.
func FuzzBlocks(f *testing.F) {
	for _, name := range []string{"two-robots-laser-sonar.log", "many-interfaces.log"} {
		text, err := os.ReadFile(logs + "/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text[:min(len(text), 20_000)])
	}
	f.Add([]byte("## callboard {}\r\n\n1 2 3 laser 0 1 1 0 -1 1 .1 8 2 0.839  1 0.824  1 \n0.5 0"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1 && text[0] == 0x1f && text[1] == 0x8b {
			t.Skip("compressed: the end of a broken stream is told in another way")
		}
		if diff := cmp.Diff(byReader(t, bytes.NewReader(text)), byBlocks(t, bytes.NewReader(text))); diff != "" {
			t.Error(diff)
		}
	})
}
