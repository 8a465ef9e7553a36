//go:build unix

package deadline

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waiting is how long the process that is stopped waits for its peer.
const waiting = 2 * time.Second

// TestStopped: a process that is stopped (SIGSTOP) for longer than its patience
// goes on with a peer that has said something all the time.
func TestStopped(t *testing.T) {
	if address := os.Getenv("DEADLINE_TEST_PEER"); address != "" {
		listenOn(t, address)
		return
	}
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestStopped$", "-test.v")
	child.Env = append(os.Environ(), "DEADLINE_TEST_PEER="+l.Addr().String())
	var output strings.Builder
	child.Stdout, child.Stderr = &output, &output
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ticks := time.NewTicker(waiting / 30)
	defer ticks.Stop()
	// It is stopped after 30 ticks, goes on after as many as its patience and
	// more, and is to be there after as many again.
	for n := range 120 {
		<-ticks.C
		if _, err := conn.Write([]byte{1}); err != nil {
			t.Fatalf("after %d ticks it had gone: %v\n%s", n, err, output.String())
		}
		switch n {
		case 30:
			err = child.Process.Signal(syscall.SIGSTOP)
		case 70:
			err = child.Process.Signal(syscall.SIGCONT)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	conn.Close()
	if err := child.Wait(); err != nil || !strings.Contains(output.String(), "heard 120") {
		t.Errorf("%v\n%s", err, output.String())
	}
}

func listenOn(t *testing.T, address string) {
	raw, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	busy := time.NewTicker(time.Millisecond) // so that timers come before the network
	defer busy.Stop()
	go func() {
		for range busy.C {
		}
	}()
	conn, heard := New(raw), 0
	for buf := make([]byte, 10); ; {
		conn.SetReadDeadline(time.Now().Add(waiting))
		n, err := conn.Read(buf)
		if heard += n; err != nil {
			fmt.Printf("heard %d, then %v\n", heard, err)
			return
		}
	}
}
