//go:build !quick

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	callboard "callboard/clients/go"
	"callboard/cmd/callboard/relay"
	"callboard/player/regular"

	"github.com/nats-io/nats.go"
	"github.com/urfave/cli/v2"
)

func (p *program) relay() command {
	minInterval, hold := seconds(), seconds()
	return command{
		name: "relay", summary: "bring notifications into NATS, and commands from there", args: "[ID=]CONDITION…",
		about: `Subscribes to conditions, and publishes what they notify to a stream of NATS
JetStream: once each and in order, also if the broker, NATS or this program is
killed. The broker keeps what comes meanwhile (inbox), for a --client whose name
lasts. --subject says where it goes: {robot}, {id} (of the subscription; default
relay), {interface}, {index}, {source} and {client} stand for what the notification
says. The body is the notification as watch --json prints it; headers have
Callboard-Source, -Seq, -Robot, -Time and -Subscription. Of Callboard-Kind gap and
robot are messages about what was lost, and about robots that come and go.

It also answers requests to callboard.command.ROBOT, as a command for that robot
('velocity 0.5 0 0', or the command object of the protocol), and to
callboard.request.QUEUE, as a task of that queue. A token may only do what it may.

The stream is made if it is missing. Only one relay may write it.`,
		examples: []string{
			"callboard relay 'laser.min < 1' --nats nats://127.0.0.1:4222 --subject 'alarms.{robot}.{id}' --client alarms",
			"callboard relay near='laser.min < 1' low='power.percent < 20' --trigger change --client dashboard",
			"callboard relay true --min-interval 1 --select x=position.x --select y=position.y --client poses --subject 'poses.{robot}' --replicas 3",
		},
		flags: slices.Concat(connectFlags(), []cli.Flag{
			&cli.StringFlag{Name: "client", Usage: "lasting `ID` of this relay; needed"},
		}, optionFlags(minInterval, hold), []cli.Flag{
			&cli.StringFlag{Name: "keep", Usage: "`WHAT` the broker keeps while NATS or this program is away: all, or latest (per robot and device) (default all)"},
			repeated("nats", "`URL` of a NATS server (repeat to name others of its cluster; default "+nats.DefaultURL+")"),
			&cli.StringFlag{Name: "subject", Usage: "`TEMPLATE` of the subjects that notifications go to", Value: "callboard.notify.{client}.{robot}"},
			&cli.StringFlag{Name: "stream", Usage: "`NAME` of the stream (default callboard-relay-CLIENT)"},
			&cli.IntFlag{Name: "replicas", Usage: "`N` servers that keep the stream, 1 to 5, if it is made", Value: 1},
			&cli.StringFlag{Name: "prefix", Usage: "`WORD` that subjects of commands and requests begin with", Value: "callboard"},
			&cli.BoolFlag{Name: "no-commands", Usage: "take neither commands nor requests"},
			&cli.StringFlag{Name: "nats-credentials", Usage: "`FILE` with NATS credentials (.creds)"},
			&cli.StringFlag{Name: "nats-user", Usage: "`NAME` of the user for NATS"},
			&cli.StringFlag{Name: "nats-password-file", Usage: "`FILE` that holds that user's password"},
			&cli.StringFlag{Name: "nats-ca", Usage: "`FILE` with the certificates to trust for tls:// (PEM; default the system's)"},
		}, logFlags("warn")),
		run: func(ctx context.Context, c *cli.Context) error {
			args, client, err := p.attaching(c, 1, -1, "CONDITION")
			if err != nil {
				return err
			}
			if client.Client = c.String("client"); client.Client == "" {
				return usagef("no --client: the broker keeps what comes while this program is away by that name; expected a lasting one, as --client alarms")
			}
			config := relay.Config{
				Client: client, NATS: textsOf(c, "nats"), Stream: c.String("stream"), Replicas: c.Int("replicas"),
				Prefix: c.String("prefix"), Logger: client.Logger,
				Note: func(format string, words ...any) { fmt.Fprintf(p.stderr, "callboard relay: "+format+"\n", words...) },
			}
			for _, text := range args {
				id, condition := subscriptionID(text)
				s, err := subscription(c, condition, minInterval.v, hold.v)
				if err != nil {
					return err
				}
				if s.ID = id; slices.ContainsFunc(config.Subscriptions, func(o callboard.Subscription) bool { return o.ID == id }) {
					return usagef("two conditions with the id %s; name them: ID=CONDITION", id)
				}
				config.Subscriptions = append(config.Subscriptions, s)
			}
			if err := natsFlags(c, &config); err != nil {
				return err
			}
			return explainRelay(config, relay.Run(ctx, config))
		},
	}
}

// subscriptionID returns the id and the condition of an argument.
func subscriptionID(text string) (id, condition string) {
	if m := regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)=([^=].*)$`).FindStringSubmatch(text); m != nil {
		return m[1], m[2]
	}
	return "relay", text
}

// natsFlags takes what is about NATS.
func natsFlags(c *cli.Context, config *relay.Config) (err error) {
	if len(config.NATS) == 0 {
		config.NATS = []string{nats.DefaultURL}
	}
	if config.Stream == "" {
		config.Stream = "callboard-relay-" + config.Client.Client
	}
	if strings.ContainsAny(config.Stream, " \t.*>/\\") {
		return usagef("--stream %q, expected a name without blanks, dots, *, > and slashes", config.Stream)
	}
	if config.Replicas < 1 || config.Replicas > 5 {
		return usagef("--replicas %d, expected 1 to 5", config.Replicas)
	}
	if config.Subject, err = relay.ParseTemplate(c.String("subject")); err != nil {
		return usagef("--%v", err)
	}
	prefix, err := relay.ParseTemplate(config.Prefix)
	switch {
	case c.Bool("no-commands"):
		config.Prefix = ""
	case err != nil || prefix.Filter() != config.Prefix:
		return usagef("--prefix %q, expected a word of a subject, as callboard", config.Prefix)
	}
	if file := c.String("nats-credentials"); file != "" {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("reading the NATS credentials: %w", err)
		}
		config.Options = append(config.Options, nats.UserCredentials(file))
	}
	if user := c.String("nats-user"); user != "" {
		file := c.String("nats-password-file")
		if file == "" {
			return usagef("--nats-user %s without --nats-password-file; expected both", user)
		}
		password, err := regular.ReadNamed(file, regular.MaxPEM)
		if err != nil {
			return fmt.Errorf("reading the NATS password: %w", err)
		}
		config.Options = append(config.Options, nats.UserInfo(user, strings.TrimSpace(string(password))))
	}
	if file := c.String("nats-ca"); file != "" {
		config.Options = append(config.Options, nats.RootCAs(file))
	}
	return nil
}

// explainRelay says what to do about why a relay ended.
func explainRelay(config relay.Config, err error) error {
	var refused *callboard.Error
	if errors.As(err, &refused) {
		for _, s := range config.Subscriptions {
			if s.ID == refused.ID {
				return explainCondition(s, err)
			}
		}
		return explainDial(config.Client, err)
	}
	return err
}
