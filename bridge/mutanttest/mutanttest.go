// Package mutanttest sees that tests catch a package with one of its rules
// switched off.
package mutanttest

import (
	"encoding/json"
	"fmt"
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
		for _, d := range parsed.Decls {
			from, to := files.Position(d.Pos()).Offset, files.Position(d.End()).Offset
			p := declaration{file: name, at: from, text: string(text[from:to])}
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[nameOf(d)] = p
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						all[v.Names[0].Name] = p
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

// Hunt sees that the named tests of the present package catch each mutant of the
// package in a directory. CALLBOARD_MUTANTS says how many schedules of each kind to
// try ("2000"), or that and a part of the rules' names ("2000 L2"); without it
// nothing is done.
func Hunt(t *testing.T, dir string, mutants []Mutant, tests ...string) {
	schedules, only, _ := strings.Cut(os.Getenv("CALLBOARD_MUTANTS"), " ")
	if schedules == "" {
		t.Skip("CALLBOARD_MUTANTS is not set")
	}
	for i, m := range mutants {
		if !strings.Contains(m.Rule, only) {
			continue
		}
		t.Run(m.Rule, func(t *testing.T) {
			by, says := hunt(t, dir, i, m, schedules, tests)
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
func hunt(t *testing.T, dir string, i int, m Mutant, schedules string, tests []string) (by, says string) {
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
	temp := t.TempDir()
	mutated := filepath.Join(temp, filepath.Base(original))
	if err := os.WriteFile(mutated, text, 0o600); err != nil {
		t.Fatal(err)
	}
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(temp, fmt.Sprintf("mutant%d.test", i))
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	for _, test := range tests {
		c := exec.Command(binary, "-test.run", "^"+test+"$", "-test.timeout", "30m")
		c.Env = append(os.Environ(), "CALLBOARD_SOAK="+schedules)
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		for _, line := range strings.Split(string(out), "\n") {
			if strings.Contains(line, "seed ") || strings.Contains(line, "panic:") || strings.Contains(line, "_test.go") {
				return test, strings.TrimSpace(line)
			}
		}
		return test, ""
	}
	return "", ""
}
