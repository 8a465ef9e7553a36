package worldfile

import (
	"callboard/player/problem"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dirOpen opens files below a folder.
func dirOpen(dir string) Open {
	return func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(dir, name)) }
}

const syntaxDir = "../testdata/stage-cases/syntax"

// TestSyntaxLikeStage loads each small file and compares what comes of it with
// what real Stage 4.3 made of it.
func TestSyntaxLikeStage(t *testing.T) {
	table, err := os.ReadFile("../testdata/stage-cases/syntax.tsv")
	if err != nil {
		t.Fatal(err)
	}
	// Where Stage stops, but people have such files.
	lenient := map[string]string{
		"pose-three-values": "3 values",
		"bitmap-missing":    "no such file",
		"scount-ranger":     "scount",
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) != 52 {
		t.Fatalf("%d rows, expected 52", len(rows))
	}
	for _, line := range rows {
		f := strings.Split(line, "\t")
		if len(f) < 3 {
			t.Fatalf("row %q is too short", line)
		}
		name, verdict, models := f[0], f[1], f[2]
		t.Run(name, func(t *testing.T) {
			w, problems := Load(dirOpen(syntaxDir), name+".world")
			if want, ok := lenient[name]; ok {
				if w == nil || len(problems) == 0 || !strings.Contains(firstWarning(problems), want) {
					t.Fatalf("expected it to load with a warning about %q, got %v", want, problems)
				}
				return
			}
			if strings.HasPrefix(verdict, "hangs") || strings.HasPrefix(verdict, "crashes") {
				if len(problems) == 0 {
					t.Fatal("all is well")
				}
				return
			}
			if strings.HasPrefix(verdict, "refuses") {
				if w != nil {
					t.Fatalf("loaded, Stage %s", verdict)
				}
				if err := problems.First(); err == nil {
					t.Fatal("no world and no error")
				}
				return
			}
			if w == nil {
				t.Fatalf("refused: %v", problems.First())
			}
			if diff := cmp.Diff(models, describe(w)); diff != "" {
				t.Errorf("models (-Stage +ours):\n%s", diff)
			}
			if len(f) < 5 {
				t.Fatalf("row %q is too short", line)
			}
			set := fmt.Sprintf("resolution %v interval %d quit %v", w.Resolution, w.Interval.Milliseconds(), w.QuitTime.Seconds())
			if f[3] != "-" && f[3] != set {
				t.Errorf("settings %s, Stage's are %s", set, f[3])
			}
			// interval_real tells here what it told Stage 3, and what is in a window
			// nobody looks for.
			for _, unused := range strings.Fields(f[4]) {
				told := slices.ContainsFunc(problems, func(p problem.Problem) bool { return strings.HasPrefix(p.Message, strconv.Quote(unused)) })
				if ours := unused != "-" && unused != "interval_real" && name != "model-inside-window"; told != ours {
					t.Errorf("Stage reports %s as unused; ours: %v", unused, problems)
				}
			}
		})
	}
}

func firstWarning(problems problem.List) string {
	for _, p := range problems {
		if p.Warning {
			return p.Message
		}
	}
	return ""
}

