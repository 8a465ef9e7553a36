//go:build unix

package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRead: what is no regular file is refused at once, and what is too long.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, n := range map[string]int{"empty": 0, "full": 100, "long": 101} {
		if err := os.WriteFile(at(name), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if l, err := net.Listen("unix", at("socket")); err == nil {
		defer l.Close()
	}
	for link, to := range map[string]string{"link": "full", "link to pipe": "pipe", "link to zero": "/dev/zero"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		at("empty"): "", at("full"): "", at("link"): "",
		at("long"):         "has 101 bytes, expected at most 100",
		at("pipe"):         "is a named pipe, expected a regular file",
		at("link to pipe"): "is a named pipe",
		at("link to zero"): "is a device",
		at("socket"):       "is a socket",
		dir:                "is a directory",
		"/dev/zero":        "is a device",
		"/dev/null":        "is a device",
		"/proc/self/maps":  "has more than 100 bytes", // though it says that it has none
	} {
		b, err := Read(name, 100)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), name+" "+want)):
			t.Errorf("%s: %d bytes, %v, expected an error: %s", name, len(b), err, want)
		}
	}
	if _, err := Read(at("none"), 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestReadNamed: a person may name a pipe, as far as it is not too long.
func TestReadNamed(t *testing.T) {
	for n, want := range map[int]bool{7: true, 100: true, 101: false} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		w.Close()
		b, err := read(r, 100)
		r.Close()
		if (err == nil) != want || want && len(b) != n {
			t.Errorf("%d bytes through a pipe: %d, %v", n, len(b), err)
		}
	}
	if _, err := ReadNamed("/dev/zero", 100); err == nil {
		t.Error("/dev/zero was read to its end")
	}
}
