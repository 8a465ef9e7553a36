package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/spool"
	"callboard/clients/web"
	"callboard/player/replay"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

func (p *program) view() command {
	pace, from, to := speed(), point(), point()
	return command{
		name: "view", summary: "recorded runs on the page, with one command", args: "FILE…",
		about: `Replays recorded runs (Player logs, also gzipped, and MCAP) to a broker of its own,
and serves the page, with the floor plan where the recording has its world: replay
and serve in one. Conditions and programs see the robots as live ones. It begins
at once, and again at the end unless --once is given. On the page it is paused and
played, at any speed and from any place; what conditions find in the whole run stands
on its slider. NAME=FILE gives the robot of a file another name. Prints the page's
address; what the broker keeps is temporary.`,
		examples: []string{
			"callboard view run.mcap",
			"callboard view a=monday.log b=tuesday.log --speed 4",
			"callboard view run.mcap --from 20 --to 1m30s --once",
		},
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: defaultListen, Usage: "`HOST:PORT` of the page and for programs; port 0 takes a free one"},
			&cli.GenericFlag{Name: "speed", Value: pace, Usage: "`X` times the recording's, or max (default 1)"},
			&cli.GenericFlag{Name: "from", Value: from, Usage: "begin at this `TIME` of the run, or @T: when its clock shows T"},
			&cli.GenericFlag{Name: "to", Value: to, Usage: "end at this `TIME` of the run, or @T"},
			&cli.BoolFlag{Name: "once", Usage: "do not begin again at the end"},
		}, logFlags("warn")),
		run: func(ctx context.Context, c *cli.Context) error {
			args, logger, err := p.begin(c, 1, -1, "FILE")
			if err != nil {
				return err
			}
			sources, err := p.openRuns(ctx, args)
			defer closeRuns(sources)
			if err != nil {
				return err
			}
			r, err := replay.New(replay.Config{
				Sources: sources, Speed: pace.or(1), From: from.v, To: to.v, Loop: !c.Bool("once"), Logger: logger,
			})
			if err != nil {
				return err
			}
			data, err := os.MkdirTemp("", "callboard-view-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(data)
			servers, err := replayServers(r, runMaps(sources, logger), "127.0.0.1:0", logger)
			if err != nil {
				return err
			}
			settings, err := p.configuration(c, func(s *config.Config) {
				s.Broker.ID, s.Broker.Listen, s.Broker.Data = "view", c.String("listen"), data
				s.Players = servers.players("")
			})
			if err != nil {
				return errors.Join(err, servers.close())
			}
			page := &viewed{replay: r, sources: sources, settings: settings}
			b, err := bridge.New(bridge.Config{
				Config: settings, Page: web.FS(), World: runPlans(sources), Extra: map[string]func() any{"replay": page.state}, Actions: page.actions(), Stop: ctx.Done(), Logger: logger,
			})
			switch {
			case errors.Is(err, spool.ErrStopped):
				return servers.close()
			case isTaken(err):
				return errors.Join(listenError(settings.Broker.Listen, err), servers.close())
			case err != nil:
				return errors.Join(err, servers.close())
			}
			fmt.Fprintln(p.stdout, b.URL())
			stop := p.replayProgress(r, servers)
			defer stop()
			group, running := errgroup.WithContext(ctx)
			group.Go(func() error { return servers.run(running, r) })
			group.Go(func() error { return b.Run(running) })
			return group.Wait()
		},
	}
}
