package overlay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles: a part's methods are in the files of its name, and it has the others by
// the interfaces of parts.go only.
func TestFiles(t *testing.T) {
	parts := map[string]string{ // to the files of which part the type's methods belong
		"edge": "edge", "source": "source", "network": "network", "registry": "registry", "directory": "registry", "central": "registry", "flooded": "registry",
		"taskHome": "tasks", "taskEdge": "tasks", "queueDirectory": "tasks",
	}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		group, _, _ := strings.Cut(strings.TrimSuffix(name, ".go"), "_")
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				part := typeName(d.Recv.List[0].Type)
				if of := parts[part]; of != "" && of != group {
					t.Errorf("%s: method %s of %s is in a file of %s", name, d.Name.Name, part, group)
				}
			case *ast.GenDecl:
				spec, ok := d.Specs[0].(*ast.TypeSpec)
				if !ok || parts[spec.Name.Name] == "" {
					continue
				}
				for _, f := range spec.Type.(*ast.StructType).Fields.List {
					if fields++; parts[typeName(f.Type)] != "" && parts[typeName(f.Type)] != group {
						t.Errorf("%s: %s has %s itself, not what the two say to each other", name, spec.Name.Name, typeName(f.Type))
					}
				}
			}
		}
	}
	if fields == 0 {
		t.Error("no part has been found")
	}
}

func typeName(e ast.Expr) string {
	if pointer, ok := e.(*ast.StarExpr); ok {
		e = pointer.X
	}
	if name, ok := e.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
