package main

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

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
		fmt.Fprintf(&b, "  %-8s %s\n", c.name, c.summary)
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

// flagHelp is one flag's part of the help: the name of its value stands in
// backquotes in its usage, as in the flag package.
func flagHelp(f cli.Flag) string {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return ""
	}
	usage, value := d.GetUsage(), ""
	if before, rest, found := strings.Cut(usage, "`"); found {
		name, after, _ := strings.Cut(rest, "`")
		usage, value = before+name+after, " "+name
	}
	if standard := d.GetValue(); standard != "" && d.TakesValue() && standard != "[]" {
		usage += " (default " + standard + ")"
	}
	margin := "\n" + strings.Repeat(" ", 24)
	dashes := "--"
	if len(f.Names()[0]) == 1 {
		dashes = "-"
	}
	left := fmt.Sprintf("  %-22s", dashes+f.Names()[0]+value)
	if len(left) > len(margin)-1 {
		left += margin
	}
	return left + strings.Join(wrap(usage, 70), margin) + "\n"
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
		name: "help", summary: "help on a command, or on conditions", args: "[COMMAND|conditions]",
		about: `Shows what a command does, or the language of conditions with examples.`,
		examples: []string{
			"callboard help watch",
			"callboard help conditions",
		},
		run: func(ctx context.Context, c *cli.Context) error {
			args, err := arguments(c, 0, 1, "")
			if err != nil {
				return err
			}
			if len(args) == 0 {
				fmt.Fprint(p.stdout, appHelp(p.commands()))
				return nil
			}
			if args[0] == "conditions" {
				fmt.Fprint(p.stdout, conditionsHelp())
				return nil
			}
			for _, known := range p.commands() {
				if known.name == args[0] {
					fmt.Fprint(p.stdout, known.help())
					return nil
				}
			}
			return usagef("no help on %q%s", args[0], suggest("", args[0], append(commandNames(p.app()), "conditions")))
		},
	}
}