// describe returns a world's models as the table has them.
func describe(w *World) string {
	var out []string
	for _, m := range w.All() {
		g := m.Global()
		s := fmt.Sprintf("%s %s @ %s %s %s %s size %s %s %s", m.Type, m.Name, num(g.X), num(g.Y), num(g.Z), num(g.A*180/math.Pi),
			num(m.Size.X), num(m.Size.Y), num(m.Size.Z))
		if m.Type == "ranger" && (m.Ranger == nil || len(m.Ranger.Sensors) == 0) {
			s += " sensors none"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ; ")
}

func num(v float64) string {
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// TestMacrosLikeStage: what Stage 4.3's parser made of each text.
func TestMacrosLikeStage(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		// An error in a macro counts once it is used.
		{"define a model ( color red )\nmodel ( )", `a.world:1:24: warning: "color" is followed by the word "red"; expected a number, a "string" or [ ] as its value, or ( for a model; Stage does not see it, as nothing uses "a"`},
		{"define a model ( color red )\na ( )", `a.world:1:24: "color" is followed by the word "red"; expected a number, a "string" or [ ] as its value, or ( for a model`},
		{"define a model ( color red )\ndefine b a ( )\nmodel ( b ( ) )", `a.world:1:24: "color" is followed by the word "red"; expected a number, a "string" or [ ] as its value, or ( for a model`},
		{"define a model ( define b model ( ) )", `a.world:1:18: warning: define cannot stand within a model; expected it at the top level; Stage does not see it, as nothing uses "a"`},
		{"define a model ( size\n[1 2 3] ( ) ) model ( )", `a.world:1:18: warning: the value of "size" is on another line; expected it on the same line; Stage does not see it, as nothing uses "a"`},
		{"define a model ( )\ndefine a model ( 5 )\na ( )", `a.world:2:8: warning: "a" is defined already at a.world:1:1; the first definition counts` + "\n" +
			`a.world:2:18: warning: "5" cannot stand within "model"; expected a property, a child or ); Stage does not see it, as nothing uses "a"`},
		{"define a a ( )", ``},
		{"define a nosuchtype ( )", ``},
		// What cannot be cut into tokens, and what is missing, counts everywhere.
		{"define a model ( size [1,2,3] )", `a.world:1:25: ',' cannot stand here; expected a word, a number, a string, a bracket or a comment`},
		{"define a model ( name \"x )", `a.world:1:23: the string has no end; expected " on the same line`},
		{"define a model ( model ( )", `a.world:1:16: this ( of "model" is never closed; expected )`},
		{"define a model (\ninclude \"no.inc\"\n)", `a.world:2:9: cannot include "no.inc": open no.inc: file does not exist`},
		{"define a model (\ninclude \"good.inc\" ( )\n)\na ( )", ``},
		{"define a model (\ninclude \"open.inc\"\n)", `open.inc:1:7: this ( of "model" is never closed; expected )`},
		// Between the names and the bracket.
		{"define \"x\" a model ( )", `a.world:1:8: warning: the string "x" has no effect in define; expected define NAME TYPE (`},
		{"define a model 5 ( )\nmodel ( )", `a.world:1:16: warning: define a model is followed by "5"; expected define NAME TYPE (; Stage does not see it, as nothing uses "a"`},
		{"define a model 5 ( )\na ( )", `a.world:1:16: define a model is followed by "5"; expected define NAME TYPE (`},
		{"define a model b ( )", `a.world:1:16: define a model is followed by the word "b"; expected define NAME TYPE (`},
		{"define ( )", `a.world:1:8: define is followed by "("; expected define NAME TYPE (`},
		{"define a", `a.world:1:9: define a is followed by the end of the file; expected define NAME TYPE (`},
		// An include needs a blank; a tuple may be left open at the very end.
		{"include\"good.inc\"\n", `a.world:1:8: include is followed by the string "good.inc" at once; expected a blank between them`},
		{"include\t\"good.inc\"\n", ``},
		{"include # c\n\"good.inc\"\n", `a.world:1:9: include is followed by a comment; expected a file's name in "…" on the same line`},
		{"model ( )\ninclude \"good.inc\" # the end", `a.world:2:1: warning: no line follows this include, for which real Stage waits for ever; expected a line end behind it`},
		{"define a model (\rinclude \"good.inc\"\r)\r", `a.world:2:1: warning: no line follows this include, for which real Stage waits for ever; expected a line end behind it`},
		{"include good\n", `a.world:1:9: include is followed by the word "good"; expected a file's name in "…" on the same line`},
		{"model ( ) name [ \"x\"", `a.world:1:16: warning: [ is not closed before the end of the file; expected ]`},
	} {
		w, problems := Load(files(map[string]string{"a.world": c.text, "good.inc": "mass 5\n", "open.inc": "model ("}), "a.world")
		var got []string
		for _, p := range problems {
			if !strings.Contains(p.Message, "mass") {
				got = append(got, p.Error())
			}
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
		if (w == nil) != (problems.First() != nil) {
			t.Errorf("%q: a world: %v, problems: %v", c.text, w != nil, problems)
		}
	}
}
