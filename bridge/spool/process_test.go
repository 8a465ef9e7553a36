//go:build linux

package spool

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// TestMain runs a child's part when a test has started this binary as one.
func TestMain(m *testing.M) {
	if part, dir, ok := strings.Cut(os.Getenv("SPOOL_CHILD"), ":"); ok {
		if err := map[string]func(string) error{"write": childWrites, "full": childFull}[part](dir); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child starts this binary in another part.
func child(t *testing.T, part, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SPOOL_CHILD="+part+":"+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func giveOne(seq uint64, size int) []overlay.Record {
	json := fmt.Appendf(nil, `{"n":%d,"fill":"%s"}`, seq, strings.Repeat("x", size))
	return []overlay.Record{&overlay.GivenRecord{
		Reading: &overlay.Reading{Robot: "r0", Interface: "laser", JSON: json}, At: overlay.Instant(seq),
		Hits: []overlay.GivenHit{{Handle: 1, Seq: seq, Revision: 1, Names: []protocol.Matched{{ID: "a"}}}},
	}}
}

// childWrites appends without end and says what it has appended. Every tenth
// number it acknowledges all but the last twenty.
func childWrites(dir string) error {
	s, err := Open(Config{Dir: dir, Broker: "b1", Interval: 3 * time.Millisecond})
	if err != nil {
		return err
	}
	restored := s.Restored()
	if restored.Lost {
		return fmt.Errorf("lost: %s", restored.Why)
	}
	next := uint64(1)
	if len(restored.Records) == 0 {
		s.Append(prelude())
	}
	for _, r := range restored.Records {
		switch r := r.(type) {
		case *overlay.GivenRecord:
			next = r.Hits[0].Seq + 1
		case *overlay.EntryRecord:
			next = max(next, r.Next)
		}
	}
	go s.Run(context.Background()) // this process does not end well
	out := bufio.NewWriter(os.Stdout)
	for seq := next; ; seq++ {
		s.Append(giveOne(seq, int(seq%3000)))
		if seq%10 == 0 && seq > 20 {
			s.Append([]overlay.Record{&overlay.AckedRecord{Handle: 1, Num: seq - 20}})
		}
		fmt.Fprintln(out, seq)
		out.Flush()
	}
}

// TestKilled: kill -9 in the middle of writing loses nothing that Append has
// returned for, and nothing is taken for a loss.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	last := uint64(0)
	for round := range 6 {
		cmd, out := child(t, "write", dir)
		stop := last + 50 + rand.Uint64N(1500)
		for out.Scan() {
			n, err := strconv.ParseUint(out.Text(), 10, 64)
			if err != nil {
				t.Fatalf("round %d: the child says %q", round, out.Text())
			}
			if last > 0 && n > last+2 {
				t.Fatalf("round %d: number %d follows %d", round, n, last)
			}
			if last = n; n >= stop {
				break
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it said before it died
			if n, err := strconv.ParseUint(out.Text(), 10, 64); err == nil {
				last = max(last, n)
			}
		}
		cmd.Wait()
		copied := filepath.Join(t.TempDir(), "copy")
		copyDir(t, dir, copied)
		s, err := Open(Config{Dir: copied, Broker: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		checkRun(t, s.Restored(), last)
		s.Close()
	}
}

// checkRun checks that the numbers after what was acknowledged are all there, up to last at least.
func checkRun(t *testing.T, restored Restored, last uint64) {
	t.Helper()
	if restored.Lost {
		t.Fatalf("lost: %s", restored.Why)
	}
	var num, next uint64
	given := map[uint64]bool{}
	for _, r := range restored.Records {
		switch r := r.(type) {
		case *overlay.EntryRecord:
			num, next = max(num, r.Num), max(next, r.Next)
		case *overlay.AckedRecord:
			num = max(num, r.Num)
		case *overlay.GivenRecord:
			seq := r.Hits[0].Seq
			if want := fmt.Sprintf(`{"n":%d,`, seq); !strings.HasPrefix(string(r.Reading.JSON), want) {
				t.Fatalf("number %d is %.20s", seq, r.Reading.JSON)
			}
			given[seq] = true
			next = max(next, seq+1)
		}
	}
	if next <= last || next > last+2 {
		t.Fatalf("next is %d, and %d was appended", next, last)
	}
	for seq := num + 1; seq < next; seq++ {
		if !given[seq] {
			t.Fatalf("number %d is missing; acknowledged %d, next %d", seq, num, next)
		}
	}
}

// limitFiles lets files of this process grow to size bytes only: writing more
// fails as on a full disk.
func limitFiles(size uint64) error {
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY})
}

// childFull has a full disk for a while. It says how it goes; at the words
// "die" and "end" of its input it does so.
func childFull(dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	s, err := Open(Config{Dir: dir, Broker: "b1", Interval: time.Millisecond})
	if err != nil {
		return err
	}
	s.Append(prelude())
	if err := s.commit(); err != nil {
		return err
	}
	if err := limitFiles(100_000); err != nil {
		return err
	}
	seq := uint64(0)
	for ; seq < 300; seq++ {
		s.Append(giveOne(seq+1, 1000))
		if seq%50 == 0 {
			s.commit()
		}
	}
	if s.Err() == nil {
		return fmt.Errorf("a full disk went unnoticed")
	}
	fmt.Println("full", seq)
	if os.Getenv("SPOOL_DIE") != "" {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := limitFiles(unix.RLIM_INFINITY); err != nil {
		return err
	}
	for ; seq < 400; seq++ {
		s.Append(giveOne(seq+1, 1000))
	}
	for try := 0; s.Err() != nil; try++ {
		if err := s.commit(); err != nil || try > 3 {
			return fmt.Errorf("after %d tries: %v, %v", try, err, s.Err())
		}
	}
	s.Append(giveOne(seq+1, 1000))
	fmt.Println("again", seq+1)
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return nil
}

// TestFullDisk: appending goes on, Err tells, and once there is space all of
// it is there; a crash before that says that something is lost.
func TestFullDisk(t *testing.T) {
	for _, die := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "data")
		if die {
			t.Setenv("SPOOL_DIE", "yes")
		}
		cmd, out := child(t, "full", dir)
		said := ""
		for out.Scan() {
			said += out.Text() + ";"
		}
		cmd.Wait()
		if want := map[bool]string{false: "full 300;again 401;", true: "full 300;"}[die]; said != want {
			t.Fatalf("die %t: the child says %q", die, said)
		}
		s, err := Open(Config{Dir: dir, Broker: "b1"})
		if err != nil {
			t.Fatal(err)
		}
		restored := s.Restored()
		s.Close()
		if die {
			if !restored.Lost {
				t.Fatal("a crash on a full disk lost nothing?")
			}
			continue
		}
		checkRun(t, restored, 401)
	}
}

// TestRun: Run brings things to the disk by itself, and Close leaves a store
// that another boot takes as whole.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Open(Config{Dir: dir, Broker: "b1", Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	s.Append(prelude())
	for seq := uint64(1); s.Stats().Commits < 4 && seq < 1e6; seq++ {
		s.Append(giveOne(seq, 100))
		s.Append([]overlay.Record{&overlay.AckedRecord{Handle: 1, Num: seq}})
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = Open(Config{Dir: dir, Broker: "b1", boot: func() string { return "another" }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if restored := s.Restored(); restored.Lost || len(restored.Records) != 4 {
		t.Fatalf("lost %t, %d records", restored.Lost, len(restored.Records))
	}
}
