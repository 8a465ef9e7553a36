package main

import (
	"fmt"
	"strings"

	"callboard/subscribe/condition"

	"github.com/urfave/cli/v2"
)

// manPage prints the man page, made of the commands' definitions, as roff.
func (p *program) manPage() error {
	var m manWriter
	m.line(`.TH CALLBOARD 1 "" "callboard ` + roff(version()) + `" "Callboard"`)
	m.section("NAME")
	m.text("callboard - conditions on robots' sensor readings, and what matches them, pushed")
	m.section("SYNOPSIS")
	m.text("callboard COMMAND [ARGUMENT…] [FLAG…]")
	m.section("DESCRIPTION")
	m.text(`Callboard stands between Player/Stage robots and the programs that act on them: it reads Player servers,
tests every reading against the conditions that programs have subscribed to, and pushes what matches over WebSocket.
Flags may stand anywhere; -- ends them. Times are seconds (20, 0.5) or have a unit (20s).`)
	m.section("COMMANDS")
	m.commands(p.commands())
	m.section("CONDITIONS")
	m.verbatim(condition.Help())
	m.section("EXIT STATUS")
	m.text("0, 1 (it failed) or 2 (wrong use). Logs and errors go to stderr, results to stdout.")
	_, err := fmt.Fprint(p.stdout, m.String())
	return err
}

// manWriter writes roff with the macros of man pages.
type manWriter struct{ strings.Builder }

func (m *manWriter) line(text string)     { m.WriteString(text + "\n") }
func (m *manWriter) section(title string) { m.line(".SH " + title) }

// commands writes a part for each command, and behind it for its subcommands.
func (m *manWriter) commands(list []command) {
	for _, c := range list {
		synopsis := strings.TrimSuffix("callboard "+c.fullName()+" "+c.args, " ")
		if len(c.flags) > 0 {
			synopsis += " [FLAG…]"
		}
		m.line(`.SS "` + strings.ReplaceAll(roff(synopsis), `"`, `\(dq`) + `"`)
		m.text(c.about)
		m.flags(c.flags)
		m.line(".PP")
		m.line("Examples:")
		m.verbatim(strings.Join(c.examples, "\n"))
		m.commands(c.subcommands)
	}
}

func (m *manWriter) flags(flags []cli.Flag) {
	for _, f := range flags {
		value, usage := usageOf(f)
		m.line(".TP")
		m.line(strings.TrimSuffix(`\fB`+roff(dashed(f.Names()[0]))+`\fR `+roff(value), " "))
		m.text(usage)
	}
}

// text writes paragraphs; lines that are indented stay as they are.
func (m *manWriter) text(text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			m.line(".PP")
		case strings.HasPrefix(line, " "):
			m.verbatim(line)
		default:
			m.line(roff(line))
		}
	}
}

// verbatim writes lines as they are.
func (m *manWriter) verbatim(text string) {
	m.line(".nf")
	for line := range strings.Lines(text) {
		m.line(roff(strings.TrimRight(line, "\n")))
	}
	m.line(".fi")
}

// roff escapes what roff would take for its own: backslashes, hyphens that are
// to stay minus signs, quotes, carets and tildes that it would make typographic,
// and a dot or an apostrophe that begins a line.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}
