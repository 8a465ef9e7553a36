package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/clients/web"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

// defaultListen is where a broker listens unless told otherwise.
const defaultListen = "127.0.0.1:8800"

func (p *program) demo() command {
	robots := &count{}
	return command{
		name: "demo", summary: "the whole thing in one process: robots, a broker, the page",
		about: `Simulates robots that drive about in a bundled world, serves them with Player's
protocol on loopback, reads them with a broker, and shows all on a page. Prints
the page's address and a line that watches the robots from another terminal.
Taken ports are replaced by free ones. What it keeps is temporary.`,
		examples: []string{
			"callboard demo",
			"callboard demo --robots 20 --listen 127.0.0.1:0",
			"callboard demo --world worlds/office.world",
		},
		flags: slices.Concat([]cli.Flag{
			configFlag(),
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` for the page and programs (default " + defaultListen + ")"},
			&cli.GenericFlag{Name: "robots", Value: robots, Usage: "a bundled world with `N` robots"},
			&cli.StringFlag{Name: "world", Usage: "world `FILE` to take instead"},
		}, logFlags("warn")),
		run: func(ctx context.Context, c *cli.Context) error {
			if _, err := arguments(c, 0, 0, ""); err != nil {
				return err
			}
			logger, err := p.logger(c)
			if err != nil {
				return err
			}
			file, err := p.demoWorld(c.String("world"), robots.n)
			if err != nil {
				return err
			}
			data, err := os.MkdirTemp("", "callboard-demo-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(data)
			s, err := newSimulation(simulationConfig{
				file: file, listen: "127.0.0.1:6665", other: true, logger: logger,
				driver: simdriver.Config{Speed: 1, Wander: true},
			})
			if err != nil {
				return err
			}
			b, err := p.demoBroker(c, s, data, logger)
			if err != nil {
				s.close()
				return err
			}
			p.announce(b, s)
			group, ctx := errgroup.WithContext(ctx)
			group.Go(func() error { return s.run(ctx) })
			group.Go(func() error { return b.Run(ctx) })
			return group.Wait()
		},
	}
}

// demoWorld is the world that the flags ask for.
func (p *program) demoWorld(file string, robots int) (*worldfile.World, error) {
	switch {
	case file != "" && robots > 0:
		return nil, usagef("--world and --robots contradict each other; give either")
	case file != "":
		return p.loadWorld(openFile, file)
	}
	return p.bundledWorld(robots)
}

// demoBroker makes a broker that reads the simulation. A taken port is
// replaced, unless it was asked for with a configuration.
func (p *program) demoBroker(c *cli.Context, s *simulation, data string, logger *slog.Logger) (*bridge.Bridge, error) {
	name := strings.TrimSuffix(filepath.Base(s.file.File), ".world")
	plan, err := newFloorPlan(name, s.world)
	if err != nil {
		return nil, fmt.Errorf("drawing the floor plan: %w", err)
	}
	settings, err := p.configuration(c, func(settings *config.Config) {
		if settings.Broker.ID == "" {
			settings.Broker.ID = "demo"
		}
		settings.Broker.Data = data
		settings.Players = append(settings.Players, s.players(name)...)
	})
	if err != nil {
		return nil, err
	}
	make := func() (*bridge.Bridge, error) {
		return bridge.New(bridge.Config{
			Config: settings, Page: web.FS(), Logger: logger,
			World: func(asked string) ([]byte, bool) { return plan, asked == name },
		})
	}
	b, err := make()
	if isTaken(err) {
		host, _, _ := net.SplitHostPort(settings.Broker.Listen)
		settings.Broker.Listen = net.JoinHostPort(host, "0")
		b, err = make()
	}
	return b, err
}

// players are the simulation's ports as a broker reads them.
func (s *simulation) players(world string) []config.Player {
	var players []config.Player
	for _, port := range s.ports {
		player := config.Player{Address: port.address, World: world}
		if len(port.robots) == 1 {
			player.Robot = port.robots[0]
		} else {
			player.Robots = port.devices
		}
		players = append(players, player)
	}
	return players
}

// announce prints where everything is, and what to do next.
func (p *program) announce(b *bridge.Bridge, s *simulation) {
	fmt.Fprintln(p.stdout, b.URL())
	s.print(p.stdout)
	watch := p.commandName() + " watch 'laser.min < 1'"
	if b.WebSocketURL() != defaultBroker {
		watch += " --broker " + b.WebSocketURL()
	}
	n := 0
	for _, port := range s.ports {
		n += len(port.robots)
	}
	p.say(p.stderr, "%s drive about in %s. Open the address above in a browser, or watch them from another terminal:", plural(n, "robot"), s.file.Name)
	fmt.Fprintln(p.stdout, watch)
}

// say prints a line for people.
func (p *program) say(w io.Writer, format string, values ...any) {
	fmt.Fprintf(w, format+"\n", values...)
}

// commandName is how to call this program from the same place.
func (p *program) commandName() string {
	if !strings.ContainsRune(p.name, filepath.Separator) {
		return p.name
	}
	if found, err := exec.LookPath("callboard"); err == nil && sameFile(found, p.name) {
		return "callboard"
	}
	return p.name
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// isTaken says that an address is in use.
func isTaken(err error) bool { return errors.Is(err, errInUse) }
