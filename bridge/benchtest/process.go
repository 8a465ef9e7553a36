package benchtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"callboard/bridge"
	"callboard/bridge/config"
)

// serving names, to a program of tests that is started anew, the configuration of
// the broker that it is to be.
const serving = "CALLBOARD_TEST_SERVE"

// ServeIfAsked is the first thing in the TestMain of tests that start brokers as
// processes: in such a process it is the broker, to the process's end. what is what
// no configuration says.
func ServeIfAsked(what bridge.Config) {
	path := os.Getenv(serving)
	if path == "" {
		return
	}
	if err := serve(path, what); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(path string, what bridge.Config) error {
	c, problems := config.Load(path, nil)
	if err := problems.Err(); err != nil {
		return err
	}
	what.Config = c
	if os.Getenv("CALLBOARD_TEST_LOG") != "" && what.Logger == nil {
		what.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	b, err := bridge.New(what)
	if err != nil {
		return err
	}
	fmt.Println(b.URL())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return b.Run(ctx)
}

// Command returns the program that is a broker of a configuration. It prints its
// address.
func Command(configuration string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), serving+"="+configuration)
	return c
}

// Process is a broker in a process of its own, which can be killed.
type Process struct {
	URL string
	cmd *exec.Cmd
}

// StartProcess starts a broker of a configuration, and waits until it serves. Its
// log goes to log.
func StartProcess(configuration string, log io.Writer) (*Process, error) {
	p := &Process{cmd: Command(configuration)}
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.Kill()
		return nil, errors.New("benchtest: the broker did not start; its log says why")
	}
	p.URL = strings.TrimSpace(line)
	return p, nil
}

// Kill ends the process as kill -9 does, and waits for it. A nil or ended one it
// leaves alone.
func (p *Process) Kill() {
	if p != nil && p.cmd.ProcessState == nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// Pid returns the process's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Terminate asks the process to end, and waits until it has.
func (p *Process) Terminate() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return p.cmd.Wait()
}

// End ends the process as it should end, and waits for it.
func (p *Process) End() {
	p.cmd.Process.Signal(os.Interrupt)
	p.cmd.Wait()
}

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// FreeAddress returns an address that nothing listens on, of a loopback host of its
// own: no other test takes its port meanwhile.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.%d.%d.%d:0", 1+rand.N(254), rand.N(256), 1+rand.N(254)))
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }
