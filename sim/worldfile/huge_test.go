package worldfile

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestHuge: what is as large as a text or picture can reasonably be loads, or is
// refused, in bounded memory. It takes a minute and some hundred MB, so it runs
// only with CALLBOARD_HUGE set (make soak).
func TestHuge(t *testing.T) {
	if os.Getenv("CALLBOARD_HUGE") == "" {
		t.Skip("CALLBOARD_HUGE is not set")
	}
	var blocks, models strings.Builder
	blocks.WriteString("model (\n")
	for i := range 1_000_000 {
		x, y := i%1000, i/1000
		fmt.Fprintf(&blocks, "block ( points 4 point[0] [%d %d] point[1] [%d %d.5] point[2] [%d.5 %d.5] point[3] [%d.5 %d] z [0 1] )\n", x, y, x, y, x, y, x, y)
		fmt.Fprintf(&models, "b ( pose [ %d %d 0 0 ] )\n", x, y)
	}
	blocks.WriteString(")\n")
	grey, colour := image.NewGray(image.Rect(0, 0, 10000, 10000)), image.NewNRGBA(image.Rect(0, 0, 10000, 10000))
	for i := range grey.Pix {
		if x, y := i%10000, i/10000; x%100 > 2 && y%100 > 2 {
			grey.Pix[i] = 255
		}
	}
	encoded := func(img image.Image) string {
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for _, c := range []struct {
		name    string
		files   map[string]string
		most    float64 // MB that are allocated in all
		problem string
		bodies  int
	}{
		{"a million blocks", map[string]string{"a.world": blocks.String()}, 3000, "", 1_000_000},
		{"a million models", map[string]string{"a.world": "define b model ( size [ 0.5 0.5 1 ] )\n" + models.String()}, 2500, "", 1_000_000},
		{"100 megapixels, grey", map[string]string{"a.world": "model ( size [ 100 100 1 ] bitmap \"a.png\" )", "a.png": encoded(grey)}, 250, "", 9802},
		{"100 megapixels, colour", map[string]string{"a.world": "model ( bitmap \"a.png\" )", "a.png": encoded(colour)}, 5, "which take 400000000 bytes; expected at most", 0},
	} {
		text := 0
		for _, f := range c.files {
			text += len(f)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin := time.Now()
		w, problems := Load(files(c.files), "a.world")
		took := time.Since(begin)
		runtime.ReadMemStats(&after)
		if w == nil {
			t.Errorf("%s: %v", c.name, problems.First())
			continue
		}
		bodies := 0
		for _, m := range w.All() {
			bodies += len(m.Body)
		}
		runtime.GC()
		var kept runtime.MemStats
		runtime.ReadMemStats(&kept)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / 1e6
		t.Logf("%s: %.1f MB of files, %v, %.0f MB allocated in all, %.0f MB kept, %d outlines", c.name, float64(text)/1e6, took.Round(time.Millisecond),
			allocated, float64(kept.HeapAlloc)/1e6-float64(before.HeapAlloc)/1e6, bodies)
		if allocated > c.most || bodies != c.bodies {
			t.Errorf("%s: %.0f MB allocated, expected at most %.0f; %d outlines, expected %d", c.name, allocated, c.most, bodies, c.bodies)
		}
		if c.problem != "" && (len(problems) == 0 || !strings.Contains(problems[0].Message, c.problem)) {
			t.Errorf("%s: %v, expected %q", c.name, problems, c.problem)
		}
		runtime.KeepAlive(w)
	}
}
