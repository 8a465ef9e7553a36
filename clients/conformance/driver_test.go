//go:build linux

package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// library is a client library, with what runs its driver.
type library struct {
	name    string
	command func() (*exec.Cmd, error) // an error says which tools are missing
}

// there returns an error if the library cannot be run here.
func (l library) there() error {
	_, err := l.command()
	return err
}

// libraries are all that there are.
var libraries = []library{
	{"go", func() (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), driving+"=1")
		return cmd, nil
	}},
	{"js", func() (*exec.Cmd, error) { return nodeCommand("../js/testdata/driver.js") }},
	{"python", func() (*exec.Cmd, error) { return pythonCommand("../python/testdata/driver.py") }},
}

func nodeCommand(file string) (*exec.Cmd, error) {
	flags, err := nodeFlags()
	if err != nil {
		return nil, err
	}
	return exec.Command("node", append(slices.Clone(flags), file)...), nil
}

// pythonProgram returns the Python that has what the library needs.
var pythonProgram = sync.OnceValues(func() (string, error) {
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		if has(program, "-c", "import sys, websockets; sys.exit(sys.version_info < (3, 11))") {
			return program, nil
		}
	}
	return "", errors.New("there is no Python 3.11 here that has websockets: apt-get install python3-websockets")
})

// nodeFlags returns what node has to be told so that it has a WebSocket.
var nodeFlags = sync.OnceValues(func() ([]string, error) {
	const there = "process.exit(typeof WebSocket === 'function' ? 0 : 1)"
	for _, flags := range [][]string{nil, {"--experimental-websocket"}} {
		if has("node", append(flags, "-e", there)...) {
			return flags, nil
		}
	}
	return nil, errors.New("there is no node here that has a WebSocket: apt-get install nodejs (20 or later)")
})

func pythonCommand(file string) (*exec.Cmd, error) {
	program, err := pythonProgram()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, file)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	return cmd, nil
}

// driver is a program that has one client of a library. It reads a configuration
// and then what to do, a JSON object a line, and prints what comes of it in the
// same way.
type driver struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	events  chan object
	results chan object
	end     chan object // what the client ended with
	err     error       // why its output has ended
}

func (l library) start(t *testing.T, configuration object) *driver {
	t.Helper()
	cmd, err := l.command()
	if err != nil {
		t.Skip(err)
	}
	d := &driver{cmd: cmd, events: make(chan object, 1<<16), results: make(chan object, 1<<10), end: make(chan object, 1)}
	d.cmd.Stderr = t.Output()
	in, err := d.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.in = in
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		d.read(out)
	}()
	t.Cleanup(func() {
		d.kill()
		<-read
	})
	d.say(t, configuration)
	return d
}

func (d *driver) say(t *testing.T, what object) {
	t.Helper()
	text, err := json.Marshal(what)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.in.Write(append(text, '\n')); err != nil {
		t.Fatalf("the driver does not listen: %v", err)
	}
}

func (d *driver) read(out io.Reader) {
	defer close(d.events)
	defer close(d.results)
	defer close(d.end)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			d.err = err
			return
		}
		var m object
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			d.err = fmt.Errorf("the driver printed %q: %w", line, err)
			return
		}
		switch {
		case m["event"] != nil:
			d.events <- m
		case m["result"] != nil:
			d.results <- m
		default:
			d.end <- m
		}
	}
}

func (d *driver) kill() {
	d.cmd.Process.Kill()
	d.cmd.Wait()
}

// next returns what comes next.
func (d *driver) next(from <-chan object) (object, error) {
	select {
	case m, open := <-from:
		if !open {
			return nil, fmt.Errorf("the driver has ended: %v", d.err)
		}
		return m, nil
	case <-time.After(patience):
		return nil, fmt.Errorf("the driver printed nothing")
	}
}

// result returns the result of what was asked for by a tag. Others are kept.
func (d *driver) result(tag string, kept map[string]object) (object, error) {
	for {
		if m := kept[tag]; m != nil {
			delete(kept, tag)
			return m, nil
		}
		m, err := d.next(d.results)
		if err != nil {
			return nil, err
		}
		kept[fmt.Sprint(m["result"])] = m
	}
}

// has reports whether a program can be run in this way.
func has(name string, args ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, name, args...).Run() == nil
}

func firstWord(s string) (string, string) {
	word, rest, _ := strings.Cut(s, " ")
	return word, strings.TrimSpace(rest)
}
