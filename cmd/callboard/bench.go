//go:build !quick

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"callboard/cmd/callboard/bench"

	"github.com/urfave/cli/v2"
)

func (p *program) bench() command {
	var list strings.Builder
	var subs []command
	for _, w := range bench.Workloads() {
		fmt.Fprintf(&list, "\n  %-8s %s", w.Name, w.Summary)
		subs = append(subs, p.workload(w))
	}
	return command{
		name: "bench", summary: "reproducible benchmarks", args: "NAME",
		about: `Runs a benchmark and prints its figures: a table for people, or with --json an
object a line with bench, case, metric, value and unit. Each has flags of its
own; callboard bench NAME --help tells them.
` + list.String(),
		examples: []string{
			"callboard bench match",
			"callboard bench match --subscriptions 1000 --json",
		},
		subcommands: subs,
		run: func(ctx context.Context, c *cli.Context) error {
			var names []string
			for _, w := range bench.Workloads() {
				names = append(names, w.Name)
			}
			if c.Args().Present() {
				name := c.Args().First()
				return usagef("unknown benchmark %q%s", name, suggest("", name, names))
			}
			return usagef("NAME missing, expected one of %s", strings.Join(names, ", "))
		},
	}
}

// workload makes a subcommand of bench.
func (p *program) workload(w bench.Workload) command {
	flags := []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print an object a line"}}
	values := map[string]func(*cli.Context) any{}
	for _, parameter := range w.Parameters {
		f, value := parameterFlag(parameter)
		flags = append(flags, f)
		values[parameter.Name] = value
	}
	return command{
		name: w.Name, parent: "bench", summary: w.Summary, about: w.About, examples: w.Examples, flags: flags,
		run: func(ctx context.Context, c *cli.Context) error {
			if _, err := arguments(c, 0, 0, ""); err != nil {
				return err
			}
			v := bench.Values{}
			for name, value := range values {
				v[name] = value(c)
			}
			return p.runWorkload(ctx, w, v, c.Bool("json"))
		},
	}
}

// parameterFlag makes the flag of a workload's parameter, and what reads it.
func parameterFlag(parameter bench.Parameter) (cli.Flag, func(*cli.Context) any) {
	name, usage := parameter.Name, parameter.Usage
	switch standard := parameter.Default.(type) {
	case int:
		n := count()
		if n.v = standard; standard != 0 {
			n.text = strconv.Itoa(standard)
		}
		return &cli.GenericFlag{Name: name, Usage: usage, Value: n}, func(*cli.Context) any { return n.v }
	case float64:
		return &cli.Float64Flag{Name: name, Usage: usage, Value: standard}, func(c *cli.Context) any { return c.Float64(name) }
	case time.Duration:
		s := seconds()
		s.v, s.text = standard, standard.String()
		return &cli.GenericFlag{Name: name, Usage: usage, Value: s}, func(*cli.Context) any { return s.v }
	case bool:
		return &cli.BoolFlag{Name: name, Usage: usage, Value: standard}, func(c *cli.Context) any { return c.Bool(name) }
	case string:
		return &cli.StringFlag{Name: name, Usage: usage, Value: standard}, func(c *cli.Context) any { return c.String(name) }
	}
	panic(fmt.Sprintf("parameter %s: no flag is of type %T", name, parameter.Default))
}

// runWorkload runs a workload and prints its figures.
func (p *program) runWorkload(ctx context.Context, w bench.Workload, v bench.Values, asJSON bool) error {
	t := table{headings: []string{"CASE", "METRIC", "VALUE", "UNIT"}, right: map[int]bool{2: true}}
	err := w.Run(ctx, v, func(r bench.Result) {
		r.Bench = w.Name
		if asJSON {
			line, _ := json.Marshal(r) // finite numbers and text
			fmt.Fprintln(p.stdout, string(line))
			return
		}
		t.add(r.Case, r.Metric, figure(r.Value), r.Unit)
	})
	if !asJSON && len(t.rows) > 0 {
		p.printTable(&t)
	}
	return err
}

// figure prints four digits that count, and large numbers whole.
func figure(v float64) string {
	if v >= 1000 || v <= -1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
