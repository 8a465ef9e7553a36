package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"callboard/bridge/config"
	"callboard/player/problem"
	"callboard/player/regular"
	"callboard/sim/worldfile"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

func (p *program) check() command {
	return command{
		name: "check", summary: "are these files and conditions right?", args: "FILE…",
		about: `Checks worlds (.world), Player configurations (.cfg) and logs (.log, .log.gz),
recordings (.mcap), Callboard configurations (.toml), and conditions. Each problem is a line:
file:line:column, what is wrong and what is expected. What real Player and Stage
tolerate, or write wrong themselves, is a warning. Ends with 1 only for errors.`,
		examples: []string{
			"callboard check callboard.toml",
			"callboard check worlds/cave.world",
			"callboard check swarm.cfg run.log run.mcap",
			"callboard check --condition 'laser.min < 1'",
		},
		flags: []cli.Flag{
			repeated("condition", "a condition's `TEXT` to check (repeat)"),
			&cli.StringFlag{Name: "config", Usage: "configuration `FILE` whose zones and limits hold for --condition"},
		},
		run: func(ctx context.Context, c *cli.Context) error {
			files, texts := c.Args().Slice(), textsOf(c, "condition")
			if len(files)+len(texts) == 0 {
				return usagef("FILE or --condition TEXT missing")
			}
			p.reading.Store(true)
			k := &checker{p: p}
			if len(texts) > 0 {
				if err := k.conditions(c.String("config"), texts); err != nil {
					return err
				}
			}
			for _, file := range files {
				k.file(file)
			}
			return k.end(len(files) + len(texts))
		},
	}
}

// checker prints findings and counts them.
type checker struct {
	p                *program
	errors, warnings int
}

func (k *checker) wrong(line string) {
	k.errors++
	fmt.Fprintln(k.p.stdout, line)
}

func (k *checker) warn(line string) {
	k.warnings++
	fmt.Fprintln(k.p.stdout, line)
}

// tell prints problems.
func (k *checker) tell(problems ...problem.Problem) {
	for _, p := range problems {
		if p.Warning {
			k.warn(p.Error())
		} else {
			k.wrong(p.Error())
		}
	}
}

// end prints the sum.
func (k *checker) end(checked int) error {
	things := plural(checked, "thing")
	switch {
	case k.errors > 0:
		fmt.Fprintf(k.p.stdout, "%s checked: %s, %s\n", things, plural(k.errors, "error"), plural(k.warnings, "warning"))
		return errQuiet
	case k.warnings > 0:
		fmt.Fprintf(k.p.stdout, "%s checked: no errors, %s\n", things, plural(k.warnings, "warning"))
	default:
		fmt.Fprintf(k.p.stdout, "%s checked: all is well\n", things)
	}
	return nil
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// file checks one file by its kind, known from its name's ending.
func (k *checker) file(name string) {
	ending := filepath.Ext(name)
	if strings.HasSuffix(name, ".log.gz") {
		ending = ".log"
	}
	switch ending {
	case ".cfg":
		k.playerConfiguration(name)
	case ".log":
		k.log(name)
	case ".mcap":
		k.mcapFile(name)
	case ".world", ".inc":
		_, problems := worldfile.Load(openFile, name)
		k.tell(problems...)
	case ".toml":
		_, problems := config.Load(name, nil)
		k.tell(problems...)
	default:
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			k.wrong(name + ": no such file")
			return
		}
		k.wrong(fmt.Sprintf("%s: cannot check it: unknown kind of file; expected a world (.world), a Player configuration (.cfg) or log (.log), a recording (.mcap), or a Callboard configuration (.toml)", name))
	}
}

// conditions checks texts as a broker with that configuration would.
func (k *checker) conditions(file string, texts []string) error {
	settings, problems := config.Load(file, nil)
	if wrong := problems.Lines(false); wrong != nil && file != "" {
		return &problemsError{lines: wrong}
	}
	compiler, err := condition.New(condition.Config{Zones: settings.Zones, Length: settings.Limits.ConditionLength})
	if err != nil {
		return err
	}
	for i, text := range texts {
		name := "condition"
		if len(texts) > 1 {
			name = fmt.Sprintf("condition[%d]", i+1)
		}
		if _, wrong := compiler.Condition(text); wrong != nil {
			k.wrong(fmt.Sprintf("%s:%d:%d: %s%s", name, wrong.Line, wrong.Column, wrong.Message,
				caret(text, protocol.Position{Line: wrong.Line, Column: wrong.Column})))
		}
	}
	return nil
}

// maxFile bounds a file that is read whole, in bytes.
const maxFile = 256 << 20

// openFile reads a file for those who must not open any themselves.
func openFile(name string) ([]byte, error) {
	return regular.Read(name, maxFile)
}

// problems makes an error of what is wrong, and prints the warnings.
func (p *program) problems(all problem.List) error {
	for _, line := range all.Lines(true) {
		fmt.Fprintln(p.stderr, line)
	}
	if wrong := all.Lines(false); wrong != nil {
		return &problemsError{lines: wrong}
	}
	return nil
}
