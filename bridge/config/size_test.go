package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"4096": 4096, "2GB": 2_000_000_000, "1.5GiB": 3 << 29, "512 MiB": 512 << 20, "8g": 8_000_000_000, "1b": 1,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; expected %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "0", "-1GB", "2 cows", "NaN", "1e300", "2GB2"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q was taken as %d", text, got)
		}
	}
}

func TestMachineMemory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	info := meminfo(write("meminfo", "MemFree:  1 kB\nMemTotal:       16000000 kB\n"))
	group, none := number(write("memory.max", "4294967296\n")), number(write("unlimited", "max\n"))
	if info != 16_000_000<<10 || group != 4<<30 || none != 0 {
		t.Errorf("read %d, %d, %d", info, group, none)
	}
	if got := smallest(info, group, none); got != 4<<30 {
		t.Errorf("in a control group of 4 GiB: %d", got)
	}
	if got := smallest(0, 0); got != unknownMemory {
		t.Errorf("on a machine that does not tell: %d", got)
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"200Mbit": 200e6, "1.5 Gbit": 1.5e9, "10kbit": 10e3, "5bit": 5} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q is %v, %v; expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "200", "Mbit", "-5Mbit", "0Mbit", "200MB", "1e30Gbit"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
