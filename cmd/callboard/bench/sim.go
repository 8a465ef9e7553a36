package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"time"

	"callboard/sim"
	"callboard/sim/worldfile"
)

func simulation() Workload {
	return Workload{
		Name:    "sim",
		Summary: "the simulator: wandering robots with scanners; beside real Stage",
		About: `Steps a world of wandering robots with a scanner each, on a square grid with
walls around, as fast as it goes, each number of robots in a process of its own.
They wander as real Stage's controller has them.

  simulated time      simulated seconds per second of wall time, and of processor
                      time: the same on an idle machine, and on a busy one the
                      second is the one to trust
  threads               that simulate. Real Stage senses in one, as its world files
                      have it, and moves robots in another
  time of a step      per robot: how the cost grows with their number
  robots in reach     the others within range and field of a scan, on the average:
                      in a small crowd most look at walls, and a scan costs what
                      there is to see
  peak memory         of the whole process, its world included

With real Stage's program in PATH or given, it runs the same world, without a
window; its start is taken off. Both take --turns turns, a part of --time each,
and what is reported is the median. 10,000 robots, which take it hours, it is
spared unless --robots asks for them.`,
		Examples: []string{
			"callboard bench sim",
			"callboard bench sim --robots 100 --samples 16 --json",
			"callboard bench sim --stage /opt/stage/bin/stage",
		},
		Parameters: []Parameter{
			{"robots", "`N` of robots; 0: 1, 10, 100, 1,000 and 10,000", 0},
			{"samples", "`N` of samples of each scan, over 180 degrees", 180},
			{"spacing", "`METRES` from robot to robot", 2.0},
			{"resolution", "`METRES` of the world's grid, to which ranges and contacts are true", 0.02},
			{"interval", "`SECONDS` of a step", 100 * time.Millisecond},
			{"time", "`SECONDS` of a processor that each number of robots is measured for", 5 * time.Second},
			{"turns", "`N` of turns that are taken with real Stage", 5},
			{"seed", "`NUMBER` that the wandering comes from", 1},
			{"stage", "`PATH` of real Stage's program (default the one in PATH)", ""},
		},
		Run: runSimulation,
	}
}

