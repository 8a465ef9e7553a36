package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/robots"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// answerTime is how long send waits for an answer beyond the command's own
// time to live.
const answerTime = 10 * time.Second

func (p *program) send() command {
	ttl, index := seconds(), index()
	return command{
		name: "send", summary: "send a command to a robot and print its answer", args: "ROBOT COMMAND [ARGUMENT…]",
		about: `Sends a command to a robot that a broker reads, and prints what it answers.
Velocities are in m/s and rad/s, poses in m and rad. Commands:
` + indent(strings.Join(robots.CommandNames(), "\n"), "  "),
		examples: []string{
			"callboard send r0 velocity 0.5 0 -0.2",
			"callboard send r0 stop",
			"callboard send r0 motor_power on",
			"callboard send r0 set_odometry 0 0 0",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.StringFlag{Name: "interface", Usage: "`NAME` of the device's interface (default the command's own)"},
			&cli.GenericFlag{Name: "index", Value: index, Usage: "`N` of the device "},
			&cli.GenericFlag{Name: "ttl", Value: ttl, Usage: "`TIME` that the command may wait for the robot "},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		}, logFlags("error")),
		words: func(before []string) []string {
			var names []string
			for _, usage := range robots.CommandNames() {
				if name, _, _ := strings.Cut(usage, " "); len(before) == 1 {
					names = append(names, name)
				}
			}
			return names
		},
		run: func(ctx context.Context, c *cli.Context) error {
			args, config, err := p.attaching(c, 2, -1, "ROBOT and COMMAND")
			if err != nil {
				return err
			}
			command := callboard.Command{
				Robot: args[0], Name: args[1], Args: commandArguments(args[2:]),
				Interface: c.String("interface"), Index: index.v, TTL: ttl.v.Seconds(),
			}
			return p.sendCommand(ctx, config, command, c.Bool("json"))
		},
	}
}

// commandArguments returns numbers as such, all else as text.
func commandArguments(texts []string) []any {
	args := make([]any, len(texts))
	for i, text := range texts {
		var number float64
		if json.Unmarshal([]byte(text), &number) == nil {
			args[i] = number
		} else if f, err := strconv.ParseFloat(text, 64); err == nil && f-f == 0 { // "+1", ".5": not JSON
			args[i] = f
		} else {
			args[i] = text
		}
	}
	return args
}

func (p *program) sendCommand(ctx context.Context, config callboard.Config, command callboard.Command, asJSON bool) error {
	config.Anonymous, config.Handle = true, func(callboard.Event) {}
	client, err := dial(ctx, config)
	if err != nil {
		return err
	}
	defer client.Close()
	waiting, cancel := context.WithTimeout(ctx, answerTime+time.Duration(command.TTL*float64(time.Second)))
	defer cancel()
	result, err := client.Command(waiting, command)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no answer to %s within %s: whether it was carried out is not known", command.Name, answerTime)
		}
		return explainCommand(err)
	}
	switch {
	case asJSON && len(result) == 0:
		fmt.Fprintln(p.stdout, "null")
	case asJSON:
		fmt.Fprintln(p.stdout, string(result))
	case len(result) == 0 || string(result) == "null":
		fmt.Fprintln(p.stdout, "ok")
	default:
		printer := newNotificationPrinter(p, false)
		if fields := printer.values(result, 0); len(fields) > 0 {
			fmt.Fprintln(p.stdout, strings.Join(fields, " "))
		} else {
			fmt.Fprintln(p.stdout, string(result))
		}
	}
	return nil
}

// explainCommand makes wrong arguments a wrong use.
func explainCommand(err error) error {
	var e *callboard.Error
	if errors.As(err, &e) {
		if e.Code == protocol.BadMessage {
			return usagef("%s", e.Message)
		}
		return fmt.Errorf("%s (%s)", e.Message, e.Code)
	}
	return err
}

// indent puts something before each line.
func indent(text, with string) string {
	return with + strings.ReplaceAll(text, "\n", "\n"+with)
}
