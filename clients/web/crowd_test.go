package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"callboard/bridge/benchtest"
	"callboard/sim/simtest"
)

// BenchmarkCrowd opens the page on a broker in a process of its own, with robots
// that all drive about in the simulator, and reports for some seconds how smooth the
// map is: frames a second, the longest time between two (ms), what a frame takes of a
// processor for the page's script and layout (ms), the script's memory (MB), and how
// much of a processor the broker takes more than without the page (%).
func BenchmarkCrowd(b *testing.B) {
	chromium := browser(b)
	for _, robots := range []int{100, 1000} {
		b.Run(fmt.Sprint(robots), func(b *testing.B) {
			broker := crowd(b, robots)
			p := visit(b, chromium, "about:blank")
			without := processorTime(p, broker)
			p = open(b, chromium, broker.URL)
			p.until(fmt.Sprintf(`callboard.robots.filter((r) => r.x !== undefined).length === %d`, robots))
			var m smoothness
			taken := mainThread(p)
			for b.Loop() {
				m = value[smoothness](p, measure)
			}
			b.ReportMetric(1000*(mainThread(p)-taken)/float64(b.N*m.Frames), "script-ms/frame")
			b.ReportMetric(100*(processorTime(p, broker)-without), "broker-%")
			b.ReportMetric(float64(m.Frames)/m.Seconds, "frames/s")
			b.ReportMetric(m.Worst, "worst-ms")
			b.ReportMetric(m.Memory/1e6, "heap-MB")
			p.shot(fmt.Sprintf("crowd-%d", robots))
		})
	}
}

// smoothness is what measure measures.
type smoothness struct {
	Frames  int     `json:"frames"`
	Seconds float64 `json:"seconds"`
	Worst   float64 `json:"worst"`  // ms
	Memory  float64 `json:"memory"` // bytes
}

const measure = `new Promise((done) => {
	const begun = performance.now(), from = callboard.map.frames;
	let last = begun, worst = 0;
	const frame = (now) => {
		worst = Math.max(worst, now - last);
		last = now;
		if (now - begun < 10_000) return requestAnimationFrame(frame);
		done({ frames: callboard.map.frames - from, seconds: (now - begun) / 1000, worst, memory: performance.memory?.usedJSHeapSize ?? 0 });
	};
	requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
})`

// crowd starts a broker that reads so many simulated robots.
func crowd(b *testing.B, robots int) *benchtest.Process {
	b.Helper()
	names := make([]string, robots)
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i)
	}
	address, err := benchtest.FreeAddress()
	if err != nil {
		b.Fatal(err)
	}
	text := fmt.Sprintf("[broker]\nid = \"b1\"\nlisten = %q\ndata = \"data\"\n", address)
	for i, player := range simtest.Wander(b, 1, names...) {
		text += fmt.Sprintf("[[player]]\naddress = %q\nrobot = %q\n", player, names[i])
	}
	file := filepath.Join(b.TempDir(), "callboard.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return start(b, file)
}

// mainThread is how much processor time the page's main thread has taken, in seconds.
func mainThread(p *page) float64 {
	p.t.Helper()
	if _, err := chromedp.Call(p.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
		p.t.Fatal(err)
	}
	got, err := chromedp.Call(p.ctx, performance.GetMetrics, cdp.Empty{})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	p.t.Fatal("the browser tells no TaskDuration")
	return 0
}

// processorTime is how much of a processor a process takes, for some seconds of the
// browser's.
func processorTime(p *page, broker *benchtest.Process) float64 {
	p.t.Helper()
	taken := func() float64 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", broker.PID()))
		if err != nil {
			p.t.Skip("no /proc here: ", err)
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		var user, system float64
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
		return (user + system) / 100 // ticks
	}
	before := taken()
	seconds := value[float64](p, `new Promise((done) => { const begun = performance.now(); setTimeout(() => done((performance.now() - begun) / 1000), 5000); })`)
	return (taken() - before) / seconds
}
