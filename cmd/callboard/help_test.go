package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// The help of every command is as in testdata/help; CALLBOARD_UPDATE=1 writes
// it anew. It has an example that begins with the command, and no long lines.
func TestHelp(t *testing.T) {
	p := &program{getenv: os.Getenv}
	texts := map[string]string{"callboard": appHelp(p.commands())}
	var add func(list []command)
	add = func(list []command) {
		for _, c := range list {
			text := c.help()
			if c.name != "bench" && c.parent == "" { // workloads come and go
				texts[c.fullName()] = text
			}
			_, examples, _ := strings.Cut(text, "\nExamples:\n")
			if !strings.Contains(examples, "  callboard "+c.fullName()) {
				t.Errorf("%s: the help has no example", c.fullName())
			}
			for line := range strings.Lines(text) {
				if utf8.RuneCountInString(line) > 96 && !strings.HasPrefix(line, "  callboard") {
					t.Errorf("%s: a line of %d characters: %s", c.fullName(), utf8.RuneCountInString(line), line)
				}
			}
			add(c.subcommands)
		}
	}
	add(p.commands())
	for name, text := range texts {
		golden := filepath.Join("testdata", "help", strings.ReplaceAll(name, " ", "-")+".txt")
		if os.Getenv("CALLBOARD_UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (CALLBOARD_UPDATE=1 takes it): %s", golden, diff)
		}
	}
}

func TestHelpTemplate(t *testing.T) {
	if got := template("a {{b}} c"); got != `a {{"{{"}}b{{"}}"}} c` {
		t.Error(got)
	}
}

// TestExamplesHaveTheirFiles: worlds and Player configurations that the help's examples
// read are in the repository, or an example writes them.
func TestExamplesHaveTheirFiles(t *testing.T) {
	p := &program{getenv: os.Getenv}
	file := regexp.MustCompile(`[\w./-]+\.(?:world|cfg)\b`)
	var look func(list []command)
	look = func(list []command) {
		for _, c := range list {
			for _, example := range c.examples {
				for _, name := range file.FindAllString(example, -1) {
					if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
						t.Errorf("%s: %q reads %s, which does not exist", c.fullName(), example, name)
					}
				}
			}
			look(c.subcommands)
		}
	}
	look(p.commands())
}
