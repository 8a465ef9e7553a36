package record_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"callboard/bridge/record"
	"callboard/player/problem"
	"callboard/player/run"
)

// whole is how many readings a process has recorded when it says so.
const whole = 5000

// recordUntilKilled is the process of TestKilled: it records readings, says so,
// waits for a word, goes on and says so again.
func recordUntilKilled() {
	r, err := record.New(record.Config{
		Output: os.Getenv("CALLBOARD_RECORD_UNTIL_KILLED"), Flush: 10 * time.Millisecond,
		Source: func(_ context.Context, put func(*run.Record)) error {
			d := sonar("r0", 6665)
			put(up(d))
			for i := 0; ; i++ {
				put(ping(d, i))
				switch i {
				case whole:
					fmt.Println("ready")
					fmt.Scanln()
				case 2 * whole:
					fmt.Println("going on")
				}
			}
		},
	})
	if err == nil {
		err = r.Run(context.Background())
	}
	fmt.Println(err)
	os.Exit(1)
}

// untilFlushed waits until a file that is being written has so many readings.
func untilFlushed(t *testing.T, name string, readings int) {
	t.Helper()
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		n := readingsIn(name)
		if n >= readings {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("%s: %d readings have been flushed, expected %d", name, n, readings)
		}
	}
}

// readingsIn counts the readings of a file that may end anywhere.
func readingsIn(name string) (n int) {
	f, err := run.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	r, err := f.Reader(run.Options{})
	if err != nil {
		return 0
	}
	defer r.Close()
	for {
		record, err := r.Next()
		var problem *problem.Problem
		switch {
		case errors.As(err, &problem):
		case err != nil:
			return n
		case record.Kind == run.Data:
			n++
		}
	}
}

// A killed process leaves a file that reads up to its last record.
func TestKilled(t *testing.T) {
	for _, ending := range []string{".log", ".mcap"} {
		name := filepath.Join(t.TempDir(), "a"+ending)
		process := exec.Command(os.Args[0])
		process.Env = append(os.Environ(), "CALLBOARD_RECORD_UNTIL_KILLED="+name)
		out, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		in, err := process.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		kill := sync.OnceFunc(func() {
			process.Process.Kill()
			process.Wait()
		})
		t.Cleanup(kill)
		said := bufio.NewReader(out)
		if line, err := said.ReadString('\n'); line != "ready\n" {
			t.Fatalf("the process said %q (%v)", line, err)
		}
		untilFlushed(t, name, whole+1)
		fmt.Fprintln(in, "on")
		if line, err := said.ReadString('\n'); line != "going on\n" {
			t.Fatalf("the process said %q (%v)", line, err)
		}
		kill()
		lines, n := recorded(t, name, 0)
		if n <= whole {
			t.Errorf("%s: %d readings, expected more than %d", ending, n, whole)
		}
		if len(lines) == 0 || lines[0] != "up r0 sonar:0 in cave "+third {
			t.Errorf("%s: %q", ending, lines)
		}
		t.Logf("%s: %d readings, %q", ending, n, lines)
	}
}
