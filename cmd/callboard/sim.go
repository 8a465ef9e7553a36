package main

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"

	"github.com/urfave/cli/v2"
)

func (p *program) sim() command {
	pace, duration, robots := speed(), seconds(), count()
	return command{
		name: "sim", summary: "the simulator as Player servers", args: "FILE.world|FILE.cfg",
		about: `Simulates a Stage world and serves its robots with Player's protocol. Of a
.world alone each position model at the top level has a port of its own, from
--listen upwards (above 256 robots: as many on one as it can serve, by index).
A Player configuration (.cfg) says itself which devices are on which ports, as
with Player's own server and Stage's plug-in; what cannot be served is told.
Prints a line for each port once it serves there. Without FILE, --robots N takes
a bundled world with a swarm.

Without a configuration each ranger is there a second time for programs that know
no rangers: as laser if it has one sensor, as sonar if it has several. Whoever
reads all devices of a robot leaves those out: brokers and record read the ranger.

With --wander robots drive about by themselves, away from walls and each other, by
what they see. One that a client commands is left to it until it has had no
command for 10 s.

Every port without a configuration has simulation:0, by which programs get and
set poses, pause, reset, and make a paused world go on by steps, and map:0, the
floor plan.`,
		examples: []string{
			"callboard sim worlds/cave.world",
			"callboard sim worlds/cave.world --speed max --duration 1m",
			"callboard sim worlds/cave.cfg",
			"callboard sim --robots 100 --listen 127.0.0.1:0",
			"callboard sim worlds/cave.world --wander",
			"callboard sim worlds/cave.world --shot cave.png",
		},
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:6665", Usage: "`HOST:PORT` of the first robot, or of devices without a port in a .cfg; port 0 takes free ones"},
			&cli.GenericFlag{Name: "speed", Value: pace, Usage: "`X` times real time, or max (default what the world says, else 1)"},
			&cli.GenericFlag{Name: "robots", Value: robots, Usage: "a bundled world with `N` robots"},
			&cli.GenericFlag{Name: "duration", Value: duration, Usage: "end after this `TIME`, simulated; 0: never (default what the world says, else never)"},
			&cli.BoolFlag{Name: "wander", Usage: "robots that no client commands drive about by themselves"},
			&cli.BoolFlag{Name: "paused", Usage: "begin with a pause, which a client of simulation:0 ends"},
			&cli.Uint64Flag{Name: "seed", Usage: "`NUMBER` that all randomness comes from"},
			&cli.StringFlag{Name: "shot", Usage: "write a picture of the world to `FILE.png`, and end"},
		}, logFlags("info")),
		run: func(ctx context.Context, c *cli.Context) error {
			logger, err := p.logger(c)
			if err != nil {
				return err
			}
			file, plan, err := p.worldArgument(c, robots.v)
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
				file: file, player: plan, seed: c.Uint64("seed"), listen: c.String("listen"), plan: true, logger: logger,
				driver: simdriver.Config{
					Speed: pace.or(file.Speed), Duration: lasting(duration, file), Wander: c.Bool("wander"), Paused: c.Bool("paused"), Seed: c.Uint64("seed"),
				},
			})
			if err != nil {
				return err
			}
			s.ports.print(p.stdout)
			err = p.simulate(ctx, s)
			if err == nil && ctx.Err() == nil && !duration.set {
				logger.Info("the simulation is over: quit_time of its world has come; --duration 0 goes on without end", "world", file.File, "simulated", s.lasts)
			}
			return err
		},
	}
}

// simulate runs a simulation. It shows people how far one is that ends, or runs as
// fast as it can.
func (p *program) simulate(ctx context.Context, s *simulation) error {
	if s.lasts > 0 || s.speed == 0 {
		done := p.progress("simulating", true, func(took time.Duration) string {
			return simulatedText(time.Duration(s.driver.Clock()*float64(time.Second)), s.lasts, took)
		})
		defer done()
	}
	return s.run(ctx)
}

// lasting is how long a simulation lasts: what was asked for, else the world's
// quit_time, 0 for ever.
func lasting(asked *flagValue[time.Duration], file *worldfile.World) time.Duration {
	if asked.set {
		return asked.v
	}
	return file.QuitTime
}

// worldArgument loads the world that FILE or --robots names, and the plan if
// FILE is a Player configuration.
func (p *program) worldArgument(c *cli.Context, robots int) (*worldfile.World, *playerPlan, error) {
	args, err := arguments(c, 0, 1, "")
	var file *worldfile.World
	switch {
	case err != nil:
		return nil, nil, err
	case len(args) == 1 && robots > 0:
		return nil, nil, usagef("FILE and --robots contradict each other; give either")
	case len(args) == 1 && filepath.Ext(args[0]) == ".cfg":
		return p.loadPlayerPlan(args[0], c.String("listen"))
	case len(args) == 1:
		file, err = p.loadWorld(openFile, args[0])
	case robots > 0:
		file, err = p.swarm(robots)
	default:
		return nil, nil, usagef("FILE.world missing, or --robots N for a bundled world")
	}
	return file, nil, err
}

// loadWorld reads a world; warnings are told, errors are the error.
func (p *program) loadWorld(open worldfile.Open, name string) (*worldfile.World, error) {
	p.reading.Store(true)
	defer p.reading.Store(false)
	world, problems := worldfile.Load(open, name)
	if err := p.problems(problems); err != nil {
		return nil, err
	}
	return world, nil
}
