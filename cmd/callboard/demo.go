package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"callboard/bridge/config"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
	"callboard/worlds"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

const (
	// defaultListen is where a broker listens unless told otherwise.
	defaultListen = "127.0.0.1:8800"
	// roamBrokers is how many brokers programs roam among unless told otherwise.
	roamBrokers = 6
	maxBrokers  = 64
)

func (p *program) demo() command {
	robots, brokers, every := count(), count(), seconds()
	return command{
		name: "demo", summary: "the whole thing in one process: robots, a broker, the page",
		about: `Simulates robots that drive about in a bundled world, serves them with Player's
protocol on loopback, reads them with a broker, and shows all on a page. Prints
the page's address and a line that watches the robots from another terminal.
Taken ports are replaced by free ones. What it keeps is temporary.

With --brokers each of several linked brokers reads a share of the robots. With
--roam each covers a part of the floor too, and each robot has a program: it
steers its robot by what the robot sees, over the network, and as the robot
comes into the next broker's coverage the program hands over to that one. A
running count tells how many notifications the programs got, how many were lost
or came twice, and how long hand-overs took; it ends with 1 if any was.

With --adhoc each robot carries a broker, which reads it, and a program there that
subscribes to all other robots. Brokers find each other by beacons, which reach as
far as --range, the less often the farther; with --sight walls stop them. Links
come and go as the robots wander. What is for a robot in another island waits until
the islands meet; the page shows who waits for whom.

With --standby the broker has two sides, each a process of its own, and a third one
is their witness. The active side is killed each --every, the other goes on, and a
line tells what programs saw: how long until each had the next reading, and how many
were lost or came twice. It ends with 1 if any was.`,
		examples: []string{
			"callboard demo",
			"callboard demo --robots 20 --listen 127.0.0.1:0",
			"callboard demo --world worlds/office.world",
			"callboard demo --brokers 6 --roam",
			"callboard demo --adhoc --robots 12 --range 5",
			"callboard demo --standby",
		},
		flags: slices.Concat([]cli.Flag{
			configFlag(),
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` for the page and programs, the next ports for further brokers (default " + defaultListen + ")"},
			&cli.GenericFlag{Name: "robots", Value: robots, Usage: "a bundled world with `N` robots"},
			&cli.StringFlag{Name: "world", Usage: "world `FILE` to take instead, in real time and without end, whatever it says"},
			&cli.GenericFlag{Name: "brokers", Value: brokers, Usage: "`N` brokers that are linked with each other (default 1, with --roam 6)"},
			&cli.StringFlag{Name: "registry", Usage: "where the brokers have their registry, a `MODE`: one (of them, the default), or every"},
			&cli.BoolFlag{Name: "roam", Usage: "robots' programs hand over between brokers as their robots drive through the\nbrokers' coverage"},
			&cli.BoolFlag{Name: "adhoc", Usage: "each robot carries a broker; they find each other by beacons"},
			&cli.Float64Flag{Name: "range", Usage: "how far beacons and links reach, in `METRES`", Value: adhocRange},
			&cli.BoolFlag{Name: "sight", Usage: "and only where no wall is between"},
			&cli.BoolFlag{Name: "standby", Usage: "the broker has two sides; the active one is killed again and again"},
			&cli.GenericFlag{Name: "every", Value: every, Usage: "kill it each `TIME` (default 10 s)"},
		}, logFlags("warn")),
		run: func(ctx context.Context, c *cli.Context) error {
			if _, err := arguments(c, 0, 0, ""); err != nil {
				return err
			}
			d := demo{p: p, c: c, brokers: brokers.v, robots: robots.v, roam: c.Bool("roam"), adhoc: c.Bool("adhoc"), registry: c.String("registry"), standby: c.Bool("standby"), every: every.v}
			if err := d.check(); err != nil {
				return err
			}
			return d.run(ctx)
		},
	}
}

// demo is a run of the command.
type demo struct {
	p        *program
	c        *cli.Context
	brokers  int
	robots   int // 0: as the world has
	roam     bool
	adhoc    bool
	standby  bool
	every    time.Duration // of standby: the active side is killed; 0: the default
	field    *field        // of adhoc
	registry string        // the mode; "": the default
	logger   *slog.Logger
}

// check completes what the flags say, and refuses what contradicts itself.
func (d *demo) check() (err error) {
	if d.logger, err = d.p.logger(d.c); err != nil {
		return err
	}
	if d.adhoc || d.c.IsSet("range") || d.c.IsSet("sight") {
		if err := d.checkAdhoc(); err != nil {
			return err
		}
	}
	if err := d.checkStandby(); err != nil {
		return err
	}
	if d.brokers == 0 {
		d.brokers = 1
		if d.roam {
			d.brokers = roamBrokers
		}
	}
	switch {
	case d.c.String("world") != "" && d.robots > 0:
		return usagef("--world and --robots contradict each other; give either")
	case d.brokers > maxBrokers:
		return usagef("--brokers %d: the demo runs %d at most", d.brokers, maxBrokers)
	case d.registry != "" && d.registry != config.RegistryOne && d.registry != config.RegistryEvery:
		return usagef("--registry %s: expected %s or %s", d.registry, config.RegistryOne, config.RegistryEvery)
	case d.registry != "" && d.brokers < 2:
		return usagef("--registry is of several brokers; give --brokers 2 or more")
	case d.roam && d.brokers < 2:
		return usagef("--roam needs more than one broker to roam among; give --brokers 2 or more")
	case d.roam && d.robots > worlds.MaxPatrols():
		return usagef("--robots %d: there is room for %d on the patrol of --roam", d.robots, worlds.MaxPatrols())
	}
	return nil
}

func (d *demo) run(ctx context.Context) error {
	file, patrols, err := d.world()
	if err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "callboard-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	if d.adhoc {
		if d.brokers = carriers(file); d.brokers > maxBrokers {
			return usagef("%s has %d robots; with --adhoc each carries a broker, and the demo runs %d at most", file.File, d.brokers, maxBrokers)
		}
	}
	s, err := newSimulation(simulationConfig{
		file: file, listen: "127.0.0.1:6665", other: true, logger: d.logger,
		driver: simdriver.Config{Speed: 1, Wander: !patrols},
	})
	if err != nil {
		return err
	}
	if d.standby {
		return d.runStandby(ctx, s, data)
	}
	if d.adhoc {
		d.field = newField(s, d.c.Float64("range"), d.c.Bool("sight"))
	}
	n, err := d.cluster(s, data)
	if err != nil {
		return errors.Join(err, s.ports.close())
	}
	d.announce(n, s)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error { return s.run(running) })
	group.Go(func() error { return n.run(running) })
	if d.roam {
		group.Go(func() error { return n.roam(running, d.p, patrols) })
	}
	if d.adhoc {
		d.field.n = n
		group.Go(func() error { return d.field.run(running) })
	}
	err = group.Wait()
	if d.roam {
		return errors.Join(err, d.p.summary(n))
	}
	return err
}

// world is the world that the flags ask for; patrols reports whether its robots
// are on rounds that their programs know.
func (d *demo) world() (file *worldfile.World, patrols bool, err error) {
	if name := d.c.String("world"); name != "" {
		file, err = d.p.loadWorld(openFile, name)
		return file, false, err
	}
	if !d.roam {
		file, err = d.p.bundledWorld(d.robots)
		return file, false, err
	}
	robots := d.robots
	if robots == 0 {
		robots = min(d.brokers, worlds.MaxPatrols())
	}
	file, err = d.p.loadWorld(worlds.Patrol(robots))
	return file, true, err
}

// players are some of the simulation's ports as a broker reads them: of n
// brokers the i-th.
func (s *simulation) players(world string, i, n int) []config.Player {
	var some playerServers
	for k, port := range s.ports {
		if k%n == i {
			some = append(some, port)
		}
	}
	return some.players(world)
}

// players are the servers as a broker reads them.
func (s playerServers) players(world string) []config.Player {
	var players []config.Player
	for _, port := range s {
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
func (d *demo) announce(n *cluster, s *simulation) {
	p := d.p
	for _, b := range n.brokers {
		fmt.Fprintln(p.stdout, b.URL())
	}
	s.ports.print(p.stdout)
	for _, b := range n.brokers {
		printGateway(p.stdout, b)
	}
	watch := p.commandName() + " watch 'laser.min < 1'"
	if url := n.brokers[0].WebSocketURL(); url != defaultBroker {
		watch += " --broker " + url
	}
	robots := 0
	for _, port := range s.ports {
		robots += len(port.robots)
	}
	switch {
	case d.roam:
		p.say(p.stderr, "%s drive through the coverage of %s in %s; their programs hand over. Open an address above in a browser, or watch them from another terminal:",
			plural(robots, "robot"), plural(len(n.brokers), "broker"), s.file.Name)
	case d.adhoc:
		p.say(p.stderr, "%s wander about in %s, each with a broker. Links reach %g m. Open an address above in a browser, or watch them from another terminal:",
			plural(robots, "robot"), s.file.Name, d.c.Float64("range"))
	case len(n.brokers) > 1:
		p.say(p.stderr, "%s drive about in %s, read by %s. Open an address above in a browser, or watch them from another terminal:",
			plural(robots, "robot"), s.file.Name, plural(len(n.brokers), "broker"))
	default:
		p.say(p.stderr, "%s drive about in %s. Open the address above in a browser, or watch them from another terminal:", plural(robots, "robot"), s.file.Name)
	}
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

// isTaken reports whether an address is in use.
func isTaken(err error) bool { return errors.Is(err, errInUse) }
