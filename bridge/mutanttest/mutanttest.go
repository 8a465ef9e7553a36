// Package mutanttest sees that tests catch a package with one of its rules
// switched off.
package mutanttest

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Mutant is a package with one rule switched off or bent.
type Mutant struct {
	Rule     string
	In       string // the function or constant that it changes: "network.turn"
	From, To string // what there becomes what
	Survives string // why nothing can tell it from the original; "": it is to be caught
}

// Tests are the tests of a package that match one pattern and not another, as
// go test's -run and -skip have them.
type Tests struct {
	Package   string // its directory; "": the present one
	Run, Skip string // "": all, none
}

// Fit checks that each mutant changes one place of the package in a directory as
// it is now.
func Fit(t *testing.T, dir string, mutants []Mutant) {
	places := declarations(t, dir)
	for _, m := range mutants {
		p, found := places[m.In]
		if !found {
			t.Errorf("%s: there is no %s", m.Rule, m.In)
		} else if n := strings.Count(p.text, m.From); n != 1 {
			t.Errorf("%s: %q is in %s %d times, expected once", m.Rule, m.From, m.In, n)
		}
	}
}

// declaration is where something is declared: in a file, from a byte of it on.
type declaration struct {
	file string
	at   int
	text string
}

// declarations finds a package's functions, by receiver and name, and constants.
func declarations(t *testing.T, dir string) map[string]declaration {
	all := map[string]declaration{}
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		at := func(n ast.Node) declaration {
			from, to := files.Position(n.Pos()).Offset, files.Position(n.End()).Offset
			return declaration{file: name, at: from, text: string(text[from:to])}
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[nameOf(d)] = at(d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						all[v.Names[0].Name] = at(v)
					}
				}
			}
		}
	}
	return all
}

// nameOf returns a function's name behind that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	return of.(*ast.Ident).Name + "." + f.Name.Name
}

// Hunt sees that tests catch each mutant of the package in a directory, those
// that are named first before the others. CALLBOARD_MUTANTS says how many
// schedules of each kind to try ("2000"), or that and a part of the rules' names
// ("2000 L2"); without it nothing is done.
func Hunt(t *testing.T, dir string, mutants []Mutant, tests ...Tests) {
	schedules, only, _ := strings.Cut(os.Getenv("CALLBOARD_MUTANTS"), " ")
	if schedules == "" {
		t.Skip("CALLBOARD_MUTANTS is not set")
	}
	for _, m := range mutants {
		if !strings.Contains(m.Rule, only) {
			continue
		}
		t.Run(m.Rule, func(t *testing.T) {
			by, says := hunt(t, dir, m, schedules, tests)
			switch {
			case by == "" && m.Survives == "":
				t.Error("nothing catches it")
			case by != "" && m.Survives != "":
				t.Errorf("%s catches it, but it is said to survive: %s", by, m.Survives)
			}
			t.Logf("caught by %q: %s", by, says)
		})
	}
}

// hunt builds a mutant and runs the tests against it. It returns which one
// failed first, and how.
func hunt(t *testing.T, dir string, m Mutant, schedules string, tests []Tests) (by, says string) {
	temp := t.TempDir()
	list := m.write(t, dir, temp)
	for _, some := range tests {
		binary := filepath.Join(temp, "mutant.test")
		if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, filepath.Join(".", some.Package)).CombinedOutput(); err != nil {
			t.Fatalf("it does not compile: %v\n%s", err, out)
		}
		c := exec.Command(binary, "-test.run", some.Run, "-test.skip", some.Skip, "-test.failfast", "-test.timeout", "30m")
		c.Dir = some.Package
		c.Env = append(os.Environ(), "CALLBOARD_SOAK="+schedules, "CALLBOARD_MUTANTS=")
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		by = "a test that did not end"
		for line := range strings.Lines(string(out)) {
			if name, failed := strings.CutPrefix(line, "--- FAIL: "); failed {
				by, _, _ = strings.Cut(name, " ")
			}
			if says == "" && (strings.Contains(line, "seed ") || strings.Contains(line, "panic:") || strings.Contains(line, "_test.go")) {
				says = strings.TrimSpace(line)
			}
		}
		return by, says
	}
	return "", ""
}

// write writes the mutant's file into a directory, and returns the list of files
// that replace others of the package in dir, as the go command's -overlay has it.
func (m *Mutant) write(t *testing.T, dir, into string) string {
	place := declarations(t, dir)[m.In]
	original, err := filepath.Abs(place.file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	end := place.at + len(place.text)
	text = slices.Concat(text[:place.at], []byte(strings.Replace(place.text, m.From, m.To, 1)), text[end:])
	mutated, list := filepath.Join(into, filepath.Base(original)), filepath.Join(into, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{mutated: text, list: replace} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}
