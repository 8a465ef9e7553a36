//go:build quick

package main

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"
)

// quick says that this is the build of make demo on a machine that has compiled
// nothing yet: not optimized, and without the benchmarks, NATS and the drawing of
// plots, whose packages nothing else needs. It takes half the time.
const quick = true

func (p *program) bench() command {
	return command{
		name: "bench", summary: "reproducible benchmarks (not in this quick build)", args: "NAME",
		about:    "Benchmarks are not in the quick build of make demo. make build makes the whole one.",
		examples: []string{"make build"},
		run:      func(context.Context, *cli.Context) error { return errLeftOut },
	}
}

func (p *program) relay() command {
	return command{
		name: "relay", summary: "bring notifications into NATS (not in this quick build)", args: "CONDITION",
		about:    "NATS is not in the quick build of make demo. make build makes the whole one.",
		examples: []string{"make build"},
		run:      func(context.Context, *cli.Context) error { return errLeftOut },
	}
}

func (d *drawing) draw(io.Writer, bool) error { return errLeftOut }
