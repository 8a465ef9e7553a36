package worldfile

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
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
		"bitmap-missing":    "cannot be read",
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
				if w == nil && FirstError(problems) == nil {
					t.Fatal("neither a world nor an error")
				}
				return
			}
			if strings.HasPrefix(verdict, "refuses") {
				if w != nil {
					t.Fatalf("loaded, Stage %s", verdict)
				}
				if err := FirstError(problems); err == nil {
					t.Fatal("no world and no error")
				}
				return
			}
			if w == nil {
				t.Fatalf("refused: %v", FirstError(problems))
			}
			if diff := cmp.Diff(models, describe(w)); diff != "" {
				t.Errorf("models (-Stage +ours):\n%s", diff)
			}
		})
	}
}

func firstWarning(problems []Problem) string {
	for _, p := range problems {
		if p.Severity == Warning {
			return p.Message
		}
	}
	return ""
}

// describe gives a world's models as the table has them.
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
