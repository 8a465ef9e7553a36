package config

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// sizeUnits are the units that a size may have.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
}

// ParseSize reads a number of bytes: "100MB", "1.5GiB", "4096".
func ParseSize(text string) (int64, error) {
	number := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, known := sizeUnits[strings.ToLower(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !known || err != nil || !(n*unit >= 1 && n*unit < 1e18) {
		return 0, errors.New("expected bytes, as 100MB, 1.5GB or 512KiB")
	}
	return int64(n * unit), nil
}

// rateUnits are the units that a rate must have.
var rateUnits = map[string]float64{"bit": 1, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}

// ParseRate reads a number of bits per second: "200Mbit", "1.5Gbit".
func ParseRate(text string) (float64, error) {
	number := strings.TrimRightFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	unit, known := rateUnits[strings.ToLower(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !known || err != nil || !(n*unit > 0 && n*unit < 1e18) {
		return 0, errors.New("expected bits per second, as 200Mbit or 1Gbit")
	}
	return n * unit, nil
}

// unknownMemory is the memory of a machine that does not say how much it has, in
// bytes.
const unknownMemory = 4 << 30

// machineMemory returns the bytes of memory that this process can have: the
// machine's, or those of the control group (a container) that it runs in.
func machineMemory() int64 {
	return smallest(
		meminfo("/proc/meminfo"),
		number("/sys/fs/cgroup/memory.max"),
		number("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
	)
}

// smallest returns the least of the sizes that are known (not 0).
func smallest(sizes ...int64) int64 {
	least := int64(0)
	for _, size := range sizes {
		if size > 0 && (least == 0 || size < least) {
			least = size
		}
	}
	if least == 0 {
		return unknownMemory
	}
	return least
}

// meminfo reads MemTotal of a file as Linux's /proc/meminfo, in bytes; 0 if it
// does not tell.
func meminfo(path string) int64 {
	text, _ := os.ReadFile(path) // elsewhere there is none
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, "MemTotal:"); found {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// number reads a file that holds one number; 0 if it does not.
func number(path string) int64 {
	text, _ := os.ReadFile(path)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
