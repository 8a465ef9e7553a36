package metric_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"callboard/bridge/metric"
	"callboard/bridge/metric/metrictest"

	"github.com/google/go-cmp/cmp"
)

// scrape returns the families that are ours, and the text.
func scrape(t *testing.T, s *metric.Set) ([]metrictest.Family, string) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Handler(nil).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if kind := w.Header().Get("Content-Type"); w.Code != 200 || kind != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("status %d, %s", w.Code, kind)
	}
	families, err := metrictest.Parse(w.Body.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, w.Body)
	}
	for i, f := range families {
		if f.Type == "untyped" {
			return families[:i], w.Body.String()
		}
	}
	return families, w.Body.String()
}

// fill adds one family of each kind and counts.
func fill(s *metric.Set) {
	s.Gauge("z_open", "Open.").Add(-2.5)
	s.Counter("b_total", `Counted 100 %.`).Add(1 << 30)
	closed := s.Counters("closed_total", "Closed.", "reason")
	closed.Of("stalled").Inc()
	closed.Of("away").Add(2)
	closed.Of("stalled").Inc()
	s.Counters("never_total", "Never counted.", "reason")
	h := s.Histogram("wait_seconds", "Waits.", []float64{20e-6, 0.1, 1})
	for _, v := range []float64{0, 20e-6, 0.05, 0.1, 3} {
		h.Update(v)
	}
	up, lost := metric.NewFamily("a_up", "Up.", "robot"), metric.NewFamily("a_lost_total", "Lost.", "robot", "why")
	s.Add(func(to *metric.Scrape) {
		for i, robot := range []string{"r0", "r1"} { // family beside family
			to.Give(up, float64(i), robot)
			to.Give(lost, 7, robot, "full")
		}
	}, up, lost)
}

const filled = `# HELP a_lost_total Lost.
# TYPE a_lost_total counter
a_lost_total{robot="r0",why="full"} 7
a_lost_total{robot="r1",why="full"} 7
# HELP a_up Up.
# TYPE a_up gauge
a_up{robot="r0"} 0
a_up{robot="r1"} 1
# HELP b_total Counted 100 %.
# TYPE b_total counter
b_total 1073741824
# HELP closed_total Closed.
# TYPE closed_total counter
closed_total{reason="away"} 2
closed_total{reason="stalled"} 2
# HELP wait_seconds Waits.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="2e-05"} 2
wait_seconds_bucket{le="0.1"} 4
wait_seconds_bucket{le="1"} 4
wait_seconds_bucket{le="+Inf"} 5
wait_seconds_sum 3.15002
wait_seconds_count 5
# HELP z_open Open.
# TYPE z_open gauge
z_open -2.5
`

// TestText: every kind, each family once and whole; a second Set knows nothing
// of the first; those of the process follow.
func TestText(t *testing.T) {
	s, other := metric.New(), metric.New()
	fill(s)
	for range 2 {
		_, text := scrape(t, s)
		ours, process, _ := strings.Cut(text, "go_")
		if diff := cmp.Diff(filled, ours); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		for _, name := range []string{"goroutines ", "info{version=", "memstats_alloc_bytes "} {
			if !strings.Contains(process, "go_"+name) {
				t.Errorf("no go_%s in\n%s", name, process)
			}
		}
	}
	if families, _ := scrape(t, other); len(families) != 0 {
		t.Errorf("an empty set shows %v", families)
	}
}

// TestLabelsMayBeAnything that a robot or a Player server may be named.
func TestLabelsMayBeAnything(t *testing.T) {
	for value, want := range map[string]string{
		"":                        "",
		`r"0`:                     `r"0`,
		`\`:                       `\`,
		`\n`:                      `\n`,
		"a\nb_total 3\n# TYPE":    "a\nb_total 3\n# TYPE",
		`",robot="x"} 1`:          `",robot="x"} 1`,
		"r\r\t\x00é机":             "r\r\t\x00é机",
		"\xffr\xc3":               "\uFFFDr\uFFFD",
		"{}":                      "{}",
		strings.Repeat(`\"`, 300): strings.Repeat(`\"`, 300),
	} {
		s, up := metric.New(), metric.NewFamily("up", "Up.", "robot", "reason")
		s.Add(func(to *metric.Scrape) { to.Give(up, 1, value, value) }, up)
		s.Counters("refused_total", "Refused.", "reason").Of(value).Inc()
		got, _ := scrape(t, s)
		if diff := cmp.Diff([]metrictest.Family{
			{Name: "refused_total", Type: "counter", Help: "Refused.", Labels: []string{"reason"},
				Samples: []metrictest.Sample{{Name: "refused_total", Labels: map[string]string{"reason": want}, Value: 1}}},
			{Name: "up", Type: "gauge", Help: "Up.", Labels: []string{"reason", "robot"},
				Samples: []metrictest.Sample{{Name: "up", Labels: map[string]string{"robot": want, "reason": want}, Value: 1}}},
		}, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", value, diff)
		}
	}
}

// TestMistakes of the program are told at once.
func TestMistakes(t *testing.T) {
	for name, do := range map[string]func(*metric.Set){
		"metric: a_total is added twice": func(s *metric.Set) { s.Counter("a_total", ""); s.Counters("a_total", "", "x") },
		"metric: b was not added": func(s *metric.Set) {
			s.Add(func(to *metric.Scrape) { to.Give(metric.NewFamily("b", ""), 1) })
			scrape(t, s)
		},
	} {
		func() {
			defer func() {
				if got := recover(); got != name {
					t.Errorf("%v, expected %s", got, name)
				}
			}()
			do(metric.New())
		}()
	}
}

// TestFourScrapesAtATime: further ones are refused until one has ended, and
// counting goes on meanwhile.
func TestFourScrapesAtATime(t *testing.T) {
	s, entered, leave := metric.New(), make(chan struct{}), make(chan struct{})
	counter, counters, wait := s.Counter("a_total", ""), s.Counters("b_total", "", "x"), s.Histogram("c", "", []float64{1})
	var inside atomic.Int32
	s.Add(func(*metric.Scrape) {
		if inside.Add(1) <= 4 {
			entered <- struct{}{}
			<-leave
		}
	})
	handler := s.Handler(nil)
	ask := func() int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Code
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if got := ask(); got != 200 {
				t.Errorf("one of four: %d", got)
			}
		})
		<-entered
	}
	counter.Inc()
	counters.Of("new").Inc()
	wait.Update(0.5)
	if got := ask(); got != 503 {
		t.Errorf("the fifth: %d", got)
	}
	close(leave)
	asking.Wait()
	if got := ask(); got != 200 {
		t.Errorf("after them: %d", got)
	}
}

// TestCountingAllocatesNothing.
func TestCountingAllocatesNothing(t *testing.T) {
	s := metric.New()
	counter, gauge, counters, wait := s.Counter("a_total", ""), s.Gauge("b", ""), s.Counters("c_total", "", "op"), s.Histogram("d", "", []float64{1, 2})
	op := strings.Repeat("op", 3)
	if n := testing.AllocsPerRun(100, func() {
		counter.Inc()
		counter.Add(3)
		gauge.Dec()
		counters.Of(op).Inc()
		wait.Update(1.5)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkScrape of as many robots.
func BenchmarkScrape(b *testing.B) {
	s, up := metric.New(), metric.NewFamily("up", "Up.", "robot")
	fill(s)
	s.Add(func(to *metric.Scrape) {
		for i := range 1000 {
			to.Give(up, 1, fmt.Sprint("r", i))
		}
	}, up)
	handler, r := s.Handler(nil), httptest.NewRequest("GET", "/metrics", nil)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
}
