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

// TestRangesLikeStage measures where real Stage did: half of all ranges within
// 0.02 m, 95 % within 0.06 m, hits and misses agree on 99 %.
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
			var errors []float64
			agree, total, returns, grazed := 0, 0, 0, 0
			judge := func(r *Ranger, sensor, i int, want, limit float64) {
				total++
				got := r.Ranges(sensor)[i]
				if math.Abs(min(want, limit)-min(got, limit)) > 0.3 {
					grazed++
					if !passesBy(w, r, sensor, i, want, limit) {
						t.Errorf("sensor %d, sample %d: %.3f m, Stage measures %.3f m, and no wall is grazed", sensor, i, got, want)
					}
				}
				if (want < limit) == (got < limit) {
					agree++
				}
				if want < limit && got < limit {
					errors = append(errors, math.Abs(want-got))
				}
			}
			for _, p := range oracle.Poses {
				w.Find(p.Robot).SetPose(Pose{X: p.Pose[0], Y: p.Pose[1], A: p.Pose[2]})
				w.Find(p.Other).SetPose(Pose{X: p.OtherPose[0], Y: p.OtherPose[1], A: p.OtherPose[2]})
				w.Step()
				laser, ring := w.Find(p.Robot+".ranger:0").Ranger(), w.Find(p.Robot+".ranger:1").Ranger()
				for i, want := range p.Laser {
					judge(laser, 0, i, want, 8)
					if math.Abs(p.Intensity[i]-laser.Intensities(0)[i]) < 1e-6 {
						returns++
					}
				}
				for i, want := range p.Sonar {
					judge(ring, i, 0, want, 5)
				}
			}
			sort.Float64s(errors)
			n := len(errors)
			t.Logf("%d ranges: median error %.4f m, 95 %% %.4f, 99 %% %.4f, max %.4f; hits agree %.4f, intensities %.4f; %d off by more than 0.3 m, by a wall that is grazed",
				total, errors[n/2], errors[n*95/100], errors[n*99/100], errors[n-1], float64(agree)/float64(total),
				float64(returns)/float64(180*len(oracle.Poses)), grazed)
			if errors[n/2] > 0.02 || errors[n*95/100] > 0.06 {
				t.Error("ranges are not those of Stage")
			}
			if float64(agree) < 0.99*float64(total) {
				t.Errorf("hits and misses agree on %d of %d", agree, total)
			}
			if float64(returns) < 0.985*float64(180*len(oracle.Poses)) {
				t.Errorf("intensities agree on %d", returns)
			}
		})
	}
}

// passesBy tells whether a ray beside a sample's measures what Stage did: where
// a wall is grazed, Stage's raster of 0.02 m decides what is met, up to three
// cells off.
func passesBy(w *World, r *Ranger, sensor, i int, want, limit float64) bool {
	const beside, steps = 0.05, 100
	at, c := r.Place(sensor), &w.caster
	a := at.A + r.fans[sensor].bearings[i]
	sin, cos := math.Sincos(a)
	for k := -steps; k <= steps; k++ {
		d := beside * float64(k) / steps
		from := at
		from.X, from.Y = at.X-d*sin, at.Y+d*cos
		c.begin(from, r.model.root.index, limit)
		if math.Abs(nearest(w, c, cos, sin)-min(want, limit)) < 0.06 {
			return true
		}
	}
	return false
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
