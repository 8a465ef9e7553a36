// Package metric holds one broker's numbers and shows them at /metrics in
// Prometheus' text format, version 0.0.4: the families by their names, then
// those of Go and the process (go_*, process_*, without types).
package metric

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"
)

// Numbers that a part changes as things happen. That allocates nothing.
type (
	Counter   = metrics.Counter
	Gauge     = metrics.Gauge
	Histogram = metrics.PrometheusHistogram
)

// Family is what metrics of one name have in common.
type Family struct {
	name, kind, help string
	labels           []string
}

// NewFamily describes counters, if the name ends in _total, or else gauges.
// Labels' values must be of a bounded set.
func NewFamily(name, help string, labels ...string) *Family {
	kind := "gauge"
	if strings.HasSuffix(name, "_total") {
		kind = "counter"
	}
	return &Family{name, kind, help, labels}
}

// Set is the metrics of one broker.
type Set struct {
	families map[string]*Family // by name
	sources  []func(*Scrape)
	part     func() *Set // nil: it has none
}

// New makes an empty Set. Parts add theirs before its Handler is made.
func New() *Set { return &Set{families: map[string]*Family{}} }

// Add adds families, and what returns their numbers at each scrape: several
// scrapes may call it at a time. A family that is there already is a mistake
// of the program: Add panics.
func (s *Set) Add(give func(*Scrape), families ...*Family) {
	for _, f := range families {
		if s.families[f.name] != nil {
			panic("metric: " + f.name + " is added twice")
		}
		s.families[f.name] = f
	}
	s.sources = append(s.sources, give)
}

// Part has another Set's metrics be shown with these: the one that part returns at
// each scrape, nil for none. No family is in both.
func (s *Set) Part(part func() *Set) { s.part = part }

// Func adds a family without labels whose number get returns.
func (s *Set) Func(name, help string, get func() float64) {
	f := NewFamily(name, help)
	s.Add(func(to *Scrape) { to.Give(f, get()) }, f)
}

// Counter adds a counter without labels.
func (s *Set) Counter(name, help string) *Counter {
	c := new(Counter)
	s.Func(name, help, func() float64 { return float64(c.Get()) })
	return c
}

// Gauge adds a gauge without labels.
func (s *Set) Gauge(name, help string) *Gauge {
	g := new(Gauge)
	s.Func(name, help, g.Get)
	return g
}

// Histogram adds a histogram with buckets up to each of bounds.
func (s *Set) Histogram(name, help string, bounds []float64) *Histogram {
	own, f := metrics.NewSet(), &Family{name, "histogram", help, nil}
	h := own.NewPrometheusHistogramExt(name, bounds)
	s.Add(func(to *Scrape) {
		var lines bytes.Buffer
		own.WritePrometheus(&lines)
		to.lines[f] = lines.Bytes()
	}, f)
	return h
}

// Counters are counters that differ in the value of one label.
type Counters struct {
	mu sync.Mutex
	by map[string]*Counter
}

// Counters adds counters; what has not been counted yet is not shown.
func (s *Set) Counters(name, help, label string) *Counters {
	c, f := &Counters{by: map[string]*Counter{}}, NewFamily(name, help, label)
	s.Add(func(to *Scrape) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, value := range slices.Sorted(maps.Keys(c.by)) {
			to.Give(f, float64(c.by[value].Get()), value)
		}
	}, f)
	return c
}

// Of returns the counter of a label's value.
func (c *Counters) Of(value string) *Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	one := c.by[value]
	if one == nil {
		one = new(Counter)
		c.by[value] = one
	}
	return one
}

// Scrape takes the numbers of one scrape.
type Scrape struct {
	set   *Set
	sees  func(label, value string) bool // nil: all
	lines map[*Family][]byte
}

// Give takes one number of a family, with the values of its labels in their
// order. Values of labels may be any bytes; those that are not UTF-8 become
// U+FFFD.
func (s *Scrape) Give(f *Family, number float64, values ...string) {
	if s.set.families[f.name] != f {
		panic("metric: " + f.name + " was not added")
	}
	if s.sees != nil {
		for i, label := range f.labels {
			if !s.sees(label, values[i]) {
				return
			}
		}
	}
	b := append(s.lines[f], f.name...)
	before := byte('{')
	for i, label := range f.labels {
		b = append(append(append(b, before), label...), `="`...)
		b = append(append(b, escape.Replace(strings.ToValidUTF8(values[i], "\uFFFD"))...), '"')
		before = ','
	}
	if before == ',' {
		b = append(b, '}')
	}
	s.lines[f] = append(strconv.AppendFloat(append(b, ' '), number, 'f', -1, 64), '\n')
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// text returns the metrics as they are now, without those that have a label's
// value which sees does not let through.
func (s *Set) text(sees func(label, value string) bool) []byte {
	families, lines := maps.Clone(s.families), map[*Family][]byte{}
	s.scrape(sees, lines)
	if s.part != nil {
		if part := s.part(); part != nil {
			part.scrape(sees, lines)
			maps.Copy(families, part.families)
		}
	}
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		if lines := lines[f]; lines != nil {
			fmt.Fprintf(&all, "# HELP %s %s\n# TYPE %s %s\n%s", name, f.help, name, f.kind, lines)
		}
	}
	metrics.WriteProcessMetrics(&all)
	metrics.WriteFDMetrics(&all)
	return all.Bytes()
}

func (s *Set) scrape(sees func(label, value string) bool, lines map[*Family][]byte) {
	scrape := Scrape{set: s, sees: sees, lines: lines}
	for _, give := range s.sources {
		give(&scrape)
	}
}

// maxScrapes is how many scrapes there are at a time; further ones are refused.
const maxScrapes = 4

// Handler serves the metrics. Of those with labels it shows what the function that
// sees returns for a request lets through; nil, from sees too, means all.
func (s *Set) Handler(sees func(*http.Request) func(label, value string) bool) http.Handler {
	if sees == nil {
		sees = func(*http.Request) func(label, value string) bool { return nil }
	}
	places := make(chan struct{}, maxScrapes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			http.Error(w, fmt.Sprintf("%d others are asking; try again later", maxScrapes), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		_, _ = w.Write(s.text(sees(r))) // the client may have gone
	})
}
