package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// blocks are bodies: a box, an L, a bow tie, one half of which runs
// the other way round.
var blocks = []string{
	"",
	"block ( points 6 point[0] [ 0 0 ] point[1] [ 3 0 ] point[2] [ 3 1 ] point[3] [ 1 1 ] point[4] [ 1 3 ] point[5] [ 0 3 ] z [ 0 1 ] )",
	"block ( points 4 point[0] [ -3 -1 ] point[1] [ 3 1 ] point[2] [ 3 -1 ] point[3] [ -3 1 ] z [ 0 1 ] )",
}

// randomWorld draws a world of boxes, standing and moving, and one ranger.
func randomWorld(t *rapid.T) string {
	var b strings.Builder
	coord := rapid.Float64Range(-30, 30)
	n := rapid.IntRange(0, 12).Draw(t, "boxes")
	// Many small ones make many small buckets.
	dense := rapid.SampledFrom([]float64{0.2, 1}).Draw(t, "spacing")
	for i := range rapid.SampledFrom([]int{0, 0, 400}).Draw(t, "pebbles") {
		fmt.Fprintf(&b, "model ( pose [ %.3f %.3f 0 %d ] size [ %g 0.1 1 ] )\n",
			dense*(float64(i%20)*1.3-13+float64(i%7)*0.1), dense*(float64(i/20)*1.4-14+float64(i%3)*0.2), i*77%360, dense*0.4)
	}
	for range n {
		kind := rapid.SampledFrom([]string{"model", "position"}).Draw(t, "type")
		ret := rapid.SampledFrom([]float64{-1, 0, 0.5, 1}).Draw(t, "return")
		fmt.Fprintf(&b, "%s ( pose [ %.3f %.3f 0 %.1f ] size [ %.3f %.3f %.2f ] ranger_return %g %s )\n", kind,
			coord.Draw(t, "x"), coord.Draw(t, "y"), rapid.Float64Range(-180, 180).Draw(t, "a"),
			rapid.Float64Range(0.05, 20).Draw(t, "sx"), rapid.Float64Range(0.05, 3).Draw(t, "sy"),
			rapid.Float64Range(0.1, 1).Draw(t, "sz"), ret, rapid.SampledFrom(blocks).Draw(t, "body"))
	}
	if room := rapid.SampledFrom([]float64{0, 1, 2, 5}).Draw(t, "room"); room > 0 {
		// Walls close by, with more of them beyond and, when things move, within.
		fmt.Fprintf(&b, "model ( pose [ 0.3 0.2 0 20 ] size [ %g %g 1 ] ) model ( pose [ 0.3 0.2 0 65 ] size [ %g %g 1 ] )\n", room*1.2, room*1.3, room*1.4, room*1.5)
	}
	fmt.Fprintf(&b, "position ( name \"me\" size [ 0.4 0.4 0.2 ] pose [ %.3f %.3f 0 %.1f ] ranger ( pose [ 0 0 %.2f 0 ] sensor ( range [ 0 %.2f ] fov %.2f samples %d ) ) )\n",
		coord.Draw(t, "mx"), coord.Draw(t, "my"), rapid.Float64Range(-180, 180).Draw(t, "ma"),
		rapid.Float64Range(-0.2, 0.5).Draw(t, "mz"), rapid.Float64Range(0.5, 40).Draw(t, "reach"),
		rapid.SampledFrom([]float64{1, 30, 90, 180, 270, 360}).Draw(t, "fov"), rapid.IntRange(1, 400).Draw(t, "samples"))
	return b.String()
}

// nearest measures a ray against every segment of the world.
func nearest(w *World, c *caster, cos, sin float64) float64 {
	best := c.limit
	for _, r := range w.roots {
		for i := range r.segments {
			g := &r.segments[i]
			if g.ret < 0 || g.root == c.own || c.z < g.low || c.z > g.high {
				continue
			}
			ex, ey, dx, dy := g.bx-g.ax, g.by-g.ay, g.ax-c.x, g.ay-c.y
			den := cos*ey - sin*ex
			if den == 0 {
				continue
			}
			t, u := (dx*ey-dy*ex)/den, (dx*sin-dy*cos)/den
			if t >= 0 && u >= 0 && u <= 1 && t < best {
				best = t
			}
		}
	}
	return best
}

