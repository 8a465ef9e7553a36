package sim

import (
	"encoding/json"
	"math"
	"os"
	"sort"
	"testing"
)

// scanOracle is what real Stage 4.3 measured at many poses.
type scanOracle struct {
	Poses []struct {
		Robot     string
		Pose      [3]float64
		Other     string
		OtherPose [3]float64 `json:"other_pose"`
		Laser     []float64
		Intensity []float64
		Sonar     []float64
	}
}

// motionOracle is how real Stage 4.3 moved a robot under constant commands.
type motionOracle struct {
	Runs []struct {
		Start   [3]float64   `json:"start_pose"`
		Command [3]float64   `json:"command_vx_vy_va"`
		Odom    [][8]float64 `json:"odom_t_px_py_pa_vx_vy_va_stall"`
		Truth   [][4]float64 `json:"truth_t_x_y_a"`
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

var oracles = []struct{ dir, world string }{
	{"testdata/stage-oracle", "oracle1.world"},
	{"testdata/stage-oracle-margin", "oracle3.world"},
}

// TestRangesLikeStage measures what real Stage did, sample by sample.
func TestRangesLikeStage(t *testing.T) {
	for _, o := range oracles {
		t.Run(o.world, func(t *testing.T) {
			var oracle scanOracle
			readJSON(t, o.dir+"/oracle.json", &oracle)
			w := load(t, o.dir, o.world)
			for _, r := range []string{"alpha", "beta"} {
				w.Find(r + ".ranger:0").Subscribe()
				w.Find(r + ".ranger:1").Subscribe()
			}
			var a agreement
			for _, p := range oracle.Poses {
				w.Find(p.Robot).SetPose(Pose{X: p.Pose[0], Y: p.Pose[1], A: p.Pose[2]})
				w.Find(p.Other).SetPose(Pose{X: p.OtherPose[0], Y: p.OtherPose[1], A: p.OtherPose[2]})
				w.Step()
				laser, ring := w.Find(p.Robot+".ranger:0").Ranger(), w.Find(p.Robot+".ranger:1").Ranger()
				for i, want := range p.Laser {
					a.add(want, laser.Ranges(0)[i], 8)
					if math.Abs(p.Intensity[i]-laser.Intensities(0)[i]) > 1e-6 {
						t.Errorf("pose %v, sample %d: intensity %v, Stage has %v", p.Pose, i, laser.Intensities(0)[i], p.Intensity[i])
					}
				}
				for i, want := range p.Sonar {
					a.add(want, ring.Ranges(i)[0], 5)
				}
			}
			a.judge(t)
		})
	}
}

// agreement gathers ranges beside those of real Stage.
type agreement struct {
	total, agree int
	errors       []float64
}

func (a *agreement) add(want, got, limit float64) {
	a.total++
	if (want < limit) == (got < limit) {
		a.agree++
	}
	if want < limit && got < limit {
		a.errors = append(a.errors, math.Abs(want-got))
	}
}

// judge holds that half and 95 % of the ranges are Stage's within 0.0005 m, and
// that 99.9 % of the rays hit or miss as Stage's do.
func (a *agreement) judge(t *testing.T) {
	t.Helper()
	sort.Float64s(a.errors)
	n := len(a.errors)
	if n == 0 {
		t.Fatal("nothing was hit")
	}
	t.Logf("%d ranges: median error %.6f m, 95 %% %.6f, 99 %% %.6f, max %.6f; hits agree %.5f", a.total,
		a.errors[n/2], a.errors[n*95/100], a.errors[n*99/100], a.errors[n-1], float64(a.agree)/float64(a.total))
	if a.errors[n/2] > 0.0005 || a.errors[n*95/100] > 0.0005 || float64(a.agree) < 0.999*float64(a.total) {
		t.Error("ranges are not those of Stage")
	}
}

// TestMotionLikeStage drives as real Stage was driven: poses and odometry at
// every step within 1 mm and 1 mrad.
func TestMotionLikeStage(t *testing.T) {
	for _, o := range oracles {
		t.Run(o.world, func(t *testing.T) {
			var oracle motionOracle
			readJSON(t, o.dir+"/motion.json", &oracle)
			for i, run := range oracle.Runs {
				w := load(t, o.dir, o.world)
				m := w.Find("alpha")
				m.SetPose(Pose{X: run.Start[0], Y: run.Start[1], A: run.Start[2]})
				m.Position().SetReported(Pose{})
				m.Subscribe()
				m.Position().SetVelocity(run.Command[0], run.Command[1], run.Command[2])
				moving := false
				for _, row := range run.Odom {
					if moving = moving || row[4] != 0 || row[5] != 0 || row[6] != 0; !moving {
						continue
					}
					if row[4] == 0 && row[5] == 0 && row[6] == 0 {
						m.Position().SetVelocity(0, 0, 0)
					}
					w.Step()
					p := m.Position()
					r, v := p.Reported(), p.Velocity()
					stall := 0.0
					if p.Stalled() {
						stall = 1
					}
					near(t, i, row[0], "odometry", []float64{row[1], row[2], row[3], row[4], row[5], row[6], row[7]}, []float64{r.X, r.Y, r.A, v.X, v.Y, v.A, stall})
					for _, truth := range run.Truth {
						if math.Abs(truth[0]-row[0]) < 1e-6 {
							near(t, i, row[0], "truth", truth[1:], []float64{m.Pose().X, m.Pose().Y, m.Pose().A})
						}
					}
				}
				last := run.Truth[len(run.Truth)-1]
				near(t, i, last[0], "end", last[1:], []float64{m.Pose().X, m.Pose().Y, m.Pose().A})
			}
		})
	}
}

func near(t *testing.T, run int, at float64, what string, want, got []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(want[i]-got[i]) > 1e-3 {
			t.Errorf("run %d at %.1f s: %s %v, Stage has %v", run, at, what, got, want)
			return
		}
	}
}
