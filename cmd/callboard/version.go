package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func (p *program) versionCommand() command {
	return command{
		name: "version", summary: "print the version and end",
		about:    `Prints the version, which names the commit, and that of Go, as --version does.`,
		examples: []string{"callboard version"},
		run: func(ctx context.Context, c *cli.Context) error {
			if _, err := arguments(c, 0, 0, ""); err != nil {
				return err
			}
			return p.printVersion()
		},
	}
}

func (p *program) printVersion() error {
	text := "callboard " + version() + " " + runtime.Version()
	if quick {
		text += " (quick build)"
	}
	_, err := fmt.Fprintln(p.stdout, text)
	return err
}

// version is the module's version, or the commit it was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
