package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"callboard/bridge/config"
	"callboard/bridge/record"
	"callboard/player/run"

	"github.com/urfave/cli/v2"
)

func (p *program) record() command {
	duration, rotateTime, rotateSize, timeout := seconds(), seconds(), byteCount(), seconds()
	timeout.v, timeout.text = 5*time.Second, "5"
	return command{
		name: "record", summary: "record what Player servers or a broker send",
		about: `Records what Player servers (--player, --player-cfg) or a broker (--broker) send:
into a Player log (.log), which real readlog replays, or into MCAP (.mcap), which
keeps every reading to the bit and which Foxglove and Lichtblick draw. Give -o.
Robots' names, the devices with their geometry, and losses are kept in both. A
log has three decimals; conditions may see that, in MCAP they do not.

The world goes with the run: from the Player configuration, or named by --world.
It is in the MCAP file; beside lab.log it is lab.world.zip.

With --rotate-size or --rotate-time the recording goes on in lab-2.log, lab-3.log
and so on, of which each can be read by itself. A crash takes at most the last
quarter of a second. Prints a line for each file that is complete.`,
		examples: []string{
			"callboard record -o lab.log --player r0=localhost:6665",
			"callboard record -o lab.mcap --player-cfg worlds/cave.cfg --duration 10m",
			"callboard record -o lab.mcap --player localhost:6665 --device laser --device 'position*'",
			"callboard record -o lab.mcap --broker ws://127.0.0.1:8800/ws --rotate-size 1GB",
		},
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "`FILE` to write, .log or .mcap"},
			repeated("player", "a Player server to record, `[NAME=]HOST:PORT` (repeat); NAME is the robot's (default port-PORT)"),
			repeated("player-cfg", "a Player configuration `FILE.cfg` whose robots to record (repeat), named as\ntheir Stage models"),
		}, recordBrokerFlags(), []cli.Flag{
			repeated("device", "`PATTERN` of devices to record, as laser or ranger:0 (repeat; default all that send data)"),
			&cli.StringFlag{Name: "world", Usage: "world `FILE` to keep with the run (default that of --player-cfg)"},
			&cli.GenericFlag{Name: "timeout", Value: timeout, Usage: "end with 1 if no Player server answers within this `TIME`"},
			&cli.GenericFlag{Name: "duration", Value: duration, Usage: "end after this `TIME`"},
			&cli.GenericFlag{Name: "rotate-size", Value: rotateSize, Usage: "begin a new file after this `SIZE`, as 100MB"},
			&cli.GenericFlag{Name: "rotate-time", Value: rotateTime, Usage: "begin a new file after this `TIME`"},
			&cli.BoolFlag{Name: "plain", Usage: "MCAP without the messages that are only there to be drawn"},
		}, logFlags("warn")),
		run: func(ctx context.Context, c *cli.Context) error {
			_, logger, err := p.begin(c, 0, 0, "")
			if err != nil {
				return err
			}
			if c.String("o") == "" {
				return usagef("-o FILE missing, expected the file to write, as lab.log or lab.mcap")
			}
			devices := textsOf(c, "device")
			for _, pattern := range devices {
				if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
					return usagef("--device %q is no pattern, expected a name in which * and ? stand for any", pattern)
				}
			}
			r := record.Config{
				Output: c.String("o"), Plain: c.Bool("plain"), Logger: logger,
				Duration: duration.v, RotateTime: rotateTime.v, RotateSize: rotateSize.v,
				Closed: p.recorded, Answer: timeout.v,
			}
			if err := p.recordFrom(ctx, c, &r, devices); err != nil {
				return err
			}
			world, err := p.recordedWorld(c.String("world"), textsOf(c, "player-cfg"))
			if err != nil {
				return err
			}
			r.World = cmp.Or(world, r.World)
			recorder, err := record.New(r)
			if err != nil {
				return err
			}
			stop := p.showProgress(recorder)
			err = recorder.Run(ctx)
			stop()
			if errors.Is(err, record.ErrNoAnswer) {
				return fmt.Errorf("%w at %s; is one running there? (callboard sim, or player FILE.cfg)", err, addresses(r.Servers))
			}
			p.sumUp(recorder.Status())
			return err
		},
	}
}

// recordFrom fills in where the recording comes from.
func (p *program) recordFrom(ctx context.Context, c *cli.Context, r *record.Config, devices []string) error {
	players, err := playerFlags(c)
	if err != nil {
		return err
	}
	switch {
	case len(players) > 0 && c.IsSet("broker"):
		return usagef("--player and --broker contradict each other; give either")
	case c.IsSet("broker"):
		return p.recordBroker(ctx, c, r, devices)
	case len(players) == 0:
		return usagef("nothing to record, expected --player NAME=HOST:PORT, --player-cfg FILE or --broker URL")
	}
	settings, err := p.configuration(c, func(s *config.Config) { s.Players = append(s.Players, players...) })
	if err != nil {
		return err
	}
	for _, player := range settings.Players {
		r.Servers = append(r.Servers, record.Server{
			Address: player.Address, Robot: player.Robot, Robots: player.Robots, World: player.World, Devices: devices,
		})
	}
	return nil
}

// addresses lists where Player servers are.
func addresses(servers []record.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.Address)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ", ")
}

// recorded prints a file that is complete.
func (p *program) recorded(part record.Part) {
	p.clearLine() // of progress, which goes on below
	fmt.Fprintf(p.stdout, "%s %d messages %s\n", part.Name, part.Messages, size(uint64(part.Bytes)))
}

// sumUp prints what is missing in the recording.
func (p *program) sumUp(s record.Status) {
	for _, missing := range []struct {
		n    uint64
		what string
	}{
		{s.Dropped, "were dropped: the disk was too slow"},
		{s.Unwritable, "were left out: a Player log cannot hold them (an .mcap file can)"},
		{s.Lost, "were lost before they came"},
	} {
		if missing.n > 0 {
			fmt.Fprintf(p.stderr, "callboard record: %s %s\n", plural(int(missing.n), "message"), missing.what)
		}
	}
}

// progressEvery is how often progress is shown.
const progressEvery = 500 * time.Millisecond

// showProgress shows on a terminal how a recording goes, until it is stopped.
func (p *program) showProgress(r *record.Recorder) (stop func()) {
	begun := time.Now()
	before, at := r.Status(), begun
	return p.statusLine(progressEvery, func(now time.Time) string {
		s := r.Status()
		rate := float64(s.Messages-before.Messages) / now.Sub(at).Seconds()
		before, at = s, now
		return progressLine(s, rate, now.Sub(begun))
	})
}

// progressLine is how a recording goes, in one line.
func progressLine(s record.Status, rate float64, elapsed time.Duration) string {
	line := fmt.Sprintf("%s  %s  %d messages  %.0f/s  %s  %d of %s up",
		s.Name, size(uint64(s.Bytes)), s.Messages, rate, elapsed.Truncate(time.Second), s.Up, plural(s.Robots, "robot"))
	if s.Dropped > 0 {
		line += fmt.Sprintf("  %d DROPPED (slow disk)", s.Dropped)
	}
	if s.Lost > 0 {
		line += fmt.Sprintf("  %d lost", s.Lost)
	}
	return line
}

// recordedWorld collects the world that goes with the run.
func (p *program) recordedWorld(file string, cfgs []string) (*run.World, error) {
	if file == "" && len(cfgs) == 0 {
		return nil, nil
	}
	w, err := collectWorld(file, cfgs)
	if err != nil {
		return nil, fmt.Errorf("collecting the world: %w", err)
	}
	return w, nil
}
