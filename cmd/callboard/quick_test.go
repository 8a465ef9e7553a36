package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
		{[]string{"relay", "true"}, exitFailed, "callboard relay: " + errLeftOut.Error()},
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
