package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"callboard/subscribe/condition"

	"github.com/urfave/cli/v2"
)

// appHelp is the text of callboard --help.
func appHelp(commands []command) string {
	var b strings.Builder
	b.WriteString(`callboard - conditions on robots' sensor readings, and what matches them, pushed

Usage: callboard COMMAND [ARGUMENT…] [FLAG…]

Commands:
`)
	for _, c := range commands {
		fmt.Fprintf(&b, "  %-10s %s\n", c.name, c.summary)
	}
	b.WriteString(`
Flags may stand anywhere; -- ends them. Times are seconds (20, 0.5) or have a
unit (20s). Logs and errors go to stderr, results to stdout; the exit code is 0,
1 (it failed) or 2 (wrong use).

Examples:
  callboard demo
  callboard watch 'laser.min < 1'
  callboard help conditions
`)
	return b.String()
}

// help is the text of callboard COMMAND --help.
func (c command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "callboard %s - %s\n\nUsage: callboard %s", c.fullName(), c.summary, c.fullName())
	if c.args != "" {
		b.WriteString(" " + c.args)
	}
	if len(c.flags) > 0 {
		b.WriteString(" [FLAG…]")
	}
	fmt.Fprintf(&b, "\n\n%s\n", strings.TrimSpace(c.about))
	if len(c.flags) > 0 {
		b.WriteString("\nFlags:\n")
		for _, f := range c.flags {
			b.WriteString(flagHelp(f))
		}
		b.WriteString("  --help, -h            show this\n")
	}
	b.WriteString("\nExamples:\n")
	for _, e := range c.examples {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// flagHelp is one flag's part of the help.
func flagHelp(f cli.Flag) string {
	value, usage := usageOf(f)
	margin := "\n" + strings.Repeat(" ", 24)
	left := fmt.Sprintf("  %-22s", dashed(f.Names()[0])+strings.TrimSuffix(" "+value, " "))
	if len(left) > len(margin)-1 {
		left += margin
	}
	return left + strings.Join(wrap(usage, 70), margin) + "\n"
}

// usageOf returns the name of a flag's value, "" if it takes none, and what the
// flag is for, with its default. In a flag's usage the value's name stands in
// backquotes, as in the flag package.
func usageOf(f cli.Flag) (value, usage string) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return "", ""
	}
	usage = d.GetUsage()
	if before, rest, found := strings.Cut(usage, "`"); found {
		name, after, _ := strings.Cut(rest, "`")
		value, usage = name, before+name+after
	}
	if standard := d.GetValue(); standard != "" && d.TakesValue() && standard != "[]" {
		usage += " (default " + standard + ")"
	}
	return value, usage
}

// dashed is a flag's name as it is written.
func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// wrap cuts a text into lines of a width at its blanks.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// template makes a text a urfave/cli template that prints just that.
func template(text string) string {
	return strings.NewReplacer("{{", `{{"{{"}}`, "}}", `{{"}}"}}`).Replace(text)
}

// help is the command of that name.
func (p *program) help() command {
	return command{
		name: "help", summary: "help on a command, or on conditions; the man page", args: "[COMMAND|conditions [PART]]",
		about: `Shows what a command does, or the language of conditions with examples; of it
only a PART: that of an interface (laser, position), or reading, functions,
operators or examples. --man prints all of it as a man page.`,
		examples: []string{
			"callboard help watch",
			"callboard help conditions",
			"callboard help conditions laser",
			"callboard help --man > callboard.1",
		},
		flags: []cli.Flag{&cli.BoolFlag{Name: "man", Usage: "print the man page"}},
		words: func(before []string) []string {
			switch {
			case len(before) == 0:
				return p.helpTopics()
			case len(before) == 1 && before[0] == "conditions":
				return condition.HelpParts()
			}
			return nil
		},
		run: func(ctx context.Context, c *cli.Context) error {
			args, err := arguments(c, 0, 2, "")
			if err != nil {
				return err
			}
			if c.Bool("man") {
				if len(args) > 0 {
					return usagef("--man is of all commands; argument %q is left over", args[0])
				}
				return p.manPage()
			}
			text, err := p.helpOn(args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(p.stdout, text)
			return err
		},
	}
}

// helpOn returns the help on what the arguments name.
func (p *program) helpOn(args []string) (string, error) {
	if len(args) == 0 {
		return appHelp(p.commands()), nil
	}
	name := args[0]
	if name == "conditions" {
		if len(args) == 1 {
			return condition.Help(), nil
		}
		if part := condition.HelpOn(args[1]); part != "" {
			return part, nil
		}
		parts := condition.HelpParts()
		if near := suggest("", args[1], parts); near != "" {
			return "", usagef("no help on conditions %q%s", args[1], near)
		}
		return "", usagef("no help on conditions %q, expected one of %s", args[1], strings.Join(parts, ", "))
	}
	found, rest := command{subcommands: p.commands()}.find(args)
	switch {
	case found.name == "":
		return "", usagef("no help on %q%s", name, suggest("", name, p.helpTopics()))
	case len(rest) > 0:
		return "", usagef("argument %q is left over", rest[0])
	}
	return found.help(), nil
}

// helpTopics lists what there is help on.
func (p *program) helpTopics() []string {
	var names []string
	for _, c := range p.commands() {
		names = append(names, c.name)
	}
	return append(names, "conditions")
}
