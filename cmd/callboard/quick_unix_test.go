//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How long a new user waits for the page's address: make demo where the modules
// are there and nothing has been compiled. The bar is a minute on 2 cores.
func BenchmarkMakeDemo(b *testing.B) {
	waited := time.Duration(0)
	for b.Loop() {
		demo := exec.Command("make", "demo", "BIN="+filepath.Join(b.TempDir(), "callboard"))
		demo.Dir = "../.."
		demo.Env = append(os.Environ(), "GOCACHE="+b.TempDir(), "GOFLAGS=")
		demo.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		demo.Stderr = os.Stderr
		out, err := demo.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if err := demo.Start(); err != nil {
			b.Fatal(err)
		}
		address := ""
		for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "http://") {
				address = lines.Text()
			}
		}
		waited += time.Since(start)
		if err := syscall.Kill(-demo.Process.Pid, syscall.SIGINT); err != nil {
			b.Error(err)
		}
		demo.Wait() // make tells that it was interrupted
		if address == "" {
			b.Fatal("make demo prints no address")
		}
	}
	b.ReportMetric(waited.Seconds()/float64(b.N), "s-to-address")
}
