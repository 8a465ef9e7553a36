package sim

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// needVectors skips a test where the processor has no vectors for it.
func needVectors(t testing.TB) {
	if !vectors {
		t.Skip("this processor takes rays one by one")
	}
}

// alike fails if rays that go together measure anything else than rays that go
// one by one, by a bit.
func alike(t fatal, r *Ranger) {
	r.aim(0, len(r.ranges[0]))
	alikeAimed(t, r)
}

type fatal interface {
	Fatalf(format string, args ...any)
}

func alikeAimed(t fatal, r *Ranger) {
	c := &r.model.world.caster
	n := len(r.ranges[0])
	got, gotReturned := make([]float64, n, n+lanes), make([]float64, n, n+lanes)
	want, wantReturned := make([]float64, n), make([]float64, n)
	c.singly(want, wantReturned)
	if !c.together(r.model.root, got, gotReturned) {
		t.Fatalf("%d rays do not go together", n)
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) || gotReturned[i] != wantReturned[i] {
			t.Fatalf("sample %d: %v/%v together, %v/%v alone", i, got[i], gotReturned[i], want[i], wantReturned[i])
		}
	}
}

// togetherLikeSingly draws a world, moves things in it, and looks.
func togetherLikeSingly(t *rapid.T) {
	file := parseText(t, randomWorld(t))
	file.Resolution = rapid.SampledFrom([]float64{0.02, 0.05, 0.1, 0.5}).Draw(t, "resolution")
	w, err := New(Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	me := w.Find("me")
	if len(me.children[0].ranger.ranges[0]) < lanes/2 {
		t.Skip("too few rays to go together")
	}
	for i := range 4 {
		if i > 0 {
			m := w.models[rapid.IntRange(0, len(w.models)-1).Draw(t, "moved")].Root()
			m.SetPose(Pose{X: rapid.Float64Range(-50, 50).Draw(t, "x"), Y: rapid.Float64Range(-50, 50).Draw(t, "y"), A: rapid.Float64Range(-4, 4).Draw(t, "a")})
			if i > 1 { // on in one layer only, as what drives does
				m.pose.X += rapid.Float64Range(-1, 1).Draw(t, "on")
				m.replace()
				w.grid.draw(m.root, rapid.SampledFrom([]uint8{even, odd}).Draw(t, "drawn"))
			}
		}
		w.caster.layer = rapid.SampledFrom([]uint8{even, odd}).Draw(t, "seen")
		alike(t, me.children[0].ranger)
	}
}

// TestTogetherLikeSingly: rays that go together measure what each would alone.
func TestTogetherLikeSingly(t *testing.T) {
	needVectors(t)
	rapid.Check(t, togetherLikeSingly)
}

func FuzzTogether(f *testing.F) {
	needVectors(f)
	f.Fuzz(rapid.MakeFuzz(togetherLikeSingly))
}

// TestTogetherOnTheWay: so they do along the ways of a crowd, in which several
// robots are in a region and walls meet.
func TestTogetherOnTheWay(t *testing.T) {
	needVectors(t)
	w := loadText(t, crowd(60))
	ws := NewWanderers(w, 3)
	for range 300 {
		ws.Drive()
		w.Step()
	}
	w.caster.layer = both &^ w.layer()
	for _, m := range w.models {
		if m.ranger != nil {
			alike(t, m.ranger)
		}
	}
}

// TestTogetherThroughCorners: so they do where a ray leaves a region right through
// its corner, whichever way it goes.
func TestTogetherThroughCorners(t *testing.T) {
	needVectors(t)
	w := loadText(t, `resolution 0.5
model ( pose [ 90 0 0 0 ] size [ 2 300 1 ] ) model ( pose [ -90 0 0 0 ] size [ 2 300 1 ] )
model ( pose [ 0 90 0 0 ] size [ 300 2 1 ] ) model ( pose [ 0 -90 0 0 ] size [ 300 2 1 ] )
position ( name "me" size [ 0.1 0.1 0.1 ] ranger ( sensor ( fov 360 samples 16 range [ 0 300 ] ) ) )`)
	me, c := w.Find("me"), &w.caster
	r := me.children[0].ranger
	for x := -16; x <= 16; x += 4 {
		for y := -16; y <= 16; y += 4 {
			me.SetPose(Pose{X: float64(x) / 2, Y: float64(y) / 2})
			c.layer = even
			r.aim(0, 16)
			for i := range 16 { // slopes that numbers have exactly
				c.sin[i], c.cos[i] = 1, []float64{1, 0.5, 0.25, 0.75}[i/4]
				if i&1 != 0 {
					c.sin[i], c.cos[i] = c.cos[i], c.sin[i]
				}
				if (i+x/4)&2 != 0 {
					c.sin[i] = -c.sin[i]
				}
				if (i/2+y/4)&2 != 0 {
					c.cos[i] = -c.cos[i]
				}
			}
			alikeAimed(t, r)
		}
	}
}

// TestTogetherPastTheOtherLayer: so they do through regions that have, or had,
// something in the layer that they do not see only.
func TestTogetherPastTheOtherLayer(t *testing.T) {
	needVectors(t)
	for _, reach := range []int{8, 30} { // in a small window, and in a large one
		w := loadText(t, fmt.Sprintf(`model ( pose [ 6 0 0 0 ] size [ 1 8 1 ] ) model ( pose [ -15 -15 0 0 ] )
position ( name "o" pose [ 0 20 0 0 ] size [ 0.4 0.4 0.2 ] )
position ( name "me" size [ 0.4 0.4 0.2 ] ranger ( sensor ( fov 90 samples 180 range [ 0 %d ] ) ) )`, reach))
		o, r := w.Find("o"), w.Find("me.ranger:0").ranger
		w.caster.layer = odd
		for i := range 24 {
			alike(t, r)
			o.pose = Pose{X: 1.2 + float64(i/4), Y: float64(i%3) - 1 + 20*float64(i&1)}
			o.replace()
			w.grid.draw(o.root, even)
			alike(t, r)
		}
	}
}

// TestHeights: rangers at more heights than are kept see right all the same, and
// a height that is not used any more makes way.
func TestHeights(t *testing.T) {
	needVectors(t)
	text := "model ( pose [ 3 0 0 0 ] size [ 1 8 2 ] )"
	for i := range maxSights + 1 {
		text += fmt.Sprintf("\nposition ( name \"r%d\" pose [ 0 %d 0 0 ] size [ 0.4 0.4 0.2 ] ranger ( pose [ 0 0 %g 0 ] sensor ( fov 30 samples 16 range [ 0 5 ] ) ) )", i, i-2, float64(i)/10)
	}
	w := loadText(t, text)
	for i := range maxSights + 1 {
		w.Find(fmt.Sprintf("r%d.ranger:0", i)).Subscribe()
	}
	w.Step()
	for i := range maxSights + 1 {
		for _, v := range w.Find(fmt.Sprintf("r%d.ranger:0", i)).ranger.ranges[0] {
			if v < 2.3 || v > 2.7 {
				t.Errorf("ranger %d measures %v, expected about 2.5", i, v)
			}
		}
	}
	last := w.Find(fmt.Sprintf("r%d.ranger:0", maxSights)).ranger
	last.aim(0, 16)
	if w.caster.together(last.model.root, last.ranges[0], last.returned[0]) {
		t.Error("a height too many is kept")
	}
	w.grid.scans += unusedScans
	alike(t, last)
}

// TestFarAway: a robot that goes from place to place leaves nothing behind.
func TestFarAway(t *testing.T) {
	needVectors(t)
	w := loadText(t, "position ( name \"r\" size [ 0.4 0.4 0.2 ] ranger ( sensor ( fov 180 samples 16 range [ 0 8 ] ) ) ) position ( name \"o\" pose [ 1 0 0 0 ] )")
	r, other := w.Find("r"), w.Find("o")
	for i := range 3000 {
		r.SetPose(Pose{X: float64(i) * 25})
		other.SetPose(Pose{X: float64(i)*25 + 1})
		w.caster.layer = even
		r.children[0].ranger.measure(0)
	}
	if n := len(w.grid.sights[0].sheets[0].marks); n > 500 {
		t.Errorf("%d marks are kept for two robots", n)
	}
}
