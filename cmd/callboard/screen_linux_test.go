package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// onTerminal starts a callboard command on a terminal of a size, and returns the
// other end of it.
func onTerminal(t *testing.T, columns, rows uint16, args ...string) (terminal *os.File, cmd *exec.Cmd) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine has no terminals for us: %v", err)
	}
	t.Cleanup(func() { terminal.Close() })
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
	}
	if err != nil {
		t.Fatal(err)
	}
	there, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	cmd = exec.Command(os.Args[0])
	cmd.Args = append([]string{"callboard"}, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm", "XDG_STATE_HOME="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = there, there, there
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return terminal, cmd
}

// TestOnTerminal: on narrow terminals no line is wider than they are, and a picture no
// higher; q ends what shows pictures in place, and what was there before is there again.
func TestOnTerminal(t *testing.T) {
	broker := newBroker(t)
	for _, columns := range []uint16{80, 40, 20} {
		for name, args := range map[string][]string{
			"status": {"status", "--watch", "--interval", "0.1"},
			"top":    {"top", "--interval", "0.1"},
			"watch":  {"watch", "true", "--count", "20"},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, columns), func(t *testing.T) {
				const rows = 16
				terminal, cmd := onTerminal(t, columns, rows, append(args, "--broker", broker)...)
				var said bytes.Buffer
				chunk := make([]byte, 1<<16)
				for pictures := 0; ; {
					terminal.SetReadDeadline(time.Now().Add(limit))
					n, err := terminal.Read(chunk)
					said.Write(chunk[:n])
					if n := bytes.Count(said.Bytes(), []byte("\x1b[H")); n > pictures && n >= 3 {
						io.WriteString(terminal, "q")
						pictures = n
					}
					if err != nil {
						break // its end was closed
					}
				}
				if err := cmd.Wait(); err != nil {
					t.Fatalf("%v: %s", err, said.String())
				}
				text := said.String()
				if name != "watch" && (!strings.HasPrefix(text, "\x1b[?1049h") || !strings.HasSuffix(text, "\x1b[?1049l")) {
					t.Errorf("the terminal is not as it was: %q", text)
				}
				if !strings.Contains(text, "r0") {
					t.Errorf("r0 is not on it: %q", text)
				}
				for picture := range strings.SplitSeq(text, "\x1b[H") {
					lines := strings.Split(strings.ReplaceAll(picture, "\r", ""), "\n")
					if name != "watch" && len(lines) > rows {
						t.Errorf("a picture has %d lines", len(lines))
					}
					for _, line := range lines {
						line = regexp.MustCompile(`\x1b\[[?0-9;]*[A-Za-z]`).ReplaceAllString(line, "")
						if n := utf8.RuneCountInString(line); n > int(columns) && !strings.HasPrefix(line, "callboard ") {
							t.Errorf("a line has %d characters: %q", n, line)
						}
					}
				}
			})
		}
	}
}

// newBroker starts a broker with simulated robots, and returns where it is.
func newBroker(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Args = []string{"callboard", "demo", "--listen", "127.0.0.1:0", "--log-level", "error"}
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	return "ws" + strings.TrimPrefix(address, "http") + "/ws"
}
