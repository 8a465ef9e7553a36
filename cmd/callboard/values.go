package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/config"
	"callboard/player/replay"

	"github.com/urfave/cli/v2"
)

// flagValue is a flag's value, read by a function of its own. Of what was not
// given v is the default.
type flagValue[T any] struct {
	v     T
	set   bool
	text  string // as it is shown
	parse func(text string) (T, error)
}

// Set implements flag.Value.
func (f *flagValue[T]) Set(text string) (err error) {
	v, err := f.parse(text)
	if err == nil {
		f.v, f.set, f.text = v, true, text
	}
	return err
}

// String implements flag.Value.
func (f *flagValue[T]) String() string {
	if f == nil {
		return ""
	}
	return f.text
}

// seconds is a flag's time: seconds ("20", "0.5") or with a unit ("20s",
// "1m30s").
func seconds() *flagValue[time.Duration] {
	return &flagValue[time.Duration]{parse: parseSeconds}
}

// maxTime is the longest time that a flag takes.
const maxTime = 100 * 365 * 24 * time.Hour

var errTime = errors.New("expected seconds (20, 0.5) or a time with a unit (20s, 1m30s)")

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

// count is a flag's number of things, from 1.
func count() *flagValue[int] {
	return &flagValue[int]{parse: func(text string) (int, error) {
		n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
		if err != nil || n < 1 {
			return 0, errors.New("expected a whole number from 1")
		}
		return n, nil
	}}
}

// speed is a flag's multiple of real time; 0, "max": as fast as possible.
func speed() *flagValue[float64] {
	return &flagValue[float64]{parse: func(text string) (float64, error) {
		f, err := strconv.ParseFloat(text, 64)
		if text != "max" && (err != nil || !(f > 0 && f <= 1e6)) {
			return 0, errors.New(`expected a multiple of real time above 0 (1, 0.5, 10), or "max"`)
		}
		return f, nil // 0 for max
	}}
}

// or is the value, or else another.
func (f *flagValue[T]) or(other T) T {
	if f.set {
		return f.v
	}
	return other
}

// index is a flag's device index, from 0; nil: not given.
func index() *flagValue[*int] {
	return &flagValue[*int]{parse: func(text string) (*int, error) {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil, errors.New("expected a device index, 0 to 65535")
		}
		return new(int(n)), nil
	}}
}

// byteCount is a flag's number of bytes: "100MB", "1GiB", "4096".
func byteCount() *flagValue[int64] { return &flagValue[int64]{parse: config.ParseSize} }

// point is a flag's moment of a run: a time since its beginning, or @T, what
// its clock showed.
func point() *flagValue[replay.Point] {
	return &flagValue[replay.Point]{parse: func(text string) (replay.Point, error) {
		if clock, found := strings.CutPrefix(text, "@"); found {
			t, err := strconv.ParseFloat(clock, 64)
			if err != nil || math.IsNaN(t) || math.IsInf(t, 0) {
				return replay.Point{}, errors.New("expected a time of the run's clock in seconds behind @ (@1795985319.161)")
			}
			return replay.Point{Set: true, Absolute: true, Seconds: t}, nil
		}
		d, err := parseSeconds(text)
		if err != nil {
			return replay.Point{}, fmt.Errorf("%w, or what the run's clock showed (@1795985319.161)", err)
		}
		return replay.Point{Set: true, Seconds: d.Seconds()}, nil
	}}
}

// repeated makes a flag that may be repeated; textsOf reads it. Its values stay as
// they were given: urfave/cli's own trims them and splits them at commas.
func repeated(name, usage string) cli.Flag {
	all := &flagValue[[]string]{}
	all.parse = func(text string) ([]string, error) { return append(all.v, text), nil }
	return &cli.GenericFlag{Name: name, Usage: usage, Value: all}
}

// textsOf returns the values of a repeated flag in their order.
func textsOf(c *cli.Context, name string) []string {
	if all, ok := c.Generic(name).(*flagValue[[]string]); ok {
		return all.v
	}
	return nil
}
