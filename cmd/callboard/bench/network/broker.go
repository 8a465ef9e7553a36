package network

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"callboard/bridge/benchtest"
)

// Broker is a broker in a process of its own. Its methods are for one
// goroutine at a time.
type Broker struct {
	Name string

	network *Network
	index   int
	listen  string // of programs; the same in all lives
	links   string // of other brokers
	process *exec.Cmd
	drained sync.WaitGroup
	ended   chan struct{} // closed when the process has ended
}

// tries bounds how often a broker is started until it gets its ports: another
// program may have taken one meanwhile.
const tries = 20

// Start starts the broker and waits until it serves.
func (b *Broker) Start(ctx context.Context) error {
	var err error
	for range tries {
		if err = b.try(); err == nil || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return err
}

func (b *Broker) try() error {
	var err error
	if b.links, err = benchtest.FreeAddress(); err != nil {
		return err
	}
	for _, j := range b.network.neighbours(b.index) {
		if j < b.index {
			b.network.Link(b.index, j).forward(b.links)
		}
	}
	file := filepath.Join(b.network.config.Dir, b.Name+".toml")
	if err := os.WriteFile(file, []byte(b.network.toml(b)), 0o600); err != nil {
		return err
	}
	process, err := b.network.config.Command(file)
	if err != nil {
		return err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	said, err := process.StderrPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return fmt.Errorf("network: starting %s: %w", b.Name, err)
	}
	b.process, b.ended = process, make(chan struct{})
	last := make(chan string, 1)
	b.drained.Go(func() { last <- b.drain(bufio.NewScanner(said)) })
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		b.reap()
		return fmt.Errorf("network: %s does not serve: %s", b.Name, <-last)
	}
	b.listen = strings.TrimPrefix(strings.TrimSpace(line), "http://")
	return nil
}

// drain hands on what the broker says, and returns the last of it.
func (b *Broker) drain(said *bufio.Scanner) (last string) {
	for said.Scan() {
		last = said.Text()
		if b.network.config.Log != nil {
			b.network.config.Log(b.Name, last)
		}
	}
	return last
}

// serving is this program as a broker.
func serving(config string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: program, Args: []string{"callboard", "serve", "--config", config, "--log-level", "warn"}}, nil
}

// URL is where the broker serves programs, in all its lives.
func (b *Broker) URL() string { return "ws://" + b.listen + "/ws" }

// HTTP is where it serves everything else.
func (b *Broker) HTTP() string { return "http://" + b.listen }

// Pid is its process; 0 while it does not run.
func (b *Broker) Pid() int {
	if b.process == nil {
		return 0
	}
	return b.process.Process.Pid
}

// Kill kills it as kill -9 does.
func (b *Broker) Kill() error {
	if b.process == nil {
		return nil
	}
	err := b.process.Process.Kill()
	b.reap()
	return err
}

// Stop ends it cleanly, and kills it if that takes too long.
func (b *Broker) Stop() error {
	if b.process == nil {
		return nil
	}
	process := b.process.Process
	_ = b.Continue()
	if err := process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, b.Kill())
	}
	timer := time.AfterFunc(10*time.Second, func() { process.Kill() })
	defer timer.Stop()
	b.reap()
	return nil
}

// AwaitReady waits until the broker says that it is ready: that what it has
// to store is stored.
func (b *Broker) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.HTTP()+"/readyz", nil)
		if err != nil {
			return err
		}
		answer := "nothing"
		if resp, err := http.DefaultClient.Do(request); err == nil {
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
			answer = string(text)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("network: %s is not ready; it says %s", b.Name, answer)
		}
	}
}

// reap waits for the process.
func (b *Broker) reap() {
	b.drained.Wait()
	_ = b.process.Wait() // it was told to end
	close(b.ended)
	b.process = nil
}
