package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"callboard/cmd/callboard/bench/twins"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

const (
	pairBeats   = 50 * time.Millisecond // T: processors here have much else to do
	killEach    = 10 * time.Second      // the active side, unless told otherwise
	awayFor     = 2 * time.Second       // before a killed side is started again
	pairProgram = 4                     // programs that count what they get
	goesOnTime  = 30 * time.Second      // within which the other side goes on, and the pair is whole again
)

// checkStandby refuses what contradicts a pair.
func (d *demo) checkStandby() error {
	switch {
	case !d.standby && d.c.IsSet("every"):
		return usagef("--every is of --standby; give that, too")
	case d.standby && (d.roam || d.adhoc || d.brokers > 0 || d.registry != "" || d.c.IsSet("listen") || d.c.IsSet("config")):
		return usagef("--standby contradicts --listen, --config, --brokers, --roam and --adhoc: it makes a broker of two sides by itself")
	case d.standby && d.killEach() < 5*time.Second:
		return usagef("--every %v: expected 5 s or more, so that the side that was killed is back", d.killEach())
	}
	return nil
}

func (d *demo) killEach() time.Duration {
	if d.every == 0 {
		return killEach
	}
	return d.every
}

// runStandby has a pair of brokers, in processes of their own, read the simulation,
// and kills the active one again and again.
func (d *demo) runStandby(ctx context.Context, s *simulation, data string) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(serving)
	group.Go(func() error { return s.run(running) })
	group.Go(func() error {
		defer stop()
		err := d.pair(running, s, data)
		if running.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
	return group.Wait()
}

func (d *demo) pair(ctx context.Context, s *simulation, data string) error {
	p := d.p
	t, err := twins.Start(twins.Config{
		Dir: data, Players: s.ports.players(worldName(s.file.File)), Witness: true, Heartbeat: pairBeats,
		Log: func(line string) { d.logger.Debug(line) },
	})
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }() // they are killed
	var programs []*twins.Program
	for i := range pairProgram {
		one, err := t.NewProgram(ctx, fmt.Sprintf("program-%d", i+1), s.world.Interval().Seconds(), protocol.Subscription{ID: "all", Condition: "position.time >= 0"}, nil)
		if err != nil {
			return err
		}
		defer one.Close()
		programs = append(programs, one)
	}
	for _, side := range t.Sides {
		fmt.Fprintln(p.stdout, side.HTTP())
	}
	s.ports.print(p.stdout)
	p.say(p.stderr, "The two sides of a broker read %s in %s. The active one is killed each %v; %d programs count what they get.", plural(len(s.driver.Robots()), "robot"), s.file.Name, d.killEach(), len(programs))
	p.say(p.stderr, "See how they stand, from another terminal:")
	fmt.Fprintf(p.stdout, "%s standby status --broker %s --broker %s\n", p.commandName(), t.Sides[0].URL(), t.Sides[1].URL())
	return d.takeOvers(ctx, t, programs)
}

// takeOvers kills the active side again and again, and tells what programs saw, until
// ctx ends. Something lost or doubled is an error.
func (d *demo) takeOvers(ctx context.Context, t *twins.Twins, programs []*twins.Program) error {
	p := d.p
	ticks := time.NewTicker(d.killEach())
	defer ticks.Stop()
	all := func() (c twins.Counts) {
		for _, one := range programs {
			n := one.Now()
			c.Readings, c.Lost, c.Doubled, c.Faults, c.Declared = c.Readings+n.Readings, c.Lost+n.Lost, c.Doubled+n.Doubled, c.Faults+n.Faults, c.Declared+n.Declared
		}
		return c
	}
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		within, cancel := context.WithTimeout(ctx, goesOnTime)
		active, err := t.Whole(within)
		cancel()
		if err != nil {
			return err
		}
		before := all()
		lost, other := t.Sides[active], t.Sides[1-active]
		killed := time.Now()
		if err := lost.Kill(); err != nil {
			return err
		}
		within, cancel = context.WithTimeout(ctx, goesOnTime)
		var longest time.Duration
		for _, one := range programs {
			took, err := one.GoesOn(within, other.URL(), killed)
			if err != nil {
				cancel()
				return err
			}
			longest = max(longest, took)
		}
		cancel()
		select {
		case <-time.After(awayFor):
		case <-ctx.Done():
			return ctx.Err()
		}
		now := all()
		fmt.Fprintf(p.stdout, "%s side %s was killed; side %s went on: all %d programs had the next reading after %v; %d readings since, %d lost, %d doubled, %d declared missing\n",
			killed.Format(time.TimeOnly), lost.Name, other.Name, len(programs), longest.Round(100*time.Microsecond),
			now.Readings-before.Readings, now.Lost-before.Lost, now.Doubled-before.Doubled, now.Declared-before.Declared)
		if now.Bad() > 0 {
			return fmt.Errorf("programs have lost %d readings and got %d twice, in %d; expected none", now.Lost, now.Doubled, now.Readings)
		}
		if err := lost.Start(); err != nil {
			return err
		}
	}
}
