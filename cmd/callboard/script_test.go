package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("TMPDIR", env.WorkDir)
			logs, err := filepath.Abs("../../testdata/logs")
			if err != nil {
				return err
			}
			env.Setenv("LOGS", logs)
			env.Values["servers"] = map[string]*serving{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve": startServing, "down": stopServing, "absent": absent,
			"ended": waitEnded, "endless": writeEndless, "address": takeAddress, "certificate": certificate, "sequences": sequences,
			"plan": waitPlan,
		},
	})
}

// serving is a callboard command that serves.
type serving struct {
	process *exec.Cmd
	stderr  strings.Builder
	rest    chan string // what it printed behind its addresses
}

// limit is how long a test waits for what happens at once.
const limit = 20 * time.Second

// startServing is: serve NAME LINES COMMAND…: it starts a callboard command
// and waits until it has printed so many lines. They become the variables
// NAME1, NAME2, … and, of a broker's address, NAME_WS.
func startServing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: serve NAME LINES COMMAND…")
	}
	name, lines := args[0], int(args[1][0]-'0')
	s := &serving{rest: make(chan string, 1)}
	s.process = exec.Command(filepath.Join(firstPath(ts), "callboard"), args[2:]...)
	s.process.Dir = ts.MkAbs(".")
	s.process.Env = environment(ts)
	s.process.Stderr = &s.stderr
	stdout, err := s.process.StdoutPipe()
	ts.Check(err)
	ts.Check(s.process.Start())
	ts.Value("servers").(map[string]*serving)[name] = s
	ts.Defer(func() {
		s.process.Process.Kill()
		s.process.Wait()
	})
	reader, came := bufio.NewReader(stdout), make(chan string, lines)
	go func() {
		for range lines {
			line, err := reader.ReadString('\n')
			if err != nil {
				close(came)
				return
			}
			came <- strings.TrimSuffix(line, "\n")
		}
		rest, _ := io.ReadAll(reader)
		s.rest <- string(rest)
	}()
	for n := range lines {
		select {
		case line, ok := <-came:
			if !ok {
				s.process.Wait()
				ts.Fatalf("%s ended: %s", name, s.stderr.String())
			}
			ts.Logf("%s: %s", name, line)
			ts.Setenv(name+string(rune('1'+n)), line)
			if address, ok := strings.CutPrefix(line, "http"); ok {
				ts.Setenv(name+"_WS", "ws"+address+"/ws")
				_, host, _ := strings.Cut(address, "://")
				ts.Setenv(name+"_ADDRESS", host)
			}
			if rest, ok := strings.CutPrefix(line, "player://"); ok {
				address, _, _ := strings.Cut(rest, " ")
				ts.Setenv(name+"_PLAYER", address)
			}
		case <-time.After(limit):
			ts.Fatalf("%s printed no line %d in time: %s", name, n+1, s.stderr.String())
		}
	}
}

// writeEndless is: endless FILE.log.gz: a log that takes minutes to read.
func writeEndless(ts *testscript.TestScript, neg bool, args []string) {
	var part bytes.Buffer
	z := gzip.NewWriter(&part)
	for range 1 << 20 {
		if _, err := z.Write([]byte("# nothing happens in this line, nor in the next\n")); err != nil {
			ts.Fatalf("%v", err)
		}
	}
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat(part.Bytes(), 256), 0o644))
}

// stopServing is: down NAME [kill]: it ends a server, which must end well and
// in time, or kills it. What it wrote to stderr is in NAME.stderr then.
func stopServing(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value("servers").(map[string]*serving)[args[0]]
	if len(args) > 1 {
		s.process.Process.Kill()
		s.process.Wait()
		return
	}
	ts.Check(s.process.Process.Signal(syscall.SIGTERM))
	select {
	case rest := <-s.rest:
		ts.Logf("%s", rest)
	case <-time.After(limit):
		ts.Fatalf("%s did not end: %s", args[0], s.stderr.String())
	}
	err := s.process.Wait()
	ts.Logf("%s", s.stderr.String())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".stderr"), []byte(s.stderr.String()), 0o644))
	if (err != nil) != neg {
		ts.Fatalf("%s ended with %v: %s", args[0], err, s.stderr.String())
	}
}

// takeAddress is: address NAME: the variable NAME becomes an address that is free
// at present.
func takeAddress(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], l.Addr().String())
}

// waitEnded is: ended NAME FILE: it waits until a command that was started
// with serve has ended well, and writes what it printed since into the file.
func waitEnded(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value("servers").(map[string]*serving)[args[0]]
	select {
	case rest := <-s.rest:
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(rest), 0o644))
	case <-time.After(limit):
		ts.Fatalf("%s did not end: %s", args[0], s.stderr.String())
	}
	err := s.process.Wait()
	ts.Logf("%s", s.stderr.String())
	if (err != nil) != neg {
		ts.Fatalf("%s ended with %v: %s", args[0], err, s.stderr.String())
	}
}

// sequences is: sequences FILE FROM: the notify objects in the file are
// numbered from FROM on, by source, without a hole.
func sequences(ts *testscript.TestScript, neg bool, args []string) {
	from, err := strconv.ParseUint(args[1], 10, 64)
	ts.Check(err)
	next := map[string]uint64{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var n protocol.Notify
		ts.Check(json.Unmarshal([]byte(line), &n))
		want, known := next[n.Source]
		if !known {
			want = from
		}
		if n.Seq != want+n.Skipped {
			ts.Fatalf("source %s: %d (skipped %d), expected %d", n.Source, n.Seq, n.Skipped, want+n.Skipped)
		}
		next[n.Source] = n.Seq + 1
	}
	if len(next) != 1 {
		ts.Fatalf("notifications of %d sources, expected one", len(next))
	}
}

// waitPlan is: plan ADDRESS WORLD OUTLINES: it waits until the broker there has the
// floor plan of a world, which has so many outlines.
func waitPlan(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ts.Check(benchtest.Until(ctx, "there is the plan of "+args[1], func() (bool, error) {
		answer, err := http.Get("http://" + args[0] + "/api/worlds/" + args[1])
		if err != nil {
			return false, err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return false, nil
		}
		var plan floorPlan
		if err := json.NewDecoder(answer.Body).Decode(&plan); err != nil {
			return false, err
		}
		if got := strconv.Itoa(len(plan.Outlines)); plan.Name != args[1] || got != args[2] {
			return false, fmt.Errorf("the plan of %q has %s outlines, expected %s of %q", plan.Name, got, args[2], args[1])
		}
		return true, nil
	}))
}

// absent is: absent PATTERN: no file matches.
func absent(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if (len(found) > 0) != neg {
		ts.Fatalf("found %q", found)
	}
}

func firstPath(ts *testscript.TestScript) string {
	return filepath.SplitList(ts.Getenv("PATH"))[0]
}

// environment is what the script's commands see.
func environment(ts *testscript.TestScript) []string {
	env := os.Environ()
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "WORK"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
