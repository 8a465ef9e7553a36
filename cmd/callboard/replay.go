package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"callboard/player/floorplan"
	"callboard/player/listener"
	"callboard/player/replay"
	"callboard/player/run"
	"callboard/player/server"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"
)

func (p *program) replay() command {
	pace, from, to := speed(), point(), point()
	return command{
		name: "replay", summary: "a recorded run as Player servers", args: "FILE…",
		about: `Serves recorded runs (Player logs, also gzipped, and MCAP) with Player's protocol
as Player's own reader of logs does: a port for each Player server of the
recording, with its number unless --listen says another, and the geometry that
was recorded. It begins when the first device is opened, and goes on serving
after the end; when all are closed and one is opened again it begins anew.
Clients play, pause and rewind it by the device log:0 of any port. Several files
are one time line. NAME=FILE gives the robot of a file another name (several:
NAME- before theirs). Prints a line for each port once it serves there. With --from
what comes before it is read, too, so that a late part of a large file begins later.`,
		examples: []string{
			"callboard replay run.log",
			"callboard replay run.log --listen 127.0.0.1:0 --speed max",
			"callboard replay run.mcap --from 20 --to 1m30s --loop",
			"callboard replay a=monday.log b=tuesday.log.gz --listen 127.0.0.1:6665",
		},
		flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` of the first Player server; port 0 takes free ones (default 127.0.0.1\nand the ports of the recording)"},
			&cli.GenericFlag{Name: "speed", Value: pace, Usage: "`X` times the recording's, or max: as fast as the slowest client takes it (default 1)"},
			&cli.GenericFlag{Name: "from", Value: from, Usage: "begin at this `TIME` of the run, or @T: when its clock shows T"},
			&cli.GenericFlag{Name: "to", Value: to, Usage: "end at this `TIME` of the run, or @T"},
			&cli.BoolFlag{Name: "loop", Usage: "begin again at the end"},
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
				Sources: sources, Speed: pace.or(1), From: from.v, To: to.v, Loop: c.Bool("loop"), Logger: logger,
			})
			if err != nil {
				return err
			}
			servers, err := replayServers(r, runMaps(sources, logger), c.String("listen"), logger)
			if err != nil {
				return err
			}
			servers.print(p.stdout)
			stop := p.replayProgress(r, servers)
			defer stop()
			return servers.run(ctx, r)
		},
	}
}

// openRuns opens recorded runs and looks at what is in them.
func (p *program) openRuns(ctx context.Context, args []string) ([]replay.Source, error) {
	var sources []replay.Source
	for _, arg := range args {
		name, path := namedFile(arg)
		file, err := run.Open(path)
		if err != nil {
			return sources, fileError(path, err)
		}
		file.Until(ctx)
		sources = append(sources, replay.Source{File: file, Name: name})
		survey, err := p.survey(ctx, file)
		if err != nil {
			return sources, err
		}
		if len(survey.Robots) == 0 {
			return sources, fmt.Errorf("%s holds no messages; expected a Player log or an MCAP file that callboard recorded (callboard check %s tells what is wrong with it)", path, path)
		}
		sources[len(sources)-1].Survey = survey
		for _, topic := range file.Objects() {
			fmt.Fprintf(p.stderr, "callboard replay: %s: warning: %s\n", path, objectsOnly(topic))
		}
	}
	return sources, nil
}

// objectsOnly words that the messages of a device cannot be served.
func objectsOnly(topic string) string {
	return fmt.Sprintf("the readings on %s are only there as a broker told them: they can be looked at, but neither replayed nor queried", topic)
}

func closeRuns(sources []replay.Source) {
	for _, s := range sources {
		s.File.Close()
	}
}

// namedFile takes NAME=FILE apart; a file of that whole name goes first.
func namedFile(arg string) (name, path string) {
	before, after, found := strings.Cut(arg, "=")
	if _, err := os.Stat(arg); err == nil || !found || before == "" || after == "" {
		return "", arg
	}
	return before, after
}

// fileError words that a file cannot be opened.
func fileError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %s", path, noFile(path, err))
	}
	if info, is := os.Stat(path); is == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory; expected a Player log or an MCAP file that callboard recorded", path)
	}
	return err
}

// survey finds out what is in a recorded run; that takes its time with a large
// one, so people are told.
func (p *program) survey(ctx context.Context, file *run.File) (*run.Survey, error) {
	tell := func(int64) {}
	if p.terminal(p.stderr) {
		begun := time.Now()
		tell = func(offset int64) {
			if time.Since(begun) > time.Second {
				fmt.Fprintf(p.stderr, "\r\x1b[Klooking at %s: %s", file.Name(), megabytes(offset))
			}
		}
		defer fmt.Fprint(p.stderr, "\r\x1b[K")
	}
	return file.Survey(ctx, tell)
}

func megabytes(n int64) string { return fmt.Sprintf("%.0f MB", float64(n)/1e6) }

// playerServers are Player servers and the robots behind them.
type playerServers []robotPort

// replayServers makes a Player server for each of the recording.
func replayServers(r *replay.Replay, maps []*floorplan.Driver, listen string, logger *slog.Logger) (playerServers, error) {
	var servers playerServers
	if listen == "" {
		if err := samePorts(r); err != nil {
			return nil, err
		}
	}
	limit := listener.New(listener.Limits{})
	for i, port := range r.Ports() {
		socket, err := listenRecorded(listen, i, port.Recorded)
		if err != nil {
			return nil, errors.Join(err, servers.close())
		}
		made, err := server.New(server.Config{
			Listener: socket, Drivers: withMap(port, maps), Clock: port.Clock, Limit: limit, Logger: logger,
			WriteTimeout: replayWriteTimeout,
		})
		if err != nil {
			return nil, errors.Join(err, socket.Close(), servers.close())
		}
		servers = append(servers, robotPort{server: made, address: socket.Addr().String(), robots: port.Robots, devices: port.RobotDevices()})
	}
	return servers, nil
}

// replayWriteTimeout is how long a client may take no byte: with --speed max it
// then holds the replay back, which is told, and is not thrown out.
const replayWriteTimeout = time.Hour

// samePorts refuses two Player servers that had the same port, on different
// machines or in different files.
func samePorts(r *replay.Replay) error {
	seen := map[uint32]*replay.Port{}
	for _, p := range r.Ports() {
		if other := seen[p.Recorded]; other != nil {
			return fmt.Errorf("%s and %s were recorded from Player servers with the same port, %d; give them others with --listen HOST:PORT (from there up; port 0 takes free ones)",
				strings.Join(other.Robots, " "), strings.Join(p.Robots, " "), p.Recorded)
		}
		seen[p.Recorded] = p
	}
	return nil
}

// listenRecorded listens for the i-th Player server: where listen says, or on
// the port that it was recorded from.
func listenRecorded(listen string, i int, recorded uint32) (net.Listener, error) {
	if listen != "" {
		return listenNext(listen, i, false)
	}
	if recorded == 0 || recorded > math.MaxUint16 {
		return nil, fmt.Errorf("the recording has %d for a port; choose one with --listen HOST:PORT", recorded)
	}
	return listenNext(net.JoinHostPort("127.0.0.1", strconv.FormatUint(uint64(recorded), 10)), 0, false)
}

// run serves the recording until ctx ends.
func (s playerServers) run(ctx context.Context, r *replay.Replay) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, port := range s {
		group.Go(func() error { return port.server.Run(ctx) })
	}
	group.Go(func() error { return r.Run(ctx) })
	return group.Wait()
}

// close lets go of the ports of servers that are not run.
func (s playerServers) close() error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var errs []error
	for _, port := range s {
		errs = append(errs, port.server.Run(ended))
	}
	return errors.Join(errs...)
}

// print prints a line for each port.
func (s playerServers) print(w io.Writer) {
	for _, port := range s {
		fmt.Fprintf(w, "player://%s %s\n", port.address, strings.Join(port.robots, " "))
	}
}

// replayProgress shows on a terminal how a replay goes, until it is stopped.
func (p *program) replayProgress(r *replay.Replay, s playerServers) (stop func()) {
	before, at := r.Progress(), time.Now()
	return p.statusLine(progressEvery, func(now time.Time) string {
		after := r.Progress()
		pace := (after.At - before.At).Seconds() / now.Sub(at).Seconds()
		before, at = after, now
		clients := 0
		for _, port := range s {
			clients += port.server.Stats().Clients
		}
		return replayLine(after, pace, clients)
	})
}

// replayLine is how a replay goes, in one line.
func replayLine(at replay.Progress, pace float64, clients int) string {
	where := fmt.Sprintf("%s of %s", at.At.Round(100*time.Millisecond), at.Length.Round(100*time.Millisecond))
	how := "waits for a client to open a device"
	switch {
	case at.Ended:
		how = "at its end"
	case at.Started && !at.Playing:
		how = "paused"
	case at.Started:
		how = fmt.Sprintf("%.3g times as fast as recorded", max(0, pace))
	}
	return fmt.Sprintf("%s  %s  %s  %s", where, how, plural(int(at.Messages), "message"), plural(clients, "client"))
}
