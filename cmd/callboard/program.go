package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// program is one run of the binary: what it reads, where it writes and logs.
type program struct {
	name   string // as it was called
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	getenv func(string) string

	reading atomic.Bool // it only reads: it may end at once
}

// command is a subcommand: what urfave/cli needs, and what its help says.
type command struct {
	name     string
	parent   string   // the command that it is a subcommand of, "" for none
	summary  string   // one line
	args     string   // "CONDITION", "FILE…"
	about    string   // a paragraph or two, wrapped at 80
	examples []string // each was run
	flags    []cli.Flag
	run      func(ctx context.Context, c *cli.Context) error

	words func(before []string) []string // what may stand behind those arguments, where that is a word of ours

	subcommands []command
}

// find follows names into subcommands, and returns the last command and the
// names that are none.
func (c command) find(names []string) (found command, rest []string) {
	if len(names) > 0 {
		for _, sub := range c.subcommands {
			if sub.name == names[0] {
				return sub.find(names[1:])
			}
		}
	}
	return c, names
}

// fullName is the name with its parent's.
func (c command) fullName() string { return strings.TrimPrefix(c.parent+" "+c.name, " ") }

// commands lists the subcommands in the order of the help.
func (p *program) commands() []command {
	return []command{
		p.demo(), p.serve(), p.initCommand(), p.sim(), p.replay(), p.view(),
		p.watch(), p.send(), p.status(), p.top(), p.standby(),
		p.record(), p.query(),
		p.request(), p.work(), p.relay(),
		p.check(), p.bench(), p.help(), p.completion(), p.versionCommand(),
	}
}

// app makes the urfave/cli application.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:                      "callboard",
		Usage:                     "conditions on robots' sensor readings, and what matches them, pushed",
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Flags:                     []cli.Flag{cli.HelpFlag, &cli.BoolFlag{Name: "version", Usage: "print the version and end"}},
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return parseError(err) },
		Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return p.printVersion()
			}
			return usagef("no command given; callboard --help lists them")
		},
	}
	commands := p.commands()
	for _, c := range commands {
		app.Commands = append(app.Commands, c.cli())
	}
	app.CustomAppHelpTemplate = template(appHelp(commands))
	return app
}

// cli makes the urfave/cli command.
func (c command) cli() *cli.Command {
	made := &cli.Command{
		Name: c.name, Usage: c.summary, ArgsUsage: c.args, Flags: c.flags,
		HideHelpCommand:    true,
		CustomHelpTemplate: template(c.help()),
		OnUsageError: func(_ *cli.Context, err error, _ bool) error {
			return inCommand(c.fullName(), parseError(err))
		},
		Action: func(ctx *cli.Context) error { return inCommand(c.fullName(), c.run(ctx.Context, ctx)) },
	}
	for _, sub := range c.subcommands {
		made.Subcommands = append(made.Subcommands, sub.cli())
	}
	return made
}

// run carries out the arguments (without the program's name) and returns the
// exit code.
func (p *program) run(ctx context.Context, arguments []string) int {
	app := p.app()
	arranged, err := arrangeAll(app, arguments)
	if err == nil {
		err = app.RunContext(ctx, append([]string{"callboard"}, arranged...))
	}
	if errors.Is(err, errUnread) {
		return exitOK
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		name, _ := commandOf(err) // what serves or watches ends without an error
		err = inCommand(name, errors.New("interrupted"))
	}
	p.report(err)
	return exitCode(err)
}

// report prints an error for people.
func (p *program) report(err error) {
	var problems *problemsError
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, errQuiet):
	case errors.As(err, &problems):
		for _, line := range problems.lines {
			fmt.Fprintln(p.stderr, line)
		}
	default:
		separator := ": "
		if _, ok := commandOf(err); ok {
			separator = " " // the command's name follows
		}
		fmt.Fprintln(p.stderr, "callboard"+separator+strings.TrimSuffix(err.Error(), "\n"))
	}
	if errors.As(err, &usage) {
		p.hint(err)
	}
}

// hint says where the right use is told.
func (p *program) hint(err error) {
	if name, ok := commandOf(err); ok {
		fmt.Fprintf(p.stderr, "callboard %s --help tells how it is used\n", name)
	}
}

// commandOf returns the command that an error came up in.
func commandOf(err error) (string, bool) {
	var c *commandError
	if errors.As(err, &c) {
		return c.command, true
	}
	return "", false
}

// logFlags are those of every command that logs.
func logFlags(level string) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log-format", Value: "text", Usage: "`FORMAT` of the log on stderr: text or json"},
		&cli.StringFlag{Name: "log-level", Value: level, Usage: "least `LEVEL` that is logged: debug, info, warn or error"},
	}
}

// logger makes the logger that the flags ask for.
func (p *program) logger(c *cli.Context) (*slog.Logger, error) {
	var level slog.Level
	switch name := c.String("log-level"); name {
	case "debug", "info", "warn", "error":
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return nil, err
		}
	default:
		return nil, usagef("--log-level %q, expected debug, info, warn or error", name)
	}
	options := &slog.HandlerOptions{Level: level}
	switch format := c.String("log-format"); format {
	case "text":
		return slog.New(slog.NewTextHandler(p.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(p.stderr, options)), nil
	default:
		return nil, usagef("--log-format %q, expected text or json", format)
	}
}

// colours reports whether w is a terminal that may be coloured.
func (p *program) colours(w io.Writer) bool {
	return p.terminal(w) && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
}

// terminal reports whether w is one.
func (p *program) terminal(w io.Writer) bool {
	f, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns is how many characters a line of a terminal has; 0 for what is none.
func (p *program) columns(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// wrapped cuts a text for stdout into lines between words, if that is a terminal.
func (p *program) wrapped(text string) string {
	if width := p.columns(p.stdout); width > 0 {
		return strings.Join(wrap(text, width), "\n")
	}
	return text
}

// printTable prints a table to stdout: as wide as the terminal at most, or with
// tabs where it is none. It returns the headings for which there was no room.
func (p *program) printTable(t *table) (left []string) {
	if !p.terminal(p.stdout) {
		t.printTabs(p.stdout)
		return nil
	}
	return t.print(p.stdout, style{p.colours(p.stdout)}, p.columns(p.stdout))
}

// arguments checks how many positional arguments there are.
func arguments(c *cli.Context, least, most int, what string) ([]string, error) {
	args := c.Args().Slice()
	switch {
	case len(args) < least:
		return nil, usagef("%s missing", what)
	case most >= 0 && len(args) > most:
		return nil, usagef("argument %q is left over", args[most])
	}
	return args, nil
}

// begin checks how many positional arguments a command has, and makes its logger.
func (p *program) begin(c *cli.Context, least, most int, what string) ([]string, *slog.Logger, error) {
	args, err := arguments(c, least, most, what)
	if err != nil {
		return nil, nil, err
	}
	logger, err := p.logger(c)
	return args, logger, err
}
