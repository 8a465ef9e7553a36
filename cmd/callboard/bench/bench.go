// Package bench holds the workloads of callboard bench: each runs something
// reproducible and reports figures. Ratios are measured in one run, so that
// they mean something on any machine.
package bench

import (
	"context"
	"time"
)

// Result is one figure.
type Result struct {
	Bench  string  `json:"bench"`
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
}

// Workload is one benchmark.
type Workload struct {
	Name       string
	Summary    string // one line
	About      string // what is measured and how
	Examples   []string
	Parameters []Parameter
	// Run measures and reports each figure as it is known; Result.Bench is
	// filled in for it.
	Run func(ctx context.Context, v Values, report func(Result)) error
}

// Parameter is a flag of a workload. The type of Default is the flag's: int,
// float64, time.Duration, string or bool.
type Parameter struct {
	Name    string
	Usage   string // the value's name in backquotes: "`N` of robots"
	Default any
}

// Values are a workload's parameters by name. Asking for one that is not
// declared with that type panics: a mistake in the workload.
type Values map[string]any

// Int returns an int parameter.
func (v Values) Int(name string) int { return v[name].(int) }

// Float returns a float64 parameter.
func (v Values) Float(name string) float64 { return v[name].(float64) }

// Duration returns a time.Duration parameter.
func (v Values) Duration(name string) time.Duration { return v[name].(time.Duration) }

// Text returns a string parameter.
func (v Values) Text(name string) string { return v[name].(string) }

// Switch returns a bool parameter.
func (v Values) Switch(name string) bool { return v[name].(bool) }

// quantile returns the value that the share q of the sorted ones stays below; 0 if
// there are none.
func quantile[T any](sorted []T, q float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}
