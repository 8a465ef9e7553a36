package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The quick build is another binary: it says so, and refuses what it lacks
// before it has done anything.
func TestQuickBuild(t *testing.T) {
	if _, err := os.Stat("quick.go"); err != nil { // go test's cache then knows that it matters
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "callboard")
	if out, err := exec.Command("go", "build", "-tags", "quick", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	picture := filepath.Join(t.TempDir(), "run.png")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--version"}, exitOK, " (quick build)\n"},
		{[]string{"check", "--condition", "laser.min < 1"}, exitOK, ""},
		{[]string{"bench", "match"}, exitFailed, "callboard bench: " + errLeftOut.Error()},
		{[]string{"query", "absent.log", "true", "--plot", picture}, exitFailed, "callboard query: --plot is " + errLeftOut.Error()},
	} {
		out, err := exec.Command(binary, c.args...).CombinedOutput()
		code := exitOK
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("%q ends with %d, expected %d with %q: %s", c.args, code, c.code, c.want, out)
		}
	}
	if _, err := os.Stat(picture); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused --plot made %s: %v", picture, err)
	}
	serve := exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir(), "--log-format", "json")
	log, err := serve.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	defer serve.Wait()
	defer serve.Process.Kill()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if strings.Contains(lines.Text(), "quick build") {
			return
		}
	}
	t.Error("serve does not say that it is a quick build")
}

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
