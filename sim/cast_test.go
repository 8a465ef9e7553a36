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

// stepped is cast step by step and cell by cell, as it is to be.
func stepped(c *caster, sin, cos, length float64) (float64, *tile) {
	g := c.grid
	x, y := c.x, c.y
	dx, dy := g.perMetre*length*cos, g.perMetre*length*sin
	ax, ay := int(math.Abs(dx)), int(math.Abs(dy))
	sx, sy := math.Copysign(1, dx), math.Copysign(1, dy)
	left, balance := ax+ay, ay-ax
	var nextX, nextY [2]float64 // the crossings of borders ahead
	var wayX, wayY float64
	known := false
	for left > 0 {
		rx, ry := int(x)>>5, int(y)>>5
		s := g.super(int32(rx>>5), int32(ry>>5))
		if s == nil || s.regions[ry&31*32+rx&31].tiles == nil {
			if !known {
				known = true
				toX, toY := float64(rx*32+32)-x, float64(ry*32+32)-y
				if sx < 0 {
					toX = float64(rx*32) - x - 1
				}
				if sy < 0 {
					toY = float64(ry*32) - y - 1
				}
				nextX, nextY = [2]float64{x + toX, y + toX*(sin/cos)}, [2]float64{x + toY/(sin/cos), y + toY}
				wayX, wayY = math.Abs(toX)+math.Abs(toX*(sin/cos)), math.Abs(toY/(sin/cos))+math.Abs(toY)
			}
			if wayX < wayY {
				x, y = nextX[0], nextX[1]
				left = int(float64(left) - wayX)
				wayY -= wayX
				nextX = [2]float64{x + 32*sx, y + 32*sx*(sin/cos)}
				wayX = 32 + math.Abs(32*(sin/cos))
			} else {
				x, y = nextY[0], nextY[1]
				left = int(float64(left) - wayY)
				wayX -= wayY
				nextY = [2]float64{x + 32*sy/(sin/cos), y + 32*sy}
				wayY = 32 + math.Abs(32/(sin/cos))
			}
			continue
		}
		known = false
		for cx, cy := int(x)&31, int(y)&31; cx>>5 == 0 && cy>>5 == 0 && left > 0; left-- {
			var hit *tile
			for t := s.regions[ry&31*32+rx&31].tiles; t != nil; t = t.next {
				if t.lines[0][cy]>>cx&1 == 0 || t.layers&c.layer == 0 || t.root == c.own || t.ret < 0 || c.z < t.low || c.z > t.high {
					continue
				}
				if hit == nil || t.stamp < hit.stamp || t.stamp == hit.stamp && t.part < hit.part {
					hit = t
				}
			}
			if hit != nil {
				if ax > ay {
					return math.Abs((x-c.x)/cos) / g.perMetre, hit
				}
				return math.Abs((y-c.y)/sin) / g.perMetre, hit
			}
			if balance < 0 {
				x, cx, balance = x+sx, cx+int(sx), balance+2*ay
			} else {
				y, cy, balance = y+sy, cy+int(sy), balance-2*ax
			}
		}
	}
	return length, nil
}

// TestCastsLikeSteps: a ray hits what a walk cell by cell hits, and as far away,
// wherever the sensor is, also after things have moved.
func TestCastsLikeSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := parseText(t, randomWorld(t))
		file.Resolution = rapid.SampledFrom([]float64{0.02, 0.05, 0.1, 0.5}).Draw(t, "resolution")
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
			w.caster.layer = even
			r.measure(0)
			c, at := &w.caster, r.Place(0)
			c.begin(at, r.sensors[0].MaxRange, me.root.index, nil)
			c.open()
			rays := c.rays(len(r.fans[0].bearings))
			for i, b := range r.fans[0].bearings {
				sin, cos := aim(at.A + b)
				if c.set(&rays[i], sin, cos); c.isFree {
					c.leave(&rays[i])
				}
			}
			c.follow(rays)
			for i, b := range r.fans[0].bearings {
				sin, cos := aim(at.A + b)
				want, wantHit := stepped(c, sin, cos, r.sensors[0].MaxRange)
				got, gotHit := c.result(&rays[i])
				if math.Abs(got-want) > 1e-9 || gotHit != wantHit {
					t.Fatalf("sample %d: %v, expected %v", i, got, want)
				}
			}
		}
	})
}

// TestMissesBorders: from where a sum of Stage's puts the crossing of a border a
// hair before it, a ray misses that border as Stage's does. It takes a sensor right
// beside an axis, and a look down it over an empty region.
func TestMissesBorders(t *testing.T) {
	w := loadText(t, `resolution 0.5
model ( pose [ -1 0 0 0 ] size [ 0.2 60 1 ] ) model ( pose [ 0 -1 0 0 ] size [ 60 0.2 1 ] )`)
	c := &w.caster
	c.layer = even
	missed := 0
	for i := range 4000 {
		at := Pose{X: float64(i%61) * 0.253, Y: float64(i%59) * 0.267, Z: 0.5}
		c.begin(at, 50, nobody, nil)
		sin, cos := aim(float64(i%628) / 100)
		want, wantHit := stepped(c, sin, cos, 50)
		got, gotHit := c.cast(sin, cos)
		if math.Abs(got-want) > 1e-9 || gotHit != wantHit {
			t.Fatalf("from %v, %v at %v: %v, expected %v", at.X, at.Y, float64(i%628)/100, got, want)
		}
		if sin < -0.1 && cos < -0.1 && gotHit == nil {
			missed++
		}
	}
	if missed == 0 {
		t.Error("no ray misses a wall: nothing has been shown")
	}
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

// trace runs a swarm and hashes all that can be seen of it.
func trace(t *testing.T, seed uint64, steps int) [32]byte {
	t.Helper()
	w := loadText(t, strings.Replace(crowd(25), "samples 180", "samples 180 noise [ 0.0001 0.01 0.1 ]", 1))
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
	w := loadText(t, crowd(9))
	ws := NewWanderers(w, 1)
	step := func() { ws.Drive(); w.Step() }
	for range 300 {
		step()
	}
	if n := testing.AllocsPerRun(200, step); n > 0.2 {
		t.Errorf("a step makes %v allocations", n)
	}
}