func runSimulation(ctx context.Context, v Values, report func(Result)) error {
	c := crowd{
		robots: v.Int("robots"), samples: v.Int("samples"), spacing: v.Float("spacing"),
		resolution: v.Float("resolution"), interval: v.Duration("interval"),
	}
	one := c.robots > 0
	sizes := []int{1, 10, 100, 1000, 10_000}
	if one {
		sizes = []int{c.robots}
	}
	program, err := stageProgram(v)
	if err != nil {
		return err
	}
	for _, c.robots = range sizes {
		ours := func(length time.Duration, report func(Result)) error {
			if one {
				return c.simulate(ctx, uint64(v.Int("seed")), length, report)
			}
			return c.process(ctx, v, length, report)
		}
		if program == "" || !one && c.robots > maxBesideStage {
			err = ours(v.Duration("time"), report)
		} else {
			err = c.besideStage(ctx, program, v, ours, report)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// maxBesideStage is how many robots real Stage is not slower with than anyone
// would wait for.
const maxBesideStage = 1000

// crowd is how many robots there are, and what they see with.
type crowd struct {
	robots, samples     int
	spacing, resolution float64 // m
	interval            time.Duration
}

func (c crowd) String() string {
	plural := "s"
	if c.robots == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d robot%s, %d samples, %g m apart", c.robots, plural, c.samples, c.spacing)
}

// Metrics of bench sim.
const (
	simulatedWall      = "simulated time per wall time"
	simulatedProcessor = "simulated time per processor time"
	threads            = "threads"
	stepTime           = "processor time of a step, per robot"
	inReach            = "other robots in reach of a scan"
	peakMemory         = "peak memory"
)

// simulate measures in this process.
func (c crowd) simulate(ctx context.Context, seed uint64, length time.Duration, report func(Result)) error {
	world, err := c.load(seed)
	if err != nil {
		return err
	}
	robots := newWanderers(world, seed)
	step := func() {
		robots.drive()
		world.Step()
	}
	for range 20 { // the first steps make room
		step()
	}
	near := reached(world)
	var r rates
	steps, often, wall, processor := 0, 1+1000/c.robots, time.Now(), processorTime()
	for steps == 0 || r.spent() < length {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for range often { // to look at clocks takes time, too
			step()
		}
		steps += often
		r.wall, r.processor = time.Since(wall), processorTime()-processor
	}
	r.simulated, r.memory = time.Duration(steps)*c.interval, peakMemoryOf(nil)
	r.report(c.String(), c.robots, steps, report)
	report(Result{Case: c.String(), Metric: threads, Value: 1, Unit: "threads"})
	report(Result{Case: c.String(), Metric: inReach, Value: (near + reached(world)) / 2, Unit: "robots"})
	return nil
}

// reached is how many other robots lie in the range and field of a robot's
// scan now, on the average.
func reached(w *sim.World) float64 {
	robots, total := w.Robots(), 0
	for _, m := range robots {
		at := m.Global()
		sin, cos := math.Sincos(at.A)
		for _, o := range robots {
			dx, dy := o.Global().X-at.X, o.Global().Y-at.Y
			if o != m && dx*dx+dy*dy < scanRange*scanRange && dx*cos+dy*sin > 0 {
				total++
			}
		}
	}
	return float64(total) / float64(len(robots))
}

func (c crowd) load(seed uint64) (*sim.World, error) {
	text := c.world(0)
	file, problems := worldfile.Load(func(string) ([]byte, error) { return []byte(text), nil }, "crowd.world")
	if file == nil {
		return nil, problems.First()
	}
	return sim.New(sim.Config{World: file, Seed: seed})
}

// rates are what a run took.
type rates struct {
	simulated, wall, processor time.Duration
	memory                     int64 // bytes; 0: not known
}

// spent is how long a run took as far as it had a processor, if that is known.
func (r rates) spent() time.Duration {
	if r.processor > 0 {
		return r.processor
	}
	return r.wall
}

func (r rates) report(name string, robots, steps int, report func(Result)) {
	report(Result{Case: name, Metric: simulatedWall, Value: r.simulated.Seconds() / r.wall.Seconds(), Unit: "s/s"})
	if r.processor > 0 {
		report(Result{Case: name, Metric: simulatedProcessor, Value: r.simulated.Seconds() / r.processor.Seconds(), Unit: "s/s"})
		report(Result{Case: name, Metric: stepTime, Value: r.processor.Seconds() * 1e6 / float64(steps) / float64(robots), Unit: "us"})
	}
	if r.memory > 0 {
		report(Result{Case: name, Metric: peakMemory, Value: float64(r.memory) / (1 << 20), Unit: "MiB"})
	}
}

// process measures in a process of its own, so that its memory is that of this
// number of robots only.
func (c crowd) process(ctx context.Context, v Values, length time.Duration, report func(Result)) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{
		"bench", "sim", "--json", "--stage", "none", "--robots", strconv.Itoa(c.robots), "--samples", strconv.Itoa(c.samples),
		"--spacing", fmt.Sprint(c.spacing), "--resolution", fmt.Sprint(c.resolution), "--interval", c.interval.String(),
		"--time", length.String(), "--seed", strconv.Itoa(v.Int("seed")),
	}
	run := exec.CommandContext(ctx, program, args...)
	run.Args[0] = os.Args[0]
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		return fmt.Errorf("%d robots in a process of their own: %w", c.robots, err)
	}
	for line := range bytes.Lines(out) {
		var r Result
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%d robots in a process of their own: %w", c.robots, err)
		}
		report(r)
	}
	return nil
}
