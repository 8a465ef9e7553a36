package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// stageProgram returns real Stage's program, "" if there is none or none is wanted.
func stageProgram(v Values) (string, error) {
	path := v.Text("stage")
	switch path {
	case "none":
		return "", nil
	case "":
		found, err := exec.LookPath("stage")
		if err != nil {
			return "", nil
		}
		return found, nil
	}
	return exec.LookPath(path)
}

// stageThreads are Stage's: one senses while one moves what drives.
const stageThreads = 2

// besideStage takes turns with real Stage in the same world, so that what else the
// machine does meets both, and reports medians.
func (c crowd) besideStage(ctx context.Context, program string, v Values, ours func(time.Duration, func(Result)) error, report func(Result)) error {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	turns := max(v.Int("turns"), 1)
	length := v.Duration("time") / time.Duration(turns)
	steps, err := c.stageSteps(ctx, program, dir, length)
	if err != nil {
		return err
	}
	var m medians
	for range turns {
		figures := map[string]float64{}
		err := ours(length, func(r Result) { figures[r.Metric] = r.Value; m.add(r) })
		if err != nil {
			return err
		}
		r, err := c.stage(ctx, program, dir, steps)
		if err != nil {
			return err
		}
		name := "Stage, " + c.String()
		r.report(name, c.robots, steps, m.add)
		m.add(Result{Case: name, Metric: threads, Value: stageThreads, Unit: "threads"})
		for _, same := range []struct {
			metric string
			took   time.Duration
		}{{simulatedWall, r.wall}, {simulatedProcessor, r.processor}} {
			if mine := figures[same.metric]; mine > 0 {
				ratio := mine * same.took.Seconds() / r.simulated.Seconds()
				m.add(Result{Case: "callboard / Stage, " + c.String(), Metric: same.metric, Value: ratio, Unit: "ratio"})
			}
		}
	}
	m.report(report)
	return nil
}

// medians are results of several turns.
type medians struct {
	results []Result
	values  [][]float64
}

func (m *medians) add(r Result) {
	i := slices.IndexFunc(m.results, func(o Result) bool { return o.Case == r.Case && o.Metric == r.Metric })
	if i < 0 {
		i = len(m.results)
		m.results, m.values = append(m.results, r), append(m.values, nil)
	}
	m.values[i] = append(m.values[i], r.Value)
}

func (m *medians) report(report func(Result)) {
	for i, r := range m.results {
		slices.Sort(m.values[i])
		r.Value = quantile(m.values[i], 0.5)
		report(r)
	}
}

// firstSteps are those that tell what Stage's start takes.
const firstSteps = 10

// stageSteps returns how many steps take real Stage about so long, as far as it
// has a processor.
func (c crowd) stageSteps(ctx context.Context, program, dir string, length time.Duration) (int, error) {
	const maxSteps, patience = 10_000_000, 20 // where it hardly has one
	steps := 10
	for {
		r, err := c.stage(ctx, program, dir, steps)
		if err != nil || r.spent() >= length/2 || r.wall >= patience*length/2 || steps >= maxSteps {
			return steps, err
		}
		more := min(length.Seconds()/r.spent().Seconds(), patience*length.Seconds()/r.wall.Seconds(), 100)
		steps = int(float64(steps) * max(more, 2))
	}
}

// stage runs real Stage for some steps. What its start takes is taken off.
func (c crowd) stage(ctx context.Context, program, dir string, steps int) (rates, error) {
	begin, err := c.stageFor(ctx, program, dir, firstSteps*c.interval)
	if err != nil {
		return rates{}, err
	}
	all, err := c.stageFor(ctx, program, dir, time.Duration(firstSteps+steps)*c.interval)
	if err != nil {
		return rates{}, err
	}
	return rates{
		simulated: all.simulated - begin.simulated, wall: max(all.wall-begin.wall, time.Microsecond),
		processor: max(all.processor-begin.processor, 0), memory: all.memory,
	}, nil
}

// stageFor runs real Stage for a simulated time.
func (c crowd) stageFor(ctx context.Context, path, dir string, simulated time.Duration) (rates, error) {
	file := filepath.Join(dir, "crowd.world")
	if err := os.WriteFile(file, []byte(c.world(simulated)), 0o600); err != nil {
		return rates{}, err
	}
	run := exec.CommandContext(ctx, path, "-g", file)
	run.Dir = dir
	begin := time.Now()
	if out, err := run.CombinedOutput(); err != nil {
		return rates{}, fmt.Errorf("real Stage, %s: %w: %.200s", path, err, out)
	}
	state := run.ProcessState
	return rates{
		simulated: simulated, wall: time.Since(begin),
		processor: state.UserTime() + state.SystemTime(), memory: peakMemoryOf(state),
	}, nil
}
