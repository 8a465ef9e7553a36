//go:build linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// insideReadme is set in the process of TestReadme that has a network, and an
// /etc/hosts, of its own: there the README's ports are free and its hosts known.
const insideReadme = "CALLBOARD_INSIDE_README"

// aside is what the README takes for granted where a block begins with a line:
// what runs in another terminal, and files.
var aside = map[string][]string{
	"build/callboard watch 'laser.min < 1'": {"make demo"},
	"build/callboard serve --player r0=localhost:6665": {
		"build/callboard sim worlds/cave.cfg", "build/callboard sim worlds/cave.world --listen lab:6665",
	},
	"go run ./clients/go/examples/near": {
		"build/callboard sim worlds/cave.cfg", "build/callboard serve --player-cfg worlds/cave.cfg",
	},
	"build/callboard record -o run.log": {
		"build/callboard sim worlds/cave.cfg --speed 30", "build/callboard sim worlds/cave.world --listen lab:6665",
		"build/callboard serve --player-cfg worlds/cave.cfg",
	},
	"build/callboard view run.mcap":                   {"cp run.log monday.log; cp run.log tuesday.log"},
	"build/callboard query run.log":                   {"cp run.mcap monday.mcap; cp run.mcap tuesday.mcap"},
	"build/callboard serve --player localhost:6665 &": {"build/callboard sim worlds/cave.cfg"},
	"go tool nats-server":                             {"build/callboard sim worlds/cave.cfg", "build/callboard serve --player-cfg worlds/cave.cfg"},
}

// notified is a line of a notification.
const notified = `^\S+ \w+:\d+ \d`

// prints is what a command of the README prints before it is stopped, or when it
// ends; of others something.
var prints = map[string][]string{
	"build/callboard watch":                          {notified},
	"build/callboard query testdata":                 {notified},
	"build/callboard watch 'laser.min < 7'":          {`^r0 `, `^r1 `, `^r2 `}, // so send has a robot to command
	"build/callboard check --condition 'lasr.min":    {"did you mean `laser`"},
	"build/callboard relay":                          {`near is subscribed: 3 robots`},
	"build/callboard record -o run.log":              {},
	"build/callboard record -o run.mcap":             {},
	"build/callboard record -o fleet.mcap":           {},
	"build/callboard serve --player r0=127.0.0.1:70": {`msg="robot up" robot=r0`},
	"build/callboard status --broker":                {`^robot r2 state=up .* broker=b5`},
	"go run ./clients/go/examples/near":              {`r0 stopped`},
	"node --experimental-websocket clients/js":       {`r0 stopped`},
	"PYTHONPATH=clients/python python3 clients/pyth": {`r0 stopped`},
}

// records is how many bytes a recording is to have: run.log has minutes of readings
// then, some of which the README leaves out.
var records = map[string]int64{"run.log": 8 << 20, "run.mcap": 1 << 17, "fleet.mcap": 1 << 18}

// TestReadme runs every command of the README as it is written, in a folder that
// looks like a checkout.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	if os.Getenv(insideReadme) == "" {
		apart(t)
		return
	}
	r := newReader(t)
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range commandBlocks(t, string(text)) {
		first, _, _ := strings.Cut(block, "\n")
		t.Run(first, func(t *testing.T) { r.runBlock(t, block) })
	}
}

// apart runs the test again where it has a network of its own.
func apart(t *testing.T) {
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 localhost\n127.0.1.1 lab\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "nats-server").CombinedOutput(); err != nil { // it needs a network
		t.Fatalf("building nats-server: %v\n%s", err, out)
	}
	args := []string{"--net", "--mount"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(args, "ip", "link", "set", "lo", "up")...).CombinedOutput(); err != nil {
		t.Skipf("this machine has no network namespace for us: %v %s", err, out)
	}
	const enter = `mount --bind "$HOSTS" /etc/hosts && ip link set lo up && exec "$0" "$@"`
	cmd := exec.CommandContext(t.Context(), "unshare", append(args, "--", "sh", "-c", enter, os.Args[0], "-test.run=^TestReadme$", "-test.v")...)
	cmd.Env = append(os.Environ(), insideReadme+"=1", "HOSTS="+hosts)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