// TestCastsAgree: a sweep and single rays find what looking at all segments
// finds, wherever the sensor is, also after things have moved.
func TestCastsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := parseText(t, randomWorld(t))
		w, err := New(Config{World: file})
		if err != nil {
			t.Fatal(err)
		}
		me := w.Find("me")
		for i := range 3 {
			if i == 0 {
				me.SetPose(Pose{A: 1})
			} else if n := len(w.models); n > 1 {
				m := w.models[rapid.IntRange(0, n-1).Draw(t, "moved")].Root()
				m.SetPose(Pose{X: rapid.Float64Range(-50, 50).Draw(t, "x"), Y: rapid.Float64Range(-50, 50).Draw(t, "y"), A: rapid.Float64Range(-4, 4).Draw(t, "a")})
			}
			r := me.children[0].ranger
			r.measure(0)
			c, f, at := &w.caster, r.fans[0], r.Place(0)
			c.begin(at, me.root.index, c.limit)
			for i, b := range f.bearings {
				sin, cos := math.Sincos(at.A + b)
				want := nearest(w, c, cos, sin)
				got := r.ranges[0][i]
				if got == r.sensors[0].MaxRange {
					got = c.limit
				}
				ray, _ := c.ray(cos, sin)
				// A hair beside a corner either answer is right.
				if math.Abs(got-want) > 1e-6 && !grazes(w, c, at.A+b, got, want) {
					t.Fatalf("sample %d: swept %v, expected %v", i, got, want)
				}
				if math.Abs(ray-want) > 1e-6 && !grazes(w, c, at.A+b, ray, want) {
					t.Fatalf("sample %d: ray %v, expected %v", i, ray, want)
				}
			}
		}
	})
}

// grazes tells whether a hair to one side the ray measures the one and a hair
// to the other side the other.
func grazes(w *World, c *caster, a, one, other float64) bool {
	const hair = 1e-7
	sin, cos := math.Sincos(a - hair)
	l := nearest(w, c, cos, sin)
	sin, cos = math.Sincos(a + hair)
	r := nearest(w, c, cos, sin)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }
	return near(l, one) && near(r, other) || near(l, other) && near(r, one)
}

// TestSensorOnWall: a sensor that sits right on an outline sees nothing beyond
// it, whichever way it is measured.
func TestSensorOnWall(t *testing.T) {
	for _, samples := range []int{3, 180} {
		w := loadText(t, fmt.Sprintf("model ( pose [ 1 0 0 0 ] size [ 2 2 1 ] ranger_return 0.5 )\nranger ( name \"me\" sensor ( fov 90 samples %d ) )", samples))
		me := w.Find("me")
		me.Subscribe()
		w.Step()
		for i, r := range me.Ranger().Ranges(0) {
			if r != 0 || math.Signbit(r) || me.Ranger().Intensities(0)[i] != 0.5 {
				t.Errorf("%d samples: sample %d is %v/%v, expected 0/0.5", samples, i, r, me.Ranger().Intensities(0)[i])
			}
		}
	}
}

// TestAngle: the fast arc tangent keeps its bound.
func TestAngle(t *testing.T) {
	worst := 0.0
	for i := range 200000 {
		a := float64(i) / 200000 * 2 * math.Pi
		y, x := math.Sincos(a)
		worst = math.Max(worst, math.Abs(math.Remainder(angle(y*3, x*3)-math.Atan2(y, x), 2*math.Pi)))
	}
	if worst > atanError {
		t.Errorf("angle is off by %g, bound %g", worst, atanError)
	}
}

// trace runs a swarm and hashes all that can be seen of it.
func trace(t *testing.T, seed uint64, steps int) [32]byte {
	t.Helper()
	w := loadText(t, strings.Replace(grid(25), "samples 180", "samples 180 noise [ 0.0001 0.01 0.1 ]", 1))
	ws := NewWanderers(w, seed)
	h := sha256.New()
	var b []byte
	for range steps {
		ws.Drive()
		w.Step()
		b = b[:0]
		for _, m := range w.Updated() {
			if m.ranger != nil {
				for _, v := range m.ranger.ranges[0] {
					b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
				}
			}
			g := m.Global()
			for _, v := range []float64{g.X, g.Y, g.A} {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			}
		}
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

// TestSameSeedSameTrace: a run is a function of its seed.
func TestSameSeedSameTrace(t *testing.T) {
	one, again, other := trace(t, 7, 300), trace(t, 7, 300), trace(t, 8, 300)
	if one != again {
		t.Error("the same seed gave two traces")
	}
	if one == other {
		t.Error("another seed gave the same trace")
	}
}

// TestStepDoesNotAllocate: neither scans nor motion make garbage.
func TestStepDoesNotAllocate(t *testing.T) {
	w := loadText(t, grid(9))
	ws := NewWanderers(w, 1)
	step := func() { ws.Drive(); w.Step() }
	for range 300 {
		step()
	}
	if n := testing.AllocsPerRun(200, step); n > 0.2 {
		t.Errorf("a step makes %v allocations", n)
	}
}
