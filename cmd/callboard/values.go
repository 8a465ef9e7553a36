package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/config"

	"github.com/urfave/cli/v2"
)

// seconds is a flag's time: seconds ("20", "0.5") or with a unit ("20s",
// "1m30s").
type seconds struct {
	duration time.Duration
	set      bool
}

// maxTime is the longest time that a flag takes.
const maxTime = 100 * 365 * 24 * time.Hour

var errTime = errors.New("expected seconds (20, 0.5) or a time with a unit (20s, 1m30s)")

// Set implements flag.Value.
func (s *seconds) Set(text string) error {
	d, err := parseSeconds(text)
	if err != nil {
		return err
	}
	s.duration, s.set = d, true
	return nil
}

func parseSeconds(text string) (time.Duration, error) {
	var d time.Duration
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		if !(math.Abs(number) <= maxTime.Seconds()) {
			return 0, errTime
		}
		d = time.Duration(math.Round(number * float64(time.Second)))
	} else if d, err = time.ParseDuration(text); err != nil || d > maxTime {
		return 0, errTime
	}
	if d < 0 {
		return 0, fmt.Errorf("the time is negative; %w", errTime)
	}
	return d, nil
}

// String implements flag.Value.
func (s *seconds) String() string {
	if s == nil || !s.set {
		return ""
	}
	return s.duration.String()
}

// count is a flag's number of things, from 1.
type count struct{ n int }

// Set implements flag.Value.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	if err != nil || n < 1 {
		return errors.New("expected a whole number from 1")
	}
	c.n = n
	return nil
}

// String implements flag.Value.
func (c *count) String() string {
	if c == nil || c.n == 0 {
		return ""
	}
	return strconv.Itoa(c.n)
}

// speed is a flag's multiple of real time, or "max".
type speed struct {
	factor float64 // 0: as fast as possible
	set    bool
}

// Set implements flag.Value.
func (s *speed) Set(text string) error {
	f, err := strconv.ParseFloat(text, 64)
	if text != "max" && (err != nil || !(f > 0 && f <= 1e6)) {
		return errors.New(`expected a multiple of real time above 0 (1, 0.5, 10), or "max"`)
	}
	s.factor, s.set = f, true // f is 0 for max
	return nil
}

// String implements flag.Value.
func (s *speed) String() string {
	switch {
	case s == nil || !s.set:
		return ""
	case s.factor == 0:
		return "max"
	}
	return strconv.FormatFloat(s.factor, 'g', -1, 64)
}

// of is the speed, or else what the world asks for.
func (s *speed) of(world float64) float64 {
	if s.set {
		return s.factor
	}
	return world
}

// texts are the values of a flag that may be repeated, as they were given:
// urfave/cli's own trims them and splits them at commas.
type texts struct{ list []string }

// Set implements flag.Value.
func (t *texts) Set(text string) error {
	t.list = append(t.list, text)
	return nil
}

// String implements flag.Value.
func (t *texts) String() string { return "" }

// repeated makes a flag that may be repeated; textsOf reads it.
func repeated(name, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Usage: usage, Value: &texts{}}
}

// textsOf gives the values of a repeated flag in their order.
func textsOf(c *cli.Context, name string) []string {
	if t, ok := c.Generic(name).(*texts); ok {
		return t.list
	}
	return nil
}

// byteCount is a flag's number of bytes: "100MB", "1GiB", "4096".
type byteCount struct {
	bytes int64
	text  string
}

// Set implements flag.Value.
func (s *byteCount) Set(text string) error {
	n, err := config.ParseSize(text)
	if err != nil {
		return err
	}
	s.bytes, s.text = n, text
	return nil
}

// String implements flag.Value.
func (s *byteCount) String() string {
	if s == nil {
		return ""
	}
	return s.text
}
