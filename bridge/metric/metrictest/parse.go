// Package metrictest reads Prometheus' text format, version 0.0.4, as strictly
// as it may be read, for tests.
package metrictest

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Family is the metrics of one name.
type Family struct {
	Name, Type, Help string   // without HELP and TYPE: of the first sample, untyped, ""
	Labels           []string // names of its samples' labels, sorted; le is not among them
	Samples          []Sample
}

// Sample is one number.
type Sample struct {
	Name   string // the family's; with _bucket, _sum or _count of a histogram
	Labels map[string]string
	Value  float64
}

var (
	nameForm  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*`)
	labelForm = regexp.MustCompile(`^ *([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|})`)
	unescape  = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n")
)

// Parse returns the families in their order. What is said twice, stands beside
// its family, or does not add up is an error.
func Parse(text string) ([]Family, error) {
	if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("not UTF-8, or cut off")
	}
	var families []Family
	families = append(families, Family{}) // that nothing belongs to
	seen := map[string]bool{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		now := &families[len(families)-1]
		bad := func(why string) ([]Family, error) { return nil, fmt.Errorf("line %d: %s: %q", n+1, why, line) }
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			name, help, _ := strings.Cut(rest, " ")
			families = append(families, Family{Name: name, Help: help})
			if seen["family "+name] {
				return bad("a family twice")
			}
			seen["family "+name] = true
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(rest, " ")
			if name != now.Name || now.Type != "" || !slices.Contains([]string{"counter", "gauge", "histogram"}, kind) {
				return bad("not the type of the family before")
			}
			now.Type = kind
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return bad(err.Error())
		}
		if !now.takes(s.Name) {
			if seen["family "+s.Name] {
				return bad("beside its family")
			}
			seen["family "+s.Name] = true
			families = append(families, Family{Name: s.Name, Type: "untyped"})
			now = &families[len(families)-1]
		}
		if key := fmt.Sprint(s.Name, s.Labels); seen[key] {
			return bad("a sample twice")
		} else {
			seen[key] = true
		}
		labels := slices.DeleteFunc(slices.Sorted(maps.Keys(s.Labels)), func(l string) bool { return l == "le" })
		if now.Samples != nil && !slices.Equal(labels, now.Labels) {
			return bad("other labels than before")
		}
		now.Labels, now.Samples = labels, append(now.Samples, s)
	}
	for _, f := range families[1:] {
		if f.Type == "" || f.Samples == nil {
			return nil, fmt.Errorf("%s has no type or no samples", f.Name)
		}
		if f.Type == "histogram" {
			if err := f.checkHistogram(); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name, err)
			}
		}
	}
	return families[1:], nil
}

// takes reports whether samples of a name are the family's.
func (f *Family) takes(name string) bool {
	if f.Type != "histogram" {
		return name == f.Name
	}
	part, ok := strings.CutPrefix(name, f.Name)
	return ok && slices.Contains([]string{"_bucket", "_sum", "_count"}, part)
}

func parseSample(line string) (Sample, error) {
	s := Sample{Name: nameForm.FindString(line), Labels: map[string]string{}}
	rest := line[len(s.Name):]
	if s.Name == "" {
		return s, fmt.Errorf("no name")
	}
	if strings.HasPrefix(rest, "{") {
		for end := ","; end == ","; {
			m := labelForm.FindStringSubmatch(rest[1:])
			if m == nil {
				return s, fmt.Errorf("no labels")
			}
			if _, twice := s.Labels[m[1]]; twice {
				return s, fmt.Errorf("label %s twice", m[1])
			}
			s.Labels[m[1]], end = unescape.Replace(m[2]), m[3]
			rest = rest[len(m[0]):]
		}
		rest = rest[1:]
	}
	number, ok := strings.CutPrefix(rest, " ")
	var err error
	if s.Value, err = strconv.ParseFloat(number, 64); err != nil || !ok {
		return s, fmt.Errorf("no number")
	}
	return s, nil
}

// checkHistogram looks at a histogram without labels: buckets rise, each holds
// those below it, the last holds all.
func (f *Family) checkHistogram() error {
	last, below := math.Inf(-1), 0.0
	for i, s := range f.Samples {
		switch left := len(f.Samples) - i; {
		case left == 2 && s.Name == f.Name+"_sum":
		case left == 1 && s.Name == f.Name+"_count" && s.Value == below && math.IsInf(last, 1):
		case left > 2 && s.Name == f.Name+"_bucket":
			le, err := strconv.ParseFloat(s.Labels["le"], 64)
			if err != nil || le <= last || s.Value < below {
				return fmt.Errorf("bucket %v after %v with %v", s, last, below)
			}
			last, below = le, s.Value
		default:
			return fmt.Errorf("unexpected %v after the bucket up to %v with %v", s, last, below)
		}
	}
	return nil
}
