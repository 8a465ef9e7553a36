package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// besideStage runs the same world in real Stage if its program is there. ours
// are our figures by metric.
func besideStage(ctx context.Context, c crowd, v Values, ours map[string]float64, report func(Result)) error {
	path := v.Text("stage")
	switch path {
	case "none":
		return nil
	case "":
		found, err := exec.LookPath("stage")
		if err != nil {
			return nil
		}
		path = found
	}
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := c.stage(ctx, path, dir, v.Duration("time"))
	if err != nil {
		return err
	}
	name := "Stage, " + c.String()
	r.report(name, c.robots, int(r.simulated/c.interval), report)
	for _, same := range []struct {
		metric string
		took   time.Duration
	}{{simulatedWall, r.wall}, {simulatedProcessor, r.processor}} {
		if mine := ours[same.metric]; mine > 0 {
			ratio := mine * same.took.Seconds() / r.simulated.Seconds()
			report(Result{Case: "callboard / Stage, " + c.String(), Metric: same.metric, Value: ratio, Unit: "ratio"})
		}
	}
	return nil
}

// stage runs real Stage for about so long: first a short time, which tells how
// fast it is, then the whole. What its start took is taken off.
func (c crowd) stage(ctx context.Context, path, dir string, length time.Duration) (rates, error) {
	const first, maxSteps = 10, 10_000_000
	begin, err := c.stageFor(ctx, path, dir, first*c.interval)
	if err != nil {
		return rates{}, err
	}
	steps := 200
	for {
		all, err := c.stageFor(ctx, path, dir, time.Duration(first+steps)*c.interval)
		if err != nil {
			return rates{}, err
		}
		run := rates{
			simulated: all.simulated - begin.simulated, wall: all.wall - begin.wall,
			processor: all.processor - begin.processor, memory: all.memory,
		}
		if run.wall >= length/2 || all.wall >= 4*length || steps >= maxSteps {
			return run, nil
		}
		steps = max(2*steps, min(100*steps, int(float64(steps)*float64(length)/float64(max(run.wall, time.Millisecond)))))
	}
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
