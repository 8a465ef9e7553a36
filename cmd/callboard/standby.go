package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"callboard/bridge"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// standby is about pairs of brokers.
func (p *program) standby() command {
	sub := func(name, summary, about string, flags []cli.Flag, examples []string, run func(ctx context.Context, c *cli.Context, config callboard.Config) error) command {
		return command{
			name: name, parent: "standby", summary: summary, about: about, examples: examples,
			flags: slices.Concat(connectFlags(), flags, logFlags("error")),
			run: func(ctx context.Context, c *cli.Context) error {
				_, config, err := p.attaching(c, 0, 0, "")
				if err != nil {
					return err
				}
				return run(ctx, c, config)
			},
		}
	}
	all := []command{
		sub("status", "how the sides stand", `Asks each --broker, which are the sides of a pair, how it stands: whether it is
active, the term, and whether the pair is in step, so that one may be lost.`,
			[]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print an object a line, one for each side"}},
			[]string{"callboard standby status", "callboard standby status --broker ws://10.0.0.1:8800/ws --broker ws://10.0.0.2:8800/ws"},
			p.standbyStatus),
		sub("switch", "have the other side go on", `Has the active side, which is one of --broker, stop, so that the other goes on:
before work on its machine, say. Programs go on there and lose nothing. It takes
that the pair is in step.`,
			nil, []string{"callboard standby switch --broker ws://10.0.0.1:8800/ws --broker ws://10.0.0.2:8800/ws"}, p.standbySwitch),
		sub("take-over", "have a side go on that may lack something", `Has --broker, a side that is not active, become so though it may lack something
that programs were told: when the other machine is lost for good, and
standby.take_over_after is not set. Programs are told of a gap. If the other side
is active and cannot be heard, two are active then.`,
			[]cli.Flag{&cli.BoolFlag{Name: "lose", Usage: "yes: what only the other side has is lost"}},
			[]string{"callboard standby take-over --lose --broker ws://10.0.0.2:8800/ws"}, p.standbyTakeOver),
	}
	return command{
		name: "standby", summary: "the sides of a pair of brokers: how they stand, and which is active",
		args: "status|switch|take-over",
		about: `A broker may be two machines, of which one takes over when the other is lost
([standby] in the configuration).`,
		examples: []string{"callboard standby status", "callboard standby switch"},
		run: func(_ context.Context, c *cli.Context) error {
			if c.NArg() == 0 {
				return usagef("status, switch or take-over missing; expected one of them")
			}
			return usagef("%q is unknown; expected status, switch or take-over", c.Args().First())
		},
		subcommands: all,
	}
}

// sideCall asks one side something over HTTP.
func sideCall(ctx context.Context, config callboard.Config, broker, method, path string) ([]byte, error) {
	u, err := url.Parse(broker)
	if err != nil {
		return nil, err
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path, u.RawQuery = "/api/standby"+path, ""
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if config.Token != "" {
		request.Header.Set("Authorization", "Bearer "+config.Token)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config.TLS, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("broker %s: %w", broker, errors.Unwrap(err))
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("broker %s: %w", broker, err)
	}
	if answer.StatusCode == http.StatusOK {
		return text, nil
	}
	var refused protocol.ErrorInfo
	if answer.StatusCode == http.StatusNotFound || answer.StatusCode == http.StatusMethodNotAllowed {
		return nil, fmt.Errorf("broker %s is no side of a pair; expected one with [standby]", broker)
	}
	if json.Unmarshal(text, &refused) != nil || refused.Message == "" {
		refused.Message = answer.Status
	}
	return nil, fmt.Errorf("broker %s: %s", broker, refused.Message)
}

func standing(ctx context.Context, config callboard.Config, broker string) (s bridge.Standing, err error) {
	text, err := sideCall(ctx, config, broker, http.MethodGet, "")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	return s, err
}

func (p *program) standbyStatus(ctx context.Context, c *cli.Context, config callboard.Config) error {
	var failed error
	for _, broker := range config.Brokers {
		s, err := standing(ctx, config, broker)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if c.Bool("json") {
			text, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if err := writeLine(p.stdout, text); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintln(p.stdout, describeSide(broker, s)); err != nil {
			return err
		}
	}
	return failed
}

// describeSide words how a side stands.
func describeSide(broker string, s bridge.Standing) string {
	text := fmt.Sprintf("side %s  %s  ", s.Side, broker)
	switch {
	case s.Active && s.InStep:
		text += "active, the standby is in step"
	case s.Active:
		text += "active, alone"
	case s.InStep:
		text += "standby, in step"
	default:
		text += "standby, not in step"
	}
	text += fmt.Sprintf(", term %d, %d batches", s.Term, s.Index)
	if !s.Heard {
		text += "; the other side is not heard"
	}
	if s.Witness != "" && !s.Answers {
		text += "; the witness " + s.Witness + " does not answer"
	}
	return text
}

// switchTime is how long a switch may take, with commands that are under way.
const switchTime = 10 * time.Second

func (p *program) standbySwitch(ctx context.Context, _ *cli.Context, config callboard.Config) error {
	var failed error
	for _, broker := range config.Brokers {
		s, err := standing(ctx, config, broker)
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
			continue
		case !s.Active:
			continue
		}
		if _, err := sideCall(ctx, config, broker, http.MethodPost, "/switch"); err != nil {
			return err
		}
		return p.awaitStanding(ctx, config, broker, "side "+s.Side+" is still active", func(s bridge.Standing) bool { return !s.Active })
	}
	return cmpError(failed, "none of the brokers is active; expected the active side among --broker")
}

func cmpError(failed error, otherwise string) error {
	if failed != nil {
		return failed
	}
	return errors.New(otherwise)
}

func (p *program) standbyTakeOver(ctx context.Context, c *cli.Context, config callboard.Config) error {
	if !c.Bool("lose") {
		return usagef("--lose missing: what only the other side has is lost; expected it, if that is so")
	}
	if len(config.Brokers) != 1 {
		return usagef("%d brokers; expected one --broker, the side that is to go on", len(config.Brokers))
	}
	if _, err := sideCall(ctx, config, config.Brokers[0], http.MethodPost, "/take-over"); err != nil {
		return err
	}
	return p.awaitStanding(ctx, config, config.Brokers[0], "it is not active; with a witness it takes its voice", func(s bridge.Standing) bool { return s.Active })
}

// awaitStanding waits until a side stands so.
func (p *program) awaitStanding(ctx context.Context, config callboard.Config, broker, otherwise string, done func(bridge.Standing) bool) error {
	ctx, cancel := context.WithTimeout(ctx, switchTime)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		s, err := standing(ctx, config, broker)
		if err == nil && done(s) {
			_, err := fmt.Fprintln(p.stdout, describeSide(broker, s))
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("after %v %s", switchTime, otherwise)
		}
	}
}
