package main

import (
	"context"
	"encoding/json"
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
			"callboard check worlds/cave.cfg run.log run.mcap",
			"callboard check --condition 'laser.min < 1'",
			"callboard check --json worlds/cave.cfg",
		},
		flags: []cli.Flag{
			repeated("condition", "a condition's `TEXT` to check (repeat)"),
			&cli.BoolFlag{Name: "json", Usage: "print an object a line: file, line, column, severity, message; at last the sums"},
			&cli.StringFlag{Name: "config", Usage: "configuration `FILE` whose zones and limits hold for --condition"},
		},
		run: func(ctx context.Context, c *cli.Context) error {
			files, texts := c.Args().Slice(), textsOf(c, "condition")
			if len(files)+len(texts) == 0 {
				return usagef("FILE or --condition TEXT missing")
			}
			p.reading.Store(true)
			k := &checker{p: p, json: c.Bool("json")}
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
	json             bool
	errors, warnings int
}

// finding is a problem as --json prints it, or what else there is to say of a
// file.
type finding struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Offset   *int64 `json:"offset,omitempty"` // in bytes, of a file that has no lines
	Severity string `json:"severity"`         // error, warning or note
	Key      string `json:"key,omitempty"`    // of a value in a configuration
	Message  string `json:"message"`
}

// tell prints problems.
func (k *checker) tell(problems ...problem.Problem) {
	for _, p := range problems {
		k.count(p)
		if !k.json {
			fmt.Fprintln(k.p.stdout, p.Error())
			continue
		}
		f := finding{File: p.File, Line: p.Line, Column: p.Column, Severity: "error", Key: p.Key, Message: p.Text()}
		if p.Warning {
			f.Severity = "warning"
		}
		if p.Binary {
			f.Offset = &p.Offset
		}
		k.object(f)
	}
}

// count counts a problem, printed or not.
func (k *checker) count(p problem.Problem) {
	if p.Warning {
		k.warnings++
	} else {
		k.errors++
	}
}

// wrong prints what is wrong with a file as a whole.
func (k *checker) wrong(file, message string) {
	k.tell(problem.Problem{Place: problem.Place{File: file}, Message: message})
}

// fault prints an error of reading a file that has no lines: its place is in it,
// or is its beginning.
func (k *checker) fault(file string, err error) { k.tell(faultOf(file, 0, err)) }

// faultOf makes a problem of an error.
func faultOf(file string, offset int64, err error) problem.Problem {
	var p *problem.Problem
	if errors.As(err, &p) {
		return *p
	}
	return problem.Problem{Place: problem.Place{File: file}, Binary: true, Offset: offset, Message: err.Error()}
}

// note prints what is to be known of a file beside problems.
func (k *checker) note(file, format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if k.json {
		k.object(finding{File: file, Severity: "note", Message: text})
		return
	}
	fmt.Fprintf(k.p.stdout, "%s: %s\n", file, text)
}

// more prints a further line of a note.
func (k *checker) more(file, format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if k.json {
		k.object(finding{File: file, Severity: "note", Message: text})
		return
	}
	fmt.Fprintln(k.p.stdout, "  "+text)
}

func (k *checker) object(v any) {
	text, _ := json.Marshal(v) // text and numbers
	fmt.Fprintln(k.p.stdout, string(text))
}

// end prints the sum.
func (k *checker) end(checked int) error {
	things := plural(checked, "thing")
	switch {
	case k.json:
		k.object(map[string]int{"checked": checked, "errors": k.errors, "warnings": k.warnings})
		if k.errors > 0 {
			return errQuiet
		}
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
			k.wrong(name, noFile(name, err))
			return
		}
		k.wrong(name, "cannot check it: unknown kind of file; expected a world (.world), a Player configuration (.cfg) or log (.log), a recording (.mcap), or a Callboard configuration (.toml)")
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
			k.tell(problem.Problem{Place: problem.Place{File: name, Line: wrong.Line, Column: wrong.Column}, Message: wrong.Message})
			if !k.json {
				fmt.Fprint(k.p.stdout, strings.TrimPrefix(caret(text, protocol.Position{Line: wrong.Line, Column: wrong.Column})+"\n", "\n"))
			}
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
	for i, one := range all {
		if strings.HasPrefix(one.Message, problem.OfFile(fs.ErrNotExist)) && one.Line == 0 {
			all[i].Message += meantFile(one.File)
		}
	}
	for _, line := range all.Lines(true) {
		fmt.Fprintln(p.stderr, line)
	}
	if wrong := all.Lines(false); wrong != nil {
		return &problemsError{lines: wrong}
	}
	return nil
}
