package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

func playerServer() Workload {
	return Workload{
		Name: "player", Summary: "Player's protocol: servers under load, sessions, the codec",
		About: `Measures this program as a Player server and as a client. The server is a process
of its own that gives laser scans of 361 beams with intensities (1,884 bytes);
its processor time is measured, not that of who reads. With --real the same is
measured of a real Player server (driver dummy), in the same run.

  push        CLIENTS clients in PUSH at RATE scans/s
  saturation  twice as many clients, at more scans than can be served; starved
              are those that got less than half of the mean
  pull        one reader in PULL that does as stock programs do, 100 scans/s
  client      this program's client in PULL, 100 scans/s
  sessions    SESSIONS sessions of this program's client at 10 scans/s each, all
              in this process, whose processor time is measured
  gateway     readings of several sizes from a robot's server through the gateway
              to a program, all in this process: bytes allocated and processor time
              of each
  codec       a scan decoded and encoded, as a multiple of a loop written by hand

On a busy machine run it with precedence: chrt -f 10 callboard bench player.`,
		Examples: []string{
			"callboard bench player",
			"callboard bench player --real ./player.sh --duration 5s --json",
		},
		Parameters: []Parameter{
			{"duration", "`TIME` that each case is measured", 3 * time.Second},
			{"clients", "`N` of clients in case push", 50},
			{"rate", "`N` scans a second in case push", 1000},
			{"sessions", "`N` of sessions", 1000},
			{"real", "`PROGRAM` that starts a real Player server: it is called with a port of\n127.0.0.1 and a configuration file, as in exec player -p $1 $2", ""},
			{"serve", "serve `N` scans a second instead, until the input ends: the process that is\nmeasured (0: measure)", 0},
		},
		Run: runPlayer,
	}
}

func runPlayer(ctx context.Context, v Values, report func(Result)) error {
	if rate := v.Int("serve"); rate > 0 {
		return serveScans(ctx, rate)
	}
	b := &playerBench{v: v, report: report, subjects: []subject{{"callboard", startOwn}}}
	if program := v.Text("real"); program != "" {
		b.subjects = append(b.subjects, subject{"real", func(ctx context.Context, rate int) (*scanServer, error) {
			return startReal(ctx, program, rate)
		}})
	}
	for _, run := range []func(context.Context, subject) error{b.push, b.saturation, b.pull, b.client} {
		for _, s := range b.subjects {
			if err := run(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	if err := b.sessions(ctx); err != nil {
		return err
	}
	if err := b.gateway(ctx); err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return b.codec()
}

// subject is a Player server that is measured.
type subject struct {
	name  string
	start func(ctx context.Context, rate int) (*scanServer, error)
}

type playerBench struct {
	v        Values
	report   func(Result)
	subjects []subject
}

func (b *playerBench) tell(c, metric string, value float64, unit string) {
	b.report(Result{Case: c, Metric: metric, Value: value, Unit: unit})
}

// with starts a server and its readers, and measures for the duration.
func (b *playerBench) with(ctx context.Context, s subject, rate, readers int, mode uint8) (served, error) {
	server, err := s.start(ctx, rate)
	if err != nil {
		return served{}, err
	}
	l, err := measure(ctx, server, readers, mode, b.v.Duration("duration"))
	return l, errors.Join(err, server.stop())
}

func (b *playerBench) push(ctx context.Context, s subject) error {
	clients, rate := b.v.Int("clients"), b.v.Int("rate")
	l, err := b.with(ctx, s, rate, clients, pushMode)
	if err != nil {
		return err
	}
	name := "push/" + s.name
	b.tell(name, "messages", l.rate, "1/s")
	b.tell(name, "cpu", 100*l.cpu, "%")
	b.tell(name, "cpu per 1000 messages", 1e6*l.cpu/l.rate, "ms")
	return nil
}

func (b *playerBench) saturation(ctx context.Context, s subject) error {
	clients := 2 * b.v.Int("clients")
	l, err := b.with(ctx, s, saturating, clients, pushMode)
	if err != nil {
		return err
	}
	name := "saturation/" + s.name
	b.tell(name, "messages", l.rate, "1/s")
	b.tell(name, "cpu", 100*l.cpu, "%")
	b.tell(name, "least of a client", l.least, "1/s")
	b.tell(name, "starved", float64(l.starved), "clients")
	return nil
}

func (b *playerBench) pull(ctx context.Context, s subject) error {
	l, err := b.with(ctx, s, 100, 1, pullMode)
	if err != nil {
		return err
	}
	b.tell("pull/"+s.name, "messages", l.rate, "1/s")
	b.tell("pull/"+s.name, "rounds", l.rounds, "1/s")
	return nil
}

func (b *playerBench) client(ctx context.Context, s subject) error {
	server, err := s.start(ctx, 100)
	if err != nil {
		return err
	}
	rate, rounds, err := pullSession(ctx, server.address, b.v.Duration("duration"))
	b.tell("client/"+s.name, "messages", rate, "1/s")
	b.tell("client/"+s.name, "rounds", rounds, "1/s")
	return errors.Join(err, server.stop())
}

func (b *playerBench) sessions(ctx context.Context) error {
	server, err := startOwn(ctx, 10)
	if err != nil {
		return err
	}
	n := b.v.Int("sessions")
	runtime.GC()
	rate, cpu, err := manySessions(ctx, server.address, n, b.v.Duration("duration"))
	b.tell("sessions", "sessions", float64(n), "")
	b.tell("sessions", "messages", rate, "1/s")
	b.tell("sessions", "cpu", 100*cpu, "%")
	return errors.Join(err, server.stop())
}
