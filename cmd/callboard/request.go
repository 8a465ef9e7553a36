package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// clientFlag names the client, for commands about tasks.
func clientFlag() cli.Flag {
	return &cli.StringFlag{Name: "client", Usage: "lasting `ID` of this client (default a random one)"}
}

func (p *program) request() command {
	ttl := seconds()
	return command{
		name: "request", summary: "have a program that serves a queue do a task, and print its answer", args: "QUEUE [BODY]",
		about: `Asks for a task, waits for its answer and prints it. BODY is JSON, or else text;
"-" reads it from standard input. An answer that is text is printed as such, any
other as JSON. Interrupted, it cancels the task. It ends with 1 if the task ended
by an error: the server's own, expired, cancelled, unavailable, overloaded.`,
		examples: []string{
			`callboard request docks '{"robot": "r2"}' --ttl 5m`,
			"callboard request pictures front --progress",
			"callboard request paths - --json < goal.json",
			"callboard request docks r2 --client shift-7 --key r2-evening",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.GenericFlag{Name: "ttl", Value: ttl, Usage: "`TIME` that the task may wait and take (default 10s, at most a day) "},
			&cli.StringFlag{Name: "key", Usage: "lasting `NAME` of this task: with the same --client, the same key is the same task, and it is not done twice"},
			clientFlag(),
			&cli.BoolFlag{Name: "progress", Usage: "print on standard error how the task comes on"},
			&cli.BoolFlag{Name: "json", Usage: "print the answer as JSON, also if it is text"},
		}, logFlags("error")),
		run: func(ctx context.Context, c *cli.Context) error {
			args, config, err := p.attaching(c, 1, 2, "QUEUE and perhaps BODY")
			if err != nil {
				return err
			}
			r := callboard.Request{Queue: args[0], TTL: ttl.v, Key: c.String("key")}
			if ttl.v > protocol.MaxTTL*time.Second {
				return usagef("--ttl %v, expected a day at most", ttl.v)
			}
			if r.Key != "" && c.String("client") == "" {
				return usagef("--key %q without --client: the key is the client's; expected both", r.Key)
			}
			if len(args) > 1 {
				if r.Body, err = p.taskBody(args[1]); err != nil {
					return err
				}
			}
			if c.Bool("progress") {
				r.Progress = func(progress json.RawMessage) { fmt.Fprintln(p.stderr, taskText(progress, false)) }
				r.Accepted = func(ahead int) { fmt.Fprintf(p.stderr, "accepted, %d ahead\n", ahead) }
			}
			config.Client = c.String("client")
			return p.requestTask(ctx, config, r, c.Bool("json"))
		},
	}
}

// taskBody returns a body as it was given: JSON, or else text.
func (p *program) taskBody(text string) (any, error) {
	if text == "-" {
		all, err := io.ReadAll(io.LimitReader(os.Stdin, protocol.MaxMessage+1))
		if err != nil {
			return nil, fmt.Errorf("reading the task's body: %w", err)
		}
		text = strings.TrimSuffix(string(all), "\n")
	}
	return jsonOrText([]byte(text)), nil
}

// jsonOrText returns JSON as it is, anything else as text.
func jsonOrText(text []byte) any {
	if json.Valid(text) {
		return json.RawMessage(text)
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// taskText returns JSON for people: of text what it says.
func taskText(value json.RawMessage, asJSON bool) string {
	var text string
	if !asJSON && json.Unmarshal(value, &text) == nil && string(value) != "null" {
		return text
	}
	if len(value) == 0 {
		return "null"
	}
	return string(value)
}

func (p *program) requestTask(ctx context.Context, config callboard.Config, r callboard.Request, asJSON bool) error {
	config.Handle = func(callboard.Event) {}
	client, err := dial(ctx, config)
	if err != nil {
		return err
	}
	defer client.Close()
	answer, err := client.Request(ctx, r)
	var failed *callboard.Error
	switch {
	case err == nil:
		return writeLine(p.stdout, []byte(taskText(answer, asJSON)))
	case errors.As(err, &failed) && failed.Code == protocol.Failed:
		return errors.New(failed.Message) // in the server's words
	}
	return explainCommand(err)
}
