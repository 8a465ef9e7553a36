//go:build linux

package conformance

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/sim/simdriver"
	"callboard/sim/simtest"
	"callboard/worlds"
)

// floor is a room with a robot that is led by the test, and one for programs.
const floor = `
resolution 0.02
interval_sim 100
include "rover.inc"
define fence model ( color "gray35" )
fence ( name "north" size [ 16 0.2 1 ] pose [ 0 5 0 0 ] )
fence ( name "south" size [ 16 0.2 1 ] pose [ 0 -5 0 0 ] )
fence ( name "east" size [ 0.2 10 1 ] pose [ 8 0 0 0 ] )
fence ( name "west" size [ 0.2 10 1 ] pose [ -8 0 0 0 ] )
rover ( name "r0" pose [ 0 0 0 90 ] )
rover ( name "r1" pose [ -4 0 0 0 ] )
`

func openFloor(name string) ([]byte, error) {
	if name == "floor.world" {
		return []byte(floor), nil
	}
	return worlds.Open(name)
}

// program is an example that runs, with what it prints.
type program struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
}

// runs starts a library's example, as a person does.
func runs(t *testing.T, l library, example string, args ...string) *program {
	t.Helper()
	var cmd *exec.Cmd
	var err error
	switch l.name {
	case "go":
		cmd = built(t, "../go/examples/"+example)
	case "js":
		cmd, err = nodeCommand("../js/examples/" + example + ".js")
	case "python":
		if cmd, err = pythonCommand("../python/examples/" + example + ".py"); err == nil {
			cmd.Env = append(cmd.Env, "PYTHONPATH=../python")
		}
	}
	if err != nil {
		t.Skip(err)
	}
	cmd.Args = append(cmd.Args, args...)
	return begin(t, cmd)
}

// readme starts the program that the README shows for a library.
func readme(t *testing.T, l library, broker string) *program {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```" + l.name + "\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("the README has no program in %s", l.name)
	}
	library, err := filepath.Abs("../js/callboard.js")
	if err != nil {
		t.Fatal(err)
	}
	program := strings.NewReplacer("ws://127.0.0.1:8800/ws", broker, "./callboard.js", library).Replace(string(m[1]))
	file := filepath.Join(t.TempDir(), "program."+map[string]string{"go": "go", "js": "mjs", "python": "py"}[l.name])
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var cmd *exec.Cmd
	switch l.name {
	case "go":
		cmd = built(t, file)
	case "js":
		cmd, err = nodeCommand(file)
	case "python":
		if cmd, err = pythonCommand(file); err == nil {
			cmd.Env = append(cmd.Env, "PYTHONPATH=../python", "PYTHONUNBUFFERED=1")
		}
	}
	if err != nil {
		t.Skip(err)
	}
	return begin(t, cmd)
}

// built builds a Go program, a file or a package.
func built(t *testing.T, source string) *exec.Cmd {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", file, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exec.Command(file)
}

func begin(t *testing.T, cmd *exec.Cmd) *program {
	t.Helper()
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, cmd: cmd, lines: make(chan string, 1<<12)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-read
		cmd.Wait()
	})
	return p
}

// says waits for lines, in whatever order; others may come between.
func (p *program) says(patterns ...string) {
	p.t.Helper()
	var passed []string
	late := time.After(2 * patience)
	for len(patterns) > 0 {
		select {
		case line, open := <-p.lines:
			if !open {
				p.t.Fatalf("it has ended after %q; expected %q", passed, patterns)
			}
			passed = append(passed, line)
			patterns = slices.DeleteFunc(patterns, func(want string) bool { return regexp.MustCompile("^" + want + "$").MatchString(line) })
		case <-late:
			p.t.Fatalf("it says %q; expected %q", passed, patterns)
		}
	}
}

// ends waits for its end, which has to be a good one.
func (p *program) ends() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })()
	for range p.lines {
	}
	if state, err := p.cmd.Process.Wait(); err != nil || !state.Success() {
		p.t.Errorf("it ended with %v, %v", state, err)
	}
}

// orders asks the example that serves orders to drive r1 a metre, and then far too many,
// which is taken back.
func orders(t *testing.T, l library, broker string, fleet *program) {
	t.Helper()
	runs(t, l, "drive", broker, "r1").says("serves r1/drive")
	asker := libraries[0].start(t, object{"brokers": []any{broker}, "client": "asker", "backoff": []any{0.02, 0.2}})
	kept := map[string]object{}
	ask := func(tag string, metres float64) {
		asker.say(t, object{"tag": tag, "do": "request", "args": object{"queue": "r1/drive", "body": object{"metres": metres}, "ttl": 600}})
	}
	ask("one", 1)
	got, err := asker.result("one", kept)
	if err != nil {
		t.Fatal(err)
	}
	answer, _ := got["value"].(object)
	if driven, _ := answer["driven"].(float64); driven < 1 || driven > 1.5 {
		t.Fatalf("it has driven %s", shown(got))
	}
	ask("far", 1000)
	fleet.says(`r1 moves at .*`)
	asker.say(t, object{"tag": "back", "do": "cancel", "args": object{"tag": "far"}})
	if got, err := asker.result("far", kept); err != nil || got["error"] == nil {
		t.Fatal(shown(got), err)
	}
	ask("none", 0) // comes in turn: when it is done, so is what was taken back
	if got, err := asker.result("none", kept); err != nil || got["error"] != nil {
		t.Fatal(shown(got), err)
	}
	fleet.says(`r1 stands at .*`)
	asker.kill()
}

// TestExamples runs the examples of each library with a simulated robot that they
// drive and one that they watch.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			if err := l.there(); err != nil {
				t.Skip(err)
			}
			p := newPair(t, 0.4, [2]string{}, simtest.Serve(t, openFloor, "floor.world", simdriver.Config{Speed: 2}, "r0", "r1"), nil)
			here, there := p.relays[0].url(), p.relays[1].url()
			fleet := runs(t, l, "fleet", there, "r*")
			fleet.says(`r0 stands at -?0\.00 -?0\.00`, `r1 stands at -4\.00 -?0\.00`, `r0 is free .*`, `r1 is free .*`)

			runs(t, l, "fleet", here, "r1").says(`r1 stands at .*`) // its name is known there, too
			orders(t, l, here, fleet)
			near := runs(t, l, "near", here, "r1")
			near.says(`r1 stopped, 0\.[67]\d m ahead`)
			near.ends()
			fleet.says(`r1 moves at .*`)
			fleet.says(`r1 stands at -[01]\.\d\d -?0\.\d\d`)

			readme(t, l, here).says(`r1 [\d.]+ 0\.\d+`)

			led := libraries[0].start(t, object{"brokers": []any{here}, "client": "leader", "backoff": []any{0.02, 0.2}})
			led.say(t, object{"tag": "1", "do": "command", "args": object{"robot": "r0", "name": "velocity", "args": []any{0.4, 0, 0.2}}})
			fleet.says(`r0 moves at .*`)
			follow := runs(t, l, "follow", "r0", "r1", here, there)
			follow.says(`attached to b1`, `r0 is \d\.\d m ahead`)
			fleet.says(`r1 moves at .*`)
			p.relays[0].refuse()
			follow.says(`attached to b2`)
			follow.says(`r0 is 1\.[0-6] m ahead`) // it has caught up
			if err := follow.cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			p.brokers[0].kill()
			fleet.says(`r0 is away`)
		})
	}
}