// commandBlocks returns the README's blocks of shell commands, and the commands that
// stand between its words.
func commandBlocks(t *testing.T, text string) (blocks []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$|`((?:source|build/callboard) [^`]*)`").FindAllStringSubmatch(text, -1) {
		switch {
		case m[3] != "":
			blocks = append(blocks, strings.ReplaceAll(m[3], "\n", " "))
		case m[1] == "sh":
			blocks = append(blocks, strings.TrimSuffix(m[2], "\n"))
		case regexp.MustCompile(`(?m)^(build/callboard|make|go run|go tool) `).MatchString(m[2]):
			t.Errorf("commands in a block that is not marked as sh:\n%s", m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatal("the README has no commands")
	}
	return blocks
}

// reader is somebody who types what the README says.
type reader struct {
	folder string
	env    []string
	replay *typed // that is running; nil: none
}

// newReader makes the folder: what a checkout has, and a program that is built.
func newReader(t *testing.T) *reader {
	t.Helper()
	r := &reader{folder: t.TempDir()}
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(here)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		switch from, to := filepath.Join(here, name), filepath.Join(r.folder, name); {
		case name == "build" || strings.HasPrefix(name, "."):
		case e.IsDir():
			err = errors.Join(err, os.Symlink(from, to))
		default:
			text, wrong := os.ReadFile(from)
			err = errors.Join(err, wrong, os.WriteFile(to, text, 0o600))
		}
	}
	program, found := exec.LookPath("callboard") // as testscript.Main has made it
	err = errors.Join(err, found, os.Mkdir(filepath.Join(r.folder, "build"), 0o755), os.Symlink(program, filepath.Join(r.folder, "build/callboard")))
	if err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(r.folder, "state"), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
		"PATH=/usr/bin"+string(filepath.ListSeparator)+os.Getenv("PATH")) // Debian's Python has Debian's websockets
	before := names(t, here)
	t.Cleanup(func() {
		if after := names(t, here); !slices.Equal(before, after) {
			t.Errorf("the checkout has been littered: %q, before %q", after, before)
		}
	})
	return r
}

// names lists the files of the folders that commands name.
func names(t *testing.T, top string) (all []string) {
	t.Helper()
	for _, pattern := range []string{"*", "worlds/*", "clients/*/*", "cmd/callboard/*"} {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// of returns what a table says of a command, by how it begins.
func of[T any](table map[string]T, command string) (v T, found bool) {
	longest := -1
	for prefix, value := range table {
		if strings.HasPrefix(command, prefix) && len(prefix) > longest {
			longest, v, found = len(prefix), value, true
		}
	}
	return v, found
}

// runBlock types the commands of a block, one after the other.
func (r *reader) runBlock(t *testing.T, block string) {
	beside, _ := of(aside, block)
	for _, command := range beside {
		r.begin(t, command).stays()
	}
	defer r.endReplay()
	began, commands := time.Now(), 0
	defer func() { t.Logf("%s, %.1f s", plural(commands, "command"), time.Since(began).Seconds()) }()
	command := ""
	for line := range strings.Lines(block) {
		command += line
		if exec.Command("bash", "-n", "-c", command).Run() != nil {
			continue // it goes on in the next line
		}
		r.runCommand(t, strings.TrimSpace(command))
		commands++
		command = ""
	}
	if command != "" {
		t.Errorf("this is no command: %s", command)
	}
}

// goesOn matches commands that go on until they are stopped.
var goesOn = regexp.MustCompile(`^(make demo|build/callboard (demo|serve|sim|replay|view|watch|relay|record))\b`)

// endReplay ends the replay that is running.
func (r *reader) endReplay() {
	if r.replay != nil {
		r.replay.stop()
		r.replay = nil
	}
}

func (r *reader) runCommand(t *testing.T, command string) {
	for word, there := range map[string]string{"node ": "command -v node", "python3 ": "python3 -c 'import websockets'"} {
		look := exec.Command("bash", "-c", there)
		look.Env = r.env
		if strings.Contains(command, word) && look.Run() != nil {
			t.Logf("not run, as this machine lacks what it needs: %s", command)
			return
		}
	}
	if strings.HasPrefix(command, "build/callboard replay") {
		r.endReplay()
	}
	c := r.begin(t, command)
	wanted, given := of(prints, command)
	switch {
	case regexp.MustCompile(`& *(done)?$`).MatchString(command):
		c.stays()
		return
	case goesOn.MatchString(command):
		if output := regexp.MustCompile(`-o (\S+)`).FindStringSubmatch(command); output != nil {
			c.grows(filepath.Join(r.folder, output[1]), records[output[1]])
		}
		if !given {
			wanted = []string{"."}
		}
		c.says(wanted...)
		if strings.HasPrefix(command, "build/callboard replay") {
			r.replay = c // the next command may be a broker that reads it
			return
		}
		c.stop()
	default:
		c.says(wanted...)
		c.ends(!strings.Contains(command, "lasr"))
	}
}

// typed is a command that was typed.
type typed struct {
	t       *testing.T
	command string
	cmd     *exec.Cmd
	lines   chan string
	said    []string
	ended   chan struct{}
}

func (r *reader) begin(t *testing.T, command string) *typed {
	t.Helper()
	script := command
	if strings.Contains(command, "&") {
		script += "\nwait" // as a terminal goes on
	}
	c := &typed{t: t, command: command, cmd: exec.Command("bash", "-c", script), lines: make(chan string, 1<<16), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env = r.folder, r.env
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	read, write := io.Pipe()
	c.cmd.Stdout, c.cmd.Stderr = write, write
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.lines)
		for s := bufio.NewScanner(read); s.Scan(); {
			c.lines <- s.Text()
		}
		io.Copy(io.Discard, read)
	}()
	go func() {
		defer close(c.ended)
		c.cmd.Wait()
		write.Close()
	}()
	t.Cleanup(func() {
		syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.ended
	})
	return c
}

// stays waits until it serves, and lets it run until the block ends; what does not
// serve has ended.
func (c *typed) stays() {
	c.t.Helper()
	if goesOn.MatchString(c.command) {
		c.says(`^(http|player)://`)
	} else if !strings.Contains(c.command, "&") {
		c.ends(true)
	}
}

