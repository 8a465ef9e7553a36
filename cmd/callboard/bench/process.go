package bench

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startProgram starts this program as a process of its own, whose input ends with
// this one, and returns the first line that it prints: its address.
func startProgram(args ...string) (line string, process *exec.Cmd, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	process = exec.Command(program, args...)
	process.Args[0], process.Stderr = os.Args[0], os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		return "", nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := process.Start(); err != nil {
		return "", nil, fmt.Errorf("starting callboard %s: %w", args[0], err)
	}
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		return "", nil, errors.Join(fmt.Errorf("callboard %s told no address: %w", args[0], err), terminate(process))
	}
	return strings.TrimSpace(line), process, nil
}

// terminate ends a process of ours politely, and waits for it.
func terminate(c *exec.Cmd) error {
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	err := c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return nil // by the signal
	}
	return err
}
