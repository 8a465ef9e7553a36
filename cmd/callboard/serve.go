package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/gateway"
	"callboard/bridge/spool"
	"callboard/clients/web"
	"callboard/player/problem"

	"github.com/urfave/cli/v2"
)

// configFlag is that of every command with a broker in it.
func configFlag() cli.Flag {
	return &cli.StringFlag{Name: "config", Usage: "configuration `FILE` (TOML; default none: the flags and defaults)"}
}

func (p *program) serve() command {
	return command{
		name: "serve", summary: "a broker: reads Player servers, serves programs and the page",
		about: `Reads the Player servers that the configuration and --player name, and serves
programs at ws://…/ws, the page at /, and /metrics, /healthz, /readyz and /api.
With --gateway unmodified Player programs can attach to it and use its robots.
Prints its addresses once it serves. Flags go before what the file says; --player
and --player-cfg add to it.`,
		examples: []string{
			"callboard serve --player r0=localhost:6665",
			"callboard serve --listen 127.0.0.1:0 --player r0=lab:6665 --player r1=lab:6666",
			"callboard serve --player-cfg worlds/cave.cfg",
			"callboard serve --player r0=lab:6665 --world worlds/cave.world",
			"callboard serve --player r0=lab:6665 --gateway 127.0.0.1:7000",
			"callboard serve --config callboard.toml --log-format json",
		},
		flags: slices.Concat([]cli.Flag{
			configFlag(),
			&cli.StringFlag{Name: "id", Usage: "`ID` of this broker in the network (default the host's name)"},
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` for programs and the page; port 0 takes a free one (default 127.0.0.1:8800)"},
			repeated("player", "a Player server to read, `[NAME=]HOST:PORT` (repeat); NAME is the robot's (default port-PORT)"),
			repeated("player-cfg", "a Player configuration `FILE.cfg` whose robots to read (repeat), named as\ntheir Stage models"),
			&cli.StringFlag{Name: "world", Usage: "`FILE.world` that the robots of --player are in, for the floor plan on the page\n(default that of a .cfg, or what the Player servers have as a map)"},
			&cli.StringFlag{Name: "gateway", Usage: "`HOST:PORT` where Player programs find the first robot, the others from there up\n(default none; without HOST on 127.0.0.1; port 0 takes free ones)"},
			&cli.StringFlag{Name: "data", Usage: "`DIR` for what must outlive a crash (default $XDG_STATE_HOME/callboard/ID)"},
		}, logFlags("info")),
		run: func(ctx context.Context, c *cli.Context) error {
			_, logger, err := p.begin(c, 0, 0, "")
			if err != nil {
				return err
			}
			players, err := playerFlags(c)
			if err != nil {
				return err
			}
			plans := floorPlans{by: map[string][]byte{}}
			if file := c.String("world"); file != "" {
				world, err := p.loadWorld(openFile, file)
				if err != nil {
					return err
				}
				if err := plans.add(worldName(file), world); err != nil {
					return err
				}
			}
			settings, err := p.configuration(c, func(s *config.Config) {
				if c.IsSet("data") {
					s.Broker.Data = c.String("data")
				}
				if c.IsSet("gateway") {
					s.Gateway.Listen = c.String("gateway")
				}
				s.Players = append(s.Players, players...)
				if file := c.String("world"); file != "" {
					for i := range s.Players {
						if s.Players[i].World == "" && s.Players[i].CFG == "" {
							s.Players[i].World = worldName(file)
						}
					}
				}
			})
			if err != nil {
				return err
			}
			plans.read(settings.Players, logger)
			boundMemory(settings.Limits.Memory)
			b, err := bridge.New(bridge.Config{Config: settings, Page: web.FS(), World: plans.of, Stop: ctx.Done(), Logger: logger})
			switch {
			case errors.Is(err, spool.ErrStopped):
				return nil
			case isTaken(err) && !gatewayTaken(err):
				return listenError(settings.Broker.Listen, err)
			case err != nil:
				return err
			case len(settings.Players) == 0:
				logger.Warn("no Player server to read; name one with --player NAME=HOST:PORT, or in the configuration")
			}
			if quick {
				logger.Warn("this is the quick build of make demo, which is slow; make build makes the whole one")
			}
			fmt.Fprintln(p.stdout, b.URL())
			printGateway(p.stdout, b)
			return b.Run(ctx)
		},
	}
}

// boundMemory has the garbage collector work harder where the process takes more
// than limits.memory, as GOMEMLIMIT would if it were set. What is beyond it is for
// messages and readings under way, which are bounded, and for the heap's own order.
func boundMemory(limit int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(limit + limit/8 + 32<<20)
	}
}

// printGateway prints a line for each port where Player programs find robots.
func printGateway(w io.Writer, b *bridge.Bridge) {
	for _, port := range b.GatewayPorts() {
		fmt.Fprintf(w, "player://%s %s\n", port.Address, strings.Join(port.Robots, " "))
	}
}

// gatewayTaken reports whether it is the gateway's address that is in use.
func gatewayTaken(err error) bool {
	var taken *gateway.TakenError
	return errors.As(err, &taken)
}

// playerFlags reads the --player flags.
func playerFlags(c *cli.Context) ([]config.Player, error) {
	var players []config.Player
	for _, text := range textsOf(c, "player") {
		player, err := config.ParsePlayer(text)
		if err != nil {
			return nil, usagef("--player: %v", err)
		}
		players = append(players, player)
	}
	for _, file := range textsOf(c, "player-cfg") {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%s: %s", file, noFile(file, err))
		}
		players = append(players, config.Player{CFG: file})
	}
	return players, nil
}

// configuration loads the file that --config names, if any, and lets the
// flags change it. Warnings are told at once.
func (p *program) configuration(c *cli.Context, flags func(*config.Config)) (*config.Config, error) {
	settings, problems := config.Load(c.String("config"), func(s *config.Config) {
		if c.IsSet("id") {
			s.Broker.ID = c.String("id")
		}
		if c.IsSet("listen") {
			s.Broker.Listen = c.String("listen")
		}
		flags(s)
	})
	if err := p.problems(problems); err != nil {
		onlyFlags := !slices.ContainsFunc(problems, func(one problem.Problem) bool { return !one.Warning && one.File != "" })
		return nil, &problemsError{problems.Lines(false), onlyFlags}
	}
	return settings, nil
}