// says waits for lines, in whatever order.
func (c *typed) says(patterns ...string) {
	c.t.Helper()
	patterns = slices.Clone(patterns)
	late := time.After(2 * limit)
	for len(patterns) > 0 {
		select {
		case line, open := <-c.lines:
			if !open {
				c.t.Fatalf("%s\nhas ended; expected %q, and it said:\n%s", c.command, patterns, strings.Join(c.said, "\n"))
			}
			c.said = append(c.said, line)
			patterns = slices.DeleteFunc(patterns, func(p string) bool { return regexp.MustCompile(p).MatchString(line) })
		case <-late:
			c.t.Fatalf("%s\ndoes not say %q, but:\n%s", c.command, patterns, strings.Join(c.said, "\n"))
		}
	}
}

// grows waits for a recording.
func (c *typed) grows(file string, size int64) {
	c.t.Helper()
	size = cmp.Or(size, 1)
	for late := time.After(3 * limit); ; {
		if info, err := os.Stat(file); err == nil && info.Size() >= size {
			return
		}
		select {
		case <-late:
			c.t.Fatalf("%s\nwrites no %d bytes", c.command, size)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stop interrupts it, as Ctrl-C does, and waits for its end.
func (c *typed) stop() {
	c.t.Helper()
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT); err != nil {
		c.t.Error(err)
	}
	c.ends(!strings.HasPrefix(c.command, "make ")) // make tells that it was interrupted
}

// ends waits for its end, which is as expected.
func (c *typed) ends(well bool) {
	c.t.Helper()
	for late := time.After(3 * limit); ; {
		select {
		case line, open := <-c.lines:
			if open {
				c.said = append(c.said, line)
				continue
			}
			<-c.ended
			if c.cmd.ProcessState.Success() != well {
				c.t.Errorf("%s\nended with %v:\n%s", c.command, c.cmd.ProcessState, strings.Join(c.said, "\n"))
			}
			return
		case <-late:
			c.t.Fatalf("%s\ndoes not end; it said:\n%s", c.command, strings.Join(c.said, "\n"))
		}
	}
}
