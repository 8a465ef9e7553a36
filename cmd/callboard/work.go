package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// workDelay is how long a command has to end once it was told to.
const workDelay = 2 * time.Second

// maxComplaint bounds what of a command's standard error becomes its task's error, bytes.
const maxComplaint = 1000

func (p *program) work() command {
	return command{
		name: "work", summary: "serve a queue: run a command for each task", args: "QUEUE -- COMMAND [ARGUMENT…]",
		about: `Serves a queue: for each task that others request the command is run, with the body
on its standard input (text as such, anything else as JSON). What it prints is the
answer: JSON, or else text without its last newline. An exit status other than 0 is
an error; the last of what it wrote to standard error says which. A task that is
cancelled or whose time is over ends the command (SIGTERM).

The command finds in its environment CALLBOARD_TASK (a lasting word),
CALLBOARD_QUEUE, CALLBOARD_FROM (the client that asked), CALLBOARD_AGAIN (1 if
somebody had the task in hand before) and CALLBOARD_LEFT (s).`,
		examples: []string{
			"callboard work echo -- cat",
			"callboard work pictures --at-once 2 -- ./take-picture.sh --size 640",
			"callboard work docks --client dock-3 -- sh -c 'callboard send \"$(cat)\" velocity 0.2'",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.IntFlag{Name: "at-once", Usage: "run up to `N` commands at a time, at most 1000", Value: 1},
			&cli.IntFlag{Name: "count", Usage: "end after `N` tasks (default: go on)"},
			clientFlag(),
		}, logFlags("info")),
		run: func(ctx context.Context, c *cli.Context) error {
			args, config, err := p.attaching(c, 2, -1, "QUEUE and COMMAND")
			if err != nil {
				return err
			}
			if n := c.Int("at-once"); n < 1 || n > protocol.MaxAtOnce {
				return usagef("--at-once %d, expected 1 to %d", n, protocol.MaxAtOnce)
			}
			if c.Int("count") < 0 {
				return usagef("--count %d, expected a number of tasks", c.Int("count"))
			}
			if _, err := exec.LookPath(args[1]); err != nil {
				return fmt.Errorf("cannot run %s: %w", args[1], err)
			}
			config.Client = c.String("client")
			return p.serveQueue(ctx, config, args[0], args[1:], c.Int("at-once"), c.Int("count"))
		},
	}
}

func (p *program) serveQueue(ctx context.Context, config callboard.Config, queue string, words []string, atOnce, count int) error {
	config.Handle = func(callboard.Event) {}
	client, err := dial(ctx, config)
	if err != nil {
		return err
	}
	defer client.Close()
	var begun, ended atomic.Int64
	enough := make(chan struct{})
	server, err := client.ServeMany(queue, atOnce, func(ctx context.Context, t *callboard.Task) (any, error) {
		begun.Add(1)
		answer, err := runTask(ctx, words, t)
		config.Logger.Info("task done", "queue", queue, "task", t.Name, "from", t.From, "again", t.Again, "error", err)
		if ended.Add(1) == int64(count) {
			close(enough)
		}
		return answer, err
	})
	if err != nil {
		return err
	}
	config.Logger.Info("serving", "queue", queue, "at_once", atOnce)
	select {
	case <-ctx.Done():
		return nil
	case <-enough:
		return server.Stop(ctx)
	case <-server.Done():
		return explainCommand(server.Err())
	case <-client.Done():
		return client.Err()
	}
}

// runTask runs a command for a task and returns what it answers.
func runTask(ctx context.Context, words []string, t *callboard.Task) (any, error) {
	var out, complaint tail
	out.most, complaint.most = protocol.MaxMessage, maxComplaint
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(taskText(t.Body, false))
	cmd.Stdout, cmd.Stderr = &out, &complaint
	cmd.Env = append(os.Environ(), "CALLBOARD_TASK="+t.Name, "CALLBOARD_QUEUE="+t.Queue, "CALLBOARD_FROM="+t.From, "CALLBOARD_AGAIN=")
	if t.Again {
		cmd.Env[len(cmd.Env)-1] += "1"
	}
	if deadline, ok := ctx.Deadline(); ok {
		cmd.Env = append(cmd.Env, fmt.Sprintf("CALLBOARD_LEFT=%.3f", time.Until(deadline).Seconds()))
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = workDelay
	err := cmd.Run()
	var exit *exec.ExitError
	switch text := strings.TrimSpace(strings.ToValidUTF8(string(complaint.text), "\uFFFD")); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &exit) && text != "":
		return nil, errors.New(text)
	case err != nil:
		return nil, err
	case out.lost:
		return nil, fmt.Errorf("the command printed more than %d bytes", out.most)
	}
	answer := bytes.TrimSuffix(out.text, []byte("\n"))
	if len(answer) == 0 {
		return json.RawMessage("null"), nil
	}
	return jsonOrText(answer), nil
}

// tail keeps the last of what is written to it.
type tail struct {
	most int
	text []byte
	lost bool // there was more
}

func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	if n := len(t.text) - t.most; n > 0 {
		t.text, t.lost = append(t.text[:0], t.text[n:]...), true
	}
	return len(b), nil
}
