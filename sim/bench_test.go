package sim

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"callboard/sim/worldfile"
)

// crowd is a world of n robots 2 m apart with a 180-beam scanner each, walls
// around: what the measurements with real Stage were made in.
func crowd(n int) string {
	side := int(math.Ceil(math.Sqrt(float64(n))))
	width := float64(side)*2 + 2
	var b strings.Builder
	b.WriteString(`resolution 0.02
define mote position ( size [ 0.44 0.38 0.22 ] drive "diff"
  ranger ( pose [ 0 0 -0.08 0 ] sensor ( range [ 0 8 ] fov 180 samples 180 ) ) )
`)
	for i, w := range [][4]float64{{0.2, width, width / 2, 0}, {0.2, width, -width / 2, 0}, {width, 0.2, 0, width / 2}, {width, 0.2, 0, -width / 2}} {
		fmt.Fprintf(&b, "model ( name \"wall%d\" size [ %g %g 1 ] pose [ %g %g 0 0 ] )\n", i, w[0], w[1], w[2], w[3])
	}
	for i := range n {
		x, y := (float64(i%side)-float64(side-1)/2)*2, (float64(i/side)-float64(side-1)/2)*2
		fmt.Fprintf(&b, "mote ( name \"r%d\" pose [ %g %g 0 %d ] )\n", i, x, y, (i*137)%360-180)
	}
	return b.String()
}

// BenchmarkSwarm steps wandering robots. sim-s/s is simulated seconds per
// second.
func BenchmarkSwarm(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := loadText(b, crowd(n))
			ws := NewWanderers(w, 1)
			for range 100 {
				ws.Drive()
				w.Step()
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				ws.Drive()
				w.Step()
			}
			b.ReportMetric(float64(b.N)*w.Interval().Seconds()/b.Elapsed().Seconds(), "sim-s/s")
		})
	}
}

// BenchmarkCave is a world whose walls are a picture.
func BenchmarkCave(b *testing.B) {
	file, problems := worldfile.Load(func(n string) ([]byte, error) { return os.ReadFile("../worlds/" + n) }, "cave.world")
	if file == nil {
		b.Fatal(problems.First())
	}
	w, err := New(Config{World: file})
	if err != nil {
		b.Fatal(err)
	}
	ws := NewWanderers(w, 1)
	b.ReportAllocs()
	for range b.N {
		ws.Drive()
		w.Step()
	}
	b.ReportMetric(float64(b.N)*w.Interval().Seconds()/b.Elapsed().Seconds(), "sim-s/s")
}
