package record_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"callboard/bridge/record"
	"callboard/player/run"
)

// whole is how many readings a process has recorded when it says so.
const whole = 5000

// recordUntilKilled is the process of TestKilled: it records readings, says
// so when the first are handed to the operating system, and goes on.
func recordUntilKilled() {
	r, err := record.New(record.Config{
		Output: os.Getenv("CALLBOARD_RECORD_UNTIL_KILLED"), Flush: 10 * time.Millisecond,
		Source: func(_ context.Context, put func(*run.Record)) error {
			d := sonar("r0", 6665)
			put(up(d))
			for i := 0; ; i++ {
				put(ping(d, i))
				if i == whole {
					<-time.After(time.Second) // many flushes
					fmt.Println("ready")
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
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		process.Process.Kill()
		process.Wait()
		if line != "ready\n" {
			t.Fatalf("the process said %q (%v)", line, err)
		}
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
