package spool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
)

// formatVersion is that of everything in the directory.
const formatVersion = 7

// oldestVersion is the first that this program reads: 5 has claims to robots' names
// beside what 4 has, 6 the terms of a pair, 7 tasks.
const oldestVersion = 4

// markerSize is the size of the marker file. It is written once and then
// overwritten in place, which needs no space on the disk.
const markerSize = 4096

// marker says how the store was left.
type marker struct {
	Version    int    `json:"version"`
	Boot       string `json:"boot"`       // of the machine, when it was opened
	Clean      bool   `json:"clean"`      // closed as it should be
	Incomplete bool   `json:"incomplete"` // something could not be written
}

func (m marker) bytes() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	text = fmt.Appendf(text, "\n%08x\n", crc32.Checksum(text, castagnoli))
	return append(text, bytes.Repeat([]byte{'\n'}, markerSize-len(text))...), nil
}

// write overwrites the marker. With sync it is on the disk when it returns.
func (m marker) write(f *os.File, sync bool) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// parseMarker reads a marker; ok is false if there is none or it is damaged.
func parseMarker(b []byte) (m marker, ok bool) {
	text, rest, found := bytes.Cut(b, []byte("\n"))
	if !found || len(rest) < 8 || fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)) != string(rest[:8]) {
		return marker{}, false
	}
	ok = json.Unmarshal(text, &m) == nil
	return m, ok
}

// bootID names the machine's present boot, "" where the system does not tell.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
