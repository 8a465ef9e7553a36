package main

import (
	"context"
	"slices"

	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"

	"github.com/urfave/cli/v2"
)

func (p *program) sim() command {
	pace, duration, robots := &speed{}, &seconds{}, &count{}
	return command{
		name: "sim", summary: "the simulator as Player servers", args: "FILE.world",
		about: `Simulates a Stage world and serves its robots with Player's protocol: each
position model at the top level has a port of its own, from --listen upwards
(above 256 robots: all on one port, by index). Prints a line for each port once
it serves there. Without FILE, --robots N takes a bundled world with a swarm.`,
		examples: []string{
			"callboard sim worlds/cave.world",
			"callboard sim worlds/cave.world --speed max --duration 1m",
			"callboard sim --robots 100 --listen 127.0.0.1:0",
			"callboard sim worlds/cave.world --shot cave.png",
		},
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:6665", Usage: "`HOST:PORT` of the first robot; port 0 takes free ones"},
			&cli.GenericFlag{Name: "speed", Value: pace, Usage: "`X` times real time, or max (default what the world says, else 1)"},
			&cli.GenericFlag{Name: "robots", Value: robots, Usage: "a bundled world with `N` robots"},
			&cli.GenericFlag{Name: "duration", Value: duration, Usage: "end after this `TIME`, simulated"},
			&cli.Uint64Flag{Name: "seed", Usage: "`NUMBER` that all randomness comes from"},
			&cli.StringFlag{Name: "shot", Usage: "write a picture of the world to `FILE.png`, and end"},
		}, logFlags("info")),
		run: func(ctx context.Context, c *cli.Context) error {
			logger, err := p.logger(c)
			if err != nil {
				return err
			}
			file, err := p.worldArgument(c, robots.n)
			if err != nil {
				return err
			}
			if shot := c.String("shot"); shot != "" {
				world, err := sim.New(sim.Config{World: file, Seed: c.Uint64("seed")})
				if err != nil {
					return err
				}
				return shoot(world, shot)
			}
			s, err := newSimulation(simulationConfig{
				file: file, seed: c.Uint64("seed"), listen: c.String("listen"), logger: logger,
				driver: simdriver.Config{Speed: pace.of(file.Speed), Duration: duration.duration},
			})
			if err != nil {
				return err
			}
			s.ports.print(p.stdout)
			return s.run(ctx)
		},
	}
}

// worldArgument loads the world that FILE or --robots names.
func (p *program) worldArgument(c *cli.Context, robots int) (*worldfile.World, error) {
	args, err := arguments(c, 0, 1, "")
	switch {
	case err != nil:
		return nil, err
	case len(args) == 1 && robots > 0:
		return nil, usagef("FILE and --robots contradict each other; give either")
	case len(args) == 1:
		return p.loadWorld(openFile, args[0])
	case robots > 0:
		return p.swarm(robots)
	}
	return nil, usagef("FILE.world missing, or --robots N for a bundled world")
}

// loadWorld reads a world; warnings are told, errors are the error.
func (p *program) loadWorld(open worldfile.Open, name string) (*worldfile.World, error) {
	world, problems := worldfile.Load(open, name)
	if err := p.worldProblems(problems); err != nil {
		return nil, err
	}
	return world, nil
}
